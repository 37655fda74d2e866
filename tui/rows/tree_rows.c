/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flat array of visible rows of a tree; see tree_rows.h. */
#include "config.h"

#include "tui/rows/tree_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/ratio.h"

/* Values of the map `open`. */
#define IS_OPEN     1u
#define IS_UNFOLDED 2u

/* More light ones than this beside heavier ones are gathered. */
#define LIGHT_MOST 10u

/* Children of a node weigh next to nothing below one in LIGHT_PART of everything. */
#define LIGHT_PART 2000

/* Of gathered children, as many are shown at once. */
#define MORE_AT_ONCE 1000u

/* Where all parents have next to nothing, some children are shown nevertheless. */
#define CHILDREN_LEAST 20u

typedef VEC(struct tree_row) row_vec;
typedef VEC(uint32_t) node_vec;

/* One making of rows: what is still to be written, last first, and how. */
struct making {
	struct tree_rows *t;
	struct analysis *a;
	row_vec todo;
	row_vec out;
	node_vec children; /* of the node at hand; kept to be used again */
	bool all;          /* open everything */
	size_t most;       /* rows that may be made when all */
	bool cut;          /* most was reached */
};

static uint64_t path_of(const struct tree_rows *t, struct analysis *a, uint32_t node)
{
	return node == TREE_NONE ? 1 : t->src->path(a, node);
}

static uint32_t flags_of(const struct tree_rows *t, struct analysis *a, uint32_t node)
{
	return t->open.n > 0 ? path_map_get(&t->open, t->src->path(a, node)) : 0;
}

static uint32_t row_end(const struct tree_rows *t, struct analysis *a, uint32_t node)
{
	if (flags_of(t, a, node) & IS_UNFOLDED)
		return node;
	return tree_chain_end(t->src, a, node);
}

/* Every node of an open chain is, so that what is below stays in sight where more calls part the chain. */
static void mark_open(struct tree_rows *t, struct analysis *a, uint32_t first, uint32_t last)
{
	for (uint32_t n = last;; n = t->src->parent(a, n)) {
		path_map_put(&t->open, t->src->path(a, n), flags_of(t, a, n) | IS_OPEN);
		if (n == first)
			return;
	}
}

/* qsort_r's third argument. */
struct ordering {
	const struct tree_rows *t;
	const struct tree_source *src;
	struct analysis *a;
	enum tree_order order;
	bool reverse;
};

/* By the last nodes of their rows, whose numbers are shown. */
static int compare_ratios(const struct ordering *o, uint32_t n, uint32_t m)
{
	const struct ratio *r = &o->a->lens.ratios->at[o->t->ratio];
	const int64_t *x = o->src->total(o->a, row_end(o->t, o->a, n));

	return ratio_compare(r, x, o->src->total(o->a, row_end(o->t, o->a, m)), &o->a->weights,
			     o->reverse);
}

static int compare_nodes(const void *x, const void *y, void *ordering)
{
	const struct ordering *o = ordering;
	uint32_t n = *(const uint32_t *)x, m = *(const uint32_t *)y;
	int64_t v = 0, w = 0;
	int c = 0;

	switch (o->order) {
	case TREE_BY_TOTAL:
		v = o->src->total(o->a, n)[0];
		w = o->src->total(o->a, m)[0];
		break;
	case TREE_BY_SELF:
		v = o->src->self(o->a, n)[0];
		w = o->src->self(o->a, m)[0];
		break;
	case TREE_BY_RATIO:
		c = compare_ratios(o, n, m);
		return c != 0 ? c : n < m ? -1 : 1;
	case TREE_BY_NAME:
		c = strcmp(tree_key(o->src, o->a, n)->label, tree_key(o->src, o->a, m)->label);
		break;
	}
	if (c == 0)
		c = v < w ? 1 : v > w ? -1 : 0;
	if (o->reverse)
		c = -c;
	return c != 0 ? c : n < m ? -1 : 1;
}

/* Are children of parent handed out in the order wanted already? */
static bool in_order(const struct tree_rows *t, uint32_t parent)
{
	if (t->src->by_self && parent == TREE_NONE)
		return t->order == TREE_BY_SELF;
	return t->order == TREE_BY_TOTAL;
}

static void sort_nodes(const struct making *m, uint32_t *node, size_t n, enum tree_order order,
		       bool reverse)
{
	struct ordering o = {
		.t = m->t, .src = m->t->src, .a = m->a, .order = order, .reverse = reverse
	};

	if (n > 1)
		qsort_r(node, n, sizeof(*node), compare_nodes, &o);
}

