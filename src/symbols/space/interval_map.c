/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals that come and cover older ones; see interval_map.h.
 *
 * A level never changes: its items' ends cut the line into segments, which are the leaves of a
 * segment tree in an array (node 1 is the root, leaf i is n_leaves + i). An item stands in the nodes
 * that together are its interval; each node lists its items by time. A point is in the nodes on the
 * way from its leaf to the root, and in each of them the item sought is found by bisection.
 */
#include "config.h"

#include "symbols/space/interval_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/compare.h"

/* So many are looked through one by one before they become a level. */
#define FRESH_MAX 32

struct interval_map_level {
	struct interval_map_item *item; /* [n] by (time, seq); owned */
	uint64_t *bound; /* [n_leaves + 1] ascending; leaf i is [bound[i], bound[i+1]) */
	uint64_t *reach; /* [n_leaves + 1] largest end of items starting at <= bound[i] */
	uint32_t *first; /* [2 * n_leaves + 1] node i lists first[i] .. first[i+1] */
	uint32_t *list;  /* indices into item, by time within a node */
	size_t n, n_leaves;
};

static void level_free(struct interval_map_level *l)
{
	free(l->item);
	free(l->bound);
	free(l->reach);
	free(l->first);
	free(l->list);
	free(l);
}

static bool later(const struct interval_map_item *a, int64_t time, uint32_t seq)
{
	return a->time != time ? a->time > time : a->seq > seq;
}

static int by_time(const void *x, const void *y)
{
	const struct interval_map_item *a = x, *b = y;

	return COMPARE(a->time, b->time) ?: COMPARE(a->seq, b->seq);
}

/* One end of an item, while bounds are numbered. */
struct edge {
	uint64_t at;   /* where it is */
	uint32_t item; /* whose */
	bool end;      /* its end, not its start */
};

static int by_place(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	return COMPARE(a->at, b->at);
}

/* An item's interval as leaves [lo, hi). */
struct leaves {
	uint32_t lo, hi;
};

/* The index of the last bound <= point, or SIZE_MAX when point lies before all. */
static size_t bound_before(const struct interval_map_level *l, uint64_t point)
{
	size_t lo = 0;

	BISECT(lo, l->n_leaves + 1, i, l->bound[i] <= point);
	return lo - 1;
}

/*
 * Goes through the nodes that together are an item's interval: counts it in each, or puts it into
 * each one's list when list is given.
 */
static void spread(const struct interval_map_level *l, uint32_t item, struct leaves at,
		   uint32_t *fill, uint32_t *list)
{
	size_t lo = at.lo + l->n_leaves, hi = at.hi + l->n_leaves;

	for (; lo < hi; lo /= 2, hi /= 2) {
		if (lo & 1) {
			if (list)
				list[fill[lo]] = item;
			fill[lo++]++;
		}
		if (hi & 1) {
			hi--;
			if (list)
				list[fill[hi]] = item;
			fill[hi]++;
		}
	}
}

/* Numbers the bounds; returns where each item lies, [n], which the caller frees. */
static struct leaves *cut_line(struct interval_map_level *l)
{
	struct edge *edge = xreallocarray(NULL, 2 * l->n, sizeof(*edge));
	struct leaves *leaves = xreallocarray(NULL, l->n, sizeof(*leaves));
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		edge[2 * i] = (struct edge){ .at = l->item[i].start, .item = i };
		edge[2 * i + 1] = (struct edge){ .at = l->item[i].end, .item = i, .end = true };
	}
	qsort(edge, 2 * l->n, sizeof(*edge), by_place);
	l->bound = xreallocarray(NULL, 2 * l->n, sizeof(*l->bound));
	l->reach = xcalloc(2 * l->n, sizeof(*l->reach));
	for (size_t i = 0; i < 2 * l->n; i++) {
		const struct interval_map_item *it = &l->item[edge[i].item];

		if (i == 0 || edge[i].at != l->bound[n - 1]) {
			l->reach[n] = n > 0 ? l->reach[n - 1] : 0;
			l->bound[n++] = edge[i].at;
		}
		if (edge[i].end)
			leaves[edge[i].item].hi = n - 1;
		else
			leaves[edge[i].item].lo = n - 1;
		if (!edge[i].end && l->reach[n - 1] < it->end)
			l->reach[n - 1] = it->end;
	}
	l->n_leaves = n - 1;
	free(edge);
	return leaves;
}

/* Takes item, which is n items in no order, n > 0. */
static struct interval_map_level *level_new(struct interval_map_item *item, size_t n)
{
	struct interval_map_level *l = xcalloc(1, sizeof(*l));
	struct leaves *leaves;
	size_t n_nodes;
	uint32_t *fill, total = 0;

