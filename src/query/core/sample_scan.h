/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lens made ready for a pass over the samples, batch by batch: which rows pass which filter, and what
 * they add to each column.
 */
#ifndef PROFTOP_QUERY_CORE_SAMPLE_SCAN_H
#define PROFTOP_QUERY_CORE_SAMPLE_SCAN_H

#include "base/hash.h"
#include "profile/profile.h"
#include "profile/sample_rows.h"
#include "query/core/compiled_filter.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stdint.h>

struct progress;

/* Rows between two looks at whether somebody wants to stop; their flags stay in the L1 cache. */
#define SAMPLE_SCAN_BATCH SAMPLE_ROWS_BATCH

/* Numbers of samples that fade are told in 1/so many. */
#define SAMPLE_SCAN_FADED 1000

/* One column of the lens. */
struct sample_scan_column {
	struct compiled_filter sieve; /* its own filter */
	uint32_t event;               /* of its metric */
	bool all_heaps;               /* of every event of allocations, not of that one alone */
	uint32_t also;         /* another whose rows count, too: of wall time; else the same */
	const int64_t *weight; /* [n_weights] what rows of the batch add, or NULL */
	uint64_t n_weights;    /* the first so many of the batch have one */
	int64_t one;           /* what others add: the scale */
	int64_t finer; /* what is added is in 1/so many of that, as numbers of samples that fade are */
	int64_t square_unit; /* rows add squares, in squares of this; 0: they add what they weigh */
	bool fades;          /* rows count less as they are older */
	bool counts;         /* `weight` is how many samples rows are, */
	bool weighs;         /* or what they weigh; neither: rows add one each */
	int64_t per_sample;  /* rows stand for so much weight a sample; 0: see rows.count */
	bool lasts;          /* rows of `event` last for what they weigh, see event_lasts(); */
	bool also_lasts;     /* and those of `also` */
	bool passes[SAMPLE_SCAN_BATCH]; /* of the batch; undefined when the sieve passes all */
	bool none;                      /* no row of the batch passes; false: not known */
};

struct sample_scan {
	const struct lens *lens;      /* borrowed */
	struct profile_counts counts; /* rows below are looked at */
	struct sample_columns columns;
	struct sample_rows rows;          /* of the batch, [n] */
	const uint16_t *event;            /* of the batch, or NULL: all rows are of event 0 */
	unsigned wanted;                  /* ROWS_… of the columns that are read */
	int64_t *origin;                  /* see compiled_filter_origins(); owned */
	uint32_t *capture_of;             /* [n_threads] capture_id; NULL: nobody asks; owned */
	uint32_t capture;                 /* the newest one that began before the batch's end */
	struct compiled_filter sieve;     /* the lens' filter */
	bool passes[SAMPLE_SCAN_BATCH];   /* of the batch; undefined when the sieve passes all */
	bool any_time[SAMPLE_SCAN_BATCH]; /* the same without time terms; undefined without such */
	struct sample_scan_column column[LENS_MAX_COLUMNS];
	double left
		[SAMPLE_SCAN_BATCH]; /* how much of its rows is left; undefined where nothing fades */
	int64_t newest_ns;           /* since the start, if it fades */
	uint64_t begin;              /* first row of the batch */
	uint64_t n;                  /* rows of the batch */
};

/* 0 or -ECANCELED, when *out is not touched; else the caller frees it. p and lens are borrowed. */
int sample_scan_new(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, struct progress *progress, struct sample_scan **out);
/* The same over what is said beyond stacks; what its filters say of stacks is without sense then. */
int sample_scan_new_beyond(const struct profile *p, const struct profile_counts *counts,
			   const struct lens *lens, const struct beyond_columns *beyond,
			   struct progress *progress, struct sample_scan **out);
void sample_scan_free(struct sample_scan *r);

/* The first or next batch: 1 when there is one, 0 after the last, -ECANCELED. */
int sample_scan_next(struct sample_scan *r, struct progress *progress);

/*
 * What row i of the batch, which weighs x, adds to the variance of the column's sum, were the number of samples a matter of
 * chance (Poisson): the squares of what its samples weigh.
 */
static inline double sample_scan_square(const struct sample_scan *r,
					const struct sample_scan_column *c, uint64_t i, int64_t x)
{
	uint64_t row = r->begin + i;

	if (c->per_sample)
		return (double)x * (double)c->per_sample;
	if (c->counts)
		return (double)x;
	if (row < r->columns.n_folded && c->weight)
		return r->columns.square[row] * (double)c->one * (double)c->one;
	return (double)x * (double)x;
}

/* Does a row of the event count in the column? */
static inline bool sample_scan_counts(const struct sample_scan_column *c, uint32_t event)
{
	return event == c->event || event == c->also;
}

/* Counts of the column's samples are in 1/so many: those of folded stacks may have fractions. */
static inline int64_t sample_scan_sample_scale(const struct sample_scan *r, uint32_t c)
{
	int64_t scale = r->column[c].per_sample > 1 ? r->column[c].per_sample : 1;

	return r->lens->half_life_ns > 0 ? scale * SAMPLE_SCAN_FADED : scale;
}

/* How much is left of a number of row i of the batch, where each is so many now. */
static inline int64_t sample_scan_left(const struct sample_scan *r, uint64_t i, int64_t x,
				       int64_t finer)
{
	if (r->lens->half_life_ns <= 0)
		return x;
	return (int64_t)((double)x * (double)finer * r->left[i] + 0.5);
}