/* How many of the children, heaviest first, are rows of their own: a few light ones, not many. */
static uint32_t n_to_show(const struct making *m, uint32_t parent, const uint32_t *child, size_t n)
{
	int64_t light = m->a->weights.total[0] / LIGHT_PART;
	uint32_t asked = path_map_get(&m->t->shown, path_of(m->t, m->a, parent));
	size_t heavy = n, show = n;

	while (heavy > 0 && tree_weight(m->t->src, m->a, child[heavy - 1]) <= light)
		heavy--;
	if (heavy > 0 && n - heavy > LIGHT_MOST)
		show = heavy;
	else if (n > TREE_CHILDREN_MOST)
		show = heavy > CHILDREN_LEAST ? heavy : CHILDREN_LEAST;
	if (show < asked)
		show = asked;
	return (uint32_t)(show < n ? show : n);
}

/* Puts the children of node on the list of what is to be written, the last one first. */
static void put_children(struct making *m, uint32_t node, uint32_t indent)
{
	const struct tree_source *src = m->t->src;
	struct tree_row more = { .node = node, .indent = indent };
	size_t n, show;

	vec_clear(&m->children);
	for (uint32_t c = src->first(m->a, node); c != TREE_NONE; c = src->next(m->a, c))
		vec_push(&m->children, c);
	n = m->children.n;
	if (!in_order(m->t, node) && m->t->order <= TREE_BY_SELF)
		sort_nodes(m, m->children.at, n, m->t->order, false);
	show = n_to_show(m, node, m->children.at, n);
	if (m->t->order > TREE_BY_SELF || m->t->reverse)
		sort_nodes(m, m->children.at, show, m->t->order, m->t->reverse);
	more.n_more = (uint32_t)(n - show);
	for (size_t i = show; i < n; i++)
		more.more += tree_weight(src, m->a, m->children.at[i]);
	if (more.n_more > 0)
		vec_push(&m->todo, more);
	while (show-- > 0) {
		struct tree_row row = { .node = m->children.at[show], .indent = indent };

		vec_push(&m->todo, row);
	}
}

/* Is the row to be written open? If all are to be, it is made so while there is room. */
static bool opens(struct making *m, uint32_t node)
{
	uint32_t flags = flags_of(m->t, m->a, node), end;

	if (!m->all || m->cut)
		return flags & IS_OPEN;
	end = row_end(m->t, m->a, node);
	if (!m->t->src->inner(m->a, end))
		return false;
	if (m->out.n + m->todo.n >= m->most) {
		m->cut = true;
		return flags & IS_OPEN;
	}
	mark_open(m->t, m->a, node, end);
	return true;
}

/* Writes what is to be written, and what is open below it. */
static void make(struct making *m)
{
	while (m->todo.n > 0) {
		struct tree_row row = m->todo.at[--m->todo.n];

		vec_push(&m->out, row);
		if (row.n_more == 0 && opens(m, row.node))
			put_children(m, row_end(m->t, m->a, row.node), row.indent + 1);
	}
}

static void making_done(struct making *m)
{
	vec_done(&m->todo);
	vec_done(&m->out);
	vec_done(&m->children);
}

/* One past the last row below `row`. */
static size_t end_of(const struct tree_rows *t, size_t row)
{
	size_t i = row + 1;

	while (i < t->n && t->at[i].indent > t->at[row].indent)
		i++;
	return i;
}

/* Finds the rows above those from `from` on. */
static void find_parents(struct tree_rows *t, size_t from)
{
	for (size_t i = from; i < t->n; i++) {
		uint32_t up = i > 0 ? (uint32_t)i - 1 : TREE_NONE;

		while (up != TREE_NONE && t->at[up].indent >= t->at[i].indent)
			up = t->at[up].up;
		t->at[i].up = up;
	}
}

/* Replaces rows [from, to) by those that were made. */
static void splice(struct tree_rows *t, size_t from, size_t to, const row_vec *made)
{
	vec_reserve(t, t->n + made->n);
	if (t->n > to)
		memmove(t->at + from + made->n, t->at + to, (t->n - to) * sizeof(*t->at));
	if (made->n > 0)
		memcpy(t->at + from, made->at, made->n * sizeof(*t->at));
	t->n = t->n - (to - from) + made->n;
	find_parents(t, from);
}

/* Makes a row and all below it anew. False when there was no room for all. */
static bool remake(struct tree_rows *t, struct analysis *a, size_t row, bool all)
{
	struct making m = { .t = t, .a = a, .all = all };
	size_t end = end_of(t, row), others = t->n - (end - row);

	m.most = others < TREE_ROWS_MOST ? TREE_ROWS_MOST - others : 0;
	vec_push(&m.todo, t->at[row]);
	make(&m);
	splice(t, row, end, &m.out);
	making_done(&m);
	return !m.cut;
}

