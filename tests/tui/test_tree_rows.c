/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "query/analysis.h"
#include "tests/support/made_profile.h"
#include "tui/rows/tree_rows.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tree with what is asked of it. */
struct bed {
	struct profile *p;
	struct lens lens;
	struct analysis *a;
	struct tree_rows rows;
};

static void bed_init(struct bed *b, struct profile *p, const struct tree_source *src)
{
	b->p = p;
	made_lens(&b->lens, b->p, "");
	b->a = made_analysis(b->p, &b->lens);
	tree_rows_init(&b->rows, src);
	tree_rows_build(&b->rows, b->a);
}

static void bed_done(struct bed *b)
{
	tree_rows_done(&b->rows);
	analysis_free(b->a);
	lens_done(&b->lens);
	profile_free(b->p);
}

/* The nearest row before with a smaller indent. */
static size_t parent_of(const struct tree_rows *t, size_t row)
{
	for (size_t i = row; i-- > 0;)
		if (t->at[i].indent < t->at[row].indent)
			return i;
	return SIZE_MAX;
}

/* "v a > b 5\n  c 3\n": arrow, names of the chain, weight. */
static char *rows_text(struct bed *b)
{
	const struct tree_source *src = b->rows.src;
	char *out = xstrdup("");

	for (size_t i = 0; i < b->rows.n; i++) {
		const struct tree_row *r = &b->rows.at[i];
		uint32_t last;
		char *line = xasprintf("%s%*s", out, (int)r->indent * 2, ""), *names = xstrdup("");

		free(out);
		cr_expect_eq(tree_rows_parent(&b->rows, i), parent_of(&b->rows, i), "row %zu", i);
		if (r->n_more > 0) {
			out = xasprintf("%s+%u %lld\n", line, (unsigned)r->n_more,
					(long long)r->more);
			free(line);
			free(names);
			continue;
		}
		last = tree_rows_last(&b->rows, b->a, i);
		for (uint32_t n = last;; n = src->parent(b->a, n)) {
			char *more = xasprintf("%s%s%s", tree_key(src, b->a, n)->label,
					       *names ? ">" : "", names);

			free(names);
			names = more;
			if (n == r->node)
				break;
		}
		out = xasprintf("%s%s%s %lld\n", line,
				tree_rows_is_open(&b->rows, b->a, i)    ? "v "
				: tree_rows_has_more(&b->rows, b->a, i) ? "> "
									: "",
				names, (long long)tree_weight(src, b->a, last));
		free(line);
		free(names);
	}
	return out;
}

static void expect_rows(struct bed *b, const char *what, const char *expected)
{
	char *text = rows_text(b);

	cr_expect_str_eq(text, expected, "%s: got\n%s", what, text);
	free(text);
}

/* o: open, c: close, *: all, e: hottest; a digit before it: the row. */
static void play(struct bed *b, const char *moves)
{
	for (; *moves; moves += 2) {
		size_t row = (size_t)(moves[0] - '0');

		if (moves[1] == 'o')
			tree_rows_open(&b->rows, b->a, row);
		else if (moves[1] == 'c')
			tree_rows_close(&b->rows, b->a, row);
		else if (moves[1] == 'e')
			tree_rows_open_hot(&b->rows, b->a, row, 1);
		else
			tree_rows_open_all(&b->rows, b->a, row);
	}
}

#define TREE \
	"=t;a;b;c;d 4\n" \
	"=t;a;b;c;e;f 3\n" \
	"=t;a;b;c;e 1\n" \
	"=t;g 2\n"

