/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one model, as readers see it.
 *
 * A profile is a set of flat arrays that only grow (base/column.h). One writer at a time appends
 * (builder.h) and publishes counts after each batch; any number of readers take the counts with
 * profile_counts_read() and look at what lies below them, without locks. What lies below published
 * counts never changes, but for what names a location (its function and inlined frames), which is
 * found out later and set once; `resolution` counts how often that happened.
 *
 * stack trie:    node n has a parent with a smaller number and a location; node 0 is the root and
 *                has none. Node order is therefore a topological order: totals of the whole trie
 *                are one backward pass.
 * root frames:   where the input knows of threads, the first frame under the root is a location
 *                whose function has FUNCTION_COMM: the thread's name. Symbolised inputs (folded)
 *                have none.
 * samples:       rows of {stack, thread, event, weight, time, cpu}. Columns of what no sample knows
 *                are NULL. Columns are never changed: where weights must be rescaled, new columns
 *                take their place.
 * generations:   while something is recorded for long, old rows that differ in their times only become
 *                one, and old stacks of which there are few samples are shortened. Then all columns of rows are
 *                new ones, and numbers of rows mean something else, as may those of stacks: counts say of which
 *                generation they are. Who looks at rows or stacks of a profile that grows holds the generation
 *                meanwhile.
 * captures:      every process belongs to the capture that it was read from, so that several files
 *                share one profile and a side of a comparison is a filter. What was recorded at once by several
 *                recorders is one capture of several parts, and of one clock.
 * allocations:   a second table beside the samples, one interval each; see profile/heap/heap.h.
 */
#ifndef PROFTOP_PROFILE_PROFILE_H
#define PROFTOP_PROFILE_PROFILE_H

#include "base/fmt.h"
#include "profile/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

/* Counts up to which everything is complete. */
struct profile_counts {
	uint32_t n_strings;
	uint32_t n_captures;
	uint32_t n_parts;
	uint32_t n_modules;
	uint32_t n_functions;
	uint32_t n_locations;
	uint32_t n_stacks;
	uint32_t n_processes;
	uint32_t n_cgroups;
	uint32_t n_threads;
	uint32_t n_labelled; /* threads among them that have labels */
	uint32_t n_events;
	uint32_t n_facts;
	uint64_t n_samples; /* rows of samples */
	/* samples that there ever were: rows that were folded stand for several */
	uint64_t n_taken;
	/* of rows and stacks: changes when old ones are folded, see builder.h */
	uint32_t generation;
	uint32_t resolution; /* how often locations got (other) names */
	uint32_t version;    /* changes with every publication */
};

/* What was recorded at once. */
struct capture {
	part_id part;     /* its newest one, that which is being read */
	int64_t begin_ns; /* earliest sample's time, TIME_NONE without times; see capture_begin() */
	int64_t end_ns;   /* latest; see capture_end() */
	/* from here to the next one's first, rows without a thread are its own */
	uint64_t first_sample;
};

/* An input: a file of a capture. */
struct capture_part {
	capture_id capture;
	string_id path;   /* as the user named it; "-" for standard input */
	string_id format; /* short name: perf.data, folded */
};

/* Families by which frames are coloured; the same in every view. */
enum family {
	FAMILY_UNKNOWN,
	FAMILY_PROGRAM,
	FAMILY_LIBRARY,
	FAMILY_LIBC,
	FAMILY_KERNEL,
	FAMILY_JIT
};
#define N_FAMILIES 6

/* Something that holds code. */
struct module {
	string_id path;     /* as recorded: /usr/lib/libc.so.6, [kernel.kallsyms], //anon */
	string_id name;     /* what screens show: libc.so.6, [kernel], [nf_tables] */
	string_id build_id; /* lower-case hex, or empty */
	enum family family;
};

#define FUNCTION_COMM       1u /* a thread's name as root frame; not in tables of functions */
#define FUNCTION_UNRESOLVED 2u /* no symbol: the name is made up, "[module]" or "[unknown]" */
#define FUNCTION_MARK       4u /* not code but a remark: [truncated], [lost] */
#define FUNCTION_BEGIN      8u /* no symbol either, but known where it begins: "[module+0x3f20]" */

