/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What must hold of any comparison, tried on profiles drawn by lot: nothing differs from itself, the other way round
 * all signs turn, and changes add up to the change of the whole.
 */
#include "config.h"

#include "query/diff/diff.h"
#include "query/diff/diff_doubt.h"

#include "base/err.h"
#include "base/mem.h"
#include "query/core/analysis_cache.h"
#include "query/core/filter.h"
#include "query/diff/comparison.h"
#include "query/diff/normalize_cache.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SEEDS 40

/* The lens that compares two runs, or lists of them parted by '|'. */
static int find_lens(const struct profile *p, const char *before, const char *after,
		     const struct comparison_choice *choice, const char *filter, struct lens *l,
		     struct err *e)
{
	const char *const text[N_SIDES] = { before, after };
	struct comparison s = { 0 };
	int rc = 0;

	for (int side = 0; side < N_SIDES; side++) {
		char *copy = xstrdup(text[side]), *save = NULL;

		s.name[side] = xstrdup(side == SIDE_BEFORE ? "BEFORE" : "AFTER");
		for (char *run = strtok_r(copy, "|", &save); run && !rc;
		     run = strtok_r(NULL, "|", &save))
			rc = comparison_add(&s, (enum side)side, run, e);
		free(copy);
	}
	made_lens(l, p, filter);
	if (!rc)
		rc = comparison_lens(&s, p, choice, l, e);
	comparison_done(&s);
	return rc;
}

struct compared {
	struct analysis *analysis;
	struct diff *diff;
};

static struct compared compare(const struct profile *p, const char *before, const char *after,
			       const char *metric, const char *filter, enum normalise n)
{
	struct comparison_choice choice = { .event = "", .metric = metric, .normalise = n };
	struct compared c = { 0 };
	struct err e = ERR_INIT;
	struct lens l;

	if (n == NORMALISE_EVENT)
		choice.reference = "faults";
	cr_assert_eq(find_lens(p, before, after, &choice, filter, &l, &e), 0, "%s", err_text(&e));
	cr_assert_eq(analysis_new(p, &l, NULL, &c.analysis), 0);
	lens_done(&l);
	c.diff = c.analysis->diff;
	return c;
}

static void compared_done(struct compared *c)
{
	analysis_free(c->analysis);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
}

/* Two captures: the second half of a profile drawn by lot is another one, or is read twice. */
static struct profile *two_captures(unsigned seed)
{
	unsigned state = seed * 7 + 1;
	char *text = xcalloc(4000, 64);
	size_t at = 0;
	struct profile *p;

	for (int side = 0; side < 2; side++) {
		if (side)
			at += (size_t)sprintf(text + at, "capture\n");
		for (unsigned i = 0; i < 300 + 100 * (unsigned)side; i++) {
			unsigned thread = made_number(&state, 3),
				 depth = 1 + made_number(&state, 6);

			for (unsigned d = 0; d < depth; d++)
				at += (size_t)sprintf(text + at, "%s%c@%c", d ? ";" : "",
						      'a' + (int)made_number(&state, 6),
						      'x' + (int)made_number(&state, 2));
			at += (size_t)sprintf(text + at, " %u event=%s t=%u",
					      1 + made_number(&state, 50),
					      made_number(&state, 3) ? "cycles" : "faults",
					      made_number(&state, 1000));
			/* Some know no thread: their capture is where they stand. */
			if (thread)
				at += (size_t)sprintf(text + at, " pid=1 tid=%u name=t", thread);
			at += (size_t)sprintf(text + at, "\n");
		}
	}
	p = made_profile(text);
	free(text);
	return p;
}

