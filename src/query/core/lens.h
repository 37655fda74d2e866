/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything that decides the numbers of an answer, and nothing about how they look: which samples
 * (filter), what is counted (columns), what makes two frames the same (grouping).
 *
 * Several columns stand side by side: several events of one recording, before and after, CPU and
 * heap. Each may narrow the samples by a filter of its own; a diff is two such columns.
 */
#ifndef PROFTOP_QUERY_CORE_LENS_H
#define PROFTOP_QUERY_CORE_LENS_H

#include "base/fmt.h"
#include "profile/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct filter;
struct name_rules;
struct profile;
struct ratios;
struct run_history;
struct suppressions;

/*
 * What a sample adds: its weight (time, period), or 1; what an allocation adds: its bytes, or 1. The
 * others are of allocations only.
 */
/* clang-format off */
#define HEAP_MEASURES(X) \
	X(LIVE,      "live")      /* bytes there at the lens' cursor */ \
	X(PEAK,      "peak")      /* bytes there when most of what passes was */ \
	X(LEAKED,    "leaked")    /* bytes never freed */ \
	X(GROWN,     "grown")     /* bytes allocated in the lens' stretch of time and in use at its end */ \
	X(FREED,     "freed")     /* bytes freed */ \
	X(FREED_BY,  "freed-by")  /* the same, of the stacks and threads that freed them */ \
	X(TEMPORARY, "temporary") /* blocks freed as the next thing that a thread did to its heap */
/* clang-format on */

enum measure {
	MEASURE_WEIGHT,
	MEASURE_SAMPLES,
#define X(id, name) MEASURE_##id,
	HEAP_MEASURES(X)
#undef X
		MEASURE_WALL /* of a clock: its time, and the time of waits off the cpu */
};

/* Is it of what is there, not of what happens? */
static inline bool measure_is_level(enum measure m)
{
	return m == MEASURE_LIVE || m == MEASURE_PEAK || m == MEASURE_LEAKED || m == MEASURE_GROWN;
}

struct metric {
	event_id event;
	enum measure measure;
	bool all; /* of heaps: of all events of allocations together, "memory", not of `event` alone */
};

/* What --event calls all events of allocations together. */
#define ALL_HEAPS_NAME "memory"

static inline bool metric_same_event(struct metric a, struct metric b)
{
	return a.event.v == b.event.v && a.all == b.all;
}

/* What numbers of the metric are in; weights know their scale. An event that is not there counts. */
enum unit metric_unit(const struct profile *p, struct metric m);

/* When two frames are the same row. X(enum, name, title of a column); those behind LINE are of samples, not of frames: tables only. */
/* clang-format off */
#define GROUPINGS(X) \
	X(FUNCTION, "function", "FUNCTION") /* same name and same module name */ \
	X(MODULE,   "module",   "MODULE") \
	X(FILE,     "file",     "FILE")     /* source file */ \
	X(LINE,     "line",     "LINE")     /* source line of the call, or of the instruction; functions where it is not known */ \
	X(THREAD,   "thread",   "THREAD") \
	X(PROCESS,  "process",  "PROCESS") \
	X(COMM,     "comm",     "COMM")     /* the name that the thread had */ \
	X(EVENT,    "event",    "EVENT") \
	X(CPU,      "cpu",      "CPU") \
	X(CGROUP,   "cgroup",   "CGROUP")   /* the control group that the thread was in */ \
	X(LABELS,   "label",    "LABELS")   /* what the program said that it did, see struct thread */ \
	X(CAPTURE,  "capture",  "CAPTURE")  /* the file, with its parts, that the sample is of */ \
	X(HOST,     "host",     "HOST")     /* the machine that it was recorded on */
/* clang-format on */

enum grouping {
#define X(id, name, title) GROUP_##id,
	GROUPINGS(X)
#undef X
};
#define N_GROUPINGS 13

/* "function": as --group takes it, and reports say it. */
const char *grouping_name(enum grouping g);
/* "FUNCTION": above a column of such rows. */
const char *grouping_title(enum grouping g);
/* The grouping of that name; false: there is none. */
bool grouping_find(const char *name, enum grouping *out);

/* Is it of frames, so that trees have it, too? */
static inline bool grouping_of_frames(enum grouping g)
{
	return g == GROUP_FUNCTION || g == GROUP_MODULE || g == GROUP_FILE || g == GROUP_LINE;
}

/* What comes after g when groupings are gone through, of those that p has rows for. */
enum grouping grouping_next(enum grouping g, const struct profile *p);

/* Whose allocations are one row in tables of heaps; X(enum, name): beside groupings, for --group. */
/* clang-format off */
#define HEAP_ROWS(X) \
	X(GROUPS,    "")         /* of the grouping; of functions and lines: the lines of functions that call the allocator */ \
	X(FUNCTIONS, "function") /* all lines of a function are one */ \
	X(STACKS,    "stack") \
	X(SIZES,     "size")     /* powers of two of bytes; of footprints as GROUPS */
/* clang-format on */

enum heap_rows {
#define X(id, name) HEAP_ROWS_##id,
	HEAP_ROWS(X)
#undef X
};