/* Of build_apart(), which is of this reading: no file has them. */
#define FUNCTION_NUMBERED 16u
#define FUNCTION_AFTER    32u
#define FUNCTION_KEPT     15u

/* Interned by (name, module, file); see build_function(). */
struct function {
	string_id name; /* demangled, with arguments; untrusted text */
	module_id module;
	string_id file; /* declaration, where known; see function_file() */
	uint32_t line;  /* 0: unknown; see function_line() */
	uint32_t flags; /* FUNCTION_… */
};

/* One frame that a location stands for, outermost first; see profile_inlines(). */
struct frame {
	uint32_t function; /* function_id */
	uint32_t file;     /* string_id of the source file of this frame's position */
	uint32_t line;     /* 0: unknown */
	uint32_t n_more;   /* frames that follow in the run; 0 at the innermost */
};

struct process {
	capture_id capture;
	int32_t pid;    /* -1: unknown */
	string_id name; /* the name that its main thread had last; see process_name() */
};

/*
 * What stands before the names of processes that ended long ago: those of one name are one and have no number. Threads that
 * ended are one, without a number, for each name of theirs and process.
 */
#define ENDED_PREFIX "ended: "

/* A control group that threads were in while they were sampled. */
struct cgroup {
	capture_id capture;
	uint64_t number; /* the kernel's */
	string_id path;  /* "/system.slice/ssh.service"; told later or never; see cgroup_path() */
};

/*
 * One thread under one name in one control group with one set of labels: one that renames itself (exec, prctl), is moved to
 * another group or sets labels gets another entry.
 */
struct thread {
	process_id process;
	int32_t tid; /* -1: unknown */
	string_id name;
	uint32_t cgroup; /* cgroup_id; ID_NONE: not recorded */
	/* what the program said that it did: "request=list, user=7"; mostly empty */
	string_id labels;
};

/* What was sampled. Weights of its samples are in 1/scale units. */
struct event {
	string_id name; /* cpu-clock, cycles:u, page-faults; "samples" for folded */
	enum unit unit;
	int64_t scale;   /* 1, or a power of ten; to count with, take sample_columns' */
	bool has_weight; /* false: each sample simply counts 1 */
	bool is_counted; /* the weight is how many samples a row stands for, as in folded stacks */
	bool is_derived; /* worked out from records of others, as offcpu is */
	bool is_heap;    /* of allocations (heap.h), not of samples */
	bool is_summed; /* a row is the sum of all samples of a stack; how many they were is not known */
	bool is_default; /* the input names it as the one to be shown first */
};

/*
 * Does a row that has a time last from then for what it weighs, as stretches between events of a trace and waits do? Others are
 * moments.
 */
static inline bool event_lasts(const struct event *e)
{
	return (e->is_summed || e->is_derived) && e->unit == UNIT_NS;
}

enum fact_kind {
	FACT_PLAIN,
	FACT_GOOD,
	FACT_LOSS,   /* something is not in the profile: lost events, a damaged file */
	FACT_MISSING /* all is there, but not all of it has a name or a whole stack */
};

/* A line of `info`: what was in the file, what was lost, how good the stacks are. */
struct fact {
	part_id part;
	string_id section; /* "file", "system", "losses", "symbols", … */
	string_id name;
	string_id text;
	enum fact_kind kind;
};

struct profile *profile_new(void);
/* All threads must have let go of it. NULL is fine. */
void profile_free(struct profile *p);

/* One consistent set of counts; what it promises stays true for ever, but of rows only as long as their generation. */
void profile_counts_read(const struct profile *p, struct profile_counts *c);

/*
 * The same, and the rows stay until profile_release(); until then it is known, too, how long captures had lasted
 * and how far heaps had come. profile_hold_also() holds counts once more that are held by somebody.
 */
