/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/folded_tree.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "query/tree/calltree.h"

#include <stdlib.h>
#include <string.h>

/* A tree being folded. */
struct folding {
	struct folded_tree *to;
	const struct calltree *t;
	uint32_t *of_node;  /* [t->n_nodes] */
	bool *is_recursive; /* [t->n_keys] it is below itself somewhere */
	struct map children;
};

/* What tells a child from others. */
struct child {
	uint32_t parent, key;
};

static bool same_child(const void *tree, uint32_t node, const void *key)
{
	const struct folded_tree *f = tree;
	const struct child *c = key;

	return f->parent[node] == c->parent && f->key[node] == c->key;
}

/* The nearest node above of the same function with nothing but recursive ones between, or KEY_NONE. */
static uint32_t same_above(const struct folding *x, uint32_t node)
{
	const struct calltree *t = x->t;

	if (!x->is_recursive[t->key[node]])
		return KEY_NONE;
	for (uint32_t up = t->parent[node]; up != 0 && x->is_recursive[t->key[up]];
	     up = t->parent[up])
		if (t->key[up] == t->key[node])
			return up;
	return KEY_NONE;
}

static uint32_t child_of(struct folding *x, uint32_t parent, uint32_t key)
{
	struct folded_tree *f = x->to;
	const struct child child = { parent, key };
	uint64_t hash = hash_pair(parent, key);
	uint32_t node = map_find(&x->children, hash, same_child, f, &child);

	if (node != MAP_NONE)
		return node;
	node = f->n++;
	f->key[node] = key;
	f->parent[node] = parent;
	f->first[node] = KEY_NONE;
	f->next[node] = f->first[parent];
	f->first[parent] = node;
	map_add(&x->children, hash, node);
	return node;
}

static void add_self(struct folding *x, uint32_t node)
{
	struct folded_tree *f = x->to;
	size_t n = f->n_columns;

	for (size_t c = 0; c < n; c++)
		f->self[x->of_node[node] * n + c] += x->t->self[node * n + c];
}

static void fold(struct folding *x)
{
	const struct calltree *t = x->t;

	add_self(x, 0);
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t same = same_above(x, i);

		if (same != KEY_NONE) {
			x->of_node[i] = x->of_node[same];
			x->to->recursive[x->of_node[i]] = true;
		} else {
			x->of_node[i] = child_of(x, x->of_node[t->parent[i]], t->key[i]);
		}
		add_self(x, i);
	}
}

static void add_totals(struct folded_tree *f)
{
	size_t n = f->n_columns;

	memcpy(f->total, f->self, f->n * n * sizeof(*f->total));
	for (uint32_t i = f->n; i-- > 1;)
		for (size_t c = 0; c < n; c++)
			f->total[f->parent[i] * n + c] += f->total[i * n + c];
}

void folded_tree_init(struct folded_tree *f, const struct calltree *t)
{
	size_t n = t->n_nodes;
	struct folding x = { .to = f, .t = t };

	*f = (struct folded_tree){ .n = 1, .n_columns = t->n_columns };
	f->key = xmalloc(n * sizeof(*f->key));
	f->parent = xmalloc(n * sizeof(*f->parent));
	f->first = xmalloc(n * sizeof(*f->first));
	f->next = xmalloc(n * sizeof(*f->next));
	f->recursive = xcalloc(n, sizeof(*f->recursive));
	f->self = xcalloc(n * t->n_columns, sizeof(*f->self));
	f->key[0] = f->first[0] = f->next[0] = KEY_NONE;
	f->parent[0] = 0;
	x.of_node = xcalloc(n, sizeof(*x.of_node));
	x.is_recursive = xcalloc((size_t)t->n_keys + 1, sizeof(*x.is_recursive));
	for (uint32_t i = 1; i < n; i++)
		x.is_recursive[t->key[i]] |= !t->outer[i];
	fold(&x);
	f->total = xmalloc((size_t)f->n * t->n_columns * sizeof(*f->total));
	add_totals(f);
	map_done(&x.children);
	free(x.of_node);
	free(x.is_recursive);
}

void folded_tree_done(struct folded_tree *f)
{
	free(f->key);
	free(f->parent);
	free(f->first);
	free(f->next);
	free(f->recursive);
	free(f->self);
	free(f->total);
}

/* Is the node below above, or that one? */
static bool is_within(const struct folded_tree *f, uint32_t above, uint32_t node)
{
	while (node > above)
		node = f->parent[node];
	return node == above;
}

uint32_t folded_tree_parting(const struct folded_tree *f, uint32_t node, uint32_t other)
{
	while (node != 0 && !is_within(f, f->parent[node], other))
		node = f->parent[node];
	return node != 0 && is_within(f, node, other) ? 0 : node;
}
