/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one model, as its writer sees it.
 *
 * Everything below happens between builder_begin() and builder_end(), which publishes. One writer
 * at a time holds the pen (a mutex); readers of files take it for a batch of some milliseconds, a
 * resolver takes it to hand in names. Functions that intern return the same id for the same input.
 *
 * Errors: only running out of ids or address space can fail, and does so stickily: the functions go
 * on returning valid ids, builder_end() returns -EFBIG (-ENOSPC where a table is in a file that found no
 * more room), and the reader stops with what it has.
 */
#ifndef PROFTOP_PROFILE_BUILDER_H
#define PROFTOP_PROFILE_BUILDER_H

#include "base/hash.h"
#include "profile/profile.h"

void builder_begin(struct profile *p);
/* Publishes. 0, or -EFBIG when something did not fit any more. */
int builder_end(struct profile *p);

string_id build_string(struct profile *p, const char *s, size_t len);
string_id build_cstring(struct profile *p, const char *s);

/* What the functions for several things at once take at most. */
#define BUILD_BATCH 64

struct build_text {
	const char *s; /* borrowed for the call */
	size_t len;    /* bytes of it */
	uint64_t hash; /* hash_bytes() of them */
};

/*
 * As build_string() of each in order, but the memory that look-ups wait for is fetched side by side.
 * n <= BUILD_BATCH.
 */
void build_strings(struct profile *p, const struct build_text *text, uint32_t n, string_id *out);

/*
 * A new one each time: an input may be compared with itself. Samples without a thread belong to the
 * capture that was made last before them.
 */
capture_id build_capture(struct profile *p, const char *path, const char *format);
/* One more file of a capture, whose facts those that are stated from now on are: its processes and its clock are the capture's. */
part_id build_part(struct profile *p, capture_id c, const char *path, const char *format);
/*
 * The same of a file that this thread reads while others read others of the capture: only what it states is of the part, until
 * build_part_done().
 */
void build_part_aside(struct profile *p, capture_id c, const char *path, const char *format);
void build_part_done(struct profile *p);

/*
 * Interned by (path, build_id); build_id is lower-case hex or "". The name is made from the path: its
 * last part, without " (deleted)"; paths in brackets and those that begin with "//" stay whole.
 */
module_id build_module(struct profile *p, const char *path, const char *build_id,
		       enum family family);

/*
 * Two sides are read, to be compared: those functions that numbered() says are so by their names are not the same after as before,
 * whose compiler may have given these names to others. NULL: all are the same.
 */
void build_apart(struct profile *p, bool (*numbered)(const char *name), bool after);

/*
 * Interned by (name, module, file): static functions of two files are two. Without a file it is the first of that name in the
 * module, and the first file that is told of one without a file is its file. Flags and line are those of the first call.
 */
function_id build_function(struct profile *p, string_id name, module_id module, uint32_t flags,
			   string_id file, uint32_t line);

/* An address in a module, to be named later; interned by (module, address). */
location_id build_location(struct profile *p, module_id module, uint64_t address);
/*
 * Says where the function of a named location is declared, which may be another one of its name than was thought. Returns
 * the function that it is.
 */
function_id build_location_declared(struct profile *p, location_id l, string_id file,
				    uint32_t line);
/* A frame that is already a name; interned by function. Its module is the function's. */
location_id build_symbol_location(struct profile *p, function_id f);
/*
 * Frames that are names with positions, outermost first, at no address: a new location each time, which the caller keeps for
 * the next sample that has it. n > 0.
 */
location_id build_frames_location(struct profile *p, const struct frame *frames, uint32_t n);
/*
 * The same, interned by functions, files and lines: where inputs number their locations anew each, so that many inputs of one
 * program are one trie. n_more is not compared.
 */
location_id build_shared_frames_location(struct profile *p, const struct frame *frames, uint32_t n);
/* Are these the frames that a location stands for, those that are not published yet too? */
bool build_location_has_frames(const struct profile *p, location_id l, const struct frame *frames,
			       uint32_t n);
/* The root frame of a thread's stacks: FUNCTION_COMM, interned by name. */
location_id build_comm_location(struct profile *p, string_id comm);

/* What the root frames of a capture are called: the thread's name alone, or with its numbers. */
enum root_names {
	ROOT_COMM, /* java */
	ROOT_PID,  /* java-812 */
	ROOT_TID   /* java-812/813 */
};

/* build_comm_location() of such a name; a number below zero is unknown and written as '?'. */
location_id build_root_location(struct profile *p, string_id comm, int32_t pid, int32_t tid,
				enum root_names names);

