/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a profile is made of; private to this room.
 *
 * Columns that hold ids' things are usable for some elements from the start, so that their bases
 * never change and id 0 is always there to fall back on when an id does not fit. The columns of
 * samples come into being with the first sample that needs them; readers see them only as they were
 * at the last publication.
 */
#ifndef PROFTOP_PROFILE_STORE_H
#define PROFTOP_PROFILE_STORE_H

#include "base/column.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/builder.h"
#include "profile/heap/heap.h"
#include "profile/heap/heap_packed.h"
#include "profile/profile.h"
#include "profile/sample_rows.h"
#include "profile/stack_index.h"

#include <pthread.h>
#include <stdint.h>

/* Ids stay well below MAP_NONE and what a map can hold. */
#define STORE_MOST_IDS     ((uint64_t)1 << 31)
#define STORE_MOST_TEXT    ((uint64_t)UINT32_MAX)
#define STORE_MOST_CGROUPS ((uint64_t)1 << 20)
#define STORE_MOST_EVENTS  ((uint64_t)UINT16_MAX)
#define STORE_MOST_SAMPLES ((uint64_t)1 << 38)
#define STORE_MOST_PACKED  ((uint64_t)1 << 41) /* bytes */

/* Weights and their scales, which change together: readers of older ones keep what they have. */
struct weight_version {
	struct column weight;         /* int64_t [n_samples], or empty while each is one unit */
	struct column scale;          /* int64_t [n_events] */
	struct weight_version *older; /* replaced ones, kept for their readers; owned */
};

/* Of a stack, the child that was asked for last. */
struct store_child {
	uint32_t stack;         /* stack_id; 0: there is no child */
	uint32_t location : 31; /* of that child; STORE_MOST_IDS of them fit */
	uint32_t mapped : 1;    /* there are several children, all of them in the map */
};

/* The writer's side of a track. */
struct store_track {
	/* counts including what is not published yet; .tick and .rate are NULL */
	struct heap_track now;
	struct heap_track published; /* what readers are told */
	struct column ticks;         /* struct heap_tick */
	struct column rates;         /* struct heap_rate */
	int64_t due_ns;              /* from this time on the next moment is a tick */
};

/* Columns of allocations, once others took their place. */
struct store_heap_columns {
	struct heap_packed rows;
	struct column bulk, origins;
	VEC(struct column) ticks; /* of tracks */
	uint32_t n_states;        /* that are of them */
};

/* Everything of heap.h. Counts and pointers in `now` and `published` are as for samples. */
struct store_heap {
	struct heap_columns now;       /* counts, and what rows are read by */
	struct heap_columns published; /* guarded by the profile's publication */

	struct heap_packed rows;
	struct column origins;  /* struct heap_origin */
	struct column bulk;     /* struct heap_bulk */
	struct column tracks;   /* struct store_track */
	struct column series;   /* struct heap_series */
	struct column readings; /* struct heap_reading */
	struct column marks;    /* struct heap_mark */

	struct map origins_by_fields;
	uint64_t claimed; /* bytes that build_heap_claim() granted */
	uint32_t fold_at; /* allocations at which a fold is due */
	uint32_t shift;   /* slots of old time are 2^shift as wide as at first */
};

/* Rows of one block that are packed, see sample_rows.c. */

/* A value and the bits before it fit in eight bytes up to this width; wider ones take eight bytes each. */
#define STORE_BLOCK_WIDEST 57u
/* Bytes behind the last value of a block that reading it may touch. */
#define STORE_BLOCK_SPARE  8u

/* Where the columns of a block are, in the order of the bits ROWS_…. */
enum place {
	PLACE_STACK,
	PLACE_THREAD,
	PLACE_EVENT,
	PLACE_CPU,
	PLACE_TIME,
	PLACE_WEIGHT,
	N_PLACES
};

struct packed_block {
	uint64_t offset;          /* of its bytes, column after column */
	uint64_t least[N_PLACES]; /* what is added to all values of a column */
	uint8_t bits[N_PLACES];   /* of a value; 0: all are the least */
	bool has_weight;          /* false: each weighs one unit of its event */
	const int64_t *scale;     /* of the weights; see struct weight_version */
};

/* What a column of values of so many bits takes in a block. */
static inline size_t store_block_column_bytes(unsigned bits)
{
	return (size_t)bits * SAMPLE_ROWS_BATCH / 8;
}

/* Columns of samples but for their weights, which have versions. */
#define STORE_ROW_COLUMNS(X) \
	X(row_stack, uint32_t)  /* stack_id */ \
	X(row_thread, uint32_t) /* thread_id or ID_NONE */ \
	X(row_event, uint16_t)  /* event_id */ \
	X(row_cpu, uint16_t)    /* or CPU_NONE */ \
	X(row_time, int64_t)    /* or TIME_NONE */ \
	X(row_count, int64_t)   /* [n_folded] samples; those of other rows are one */ \
	X(row_last, int64_t)    /* [n_folded] time of the last one; of others the time */ \
	X(row_square, double)   /* [n_folded] of weights in units; of others the weight's */