static const struct {
	const char *what, *moves, *rows;
} cases[] = {
	{ "a thread's name is no part of a chain", "", "> t 10\n" },
	{ "opening shows children, in chains", "0o", "v t 10\n  > a>b>c 8\n  g 2\n" },
	{ "a chain opens as one row", "0o1o", "v t 10\n  v a>b>c 8\n    d 4\n    > e 4\n  g 2\n" },
	{ "and unfolds when opened again", "0o1o1o",
	  "v t 10\n  v a 8\n    v b 8\n      v c 8\n        d 4\n        > e 4\n  g 2\n" },
	{ "closing its first folds it", "0o1o1o1c", "v t 10\n  > a>b>c 8\n  g 2\n" },
	{ "closing one inside folds from there", "0o1o1o2c",
	  "v t 10\n  v a 8\n    > b>c 8\n  g 2\n" },
	{ "what was open below stays so", "0o1o3o0c0o",
	  "v t 10\n  v a>b>c 8\n    d 4\n    v e 4\n      f 3\n  g 2\n" },
	{ "a leaf does not open", "0o2o2o", "v t 10\n  > a>b>c 8\n  g 2\n" },
	{ "all", "0*", "v t 10\n  v a>b>c 8\n    d 4\n    v e 4\n      f 3\n  g 2\n" },
	{ "the hottest path", "0e", "v t 10\n  v a>b>c 8\n    d 4\n    > e 4\n  g 2\n" },
};

Test(tree_rows, opening_and_closing)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed b;

		bed_init(&b, made_profile(TREE), &tree_of_calls);
		play(&b, cases[i].moves);
		expect_rows(&b, cases[i].what, cases[i].rows);
		bed_done(&b);
	}
}

/* How often it is pressed, on the row where it led to, from the first; where that is in the end. */
static const struct {
	const char *what, *profile;
	int times;
	int64_t least;
	size_t row;
	const char *rows;
} hot_paths[] = {
	{ "to the leaf where nothing splits", "m;a;b 90\nm;c 10\n", 1, 1, 1,
	  "v m 100\n  a>b 90\n  c 10\n" },
	{ "to a split of nearly two halves", "m;a;b;x 31\nm;a;c;y 27\nm;d 9\n", 1, 1, 1,
	  "v m 67\n  v a 58\n    b>x 31\n    c>y 27\n  d 9\n" },
	{ "through it when pressed again", "m;a;b;x 31\nm;a;c;y 27\nm;d 9\n", 2, 1, 2,
	  "v m 67\n  v a 58\n    b>x 31\n    c>y 27\n  d 9\n" },
	{ "a closed row that splits opens", "m;a 31\nm;b 27\n", 1, 1, 0,
	  "v m 58\n  a 31\n  b 27\n" },
	{ "and then one goes on", "m;a 31\nm;b 27\n", 2, 1, 1, "v m 58\n  a 31\n  b 27\n" },
	{ "what a function has itself is a child, too", "m;a 30\nm;a;b 40\nm;c 10\n", 1, 1, 1,
	  "v m 80\n  v a 70\n    b 40\n  c 10\n" },
	{ "twice the next goes on", "m;a;b 40\nm;a;c 20\nm;a;d 20\nm;e 1\n", 1, 1, 2,
	  "v m 81\n  v a 80\n    b 40\n    c 20\n    d 20\n  e 1\n" },
	{ "less than half of it does not", "m;a;b 36\nm;a;c 18\nm;a;d 18\nm;a;f 18\nm;e 1\n", 1, 1,
	  1, "v m 91\n  v a 90\n    b 36\n    c 18\n    d 18\n    f 18\n  e 1\n" },
	{ "a closed row that weighs little opens", "m;a 9\nm;b 1\n", 1, 50, 0,
	  "v m 10\n  a 9\n  b 1\n" },
};

Test(tree_rows, the_hottest_path_ends_where_it_splits)
{
	for (size_t i = 0; i < sizeof(hot_paths) / sizeof(hot_paths[0]); i++) {
		struct bed b;
		size_t row = 0;

		bed_init(&b, made_profile(hot_paths[i].profile), &tree_of_calls);
		for (int k = 0; k < hot_paths[i].times; k++)
			row = tree_rows_open_hot(&b.rows, b.a, row, hot_paths[i].least);
		cr_expect_eq(row, hot_paths[i].row, "%s: row %zu", hot_paths[i].what, row);
		expect_rows(&b, hot_paths[i].what, hot_paths[i].rows);
		bed_done(&b);
	}
}

