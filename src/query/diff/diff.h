/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison's answers: what changed by how much, and whether that is more than noise.
 *
 * This is the contract between the comparison and whoever shows it. The analysis of a lens that compares
 * (lens_compares(); comparison_lens() makes one) has all sums: a row of a table, a node of a tree and a row of a butterfly have
 * [n_columns] numbers each. diff_delta() makes a change of any such numbers. What is here besides is what can
 * only be said of all rows together: which are beyond noise, and in which order rows and siblings come.
 *
 * Changes are in the unit of the metric, made equal as asked: means of a side's runs, times a factor that is chosen
 * so that it says the same of both sides; with NORMALISE_NONE they are what was measured.
 *
 * Which rows are beyond noise: those whose p is at most `limit`, which keeps the share of false ones among
 * them below its level (Benjamini-Hochberg) over self and total of all rows of the table that have enough samples to tell. Nodes of a
 * tree and threads go by the limit of the table's rows: what is the same has one interval and one verdict wherever it stands. Where
 * the table is not of functions, the tree's nodes have a limit of their own. Intervals leave out as much, so that they have 0 in them
 * just where the row is not beyond noise. The whole, and rows that are all of it, are judged by themselves. Of several runs a side each
 * of both questions has half of NOISE_LEVEL.
 */
#ifndef PROFTOP_QUERY_DIFF_DIFF_H
#define PROFTOP_QUERY_DIFF_DIFF_H

#include "query/analysis.h"
#include "query/diff/run_history.h"
#include "query/diff/noise.h"
#include "query/diff/normalize.h"

#include <stdbool.h>
#include <stdint.h>

/* Rows of a kind. */
struct diff_family {
	uint32_t n_changed; /* rows whose numbers differ */
	uint32_t n_tested;  /* rows with enough samples to tell a change from noise */
	uint32_t n_judged;  /* numbers with enough samples that the limit is of */
	uint32_t n_beyond;  /* rows beyond noise */
	uint32_t n_own; /* rows that chance does not explain, but what a run does of itself may */
	double level; /* how often chance may make one of them or more; the same of what is everything, which is judged by itself */
	double limit; /* p of rows beyond noise is at most so much, and intervals leave out as much */
	double chance_limit; /* the same of what chance alone does not explain */
};

/* What is said of a change. */
enum change_verdict {
	VERDICT_NOISE, /* chance explains it */
	VERDICT_OWN,   /* one run a side: changed, or this run's own */
	VERDICT_BEYOND /* neither */
};

struct diff {
	/* borrowed; must outlive the diff; its lazy parts are not made */
	struct analysis *analysis;
	enum normalise normalise;
	enum unit unit;                  /* of changes */
	double factor[LENS_MAX_COLUMNS]; /* [n runs] of each run's sums */
	double part[LENS_MAX_COLUMNS];   /* [n runs] of each run's numbers in its side's mean */
	double alike
		[LENS_MAX_COLUMNS]; /* [n runs] of several runs: what makes those of a side equally fast */
	/* what runs differ by beyond chance, in numbers made equal so */
	struct noise_spread spread;
	/* [n_keys] of functions, by earlier runs; NULL: there are too few; owned */
	struct own_spread *learned[N_PARTS];
	uint32_t n_history;       /* earlier runs of the program, for that */
	struct noise_delta whole; /* of everything that passes the lens */
	double follow; /* of one run a side, variance of a change by how unlike functions follow the machine's speed, in squares */
	struct noise_spread whole_spread; /* what runs differ by as a whole */
	double most;    /* the largest change of a row, of self or total, without its sign */
	double overlap; /* share of both sides' weight that is in rows which both have, 0..1 */

	struct diff_family self, total; /* of the table's rows */
	struct noise_delta *row_self;   /* [table.n_rows] by row; owned, as are the following */
	struct noise_delta *row_total;  /* [table.n_rows] by row */

	struct diff_family nodes; /* of the tree's nodes but the root, by total */
	double *change;           /* [n_nodes] after - before of totals; NULL without a tree */
	double *chance;           /* [n_nodes] that it is noise; above 1: too little to tell */
	bool *beyond;             /* [n_nodes] beyond noise */
	uint32_t *
		first; /* [n_nodes] first child, or KEY_NONE: those with something beyond noise in them first, … */
	uint32_t *
		next; /* [n_nodes] … then by change, as diff_ordered() does; next sibling, or KEY_NONE */
};