/* The table of samples, which a fold replaces as a whole. */
struct store_rows {
#define X(name, type) struct column name;
	STORE_ROW_COLUMNS(X)
#undef X
	struct weight_version *versions; /* newest first; owned */
	struct column packed; /* uint8_t [packed_bytes] rows below n_packed; see sample_rows.c */
	struct column blocks; /* struct packed_block */
	uint64_t packed_bytes;
	uint64_t n_packed;    /* rows, whole blocks */
	uint64_t n_forgotten; /* rows that are packed and nowhere else */
	uint64_t n;           /* rows; only while a fold makes it */
	uint64_t n_folded;    /* see struct sample_columns */
	int64_t slot_ns;      /* of what was folded */
};

/* A stack that can be found by all of its locations at once. */
struct store_chain {
	struct hash128 hash; /* of these; no others have it */
	uint32_t stack;      /* stack_id */
};

/* The trie of stacks, and what rows of those that were shortened say beyond what is left of them. */
struct store_trie {
	struct column parent;           /* uint32_t stack_id */
	struct column location;         /* uint32_t location_id */
	struct column child;            /* struct store_child */
	struct stack_index by_parent;   /* and location; only children are not in it */
	struct map by_chain;            /* indexes of chains, by their hashes */
	VEC(struct store_chain) chains; /* of build_note_chain() */
	uint32_t last; /* stack_id that build_stack() gave last; a guess, it may be gone */
	struct store_rows beyond;
	struct column beyond_frames; /* struct beyond_frame */
	uint32_t n_tables;           /* where another took its place: generations that are of it */
};

/* What readers are told of tables that are replaced as a whole. */
struct store_shown {
	struct sample_columns rows;
	struct stack_columns stacks;
	struct beyond_columns beyond;
};

/* A table that was replaced while somebody looked at it. */
struct store_generation {
	struct store_rows rows;   /* owned */
	struct store_shown shown; /* as readers were told last */
	uint32_t number;          /* of the generation */
	uint32_t n_holds;         /* above 0 */
	/* that its stacks are of; NULL: the profile's; with others of that trie */
	struct store_trie *trie;
	struct store_generation *older;
};

/* Bytes by kind and name; those of one name form a list. */
struct store_attachment {
	enum attachment_kind kind;
	uint32_t next; /* of the same name, or MAP_NONE */
	uint32_t last; /* of the first of a name: the list's end */
	char *name;    /* of the first of a name; else NULL; owned */
	size_t n_name;
	uint8_t *bytes; /* [n] owned */
	size_t n;
};

/* What is true of some ids; those beyond n are false. */
struct store_flags {
	bool *at; /* [n] owned */
	size_t n, cap;
};

/* A part that one thread reads beside others, see build_part_aside(). */
struct store_aside {
	pthread_t thread;
	part_id part;
};

struct profile {
	pthread_mutex_t pen;         /* held by the writer from builder_begin() to builder_end() */
	pthread_mutex_t publication; /* guards published and rows */
	struct profile_counts published; /* what readers are told */
	struct store_shown shown;        /* as of the last publication */
	uint32_t n_holds;                /* of the rows; guarded by publication, as are */
	struct store_generation *older;  /* tables before, newest first; */
	struct store_state *states;      /* that somebody looks at; and */
	int64_t fence_ns[BUILD_FENCES];  /* see profile_fences() */

	/* The writer's from here on, but for elements below published counts. */
	struct profile_counts now; /* counts including what is not published yet */
	int sticky; /* 0, -EFBIG: something did not fit, or -ENOSPC: not on the disk */

	struct column text;       /* char: strings with their NULs */
	struct column string_end; /* uint32_t [n_strings + 1] where each begins, the last ends */
	/* uint32_t [n_strings] first function of that name + 1, or 0 */
	struct column string_function;
	struct column captures;         /* struct capture */
	struct column parts;            /* struct capture_part */
	VEC(struct store_aside) asides; /* one a thread at most */
	struct column modules;          /* struct module */
	struct column functions;        /* struct function */
	struct column symbols;          /* uint32_t [n_functions] its symbol location, or ID_NONE */
	struct column loc_module;       /* uint32_t module_id */
	struct column loc_address;      /* uint64_t */
	struct column loc_function;     /* uint32_t function_id or ID_NONE, atomic */
	struct column loc_inlines;      /* uint32_t index in frames + 1, or 0, atomic */
	struct column frames;           /* struct frame */
	struct column processes;        /* struct process */
	struct column cgroups;          /* struct cgroup */
	struct column threads;          /* struct thread */
	struct column events;           /* struct event */
	struct column event_weights;    /* uint64_t [n_events] sum of the absolute weights */
	uint64_t clock_weights;         /* those of events in ns: wall time adds these up */
	struct column facts;            /* struct fact */
	uint32_t n_frames;              /* elements of frames */

	VEC(struct build_watch) watches;

	VEC(struct store_attachment) attachments; /* guarded by publication, as is */
	struct map attachments_by_name;           /* and kind: the first ones */