/* The heap rows of that name; false: there are none. */
bool heap_rows_find(const char *name, enum heap_rows *out);
/* What comes next when rows of heaps are gone through; sizes: these, too. */
void heap_rows_next(enum grouping *g, enum heap_rows *rows, bool sizes);

struct lens_column {
	struct metric metric;
	struct filter *filter; /* NULL: no narrowing; owned */
	bool stays;            /* does not fade, whatever the lens says */
	bool blocks;           /* of a heap: how many blocks they are, not bytes */
	bool squares;     /* not sums, but what chance makes of them: see weights.square_unit */
	int64_t level_ns; /* MEASURE_LIVE, MEASURE_LEAKED: as of then, since the capture's start; 0: as the lens says, or at the end */
};

/* As many as a comparison of runs needs; people are shown a few. */
#define LENS_MAX_COLUMNS 32

enum side { SIDE_BEFORE, SIDE_AFTER };
#define N_SIDES 2

/* Names for --normalise. The last is also said by the name of an event. */
/* clang-format off */
#define NORMALISATIONS(X) \
	X(NONE,    "none")    /* numbers as they were measured */ \
	X(TYPICAL, "typical") /* as if most functions had as much: see common_factor.h */ \
	X(TOTAL,   "total")   /* shares of all that was measured */ \
	X(TIME,    "time")    /* as if both had taken as long */ \
	X(SAMPLES, "samples") /* as if both had as many samples */ \
	X(EVENT,   "event")   /* as if both had as much of a reference event */
/* clang-format on */

enum normalise {
#define X(id, name) NORMALISE_##id,
	NORMALISATIONS(X)
#undef X
		N_NORMALISATIONS
};

const char *normalise_name(enum normalise n);

/* What column 0 of a comparison holds: how large things are, where one size is wanted (widths, shares). */
/* clang-format off */
#define SHOWN_SIZES(X) \
	X(BOTH,   "both sides")   /* before and after together: what came and what went has a size, too */ \
	X(BEFORE, "before") \
	X(AFTER,  "after") \
	X(CHANGE, "the change") /* by how much what ends there differs, whichever way */
/* clang-format on */

enum shown_size {
#define X(id, name) SHOWN_##id,
	SHOWN_SIZES(X)
#undef X
		N_SHOWN_SIZES
};

/* "both sides", "before", "after", "the change". */
const char *shown_size_name(enum shown_size s);

/*
 * How the columns of a lens are a comparison (comparison.h makes such lenses): column 0 is what is shown of both, see above;
 * then come those of the runs before, those of the runs after, and, where weights of samples vary, one of
 * squares for each side; and, where the kernel is in the samples, one for each side of what ended there.
 */
struct lens_sides {
	uint32_t n_runs[N_SIDES]; /* {0, 0}: nothing is compared */
	bool squares;             /* then come two columns of squares, … */
	bool system; /* … then two of what the sides spent in the kernel: of one run a side */
	event_id reference;       /* what sides may be made equal by; {ID_NONE}: none was chosen */
	enum normalise normalise; /* what they are made equal by */
	bool automatic;           /* nobody chose that: numbers are as they were measured */
	enum shown_size shown;
	bool moments; /* sides are of moments of one recording: nothing of them goes on over time */
	bool samples_known; /* one run a side, of which `samples` says how many there are … */
	uint32_t version;   /* … in this version of the profile's counts */
	double samples[N_SIDES];
	const struct run_history
		*history; /* earlier runs; NULL: none; borrowed, outlives all lenses */
};

/* The first column of a run. */
#define SIDES_FIRST 1

struct analysis_cache;

/* A value: what it points to is its own, but for the cache. */
struct lens {
	struct filter *filter; /* NULL: everything; owned */
	struct lens_column column[LENS_MAX_COLUMNS];
	uint32_t n_columns; /* at least 1 */
	/* of rows; their sums are the columns behind those that are shown; NULL: there are none; owned */
	struct ratios *ratios;
	bool beside; /* column 1 is of allocations where column 0 is of samples, and the other way round; see lens_choose() */
	enum grouping grouping;   /* of frames in trees and of rows in tables */
	enum heap_rows heap_rows; /* of rows in tables of heaps */
	bool inlines;             /* inlined functions are frames of their own */
	int64_t cursor_ns; /* MEASURE_LIVE: since the capture's start; INT64_MAX: at the end */
	int64_t recent_ns; /* what rows weighed over so much time before the end is wanted; 0: it is not */
	int64_t half_life_ns; /* samples that are so much older count half; 0: all count whole */
	int64_t now_ns; /* than that, since the capture's start, or than the newest where that is later */
	struct lens_sides sides;
	/* which functions are the same by name; NULL: equal ones; owned */
	struct name_rules *names;
	/* Leaks that answers only count; NULL: none; borrowed, outlives all lenses. */
	const struct suppressions *suppress;
	/* What analyses before found out; NULL: nothing; borrowed; copies have none. */
	const struct analysis_cache *cache;
};

/* The first column of a side's runs. */
static inline uint32_t lens_side(const struct lens *l, enum side side)
{
	return SIDES_FIRST + (side == SIDE_AFTER ? l->sides.n_runs[SIDE_BEFORE] : 0);
}

