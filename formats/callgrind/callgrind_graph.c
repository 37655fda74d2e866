/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups are strongly connected components (Tarjan, "Depth-first search and linear graph algorithms", 1972), found without recursion, as
 * files are as deep as they like.
 */
#include "config.h"

#include "formats/callgrind/callgrind_graph.h"

#include "base/mem.h"
#include "formats/callgrind/callgrind_text.h"

#include <stdlib.h>
#include <string.h>

static const struct callgrind_item *item_at(const struct callgrind_graph *g, size_t i)
{
	return &g->t->items.at[g->item[i]];
}

bool callgrind_graph_leaves(const struct callgrind_graph *g, uint32_t item)
{
	const struct callgrind_item *i = &g->t->items.at[item];

	return i->callee != CALLGRIND_NONE && g->group[i->callee] != g->group[i->function];
}

/* Items by function. */

static void sort_items(struct callgrind_graph *g, uint32_t thread)
{
	size_t n_functions = g->t->functions.n;

	g->first = xcalloc(n_functions + 2, sizeof(*g->first));
	for (size_t i = 0; i < g->t->items.n; i++)
		if (g->t->items.at[i].thread == thread) {
			g->first[g->t->items.at[i].function + 2]++;
			g->n_items++;
		}
	for (size_t f = 2; f < n_functions + 2; f++)
		g->first[f] += g->first[f - 1];
	g->item = xmalloc((g->n_items + 1) * sizeof(*g->item));
	for (size_t i = 0; i < g->t->items.n; i++)
		if (g->t->items.at[i].thread == thread)
			g->item[g->first[g->t->items.at[i].function + 1]++] = (uint32_t)i;
}

/* Groups. */

struct visit {
	uint32_t function;
	uint32_t next; /* in .item */
};

struct tarjan {
	struct callgrind_graph *g;
	uint32_t *number; /* [functions] when it was come to; 0: not yet */
	uint32_t *low;    /* [functions] the earliest that can be come to from it */
	uint32_t n_seen;
	uint32_t n_members;      /* in .member */
	VEC(uint32_t) open;      /* functions of no group yet */
	VEC(struct visit) visit; /* the way to where it is */
};

static void enter(struct tarjan *s, uint32_t f)
{
	s->number[f] = s->low[f] = ++s->n_seen;
	vec_push(&s->open, f);
	vec_push(&s->visit, ((struct visit){ f, s->g->first[f] }));
}

static void close_group(struct tarjan *s, uint32_t f)
{
	struct callgrind_graph *g = s->g;
	uint32_t member;

	g->group_first[g->n_groups] = s->n_members;
	do {
		member = s->open.at[--s->open.n];
		g->group[member] = g->n_groups;
		g->member[s->n_members++] = member;
	} while (member != f);
	g->n_groups++;
}

static void leave(struct tarjan *s)
{
	uint32_t f = s->visit.at[--s->visit.n].function;

	if (s->low[f] == s->number[f])
		close_group(s, f);
	if (s->visit.n > 0) {
		uint32_t above = s->visit.at[s->visit.n - 1].function;

		if (s->low[f] < s->low[above])
			s->low[above] = s->low[f];
	}
}

static void visit_from(struct tarjan *s, uint32_t from)
{
	enter(s, from);
	while (s->visit.n > 0) {
		struct visit *v = &s->visit.at[s->visit.n - 1];
		uint32_t f = v->function, callee;

		if (v->next == s->g->first[f + 1]) {
			leave(s);
			continue;
		}
		callee = item_at(s->g, v->next++)->callee;
		if (callee == CALLGRIND_NONE)
			continue;
		if (s->number[callee] == 0)
			enter(s, callee);
		else if (s->g->group[callee] == CALLGRIND_NONE && s->number[callee] < s->low[f])
			s->low[f] = s->number[callee];
	}
}

static void find_groups(struct callgrind_graph *g)
{
	size_t n = g->t->functions.n;
	struct tarjan s = { .g = g };

	g->group = xmalloc((n + 1) * sizeof(*g->group));
	g->member = xmalloc((n + 1) * sizeof(*g->member));
	g->group_first = xcalloc(n + 1, sizeof(*g->group_first));
	s.number = xcalloc(n + 1, sizeof(*s.number));
	s.low = xcalloc(n + 1, sizeof(*s.low));
	for (size_t f = 0; f < n; f++)
		g->group[f] = CALLGRIND_NONE;
	for (uint32_t f = 0; f < n; f++)
		if (s.number[f] == 0)
			visit_from(&s, f);
	g->group_first[g->n_groups] = (uint32_t)n;
	free(s.number);
	free(s.low);
	vec_done(&s.open);
	vec_done(&s.visit);
}

static void count_recursive(struct callgrind_graph *g)
{
	for (uint32_t k = 0; k < g->n_groups; k++) {
		uint32_t n = g->group_first[k + 1] - g->group_first[k], f;
		bool itself = false;

		f = g->member[g->group_first[k]];
		for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++)
			itself |= item_at(g, i)->callee == f;
		if (n > 1 || itself)
			g->n_recursive += n;
	}
}

