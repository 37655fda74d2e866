/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything is done to logarithms, where a factor is a sum: a weighted median says where most are, how wide the middle half of
 * them is says which are too far from it, and what is left is averaged by how well each is known.
 */
#include "config.h"

#include "query/diff/common_factor.h"

#include "base/fmt.h"
#include "query/diff/distributions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A function has at least so many samples in each run: with fewer, logarithms are lopsided. */
#define ENOUGH_SAMPLES  20
/* What is added to a witness' variance, so that a large function has hardly more to say than one of some hundred samples. */
#define EQUAL_VARIANCE  0.01
/* As many at least must agree for what runs differ by to be learned from them, … */
#define LEAST_WITNESSES 3
/* … and as many for a machine, or the amount of work, to be made responsible; … */
#define LEAST_KNOWN     12
/* … of which so many are outside the largest branch of the program; … */
#define LEAST_OUTSIDE   3
/* … and so much of all, by what they have to say. */
#define LEAST_AGREEING  0.5
/* Who is farther off than so many deviations does not do as the others do. */
#define FAR             3.0
/* Half of a normal distribution is within so many deviations. */
#define MIDDLE_HALF     0.6744897501960817
/*
 * Functions that differ by more than a twentieth from run to run are not noise of any machine, but functions that were changed:
 * the most that a number of one run is taken to vary by, squared.
 */
#define MOST_SPREAD     0.0025
/* Functions differ by more than chance where they do so by so many deviations of what it makes: 1 time of 40. */
#define UNLIKE          1.959963984540054
/* A common factor is told when chance makes one like it less often than this, and when it is no smaller. */
#define COMMON_CHANCE   NOISE_LEVEL
#define LEAST_COMMON    0.01

void run_rows_add(struct run_rows *rows, uint32_t key, const double *x, const double *variance)
{
	uint32_t n_runs = rows->n_runs[SIDE_BEFORE] + rows->n_runs[SIDE_AFTER];

	for (uint32_t i = 0; i < n_runs; i++)
		if (!(x[i] > 0) || ENOUGH_SAMPLES * variance[i] > x[i] * x[i])
			return;
	for (uint32_t i = 0; i < n_runs; i++) {
		vec_push(&rows->log, log(x[i]));
		vec_push(&rows->chance, variance[i] / x[i] / x[i]);
	}
	vec_push(&rows->key, key);
	rows->n++;
}

void run_rows_done(struct run_rows *rows)
{
	vec_done(&rows->key);
	vec_done(&rows->log);
	vec_done(&rows->chance);
}

/* What one function says of a factor. */
struct witness {
	double at;     /* its logarithm */
	double chance; /* variance of that */
};

/* What all say. */
struct verdict_of_all {
	double at;
	double error;   /* deviation of that */
	double square;  /* what each differs by besides chance: variance */
	double freedom; /* degrees of freedom: how well that is known */
	uint32_t n_alike;
	bool agreed;
};

static int by_place(const void *a, const void *b)
{
	double x = ((const struct witness *)a)->at, y = ((const struct witness *)b)->at;

	return (x > y) - (x < y);
}

static double say_of(const struct witness *w)
{
	return 1 / (w->chance + EQUAL_VARIANCE);
}

/* Sorts the witnesses; returns the place with half of what they have to say on either side. */
static double middle(struct witness *w, uint32_t n)
{
	double all = 0, sum = 0;

	qsort(w, n, sizeof(*w), by_place);
	for (uint32_t i = 0; i < n; i++)
		all += say_of(&w[i]);
	for (uint32_t i = 0; i < n; i++) {
		sum += say_of(&w[i]);
		if (sum == all / 2 && i + 1 < n)
			return (w[i].at + w[i + 1].at) / 2;
		if (sum > all / 2)
			return w[i].at;
	}
	return w[n - 1].at;
}

static bool is_far(const struct witness *w, const struct verdict_of_all *v, double deviations)
{
	return fabs(w->at - v->at) > deviations * sqrt(w->chance + v->square);
}

/* How much of all the witnesses have to say who are not far off, 0..1; counts them. */
static double share_near(const struct witness *w, uint32_t n, const struct verdict_of_all *v,
			 double deviations, uint32_t *n_near)
{
	double all = 0, near = 0;

	*n_near = 0;
	for (uint32_t i = 0; i < n; i++) {
		all += say_of(&w[i]);
		if (is_far(&w[i], v, deviations))
			continue;
		near += say_of(&w[i]);
		++*n_near;
	}
	return near / all;
}