/* Names a location; the first answer is final. */
void build_location_function(struct profile *p, location_id l, function_id f);
/*
 * The frames that a location stands for, outermost (the physical function) first; n_more is filled
 * in. n > 0. The first answer is final.
 */
void build_location_inlines(struct profile *p, location_id l, const struct frame *frames,
			    uint32_t n);

/* The child of parent at location. Hot: mostly the one that was asked for last, else one hash look-up. */
stack_id build_stack(struct profile *p, stack_id parent, location_id l);
/* Prefetches what build_stack() of these reads. Any ids may be given. */
void build_stack_fetch(const struct profile *p, stack_id parent, location_id l);
/* As build_stack() of each in order, in the way of build_strings(). n <= BUILD_BATCH. */
void build_stacks(struct profile *p, const stack_id *parent, const location_id *l, uint32_t n,
		  stack_id *out);

/*
 * No stack is added any more: what finding them took, some half of their memory, is given back. The functions above and
 * below must not be called then.
 */
void build_stacks_end(struct profile *p);

/* What leads up from a stack, and in the end the stack that it leads to. */
struct build_chain {
	stack_id stack; /* where it begins; build_chains() moves it to the end */
	const uint32_t *
		location; /* [n] location_id of each, from the root's side; borrowed for the call */
	uint32_t n;
};

/*
 * As build_stack() of all locations of each chain, but look-ups of several chains wait for memory side by side: ids
 * may come in another order than if it were done chain by chain. n <= BUILD_BATCH.
 */
void build_chains(struct profile *p, struct build_chain *chain, uint32_t n);

/*
 * For inputs that have whole stacks again and again, as many files of one program do: the stack that build_note_chain() has noted with this
 * hash of all that its frames say, else the root. One look-up instead of one a frame.
 */
stack_id build_find_chain(struct profile *p, struct hash128 hash);
/* Prefetches what the former reads. */
void build_fetch_chain(const struct profile *p, struct hash128 hash);
/* Must not be there yet. Notes a million stacks at most. */
void build_note_chain(struct profile *p, struct hash128 hash, stack_id stack);

/* Interned by (capture, pid). */
process_id build_process(struct profile *p, capture_id c, int32_t pid);
/* A process of which no more is known than its name; interned by (capture, name). */
process_id build_process_of_name(struct profile *p, capture_id c, string_id name);
void build_process_name(struct profile *p, process_id id, string_id name);
/* Interned by (capture, number). */
cgroup_id build_cgroup(struct profile *p, capture_id c, uint64_t number);
void build_cgroup_path(struct profile *p, cgroup_id id, string_id path);
/* Interned by (process, tid, name), of no control group that were known. */
thread_id build_thread(struct profile *p, process_id process, int32_t tid, string_id name);
/* The same thread while it is in a control group; cgroup is its id or ID_NONE. */
thread_id build_thread_in(struct profile *p, thread_id thread, uint32_t cgroup);
/* The same thread while it has these labels, see struct thread. */
thread_id build_thread_labelled(struct profile *p, thread_id thread, string_id labels);

/*
 * They have ended, and no sample of them comes any more, but where their numbers come again and are built again: where much is
 * watched for long, old samples of theirs need not be told apart, see build_folding(). A process ends with all its threads.
 */
void build_thread_ended(struct profile *p, thread_id thread);
void build_process_ended(struct profile *p, process_id process);

/* Interned by name. */
event_id build_event(struct profile *p, const char *name, enum unit unit, bool has_weight);
/* build_event() with weights, of inputs that have but sums of stacks. */
event_id build_summed_event(struct profile *p, const char *name, enum unit unit);
/* The event that is shown first, as the input says. */
void build_event_default(struct profile *p, event_id e);
/* As build_event(), with weights, of an event that was worked out from others: never what opens first. */
event_id build_derived_event(struct profile *p, const char *name, enum unit unit);
/* The same for inputs that have counted already: each row's weight is a number of samples. */
event_id build_counted_event(struct profile *p, const char *name);
/*
 * Makes weights of the event hold fractions: from now on they are in 1/scale units, and those
 * already there are multiplied; other events stay as they are. scale is a multiple of the event's
 * scale so far. -ERANGE when the event's total would overflow; nothing is changed then.
 */
int build_scale(struct profile *p, event_id e, int64_t scale);

