/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call tree and the inverted tree as views want them; see tree_source.h. */
#include "config.h"

#include "tree_source.h"

#include <string.h>

#include "analysis.h"
#include "finding.h"
#include "view.h"

/* Nodes that one row may stand for; what is longer goes on in the next row. */
#define CHAIN_MOST 250

static uint32_t calls_first(struct analysis *a, uint32_t node)
{
	return calltree_first(a->tree, node == TREE_NONE ? 0 : node);
}

static uint32_t calls_next(struct analysis *a, uint32_t node)
{
	return calltree_next(a->tree, node);
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

static const int64_t *calls_total(struct analysis *a, uint32_t node)
{
	return a->tree->total + (size_t)node * a->tree->n_columns;
}

static const uint32_t *calls_range(struct analysis *a, uint32_t top, uint32_t *first, uint32_t *end)
{
	*first = top == TREE_NONE ? 1 : top;
	*end = top == TREE_NONE ? a->tree->n_nodes : a->tree->end[top];
	return a->tree->key;
}

static const struct inverted_node *caller(struct analysis *a, uint32_t node)
{
	return inverted_node(analysis_inverted(a), node);
}

static uint32_t callers_first(struct analysis *a, uint32_t node)
{
	struct inverted *v = analysis_inverted(a);
	const struct inverted_node *n;

	if (node == TREE_NONE)
		return inverted_n_roots(v) > 0 ? 0 : TREE_NONE;
	inverted_expand(v, node);
	n = inverted_node(v, node);
	return n->n_children > 0 ? n->first_child : TREE_NONE;
}

static uint32_t callers_next(struct analysis *a, uint32_t node)
{
	struct inverted *v = analysis_inverted(a);
	const struct inverted_node *n = inverted_node(v, node), *up;

	if (n->parent == KEY_NONE)
		return node + 1 < inverted_n_roots(v) ? node + 1 : TREE_NONE;
	up = inverted_node(v, n->parent);
	return node + 1 - up->first_child < up->n_children ? node + 1 : TREE_NONE;
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
	(void)a;
	(void)node;
	return false;
}

static const uint32_t *callers_range(struct analysis *a, uint32_t top, uint32_t *first,
				     uint32_t *end)
{
	(void)top;
	*first = 0;
	*end = inverted_n_roots(analysis_inverted(a));
	return NULL;
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
	size_t bytes = a->lens.n_columns * sizeof(int64_t);

	if (src->by_self && memcmp(src->self(a, x), src->self(a, y), bytes) != 0)
		return false;
	return memcmp(src->total(a, x), src->total(a, y), bytes) == 0;
}

uint32_t tree_chain_end(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	if (src->by_self && src->parent(a, node) == TREE_NONE)
		return node;
	for (int n = 1; n < CHAIN_MOST && !is_comm(src, a, node); n++) {
		uint32_t child = src->first(a, node);

		if (child == TREE_NONE || src->next(a, child) != TREE_NONE ||
		    is_comm(src, a, child) || !weighs_same(src, a, node, child))
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

void tree_find(const struct tree_source *src, const struct scene *s, uint32_t top,
	       struct finding *f)
{
	uint32_t node, end;
	const uint32_t *key = src->range(s->analysis, top, &node, &end);

	if (!s->search)
		return;
	for (; node < end; node++) {
		uint32_t k = key ? key[node] : src->key(s->analysis, node);

		if (k >= s->search->n_keys || !s->search->matches[k])
			continue;
		finding_add(f, node);
	}
}

const struct key *tree_key(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	return &a->keys.key[src->key(a, node)];
}

int64_t tree_weight(const struct tree_source *src, struct analysis *a, uint32_t node)
{
	return src->by_self ? src->self(a, node)[0] : src->total(a, node)[0];
}

const struct tree_source tree_of_calls = {
	.title = "CALL TREE",
	.first = calls_first,
	.next = calls_next,
	.parent = calls_parent,
	.key = calls_key,
	.path = calls_path,
	.inlined = calls_inlined,
	.range = calls_range,
	.self = calls_self,
	.total = calls_total,
};

const struct tree_source tree_of_callers = {
	.title = "CALLED BY",
	.by_self = true,
	.first = callers_first,
	.next = callers_next,
	.parent = callers_parent,
	.key = callers_key,
	.path = callers_path,
	.inlined = callers_inlined,
	.range = callers_range,
	.self = callers_self,
	.total = callers_total,
};
