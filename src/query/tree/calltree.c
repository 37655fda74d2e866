/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a tree in the order in which it was found to one in the order in which it is read.
 *
 * No recursion anywhere: a stack may be a million frames deep. As parents come before children in
 * both orders, totals are a pass back, and places in preorder a pass forward that hands each child
 * its place after the subtrees of the siblings before it.
 */
#include "config.h"

#include "query/tree/calltree.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/task.h"
#include "query/core/order.h"
#include "query/tree/build_tree.h"
#include "query/tree/frametree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Siblings up to so many are sorted by insertion: nearly all. */
#define FEW_SIBLINGS 12

/* The tree as found, with what orders it. */
struct ordering {
	const struct frametree *tree;
	const struct groups *keys;
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

/* An array in the order found, moved to the places; the old one is freed. */
static uint32_t *place_ids(const struct ordering *o, uint32_t *from, uint32_t n)
{
	uint32_t *to = xmalloc(n * sizeof(*to));

	for (uint32_t i = 0; i < n; i++)
		to[o->place[i]] = from[i];
	free(from);
	return to;
}

static int64_t *place_sums(const struct ordering *o, int64_t *from, uint32_t n, uint32_t n_columns)
{
	int64_t *to = xmalloc((size_t)n * n_columns * sizeof(*to));

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = 0; c < n_columns; c++)
			to[(size_t)o->place[i] * n_columns + c] = from[(size_t)i * n_columns + c];
	free(from);
	return to;
}

static bool *place_flags(const struct ordering *o, bool *from, uint32_t n)
{
	bool *to = xmalloc(n * sizeof(*to));

	for (uint32_t i = 0; i < n; i++)
		to[o->place[i]] = from[i];
	free(from);
	return to;
}

/* Samples by key, for which nodes need not be in order. */
static void sum_samples(struct calltree *t, struct frametree *from, uint32_t n_keys)
{
	t->samples = xcalloc(n_keys, sizeof(*t->samples));
	for (uint32_t i = 1; i < from->n; i++)
		t->samples[from->key[i]] += from->samples[i];
	free(from->samples);
	from->samples = NULL;
}

/* Moves the arrays over one at a time, so that no two copies of the tree are held at once. */
static void move_nodes(struct calltree *t, struct ordering *o, struct frametree *from)
{
	uint32_t n = from->n, n_columns = from->n_columns;

	t->n_nodes = n;
	t->n_columns = n_columns;
	t->inlined = place_flags(o, from->inlined, n);
	t->self = place_sums(o, from->self, n, n_columns);
	t->total = place_sums(o, o->total, n, n_columns);
	t->key = place_ids(o, from->key, n);
	for (uint32_t i = 0; i < n; i++)
		o->size[i] += o->place[i];
	t->end = place_ids(o, o->size, n);
	for (uint32_t i = 0; i < n; i++)
		from->parent[i] = o->place[from->parent[i]];
	t->parent = place_ids(o, from->parent, n);
	free(o->place);
	*from = (struct frametree){ 0 };
}

/* What a node has from its parent, which stands before it. */
static void hand_down(struct calltree *t, const struct groups *keys)
{
	t->depth = xmalloc(t->n_nodes * sizeof(*t->depth));
	t->path = xmalloc(t->n_nodes * sizeof(*t->path));
	t->depth[0] = 0;
	t->path[0] = 0;
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t parent = t->parent[i], depth = t->depth[parent] + 1;

		t->depth[i] = depth;
		t->path[i] = calltree_path(t->path[parent], keys->key[t->key[i]].id);
		if (depth > t->max_depth)
			t->max_depth = depth;
	}
}

/* Reads the tree in order with a count of each key on the path. */
static void find_outermost(struct calltree *t, uint32_t n_keys)
{
	uint32_t *on_path = xcalloc(n_keys, sizeof(*on_path));
	uint32_t *path = xmalloc(((size_t)t->max_depth + 1) * sizeof(*path)); /* keys by depth */
	uint32_t depth = 0;

	t->outer = xmalloc(t->n_nodes * sizeof(*t->outer));
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

/* Counts, then deals out in preorder. */
static void index_by_key(struct calltree *t, uint32_t n_keys)
{
	uint32_t *next = xcalloc((size_t)n_keys + 1, sizeof(*next));

	t->n_keys = n_keys;
	t->first_of = xcalloc((size_t)n_keys + 1, sizeof(*t->first_of));
	t->of_key = xmalloc(t->n_nodes * sizeof(*t->of_key));
	for (uint32_t i = 1; i < t->n_nodes; i++)
		t->first_of[t->key[i] + 1]++;
	for (uint32_t k = 0; k < n_keys; k++) {
		t->first_of[k + 1] += t->first_of[k];
		next[k] = t->first_of[k];
	}
	for (uint32_t i = 1; i < t->n_nodes; i++)
		t->of_key[next[t->key[i]]++] = i;
	free(next);
}

/* Takes the tree as found apart. */
static struct calltree *read_off(struct frametree *from, const struct groups *keys)
{
	struct ordering o = { .tree = from, .keys = keys };
	struct calltree *t = xcalloc(1, sizeof(*t));

	sum_samples(t, from, keys->n);
	sum_up(&o);
	find_places(&o);
	move_nodes(t, &o, from);
	hand_down(t, keys);
	find_outermost(t, keys->n);
	index_by_key(t, keys->n);
	return t;
}

int calltree_build(const struct profile *p, const struct profile_counts *counts,
		   const struct lens *lens, const struct groups *keys, const uint32_t *groups,
		   struct weights *w, struct progress *progress, struct calltree **out)
{
	struct frametree found;
	int rc = build_tree_tree(p, counts, lens, keys, groups, w, progress, &found);

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
	free(t->first_of);
	free(t->of_key);
	free(t);
}

uint64_t calltree_path(uint64_t parent, uint32_t key_id)
{
	return hash_u64(parent * 31 + key_id + 1);
}

uint32_t calltree_find(const struct calltree *t, uint32_t key, uint64_t path)
{
	if (key >= t->n_keys)
		return KEY_NONE;
	for (uint32_t i = t->first_of[key]; i < t->first_of[key + 1]; i++)
		if (t->path[t->of_key[i]] == path)
			return t->of_key[i];
	return KEY_NONE;
}

uint32_t calltree_hottest(const struct calltree *t, uint32_t key)
{
	uint32_t best = KEY_NONE;

	if (key >= t->n_keys)
		return KEY_NONE;
	for (uint32_t i = t->first_of[key]; i < t->first_of[key + 1]; i++) {
		uint32_t node = t->of_key[i];

		if (best == KEY_NONE || order_weights(t->total[(size_t)node * t->n_columns],
						      t->total[(size_t)best * t->n_columns]) < 0)
			best = node;
	}
	return best;
}