/*
 * The caller frees, before the analysis. Where amounts are not known (normalize_known()), NORMALISE_NONE is taken. Rows of the
 * table come in the order of diff_ordered() by self. Column 0 is left for diff_show().
 */
struct diff *diff_new(struct analysis *a, enum normalise n);
void diff_free(struct diff *d);

/* Sorts the callers or callees of a butterfly by their change, as diff_ordered() does. */
void diff_sort_neighbours(const struct diff *d, struct butterfly_row *rows, uint32_t n);

/*
 * The table's rows by name or by change: what is beyond noise by its size, then what is the least likely to be chance, and last
 * what did not change; as table_ordered().
 */
uint32_t *diff_ordered(const struct diff *d, enum table_order order, bool reverse);

/* Rows whose total is beyond noise, and what they have themselves is not: because of what they call. */
uint32_t diff_n_by_calls(const struct diff *d);

/* Functions whose intervals are wider by what earlier runs differ by. */
uint32_t diff_n_widened(const struct diff *d);

/*
 * The change of a row with such numbers, [n_columns], which are the self or the total of a key of the analysis' keys, or of something
 * else: KEY_NONE.
 */
void diff_delta(const struct diff *d, uint32_t key, enum row_part part, const int64_t *numbers,
		struct noise_delta *out);

/* The change of what is everything, or nearly all of it: main, as a rule. */
void diff_whole_delta(const struct diff *d, const int64_t *numbers, struct noise_delta *out);

/* The same without its noise: the means of both sides, some roundings apart from those. */
void diff_means(const struct diff *d, const int64_t *numbers, double *before, double *after);

/* The means of both sides as they were measured, whatever they are made equal by. */
void diff_measured(const struct diff *d, const int64_t *numbers, double *before, double *after);

/* A sentence of what most functions did, where that is not nothing; NULL where it is. The caller frees. */
char *diff_say_typical(const struct diff *d);

/* The same of what is left of it where sides are made equal by something else; NULL where they are as measured, or by that. */
char *diff_say_rest(const struct diff *d);

/* What a run has of [n_columns] numbers, in the unit, as it was measured. Runs count from 0, those before first. */
double diff_of_run(const struct diff *d, const int64_t *numbers, uint32_t run);

static inline double diff_change(const struct noise_delta *d)
{
	return d->after - d->before;
}

/* Rows by change of self, in the order of diff_ordered(): the larger comes first. */
double diff_rank(const struct diff *d, const struct noise_delta *self);

static inline enum change_verdict diff_verdict(const struct diff_family *f,
					       const struct noise_delta *d)
{
	if (d->tested && d->p <= (d->all ? f->level : f->limit))
		return VERDICT_BEYOND;
	return d->tested && d->chance <= (d->all ? f->level : f->chance_limit) ? VERDICT_OWN
									       : VERDICT_NOISE;
}

static inline bool diff_is_beyond(const struct diff_family *f, const struct noise_delta *d)
{
	return diff_verdict(f, d) == VERDICT_BEYOND;
}

/* A family of one: its chance is its own limit. */
static inline enum change_verdict diff_whole_verdict(const struct diff *d)
{
	return diff_verdict(&d->total, &d->whole);
}

/* What is outside the interval of a row: the more rows are judged at once, the less, so that 95 % of those beyond noise are right. */
double diff_level(const struct diff_family *f, const struct noise_delta *d);
/* The interval becomes that of a row of the family: 0 is in it unless the row is beyond noise. */
void diff_interval(const struct diff_family *f, struct noise_delta *d);

/* By sides of one run each nobody can tell all that changed from what runs do of themselves. */
bool diff_is_single(const struct diff *d);

/* Of rows that are in no table, [n]: they are judged as the tree's nodes are. */
void diff_find_family(const struct diff *d, const struct noise_delta *delta, uint32_t n,
		      struct diff_family *out);
/* The order of two such rows. */
int diff_order(const struct diff_family *f, const struct noise_delta *a,
	       const struct noise_delta *b);

#endif
