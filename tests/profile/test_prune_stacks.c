/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old stacks that became shorter: what functions did is what it was, and stacks that never come again do not add up. */
#include "config.h"

#include "profile/builder.h"
#include "tests/support/flat_memory.h"
#include "tests/support/limits_work.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SEEDS 40
#define SECOND  INT64_C(1000000000)

/* To a few stacks; times of profiles by lot are below 1000. */
static bool shorten_now(struct profile *p, int64_t keep_ns, uint32_t n_stacks)
{
	uint32_t *to = NULL, n = 0;
	bool done;

	build_folding(p, &(struct build_folding){ .keep_ns = keep_ns,
						  .n_rows = UINT32_MAX,
						  .n_folded = UINT32_MAX,
						  .n_stacks = n_stacks });
	builder_begin(p);
	done = build_shorten(p, &to, &n);
	cr_assert_eq(builder_end(p), 0);
	free(to);
	return done;
}

/* The next row that is not of the mark. */
static uint32_t real_row(const struct analysis *a, uint32_t row)
{
	while (row < a->table.n_rows &&
	       strcmp(a->table_keys->key[a->table.key[row]].label, SHORTENED_NAME) == 0)
		row++;
	return row;
}

static void expect_same_rows(const struct analysis *a, const struct analysis *b, const char *what)
{
	uint32_t i = real_row(a, 0), j = real_row(b, 0);

	for (; i < a->table.n_rows && j < b->table.n_rows;
	     i = real_row(a, i + 1), j = real_row(b, j + 1)) {
		const struct key *k = &a->table_keys->key[a->table.key[i]];
		const struct key *l = &b->table_keys->key[b->table.key[j]];

		cr_expect_str_eq(k->label, l->label, "%s", what);
		cr_expect_str_eq(k->module, l->module, "%s", what);
		for (size_t c = 0; c < 4; c++) {
			cr_expect_eq(a->table.self[4 * i + c], b->table.self[4 * j + c],
				     "%s: self of %s", what, k->label);
			cr_expect_eq(a->table.total[4 * i + c], b->table.total[4 * j + c],
				     "%s: total of %s, column %zu: %ld, %ld", what, k->label, c,
				     (long)a->table.total[4 * i + c],
				     (long)b->table.total[4 * j + c]);
		}
	}
	cr_expect(i >= a->table.n_rows && j >= b->table.n_rows, "%s: rows are missing", what);
}

/* Columns of weights of two events, of counts, and of the squares of weights. */
static struct analysis *look(const struct profile *p, const char *filter, enum grouping grouping,
			     bool inlines, struct lens *l)
{
	made_lens(l, p, filter);
	l->grouping = grouping;
	l->inlines = inlines;
	l->n_columns = 4;
	l->column[1].metric.event.v = 1;
	l->column[2].metric.measure = MEASURE_SAMPLES;
	l->column[3].squares = true;
	return made_analysis(p, l);
}

/* As live makes it: the table alone, without a call tree. */
static void expect_same_table(const struct analysis *a, const struct profile *q,
			      const struct lens *l, const char *what)
{
	struct analysis *b;

	cr_assert_eq(analysis_new_parts(q, l, 0, NULL, &b), 0);
	expect_same_rows(a, b, what);
	analysis_free(b);
}

static void expect_same(const struct profile *p, const struct profile *q, const char *filter)
{
	static const enum grouping groupings[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_FILE,
						   GROUP_THREAD, GROUP_CPU };

	for (size_t i = 0; i < 2 * sizeof(groupings) / sizeof(groupings[0]); i++) {
		struct lens l, m;
		struct analysis *a = look(p, filter, groupings[i / 2], i % 2, &l);
		struct analysis *b = look(q, filter, groupings[i / 2], i % 2, &m);
		char what[64];

		snprintf(what, sizeof(what), "%s, grouping %zu, inlines %zu", filter, i / 2, i % 2);
		cr_expect_eq(a->weights.n_samples, b->weights.n_samples, "%s", what);
		for (int c = 0; c < 4; c++) {
			cr_expect_eq(a->weights.total[c], b->weights.total[c], "%s", what);
			cr_expect_eq(a->weights.whole[c], b->weights.whole[c], "%s", what);
		}
		expect_same_rows(a, b, what);
		expect_same_table(b, q, &m, what);
		analysis_free(a);
		analysis_free(b);
		lens_done(&l);
		lens_done(&m);
	}
}