/* As while something is recorded: more calls come, and chains are no longer what they were. */
static const struct {
	const char *what, *moves, *more, *rows;
} partings[] = {
	{ "an open chain that calls part", "0o1o", "=t;a;x 1\n",
	  "v t 11\n  v a 9\n    v b>c 8\n      d 4\n      > e 4\n    x 1\n  g 2\n" },
	{ "all that were opened at once", "0*", "=t;a;b 1\n",
	  "v t 11\n  v a>b 9\n    v c 8\n      d 4\n      v e 4\n        f 3\n  g 2\n" },
	{ "a closed one", "0o", "=t;a;x 1\n", "v t 11\n  > a 9\n  g 2\n" },
	{ "one that was closed again", "0o1o1c", "=t;a;x 1\n", "v t 11\n  > a 9\n  g 2\n" },
};

Test(tree_rows, what_is_open_stays_so_when_chains_part)
{
	for (size_t i = 0; i < sizeof(partings) / sizeof(partings[0]); i++) {
		struct bed b;

		bed_init(&b, made_profile(TREE), &tree_of_calls);
		play(&b, partings[i].moves);
		made_profile_add(b.p, partings[i].more);
		analysis_free(b.a);
		b.a = made_analysis(b.p, &b.lens);
		tree_rows_build(&b.rows, b.a);
		expect_rows(&b, partings[i].what, partings[i].rows);
		bed_done(&b);
	}
}

Test(tree_rows, callers_are_not_folded_into_what_they_call)
{
	struct bed b;

	bed_init(&b, made_profile("a;b;leaf 5\nleaf 1\nx;y;leaf 2\n"), &tree_of_callers);
	play(&b, "0o");
	expect_rows(&b, "roots by self, chains of callers",
		    "v leaf 8\n  b>a 5\n  y>x 2\na 0\n> b 0\nx 0\n> y 0\n");
	bed_done(&b);
}

Test(tree_rows, order)
{
	struct bed b;

	bed_init(&b, made_profile("a;x 5\na;z;q 3\na 1\nb 7\n"), &tree_of_calls);
	play(&b, "0*");
	expect_rows(&b, "by total", "v a 9\n  x 5\n  z>q 3\nb 7\n");
	b.rows.order = TREE_BY_SELF;
	tree_rows_build(&b.rows, b.a);
	expect_rows(&b, "by self", "b 7\nv a 9\n  x 5\n  z>q 3\n");
	b.rows.order = TREE_BY_NAME;
	b.rows.reverse = true;
	tree_rows_build(&b.rows, b.a);
	expect_rows(&b, "by name, reversed", "b 7\nv a 9\n  z>q 3\n  x 5\n");
	bed_done(&b);
}

/* A parent of n children of weight 1, among which the first is heavy. */
static struct profile *many_children(unsigned n)
{
	struct profile *p = made_profile("main;heavy 100000\n");
	VEC(char) text = { 0 };

	for (unsigned i = 0; i < n; i++) {
		char line[32];
		int len = snprintf(line, sizeof(line), "main;f%05u 1\n", i);

		for (int k = 0; k < len; k++)
			vec_push(&text, line[k]);
	}
	vec_push(&text, '\0');
	made_profile_add(p, text.at);
	vec_done(&text);
	return p;
}

Test(tree_rows, a_few_light_children_are_not_gathered)
{
	static const struct {
		unsigned light;
		size_t rows;
	} few[] = { { 10, 12 }, { 11, 3 } };

	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		struct bed b;

		bed_init(&b, many_children(few[i].light), &tree_of_calls);
		play(&b, "0o");
		cr_expect_eq(b.rows.n, few[i].rows, "%u: %zu", few[i].light, b.rows.n);
		bed_done(&b);
	}
}