/* Flows. */

void callgrind_split(int64_t amount, int64_t *const *part, size_t n, int64_t *share)
{
	__int128 sum = 0, given = 0, before = 0;

	for (size_t i = 0; i < n; i++)
		sum += *part[i];
	/* rounded down, so that nothing is taken that is not there */
	for (size_t i = 0; i < n; i++) {
		share[i] = amount == sum ? *part[i]
			   : sum > 0     ? (int64_t)((__int128)*part[i] * amount / sum)
					 : 0;
		given += share[i];
	}
	for (size_t i = 0; i < n && given < amount; i++) {
		before = given;
		given += share[i] < *part[i];
		share[i] += (int64_t)(given - before);
	}
	for (size_t i = 0; i < n; i++)
		*part[i] -= share[i];
}

/* Calls into each group, from other groups. */
struct callers {
	uint32_t *first; /* [n_groups + 1] where a group's begin in .at */
	uint32_t *at;    /* indexes of the graph's .item */
};

static void callers_init(struct callers *c, const struct callgrind_graph *g)
{
	c->first = xcalloc(g->n_groups + 2, sizeof(*c->first));
	c->at = xmalloc((g->n_items + 1) * sizeof(*c->at));
	for (size_t i = 0; i < g->n_items; i++)
		if (callgrind_graph_leaves(g, g->item[i]))
			c->first[g->group[item_at(g, i)->callee] + 2]++;
	for (uint32_t k = 2; k < g->n_groups + 2; k++)
		c->first[k] += c->first[k - 1];
	for (uint32_t i = 0; i < g->n_items; i++)
		if (callgrind_graph_leaves(g, g->item[i]))
			c->at[c->first[g->group[item_at(g, i)->callee] + 1]++] = i;
}

/* What the group costs is what its members do, and what they pass on. */
static void sum_group(struct callgrind_graph *g, uint32_t k)
{
	int64_t *total = &g->total[(size_t)k * g->n_events];

	for (uint32_t m = g->group_first[k]; m < g->group_first[k + 1]; m++) {
		uint32_t f = g->member[m];

		for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++) {
			bool counts = item_at(g, i)->callee == CALLGRIND_NONE ||
				      callgrind_graph_leaves(g, g->item[i]);

			for (uint32_t e = 0; counts && e < g->n_events; e++)
				total[e] += g->flow[(size_t)i * g->n_events + e];
		}
	}
}

/* Calls bring what the group costs; those that say more are cut, and what none says begins at the root. */
static void settle_calls(struct callgrind_graph *g, const struct callers *c, uint32_t k)
{
	uint32_t n = c->first[k + 1] - c->first[k];
	int64_t **part = xmalloc((n + 1) * sizeof(*part)),
		*share = xmalloc((n + 1) * sizeof(*share));
	bool uneven = false;

	for (uint32_t e = 0; e < g->n_events; e++) {
		int64_t total = g->total[(size_t)k * g->n_events + e];
		__int128 called = 0;

		for (uint32_t i = 0; i < n; i++) {
			part[i] = &g->flow[(size_t)c->at[c->first[k] + i] * g->n_events + e];
			called += *part[i];
		}
		if (called <= total) {
			g->root[(size_t)k * g->n_events + e] = total - (int64_t)called;
			continue;
		}
		uneven = true;
		callgrind_split(total, part, n, share);
		for (uint32_t i = 0; i < n; i++)
			*part[i] = share[i];
	}
	g->n_uneven += uneven;
	free(part);
	free(share);
}

static void find_flows(struct callgrind_graph *g)
{
	size_t n = g->n_events, groups = (size_t)g->n_groups * n + 1;
	struct callers c;

	g->flow = xmalloc((g->n_items * n + 1) * sizeof(*g->flow));
	g->total = xcalloc(groups, sizeof(*g->total));
	g->root = xcalloc(groups, sizeof(*g->root));
	for (size_t i = 0; i < g->n_items; i++)
		memcpy(&g->flow[i * n], &g->t->costs.at[g->item[i] * n], n * sizeof(*g->flow));
	callers_init(&c, g);
	/* callees come first, and with them what calls of them cost */
	for (uint32_t k = 0; k < g->n_groups; k++) {
		sum_group(g, k);
		settle_calls(g, &c, k);
	}
	free(c.first);
	free(c.at);
}

void callgrind_graph_init(struct callgrind_graph *g, const struct callgrind_text *t,
			  uint32_t thread)
{
	*g = (struct callgrind_graph){ .t = t, .n_events = t->n_events };
	sort_items(g, thread);
	find_groups(g);
	count_recursive(g);
	find_flows(g);
}

void callgrind_graph_done(struct callgrind_graph *g)
{
	free(g->item);
	free(g->first);
	free(g->group);
	free(g->member);
	free(g->group_first);
	free(g->flow);
	free(g->total);
	free(g->root);
}
