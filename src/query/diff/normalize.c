/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/normalize.h"

#include "query/core/captures.h"
#include "query/core/filter.h"
#include "query/tree/branches.h"
#include "query/tree/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define QUARTER 0.25

static uint32_t n_runs(const struct lens *l)
{
	return l->sides.n_runs[SIDE_BEFORE] + l->sides.n_runs[SIDE_AFTER];
}

/* What is left of the time between two moments, which fades towards now: half of what is a half-life old. */
static double faded_ns(const struct lens *l, double from, double to, double now)
{
	double h = (double)l->half_life_ns;

	return h / log(2) * (exp2((to - now) / h) - exp2((from - now) / h));
}

/*
 * How long the longest capture of a run is, or the part of it that time terms let pass, or what is left of it; 0: no times.
 * One that is being recorded goes on while nothing comes.
 */
static double run_ns(const struct profile *p, const struct profile_counts *counts,
		     const struct lens *l, const struct lens_column *column)
{
	bool fades = l->half_life_ns > 0 && !column->stays;
	const struct filter *f = column->filter;
	bool *passes = captures_of_filter(p, counts, f);
	double most = 0, now = (double)l->now_ns;
	int64_t from, to;

	filter_times(f, &from, &to);
	for (uint32_t i = 0; i < counts->n_captures; i++) {
		struct capture_span c = profile_capture_span(p, counts, (capture_id){ i });
		int64_t begin = c.begin_ns, end = c.end_ns;
		double upto = (double)to, whole, span;

		if (begin == TIME_NONE || end == TIME_NONE || !passes[i])
			continue;
		whole = fmax((double)end - (double)begin, now);
		upto = fmin(upto, whole);
		span = fades ? faded_ns(l, (double)from, upto, whole) : upto - (double)from;
		most = span > most ? span : most;
	}
	free(passes);
	return most;
}

/* How many captures a run is: of more runs than can be compared, several are one. 1 where a side is one run, all of which counts. */
static double run_captures(const struct profile *p, const struct profile_counts *counts,
			   const struct lens *l, const struct lens_column *column)
{
	bool *passes;
	double n = 0;

	if (n_runs(l) == N_SIDES)
		return 1;
	passes = captures_of_filter(p, counts, column->filter);
	for (uint32_t i = 0; i < counts->n_captures; i++)
		n += passes[i];
	free(passes);
	return n > 0 ? n : 1;
}

/* Sums of one metric for each run; with squares, for each side instead. */
static int weigh_runs(const struct profile *p, const struct profile_counts *counts,
		      const struct lens *of, const event_id *event, struct progress *progress,
		      double *sums)
{
	struct lens lens = { .n_columns = n_runs(of), .inlines = of->inlines };
	struct weights w;
	int rc;

	for (uint32_t i = 0; i < lens.n_columns; i++) {
		lens.column[i].filter = of->column[SIDES_FIRST + i].filter;
		lens.column[i].metric = of->column[SIDES_FIRST + i].metric;
		if (event)
			lens.column[i].metric = (struct metric){ .event = *event };
		else
			lens.column[i].metric.measure = MEASURE_SAMPLES;
	}
	rc = aggregate_sums(p, counts, &lens, progress, &w);
	for (uint32_t i = 0; i < lens.n_columns && rc == 0; i++)
		sums[i] = (double)w.whole[i] / (double)w.scale[i];
	weights_done(&w);
	return rc;
}

/* How many samples each run has; without a pass over them where who made the lens counted, which is with inlined frames. */
static int count_runs(const struct profile *p, const struct profile_counts *counts,
		      const struct lens *of, struct progress *progress, double *samples)
{
	if (!of->sides.samples_known || of->sides.version != counts->version || !of->inlines)
		return weigh_runs(p, counts, of, NULL, progress, samples);
	for (int side = 0; side < N_SIDES; side++)
		samples[side] = of->sides.samples[side];
	return 0;
}

/* The reference event's squares, in the event's unit. */
static int weigh_squares(const struct profile *p, const struct profile_counts *counts,
			 const struct lens *of, struct progress *progress, double *by_side)
{
	struct lens lens = { .n_columns = n_runs(of), .inlines = of->inlines };
	struct weights w;
	int rc;

	for (uint32_t i = 0; i < lens.n_columns; i++)
		lens.column[i] = (struct lens_column){
			.filter = of->column[SIDES_FIRST + i].filter,
			.metric = { .event = of->sides.reference, .measure = MEASURE_WEIGHT },
			.squares = true,
		};
	rc = aggregate_sums(p, counts, &lens, progress, &w);
	for (uint32_t i = 0; i < lens.n_columns && rc == 0; i++) {
		double unit = (double)w.square_unit[i] / (double)w.scale[i];

		by_side[i >= of->sides.n_runs[SIDE_BEFORE]] += (double)w.whole[i] * unit * unit;
	}
	weights_done(&w);
	return rc;
}