static void check_sums(const struct compared *c)
{
	const struct calltree *t = c->analysis->tree;
	const struct table *table = &c->analysis->table;
	double self = 0, rows = 0, children = 0;
	struct noise_delta d;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		diff_delta(c->diff, t->key[i], PART_SELF, &t->self[(size_t)i * t->n_columns], &d);
		self += diff_change(&d);
	}
	for (uint32_t i = 0; i < table->n_rows; i++)
		rows += diff_change(&c->diff->row_self[i]);
	for (uint32_t i = c->diff->first[0]; i != KEY_NONE; i = c->diff->next[i])
		children += c->diff->change[i];
	diff_delta(c->diff, t->key[0], PART_SELF, t->self, &d);
	cr_assert(near(self, diff_change(&c->diff->whole)));
	cr_assert(near(rows + diff_change(&d), diff_change(&c->diff->whole)),
		  "what has no frame is in no row");
	cr_assert(near(children + diff_change(&d), diff_change(&c->diff->whole)));
}

/* Children are the tree's, each once. Rows come beyond noise by size, then by chance; those without change of their own by total. */
static void check_order(const struct compared *c)
{
	const struct calltree *t = c->analysis->tree;
	const struct diff *d = c->diff;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		uint32_t n = 0;

		for (uint32_t k = calltree_first(t, i); k != KEY_NONE; k = calltree_next(t, k))
			n++;
		for (uint32_t k = d->first[i]; k != KEY_NONE; k = d->next[k]) {
			cr_assert_eq(t->parent[k], i);
			n--;
		}
		cr_assert_eq(n, 0);
	}
	for (uint32_t i = 1; i < c->analysis->table.n_rows; i++) {
		const struct noise_delta *a = &d->row_self[i - 1], *b = &d->row_self[i];

		bool beyond_a = diff_is_beyond(&d->self, a), beyond_b = diff_is_beyond(&d->self, b);

		cr_assert_geq(beyond_a, beyond_b);
		if (beyond_b)
			cr_assert_geq(fabs(diff_change(a)), fabs(diff_change(b)));
		if (!beyond_a && diff_change(b) != 0) {
			cr_assert_neq(diff_change(a), 0);
			cr_assert_geq(a->tested, b->tested);
			cr_assert_geq(diff_verdict(&d->self, a), diff_verdict(&d->self, b));
			if (diff_verdict(&d->self, a) == diff_verdict(&d->self, b))
				cr_assert_leq((float)a->p, (float)b->p);
		}
		if (diff_change(a) == 0 && diff_change(b) == 0)
			cr_assert_geq(diff_is_beyond(&d->total, &d->row_total[i - 1]),
				      diff_is_beyond(&d->total, &d->row_total[i]));
	}
}

/* The same nodes from the other side: equal but for their signs. */
static void check_reverse(const struct compared *c, const struct compared *r)
{
	const struct calltree *t = c->analysis->tree, *u = r->analysis->tree;

	cr_assert_eq(t->n_nodes, u->n_nodes);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		uint32_t k = i ? calltree_find(u, t->key[i], t->path[i]) : 0;

		cr_assert_neq(k, KEY_NONE);
		cr_assert(near(c->diff->change[i], -r->diff->change[k]));
		cr_assert_eq(c->diff->beyond[i], r->diff->beyond[k]);
	}
	cr_assert(near(diff_change(&c->diff->whole), -diff_change(&r->diff->whole)));
	cr_assert(near(c->diff->whole.half, r->diff->whole.half));
	cr_assert_eq(c->diff->self.n_beyond, r->diff->self.n_beyond);
}

static void check_empty(const struct compared *c)
{
	const struct calltree *t = c->analysis->tree;

	cr_assert_eq(c->diff->self.n_changed, 0);
	cr_assert_eq(c->diff->total.n_changed, 0);
	cr_assert_eq(c->diff->nodes.n_changed, 0);
	cr_assert_eq(c->diff->nodes.n_beyond, 0);
	cr_assert_eq(diff_change(&c->diff->whole), 0);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		cr_assert_eq(c->diff->change[i], 0);
	cr_assert_float_eq(c->diff->overlap, 1, 0);
}

/* clang-format off: one line a filter */
static const char *const filters[] = {
	"",        "fn:a",          "!fn:b",    "module:x",        "focus:c",
	"merge:a", "recursion:all", "thread:t", "time:0.0000002,",
};
/* clang-format on */

