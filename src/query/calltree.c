/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a tree in the order in which it was found to one in the order in which it is read.
 *
 * No recursion anywhere: a stack may be a million frames deep. As parents come before children in
 * both orders, totals are a pass back, and places in preorder a pass forward that hands each child
 * its place after the subtrees of the siblings before it.
 */
#include "config.h"

#include "calltree.h"

#include "frametree.h"
#include "hash.h"
#include "mem.h"
#include "order.h"
#include "plant.h"
#include "task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Siblings up to so many are sorted by insertion: nearly all. */
#define FEW_SIBLINGS 12

/* The tree as found, with what orders it. */
struct ordering {
	const struct frametree *tree;
	const struct keys *keys;
	int64_t *total;  /* [n][n_columns]; owned, as are the following */
	uint32_t *size;  /* [n] nodes of the subtree */
	uint32_t *start; /* [n + 1] see frametree_children() */
	uint32_t *child; /* [n - 1] */
	uint32_t *place; /* [n] in preorder */
};

static void sum_up(struct ordering *o)
{
	const struct frametree *t = o->tree;
	uint32_t n_columns = t->n_columns;
	size_t bytes = (size_t)t->n * n_columns * sizeof(*o->total);

	o->total = xmalloc(bytes);
	memcpy(o->total, t->self, bytes);
	o->size = xmalloc(t->n * sizeof(*o->size));
	for (uint32_t i = 0; i < t->n; i++)
		o->size[i] = 1;
	for (uint32_t i = t->n; i-- > 1;) {
		int64_t *up = o->total + (size_t)t->parent[i] * n_columns;

		for (uint32_t c = 0; c < n_columns; c++)
			up[c] += o->total[(size_t)i * n_columns + c];
		o->size[t->parent[i]] += o->size[i];
	}
}

static int compare_nodes(const struct ordering *o, uint32_t a, uint32_t b)
{
	uint32_t n_columns = o->tree->n_columns;
	int cmp = order_weights(o->total[(size_t)a * n_columns], o->total[(size_t)b * n_columns]);

	return cmp ? cmp : order_keys(o->keys, o->tree->key[a], o->tree->key[b]);
}

static int compare_children(const void *a, const void *b, void *ordering)
{
	return compare_nodes(ordering, *(const uint32_t *)a, *(const uint32_t *)b);
}

static void sort_siblings(const struct ordering *o, uint32_t *at, uint32_t n)
{
	if (n > FEW_SIBLINGS) {
		qsort_r(at, n, sizeof(*at), compare_children, (void *)o);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t node = at[i], j = i;

		for (; j > 0 && compare_nodes(o, node, at[j - 1]) < 0; j--)
			at[j] = at[j - 1];
		at[j] = node;
	}
}

static void find_places(struct ordering *o)
{
	uint32_t n = o->tree->n;

	frametree_children(o->tree, &o->start, &o->child);
	o->place = xmalloc(n * sizeof(*o->place));
	o->place[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *child = o->child + o->start[i],
			 n_children = o->start[i + 1] - o->start[i];
		uint32_t next = o->place[i] + 1;

		sort_siblings(o, child, n_children);
		for (uint32_t j = 0; j < n_children; j++) {
			o->place[child[j]] = next;
			next += o->size[child[j]];
		}
	}
	free(o->start);
	free(o->child);
}

static void allocate(struct calltree *t, uint32_t n, uint32_t n_columns)
{
	t->n_nodes = n;
	t->n_columns = n_columns;
	t->key = xmalloc(n * sizeof(*t->key));
	t->parent = xmalloc(n * sizeof(*t->parent));
	t->end = xmalloc(n * sizeof(*t->end));
	t->depth = xmalloc(n * sizeof(*t->depth));
	t->path = xmalloc(n * sizeof(*t->path));
	t->self = xmalloc((size_t)n * n_columns * sizeof(*t->self));
	t->total = xmalloc((size_t)n * n_columns * sizeof(*t->total));
	t->samples = xmalloc(n * sizeof(*t->samples));
	t->outer = xmalloc(n * sizeof(*t->outer));
	t->inlined = xmalloc(n * sizeof(*t->inlined));
}

