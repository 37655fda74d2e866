/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A node keeps its places: pairs of the call-tree node where the chain began, whose weights count, and
 * the one that it has come to. Expanding a node moves each place to its parent and divides the places
 * by key; a level of the tree thus costs as many places as its root has. Places of roots are those that
 * the call tree has by key. Rows in sight only need to know whether a node has callers, and whether
 * more than one, which a look at a few of its places mostly tells.
 */
#include "config.h"

#include "query/tree/inverted.h"

#include "base/mem.h"
#include "query/core/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint32_t origin; /* calltree node that the root of the chain stands for */
	uint32_t at;     /* calltree node that the chain has come to */
};

enum callers { CALLERS_UNKNOWN, CALLERS_NONE, CALLERS_ONE, CALLERS_SEVERAL };

/* A node and what only this file knows of it. */
struct entry {
	struct inverted_node node;
	enum callers callers; /* once somebody asked */
	/* its places: [first_place, first_place + n_places); of roots, of the tree's of_key */
	uint32_t first_place;
	uint32_t n_places;
	uint32_t counted_to; /* call-tree nodes below this are in the total already */
};

struct inverted {
	inverted_rank *ranks; /* or NULL */
	const void *arg;      /* of it; borrowed */
	const struct calltree *tree;
	const struct groups *keys;
	VEC(struct entry) entries;
	VEC(struct place) places; /* of a node consecutive; owned */
	VEC(int64_t) sums;        /* [entries][2][n_columns] self, total; owned */
	uint32_t n_roots;
	uint32_t *root_of; /* [keys->n] or KEY_NONE; owned */
	uint32_t *row_of;  /* [keys->n] all KEY_NONE between calls; scratch; owned */
};

/* A new node of a key and so many places that follow later. */
static uint32_t add_node(struct inverted *v, uint32_t key, uint32_t parent)
{
	uint32_t n = (uint32_t)v->entries.n;
	struct entry e = { .node = { .key = key, .parent = parent, .inlined = true } };
	uint64_t path = 0;

	if (parent != KEY_NONE) {
		e.node.depth = v->entries.at[parent].node.depth + 1;
		path = v->entries.at[parent].node.path;
	}
	e.node.path = calltree_path(path, v->keys->key[key].id);
	vec_push(&v->entries, e);
	for (uint32_t i = 0; i < 2 * v->tree->n_columns; i++)
		vec_push(&v->sums, 0);
	return n;
}

static int64_t *self_of(const struct inverted *v, uint32_t node)
{
	return v->sums.at + (size_t)node * 2 * v->tree->n_columns;
}

static int64_t *total_of(const struct inverted *v, uint32_t node)
{
	return self_of(v, node) + v->tree->n_columns;
}

/*
 * A sample counts once, however often the chain occurs in it: of places of a node that lie inside one
 * another only the outermost adds to the total. Places come in preorder of their origins.
 */
static void weigh_place(struct inverted *v, uint32_t node, struct place p)
{
	const struct calltree *t = v->tree;
	struct entry *e = &v->entries.at[node];
	int64_t *self = self_of(v, node), *total = total_of(v, node);
	bool inside = p.origin < e->counted_to;

	e->node.inlined &= t->inlined[p.at];

	for (uint32_t c = 0; c < t->n_columns; c++) {
		size_t from = (size_t)p.origin * t->n_columns + c;

		self[c] += t->self[from];
		total[c] += inside ? 0 : t->total[from];
	}
	if (!inside)
		e->counted_to = t->end[p.origin];
}

/* What orders a node, together, because there may be millions of them. */
struct sorted {
	double before_all;     /* what the owner ranks by; else 0 */
	int64_t first, second; /* weights of column 0: roots go by self, callers by total */
	uint32_t rank;         /* of the key */
	uint32_t node;
};

