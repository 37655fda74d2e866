/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growth of call trees, and moving weights from one to the next. */
#include "config.h"

#include "query/tree/frametree.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_CAP 64

static void grow(struct frametree *t, size_t cap)
{
	assert(cap < NODE_GONE);
	t->parent = xreallocarray(t->parent, cap, sizeof(*t->parent));
	t->key = xreallocarray(t->key, cap, sizeof(*t->key));
	t->inlined = xreallocarray(t->inlined, cap, sizeof(*t->inlined));
	t->first = xreallocarray(t->first, cap, sizeof(*t->first));
	t->cap = (uint32_t)cap;
}

void frametree_init(struct frametree *t, uint32_t n_columns, size_t n_expected)
{
	*t = (struct frametree){ .n = 1, .n_columns = n_columns };
	grow(t, n_expected > LEAST_CAP ? n_expected : LEAST_CAP);
	t->parent[0] = 0;
	t->first[0] = 0;
	t->key[0] = UINT32_MAX;
	t->inlined[0] = false;
}

void frametree_done(struct frametree *t)
{
	free(t->parent);
	free(t->key);
	free(t->inlined);
	free(t->self);
	free(t->samples);
	free(t->first);
	free(t->of_stack);
	map_done(&t->children);
	*t = (struct frametree){ 0 };
}

uint32_t frametree_add(struct frametree *t, uint32_t parent, uint32_t key, bool inlined)
{
	uint32_t n = t->n++;

	if (n == t->cap)
		grow(t, (size_t)t->cap + t->cap / 2);
	t->parent[n] = parent;
	t->key[n] = key;
	t->inlined[n] = inlined;
	t->first[n] = 0;
	return n;
}

void frametree_seal(struct frametree *t)
{
	map_done(&t->children);
	free(t->first);
	t->first = NULL;
}

void frametree_move(struct frametree *to, const struct frametree *from, const uint32_t *map)
{
	uint32_t n_columns = to->n_columns;

	frametree_seal(to);
	to->self = xcalloc((size_t)to->n * n_columns, sizeof(*to->self));
	to->samples = xcalloc(to->n, sizeof(*to->samples));
	for (uint32_t i = 0; i < from->n; i++) {
		int64_t *sum;

		if (map[i] == NODE_GONE)
			continue;
		sum = to->self + (size_t)map[i] * n_columns;
		for (uint32_t c = 0; c < n_columns; c++)
			sum[c] += from->self[(size_t)i * n_columns + c];
		to->samples[map[i]] += from->samples[i];
	}
}

void frametree_move_stacks(struct frametree *to, struct frametree *from, const uint32_t *map)
{
	to->of_stack = from->of_stack;
	to->n_stacks = from->n_stacks;
	from->of_stack = NULL;
	for (uint32_t i = 0; to->of_stack && i < to->n_stacks; i++)
		if (to->of_stack[i] != NODE_GONE)
			to->of_stack[i] = map[to->of_stack[i]];
}

static bool weighs(const int64_t *self, uint32_t n_columns)
{
	for (uint32_t c = 0; c < n_columns; c++)
		if (self[c] != 0)
			return true;
	return false;
}

/* Node from becomes node to, which is no later; its parent has been moved before. */
static void move_node(struct frametree *t, uint32_t from, uint32_t to, uint32_t parent)
{
	uint32_t n = t->n_columns;

	t->parent[to] = parent;
	t->key[to] = t->key[from];
	t->inlined[to] = t->inlined[from];
	t->samples[to] = t->samples[from];
	memmove(t->self + (size_t)to * n, t->self + (size_t)from * n, n * sizeof(*t->self));
}

void frametree_prune(struct frametree *t)
{
	bool *live = xcalloc(t->n, sizeof(*live));
	uint32_t *place = xcalloc(t->n, sizeof(*place)), n = 1;

	for (uint32_t i = t->n; i-- > 1;) {
		live[i] |= weighs(t->self + (size_t)i * t->n_columns, t->n_columns);
		live[t->parent[i]] |= live[i];
	}
	place[0] = 0;
	for (uint32_t i = 1; i < t->n; i++) {
		if (!live[i])
			continue;
		place[i] = n++;
		move_node(t, i, place[i], place[t->parent[i]]);
	}
	t->n = n;
	/* nodes where stacks end weigh, so that those have a place */
	for (uint32_t i = 0; t->of_stack && i < t->n_stacks; i++)
		if (t->of_stack[i] != NODE_GONE)
			t->of_stack[i] = place[t->of_stack[i]];
	free(live);
	free(place);
}

void frametree_children(const struct frametree *t, uint32_t **start, uint32_t **child)
{
	uint32_t *at = xcalloc((size_t)t->n + 2, sizeof(*at));
	uint32_t *list = xmalloc(t->n * sizeof(*list));

	/* at[i + 2] counts, then begins, then ends node i's children, which leaves at[i + 1]. */
	for (uint32_t i = 1; i < t->n; i++)
		at[t->parent[i] + 2]++;
	for (uint32_t i = 2; i < t->n + 2; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 1; i < t->n; i++)
		list[at[t->parent[i] + 1]++] = i;
	*start = at;
	*child = list;
}
