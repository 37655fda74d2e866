/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocations: the table beside the samples, as readers see it.
 *
 * An allocation is an interval: from the moment at which a block was handed out to the one at which
 * it was given back, or for ever. A moment is the number of an allocation or release within its
 * track, counted from 0, so that the order of what happened is exact however coarse clocks are; the
 * ticks of a track tell what time it was. Live bytes, peak, leaks, temporaries are all questions to
 * this one table.
 *
 * track:       what one process of a capture did to its heap: moments are counted by track.
 * origin:      what many allocations share: stack, thread, event (malloc, mmap, …), flags.
 * allocations: rows of {begin, end, size, origin}, of each track in order of their begin. Only the end
 *              changes after publication, once, from never to a moment. A reader takes ends at or
 *              after the moments of its snapshot for never; then what it sees is one state.
 * bulk:        allocations that were freed so soon that the recorder only counted them, or so long ago that only sums
 *              of them are kept.
 * series:      readings of a number over time (RSS), and marks that the program or its user set.
 */
#ifndef PROFTOP_PROFILE_HEAP_HEAP_H
#define PROFTOP_PROFILE_HEAP_HEAP_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
typedef struct { uint32_t v; } track_id;	/* the heap of one process of a capture */
typedef struct { uint32_t v; } origin_id;	/* where and how allocations are made */
typedef struct { uint32_t v; } allocation_id;	/* one block's life */
typedef struct { uint32_t v; } series_id;	/* a number over time */
/* clang-format on */

#define ORIGIN_REALLOC  1u /* by realloc: the block whose end is this one's begin went before it */
#define ORIGIN_ALIGNED  2u /* asked for with an alignment */
#define ORIGIN_OPERATOR 4u /* by a C++ operator new */

/* An end: never, or a moment, with a flag where the thread that made it freed it as its next deed. */
#define END_NEVER     UINT32_MAX
#define END_TEMPORARY 0x80000000u
#define END_MOMENT    0x7fffffffu

/* What a track does not know: views say so where they would show it. */
#define HEAP_LACKS_THREADS   1u  /* who allocated and freed */
#define HEAP_LACKS_LIFETIMES 2u  /* which of several blocks of a stack and size was freed */
#define HEAP_LACKS_TIMES     4u  /* when: moments have their order only */
#define HEAP_LACKS_TEMPORARY 16u /* which blocks were temporary */
#define HEAP_LACKS_CALLS \
	8u /* single blocks: levels are known, calls, bytes in all and sizes are not */
#define HEAP_LACKS_SIZES \
	32u /* of single blocks: sums of a stack are known, rows may be several blocks */

/*
 * No block is larger: no machine has so many addresses. Readers refuse what says that it is, and what is large or only
 * counted adds up to at most SIZE_SUM_MOST in all tracks together (build_heap_claim()), so that sums hold.
 */
#define SIZE_MOST     ((uint64_t)1 << 57)
#define SIZE_SUM_MOST ((uint64_t)1 << 62)

/* Bytes between samples are at most so many: a small block stands for no more blocks than can be counted in parts. */
#define SAMPLE_BYTES_MOST ((uint64_t)1 << 52)

/* Sizes from here on are claimed, see build_heap_claim(). */
#define SIZE_LARGE UINT32_MAX

/* Sizes from here on are in heap_large. */
#define HEAP_SIZE_FAR UINT16_MAX

/* Rows of a group. */
#define HEAP_GROUP 64u

struct heap_origin {
	uint32_t stack;  /* stack_id */
	uint32_t thread; /* thread_id, or ID_NONE */
	uint16_t event;  /* event_id of an event that is_heap */
	uint16_t track;  /* track_id */
	uint32_t flags;  /* ORIGIN_… */
};

/* A size that does not fit the column. */
struct heap_large {
	uint32_t allocation; /* allocation_id */
	uint64_t size;       /* bytes, at most SIZE_MOST */
};

/*
 * Rows of the table that stand one behind the other. Most blocks are small, of few origins, and begin soon after each
 * other; what their thread freed as its next deed ended a moment later, and has no end of its own.
 */
struct heap_group {
	uint64_t
		brief; /* bits of rows that ended, END_TEMPORARY, at the moment after their begin; atomic */
	uint32_t begin; /* moment of the first row */
	uint32_t end;   /* in the column of ends: that of the first row that is not brief */
	uint32_t
		wide; /* 0: rows begin by `step` behind the first; else at [wide - 1] of `wide`; atomic */
};

/* From this moment on, until the next tick's, the time was this or a little later. */
struct heap_tick {
	uint32_t moment;
	int64_t time_ns; /* the recording's clock */
};

/* Allocations that are known only as sums: made and freed within a tick's time or so. */
struct heap_bulk {
	uint32_t origin; /* origin_id */
	uint32_t moment; /* of its track, when they were counted, or the first was handed out */
	uint32_t until;  /* the last of them that is known of; less than moment: the same */
	uint64_t calls;
	uint64_t bytes;
	uint64_t temporary; /* calls among them, see END_TEMPORARY */
};

