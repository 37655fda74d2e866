/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory over time, in all and by site, over a span of time in equal slots: what the graph of a footprint shows. One pass
 * over the allocations, of some ten nanoseconds each.
 */
#ifndef PROFTOP_QUERY_HEAP_FOOTPRINT_LINES_H
#define PROFTOP_QUERY_HEAP_FOOTPRINT_LINES_H

#include "query/core/time_span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct footprint;
struct progress;
struct teardown_cache;

/* A slot of time. */
struct footprint_slot {
	int64_t live; /* bytes there at its end */
	int64_t most; /* at its fullest, as far as a 16th of it tells; exact where the peak is */
	int64_t allocated; /* bytes */
	int64_t freed;     /* bytes */
	uint64_t n_allocated;
	uint64_t n_freed;
};

struct footprint_lines {
	struct time_span span;       /* as it was asked for */
	int64_t to_ns;               /* where it ends */
	struct footprint_slot *slot; /* [span.n] of all sites together; owned */
	int64_t *row;         /* [n_rows][n_row_slots] live bytes at the ends of slots; owned */
	uint32_t n_rows;      /* the sites, by their row */
	uint32_t n_row_slots; /* span.n; fewer and wider ones of very many sites, or 0 */
	bool *grows; /* [n_rows] see footprint_lines_judge(); owned, NULL: a row's line says it */
	uint32_t
		teardown; /* slot, see footprint_teardown(); span.n where the end is not in sight */
};

/*
 * The last teardown that lines of some filter asked for. It is of the whole program, whatever the filter, and takes a pass of its own.
 * Several threads may use one.
 */
struct teardown_cache *teardown_cache_new(void);
void teardown_cache_free(struct teardown_cache *k);

/*
 * Reads what stays as it is when sites are sorted and cursors moved, so another thread may do these meanwhile. cache:
 * of this profile, or NULL. 0 or -ECANCELED; the caller frees *out.
 */
int footprint_lines_new(const struct footprint *m, const struct time_span *span,
			struct teardown_cache *cache, struct progress *progress,
			struct footprint_lines **out);
void footprint_lines_free(struct footprint_lines *l);

/* A site's line, n_row_slots long; NULL: there is none. */
const int64_t *footprint_row_line(const struct footprint_lines *l, uint32_t row);

/*
 * Live bytes of all sites as of the end of a slot, which is at cursor_ns; false, and nothing is changed, where rows
 * are not known slot by slot. Sums and totals change, the order does not.
 */
bool footprint_move_in_lines(struct footprint *m, int64_t cursor_ns,
			     const struct footprint_lines *l, uint32_t slot);

/*
 * The slot in which a program begins to free all that it has before it ends: from there on it frees 16 times what it
 * allocates, and a quarter at most of what was there is left; of the last slot the latter is enough. n: it does not, or for
 * longer than a third of the time, which is a part of its work. Growth is judged without that time: a
 * leak of a program that frees everything at exit is one while it runs.
 */
uint32_t footprint_teardown(const struct footprint_slot *slot, uint32_t n);

/* Slots in which growth over the whole time is judged, however many a screen has columns. */
#define VERDICT_SLOTS 160u

/*
 * Judges the growth of all rows as the table of leaks does, in a pass of its own, where the lines are of the whole time and
 * there are not too many allocations. 0 or -ECANCELED.
 */
int footprint_lines_judge(struct footprint_lines *l, const struct footprint *m,
			  struct teardown_cache *cache, struct progress *progress);

/* Does a site's line grow steadily to the end, or, where the program has ended, to its teardown? See heap_verdict.h. */
bool footprint_row_grows(const struct footprint_lines *l, uint32_t row, bool ended);

#endif