/* What part of all there must be in the middle half at least, for none of them to differ by more than chance. */
static double least_near(uint32_t n)
{
	return fmax(0.25, 0.5 - UNLIKE * 0.5 / sqrt(n));
}

/* The variance besides chance with which half of them are in the middle half: few who are far off hardly change it. */
static void spread_by_middle(const struct witness *w, uint32_t n, struct verdict_of_all *v)
{
	double low = 0, high = 2 * MOST_SPREAD;
	uint32_t n_near;

	v->square = 0;
	if (share_near(w, n, v, MIDDLE_HALF, &n_near) >= least_near(n))
		return;
	for (int i = 0; i < 30; i++) {
		v->square = (low + high) / 2;
		if (share_near(w, n, v, MIDDLE_HALF, &n_near) >= 0.5)
			high = v->square;
		else
			low = v->square;
	}
}

/* The mean of those that are marked, by how well each is known; how far they are from it, in squares of what they should be. */
static double average(const struct witness *w, const bool *near, uint32_t n,
		      struct verdict_of_all *v)
{
	double sum = 0, weight = 0, off = 0;

	for (uint32_t i = 0; i < n; i++) {
		double known = near[i] ? 1 / (w[i].chance + v->square + 1e-12) : 0;

		sum += known * w[i].at;
		weight += known;
	}
	v->at = sum / weight;
	v->error = 1 / sqrt(weight);
	for (uint32_t i = 0; i < n; i++)
		if (near[i])
			off += (w[i].at - v->at) * (w[i].at - v->at) /
			       (w[i].chance + v->square + 1e-12);
	return off;
}

/*
 * Are those that are marked farther off than chance explains? The squares of what they are off by count by how well each could
 * tell the largest spread there may be.
 */
static bool are_unlike(const struct witness *w, const bool *near, uint32_t n,
		       const struct verdict_of_all *v)
{
	double more = 0, square = 0;

	for (uint32_t i = 0; i < n; i++) {
		double off = w[i].at - v->at, part = w[i].chance + 2 * MOST_SPREAD;

		if (!near[i])
			continue;
		more += (off * off * v->n_alike / (v->n_alike - 1) - w[i].chance) / part;
		square += 2 * (w[i].chance / part) * (w[i].chance / part);
	}
	return more > UNLIKE * sqrt(square);
}

/* The variance besides chance by which those that are marked are as far off as they should be (Paule and Mandel, 1982). */
static void spread_of_near(const struct witness *w, const bool *near, uint32_t n,
			   struct verdict_of_all *v)
{
	double low = 0, high = 2 * MOST_SPREAD;

	v->square = 0;
	average(w, near, n, v);
	if (!are_unlike(w, near, n, v))
		return;
	for (int i = 0; i < 30; i++) {
		v->square = (low + high) / 2;
		if (average(w, near, n, v) <= v->n_alike - 1)
			high = v->square;
		else
			low = v->square;
	}
}

/* Each tells as much of what they differ by besides chance as that is a part of its variance. */
static double freedom_of(const struct witness *w, const bool *near, uint32_t n,
			 const struct verdict_of_all *v)
{
	double sum = 0;

	for (uint32_t i = 0; i < n && v->square > 0; i++) {
		double part = v->square / (w[i].chance + v->square);

		sum += near[i] ? part * part : 0;
	}
	return sum > 2 ? sum - 1 : 1;
}

/* Sorts the witnesses. */
static void hear(struct witness *w, uint32_t n, struct verdict_of_all *v)
{
	bool *near = xcalloc(n, sizeof(*near));
	double agreeing;

	*v = (struct verdict_of_all){ .at = middle(w, n) };
	spread_by_middle(w, n, v);
	for (int round = 0; round < 3; round++) {
		agreeing = share_near(w, n, v, FAR, &v->n_alike);
		v->agreed = v->n_alike >= LEAST_WITNESSES && agreeing >= LEAST_AGREEING;
		if (!v->agreed)
			break;
		for (uint32_t i = 0; i < n; i++)
			near[i] = !is_far(&w[i], v, FAR);
		spread_of_near(w, near, n, v);
		v->freedom = freedom_of(w, near, n, v);
	}
	free(near);
}

