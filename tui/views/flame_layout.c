/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of flame graphs; see flame_layout.h. */
#include "config.h"

#include "tui/views/flame_layout.h"

#include <stdlib.h>

#include "base/mem.h"
#include "query/analysis.h"

/*
 * Two or more siblings narrower than this, an edge and two letters, are merged where they take few columns together.
 * Where they take more, those that have a column keep it, so that what is below them is seen. Of those that have only a part of a
 * column, some get a whole one: a third of the screen at most, as each costs the terminal a change of colour.
 */
#define NARROW_COLS 3
#define MERGED_COLS 6
#define PARTS_SHARE 3

/* Levels that are ever made: nobody walks further without zooming in. */
#define LEVELS_MOST 20000u

static int edge(const struct flame_layout *l, int64_t offset)
{
	__int128 x = (__int128)offset * l->cols * 2 + l->whole;

	if (l->whole <= 0)
		return 0;
	x /= (__int128)l->whole * 2;
	return x < l->cols ? (int)x : l->cols;
}

static uint32_t push_cell(struct flame_layout *l, struct flame_cell c)
{
	c.begin = edge(l, c.offset);
	c.end = edge(l, c.offset + c.weight);
	vec_push(&l->cells, c);
	return (uint32_t)l->cells.n - 1;
}

static void start_level(struct flame_layout *l)
{
	vec_push(&l->levels, (uint32_t)l->cells.n);
}

/* qsort_r's third argument. */
struct weighing {
	const struct tree_source *src;
	struct analysis *a;
};

static int heavier(const void *x, const void *y, void *weighing)
{
	const struct weighing *w = weighing;
	uint32_t n = *(const uint32_t *)x, m = *(const uint32_t *)y;
	int64_t v = tree_weight(w->src, w->a, n), u = tree_weight(w->src, w->a, m);

	if (v != u)
		return v < u ? 1 : -1;
	return n < m ? -1 : 1;
}

/* Puts the children of node that weigh anything into scratch, the heaviest first. */
static void list_children(struct flame_layout *l, struct analysis *a, uint32_t node)
{
	struct weighing w = { .src = l->src, .a = a };

	vec_clear(&l->scratch);
	for (uint32_t c = l->src->first(a, node); c != TREE_NONE; c = l->src->next(a, c))
		if (tree_weight(l->src, a, c) > 0)
			vec_push(&l->scratch, c);
	/* Those of comparisons come by what changed; what is narrow has to stand behind what is wide. */
	if (((l->src->by_self && node != TREE_NONE) || a->diff) && l->scratch.n > 1)
		qsort_r(l->scratch.at, l->scratch.n, sizeof(*l->scratch.at), heavier, &w);
}

/* One cell for the children from number `from` on. */
static void push_merged(struct flame_layout *l, struct analysis *a, struct flame_cell like,
			size_t from)
{
	like.first = l->scratch.at[from];
	like.n_before = (uint32_t)from;
	like.n_merged = (uint32_t)(l->scratch.n - from);
	like.weight = 0;
	for (size_t i = from; i < l->scratch.n; i++)
		like.weight += tree_weight(l->src, a, l->scratch.at[i]);
	if (edge(l, like.offset) < edge(l, like.offset + like.weight))
		push_cell(l, like);
}

/* Must a cell at offset look other than the one to its left, because it touches it? */
static bool differs_from_left(const struct flame_layout *l, uint32_t first, int64_t offset)
{
	const struct flame_cell *left;

	if (l->cells.n == first)
		return false;
	left = &l->cells.at[l->cells.n - 1];
	return left->end == edge(l, offset) && !left->odd;
}

/*
 * Cells for the children of a node but for the first n_skip, from offset on; parent is the cell of
 * the node.
 */