/* How allocations were sampled from a moment on. */
struct heap_rate {
	uint32_t moment;
	double sample_bytes; /* mean distance of sampled bytes, at most SAMPLE_BYTES_MOST; 0: every allocation is there */
	uint64_t exact_from; /* sampled: from this size on all are there; 0: from none */
};

/*
 * Up to a moment what was freed early is in sums by slot of time: how much was there is known at borders of slots,
 * and where peaks are. Moments here are how many have happened.
 */
struct heap_folded {
	uint32_t until;               /* 0: nothing was folded */
	uint32_t recent;              /* slots before and behind it are of different widths */
	int64_t from_ns;              /* of the first slot */
	int64_t slot_ns;              /* width before recent, */
	int64_t recent_slot_ns;       /* and from there on */
	uint32_t fence[BUILD_FENCES]; /* moments at which it is known, too; 0: none */
};

struct heap_track {
	process_id process;
	const struct heap_rate *
		rate; /* [n_rates] by rising moment; of equal ones the last counts; none: all are there */
	uint32_t n_rates;
	bool attached;      /* the process had run before: what it had allocated is not known */
	uint32_t lacks;     /* HEAP_LACKS_… */
	int64_t culled_ns;  /* what lived less was only counted, in no level; 0: nothing was */
	uint32_t n_moments; /* allocations and releases that have happened */
	/* [n_ticks] by rising moment and time; the first is of moment 0 */
	const struct heap_tick *tick;
	uint32_t n_ticks;
	int64_t gone_ns; /* when its process ended, or became another program; TIME_NONE: it goes on, or nobody knows */
	bool lives_on; /* its process was alive when the recording ended: what it held then is no leak */
	int64_t known_ns; /* of one that is being followed: what happened later may not be here; TIME_NONE: nothing more comes */
	struct heap_folded folded;
};

/* One state of all allocations, with the counts up to which it is complete. */
struct heap_columns {
	uint32_t n_allocations;
	uint32_t n_origins;
	uint32_t n_large;
	uint32_t n_bulk;
	uint32_t n_tracks;
	uint32_t n_series;
	uint32_t n_readings;
	uint32_t n_marks;
	/* allocations that were rows and are in bulk now, see build_heap_fold() */
	uint64_t n_counted;
	/* The rows, for allocation_begin() and the functions below it alone. */
	const struct heap_group *group; /* [(n_allocations + HEAP_GROUP - 1) / HEAP_GROUP] */
	const uint8_t *step;            /* [n_allocations] moments */
	const uint16_t *size;           /* [n_allocations] bytes, or HEAP_SIZE_FAR */
	const uint16_t *origin;         /* [n_allocations] the low half of an origin_id */
	const uint16_t *high;           /* [n_allocations] the other half; NULL: all are 0 */
	const uint32_t *end;            /* moments with flags, of rows that are not brief */
	const uint32_t (*wide)[HEAP_GROUP];
	/* [n_allocations] see allocation_release(); NULL: not recorded */
	const uint32_t *release;
	const struct heap_origin *origins; /* [n_origins] */
	const struct heap_large *large;    /* [n_large] by rising allocation */
	const struct heap_bulk *bulk;      /* [n_bulk] */
};

/* A number over time. */
struct heap_series {
	capture_id capture;
	string_id name; /* RSS, page faults */
	enum unit unit;
};

struct heap_reading {
	uint32_t series; /* series_id */
	int64_t time_ns;
	int64_t value; /* in the unit of its series */
};

/* A point in time that has a name. */
struct heap_mark {
	capture_id capture;
	string_id name;
	uint32_t thread; /* thread_id, or ID_NONE */
	int64_t time_ns;
};

/* The newest state. Pointers are good for the profile's life. */
void profile_heap(const struct profile *p, struct heap_columns *c);

/* As of the same publication as a profile_heap() before it, or a newer one. */
struct heap_track profile_heap_track(const struct profile *p, track_id t);

/* Those of the counts' state while it is held, else the newest. */
void profile_heap_of(const struct profile *p, const struct profile_counts *counts,
		     struct heap_columns *c);
struct heap_track profile_heap_track_of(const struct profile *p,
					const struct profile_counts *counts, track_id t);

/* Borrowed for the profile's life; readings and marks are in the order in which they were read. */
const struct heap_series *profile_heap_series(const struct profile *p, series_id s);
const struct heap_reading *profile_heap_readings(const struct profile *p);
const struct heap_mark *profile_heap_marks(const struct profile *p);

/* Where the end of row i of a group stands among the ends, when these rows of it are brief. */
static inline uint32_t heap_group_end(const struct heap_group *g, uint64_t brief, uint32_t i)
{
	uint64_t before = brief & ((UINT64_C(1) << i) - 1);

	return g->end + i - (before ? (uint32_t)__builtin_popcountll(before) : 0);
}