	l->item = item;
	l->n = n;
	qsort(item, n, sizeof(*item), by_time);
	leaves = cut_line(l);
	n_nodes = 2 * l->n_leaves;
	fill = xcalloc(n_nodes + 1, sizeof(*fill));
	for (uint32_t i = 0; i < n; i++)
		spread(l, i, leaves[i], fill, NULL);
	l->first = xreallocarray(NULL, n_nodes + 1, sizeof(*l->first));
	for (size_t i = 0; i < n_nodes; i++) {
		l->first[i] = total;
		total += fill[i];
		fill[i] = l->first[i];
	}
	l->first[n_nodes] = total;
	l->list = xreallocarray(NULL, (size_t)total + 1, sizeof(*l->list));
	for (uint32_t i = 0; i < n; i++)
		spread(l, i, leaves[i], fill, l->list);
	free(fill);
	free(leaves);
	return l;
}

/* What is sought, and the best so far. */
struct search {
	uint64_t point;                       /* asked for */
	int64_t time;                         /* not younger than this */
	uint32_t seq;                         /* … */
	const struct interval_map_item *best; /* newest seen that is old enough, or NULL */
	int64_t next_time;                    /* oldest seen that is too young */
};

static void consider(struct search *s, const struct interval_map_item *it)
{
	if (later(it, s->time, s->seq)) {
		if (it->time < s->next_time)
			s->next_time = it->time;
	} else if (!s->best || later(it, s->best->time, s->best->seq)) {
		s->best = it;
	}
}

static void search_node(const struct interval_map_level *l, size_t node, struct search *s)
{
	uint32_t lo = l->first[node], end = l->first[node + 1];

	BISECT(lo, end, i, !later(&l->item[l->list[i]], s->time, s->seq));
	if (lo > l->first[node])
		consider(s, &l->item[l->list[lo - 1]]);
	if (lo < end)
		consider(s, &l->item[l->list[lo]]);
}

void interval_map_done(struct interval_map *c)
{
	for (size_t i = 0; i < c->level.n; i++)
		level_free(c->level.at[i]);
	vec_done(&c->level);
	vec_done(&c->fresh);
}

/* Makes a level of what is fresh and of every level that is not larger than what it joins. */
static void settle(struct interval_map *c)
{
	size_t n = c->fresh.n, from = c->level.n;
	struct interval_map_item *item;

	while (from > 0 && c->level.at[from - 1]->n <= n)
		n += c->level.at[--from]->n;
	item = xreallocarray(NULL, n, sizeof(*item));
	memcpy(item, c->fresh.at, c->fresh.n * sizeof(*item));
	n = c->fresh.n;
	for (size_t i = from; i < c->level.n; i++) {
		memcpy(item + n, c->level.at[i]->item, c->level.at[i]->n * sizeof(*item));
		n += c->level.at[i]->n;
		level_free(c->level.at[i]);
	}
	c->level.n = from;
	vec_push(&c->level, level_new(item, n));
	vec_clear(&c->fresh);
}

void interval_map_add(struct interval_map *c, const struct interval_map_item *item)
{
	vec_push(&c->fresh, *item);
	if (c->fresh.n >= FRESH_MAX)
		settle(c);
}

void interval_map_add_all(struct interval_map *c, const struct interval_map_item *items, size_t n)
{
	vec_reserve(&c->fresh, c->fresh.n + n);
	for (size_t i = 0; i < n; i++)
		vec_push(&c->fresh, items[i]);
	if (c->fresh.n >= FRESH_MAX)
		settle(c);
}

const struct interval_map_item *interval_map_find(const struct interval_map *c, uint64_t point,
						  int64_t time, uint32_t seq, int64_t *next_time)
{
	struct search s = { .point = point, .time = time, .seq = seq, .next_time = *next_time };

	for (size_t i = 0; i < c->fresh.n; i++) {
		if (c->fresh.at[i].start <= point && point < c->fresh.at[i].end)
			consider(&s, &c->fresh.at[i]);
	}
	for (size_t i = 0; i < c->level.n; i++) {
		const struct interval_map_level *l = c->level.at[i];
		size_t leaf = bound_before(l, point);

		if (leaf >= l->n_leaves)
			continue;
		for (size_t node = leaf + l->n_leaves; node > 0; node /= 2)
			search_node(l, node, &s);
	}
	*next_time = s.next_time;
	return s.best;
}

void interval_map_each(const struct interval_map *c,
		       void (*fn)(void *arg, const struct interval_map_item *item), void *arg)
{
	for (size_t i = 0; i < c->fresh.n; i++)
		fn(arg, &c->fresh.at[i]);
	for (size_t i = 0; i < c->level.n; i++)
		for (size_t k = 0; k < c->level.at[i]->n; k++)
			fn(arg, &c->level.at[i]->item[k]);
}

bool interval_map_touches(const struct interval_map *c, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < c->fresh.n; i++) {
		if (c->fresh.at[i].start < end && c->fresh.at[i].end > start)
			return true;
	}
	for (size_t i = 0; i < c->level.n; i++) {
		const struct interval_map_level *l = c->level.at[i];
		size_t at = bound_before(l, end - 1);

		if (at != SIZE_MAX && l->reach[at] > start)
			return true;
	}
	return false;
}