#define N_FILTERS (sizeof(filters) / sizeof(*filters))

/* Functions may be too few, or too unlike, for there to be a typical one. */
static enum normalise known_normalise(const struct compared *c, enum normalise n)
{
	return n == NORMALISE_TYPICAL && !c->analysis->amounts.typical.known ? NORMALISE_NONE : n;
}

Test(diff, holds_for_any_profile)
{
	static const char *const metrics[] = { "", "samples" };

	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct profile *p = two_captures(seed);
		const char *filter = filters[seed % N_FILTERS];

		for (unsigned i = 0; i < 2 * N_NORMALISATIONS; i++) {
			enum normalise n = (enum normalise)(i / 2);
			const char *metric = metrics[i % 2];
			struct compared c = compare(p, "capture:1", "capture:2", metric, filter, n);
			struct compared r = compare(p, "capture:2", "capture:1", metric, filter, n);
			struct compared same = compare(p, "capture:2", "capture:2", metric, filter,
						       n);

			cr_assert_eq(c.diff->normalise, known_normalise(&c, n));
			check_sums(&c);
			check_order(&c);
			check_reverse(&c, &r);
			check_empty(&same);
			compared_done(&c);
			compared_done(&r);
			compared_done(&same);
		}
		profile_free(p);
	}
}

/* Without making equal, changes are differences of what each file says by itself, to the last unit. */
Test(diff, is_the_difference_of_what_was_measured)
{
	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct profile *p = two_captures(seed);
		struct compared c = compare(p, "capture:1", "capture:2", "", "", NORMALISE_NONE);
		double whole[2];

		for (int side = 0; side < 2; side++) {
			struct analysis *a;
			struct lens l;

			made_lens(&l, p, side ? "capture:2" : "capture:1");
			l.column[0].metric = c.analysis->lens.column[0].metric;
			a = made_analysis(p, &l);
			whole[side] = (double)a->weights.total[0];
			for (uint32_t i = 0; i < a->tree->n_nodes; i++) {
				const struct calltree *t = c.analysis->tree;
				uint32_t k = i ? calltree_find(t, a->tree->key[i], a->tree->path[i])
					       : 0;

				cr_assert_neq(k, KEY_NONE);
				cr_assert_eq(t->total[(size_t)k * t->n_columns +
						      (uint32_t)(SIDES_FIRST + side)],
					     a->tree->total[i]);
			}
			analysis_free(a);
			lens_done(&l);
		}
		cr_assert_eq(diff_change(&c.diff->whole), whole[1] - whole[0]);
		compared_done(&c);
		profile_free(p);
	}
}

Test(diff, weighs_noise_by_the_weights_of_samples)
{
	/* 2,000 samples of 10 a side against 200 samples of 100: the same sums, ten times the variance. */
	char *text = xcalloc(8000, 40);
	double half[2] = { 0 };
	size_t at = 0;
	struct profile *p;
	struct compared c;

	for (int side = 0; side < 2; side++) {
		at += (size_t)sprintf(text + at, "%s", side ? "capture\n" : "");
		for (int i = 0; i < 2000 + 10 * side; i++)
			at += (size_t)sprintf(text + at, "fine 10 event=cycles\n");
		for (int i = 0; i < 200 + side; i++)
			at += (size_t)sprintf(text + at, "coarse 100 event=cycles\n");
	}
	p = made_profile(text);
	c = compare(p, "capture:1", "capture:2", "", "", NORMALISE_NONE);
	for (uint32_t i = 0; i < c.analysis->table.n_rows; i++) {
		const char *name = c.analysis->keys.key[c.analysis->table.key[i]].label;

		half[strcmp(name, "coarse") == 0] = c.diff->row_self[i].half;
		cr_expect_eq(diff_change(&c.diff->row_self[i]), 100);
	}
	cr_expect_gt(half[1], 2 * half[0]);
	compared_done(&c);
	profile_free(p);
	free(text);
}