int normalize_find(const struct profile *p, const struct profile_counts *counts,
		   const struct lens *lens, const struct weights *w, struct progress *progress,
		   struct normalize *out)
{
	const event_id *reference = &lens->sides.reference;
	int rc;

	*out = (struct normalize){ 0 };
	for (uint32_t i = 0; i < n_runs(lens); i++) {
		out->run[NORMALISE_NONE][i] = run_captures(p, counts, lens,
							   &lens->column[SIDES_FIRST + i]);
		out->run[NORMALISE_TOTAL][i] = (double)w->whole[SIDES_FIRST + i] /
					       (double)w->scale[SIDES_FIRST + i];
		out->run[NORMALISE_TIME][i] = run_ns(p, counts, lens,
						     &lens->column[SIDES_FIRST + i]);
	}
	rc = count_runs(p, counts, lens, progress, out->run[NORMALISE_SAMPLES]);
	if (rc < 0 || reference->v >= counts->n_events)
		return rc;
	rc = weigh_runs(p, counts, lens, reference, progress, out->run[NORMALISE_EVENT]);
	return rc < 0 ? rc : weigh_squares(p, counts, lens, progress, out->reference_squares);
}

/* From squares, else by how many samples there are. */
double normalize_variance(const struct profile *p, const struct lens *lens, const struct weights *w,
			  enum side side, const int64_t *numbers, double sum)
{
	uint32_t column = lens_squares(lens, side);
	double unit;

	if (!lens->sides.squares)
		return metric_is_heap(p, lens->column[0].metric) ? 0 : fabs(sum);
	unit = (double)w->square_unit[column] / (double)w->scale[column];
	return (double)numbers[column] * unit * unit;
}

/* The functions with enough samples. */
static void learn_rows(struct normalize *a, const struct profile *p, const struct lens *lens,
		       const struct weights *w, const struct table *t)
{
	const uint32_t *n = lens->sides.n_runs;
	double x[LENS_MAX_COLUMNS], variance[LENS_MAX_COLUMNS];

	memcpy(a->rows.n_runs, n, sizeof(a->rows.n_runs));
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const int64_t *self = &t->self[(size_t)i * t->n_columns];

		for (int side = 0, run = 0; side < N_SIDES; side++) {
			uint32_t first = lens_side(lens, (enum side)side), to = first + n[side];
			double sum = 0, whole;

			for (uint32_t c = first; c < to; c++)
				sum += x[c - SIDES_FIRST] = (double)self[c] / (double)w->scale[c];
			whole = normalize_variance(p, lens, w, (enum side)side, self, sum);
			/* Squares are known of a side as a whole. */
			for (uint32_t c = first; c < to; c++, run++)
				variance[run] = sum > 0 ? whole * x[run] / sum : 0;
		}
		run_rows_add(&a->rows, t->key[i], x, variance);
	}
}

/* What is outside the kernel of everything that a side is. */
static double outside_kernel(const struct lens *lens, const struct weights *w, enum side side)
{
	uint32_t c = lens_side(lens, side), k = lens_system(lens, side);
	double kernel = lens->sides.system ? (double)w->whole[k] / (double)w->scale[k] : 0;

	return (double)w->whole[c] / (double)w->scale[c] - kernel;
}

static double log_ratio(double before, double after)
{
	return before > 0 && after > 0 ? log(after / before) : NAN;
}

/* What functions of other branches say, and by how much all branches changed alike. */
static void learn_branches(struct normalize *a, const struct lens *lens, const struct weights *w,
			   const struct calltree *tree)
{
	uint32_t *branch = branches_find(tree, lens, w, &a->drift[DRIFT_BRANCHES]);

	common_factor_check(&a->rows, branch, &a->typical);
	free(branch);
}

/* A part of the time, and by how much it changed. */
struct part {
	double at, says;
};

static int by_place(const void *a, const void *b)
{
	double x = ((const struct part *)a)->at, y = ((const struct part *)b)->at;

	return (x > y) - (x < y);
}

/* What a quarter of the time is below, and what a quarter is above. */
static void find_quarters(struct part *part, size_t n, double quarter[2])
{
	double all = 0, sum = 0;
	bool found = false;

	quarter[0] = quarter[1] = NAN;
	if (n == 0)
		return;
	qsort(part, n, sizeof(*part), by_place);
	for (size_t i = 0; i < n; i++)
		all += part[i].says;
	for (size_t i = 0; i < n; i++) {
		sum += part[i].says;
		if (!found && sum >= QUARTER * all) {
			quarter[0] = part[i].at;
			found = true;
		}
		if (sum >= (1 - QUARTER) * all) {
			quarter[1] = part[i].at;
			return;
		}
	}
}

