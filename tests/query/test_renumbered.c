/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions whose numbers a compiler gives are paired in their order, or it is said that nobody knows which is which. */
#include "config.h"

#include "query/diff/renumbered.h"

#include "base/err.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "query/core/name_rules.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "query/diff/module_pairs.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off: one line a case */
static const struct {
	const char *what, *before, *after;
	const char *pairs; /* then what cannot be told, with a question mark */
} cases[] = {
	{ "a lambda", "f@a;l::$_1::call@a 50\n", "f@a;l::$_2::call@a 50\n",
	  "l::$_1::call=l::$_2::call " },
	{ "several, in their order", "$_2@a 50\n$_10@a 60\n", "$_11@a 60\n$_3@a 50\n",
	  "$_2=$_3 $_10=$_11 " },
	{ "lambdas that debug information tells apart by their lines",
	  "{x.c:9}@a 50\n{x.c:12}@a 60\n", "{x.c:10}@a 50\n{x.c:13}@a 60\n",
	  "{x.c:9}={x.c:10} {x.c:12}={x.c:13} " },
	{ "of neighbouring lines, one of which has the other's number now",
	  "{x.c:12}@a 200\n{x.c:13}@a 600\n", "{x.c:13}@a 200\n{x.c:14}@a 600\n",
	  "{x.c:12}={x.c:13} {x.c:13}={x.c:14} " },
	{ "Go's functions behind a new one, by what they call",
	  "main.run.func1@a;x@a 100\nmain.run.func2@a;y@a 100\n",
	  "main.run.func1@a;z@a 100\nmain.run.func2@a;x@a 100\nmain.run.func3@a;y@a 100\n",
	  "main.run.func1=main.run.func2 main.run.func2=main.run.func3 " },
	{ "the first of three is gone",
	  "f'lambda0'@a;x@a 100\nf'lambda1'@a;y@a 100\nf'lambda2'@a;z@a 100\n",
	  "f'lambda0'@a;y@a 100\nf'lambda1'@a;z@a 100\n",
	  "f'lambda1'=f'lambda0' f'lambda2'=f'lambda1' " },
	{ "clones, by who calls them", "p@a;f.constprop.0@a 100\nq@a;f.constprop.1@a 100\n",
	  "o@a;f.constprop.0@a 100\np@a;f.constprop.1@a 100\nq@a;f.constprop.2@a 100\n",
	  "f.constprop.0=f.constprop.1 f.constprop.1=f.constprop.2 " },
	{ "equal names stay together where sizes agree", "$_1@a 100\n$_2@a 300\n",
	  "$_1@a 104\n$_2@a 290\n$_3@a 200\n", "" },
	{ "a size changed", "$_1@a;x@a 100\n$_2@a;y@a 100\n", "$_1@a;x@a 100\n$_2@a;y@a 300\n",
	  "" },
	{ "three alike, one of them new", "$_1@a 100\n$_2@a 100\n",
	  "$_1@a 100\n$_2@a 100\n$_3@a 100\n", "$_? " },
	{ "more are new than are gone", "$_2@a 100\n", "$_3@a 100\n$_4@a 100\n", "$_2=$_4 $_? " },
	{ "too few samples to say", "$_1@a 100\n$_2@a 3\n", "$_1@a 100\n$_3@a 4\n", "" },
	{ "few samples of another one", "$_1@a 100\n$_2@a 100\n", "$_1@a 100\n$_2@a 100\n$_3@a 4\n",
	  "" },
	{ "unlike ones", "$_1@a;x@a 100\n", "$_2@a;y@a 100\n", "" },
	{ "of two versions", "f@app-1.2 500\n$_1@app-1.2 50\n", "f@app-1.3 500\n$_2@app-1.3 50\n",
	  "$_1=$_2 " },
	{ "of two versions, that of one name", "f@app-1.2 500\n$_1@app-1.2 50\n",
	  "f@app-1.3 500\n$_1@app-1.3 50\n", "" },
	{ "of two modules", "$_2@a 50\n", "$_3@b 50\n", "" },
	{ "new ones alone", "f@a 50\n", "f@a 50\n$_1@a 50\n$_2@a 50\n", "" },
	{ "no numbers", "f@a 50\n", "g@a 50\n", "" },
	{ "inlined after", "g@a;n::f(int,(x))@a 50\n", "g@a;n::f@a 55\n", "n::f(int,(x))=n::f " },
	{ "inlined before", "g@a;f@a 50\n", "g@a;f(int)@a 55\n", "f=f(int) " },
	{ "inlined, or another one of the name", "g@a;f(int)@a 50\ng@a;f(long)@a 50\n",
	  "g@a;f@a 55\n", "" },
	{ "inlined on both sides", "g@a;f(int)@a 50\ng@a;f@a 50\n", "g@a;f@a 55\n", "" },
	{ "of other arguments", "g@a;f(int)@a 50\n", "g@a;f(long)@a 50\n", "" },
	{ "without a name but arguments", "(anonymous)@a 50\n", "operator()(int)@a 50\n", "" },
};
/* clang-format on */

