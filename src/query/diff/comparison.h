/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Before and after: what of a profile the sides of a comparison are, which metric they have in common, and the lens
 * that has both as columns.
 *
 * A side is one or more runs, a run is a filter: "capture:1" of a file, "time:0,10" of a stretch of one.
 */
#ifndef PROFTOP_QUERY_DIFF_COMPARISON_H
#define PROFTOP_QUERY_DIFF_COMPARISON_H

#include "base/mem.h"
#include "profile/profile.h"
#include "query/core/lens.h"
#include "query/core/name_rules.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct presence;
struct progress;
struct run_history;

/* So many runs on both sides together: a column is for what is shown, two are for squares. */
#define SIDES_MAX_RUNS (LENS_MAX_COLUMNS - SIDES_FIRST - N_SIDES)

struct comparison {
	VEC(char *) run[N_SIDES]; /* filter of each run, as text; owned */
	struct name_rules names;  /* which functions are the same by name; owned */
	char *name[N_SIDES];      /* what people call the side: "before.data", "time:0,10"; owned */
	const struct run_history *history; /* of earlier runs; NULL: none; borrowed */
	struct presence *has;              /* comparison_count(); NULL: not counted; owned */
};

void comparison_done(struct comparison *s);

/* Adds a run; the filter's text is copied. -EINVAL with a sentence when it is no filter, or there are too many. */
int comparison_add(struct comparison *s, enum side side, const char *filter, struct err *e);

/*
 * Counts what of which event the sides have, for all comparison_lens() that follow; runs are added before. Without that, or when
 * the profile has grown, each of them counts by itself: that is a pass over all samples. 0, or -ECANCELED and nothing was
 * counted; progress may be NULL.
 */
int comparison_count(struct comparison *s, const struct profile *p, struct progress *progress);

/*
 * Of parts of one recording that were counted by comparison_count(), a run each and with names: a sentence of how much is on both
 * sides, which says nothing of what changed; the caller frees. NULL: nothing is on both, or it was cancelled. A pass over
 * all samples; progress may be NULL.
 */
char *comparison_overlap(const struct comparison *s, const struct profile *p,
			 struct progress *progress);

/* Is any function, module or thread called so, by the rules of names as they are without renaming? */
bool comparison_have_name(const struct comparison *s, const struct profile *p, const char *name);

/* What the user chose; "" and NULL: nothing. */
struct comparison_choice {
	const char *event, *metric; /* as metric_find() takes them */
	const char *reference;      /* an event that sides are made equal by */
	enum normalise normalise;   /* NORMALISE_EVENT: by that event */
	bool automatic;             /* as in struct lens_sides */
	int64_t half_life_ns;       /* the side after fades, as in struct lens; 0: it does not */
	int64_t now_ns; /* it goes on until then, where that is later than what is newest; likewise */
	int64_t level_ns; /* sides are of then and now: of the side before, as in struct lens_column; 0: they are not */
};

/*
 * Makes l (lens_init() was called) compare the sides: by what was chosen, else by the busiest event that both have,
 * else, where one side has counts of samples only (folded stacks), by numbers of samples. -ENOENT with
 * a sentence that says what there is when there is nothing in common, or a side is empty; l is what it was then. l has
 * the rules of names of its own.
 */
int comparison_lens(const struct comparison *s, const struct profile *p,
		    const struct comparison_choice *choice, struct lens *l, struct err *e);

#endif