/* The column of a side's squares, or of what it spent in the kernel, where there are such. */
static inline uint32_t lens_squares(const struct lens *l, enum side side)
{
	return SIDES_FIRST + l->sides.n_runs[SIDE_BEFORE] + l->sides.n_runs[SIDE_AFTER] +
	       (uint32_t)side;
}

static inline uint32_t lens_system(const struct lens *l, enum side side)
{
	return lens_squares(l, side) + (l->sides.squares ? N_SIDES : 0);
}

/* Is it a comparison? */
static inline bool lens_compares(const struct lens *l)
{
	return l->sides.n_runs[SIDE_BEFORE] > 0;
}

/* The sum of a side's runs of numbers [n_columns]. */
int64_t lens_side_sum(const struct lens *l, const int64_t *numbers, enum side side);
/*
 * How large numbers are, as a part of wholes, both [n_columns]: of column 0; of a comparison, where the two sides may be of
 * any length, the larger of their shares, that of the side that is shown, or the difference where that is.
 */
double lens_share(const struct lens *l, const int64_t *numbers, const int64_t *wholes);

/*
 * Is an event of n samples (or allocations) rather what is looked at first than the best so far, of `most`, or ID_NONE? Samples
 * go before allocations and time on the cpu, by a clock or in cycles, before all else that happens there; the most go first.
 */
bool lens_event_outranks(const struct profile *p, uint32_t event, uint64_t n, uint32_t best,
			 uint64_t most);

/*
 * What is looked at first of the events that f lets pass: that which outranks all others, its weight, or what was there at the
 * peak of a heap. f may be NULL.
 */
struct metric lens_usual_metric(const struct profile *p, const struct filter *f);

/*
 * The lens a user expects on opening p: of its events that which outranks all others, that event's own weight, no
 * filter, by function, with inlines. Without samples the first event: of allocations, what was there
 * at the peak; where there are both, that stands beside the event. With no event at all, column 0 is of event 0.
 */
void lens_init(struct lens *l, const struct profile *p);
/* Shows the metric in column 0, and of a lens with `beside` the other kind's usual one in column 1. */
void lens_choose(struct lens *l, const struct profile *p, struct metric m);
/* Functions are the same by such rules, which are copied; NULL: by equal names. */
void lens_set_names(struct lens *l, const struct name_rules *rules);
void lens_copy(struct lens *to, const struct lens *from);
void lens_done(struct lens *l);

/* "cpu-clock", "cpu-clock samples", "malloc peak", …: what a column is called; the caller frees. */
char *metric_name(const struct profile *p, struct metric m);
/* The measure's word for --metric: "period", "samples", or for heaps "bytes", "peak", …. */
const char *metric_word(const struct profile *p, struct metric m);
/*
 * The metric after m: every measure of its event that says something else, then those of the next event that has any. MEASURE_GROWN
 * says something else where f, which may be NULL, has a stretch of time, and MEASURE_FREED_BY where free stacks were recorded.
 */
struct metric metric_next(const struct profile *p, struct metric m, const struct filter *f);
/* The event whose weights MEASURE_WALL adds to those of the metric's own; of others {ID_NONE}. */
event_id metric_waits(const struct profile *p, struct metric m);
/* The name of the metric's event, or of all of allocations; borrowed for the profile's life. The event is there. */
const char *metric_event_name(const struct profile *p, struct metric m);
/* Is it an event of allocations that nothing was allocated by? */
bool lens_is_empty_heap(const struct profile *p, event_id event);
/* How many of its columns are shown: those behind them are what its ratios are made of. */
uint32_t lens_n_shown(const struct lens *l);
/* Is there something in the columns that are shown? numbers: [n_columns]. Without ratios there always is. */
bool lens_shows(const struct lens *l, const int64_t *numbers);
/* Does a column that is shown count the event? */
bool lens_has_event(const struct lens *l, const struct profile *p, event_id event);
/* Do several events have allocations, so that they can be counted together? */
bool lens_sums_heaps(const struct profile *p);

/* Is it of allocations? */
bool metric_is_heap(const struct profile *p, struct metric m);
/* Are rows sums over all samples of a stack, so that nobody knows how many samples they are? */
bool metric_is_summed(const struct profile *p, struct metric m);

/* What of all a share of it is, with a space before: " bytes at this peak"; "" if that goes without saying. */
const char *metric_share_of(const struct profile *p, struct metric m);

/*
 * Finds an event by its name (exact, else unique prefix) for --event; "period" or "" for its own
 * measure, "samples", "wall", or for heaps "bytes", "calls", "live", …. -ENOENT with a sentence that lists
 * what there is, or says why it cannot be.
 */
int metric_find(const struct profile *p, const char *event, const char *measure, struct metric *out,
		struct err *e);

/*
 * The same without an event's name: of the event in *out, or of the first that has such a measure, or for "wall" of the first
 * clock, when that one has not.
 */
int metric_find_measure(const struct profile *p, const char *measure, struct metric *out,
			struct err *e);

#endif