static void say_apart(struct profile *p, bool after)
{
	builder_begin(p);
	build_apart(p, name_rules_numbered, after);
	cr_assert_eq(builder_end(p), 0);
}

static struct profile *make(const char *before, const char *after)
{
	struct profile *p = profile_new();
	char *text = xasprintf("capture\n%s", after);

	say_apart(p, false);
	made_profile_add(p, before);
	say_apart(p, true);
	made_profile_add(p, text);
	free(text);
	return p;
}

/* Counts as so many samples, each of such a weight. The caller frees. */
static char *as_samples(const char *counts, const char *weight)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	while (*counts) {
		size_t line = strcspn(counts, "\n");
		const char *count = memrchr(counts, ' ', line);

		for (long n = strtol(count, NULL, 10); n > 0; n--)
			fprintf(to, "%.*s %s\n", (int)(count - counts), counts, weight);
		counts += line + 1;
	}
	fclose(to);
	return text;
}

static struct analysis *compare(const struct profile *p, const struct comparison *s)
{
	const struct comparison_choice choice = { .event = "", .metric = "" };
	struct analysis *a;
	struct lens l;

	made_lens(&l, p, "");
	cr_assert_eq(comparison_lens(s, p, &choice, &l, NULL), 0);
	a = made_analysis(p, &l);
	lens_done(&l);
	return a;
}

/* By rules that know the pairs, what was called so before is nothing of its own any more. */
static void check_rows(const struct profile *p, const struct comparison *s, const char *what)
{
	struct analysis *a = compare(p, s);

	for (size_t i = 0; i < s->names.moved.n; i++) {
		const struct renaming *one = &s->names.moved.at[i];

		cr_expect_str_eq(name_rules_was(&s->names, one->to), one->from);
		for (uint32_t k = 0; k < a->table.n_rows; k++) {
			const struct noise_delta *d = &a->diff->row_total[k];

			if (strcmp(a->keys.key[a->table.key[k]].label, one->to) != 0)
				continue;
			cr_expect(d->before > 0 && d->after > 0, "%s: %s", what, one->to);
			/* Nothing else has joined. */
			cr_expect(d->before < 1.3 * d->after, "%s: %s", what, one->to);
		}
	}
	analysis_free(a);
}

static void run(const char *what, const char *before, const char *after, const char *pairs)
{
	struct profile *p = make(before, after);
	struct comparison s = { 0 };
	struct analysis *a;
	char text[200] = "";

	cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", NULL), 0);
	cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", NULL), 0);
	a = compare(p, &s);
	module_pairs_find(a->diff, &s.names);
	if (*pairs)
		cr_expect(renumbered_may(a->diff, &s.names), "%s", what);
	analysis_free(a);
	s.names.apart = true;
	a = compare(p, &s);
	s.names.apart = false;
	cr_expect_eq(renumbered_find(a->diff, &s.names), s.names.moved.n + s.names.unclear.n);
	analysis_free(a);
	for (size_t k = 0; k < s.names.moved.n; k++)
		sprintf(text + strlen(text), "%s=%s ", s.names.moved.at[k].from,
			s.names.moved.at[k].to);
	for (size_t k = 0; k < s.names.unclear.n; k++)
		sprintf(text + strlen(text), "%s? ", s.names.unclear.at[k]);
	cr_expect_str_eq(text, pairs, "%s: %s", what, text);
	check_rows(p, &s, what);
	comparison_done(&s);
	profile_free(p);
}

/* How many samples there are does not depend on what each stands for. */
Test(renumbered, functions_are_paired_in_their_order)
{
	static const char *const weights[] = { "1", "1000000 event=ns:cpu-clock" };

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		size_t k = i / 2;
		char *before = as_samples(cases[k].before, weights[i % 2]);
		char *after = as_samples(cases[k].after, weights[i % 2]);

		run(cases[k].what, before, after, cases[k].pairs);
		free(before);
		free(after);
	}
}

/* Of one recording's parts a name is one function. */
Test(renumbered, one_recording_has_one_function_of_a_name)
{
	struct profile *p = made_profile("$_1@a 100\n$_2@a 100\ncapture\n$_2@a 100\n$_3@a 100\n");
	struct comparison s = { 0 };
	struct analysis *a;

	cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", NULL), 0);
	cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", NULL), 0);
	s.names.apart = true;
	a = compare(p, &s);
	s.names.apart = false;
	cr_expect_eq(renumbered_find(a->diff, &s.names), 0);
	analysis_free(a);
	comparison_done(&s);
	profile_free(p);
}