Test(diff, of_several_runs_is_of_their_means)
{
	struct profile *p = made_profile("a 100\nb 10\ncapture\na 102\nb 12\ncapture\na 150\nb 11\n"
					 "capture\na 151\nb 10\ncapture\na 152\nb 13\n");
	struct compared c = compare(p, "capture:1|capture:2", "capture:3|capture:4|capture:5", "",
				    "", NORMALISE_NONE);

	cr_expect_float_eq(c.diff->whole.before, 112, 1e-9);
	cr_expect_float_eq(c.diff->whole.after, (161 + 161 + 165) / 3.0, 1e-9);
	compared_done(&c);
	profile_free(p);
}

/* A run of a program on a machine whose runs differ by a tenth in speed: 30 functions of some dozens of samples, and three that matter. */
static char *add_samples(char *to, const char *below, unsigned function, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to += sprintf(to, "main;%s;%s%u 1\n", below, below, function);
	return to;
}

static char *add_run(char *to, double speed, const unsigned *matter)
{
	for (unsigned f = 0; f < 30; f++)
		to = add_samples(to, "work", f, (unsigned)(speed * (20 + f + f * 7 % 11)));
	for (unsigned f = 0; f < 60; f++)
		to = add_samples(to, "small", f, f % 4 + 2);
	for (unsigned f = 0; f < 3; f++)
		to = add_samples(to, "match", f, matter[f]);
	return to;
}

/* Three runs a side know no less than one: what doubled in each of them is beyond noise among a hundred rows, and what is new is. */
Test(diff, of_three_runs_what_doubled_is_beyond_noise)
{
	static const unsigned runs[6][3] = { { 130, 40, 0 },  { 111, 44, 0 },  { 125, 39, 0 },
					     { 252, 41, 60 }, { 219, 43, 71 }, { 232, 38, 66 } };
	static const double speeds[] = { 1.1, 0.94, 1.0, 1.08, 0.92, 1.02 };
	char *text = xcalloc(6 * 2500, 32), *at = text;
	struct compared c;
	struct profile *p;
	unsigned n_seen = 0;

	for (int run = 0; run < 6; run++) {
		at += sprintf(at, "%s", run ? "capture\n" : "");
		at = add_run(at, speeds[run], runs[run]);
	}
	p = made_profile(text);
	c = compare(p, "capture:1|capture:2|capture:3", "capture:4|capture:5|capture:6", "", "",
		    NORMALISE_NONE);
	/* As rows that are all of it, a condition and the screens have it. */
	cr_expect_eq(c.diff->whole.half, noise_half(&c.diff->whole, c.diff->total.level));
	for (uint32_t i = 0; i < c.analysis->table.n_rows; i++) {
		const char *name = c.analysis->keys.key[c.analysis->table.key[i]].label;
		const struct noise_delta *d = &c.diff->row_self[i];
		bool changed = strcmp(name, "match0") == 0 || strcmp(name, "match2") == 0;

		n_seen += changed;
		cr_expect_eq(diff_is_beyond(&c.diff->self, d), changed, "%s: p %g of %g", name,
			     d->p, c.diff->self.limit);
		cr_expect(d->half <= 0 || (fabs(diff_change(d)) > d->half) ==
						  diff_is_beyond(&c.diff->self, d),
			  "%s: %g ± %g", name, diff_change(d), d->half);
	}
	cr_expect_eq(n_seen, 2);
	compared_done(&c);
	profile_free(p);
	free(text);
}

