/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "query/analysis.h"
#include "query/diff/diff.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage.h"
#include "tui/views/flame_layout.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* One line a level: "a[0,10) b[10,20) 3~[20,22)". */
static char *layout_text(struct flame_layout *l, struct analysis *a)
{
	char *out = xstrdup("");
	uint32_t n = flame_layout_need(l, a, 100);

	for (uint32_t level = 0; level < n; level++) {
		uint32_t first, end;

		flame_layout_level(l, level, &first, &end);
		for (uint32_t i = first; i < end; i++) {
			const struct flame_cell *c = &l->cells.at[i];
			const char *name = "all";
			char *more;

			if (c->n_merged == 0 && c->node != TREE_NONE)
				name = tree_key(l->src, a, c->node)->label;
			more = c->n_merged > 0
				       ? xasprintf("%s%u~[%d,%d) ", out, (unsigned)c->n_merged,
						   c->begin, c->end)
				       : xasprintf("%s%s[%d,%d) ", out, name, c->begin, c->end);
			free(out);
			out = more;
		}
		out[strlen(out) - 1] = '\n';
	}
	return out;
}

static const struct {
	const char *what, *profile;
	int cols;
	const char *layout;
} cases[] = {
	{ "one root is everything", "a 1\n", 10, "a[0,10)\n" },
	{ "several roots have something above", "a 3\nb 1\n", 8, "all[0,8)\na[0,6) b[6,8)\n" },
	{ "self is a gap at the right", "a;b 3\na 1\n", 8, "a[0,8)\nb[0,6)\n" },
	{ "a run of single calls is folded while alone", "a;b;c 3\na;b;d;e 1\n", 8,
	  "b[0,8)\nc[0,6) d[6,8)\ne[6,8)\n" },
	{ "siblings touch, whatever is rounded", "r;a 1\nr;b 1\nr;c 1\n", 10,
	  "r[0,10)\na[0,3) b[3,7) c[7,10)\n" },
	{ "narrow siblings are one cell", "r;a 90\nr;b 4\nr;c 3\nr;d 3\n", 50,
	  "r[0,50)\na[0,45) 3~[45,50)\n" },
	{ "one narrow sibling is itself", "r;a 9\nr;b 1\n", 10, "r[0,10)\na[0,9) b[9,10)\n" },
	{ "what has no column at all is not there", "r;a 999\nr;b 1\n", 10, "r[0,10)\na[0,10)\n" },
	{ "nothing is below merged ones", "r;a 90\nr;b;x 5\nr;c;y 5\n", 20,
	  "r[0,20)\na[0,18) 2~[18,20)\n" },
	{ "one column", "r;a 9\nr;b 1\n", 1, "r[0,1)\n2~[0,1)\n" },
};

Test(flame_layout, cells)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = made_profile(cases[i].profile);
		struct flame_focus all = { .node = TREE_NONE };
		struct flame_layout l = { 0 };
		struct analysis *a;
		struct lens lens;
		char *text;

		made_lens(&lens, p, "");
		a = made_analysis(p, &lens);
		flame_layout_init(&l, &tree_of_calls, a, all, 9, cases[i].cols);
		text = layout_text(&l, a);
		cr_expect_str_eq(text, cases[i].layout, "%s: got\n%s", cases[i].what, text);
		free(text);
		flame_layout_done(&l);
		analysis_free(a);
		lens_done(&lens);
		profile_free(p);
	}
}

