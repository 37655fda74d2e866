/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call tree and the inverted tree as views want them; see tree_source.h. */
#include "config.h"

#include "tui/rows/tree_source.h"

#include <math.h>
#include <string.h>

#include "query/analysis.h"
#include "query/diff/diff.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"

/* Nodes that one row may stand for; what is longer goes on in the next row. */
#define CHAIN_MOST 250

static const int64_t *calls_total(struct analysis *a, uint32_t node)
{
	return a->tree->total + (size_t)node * a->tree->n_columns;
}

/* Nodes that only ratios count are not there: the first of node and those beside it that is. */
static uint32_t calls_shown(struct analysis *a, uint32_t node)
{
	while (node != KEY_NONE && !lens_shows(&a->lens, calls_total(a, node)))
		node = calltree_next(a->tree, node);
	return node;
}

static uint32_t calls_first(struct analysis *a, uint32_t node)
{
	uint32_t up = node == TREE_NONE ? 0 : node;

	return a->diff ? a->diff->first[up] : calls_shown(a, calltree_first(a->tree, up));
}

static uint32_t calls_next(struct analysis *a, uint32_t node)
{
	return a->diff ? a->diff->next[node] : calls_shown(a, calltree_next(a->tree, node));
}

static bool calls_inner(struct analysis *a, uint32_t node)
{
	return calls_shown(a, calltree_first(a->tree, node)) != KEY_NONE;
}

static uint32_t calls_only(struct analysis *a, uint32_t node)
{
	uint32_t child = calls_shown(a, calltree_first(a->tree, node));

	return child != KEY_NONE && calls_shown(a, calltree_next(a->tree, child)) == KEY_NONE
		       ? child
		       : TREE_NONE;
}

static uint32_t calls_parent(struct analysis *a, uint32_t node)
{
	uint32_t parent = a->tree->parent[node];

	return parent == 0 ? TREE_NONE : parent;
}

static uint32_t calls_key(struct analysis *a, uint32_t node)
{
	return a->tree->key[node];
}

static uint64_t calls_path(struct analysis *a, uint32_t node)
{
	return a->tree->path[node];
}

static bool calls_inlined(struct analysis *a, uint32_t node)
{
	return a->tree->inlined[node];
}

static const int64_t *calls_self(struct analysis *a, uint32_t node)
{
	return a->tree->self + (size_t)node * a->tree->n_columns;
}

static void calls_range(struct analysis *a, uint32_t top, uint32_t *first, uint32_t *end)
{
	*first = top == TREE_NONE ? 1 : top;
	*end = top == TREE_NONE ? a->tree->n_nodes : a->tree->end[top];
}

static uint32_t calls_of_key(struct analysis *a, uint32_t key, uint32_t i)
{
	const struct calltree *t = a->tree;

	return i < t->first_of[key + 1] - t->first_of[key] ? t->of_key[t->first_of[key] + i]
							   : TREE_NONE;
}

static const struct inverted_node *caller(struct analysis *a, uint32_t node)
{
	return inverted_node(analysis_inverted(a), node);
}

static uint32_t caller_beside(struct inverted *v, uint32_t node)
{
	const struct inverted_node *n = inverted_node(v, node), *up;

	if (n->parent == KEY_NONE)
		return node + 1 < inverted_n_roots(v) ? node + 1 : TREE_NONE;
	up = inverted_node(v, n->parent);
	return node + 1 - up->first_child < up->n_children ? node + 1 : TREE_NONE;
}

/* Likewise. */
static uint32_t callers_shown(struct analysis *a, uint32_t node)
{
	struct inverted *v = analysis_inverted(a);

	while (node != TREE_NONE && !lens_shows(&a->lens, inverted_self(v, node)))
		node = caller_beside(v, node);
	return node;
}

static uint32_t callers_first(struct analysis *a, uint32_t node)
{
	struct inverted *v = analysis_inverted(a);
	const struct inverted_node *n;

	if (node == TREE_NONE)
		return callers_shown(a, inverted_n_roots(v) > 0 ? 0 : TREE_NONE);
	inverted_expand(v, node);
	n = inverted_node(v, node);
	return callers_shown(a, n->n_children > 0 ? n->first_child : TREE_NONE);
}

static uint32_t callers_next(struct analysis *a, uint32_t node)
{
	return callers_shown(a, caller_beside(analysis_inverted(a), node));
}

static bool callers_inner(struct analysis *a, uint32_t node)
{
	return inverted_has_callers(analysis_inverted(a), node);
}

static uint32_t callers_only(struct analysis *a, uint32_t node)
{
	uint32_t caller = inverted_only_caller(analysis_inverted(a), node);

	return caller != KEY_NONE ? caller : TREE_NONE;
}

static uint32_t callers_parent(struct analysis *a, uint32_t node)
{
	uint32_t parent = caller(a, node)->parent;

	return parent == KEY_NONE ? TREE_NONE : parent;
}