/* clang-format off: one line a case */
static const struct {
	const char *what, *profile, *before, *after, *event, *metric, *reference;
	const char *expected; /* the metric's name, or the sentence of the failure */
} cases[] = {
	{ "the busiest event of both",
	  "a 1 event=x\na 1 event=x\na 1 event=y\ncapture\na 1 event=y\na 1 event=x\n", "capture:1",
	  "capture:2", "", "", NULL, "x" },
	{ "one that is on one side only is passed over",
	  "a 1 event=x\na 1 event=x\na 1 event=y\ncapture\na 1 event=y\n", "capture:1", "capture:2",
	  "", "", NULL, "y" },
	{ "a chosen one",
	  "a 1 event=x\na 1 event=x\na 1 event=y\ncapture\na 1 event=y\na 1 event=x\n", "capture:1",
	  "capture:2", "y", "samples", NULL, "y samples" },
	{ "a chosen one that a side lacks", "a 1 event=x\na 1 event=y\ncapture\na 1 event=y\n",
	  "capture:1", "capture:2", "x", "", NULL, "there is nothing of \"x\" in AFTER; it has y" },
	{ "nothing in common", "a 1 event=x\ncapture\na 1 event=y\n", "capture:1", "capture:2", "",
	  "", NULL,
	  "there is no common metric: BEFORE has x, AFTER has y; --metric samples compares numbers of samples" },
	{ "numbers of samples", "a 1 event=x\ncapture\na 1 event=y\n", "capture:1", "capture:2", "",
	  "samples", NULL, "x samples" },
	{ "an empty side", "a 1 event=x\ncapture\na 1 event=x\n", "capture:1", "capture:3", "", "",
	  NULL, "there is nothing in AFTER to compare" },
	{ "two threads", "a 1 pid=1 tid=1 name=t\nb 2 pid=1 tid=2 name=u\n", "tid:1", "tid:2", "",
	  "", NULL, "samples" },
	{ "two events", "a 1 event=x\nb 1 event=y\n", "event:x", "event:y", "", "samples", NULL,
	  "x samples" },
	{ "a reference that is not there", "a 1 event=x\ncapture\na 1 event=x\n", "capture:1",
	  "capture:2", "", "", "z", "no event is called \"z\"; there are: x" },
	{ "no filter", "a 1\n", "cpu:x", "capture:1", "", "", NULL,
	  "filter term \"cpu:x\" wants numbers separated by commas, or ranges as 0-3" },
};
/* clang-format on */

Test(diff, finds_what_both_sides_have)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct comparison_choice choice = { .event = cases[i].event,
							  .metric = cases[i].metric,
							  .reference = cases[i].reference };
		struct profile *p = made_profile(cases[i].profile);
		struct err e = ERR_INIT;
		struct lens l;
		char *name = NULL;

		if (find_lens(p, cases[i].before, cases[i].after, &choice, "", &l, &e) == 0)
			name = metric_name(p, l.column[0].metric);
		cr_expect_str_eq(name ? name : err_text(&e), cases[i].expected, "%s",
				 cases[i].what);
		free(name);
		lens_done(&l);
		err_clear(&e);
		profile_free(p);
	}
}

Test(diff, takes_rows_without_a_thread_by_where_they_stand)
{
	struct profile *p = made_profile(
		"a 1\nb 2 pid=1 tid=1\ncapture\na 4\nb 8 pid=1 tid=1\ncapture\na 16\n");
	static const struct {
		const char *filter;
		int64_t total;
	} captures[] = { { "capture:1", 3 },      { "capture:2", 12 },    { "capture:3", 16 },
			 { "!capture:2", 19 },    { "capture:1,3", 19 },  { "capture:4", 0 },
			 { "!capture:1,2,3", 0 }, { "capture:2 fn:b", 8 } };

	for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++) {
		struct analysis *a;
		struct lens l;

		made_lens(&l, p, captures[i].filter);
		a = made_analysis(p, &l);
		cr_expect_eq(a->weights.total[0], captures[i].total, "%s", captures[i].filter);
		analysis_free(a);
		lens_done(&l);
	}
	profile_free(p);
}