static void push_children(struct flame_layout *l, struct analysis *a, uint32_t node, size_t n_skip,
			  uint32_t parent, int64_t offset)
{
	struct flame_cell c = { .node = node, .parent = parent, .offset = offset };
	uint32_t first = l->levels.at[l->levels.n - 1];
	int64_t all = 0;
	int end, n_parts = 0;

	c.level = (uint32_t)l->levels.n - 1;
	list_children(l, a, node);
	for (size_t i = n_skip; i < l->scratch.n; i++)
		all += tree_weight(l->src, a, l->scratch.at[i]);
	end = edge(l, offset + all);
	for (size_t i = n_skip; i < l->scratch.n; i++) {
		uint32_t n = l->scratch.at[i];
		int cols;

		c.odd = differs_from_left(l, first, c.offset);
		c.weight = tree_weight(l->src, a, n);
		cols = edge(l, c.offset + c.weight) - edge(l, c.offset);
		if (cols < NARROW_COLS && i + 1 < l->scratch.n &&
		    (end - edge(l, c.offset) <= MERGED_COLS || n_parts >= l->cols / PARTS_SHARE)) {
			push_merged(l, a, c, i);
			return;
		}
		if (cols > 0) {
			struct flame_cell own = c;

			own.first = own.node = n;
			push_cell(l, own);
			n_parts += (__int128)c.weight * l->cols < l->whole;
		}
		c.offset += c.weight;
	}
}

/* A level of one cell folds the run of single calls that begins there. */
static void fold_single(struct flame_layout *l, struct analysis *a)
{
	uint32_t first = l->levels.at[l->levels.n - 1];
	struct flame_cell *c = &l->cells.at[first];

	if (l->cells.n - first == 1 && c->n_merged == 0 && c->node != TREE_NONE)
		c->node = tree_chain_end(l->src, a, c->node);
}

static bool add_level(struct flame_layout *l, struct analysis *a)
{
	uint32_t first, end;

	flame_layout_level(l, (uint32_t)l->levels.n - 1, &first, &end);
	start_level(l);
	for (uint32_t i = first; i < end; i++) {
		struct flame_cell c = l->cells.at[i];

		if (c.n_merged == 0)
			push_children(l, a, c.node, 0, i, c.offset);
	}
	if (l->cells.n == end) {
		l->levels.n--;
		return false;
	}
	fold_single(l, a);
	return true;
}

/* Weight of node's children but for the first n_skip. */
static int64_t rest_of(struct flame_layout *l, struct analysis *a, uint32_t node, size_t n_skip)
{
	int64_t sum = 0;

	list_children(l, a, node);
	for (size_t i = n_skip; i < l->scratch.n; i++)
		sum += tree_weight(l->src, a, l->scratch.at[i]);
	return sum;
}

/* Is y what a chain that comes from x goes on with? */
static bool continues(struct flame_layout *l, struct analysis *a, uint32_t x, uint32_t y)
{
	uint32_t end = tree_chain_end(l->src, a, x);

	return end != x && l->src->parent(a, y) == x;
}

/*
 * Full-width cells for what is above node, and node's own. Not many more than n_context: the
 * outermost nodes share one.
 */
static void push_context(struct flame_layout *l, struct analysis *a, uint32_t node,
			 uint32_t n_context)
{
	struct flame_cell c = { .parent = FLAME_NONE, .weight = l->whole };
	uint32_t first, n;

	vec_clear(&l->scratch);
	for (uint32_t up = node; up != TREE_NONE; up = l->src->parent(a, up))
		vec_push(&l->scratch, up);
	n = (uint32_t)l->scratch.n;
	while (n > 0) {
		first = c.node = l->scratch.at[--n];
		while (n > 0 && continues(l, a, c.node, l->scratch.at[n - 1]))
			c.node = l->scratch.at[--n];
		while (n > n_context && l->levels.n == 0)
			c.node = l->scratch.at[--n];
		c.first = first;
		c.level = (uint32_t)l->levels.n;
		start_level(l);
		c.parent = push_cell(l, c);
	}
}

/* Is there but one root, so that it stands for everything? */
static uint32_t only_root(struct flame_layout *l, struct analysis *a)
{
	uint32_t root = l->src->first(a, TREE_NONE);

	if (root == TREE_NONE || l->src->next(a, root) != TREE_NONE)
		return TREE_NONE;
	return root;
}

void flame_layout_done(struct flame_layout *l)
{
	vec_done(&l->cells);
	vec_done(&l->levels);
	vec_done(&l->scratch);
}