Test(tree_rows, light_children_are_gathered)
{
	struct bed b;
	uint32_t last;

	bed_init(&b, many_children(3000), &tree_of_calls);
	play(&b, "0o");
	cr_expect_eq(b.rows.n, 3, "%zu", b.rows.n);
	cr_expect_eq(b.rows.at[2].n_more, 3000);
	cr_expect_eq(b.rows.at[2].more, 3000);
	cr_expect(tree_rows_open(&b.rows, b.a, 2));
	cr_expect_eq(b.rows.n, 1003, "%zu", b.rows.n);
	cr_expect_eq(b.rows.at[1002].n_more, 2000);
	cr_expect(tree_rows_open(&b.rows, b.a, 1002));
	cr_expect(tree_rows_open(&b.rows, b.a, 2002));
	cr_expect_eq(b.rows.n, 3002);
	bed_done(&b);

	bed_init(&b, many_children(3000), &tree_of_calls);
	last = b.a->tree->n_nodes - 1;
	cr_expect_eq(tree_rows_reveal(&b.rows, b.a, last), 3001, "what is sought is shown");
	bed_done(&b);
}

Test(tree_rows, not_all_of_too_many)
{
	struct bed b;
	struct profile *p = profile_new();
	VEC(char) text = { 0 };

	/* A binary tree of 2^18 leaves: every node branches, so that no chain hides it. */
	for (unsigned leaf = 0; leaf < 1u << 18; leaf++) {
		for (int bit = 17; bit >= 0; bit--) {
			vec_push(&text, (leaf >> bit & 1) ? 'a' : 'b');
			vec_push(&text, bit ? ';' : ' ');
		}
		vec_push(&text, '1');
		vec_push(&text, '\n');
	}
	vec_push(&text, '\0');
	made_profile_add(p, text.at);
	vec_done(&text);
	bed_init(&b, p, &tree_of_calls);
	cr_expect_not(tree_rows_open_all(&b.rows, b.a, 0));
	cr_expect_leq(b.rows.n, TREE_ROWS_MOST + 64);
	cr_expect_geq(b.rows.n, TREE_ROWS_MOST - 64);
	bed_done(&b);
}

/* Splicing gives what making all rows anew does; and revealing a node makes a row of it. */
static void check_splices(unsigned seed, const struct tree_source *src)
{
	struct bed b;
	unsigned lot = seed;

	bed_init(&b, made_profile_by_lot(seed, 400), src);
	for (int i = 0; i < 60 && b.rows.n > 0; i++) {
		size_t row = made_number(&lot, (unsigned)b.rows.n);
		char *spliced, *anew;

		switch (made_number(&lot, 6)) {
		case 0:
			tree_rows_close(&b.rows, b.a, row);
			break;
		case 1:
			tree_rows_open_hot(&b.rows, b.a, row, 1);
			break;
		case 2:
			tree_rows_open_all(&b.rows, b.a, row);
			break;
		default:
			tree_rows_open(&b.rows, b.a, row);
		}
		spliced = rows_text(&b);
		tree_rows_build(&b.rows, b.a);
		anew = rows_text(&b);
		cr_assert_str_eq(spliced, anew, "seed %u, move %d", seed, i);
		free(spliced);
		free(anew);
	}
	bed_done(&b);
}

Test(tree_rows, splices_as_if_made_anew)
{
	for (unsigned seed = 1; seed < 40; seed++) {
		check_splices(seed, &tree_of_calls);
		check_splices(seed, &tree_of_callers);
	}
}

Test(tree_rows, every_node_can_be_revealed)
{
	for (unsigned seed = 1; seed < 20; seed++) {
		struct bed b;
		unsigned lot = seed;

		bed_init(&b, made_profile_by_lot(seed, 300), &tree_of_calls);
		for (int i = 0; i < 40 && b.a->tree->n_nodes > 1; i++) {
			uint32_t node = 1 + made_number(&lot, b.a->tree->n_nodes - 1);
			size_t row = tree_rows_reveal(&b.rows, b.a, node);
			uint32_t last;

			cr_assert_neq(row, SIZE_MAX);
			last = tree_rows_last(&b.rows, b.a, row);
			cr_expect(b.rows.at[row].node <= node && node <= last);
		}
		bed_done(&b);
	}
}