/* Of one run a side by how much its functions changed; those with few samples are one, and what is no speed is left out. */
static void learn_quarters(const struct normalize *a, const struct normalize_work *work,
			   double quarter[2])
{
	struct part *part = xcalloc((size_t)a->rows.n + 1, sizeof(*part));
	double rest[N_SIDES] = { a->run[NORMALISE_TOTAL][0], a->run[NORMALISE_TOTAL][1] };
	size_t n = 0;

	for (int side = 0; side < N_SIDES && work; side++)
		rest[side] -= work->sum[side];
	for (uint32_t i = 0; i < a->rows.n; i++) {
		const double *at = &a->rows.log.at[(size_t)i * N_SIDES];

		if (work && work->is[a->rows.key.at[i]])
			continue;
		part[n++] = (struct part){ at[1] - at[0], exp(at[0]) + exp(at[1]) };
		rest[0] -= exp(at[0]);
		rest[1] -= exp(at[1]);
	}
	if (rest[0] > 0 && rest[1] > 0)
		part[n++] = (struct part){ log(rest[1] / rest[0]), rest[0] + rest[1] };
	find_quarters(part, n, quarter);
	free(part);
}

void normalize_learn(struct normalize *a, const struct profile *p, const struct lens *lens,
		     const struct weights *w, const struct table *t, const struct calltree *tree)
{
	learn_rows(a, p, lens, w, t);
	common_factor_find(&a->rows, &a->typical);
	a->drift[DRIFT_BRANCHES] = NAN;
	if (tree)
		learn_branches(a, lens, w, tree);
	a->drift[DRIFT_TOTAL] = log_ratio(outside_kernel(lens, w, SIDE_BEFORE),
					  outside_kernel(lens, w, SIDE_AFTER));
	/* That few agree is no reason to think that the machine was as fast. */
	a->drift[DRIFT_TYPICAL] = a->typical.agreed ? log(a->typical.ratio) : NAN;
	for (uint32_t i = 0; i < n_runs(lens); i++)
		a->run[NORMALISE_TYPICAL][i] = a->typical.known ? a->typical.run[i] : 0;
}

double normalize_drift(const struct normalize *a, const double *factor)
{
	double least = INFINITY, by = log(factor[1] / factor[0]);

	for (int i = 0; i < N_DRIFTS; i++) {
		double drift = a->drift[i] + by;

		if (isnan(drift))
			continue;
		if (!isinf(least) && drift * least <= 0)
			return 0;
		least = fabs(drift) < fabs(least) ? drift : least;
	}
	return isinf(least) ? 0 : least;
}

/* More than twice as much is no speed, but work. */
#define MOST_SPEED  M_LN2
/* Of what only a part of the program did, more than that is. */
#define MOST_OF_ONE 0.3

/* What less than a quarter of the time is outside of, on either side: what all have of it is speed, and what most have may be. */
static double speed_of_quarters(const struct normalize *a, const struct normalize_work *work,
				double by)
{
	double quarter[2], low, high, less, more, all;

	learn_quarters(a, work, quarter);
	if (isnan(quarter[0]))
		return 0;
	low = quarter[0] + by;
	high = quarter[1] + by;
	less = fmin(fabs(low), fabs(high));
	more = fmax(fabs(low), fabs(high));
	all = low * high > 0 ? less : 0;
	if (more <= MOST_OF_ONE)
		return fmax(all, more);
	return fmax(all, less <= MOST_OF_ONE ? less : 0);
}

double normalize_speed(const struct normalize *a, const double *factor,
		       const struct normalize_work *work)
{
	double most = 0, by = log(factor[1] / factor[0]);

	if (a->typical.known)
		most = fabs(a->drift[DRIFT_TYPICAL] + by);
	if (a->typical.known && !isnan(a->drift[DRIFT_BRANCHES]))
		most = fmax(most, fabs(a->drift[DRIFT_BRANCHES] + by));
	if (!a->typical.known)
		most = speed_of_quarters(a, work, by);
	return fmin(most, MOST_SPEED);
}

void normalize_done(struct normalize *a)
{
	run_rows_done(&a->rows);
}

bool normalize_known(const struct normalize *a, const struct lens *lens, enum normalise n)
{
	for (uint32_t i = 0; i < n_runs(lens); i++)
		if (!(a->run[n][i] > 0))
			return false;
	return true;
}