/* However many siblings are narrow: those that have a column are seen, with what is below them. */
Test(flame_layout, narrow_siblings_keep_their_columns)
{
	struct flame_focus all = { .node = TREE_NONE };
	struct flame_layout l = { 0 };
	char *stacks = xstrdup("");
	uint32_t first, end;
	struct analysis *a;
	struct profile *p;
	struct lens lens;

	for (int i = 0; i < 60; i++) {
		char *more = xasprintf("%sr;f%d;g%d 1\n", stacks, i, i);

		free(stacks);
		stacks = more;
	}
	p = made_profile(stacks);
	made_lens(&lens, p, "");
	a = made_analysis(p, &lens);
	flame_layout_init(&l, &tree_of_calls, a, all, 9, 120);
	cr_assert_eq(flame_layout_need(&l, a, 9), 3);
	/* Three are one cell at the right, as two columns each have no room for a name. */
	for (uint32_t level = 1; level < 3; level++) {
		flame_layout_level(&l, level, &first, &end);
		cr_assert_eq(end - first, level == 1 ? 58u : 57u);
	}
	free(stacks);
	flame_layout_done(&l);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

/* Weight of all children of a node. */
static int64_t children_of(const struct flame_layout *l, struct analysis *a, uint32_t node)
{
	int64_t sum = 0;

	for (uint32_t c = l->src->first(a, node); c != TREE_NONE; c = l->src->next(a, c))
		sum += tree_weight(l->src, a, c);
	return sum;
}

static void check_level(const struct flame_layout *l, uint32_t level)
{
	uint32_t first, end;
	int at = 0;

	flame_layout_level(l, level, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		const struct flame_cell *c = &l->cells.at[i], *up;
		bool starts = i == first || c[-1].parent != c->parent;

		cr_assert_geq(c->begin, at, "cells do not overlap");
		cr_assert_lt(c->begin, c->end, "no empty cells");
		cr_assert_leq(c->end, l->cols);
		at = c->end;
		if (c->parent == FLAME_NONE)
			continue;
		up = &l->cells.at[c->parent];
		cr_assert_eq(up->level + 1, level);
		cr_assert(c->begin >= up->begin && c->end <= up->end, "children are inside");
		if (starts)
			cr_assert_eq(c->begin, up->begin, "the first child begins at the left");
		else
			cr_assert_eq(c->begin, c[-1].end, "siblings touch");
	}
}

/* The weights of a cell's children and of what is too narrow for any cell are its node's. */
static void check_sums(const struct flame_layout *l, struct analysis *a, uint32_t i)
{
	const struct flame_cell *c = &l->cells.at[i];
	int64_t sum = 0, all;
	uint32_t n = 0;

	if (c->n_merged > 0)
		return;
	all = children_of(l, a, c->node);
	for (uint32_t k = flame_layout_child(l, i); k < l->cells.n; k++) {
		if (l->cells.at[k].parent != i)
			break;
		sum += l->cells.at[k].weight;
		n++;
	}
	cr_assert_leq(sum, all);
	cr_assert_leq((double)(all - sum) * l->cols / (double)l->whole, 1.0,
		      "less than a column is missing");
	cr_assert(n > 0 || all == 0 || (double)all * l->cols / (double)l->whole <= 1.0);
}

Test(flame_layout, adds_up)
{
	for (unsigned seed = 1; seed < 60; seed++) {
		struct profile *p = made_profile_by_lot(seed, 500);
		const struct tree_source *src = seed % 2 ? &tree_of_calls : &tree_of_callers;
		struct flame_focus focus = { .node = TREE_NONE };
		struct flame_layout l = { 0 };
		struct analysis *a;
		struct lens lens;
		unsigned lot = seed;
		uint32_t n;

		made_lens(&lens, p, "");
		a = made_analysis(p, &lens);
		if (seed % 3 == 0 && a->tree->n_nodes > 1 && !src->by_self)
			focus.node = 1 + made_number(&lot, a->tree->n_nodes - 1);
		if (a->weights.total[0] > 0) {
			flame_layout_init(&l, src, a, focus, 4, 1 + (int)made_number(&lot, 150));
			n = flame_layout_need(&l, a, 1000);
			cr_assert_eq(l.cells.at[l.base].end, l.cols);
			for (uint32_t level = 0; level < n; level++)
				check_level(&l, level);
			for (uint32_t i = l.base; i < l.cells.n; i++)
				check_sums(&l, a, i);
		}
		flame_layout_done(&l);
		analysis_free(a);
		lens_done(&lens);
		profile_free(p);
	}
}

/* Every node is found where its cell, a chain or a merged cell stands for it. */
Test(flame_layout, finds)
{
	for (unsigned seed = 1; seed < 30; seed++) {
		struct profile *p = made_profile_by_lot(seed, 300);
		struct flame_focus all = { .node = TREE_NONE };
		struct flame_layout l = { 0 };
		struct analysis *a;
		struct lens lens;

		made_lens(&lens, p, "");
		a = made_analysis(p, &lens);
		flame_layout_init(&l, &tree_of_calls, a, all, 4, 90);
		for (uint32_t node = 1; node < a->tree->n_nodes; node++) {
			bool exact;
			uint32_t i = flame_layout_find(&l, a, node, &exact);
			const struct flame_cell *c = &l.cells.at[i];

			cr_assert_neq(i, FLAME_NONE);
			if (exact)
				cr_assert(c->first <= node && node <= c->node && c->n_merged == 0);
			else if (c->n_merged == 0 && c->node != TREE_NONE)
				cr_assert(c->node < node && node < a->tree->end[c->node]);
		}
		flame_layout_done(&l);
		analysis_free(a);
		lens_done(&lens);
		profile_free(p);
	}
}

/* How many children of a node are as wide as so many columns. */
static uint32_t n_wide(const struct flame_layout *l, struct analysis *a, uint32_t node, int cols)
{
	int64_t least = l->whole / l->cols * cols;
	uint32_t n = 0;

	for (uint32_t c = l->src->first(a, node); c != TREE_NONE; c = l->src->next(a, c))
		n += tree_weight(l->src, a, c) >= least;
	return n;
}

/* In comparisons siblings come by what changed in them; none that is wide may be merged with narrow ones. */
static void expect_wide_ones(struct flame_layout *l, struct analysis *a)
{
	for (uint32_t i = 1; i < l->cells.n; i++) {
		const struct flame_cell *c = &l->cells.at[i];
		uint32_t n = 0;

		if (c->n_merged == 0)
			continue;
		for (uint32_t k = 0; k < i; k++)
			n += l->cells.at[k].parent == c->parent && k != c->parent;
		cr_expect_geq(n, n_wide(l, a, l->cells.at[c->parent].node, 4), "cell %u", i);
	}
}

/* The same comparison with another size in its first column; the caller frees. */
static struct analysis *shown_as(const struct analysis *a, enum shown_size shown)
{
	struct analysis *made;
	struct lens l;

	lens_copy(&l, &a->lens);
	l.sides.normalise = NORMALISE_NONE;
	l.sides.automatic = false;
	l.sides.shown = shown;
	cr_assert_eq(analysis_new(a->profile, &l, NULL, &made), 0);
	lens_done(&l);
	return made;
}

Test(flame_layout, wide_siblings_of_comparisons_are_shown)
{
	struct profile *p = stage_changed();
	struct flame_focus all = { .node = TREE_NONE };
	struct stage st;

	stage_init(&st, p, NULL, VIEW_KIND_FLAME, 80, 20);
	for (int shown = 0; shown < N_SHOWN_SIZES; shown++)
		for (int cols = 20; cols < 200; cols += 13) {
			struct analysis *a = shown_as(st.scene.analysis, (enum shown_size)shown);
			struct flame_layout l = { 0 };

			flame_layout_init(&l, &tree_of_calls, a, all, 9, cols);
			flame_layout_need(&l, a, 100);
			expect_wide_ones(&l, a);
			flame_layout_done(&l);
			analysis_free(a);
		}
	stage_done(&st);
	profile_free(p);
}