void profile_hold(const struct profile *p, struct profile_counts *c);
void profile_hold_also(const struct profile *p, const struct profile_counts *c);
void profile_release(const struct profile *p, const struct profile_counts *c);

/* NUL-terminated, borrowed for the profile's life; *len (may be NULL) excludes the NUL. */
const char *profile_string(const struct profile *p, string_id s, size_t *len);

/* Borrowed for the profile's life. A process's name, a control group's path and a capture's times may still change: each is
 * one word that is stored and must be loaded atomically, by process_name(), cgroup_path() and capture_begin(). */
const struct capture *profile_capture(const struct profile *p, capture_id id);
const struct capture_part *profile_part(const struct profile *p, part_id id);
const struct module *profile_module(const struct profile *p, module_id id);
const struct function *profile_function(const struct profile *p, function_id id);
const struct process *profile_process(const struct profile *p, process_id id);
const struct cgroup *profile_cgroup(const struct profile *p, cgroup_id id);
const struct thread *profile_thread(const struct profile *p, thread_id id);
const struct event *profile_event(const struct profile *p, event_id id);

/*
 * The newest text of each (part, section, name), in order of first appearance. A copy, as a
 * later text may take its place.
 */
struct fact profile_fact(const struct profile *p, uint32_t i);

/* [n_stacks] each. */
struct stack_columns {
	const uint32_t *parent;   /* stack_id; 0's is 0 */
	const uint32_t *location; /* location_id; ID_NONE for node 0 */
};

/*
 * [n_locations] each. `function` and `inlines` may change from ID_NONE to a value while they are
 * read: load them once each with location_function() and location_frames(). A function so named may
 * be newer than the counts held; what has arrays of [n_functions] must treat it as not looked up.
 */
struct location_columns {
	const uint32_t *module;     /* module_id */
	const uint64_t *address;    /* offset in the module's file; distance from the kernel's
				       first symbol; as in memory for generated code and where
				       nothing was mapped; 0 for symbolised frames */
	const uint32_t *function;   /* the physical function; ID_NONE: not looked up yet */
	const uint32_t *inlines;    /* index of the run's first frame + 1; 0: none known */
	const struct frame *frames; /* runs of inlined frames */
};

/*
 * [n_samples] each, consistent with each other and good for any counts read before. NULL where no
 * sample differs from what is said last. Rows below n_packed are not in stack to time_ns but packed:
 * sample_rows_read() of sample_rows.h finds any.
 */
struct sample_columns {
	const uint32_t *stack;  /* stack_id; NULL only without samples */
	const uint32_t *thread; /* thread_id, or ID_NONE; NULL: all ID_NONE */
	const uint16_t *event;  /* event_id; NULL: all 0 */
	const uint16_t *cpu;    /* or CPU_NONE; NULL: all CPU_NONE */
	/* in the event's unit times its scale; NULL: one unit, so the scale */
	const int64_t *weight;
	const int64_t *time_ns; /* the recording's clock, or TIME_NONE; NULL: all TIME_NONE */
	const int64_t *scale;   /* [n_events] of `weight`; differs from 1 for fractional inputs */
	const int64_t *count;   /* [n_folded] how many samples the row was; others are one each */
	const double *square;   /* [n_folded] sum of the squares of their weights, in units */
	/* [n_folded] when the last of them was, the time being the first one's */
	const int64_t *last_ns;
	uint64_t n_folded; /* rows below may be several samples; of these none is packed */
	uint64_t n_packed; /* rows below are packed */
	const uint8_t *packed;
	const struct packed_block *blocks;
};

/* Marks in place of the frames that stacks were shortened by: not code. */
#define SHORTENED_NAME "[shortened]"

/* Of which groups a frame was the first of its stack; with inlined frames, and without. */
#define BEYOND_FUNCTION 1u
#define BEYOND_MODULE   2u
#define BEYOND_FILE     4u
#define BEYOND_PLAIN    8u /* times one of these: without inlined frames */

/* A frame that is no more in the stacks that had it. */
struct beyond_frame {
	uint32_t function; /* function_id, or ID_NONE */
	uint32_t module;   /* module_id */
	uint32_t first; /* BEYOND_…: of what it is not in the rest of the stack, nor further out */
};