/* Whatever is asked of samples, and not of their frames, is answered as ever: by function, module, file, thread, cpu. */
Test(shorten, changes_no_sum_of_functions)
{
	static const char *const filters[] = {
		"",
		"thread:t1",
		"cpu:1-2",
		"event:cycles",
		"!event:cycles",
		"pid:1",
		"time:0.0000002,0.0000006",
		"time:0.0000006,",
	};
	struct profile_counts before, after;
	uint32_t n_less = 0;

	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct profile *p = made_profile_of_one_capture(seed, 300),
			       *q = p ? made_profile_of_one_capture(seed, 300) : NULL;
		int64_t begin;

		if (!p)
			continue;
		begin = capture_begin(profile_capture(q, (capture_id){ 0 }));
		profile_fences(q, (int64_t[]){ begin + 200, begin + 600 });
		profile_counts_read(p, &before);
		for (uint32_t most = 64; most > 0; most /= 8) {
			if (!shorten_now(q, most, most))
				continue;
			for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
				expect_same(p, q, filters[i]);
		}
		profile_counts_read(q, &after);
		n_less += before.n_stacks - after.n_stacks;
		profile_free(p);
		profile_free(q);
	}
	cr_assert_gt(n_less, 1000u);
}

/* What is left of a stack says what it was, as far as it is known. */
Test(shorten, keeps_what_many_share_and_where_it_ends)
{
	struct profile *p = made_profile(
		"=t;main;parse;deep;leaf 2 t=1\n=t;main;parse;deep;leaf 3 t=2\n"
		"=t;main;parse;far;a;work 1 t=3\n=t;main;parse;far;b;work 1 t=4\n"
		"=t;main;parse;far;c;work 1 t=5\n=t;main;parse;far;d;work 1 t=6\n"
		"=t;main;parse;far;e;work 1 t=7\n=t;main;parse;far;f;work 1 t=8\n"
		"=t;main;parse;far;g;other 1 t=9\n=t;main;idle 1 t=10\n"
		"=t;main;new;late;work 1 t=900\n");
	struct analysis *a;
	struct lens l;
	char *text;

	cr_assert(shorten_now(p, 100, 20));
	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	text = made_tree_text(a);
	cr_expect_str_eq(text,
			 "t 14 0\n"
			 "  main 14 0\n"
			 "    parse 12 0\n"
			 "      far 7 0\n"
			 "        [shortened] 7 0\n"
			 "          work 6 6\n"
			 "          other 1 1\n"
			 "      deep 5 0\n"
			 "        leaf 5 5\n"
			 "    idle 1 1\n"
			 "    new 1 0\n"
			 "      late 1 0\n"
			 "        work 1 1\n",
			 "%s", text);
	free(text);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

/* An analysis is of what there was when it was made, and may be asked more of. */
Test(shorten, leaves_alone_what_is_held)
{
	struct profile *p = made_profile("=t;a;b;c;d 3 t=1\n=t;a;x;y;d 4 t=2\n=t;a;z 5 t=900\n");
	struct profile_counts counts;
	struct analysis *a, *b;
	struct lens l;
	char *before, *after;

	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	before = made_tree_text(a);
	counts = a->counts;
	cr_assert(shorten_now(p, 100, 1));
	cr_assert_eq(analysis_new_of(p, &counts, &l, ANALYSIS_TREE, NULL, &b), 0);
	after = made_tree_text(b);
	cr_expect_str_eq(after, before);
	free(after);
	analysis_free(a);
	analysis_free(b);
	b = made_analysis(p, &l);
	after = made_tree_text(b);
	cr_expect_str_neq(after, before);
	free(after);
	free(before);
	analysis_free(b);
	lens_done(&l);
	profile_free(p);
}

enum { RATE = 250, DEPTH = 4, FUNCTIONS = 60, WHILE = IS_SANITIZED ? 660 : 1200 };

/* A program hardly two of whose stacks are equal, and who watches it. */
struct watch {
	struct profile *p;
	location_id location[FUNCTIONS];
	event_id event;
	struct lens lens;
	struct analysis *shown; /* or NULL */
	uint64_t most_stacks, most_rows, most_beyond;
	unsigned state; /* of its lot */
};

static void begin_watch(struct watch *w)
{
	struct profile *p = profile_new();

	*w = (struct watch){ .p = p, .state = 1 };
	build_folding(p, build_folding_live());
	builder_begin(p);
	build_capture(p, "x", "made");
	w->event = build_event(p, "cpu-clock", UNIT_NS, true);
	for (int i = 0; i < FUNCTIONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		w->location[i] = build_symbol_location(p, build_function(p, build_cstring(p, name),
									 (module_id){ 0 }, 0,
									 (string_id){ 0 }, 0));
	}
	builder_end(p);
	made_lens(&w->lens, p, "");
}

static void note_most(struct watch *w)
{
	struct profile_counts counts;
	struct beyond_columns beyond;

	profile_counts_read(w->p, &counts);
	profile_beyond_of(w->p, &counts, &beyond);
	w->most_stacks = counts.n_stacks > w->most_stacks ? counts.n_stacks : w->most_stacks;
	w->most_rows = counts.n_samples > w->most_rows ? counts.n_samples : w->most_rows;
	w->most_beyond = beyond.n > w->most_beyond ? beyond.n : w->most_beyond;
}

static void watch_second(struct watch *w, int second)
{
	builder_begin(w->p);
	build_shorten(w->p, NULL, NULL);
	for (int i = 0; i < RATE; i++) {
		struct sample s = { .thread = { ID_NONE },
				    .event = w->event,
				    .cpu = CPU_NONE,
				    .weight = 1000000,
				    .time_ns = second * SECOND + i * (SECOND / RATE) };

		for (int d = 0; d < DEPTH; d++)
			s.stack = build_stack(w->p, s.stack,
					      w->location[made_number(&w->state, FUNCTIONS)]);
		cr_assert_eq(build_sample(w->p, &s), 0);
	}
	cr_assert_eq(builder_end(w->p), 0);
	note_most(w);
}

/* What is on the screen stays until the next is there. */
static void look_again(struct watch *w)
{
	struct analysis *a = made_analysis(w->p, &w->lens);

	analysis_free(w->shown);
	w->shown = a;
}

/* The most memory that seconds take which are looked at so often. */
static uint64_t watch(struct watch *w, int from, int to, int every)
{
	flat_most_bytes();
	for (int second = from; second < to; second++) {
		watch_second(w, second);
		if (second % every == every - 1)
			look_again(w);
	}
	return flat_most_bytes();
}

/*
 * An hour of samples as live keeps them (half of one with sanitizers, which do not tell memory), with all that is asked of
 * them: memory, at any moment, is in the third twenty minutes that of the second, and in the tenth minute that of the first
 * two, but for a tenth.
 */
Test(shorten, an_hour_takes_no_more_than_minutes, .timeout = 600)
{
	uint64_t first, tenth, second_while, third_while;
	struct watch w;

	begin_watch(&w);
	first = watch(&w, 0, 120, 2);
	watch(&w, 120, 540, 60);
	tenth = watch(&w, 540, 600, 2);
	watch(&w, 600, WHILE, 60);
	second_while = watch(&w, WHILE, 2 * WHILE, 60);
	third_while = watch(&w, 2 * WHILE, 3 * WHILE, 60);
	flat_expect(first, tenth, 10, "minutes");
	flat_expect(second_while, third_while, 10, "long whiles");
	/* The most of twenty minutes is more than that of two minutes, of what goes up and down. */
	flat_expect(first, third_while, 5, "minutes and long whiles");
	cr_expect_leq(w.most_stacks,
		      9u * ((1u << 12) + 69u * RATE * DEPTH * 9 / 8) / 8 + RATE * DEPTH);
	cr_expect_leq(w.most_rows, 9u * 2 * 69u * RATE / 8 + RATE, "%lu rows",
		      (unsigned long)w.most_rows);
	cr_expect_leq(w.most_beyond, 1u << 13, "%lu", (unsigned long)w.most_beyond);
	look_again(&w);
	cr_expect_eq(w.shown->weights.total[0], (int64_t)3 * WHILE * RATE * 1000000);
	cr_expect_eq(w.shown->weights.n_samples, (uint64_t)3 * WHILE * RATE);
	analysis_free(w.shown);
	lens_done(&w.lens);
	profile_free(w.p);
}