static int compare_sorted(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int first = order_weights(x->first, y->first);
	int second = order_weights(x->second, y->second);

	if (x->before_all != y->before_all)
		return x->before_all > y->before_all ? -1 : 1;
	if (first || second)
		return first ? first : second;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Puts nodes from first on in order. */
static void sort_entries(struct inverted *v, uint32_t first)
{
	uint32_t n = (uint32_t)v->entries.n - first, n_sums = 2 * v->tree->n_columns;
	struct entry *entries = xmalloc(n * sizeof(*entries));
	int64_t *sums = xmalloc((size_t)n * n_sums * sizeof(*sums));
	struct sorted *order = xmalloc(n * sizeof(*order));

	for (uint32_t i = 0; i < n; i++) {
		const struct inverted_node *node = &v->entries.at[first + i].node;
		int64_t self = self_of(v, first + i)[0], total = total_of(v, first + i)[0];
		bool root = node->parent == KEY_NONE;

		order[i] = (struct sorted){ .first = root ? self : total,
					    .second = root ? total : self,
					    .rank = v->keys->rank[node->key],
					    .node = first + i };
		if (v->ranks)
			order[i].before_all = v->ranks(v->arg, self_of(v, first + i));
	}
	qsort(order, n, sizeof(*order), compare_sorted);
	for (uint32_t i = 0; i < n; i++) {
		entries[i] = v->entries.at[order[i].node];
		memcpy(sums + (size_t)i * n_sums, self_of(v, order[i].node),
		       n_sums * sizeof(*sums));
	}
	memcpy(v->entries.at + first, entries, n * sizeof(*entries));
	memcpy(self_of(v, first), sums, (size_t)n * n_sums * sizeof(*sums));
	free(entries);
	free(sums);
	free(order);
}

/* Gives nodes from first on their part of the places, which row_of then leads to. */
static void share_places(struct inverted *v, uint32_t first, const struct place *places, size_t n)
{
	size_t at = v->places.n;

	assert(at + n < UINT32_MAX);
	vec_reserve(&v->places, at + n);
	v->places.n = at + n;
	for (uint32_t i = first; i < v->entries.n; i++) {
		struct entry *e = &v->entries.at[i];

		v->row_of[e->node.key] = i;
		e->first_place = (uint32_t)at;
		at += e->n_places;
		e->n_places = 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct entry *e = &v->entries.at[v->row_of[v->tree->key[places[i].at]]];

		v->places.at[e->first_place + e->n_places++] = places[i];
	}
}

/* Makes nodes of the places, one for each key where they are. Returns how many. */
static uint32_t divide(struct inverted *v, uint32_t parent, const struct place *places, size_t n)
{
	uint32_t first = (uint32_t)v->entries.n;

	for (size_t i = 0; i < n; i++) {
		uint32_t key = v->tree->key[places[i].at], *row = &v->row_of[key];

		if (*row == KEY_NONE)
			*row = add_node(v, key, parent);
		v->entries.at[*row].n_places++;
		weigh_place(v, *row, places[i]);
	}
	if (v->entries.n == first)
		return 0;
	sort_entries(v, first);
	share_places(v, first, places, n);
	for (uint32_t i = first; i < v->entries.n; i++)
		v->row_of[v->entries.at[i].node.key] = KEY_NONE;
	return (uint32_t)v->entries.n - first;
}

static uint32_t *no_rows(uint32_t n)
{
	uint32_t *row = xmalloc(n * sizeof(*row));

	memset(row, 0xff, n * sizeof(*row));
	return row;
}

static void add_root(struct inverted *v, uint32_t key)
{
	const struct calltree *t = v->tree;
	uint32_t root = add_node(v, key, KEY_NONE);
	struct entry *e = &v->entries.at[root];

	e->first_place = t->first_of[key];
	e->n_places = t->first_of[key + 1] - t->first_of[key];
	for (uint32_t i = 0; i < e->n_places; i++) {
		uint32_t place = t->of_key[e->first_place + i];

		weigh_place(v, root, (struct place){ place, place });
	}
}

struct inverted *inverted_new(const struct calltree *t, const struct groups *k, inverted_rank *rank,
			      const void *arg)
{
	struct inverted *v = xcalloc(1, sizeof(*v));

	v->tree = t;
	v->keys = k;
	v->ranks = rank;
	v->arg = arg;
	v->row_of = no_rows(k->n);
	v->root_of = no_rows(k->n);
	for (uint32_t i = 0; i < k->n; i++)
		if (!(k->key[i].flags & FUNCTION_COMM) && t->first_of[i] < t->first_of[i + 1])
			add_root(v, i);
	v->n_roots = (uint32_t)v->entries.n;
	if (v->n_roots > 0)
		sort_entries(v, 0);
	for (uint32_t i = 0; i < v->n_roots; i++)
		v->root_of[v->entries.at[i].node.key] = i;
	return v;
}

void inverted_free(struct inverted *v)
{
	if (!v)
		return;
	vec_done(&v->entries);
	vec_done(&v->places);
	vec_done(&v->sums);
	free(v->root_of);
	free(v->row_of);
	free(v);
}

uint32_t inverted_n_roots(const struct inverted *v)
{
	return v->n_roots;
}

const struct inverted_node *inverted_node(const struct inverted *v, uint32_t node)
{
	return &v->entries.at[node].node;
}

const int64_t *inverted_self(const struct inverted *v, uint32_t node)
{
	return self_of(v, node);
}

const int64_t *inverted_total(const struct inverted *v, uint32_t node)
{
	return total_of(v, node);
}

static struct place place_of(const struct inverted *v, const struct entry *e, uint32_t i)
{
	uint32_t node;

	if (e->node.parent != KEY_NONE)
		return v->places.at[e->first_place + i];
	node = v->tree->of_key[e->first_place + i];
	return (struct place){ node, node };
}

void inverted_expand(struct inverted *v, uint32_t node)
{
	const struct entry *e = &v->entries.at[node];
	uint32_t first = (uint32_t)v->entries.n, n_children;
	struct place *places;
	size_t n = 0;

	if (e->node.expanded)
		return;
	places = xmalloc(e->n_places * sizeof(*places));
	for (uint32_t i = 0; i < e->n_places; i++) {
		struct place at = place_of(v, e, i);

		at.at = v->tree->parent[at.at];
		if (at.at != 0)
			places[n++] = at;
	}
	n_children = divide(v, node, places, n);
	free(places);
	v->entries.at[node].node.first_child = first;
	v->entries.at[node].node.n_children = n_children;
	v->entries.at[node].node.expanded = true;
}

/* Looks at places until they tell. */
static enum callers count_callers(const struct inverted *v, const struct entry *e)
{
	uint32_t found = KEY_NONE;

	for (uint32_t i = 0; i < e->n_places; i++) {
		uint32_t at = v->tree->parent[place_of(v, e, i).at];

		if (at == 0)
			continue;
		if (found != KEY_NONE && v->tree->key[at] != found)
			return CALLERS_SEVERAL;
		found = v->tree->key[at];
	}
	return found == KEY_NONE ? CALLERS_NONE : CALLERS_ONE;
}

static enum callers callers_of(struct inverted *v, uint32_t node)
{
	struct entry *e = &v->entries.at[node];

	if (e->callers == CALLERS_UNKNOWN)
		e->callers = count_callers(v, e);
	return e->callers;
}

bool inverted_has_callers(struct inverted *v, uint32_t node)
{
	return callers_of(v, node) != CALLERS_NONE;
}

uint32_t inverted_only_caller(struct inverted *v, uint32_t node)
{
	if (callers_of(v, node) != CALLERS_ONE)
		return KEY_NONE;
	inverted_expand(v, node);
	return v->entries.at[node].node.first_child;
}

uint32_t inverted_root(const struct inverted *v, uint32_t key)
{
	return key < v->keys->n ? v->root_of[key] : KEY_NONE;
}