/* What is taken from nodes of equal numbers is what they are by themselves. */
Test(diff, each_node_has_the_change_of_its_own_numbers)
{
	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct profile *p = two_captures(seed);
		struct compared c = compare(p, "capture:1", "capture:2", "", "",
					    (enum normalise)(seed % NORMALISE_EVENT));
		const struct calltree *t = c.analysis->tree;
		uint32_t n_changed = 0, n_tested = 0, n_own = 0;

		for (uint32_t i = 1; i < t->n_nodes; i++) {
			struct noise_delta d;

			diff_delta(c.diff, t->key[i], PART_TOTAL,
				   &t->total[(size_t)i * t->n_columns], &d);
			cr_assert_eq(c.diff->change[i], diff_change(&d));
			cr_assert_eq(c.diff->beyond[i], diff_is_beyond(&c.diff->nodes, &d));
			n_changed += diff_change(&d) != 0;
			n_tested += d.tested;
			n_own += diff_verdict(&c.diff->nodes, &d) == VERDICT_OWN;
		}
		cr_assert_eq(c.diff->nodes.n_own, n_own);
		cr_assert_eq(c.diff->nodes.n_changed, n_changed);
		cr_assert_eq(c.diff->nodes.n_tested, n_tested);
		compared_done(&c);
		profile_free(p);
	}
}

/* A function in one place has one interval, wherever it stands. */
Test(diff, nodes_are_judged_as_rows_of_the_same_functions)
{
	struct profile *p = two_captures(1);
	struct compared c = compare(p, "capture:1", "capture:2", "", "", NORMALISE_NONE);

	cr_assert_eq(c.diff->nodes.limit, c.diff->self.limit);
	cr_assert_eq(c.diff->nodes.limit, c.diff->total.limit);
	cr_assert_eq(c.diff->nodes.chance_limit, c.diff->self.chance_limit);
	cr_assert_eq(c.diff->nodes.n_judged, c.diff->self.n_tested + c.diff->total.n_tested);
	compared_done(&c);
	profile_free(p);
}

static void assert_same_amounts(const struct normalize *x, const struct normalize *y, int step)
{
	cr_assert_arr_eq(x->run, y->run, sizeof(x->run), "step %d", step);
	cr_assert_arr_eq(x->reference_squares, y->reference_squares, sizeof(x->reference_squares),
			 "step %d", step);
	cr_assert_eq(x->typical.known, y->typical.known, "step %d", step);
	cr_assert_eq(x->typical.differs, y->typical.differs, "step %d", step);
	cr_assert_eq(x->typical.ratio, y->typical.ratio, "step %d", step);
	cr_assert_eq(x->typical.error, y->typical.error, "step %d", step);
	cr_assert_eq(x->rows.n, y->rows.n, "step %d", step);
	cr_assert_eq(x->rows.log.n, y->rows.log.n, "step %d", step);
	for (size_t i = 0; i < x->rows.log.n; i++) {
		cr_assert_eq(x->rows.log.at[i], y->rows.log.at[i], "step %d", step);
		cr_assert_eq(x->rows.chance.at[i], y->rows.chance.at[i], "step %d", step);
	}
}

/* Whatever is looked at in turns, and whatever of it is left out by a filter or told as modules. */
Test(diff, what_is_learned_once_is_as_made_anew)
{
	static const char *const befores[] = { "capture:1", "capture:1 fn:a",
					       "capture:1|capture:2 time:0,300" };
	static const char *const metrics[] = { "", "samples" };
	static const char *const narrowings[] = { "", "fn:b", "!fn:c" };
	static const enum grouping groupings[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_THREAD };
	struct profile *p = two_captures(3);
	struct normalize_cache *learned = normalize_cache_new();
	const struct analysis_cache cache = { .amounts = learned };
	struct profile_counts counts;
	unsigned lot = 7, n_known = 0;

	profile_counts_read(p, &counts);
	for (int step = 0; step < 100; step++) {
		const struct comparison_choice choice = { .event = made_number(&lot, 2) ? "cycles"
											: "",
							  .metric = metrics[made_number(&lot, 2)] };
		struct analysis *anew, *again;
		struct normalize known = { 0 };
		struct lens l;

		cr_assert_eq(find_lens(p, befores[made_number(&lot, 3)], "capture:2", &choice,
				       narrowings[made_number(&lot, 3)], &l, NULL),
			     0);
		l.grouping = groupings[made_number(&lot, 3)];
		cr_assert_eq(analysis_new(p, &l, NULL, &anew), 0);
		l.cache = &cache;
		if (normalize_cache_find(learned, &counts, &l, &known)) {
			normalize_done(&known);
			n_known++;
		}
		cr_assert_eq(analysis_new(p, &l, NULL, &again), 0);
		assert_same_amounts(&anew->amounts, &again->amounts, step);
		cr_assert(normalize_cache_find(learned, &counts, &l, &known));
		normalize_done(&known);
		/* A profile that has grown is another one. */
		counts.version++;
		cr_assert_not(normalize_cache_find(learned, &counts, &l, &known));
		counts.version--;
		analysis_free(anew);
		analysis_free(again);
		lens_done(&l);
	}
	cr_assert_gt(n_known, 50);
	normalize_cache_free(learned);
	profile_free(p);
}