void tree_rows_init(struct tree_rows *t, const struct tree_source *src)
{
	*t = (struct tree_rows){ .src = src, .top = TREE_NONE };
	t->order = src->by_self ? TREE_BY_SELF : TREE_BY_TOTAL;
}

void tree_rows_done(struct tree_rows *t)
{
	vec_done(t);
	path_map_done(&t->open);
	path_map_done(&t->shown);
}

void tree_rows_build(struct tree_rows *t, struct analysis *a)
{
	struct making m = { .t = t, .a = a };
	struct tree_row top = { .node = t->top };

	if (t->top == TREE_NONE)
		put_children(&m, TREE_NONE, 0);
	else
		vec_push(&m.todo, top);
	make(&m);
	splice(t, 0, t->n, &m.out);
	making_done(&m);
}

uint32_t tree_rows_last(const struct tree_rows *t, struct analysis *a, size_t row)
{
	assert(row < t->n && t->at[row].n_more == 0);
	return row_end(t, a, t->at[row].node);
}

bool tree_rows_is_open(const struct tree_rows *t, struct analysis *a, size_t row)
{
	const struct tree_row *r = &t->at[row];

	return r->n_more == 0 && (flags_of(t, a, r->node) & IS_OPEN) &&
	       t->src->inner(a, row_end(t, a, r->node));
}

bool tree_rows_has_more(const struct tree_rows *t, struct analysis *a, size_t row)
{
	const struct tree_row *r = &t->at[row];

	return r->n_more > 0 || t->src->inner(a, tree_rows_last(t, a, row));
}

/* Shows more of the children that are gathered in a row. */
static void show_more(struct tree_rows *t, struct analysis *a, size_t row)
{
	uint32_t parent = t->at[row].node, shown = 0;
	size_t up = tree_rows_parent(t, row);

	for (size_t i = up == SIZE_MAX ? 0 : up + 1; i < row; i++)
		shown += t->at[i].indent == t->at[row].indent;
	path_map_put(&t->shown, path_of(t, a, parent), shown + MORE_AT_ONCE);
	if (up == SIZE_MAX)
		tree_rows_build(t, a);
	else
		remake(t, a, up, false);
}

/* Gives every node of the row's chain a row of its own. */
static void unfold(struct tree_rows *t, struct analysis *a, uint32_t first, uint32_t last)
{
	for (uint32_t n = last;; n = t->src->parent(a, n)) {
		path_map_put(&t->open, t->src->path(a, n), IS_OPEN | IS_UNFOLDED);
		if (n == first)
			return;
	}
}

bool tree_rows_open(struct tree_rows *t, struct analysis *a, size_t row)
{
	uint32_t node, last;

	if (row >= t->n || !tree_rows_has_more(t, a, row))
		return false;
	if (t->at[row].n_more > 0) {
		show_more(t, a, row);
		return true;
	}
	node = t->at[row].node;
	last = tree_rows_last(t, a, row);
	if (!(flags_of(t, a, node) & IS_OPEN))
		mark_open(t, a, node, last);
	else if (node == last)
		return false;
	else
		unfold(t, a, node, last);
	remake(t, a, row, false);
	return true;
}

bool tree_rows_close(struct tree_rows *t, struct analysis *a, size_t row)
{
	uint32_t node, last;

	if (row >= t->n || !tree_rows_is_open(t, a, row))
		return false;
	node = t->at[row].node;
	last = tree_chain_end(t->src, a, node);
	for (uint32_t n = last;; n = t->src->parent(a, n)) {
		path_map_put(&t->open, t->src->path(a, n), 0);
		if (n == node)
			break;
	}
	remake(t, a, row, false);
	return true;
}

bool tree_rows_open_all(struct tree_rows *t, struct analysis *a, size_t row)
{
	return row >= t->n || t->at[row].n_more > 0 || remake(t, a, row, true);
}

/* The row of the heaviest child of an open row, or SIZE_MAX. */
static size_t heaviest_child(const struct tree_rows *t, struct analysis *a, size_t row)
{
	size_t best = SIZE_MAX, end = end_of(t, row);
	int64_t most = 0;

	for (size_t i = row + 1; i < end; i++) {
		int64_t weight;

		if (t->at[i].indent != t->at[row].indent + 1 || t->at[i].n_more > 0)
			continue;
		weight = tree_heat(t->src, a, t->at[i].node);
		if (best != SIZE_MAX && weight <= most)
			continue;
		best = i;
		most = weight;
	}
	return best;
}

