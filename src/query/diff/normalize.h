/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * By what the runs of a comparison may be made equal: how much each of them is, whatever the lens' own
 * filter leaves of it.
 */
#ifndef PROFTOP_QUERY_DIFF_NORMALIZE_H
#define PROFTOP_QUERY_DIFF_NORMALIZE_H

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/lens.h"
#include "query/diff/common_factor.h"

struct calltree;
struct progress;
struct table;

/* Who may say by how much a run was slower as a whole. */
enum drift { DRIFT_TOTAL, DRIFT_TYPICAL, DRIFT_BRANCHES, N_DRIFTS };

struct normalize {
	/* Of each run, NORMALISE_NONE how many files it is put together of; below or equal to 0: unknown, so that nothing can be made equal by it. */
	double run[N_NORMALISATIONS][LENS_MAX_COLUMNS];
	/* Of the reference event: squares of its samples' weights, by side. */
	double reference_squares[N_SIDES];
	struct run_rows rows; /* of functions that have enough samples; owned */
	struct common_factor typical;
	/*
	 * Of one run a side, logarithms of after over before, as measured: of all that was spent outside the kernel, of the typical
	 * function, and of the program's branches (branches.h) that one which changed least. NAN: not known.
	 */
	double drift[N_DRIFTS];
};

/* Functions whose change no machine's speed makes: that is work. */
struct normalize_work {
	bool *is;            /* by key of the table that normalize_learn() had */
	double sum[N_SIDES]; /* of these, as it was measured */
};

/* w is what aggregate() made of lens. 0 or -ECANCELED. */
int normalize_find(const struct profile *p, const struct profile_counts *counts,
		   const struct lens *lens, const struct weights *w, struct progress *progress,
		   struct normalize *out);

/*
 * Learns what most functions have from a table of functions, of everything that the sides are, and from the call tree of the same (NULL:
 * there is none).
 */
void normalize_learn(struct normalize *a, const struct profile *p, const struct lens *lens,
		     const struct weights *w, const struct table *t, const struct calltree *tree);
/*
 * By how much the machine may have been slower: the least that all who can say it say alike, a logarithm, of runs whose numbers are
 * multiplied with factor[runs] besides; 0: they do not agree.
 */
double normalize_drift(const struct normalize *a, const double *factor);
/*
 * By how much the machine's speed may have changed, whichever way, of what was measured times such factors, one of each side: by the
 * most that most functions or all branches did alike. Where too few functions agree, by what all but a quarter of the time
 * did, up to twice, or all but a quarter at the other end, up to 0.3: a part of a program that changed by more is work. Of that time what
 * is known to be work is left out; NULL: nothing is. Of one run a side.
 */
double normalize_speed(const struct normalize *a, const double *factor,
		       const struct normalize_work *work);
void normalize_done(struct normalize *a);

/* The variance that chance gives to a side's sum, in the metric's unit, of a row of such numbers; 0: it is exact. */
double normalize_variance(const struct profile *p, const struct lens *lens, const struct weights *w,
			  enum side side, const int64_t *numbers, double sum);

/* Are the amounts of all runs known? */
bool normalize_known(const struct normalize *a, const struct lens *lens, enum normalise n);

#endif
