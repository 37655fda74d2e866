/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old stacks that became shorter: what functions did is what it was, and stacks that never come again do not add up. */
#include "config.h"

#include "builder.h"
#include "made_profile.h"

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

static struct profile *one_capture(unsigned seed)
{
	struct profile_counts counts;
	struct profile *p = made_profile_by_lot(seed, 300);

	profile_counts_read(p, &counts);
	if (counts.n_captures == 1)
		return p;
	profile_free(p);
	return NULL;
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
		struct profile *p = one_capture(seed), *q = p ? one_capture(seed) : NULL;
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

/* Bytes of memory that the process has. */
static uint64_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%*u %lu", &pages), 1);
	fclose(f);
	return (uint64_t)pages * 4096;
}

/*
 * Twenty times the samples that are kept, hardly one of a stack that came before: nodes, rows and memory are never more than
 * those of some minutes and a number that is fixed.
 */
Test(shorten, stacks_that_never_come_again_do_not_add_up, .timeout = 600)
{
	enum { N = 2500000, BATCH = 1000, RATE = 50, DEPTH = 4, FUNCTIONS = 60, LOOKS = 20 };
	enum { ROWS = 1 << 17, FOLDED = 1 << 16, STACKS = 1 << 15 };
	static const struct build_folding folding = { 70 * SECOND, ROWS, FOLDED, STACKS };
	struct profile *p = profile_new();
	location_id location[FUNCTIONS];
	uint32_t most_stacks = 0;
	uint64_t most_rows = 0, resident[2] = { 0, 0 };
	unsigned state = 1;
	struct profile_counts counts;
	struct beyond_columns beyond;
	struct lens l;
	struct analysis *a;
	event_id e;

	build_folding(p, &folding);
	builder_begin(p);
	build_capture(p, "x", "made");
	e = build_event(p, "cpu-clock", UNIT_NS, true);
	for (int i = 0; i < FUNCTIONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		location[i] = build_symbol_location(p, build_function(p, build_cstring(p, name),
								      (module_id){ 0 }, 0,
								      (string_id){ 0 }, 0));
	}
	builder_end(p);
	for (int i = 0; i < N; i += BATCH) {
		uint32_t *to, n;

		builder_begin(p);
		if (build_shorten(p, &to, &n))
			free(to);
		for (int k = i; k < i + BATCH; k++) {
			struct sample s = { .thread = { ID_NONE },
					    .event = e,
					    .cpu = CPU_NONE,
					    .weight = 1000000,
					    .time_ns = k * (SECOND / RATE) };

			for (int d = 0; d < DEPTH; d++)
				s.stack = build_stack(p, s.stack,
						      location[made_number(&state, FUNCTIONS)]);
			cr_assert_eq(build_sample(p, &s), 0);
		}
		cr_assert_eq(builder_end(p), 0);
		profile_counts_read(p, &counts);
		most_stacks = counts.n_stacks > most_stacks ? counts.n_stacks : most_stacks;
		most_rows = counts.n_samples > most_rows ? counts.n_samples : most_rows;
		if (i / BATCH % (N / BATCH / LOOKS) == 0 && resident_bytes() > resident[i >= N / 2])
			resident[i >= N / 2] = resident_bytes();
	}
	cr_expect_leq(most_stacks, 5u * (STACKS / 2 + 71u * RATE * DEPTH) / 4 + BATCH * DEPTH,
		      "%u stacks", most_stacks);
	cr_expect_leq(most_rows, 2u * (FOLDED + 71u * RATE), "%lu rows", (unsigned long)most_rows);
	profile_beyond_of(p, &counts, &beyond);
	cr_expect_leq(beyond.n, 1u << 16, "%lu", (unsigned long)beyond.n);
	cr_expect_leq(resident[1], resident[0] + resident[0] / 10 + (1u << 20), "%lu, %lu bytes",
		      (unsigned long)resident[0], (unsigned long)resident[1]);
	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	cr_expect_eq(a->weights.total[0], (int64_t)N * 1000000);
	cr_expect_eq(a->weights.n_samples, (uint64_t)N);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}
