/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lens made ready for a pass over the samples, batch by batch: which rows pass which filter, and what
 * they add to each column.
 */
#ifndef PROFTOP_QUERY_ROWPASS_H
#define PROFTOP_QUERY_ROWPASS_H

#include "lens.h"
#include "profile.h"
#include "sieve.h"

#include <stdbool.h>
#include <stdint.h>

struct progress;

/* Rows between two looks at whether somebody wants to stop; their flags stay in the L1 cache. */
#define ROWPASS_BATCH 4096

/* One column of the lens. */
struct rowpass_column {
	struct sieve sieve;    /* its own filter */
	uint32_t event;        /* of its metric */
	uint32_t also;         /* another whose rows count, too: of wall time; else the same */
	const int64_t *weight; /* [n_samples] what rows add; NULL: each adds one */
	int64_t one;           /* what a row adds without weights: the scale */
	int64_t square_unit; /* rows add squares, in squares of this; 0: they add what they weigh */
	int64_t per_sample;  /* rows stand for so much weight a sample; 0: each for one sample */
	bool passes[ROWPASS_BATCH]; /* of the batch; undefined when the sieve passes all */
};

struct rowpass {
	const struct lens *lens;      /* borrowed */
	struct profile_counts counts; /* rows below are looked at */
	struct sample_columns rows;
	const uint16_t *event;        /* [n_samples] or NULL: all rows are of event 0 */
	int64_t *origin;              /* see sieve_origins(); owned */
	struct sieve sieve;           /* the lens' filter */
	bool passes[ROWPASS_BATCH];   /* of the batch; undefined when the sieve passes all */
	bool any_time[ROWPASS_BATCH]; /* the same without time terms; undefined without such */
	struct rowpass_column column[LENS_MAX_COLUMNS];
	uint64_t begin; /* first row of the batch */
	uint64_t n;     /* rows of the batch */
};

/* 0 or -ECANCELED, when *out is not touched; else the caller frees it. p and lens are borrowed. */
int rowpass_new(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, struct progress *progress, struct rowpass **out);
void rowpass_free(struct rowpass *r);

/* The first or next batch: 1 when there is one, 0 after the last, -ECANCELED. */
int rowpass_next(struct rowpass *r, struct progress *progress);

/*
 * What a row that weighs x adds to the variance of the column's sum, were the number of rows a matter of
 * chance (Poisson): x squared; where rows count samples, each of these by itself.
 */
static inline double rowpass_square(const struct rowpass_column *c, int64_t x)
{
	return (double)x * (double)(c->per_sample ? c->per_sample : x);
}

/* Does a row of the event count in the column? */
static inline bool rowpass_counts(const struct rowpass_column *c, uint32_t event)
{
	return event == c->event || event == c->also;
}

/* Counts of the column's samples are in 1/so many: those of folded stacks may have fractions. */
static inline int64_t rowpass_sample_scale(const struct rowpass *r, uint32_t c)
{
	return r->column[c].per_sample > 1 ? r->column[c].per_sample : 1;
}

/* What a row of it adds to the column. */
static inline int64_t rowpass_adds(const struct rowpass_column *c, uint64_t row)
{
	int64_t x = c->weight ? c->weight[row] : c->one;

	if (c->square_unit == 0)
		return x;
	return (int64_t)(rowpass_square(c, x) / (double)c->square_unit / (double)c->square_unit +
			 0.5);
}

/* How many samples a row of the column stands for, in 1/rowpass_sample_scale(). */
static inline uint64_t rowpass_samples(const struct rowpass *r, uint32_t c, uint64_t row)
{
	int64_t weight;

	if (r->column[c].per_sample == 0 || !r->rows.weight)
		return (uint64_t)rowpass_sample_scale(r, c);
	weight = r->rows.weight[row];
	return weight > 0 ? (uint64_t)weight : 0;
}

/* Flags of the batch by the lens' filter, or a column's own; NULL: all rows pass. */
static inline const bool *rowpass_lens(const struct rowpass *r)
{
	return r->sieve.passes_all ? NULL : r->passes;
}

/* Flags by the lens' filter without its time terms; NULL: all rows pass. */
static inline const bool *rowpass_any_time(const struct rowpass *r)
{
	return r->sieve.n_times > 0 ? r->any_time : rowpass_lens(r);
}

static inline const bool *rowpass_own(const struct rowpass *r, uint32_t c)
{
	return r->column[c].sieve.passes_all ? NULL : r->column[c].passes;
}

#endif