/* What a row of it weighs in the column. */
static inline int64_t sample_scan_weight(const struct sample_scan_column *c, uint64_t i)
{
	return i < c->n_weights ? c->weight[i] : c->one;
}

/* What it adds to the column. */
static inline int64_t sample_scan_adds(const struct sample_scan *r,
				       const struct sample_scan_column *c, uint64_t i)
{
	int64_t x = sample_scan_weight(c, i);
	double left = c->fades ? r->left[i] : 1;

	if (c->square_unit == 0)
		return c->fades ? sample_scan_left(r, i, x, c->finer) : x;
	return (int64_t)(sample_scan_square(r, c, i, x) * left * left / (double)c->square_unit /
				 (double)c->square_unit +
			 0.5);
}

/* How many samples a row was. */
static inline uint64_t sample_scan_count(const struct sample_scan *r, uint64_t i)
{
	return sample_count(&r->columns, r->begin + i);
}

/* How many samples a row of the column stands for, in 1/sample_scan_sample_scale(). */
static inline uint64_t sample_scan_samples(const struct sample_scan *r, uint32_t c, uint64_t i)
{
	int64_t per_sample = r->column[c].per_sample, weight;

	if (per_sample == 0 || !r->rows.weight)
		weight = (per_sample > 1 ? per_sample : 1) * (int64_t)sample_scan_count(r, i);
	else
		weight = r->rows.weight[i];
	return weight > 0 ? (uint64_t)sample_scan_left(r, i, weight, SAMPLE_SCAN_FADED) : 0;
}

/* Does row i of the batch last for what it weighs in column 0? Several waits that are folded into one row do not. */
static inline bool sample_scan_lasts(const struct sample_scan *r, uint64_t i)
{
	const struct sample_scan_column *c = &r->column[0];
	uint64_t row = r->begin + i;

	if (!c->lasts && !c->also_lasts)
		return false;
	if (row < r->columns.n_folded && r->columns.count[row] > 1)
		return false;
	return (r->event ? r->event[i] : 0) == c->event ? c->lasts : c->also_lasts;
}

/* How long after a row's time its last sample was, or, in column 0, its end is. */
static inline double sample_scan_span_ns(const struct sample_scan *r, uint64_t i)
{
	uint64_t row = r->begin + i;
	const struct sample_scan_column *c = &r->column[0];

	if (sample_scan_lasts(r, i)) {
		int64_t weight = sample_scan_weight(c, i);

		return weight > 0 ? (double)weight / (double)c->one : 0;
	}
	return row < r->columns.n_folded
		       ? (double)r->columns.last_ns[row] - (double)r->rows.time_ns[i]
		       : 0;
}

/*
 * Adds a row's weight to slices, of which the first is that of its time and the last that of sample_scan_span_ns() after it. Of
 * several samples one is of each, and any other may be of any time between.
 */
static inline void sample_scan_spread(const struct sample_scan *r, uint64_t i, int64_t *slice,
				      size_t from, size_t to, int64_t weight)
{
	int64_t n = (int64_t)(to - from + 1), due = 0, each, rest, one;

	if (n > 1) {
		int64_t sample = weight / (int64_t)sample_scan_count(r, i);

		slice[from] += sample;
		slice[to] += sample;
		weight -= 2 * sample;
		/* What is less than one each begins anywhere: many rows of little weight are even, too. */
		due = (int64_t)(hash_u64((uint64_t)r->rows.time_ns[i]) % (uint64_t)n);
	}
	each = weight / n;
	one = weight < 0 ? -1 : 1;
	rest = weight % n * one;
	for (int64_t k = 0; k < n && weight != 0; k++) {
		bool full = (due += rest) >= n;

		slice[from + (size_t)k] += full ? each + one : each;
		due -= full ? n : 0;
	}
}

/*
 * Adds a weight that is spread evenly from one place of n slices to another, in slices; what is before the first or behind the last
 * is left out. Returns what was added.
 */
int64_t sample_scan_stretch(int64_t *slice, uint32_t n, double from, double to, int64_t weight);

/* When row i of the batch was, since the start of its capture; false: that is not known. Times may be any number. */
static inline bool sample_scan_since(const struct sample_scan *r, uint64_t i, int64_t *since)
{
	uint32_t thread = sample_rows_thread(&r->rows, i);
	int64_t at = sample_rows_time(&r->rows, i);

	return at != TIME_NONE &&
	       !__builtin_sub_overflow(
		       at, r->origin[thread == ID_NONE ? r->counts.n_threads : thread], since);
}

/* Flags of the batch by the lens' filter, or a column's own; NULL: all rows pass. */
static inline const bool *sample_scan_lens(const struct sample_scan *r)
{
	return r->sieve.passes_all ? NULL : r->passes;
}

/* Flags by the lens' filter without its time terms; NULL: all rows pass. */
static inline const bool *sample_scan_any_time(const struct sample_scan *r)
{
	return r->sieve.n_times > 0 ? r->any_time : sample_scan_lens(r);
}

static inline const bool *sample_scan_own(const struct sample_scan *r, uint32_t c)
{
	return r->column[c].sieve.passes_all ? NULL : r->column[c].passes;
}

#endif
