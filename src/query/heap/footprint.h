/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who allocates, and how much of it is there when: what the first screen of a heap trace shows. Each stack has one site
 * (heap_sites.h), a line of a function where lines are known, so sites add up. Or rows are what else the lens groups by, see
 * footprint_rows.h.
 */
#ifndef PROFTOP_QUERY_HEAP_FOOTPRINT_H
#define PROFTOP_QUERY_HEAP_FOOTPRINT_H

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/core/heap_pass.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress;

/* What is told of each site, in this order in rows. */
enum footprint_column {
	FOOTPRINT_LIVE,      /* bytes there at the cursor */
	FOOTPRINT_PEAK,      /* bytes there at the peak of all */
	FOOTPRINT_BYTES,     /* bytes ever allocated */
	FOOTPRINT_CALLS,     /* allocations */
	FOOTPRINT_TEMPORARY, /* of these, freed as the next deed */
	FOOTPRINT_LEAKED,    /* bytes never freed */
	FOOTPRINT_CHANGE /* bytes more at the end than at the beginning of the filter's range of time; 0 without */
};
#define FOOTPRINT_N_COLUMNS 6 /* that are measures */
#define FOOTPRINT_N_SUMS    7

struct footprint_site {
	uint32_t key;        /* of rows: the function, or what rows are of */
	uint32_t file, line; /* of the call in it, see heap_sites.h */
	uint32_t row; /* its number, which sorting leaves alone: for arrays beside the sites */
	uint32_t
		stack; /* the site's stack that allocated most bytes: to go on from; 0: it has none */
	int64_t sum[FOOTPRINT_N_SUMS];
	int64_t asked; /* live bytes at asked_ns, which moves of the cursor leave alone */
};

/* An answer for one lens over one state of a profile. */
struct footprint {
	const struct profile *profile; /* borrowed */
	struct profile_counts counts;
	struct lens lens; /* the columns of enum footprint_column, of one event */
	uint32_t column_of[FOOTPRINT_N_COLUMNS]; /* where weights have these columns */
	struct groups keys;                      /* of functions */
	struct groups own_rows;                  /* where rows are of something else: their keys */
	const struct groups *rows;               /* keys of rows: these, or keys */
	struct footprint_site
		*site; /* [n_sites] by falling live, then peak, bytes, label, line; owned */
	uint32_t n_sites;
	struct footprint_site *by_row; /* [n_sites] the same as they were made, by row; owned */
	uint32_t *row_of_thing;        /* see footprint_rows_of_origins(); owned */
	int64_t total[FOOTPRINT_N_SUMS];
	int64_t asked_ns; /* the cursor of the lens that was asked for; that of `lens` is where it was moved to */
	int64_t asked; /* live bytes of all sites then */
	int64_t scale
		[FOOTPRINT_N_COLUMNS]; /* sums are in 1/scale of the unit: counts of sampled blocks */
	bool in_range;                 /* the filter has a range of time: sites have a change */
	int64_t whole_ns;              /* the recording's length */
	struct heap_manner manner;
	struct heap_filter *passing; /* see struct weights; owned */
	double error; /* the peak's, as part of it: 95 in 100 times it was not larger; 0: none, or unknown */
	double excess; /* by what part of it the peak may be too high beside that; see peak_excess.h */
	/* its bytes are also those of FOOTPRINT_PEAK in all, where one process alone has one */
	struct peak peak;
};

/*
 * Of the allocations of an event, or of all events, that pass the lens' filter, with its cursor; the measure and columns
 * of the lens are not looked at. 0 or -ECANCELED; the caller frees *out.
 */
int footprint_new(const struct profile *p, const struct profile_counts *counts,
		  const struct lens *lens, struct metric of, struct progress *progress,
		  struct footprint **out);
void footprint_free(struct footprint *m);

/*
 * aggregate(), and in the same pass the footprint of the lens' column, for less than both would take: *out is
 * NULL where the lens has another column beside it, or one that is not of a heap, or that has its own filter.
 */
int footprint_weigh(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, struct progress *progress, struct weights *w,
		    struct footprint **out);

/* Does the input say it? Of levels alone (massif) there are no calls, and what is live at their end is all that is known of leaks. */
static inline bool footprint_knows(const struct footprint *m, enum footprint_column c)
{
	if (c == FOOTPRINT_TEMPORARY && m->manner.lacks & HEAP_LACKS_TEMPORARY)
		return false;
	return !(m->manner.lacks & HEAP_LACKS_CALLS) || c == FOOTPRINT_LIVE ||
	       c == FOOTPRINT_PEAK || c == FOOTPRINT_CHANGE;
}

/* Allocations of all sites, as one number for people. */
static inline int64_t footprint_calls(const struct footprint *m)
{
	int64_t scale = m->scale[FOOTPRINT_CALLS];

	return (m->total[FOOTPRINT_CALLS] + scale / 2) / scale;
}

/* Live bytes of all sites at the peak, to the moment, which is finer than time. The order of sites stays. */
void footprint_move_to_peak(struct footprint *m);

/* Live bytes of all sites at asked_ns. The order of sites stays. */
void footprint_move_back(struct footprint *m);

/* What sites are sorted by. */
struct footprint_order {
	enum footprint_column by;
	bool of_calls; /* by the column's part of the site's calls */
	bool reverse;  /* rising */
};

/* Sorts the sites; ties as said above. Invalidates indexes of sites. */
void footprint_sort_by(struct footprint *m, const struct footprint_order *order);
/* By a column, falling. */
void footprint_sort(struct footprint *m, enum footprint_column by);

/* "live", "peak", …: a column's word for --sort and JSON; it is below FOOTPRINT_N_COLUMNS. */
const char *footprint_column_name(enum footprint_column c);
/* Is there a column of a metric's measure? *out is untouched where there is none. */
bool footprint_has_column(struct metric metric, enum footprint_column *out);
/* The same column; FOOTPRINT_PEAK where there is none. */
enum footprint_column footprint_column_of(struct metric metric);

#endif