static uint32_t callers_key(struct analysis *a, uint32_t node)
{
	return caller(a, node)->key;
}

static uint64_t callers_path(struct analysis *a, uint32_t node)
{
	return caller(a, node)->path;
}

static bool callers_inlined(struct analysis *a, uint32_t node)
{
	return caller(a, node)->inlined;
}

static void callers_range(struct analysis *a, uint32_t top, uint32_t *first, uint32_t *end)
{
	(void)top;
	*first = 0;
	*end = inverted_n_roots(analysis_inverted(a));
}

static uint32_t callers_of_key(struct analysis *a, uint32_t key, uint32_t i)
{
	uint32_t root = i == 0 ? inverted_root(analysis_inverted(a), key) : KEY_NONE;

	return root != KEY_NONE ? root : TREE_NONE;
}

static const int64_t *callers_self(struct analysis *a, uint32_t node)
{
	return inverted_self(analysis_inverted(a), node);
}

static const int64_t *callers_total(struct analysis *a, uint32_t node)
{
	return inverted_total(analysis_inverted(a), node);
}

static bool is_comm(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	return (tree_key(src, a, node)->flags & FUNCTION_COMM) != 0;
}

static bool weighs_same(const struct tree_source *src, struct analysis *a, uint32_t x, uint32_t y)
{
	size_t bytes = lens_n_shown(&a->lens) * sizeof(int64_t);

	if (src->by_self && memcmp(src->self(a, x), src->self(a, y), bytes) != 0)
		return false;
	return memcmp(src->total(a, x), src->total(a, y), bytes) == 0;
}

uint32_t tree_chain_end(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	if (src->by_self && src->parent(a, node) == TREE_NONE)
		return node;
	for (int n = 1; n < CHAIN_MOST && !is_comm(src, a, node); n++) {
		uint32_t child = src->only(a, node);

		if (child == TREE_NONE || is_comm(src, a, child) ||
		    !weighs_same(src, a, node, child))
			break;
		node = child;
	}
	return node;
}

uint32_t tree_child(const struct tree_source *src, struct analysis *a, uint32_t node,
		    uint32_t key_id)
{
	uint32_t child = src->first(a, node);

	while (child != TREE_NONE && tree_key(src, a, child)->id != key_id)
		child = src->next(a, child);
	return child;
}

void tree_each_match(const struct tree_source *src, const struct scene *s,
		     void (*fn)(void *arg, uint32_t node), void *arg)
{
	struct analysis *a = s->analysis;

	for (uint32_t k = 0; s->search && k < s->search->n_keys; k++) {
		uint32_t node;

		if (!s->search->matches[k])
			continue;
		for (uint32_t i = 0; (node = src->of_key(a, k, i)) != TREE_NONE; i++)
			if (lens_shows(&a->lens,
				       src->by_self ? src->self(a, node) : src->total(a, node)))
				fn(arg, node);
	}
}

/* A search below a node. */
struct within {
	uint32_t first, end;
	struct match_cursor *finding;
};

static void add_within(void *arg, uint32_t node)
{
	const struct within *w = arg;

	if (node >= w->first && node < w->end)
		match_cursor_add(w->finding, node);
}

void tree_find(const struct tree_source *src, const struct scene *s, uint32_t top,
	       struct match_cursor *f)
{
	struct within w = { .finding = f };

	src->range(s->analysis, top, &w.first, &w.end);
	tree_each_match(src, s, add_within, &w);
}

const struct key *tree_key(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	return &a->keys.key[src->key(a, node)];
}

int64_t tree_weight(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	return src->by_self ? src->self(a, node)[0] : src->total(a, node)[0];
}

int64_t tree_heat(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	struct noise_delta delta;

	if (!a->diff)
		return tree_weight(src, a, node);
	diff_delta(a->diff, src->key(a, node), src->by_self ? PART_SELF : PART_TOTAL,
		   src->by_self ? src->self(a, node) : src->total(a, node), &delta);
	return llround(fabs(diff_change(&delta)) * (double)a->weights.scale[0]);
}

const struct tree_source tree_of_calls = {
	.title = "CALL TREE",
	.first = calls_first,
	.next = calls_next,
	.parent = calls_parent,
	.inner = calls_inner,
	.only = calls_only,
	.key = calls_key,
	.path = calls_path,
	.inlined = calls_inlined,
	.range = calls_range,
	.of_key = calls_of_key,
	.self = calls_self,
	.total = calls_total,
};

const struct tree_source tree_of_callers = {
	.title = "CALLED BY",
	.by_self = true,
	.first = callers_first,
	.next = callers_next,
	.parent = callers_parent,
	.inner = callers_inner,
	.only = callers_only,
	.key = callers_key,
	.path = callers_path,
	.inlined = callers_inlined,
	.range = callers_range,
	.of_key = callers_of_key,
	.self = callers_self,
	.total = callers_total,
};