struct sample {
	stack_id stack;
	thread_id thread; /* {ID_NONE}: unknown */
	event_id event;
	uint16_t cpu;    /* CPU_NONE: unknown */
	int64_t weight;  /* in the event's unit times its scale */
	int64_t time_ns; /* TIME_NONE: unknown */
};

/*
 * 0; -ERANGE when the event's total (of absolute weights) would pass INT64_MAX, or that of all events in nanoseconds,
 * which wall time adds up; -EFBIG when there is no room. Nothing is added then.
 */
int build_sample(struct profile *p, const struct sample *s);
/*
 * As build_sample(), for events that are counted: where sample *row - 1 is like s but for its weight, of
 * the same sign, and not published yet, it is that one that becomes heavier; any number may be tried,
 * 0 is none. *row becomes the number of the sample that has the weight, + 1.
 */
int build_counted_sample(struct profile *p, const struct sample *s, uint64_t *row);

/*
 * For recordings that go on and on: what is old is kept by stack, thread, event and cpu, not sample by sample, and
 * its times only as precisely as there is room for. Sums stay what they were, exactly.
 */
struct build_folding {
	int64_t keep_ns;   /* samples stay as they are for so long; 0: for ever */
	uint64_t n_rows;   /* beyond so many rows of samples the older ones are folded */
	uint64_t n_folded; /* to so many, or as many as are young, up to four times so many */
	uint32_t n_stacks; /* beyond so many stacks build_shorten() shortens; 0: never */
	/* as n_rows, of allocations, or an eighth of it where half are old; at most half are not old */
	uint64_t n_blocks;
	/* of them; of those of old time so many as of newer, or a fourth of this */
	uint64_t n_sums;
	/* beyond so many threads that ended, old samples become those of one thread for each name, see ENDED_PREFIX; 0: never */
	uint32_t n_ended;
};

/*
 * What a live view keeps: samples as they were for a little longer than screens look back (a minute and a slot of
 * sparklines), and what is older by stacks. Of these, where they never come again, an eighth as many nodes are left as the
 * samples have, 4,096 at least and 16,384 at most. Lives for ever.
 */
const struct build_folding *build_folding_live(void);

/* Folds when builder_end() finds too many rows, while there is but one capture. */
void build_folding(struct profile *p, const struct build_folding *f);

/*
 * Where there are too many stacks, those of old samples that few came of are shortened: their outer frames stay as far
 * as enough samples share them, then comes SHORTENED_NAME, then the innermost frame. Sums by stack stay those of
 * samples; what functions between would lack is kept beside (struct beyond_columns). What is not old stays whole.
 *
 * For one who adds stacks, right after builder_begin(), as numbers of stacks mean something else then. False:
 * nothing was done. Else it has published, and *to says by the number before [*n] what became of each stack, the caller frees
 * it; of stacks that no sample ended in it may be ID_NONE. to may be NULL, for one who watches.
 */
bool build_shorten(struct profile *p, uint32_t **to, uint32_t *n);

/*
 * What is to be told, with the pen held, to who keeps numbers of stacks or of allocations (see build_heap_fold()) while others may
 * fold and shorten: to and n are as theirs, borrowed. Who folds is told, too, if he watches. NULL: not of interest.
 */
struct build_watch {
	void (*stacks)(void *arg, const uint32_t *to, uint32_t n);
	void (*allocations)(void *arg, const uint32_t *to, uint32_t n);
	void *arg;
};

/* The pen is held. */
void build_watch(struct profile *p, const struct build_watch *w);
/* The watch with that argument, if there is one, ends. The pen is held. */
void build_watch_end(struct profile *p, const void *arg);

/*
 * Moments of the recording's clock: rows of before and since stay apart from now on, those of moments that were said
 * before do not any more. TIME_NONE: none. Any thread may say so, without the pen; it is known for sure where samples of the
 * moment are not yet as old as keep_ns.
 */
void profile_fences(struct profile *p, const int64_t at_ns[BUILD_FENCES]);

/* Sets a fact of the capture's newest part; a second call with the same part, section and name replaces the text. */
void build_fact(struct profile *p, capture_id c, const char *section, const char *name,
		enum fact_kind kind, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The same of the recording as a whole, whoever says so: a fact of its first part. */
void build_fact_of_all(struct profile *p, const char *section, const char *name,
		       enum fact_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Adds bytes of a kind and name beside those that there are; they live as long as the profile. name is copied, bytes [n] are
 * malloc's and taken. Visible at once; any thread may add, without the pen.
 */
void build_attachment(struct profile *p, enum attachment_kind kind, const char *name,
		      uint8_t *bytes, size_t n);

#endif