/* Of a function the mean of some runs; its variance is that of the mean. */
static struct witness mean_of(const struct run_rows *rows, uint32_t row, uint32_t from, uint32_t to)
{
	uint32_t n_runs = rows->n_runs[SIDE_BEFORE] + rows->n_runs[SIDE_AFTER];
	struct witness mean = { 0 };

	for (uint32_t i = from; i < to; i++) {
		mean.at += rows->log.at[row * n_runs + i] / (to - from);
		mean.chance += rows->chance.at[row * n_runs + i] / (to - from) / (to - from);
	}
	return mean;
}

static double chance_of(const struct verdict_of_all *v)
{
	return v->error > 0 ? distributions_student(v->at / v->error, v->n_alike - 1) : 1;
}

/* The factor of each run; false where functions do not agree. */
static bool find_runs(const struct run_rows *rows, struct witness *w, struct common_factor *out)
{
	uint32_t n_runs = rows->n_runs[SIDE_BEFORE] + rows->n_runs[SIDE_AFTER];
	struct verdict_of_all v;
	double sum = 0;

	for (uint32_t run = 0; run < n_runs; run++) {
		for (uint32_t i = 0; i < rows->n; i++) {
			struct witness mean = mean_of(rows, i, 0, n_runs);

			w[i] = mean_of(rows, i, run, run + 1);
			w[i].at -= mean.at;
			/* The run itself is a part of the mean. */
			w[i].chance *= 1 - 1.0 / n_runs;
		}
		hear(w, rows->n, &v);
		if (!v.agreed)
			return false;
		out->run[run] = exp(v.at);
		out->differs |= fabs(v.at) > LEAST_COMMON &&
				chance_of(&v) * (n_runs > N_SIDES ? n_runs : 1) < COMMON_CHANCE;
		sum += out->run[run];
	}
	for (uint32_t run = 0; run < n_runs; run++)
		out->run[run] *= n_runs / sum;
	return true;
}

/* Are sides alike, as far as can be told? Then it is runs that differ. */
static bool sides_alike(const struct common_factor *t)
{
	return t->low <= 1 && t->high >= 1;
}

/* What each function's sides differ by. The caller frees. */
static struct witness *witnesses(const struct run_rows *rows)
{
	uint32_t n_before = rows->n_runs[SIDE_BEFORE];
	uint32_t n_runs = n_before + rows->n_runs[SIDE_AFTER];
	struct witness *w = xcalloc(rows->n, sizeof(*w));

	for (uint32_t i = 0; i < rows->n; i++) {
		struct witness before = mean_of(rows, i, 0, n_before);

		w[i] = mean_of(rows, i, n_before, n_runs);
		w[i].at -= before.at;
		w[i].chance += before.chance;
	}
	return w;
}

void common_factor_find(const struct run_rows *rows, struct common_factor *out)
{
	uint32_t n_before = rows->n_runs[SIDE_BEFORE];
	uint32_t n_runs = n_before + rows->n_runs[SIDE_AFTER];
	struct witness *w;
	struct verdict_of_all v;
	double limit;

	*out = (struct common_factor){ .n_rows = rows->n };
	if (rows->n < LEAST_WITNESSES)
		return;
	w = witnesses(rows);
	hear(w, rows->n, &v);
	if (v.agreed)
		out->agreed = find_runs(rows, w, out);
	free(w);
	out->known = out->agreed && v.n_alike >= LEAST_KNOWN;
	out->differs &= out->known;
	out->n_alike = v.n_alike;
	out->ratio = exp(v.at);
	out->error = v.error;
	limit = v.agreed ? distributions_student_95(v.n_alike - 1) : 0;
	out->low = exp(v.at - limit * v.error);
	out->high = exp(v.at + limit * v.error);
	/* One run a side differs from the other only. */
	if (n_runs == N_SIDES)
		out->differs &= !sides_alike(out);
	if (v.agreed && n_runs == N_SIDES)
		out->spread = (struct noise_spread){ .square = v.square / 2, .freedom = v.freedom };
}

/* The branch that most functions are below. */
static uint32_t largest_branch(const struct run_rows *rows, const uint32_t *branch)
{
	uint32_t best = 0, most = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < rows->n; k++)
			n += branch[rows->key.at[k]] == branch[rows->key.at[i]];
		if (n > most) {
			most = n;
			best = branch[rows->key.at[i]];
		}
	}
	return best;
}