/* What was counted for the sides' lens is what a pass over the samples says, and is not taken for more than it is. */
Test(diff, samples_are_counted_once)
{
	static const char *const befores[] = { "capture:1", "capture:1 fn:a",
					       "capture:1|capture:2" };

	for (unsigned seed = 1; seed <= 12; seed++) {
		const struct comparison_choice choice = { .event = "", .metric = "" };
		struct profile *p = two_captures(seed);
		struct lens l;

		cr_assert_eq(find_lens(p, befores[seed % 3], "capture:2", &choice, "", &l, NULL),
			     0);
		cr_assert_eq(l.sides.samples_known, seed % 3 < 2);
		for (int i = 0; i < 3; i++) {
			struct analysis *known, *counted;
			struct lens other;

			lens_copy(&other, &l);
			other.sides.samples_known = false;
			cr_assert_eq(analysis_new(p, &l, NULL, &known), 0);
			cr_assert_eq(analysis_new(p, &other, NULL, &counted), 0);
			cr_assert_arr_eq(known->amounts.run[NORMALISE_SAMPLES],
					 counted->amounts.run[NORMALISE_SAMPLES],
					 sizeof(known->amounts.run[0]));
			analysis_free(known);
			analysis_free(counted);
			lens_done(&other);
			/* Of a version that was not counted. */
			l.sides.version++;
			l.sides.samples[0] = 1e6;
		}
		lens_done(&l);
		profile_free(p);
	}
}

/* A program that was built anew has lost its names on one side: what is new and gone of it is doubtful. */
Test(diff, says_of_which_module_a_side_has_no_names)
{
	static const struct {
		const char *profile, *said; /* how the sentence begins; NULL: there is none */
	} sides[] = {
		{ "main@prog;?10@prog 80\nmain@prog;f@lib 20\ncapture\nmain@prog;work@prog 80\nmain@prog;f@lib 20\n",
		  "prog has no names before (80.0 % of that)" },
		{ "main@prog;work@prog 80\nmain@prog;f@lib 20\ncapture\nmain@prog;?10@prog 80\nmain@prog;f@lib 20\n",
		  "prog has no names after (80.0 % of that)" },
		/* it never has any */
		{ "main@prog;?10@lib 80\nmain@prog 20\ncapture\nmain@prog;?10@lib 60\nmain@prog 40\n",
		  NULL },
		/* too little to speak of */
		{ "main@prog;?10@lib 1\nmain@prog 99\ncapture\nmain@prog;f@lib 1\nmain@prog 99\n",
		  NULL },
	};

	for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
		struct profile *p = made_profile(sides[i].profile);
		struct compared c = compare(p, "capture:1", "capture:2", "", "", NORMALISE_NONE);
		char *said = diff_say_doubt(c.diff);

		cr_expect(sides[i].said
				  ? said && strncmp(said, sides[i].said, strlen(sides[i].said)) == 0
				  : !said,
			  "%zu: %s", i, said ? said : "nothing");
		free(said);
		compared_done(&c);
		profile_free(p);
	}
}