void flame_layout_init(struct flame_layout *l, const struct tree_source *src, struct analysis *a,
		       struct flame_focus focus, uint32_t n_context, int cols)
{
	uint32_t node = focus.node;

	l->src = src;
	l->cols = cols;
	l->cells.n = l->levels.n = 0;
	l->complete = false;
	if (node == TREE_NONE && focus.n_skip == 0)
		node = only_root(l, a);
	if (focus.n_skip > 0)
		l->whole = rest_of(l, a, node, focus.n_skip);
	else
		l->whole = node == TREE_NONE ? a->weights.total[0] : tree_weight(src, a, node);
	if (node == TREE_NONE) {
		struct flame_cell all = { .first = TREE_NONE, .node = TREE_NONE };

		all.parent = FLAME_NONE;
		all.weight = l->whole;
		start_level(l);
		push_cell(l, all);
	} else {
		push_context(l, a, node, n_context);
	}
	l->base = (uint32_t)l->cells.n - 1;
	if (focus.n_skip > 0) {
		start_level(l);
		push_children(l, a, node, focus.n_skip, l->base, 0);
		if (l->cells.n == l->base + 1)
			l->levels.n--;
	} else {
		fold_single(l, a);
	}
}

uint32_t flame_layout_need(struct flame_layout *l, struct analysis *a, uint32_t n)
{
	while (l->levels.n < n && l->levels.n < LEVELS_MOST && !l->complete)
		l->complete = !add_level(l, a);
	return (uint32_t)l->levels.n;
}

void flame_layout_level(const struct flame_layout *l, uint32_t level, uint32_t *first,
			uint32_t *end)
{
	*first = l->levels.at[level];
	*end = level + 1 < l->levels.n ? l->levels.at[level + 1] : (uint32_t)l->cells.n;
}

uint32_t flame_layout_child(const struct flame_layout *l, uint32_t cell)
{
	uint32_t level = l->cells.at[cell].level + 1, first, end;

	if (level >= l->levels.n)
		return FLAME_NONE;
	flame_layout_level(l, level, &first, &end);
	for (uint32_t i = first; i < end; i++)
		if (l->cells.at[i].parent == cell)
			return i;
	return FLAME_NONE;
}

/* How far down the path (above: [n], the innermost first) the chain of a cell reaches. */
static size_t pass_chain(const struct flame_layout *l, uint32_t cell, const uint32_t *above,
			 size_t n)
{
	uint32_t last = l->cells.at[cell].node;

	while (n > 0 && above[n - 1] != last)
		n--;
	return n > 0 ? n - 1 : 0;
}

/* The child cell that begins with node, else the one that has merged it, else FLAME_NONE. */
static uint32_t child_with(const struct flame_layout *l, uint32_t cell, uint32_t node)
{
	uint32_t i = flame_layout_child(l, cell), merged = FLAME_NONE;

	for (; i != FLAME_NONE && i < l->cells.n && l->cells.at[i].parent == cell; i++) {
		if (l->cells.at[i].n_merged > 0)
			merged = i;
		else if (l->cells.at[i].first == node)
			return i;
	}
	return merged;
}

uint32_t flame_layout_find(struct flame_layout *l, struct analysis *a, uint32_t node, bool *exact)
{
	VEC(uint32_t) above = { 0 };
	uint32_t cell = 0;
	size_t n;

	*exact = false;
	if (l->cells.n == 0)
		return FLAME_NONE;
	for (uint32_t up = node; up != TREE_NONE; up = l->src->parent(a, up))
		vec_push(&above, up);
	n = above.n;
	if (l->cells.at[0].node != TREE_NONE && n > 0) {
		bool inside = above.at[n - 1] == l->cells.at[0].first;

		n = inside ? pass_chain(l, 0, above.at, n) : 0;
		*exact = inside && n == 0;
	}
	while (n > 0) {
		uint32_t child;

		flame_layout_need(l, a, l->cells.at[cell].level + 2);
		child = child_with(l, cell, above.at[n - 1]);
		if (child == FLAME_NONE)
			break;
		cell = child;
		if (l->cells.at[cell].n_merged > 0)
			break;
		n = pass_chain(l, cell, above.at, n);
		*exact = n == 0;
	}
	vec_done(&above);
	return cell;
}