	struct store_trie trie;
	struct store_rows samples;
	uint64_t roomy_rows; /* rows for which those columns that there are have room */
	struct build_folding folding;
	uint64_t fold_at;                        /* rows */
	uint32_t shorten_at;                     /* stacks */
	struct store_flags merge_exited_threads; /* no sample of them comes any more */
	struct store_flags ended_processes;      /* likewise */
	uint32_t n_ended;                        /* threads that are in the profile as themselves */
	uint32_t ended_at;                       /* so many for which a fold is due */

	struct store_heap heap;

	struct map strings_by_text;         /* of string ids, as the following of theirs */
	struct map modules_by_path;         /* and build-id */
	bool (*numbered)(const char *name); /* see build_apart() */
	bool after;
	struct map functions_by_name; /* and module, and being a comm or not; not the first ones */
	struct map locations_by_address; /* and module */
	struct map locations_by_frames;  /* those of build_shared_frames_location() */
	struct map processes_by_pid;     /* and capture */
	struct map cgroups_by_number;    /* and capture */
	struct map threads_by_tid;       /* and process, name and control group */
	struct map events_by_name;       /* events are few, but files say how few */
	struct map facts_by_name;        /* and part and section */
};

/* As build_thread() and build_thread_in(), by all that tells threads apart; of the second MAP_NONE: there is none. */
thread_id store_thread(struct profile *p, const struct thread *key);
uint32_t store_find_thread(const struct profile *p, const struct thread *key);

/* Frees all attachments. */
void store_attachments_done(struct profile *p);

/* Frees what is kept for readers, when there are none any more. */
void store_states_done(struct profile *p);

/* Element i of a column of T. */
#define STORE_AT(T, column, i) (((T *)(column).base)[i])

/* As build_string(), of what facts say: there is room for that when nothing else fits any more. */
string_id build_string_of_fact(struct profile *p, const char *s, size_t len);

/* Makes room for n elements; false, and sticky, when there is none. */
bool store_grow(struct profile *p, struct column *c, uint64_t n);

/* The heap's part in profile_new(), profile_free() and builder_end() (publication is held). */
void store_heap_init(struct store_heap *h);
void store_heap_done(struct store_heap *h);
void store_heap_publish(struct store_heap *h);

/* An empty one. */
struct weight_version *weight_version_new(void);
/* v and all older ones; NULL is fine. */
void weight_versions_free(struct weight_version *v);

/* Empty ones. */
void store_rows_init(struct store_rows *r);
void store_rows_done(struct store_rows *r);

/* Packs what there are whole blocks of, before a publication. */
void store_rows_pack(struct profile *p);
/* Rows below n, which are packed, are not needed elsewhere any more: nobody holds counts of when they were not. */
void store_rows_forget(struct profile *p, uint64_t n);

/* Adds a weight of some size to its event's sum, and to that of the clocks. False where either would not fit. */
bool store_add_weight(struct profile *p, event_id e, uint64_t size);
/* Widens the times of the sample's capture: its thread's, or the newest. */
void store_note_time(struct profile *p, const struct sample *s);

/* What readers are told of the table. */
struct sample_columns store_rows_shown(const struct store_rows *r);

/* An empty one, or but for its root; false: there is no room. */
bool store_trie_init(struct store_trie *t);
void store_trie_done(struct store_trie *t);
/* What only who adds stacks needs. */
void store_trie_close(struct store_trie *t);

/*
 * Publishes; the pen is held. A table takes the place of the one so far, unless by is NULL. trie and heap (or NULL) are the trie and
 * the columns of allocations so far, in whose place there are others already.
 */
void store_publish(struct profile *p, struct store_rows *by, struct store_trie *trie,
		   struct store_heap_columns *heap);
void store_heap_columns_free(struct store_heap_columns *c);

/* Is a track folded? Of sampled blocks the peak is an estimate, whose moment depends on more than sizes; they are few. */
bool store_track_folds(const struct store_track *t);
/* Is the heap's table one that is folded: in memory, of at least one track of which all blocks are there? */
bool store_heap_folds(const struct profile *p);
/* Are there so many blocks that half of them may become sums, or so many stacks? It costs a pass over everything. */
bool store_heap_fold_due(const struct profile *p);

/* States how many blocks of a recording of span_ns are sums, in slots of slot_ns where it has several. */
void store_heap_state_folded(struct profile *p, int64_t span_ns, int64_t slot_ns);
/*
 * The pen is held. The heap's table anew, the origins of which have other stacks: to, by the number of each so far. What is in no
 * row and no sum goes. False, and nothing was done: there was no room. *gone becomes the columns so far.
 */
bool store_heap_restack(struct profile *p, const uint32_t *to, struct store_heap_columns **gone);

/* Stacks, or allocations, have other numbers from now on: those who watch are told. */
void store_tell_stacks(const struct profile *p, const uint32_t *to, uint32_t n);
void store_tell_allocations(const struct profile *p, const uint32_t *to, uint32_t n);

/* Are there so many stacks that build_shorten() would shorten some? */
bool store_shorten_due(const struct profile *p);

static inline bool store_room(struct profile *p, struct column *c, uint64_t n)
{
	return (n <= c->n_max && n * c->element_bytes <= c->usable_bytes) || store_grow(p, c, n);
}

#endif