/* Writes node i of the tree as found to its place. */
static void put_node(struct calltree *t, const struct ordering *o, uint32_t i)
{
	const struct frametree *from = o->tree;
	uint32_t at = o->place[i], parent = o->place[from->parent[i]], n_columns = t->n_columns;

	t->key[at] = from->key[i];
	t->parent[at] = parent;
	t->end[at] = at + o->size[i];
	t->depth[at] = i == 0 ? 0 : t->depth[parent] + 1;
	t->path[at] = i == 0 ? 0 : calltree_path(t->path[parent], o->keys->key[from->key[i]].id);
	if (t->depth[at] > t->max_depth)
		t->max_depth = t->depth[at];
	for (uint32_t c = 0; c < n_columns; c++) {
		t->self[(size_t)at * n_columns + c] = from->self[(size_t)i * n_columns + c];
		t->total[(size_t)at * n_columns + c] = o->total[(size_t)i * n_columns + c];
	}
	t->samples[at] = from->samples[i];
	t->inlined[at] = from->inlined[i];
}

/* Reads the tree in order with a count of each key on the path. */
static void find_outermost(struct calltree *t, uint32_t n_keys)
{
	uint32_t *on_path = xcalloc(n_keys, sizeof(*on_path));
	uint32_t *path = xmalloc(((size_t)t->max_depth + 1) * sizeof(*path)); /* keys by depth */
	uint32_t depth = 0;

	t->outer[0] = true;
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		for (; depth >= t->depth[i]; depth--)
			on_path[path[depth]]--;
		depth = t->depth[i];
		path[depth] = t->key[i];
		t->outer[i] = on_path[t->key[i]]++ == 0;
	}
	free(on_path);
	free(path);
}

static struct calltree *read_off(const struct frametree *from, const struct keys *keys)
{
	struct ordering o = { .tree = from, .keys = keys };
	struct calltree *t = xcalloc(1, sizeof(*t));

	sum_up(&o);
	find_places(&o);
	allocate(t, from->n, from->n_columns);
	for (uint32_t i = 0; i < from->n; i++)
		put_node(t, &o, i);
	free(o.total);
	free(o.size);
	free(o.place);
	find_outermost(t, keys->n);
	return t;
}

int calltree_build(const struct profile *p, const struct profile_counts *counts,
		   const struct lens *lens, const struct keys *keys, const struct weights *w,
		   struct progress *progress, struct calltree **out)
{
	struct frametree found;
	int rc = plant_tree(p, counts, lens, keys, w, progress, &found);

	if (rc < 0)
		return rc;
	if (progress_cancelled(progress))
		rc = -ECANCELED;
	else
		*out = read_off(&found, keys);
	frametree_done(&found);
	return rc;
}

void calltree_free(struct calltree *t)
{
	if (!t)
		return;
	free(t->key);
	free(t->parent);
	free(t->end);
	free(t->depth);
	free(t->path);
	free(t->self);
	free(t->total);
	free(t->samples);
	free(t->outer);
	free(t->inlined);
	free(t);
}

uint64_t calltree_path(uint64_t parent, uint32_t key_id)
{
	return hash_u64(parent * 31 + key_id + 1);
}

uint32_t calltree_find(const struct calltree *t, uint64_t path)
{
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (t->path[i] == path)
			return i;
	return KEY_NONE;
}

uint32_t calltree_hottest(const struct calltree *t, uint32_t key)
{
	uint32_t best = KEY_NONE;

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		if (t->key[i] != key)
			continue;
		if (best == KEY_NONE || order_weights(t->total[(size_t)i * t->n_columns],
						      t->total[(size_t)best * t->n_columns]) < 0)
			best = i;
	}
	return best;
}