/*
 * What stacks that were shortened say no more: rows as those of samples, but of frames. Each says what samples weigh that had
 * the frame in what was left out, so that sums by function, module and file are what they were.
 */
struct beyond_columns {
	uint64_t n;
	struct sample_columns rows; /* [n]; `stack` is an index of frame */
	const struct beyond_frame *frame;
};

void profile_beyond_of(const struct profile *p, const struct profile_counts *counts,
		       struct beyond_columns *c);

/* The newest ones; those that the counts are of, which are held. */
void profile_stacks(const struct profile *p, struct stack_columns *c);
void profile_stacks_of(const struct profile *p, const struct profile_counts *counts,
		       struct stack_columns *c);
void profile_locations(const struct profile *p, struct location_columns *c);
void profile_samples(const struct profile *p, struct sample_columns *c);
/* Those that the counts are of, whose rows are held. */
void profile_samples_of(const struct profile *p, const struct profile_counts *counts,
			struct sample_columns *c);

static inline uint32_t location_function(const struct location_columns *c, uint32_t location)
{
	return __atomic_load_n(&c->function[location], __ATOMIC_ACQUIRE);
}

/* The outermost frame of the location's run (function, then what is inlined into it), or NULL. */
static inline const struct frame *location_frames(const struct location_columns *c,
						  uint32_t location)
{
	uint32_t run = __atomic_load_n(&c->inlines[location], __ATOMIC_ACQUIRE);

	return run ? &c->frames[run - 1] : NULL;
}

/* How many samples a row is. */
static inline uint64_t sample_count(const struct sample_columns *c, uint64_t row)
{
	return row < c->n_folded ? (uint64_t)c->count[row] : 1;
}

/* A capture's begin_ns and end_ns. */
struct capture_span {
	int64_t begin_ns, end_ns;
};

/* Those of the counts' state if it is held, or of now: a state that is held does not grow. */
struct capture_span profile_capture_span(const struct profile *p,
					 const struct profile_counts *counts, capture_id id);

/* The newest time of all captures, each since its own start; -1 where there are no times. */
int64_t profile_newest_ns(const struct profile *p, const struct profile_counts *counts);

/* When the capture's earliest and latest samples were taken, or TIME_NONE: as of now. */
static inline int64_t capture_begin(const struct capture *c)
{
	return __atomic_load_n(&c->begin_ns, __ATOMIC_RELAXED);
}

static inline int64_t capture_end(const struct capture *c)
{
	return __atomic_load_n(&c->end_ns, __ATOMIC_RELAXED);
}

static inline string_id process_name(const struct process *p)
{
	return (string_id){ __atomic_load_n(&p->name.v, __ATOMIC_ACQUIRE) };
}

/* Empty while nobody said. */
static inline string_id cgroup_path(const struct cgroup *g)
{
	return (string_id){ __atomic_load_n(&g->path.v, __ATOMIC_ACQUIRE) };
}

/* Where a function is declared may become known later: the file first, then the line. */
static inline string_id function_file(const struct function *f)
{
	return (string_id){ __atomic_load_n(&f->file.v, __ATOMIC_ACQUIRE) };
}

static inline uint32_t function_line(const struct function *f)
{
	return __atomic_load_n(&f->line, __ATOMIC_RELAXED);
}

/* What bytes beside the samples are of, and what their name is. */
enum attachment_kind {
	ATTACHMENT_CODE,  /* a module's instructions: profile_code_name() */
	ATTACHMENT_SOURCE /* lines of a source file: its path */
};

/*
 * The next bytes of that kind and name, the oldest first, or NULL. *cursor is 0 at first. Untrusted, borrowed from the
 * profile.
 */
const uint8_t *profile_attachment(const struct profile *p, enum attachment_kind kind,
				  const char *name, uint32_t *cursor, size_t *n);
/* The name of a module's code. Borrowed. */
const char *profile_code_name(const struct profile *p, module_id m);

#endif