/*
 * Does the path split at the row: has its heaviest child, of that weight, less than half of it, or less than twice what the
 * next one has? What is in no child is one, too; of changes, which do not add up, it is not known.
 */
static bool path_splits(const struct tree_rows *t, struct analysis *a, size_t row, int64_t most)
{
	uint32_t last = tree_chain_end(t->src, a, t->at[row].node);
	int64_t rest = tree_heat(t->src, a, last), next = 0;
	bool seen = false;

	if (most < rest / 2)
		return true;
	for (uint32_t n = t->src->first(a, last); n != TREE_NONE; n = t->src->next(a, n)) {
		int64_t heat = tree_heat(t->src, a, n);

		rest -= heat;
		if (heat == most && !seen)
			seen = true;
		else if (heat > next)
			next = heat;
	}
	if (!a->diff && rest > next)
		next = rest;
	return most / 2 < next;
}

size_t tree_rows_open_hot(struct tree_rows *t, struct analysis *a, size_t row, int64_t least)
{
	size_t from = row;

	while (row < t->n && t->at[row].n_more == 0) {
		bool was_open = tree_rows_is_open(t, a, row);
		int64_t most;
		size_t child;

		if (row != from && tree_heat(t->src, a, t->at[row].node) < least)
			return row;
		if (!was_open && !tree_rows_open(t, a, row))
			return row;
		child = heaviest_child(t, a, row);
		most = child == SIZE_MAX ? 0 : tree_heat(t->src, a, t->at[child].node);
		if (child == SIZE_MAX || most < least)
			return row;
		/* Where the path splits is what there is to see; who saw it already wants to go on. */
		if ((row != from || !was_open) && path_splits(t, a, row, most))
			return row;
		row = child;
	}
	return row;
}

/* The row of a sibling group (rows of one indent from `row` on) that starts with node. */
static size_t row_among(const struct tree_rows *t, size_t row, uint32_t node)
{
	uint32_t indent = row < t->n ? t->at[row].indent : 0;

	for (; row < t->n && t->at[row].indent >= indent; row++)
		if (t->at[row].indent == indent && t->at[row].n_more == 0 &&
		    t->at[row].node == node)
			return row;
	return SIZE_MAX;
}

/* Makes sure that a child of parent is a row of its own; the parent's row, or SIZE_MAX, is up. */
static void show_child(struct tree_rows *t, struct analysis *a, size_t up, uint32_t parent)
{
	uint32_t n = 0;

	for (uint32_t c = t->src->first(a, parent); c != TREE_NONE; c = t->src->next(a, c))
		n++;
	path_map_put(&t->shown, path_of(t, a, parent), n);
	if (up == SIZE_MAX)
		tree_rows_build(t, a);
	else
		remake(t, a, up, false);
}

/* The row of the chain that holds the start of `above` (which is [n], outermost first). */
static size_t descend(struct tree_rows *t, struct analysis *a, const uint32_t *above, size_t n)
{
	size_t i = 0, row = 0, up = SIZE_MAX;

	for (;;) {
		size_t found = row_among(t, row, above[i]);

		if (found == SIZE_MAX) {
			show_child(t, a, up, up == SIZE_MAX ? TREE_NONE : above[i - 1]);
			found = row_among(t, row, above[i]);
		}
		if (found == SIZE_MAX)
			return SIZE_MAX;
		for (uint32_t last = tree_rows_last(t, a, found); above[i] != last; i++)
			if (i + 1 == n)
				return found;
		if (++i == n)
			return found;
		if (!tree_rows_is_open(t, a, found))
			tree_rows_open(t, a, found);
		up = found;
		row = found + 1;
	}
}

size_t tree_rows_reveal(struct tree_rows *t, struct analysis *a, uint32_t node)
{
	node_vec above = { .n = 0 };
	size_t row = SIZE_MAX;

	while (node != TREE_NONE) {
		vec_push(&above, node);
		if (node == t->top)
			break;
		node = t->src->parent(a, node);
	}
	mem_reverse(above.at, above.n, sizeof(*above.at));
	if (above.n > 0 && (t->top == TREE_NONE || above.at[0] == t->top))
		row = descend(t, a, above.at, above.n);
	vec_done(&above);
	return row;
}

size_t tree_rows_parent(const struct tree_rows *t, size_t row)
{
	return t->at[row].up == TREE_NONE ? SIZE_MAX : t->at[row].up;
}