void common_factor_check(const struct run_rows *rows, const uint32_t *branch,
			 struct common_factor *t)
{
	struct verdict_of_all rest;
	double at = log(t->ratio);
	struct witness *w;
	uint32_t largest, n = 0;

	if (!t->known)
		return;
	w = witnesses(rows);
	largest = largest_branch(rows, branch);
	for (uint32_t i = 0; i < rows->n; i++)
		if (branch[rows->key.at[i]] != largest)
			w[n++] = w[i];
	t->known = false;
	if (n >= LEAST_OUTSIDE) {
		hear(w, n, &rest);
		t->known = rest.agreed && fabs(rest.at - at) <= FAR * hypot(rest.error, t->error) &&
			   fabs(rest.at) >= fabs(at) / 2;
	}
	/* What is alike on both sides needs nobody to agree. */
	t->known |= !t->differs;
	t->differs &= t->known;
	free(w);
}

char *common_factor_change(const struct common_factor *t)
{
	double least = INFINITY, most = 0;
	char change[FMT_SIZE];

	if (!sides_alike(t))
		return xstrdup(fmt_change_percent(change, t->ratio - 1, 1));
	/* Of a run that is not there it is 0. */
	for (uint32_t i = 0; i < LENS_MAX_COLUMNS && t->run[i] > 0; i++) {
		least = fmin(least, t->run[i]);
		most = fmax(most, t->run[i]);
	}
	return xasprintf("up to %s", fmt_change_percent(change, most - least, least));
}

char *common_factor_scale(const struct common_factor *t)
{
	if (sides_alike(t))
		return xstrdup("scaled run by run");
	return t->ratio > 1 ? xasprintf("scaled by 1/%.2f", t->ratio)
			    : xasprintf("scaled by %.2f", 1 / t->ratio);
}

char *common_factor_say(const struct common_factor *t, bool of_heap)
{
	char low[FMT_SIZE], high[FMT_SIZE], *change = common_factor_change(t), *text;
	bool more = t->ratio > 1;

	if (sides_alike(t))
		text = xasprintf(
			"most of %u functions differ alike from run to run, by %s %%: host slower at times, "
			"or unequal work?",
			t->n_rows, change);
	else
		text = xasprintf(
			"%u of %u functions %s by about %s %% (95 %%: %s to %s): %s%s work?",
			t->n_alike, t->n_rows, more ? "grew" : "shrank",
			change + strspn(change, "+-"), fmt_change_percent(low, t->low - 1, 1),
			fmt_change_percent(high, t->high - 1, 1),
			of_heap ? ""
			: more  ? "host slower, or "
				: "host faster, or ",
			more ? "more" : "less");
	free(change);
	return text;
}

/* What it is of runs that are multiplied so. */
static struct common_factor multiplied(const struct common_factor *t,
				       const uint32_t n_runs[N_SIDES], const double *factor)
{
	struct common_factor m = *t;
	uint32_t run = 0;
	double by = 0;

	for (int side = 0; side < N_SIDES; side++)
		for (uint32_t i = 0; i < n_runs[side]; i++, run++) {
			m.run[run] *= factor[run];
			by += (side == SIDE_AFTER ? 1 : -1) * log(factor[run]) / n_runs[side];
		}
	m.ratio *= exp(by);
	m.low *= exp(by);
	m.high *= exp(by);
	return m;
}

char *common_factor_say_rest(const struct common_factor *t, const uint32_t n_runs[N_SIDES],
			     const double *factor, const char *name)
{
	struct common_factor m = multiplied(t, n_runs, factor);
	char *change = common_factor_change(&m), *text;
	double least = m.run[0], most = m.run[0];

	for (uint32_t i = 0; i < n_runs[SIDE_BEFORE] + n_runs[SIDE_AFTER]; i++) {
		least = fmin(least, m.run[i]);
		most = fmax(most, m.run[i]);
	}
	if (most / least - 1 < LEAST_COMMON ||
	    (sides_alike(&m) && n_runs[SIDE_BEFORE] + n_runs[SIDE_AFTER] == N_SIDES))
		text = xasprintf("made equal by %s, most functions are alike", name);
	else
		text = xasprintf("made equal by %s, most functions still differ by %s %%; "
				 "--normalise typical scales by that",
				 name, change);
	free(change);
	return text;
}