/* The moment of its track at which allocation i began. */
static inline uint32_t allocation_begin(const struct heap_columns *c, uint32_t i)
{
	const struct heap_group *g = &c->group[i / HEAP_GROUP];
	uint32_t wide = __atomic_load_n(&g->wide, __ATOMIC_ACQUIRE);

	return wide ? c->wide[wide - 1][i % HEAP_GROUP] : g->begin + c->step[i];
}

/* Its origin_id. */
static inline uint32_t allocation_origin(const struct heap_columns *c, uint32_t i)
{
	return c->high ? (uint32_t)c->high[i] << 16 | c->origin[i] : c->origin[i];
}

/*
 * The origin_id of what freed it, or ID_NONE; it is stored before the end. Only where c->release is not NULL.
 */
static inline uint32_t allocation_release(const struct heap_columns *c, uint32_t i)
{
	return __atomic_load_n(&c->release[i], __ATOMIC_ACQUIRE);
}

/* The end of allocation i as of n_moments of its track: END_NEVER, or a moment below with its flag. */
static inline uint32_t allocation_end(const struct heap_columns *c, uint32_t i, uint32_t n_moments)
{
	const struct heap_group *g = &c->group[i / HEAP_GROUP];
	uint64_t brief = __atomic_load_n(&g->brief, __ATOMIC_ACQUIRE);
	uint32_t end;

	if (brief >> i % HEAP_GROUP & 1)
		end = (allocation_begin(c, i) + 1) | END_TEMPORARY;
	else
		end = __atomic_load_n(&c->end[heap_group_end(g, brief, i % HEAP_GROUP)],
				      __ATOMIC_ACQUIRE);
	return (end & END_MOMENT) < n_moments ? end : END_NEVER;
}

/* What allocation_begin() and the others say of some rows of a group. */
struct heap_rows_read {
	uint32_t begin[HEAP_GROUP], end[HEAP_GROUP], origin[HEAP_GROUP];
	uint64_t size[HEAP_GROUP];
	uint32_t row[HEAP_GROUP]; /* which it is; allocation_read_kept() alone says so */
};

/*
 * Reads rows [from, to), of one group, into the first places of *out; ends as of the newest moment, so that the caller
 * compares them with the moments of their track. Returns to - from.
 */
uint32_t allocation_read(const struct heap_columns *c, uint32_t from, uint32_t to,
			 struct heap_rows_read *out);

/*
 * The same of rows that are not brief, and whose origin is one `of` those, [n_origins], or any where that is NULL: *n of them. Returns bits
 * of those that are brief, of any origin, by place in the group: each ends, END_TEMPORARY, at the moment after its begin.
 */
uint64_t allocation_read_kept(const struct heap_columns *c, uint32_t from, uint32_t to,
			      const bool *of, struct heap_rows_read *out, uint32_t *n);

/* A row is read soon: brings it near. */
static inline __attribute__((always_inline)) void allocation_fetch(const struct heap_columns *c,
								   uint32_t i)
{
	const struct heap_group *g = &c->group[i / HEAP_GROUP];

	__builtin_prefetch(&c->size[i]);
	__builtin_prefetch(&c->end[heap_group_end(g, g->brief, i % HEAP_GROUP)]);
}

/* The size of an allocation whose column says HEAP_SIZE_FAR. */
uint64_t allocation_large_size(const struct heap_columns *c, uint32_t i);

static inline uint64_t allocation_size(const struct heap_columns *c, uint32_t i)
{
	return c->size[i] != HEAP_SIZE_FAR ? c->size[i] : allocation_large_size(c, i);
}

/* The last number of moments up to `at` after which it is known how much was there. */
uint32_t heap_level_known(const struct heap_track *t, uint32_t at);
/* The moment from which on levels that are known tell of what happened at another: that one, or a later one. */
uint32_t heap_level_tells(const struct heap_track *t, uint32_t moment);

/*
 * When it was, as far as what is known as sums tells: the slot, up to where slots are of another width or nothing is folded. False:
 * the moment is not of folded time, and is known by itself.
 */
bool heap_folded_slot(const struct heap_track *t, uint32_t moment, int64_t *from_ns,
		      int64_t *to_ns);

/* What time it was at a moment of the track; TIME_NONE for a track of nothing. */
int64_t heap_track_time(const struct heap_track *t, uint32_t moment);
/* The same, looked for from a tick on, *near, which becomes the moment's: for moments that come close to each other. */
int64_t heap_track_time_near(const struct heap_track *t, uint32_t moment, uint32_t *near);
/* The first moment at or after a time, up to n_moments. */
uint32_t heap_track_moment(const struct heap_track *t, int64_t time_ns);
/* The same, looked for from a tick on, *near, which becomes the moment's: for times that mostly rise. */
uint32_t heap_track_moment_near(const struct heap_track *t, int64_t time_ns, uint32_t *near);

#endif
