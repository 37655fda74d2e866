/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes of the tree wait in a heap, those that cost most on top. A node takes its part from what remains of its group's cost, so that
 * the last one gets the rest, and nothing is lost by rounding.
 */
#include "config.h"

#include "formats/callgrind/callgrind_tree.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/callgrind/callgrind_graph.h"
#include "formats/callgrind/callgrind_text.h"
#include "formats/named_frames.h"
#include "profile/builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Work between two publications. */
#define PUBLISH_WORK 100000

/* A call into a group that is not in the profile yet. */
struct node {
	stack_id above;
	uint32_t entry;  /* the function that is called */
	uint32_t budget; /* of builder.budgets, in rows of n_events */
	double share;    /* the greatest part of an event's total */
};

struct place {
	uint32_t function;
	string_id file;
	uint32_t line;
	location_id location;
};

struct builder {
	const struct callgrind_text *t;
	struct profile *p;
	struct progress *progress;
	struct callgrind_tree_result *result;
	struct callgrind_graph g;
	event_id event[CALLGRIND_EVENTS];
	event_id calls;
	bool has_calls;
	uint32_t *model; /* [functions] function_id, ID_NONE: not asked for yet; owned */
	VEC(struct place) places;
	struct map by_place;
	VEC(struct node) heap;   /* a binary heap by .share */
	VEC(int64_t) budgets;    /* rows of n_events */
	VEC(uint32_t) free_rows; /* of budgets */
	int64_t *merged;         /* [n_groups][n_events] of nodes that were not expanded; owned */
	uint32_t *merged_entry;  /* [n_groups] the function; owned */
	int64_t *calls_left;     /* [n_items] of the graph; owned */
	struct sample like;      /* the thread's */
	/* Of the group that is being expanded: */
	stack_id *base;      /* [functions] the stack above a member, good where .seen is .round */
	uint32_t *seen;      /* [functions] */
	uint32_t round;      /* of expansions */
	VEC(uint32_t) path;  /* members in the order they were reached in */
	VEC(uint32_t) parts; /* the graph's items that share the cost */
	VEC(int64_t *) part; /* what remains of each */
	VEC(int64_t) share;  /* [n_events][parts.n] */
	uint64_t work, published;
	int rc;
};

/* Locations. */

static function_id model_function(struct builder *b, uint32_t f)
{
	const struct callgrind_function *c = &b->t->functions.at[f];

	if (b->model[f] == ID_NONE) {
		struct named_frame frame = { .name = c->name,
					     .file = c->file,
					     .declared = c->line };

		b->model[f] =
			named_frame_function(b->p, &frame, named_frame_object(b->p, c->object)).v;
	}
	return (function_id){ b->model[f] };
}

static bool same_place(const void *things, uint32_t value, const void *key)
{
	const struct place *a = &((const struct place *)things)[value], *k = key;

	return a->function == k->function && a->file.v == k->file.v && a->line == k->line;
}

static location_id location_of(struct builder *b, uint32_t function, string_id file, uint32_t line)
{
	struct place k = { .function = function, .file = file, .line = line };
	uint64_t hash = hash_u64(hash_pair(function, file.v) ^ line);
	uint32_t at = map_find(&b->by_place, hash, same_place, b->places.at, &k);
	struct frame frame;

	if (at != MAP_NONE)
		return b->places.at[at].location;
	frame = (struct frame){ .function = model_function(b, function).v,
				.file = file.v,
				.line = line };
	k.location = build_frames_location(b->p, &frame, 1);
	map_add(&b->by_place, hash, (uint32_t)b->places.n);
	vec_push(&b->places, k);
	return k.location;
}

static stack_id stack_of_item(struct builder *b, const struct callgrind_item *i)
{
	return build_stack(b->p, b->base[i->function],
			   location_of(b, i->function, i->file, i->line));
}

/* The heap. */

static void push_node(struct builder *b, struct node n)
{
	size_t at = b->heap.n;

	vec_push(&b->heap, n);
	while (at > 0 && b->heap.at[(at - 1) / 2].share < n.share) {
		b->heap.at[at] = b->heap.at[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	b->heap.at[at] = n;
}

static struct node pop_node(struct builder *b)
{
	struct node top = b->heap.at[0], last = b->heap.at[--b->heap.n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < b->heap.n) {
		child += child + 1 < b->heap.n &&
			 b->heap.at[child + 1].share > b->heap.at[child].share;
		if (b->heap.at[child].share <= last.share)
			break;
		b->heap.at[at] = b->heap.at[child];
		at = child;
	}
	if (b->heap.n > 0)
		b->heap.at[at] = last;
	return top;
}

static uint32_t budget_row(struct builder *b)
{
	uint32_t n = b->g.n_events;

	if (b->free_rows.n > 0)
		return b->free_rows.at[--b->free_rows.n];
	vec_reserve(&b->budgets, b->budgets.n + n);
	b->budgets.n += n;
	return (uint32_t)(b->budgets.n / n - 1);
}

/* cost: [n_events], each every step numbers. */
static void add_node(struct builder *b, stack_id above, uint32_t entry, const int64_t *cost,
		     size_t step)
{
	struct node n = { .above = above, .entry = entry };
	int64_t *to;

	for (uint32_t e = 0; e < b->g.n_events; e++) {
		double share = cost[e * step] > 0
				       ? (double)cost[e * step] / (double)b->t->event[e].total
				       : 0;

		n.share = share > n.share ? share : n.share;
	}
	if (n.share <= 0)
		return;
	n.budget = budget_row(b);
	to = &b->budgets.at[(size_t)n.budget * b->g.n_events];
	for (uint32_t e = 0; e < b->g.n_events; e++)
		to[e] = cost[e * step];
	push_node(b, n);
}

/* Expanding. */

/* each: what one of weight is in the event's unit */
static void add_row(struct builder *b, stack_id stack, event_id event, int64_t weight, int64_t each)
{
	struct sample s = b->like;

	if (weight <= 0)
		return;
	s.stack = stack;
	s.event = event;
	if (__builtin_mul_overflow(weight, each, &s.weight) || build_sample(b->p, &s) < 0)
		b->result->n_large++;
	else
		b->result->n_rows++;
}

/* The members of the entry's group by the shortest way from it, each with the stack above it. */
static void reach_members(struct builder *b, uint32_t entry, stack_id above)
{
	const struct callgrind_graph *g = &b->g;

	b->round++;
	vec_clear(&b->path);
	vec_push(&b->path, entry);
	b->base[entry] = above;
	b->seen[entry] = b->round;
	for (size_t at = 0; at < b->path.n; at++) {
		uint32_t f = b->path.at[at];

		if (g->group_first[g->group[f] + 1] - g->group_first[g->group[f]] == 1)
			return;
		for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++) {
			const struct callgrind_item *item = &b->t->items.at[g->item[i]];
			uint32_t callee = item->callee;

			b->work++;
			if (callee == CALLGRIND_NONE || g->group[callee] != g->group[f] ||
			    b->seen[callee] == b->round)
				continue;
			b->seen[callee] = b->round;
			b->base[callee] = stack_of_item(b, item);
			vec_push(&b->path, callee);
		}
	}
}

/* How many of an item's calls this node has: as its part of the group's first cost. */
static int64_t take_calls(struct builder *b, uint32_t i, int64_t budget, int64_t total)
{
	int64_t left = b->calls_left[i],
		n = budget >= total ? left
				    : (int64_t)((__int128)left * budget / (total > 0 ? total : 1));

	b->calls_left[i] -= n;
	return n;
}

static void gather_parts(struct builder *b)
{
	const struct callgrind_graph *g = &b->g;

	vec_clear(&b->parts);
	for (size_t m = 0; m < b->path.n; m++) {
		uint32_t f = b->path.at[m];

		for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++)
			vec_push(&b->parts, i);
	}
}

static bool shares_cost(const struct builder *b, uint32_t i)
{
	return b->t->items.at[b->g.item[i]].callee == CALLGRIND_NONE ||
	       callgrind_graph_leaves(&b->g, b->g.item[i]);
}

/* [e][part]: what each part gets of the node's budget. */
static void split_budget(struct builder *b, uint32_t group, const int64_t *budget)
{
	size_t n = b->parts.n;
	int64_t nothing = 0;

	vec_reserve(&b->share, n * b->g.n_events + 1);
	vec_reserve(&b->part, n);
	for (uint32_t e = 0; e < b->g.n_events; e++) {
		for (size_t k = 0; k < n; k++)
			b->part.at[k] =
				shares_cost(b, b->parts.at[k])
					? &b->g.flow[(size_t)b->parts.at[k] * b->g.n_events + e]
					: &nothing;
		callgrind_split(budget[e], b->part.at, n, &b->share.at[e * n]);
		b->g.total[(size_t)group * b->g.n_events + e] -= budget[e];
	}
}

static void add_item(struct builder *b, uint32_t i, const int64_t *share, size_t step,
		     int64_t calls)
{
	const struct callgrind_item *item = &b->t->items.at[b->g.item[i]];
	stack_id stack = stack_of_item(b, item);

	if (item->callee == CALLGRIND_NONE) {
		for (uint32_t e = 0; e < b->g.n_events; e++)
			add_row(b, stack, b->event[e], share[e * step], b->t->event[e].each);
		return;
	}
	if (calls > 0) {
		const struct callgrind_function *f = &b->t->functions.at[item->callee];

		add_row(b, build_stack(b->p, stack, location_of(b, item->callee, f->file, f->line)),
			b->calls, calls, 1);
	}
	if (callgrind_graph_leaves(&b->g, b->g.item[i]))
		add_node(b, stack, item->callee, share, step);
}

/* budget: [n_events], of the entry's group; may be of .budgets. */
static void expand(struct builder *b, stack_id above, uint32_t entry, const int64_t *budget)
{
	uint32_t group = b->g.group[entry];
	int64_t first = budget[0], total = b->g.total[(size_t)group * b->g.n_events];

	reach_members(b, entry, above);
	gather_parts(b);
	split_budget(b, group, budget);
	for (size_t k = 0; k < b->parts.n; k++)
		add_item(b, b->parts.at[k], &b->share.at[k], b->parts.n,
			 take_calls(b, b->parts.at[k], first, total));
	b->work += (b->parts.n + 1) * b->g.n_events;
}

static void publish(struct builder *b)
{
	if (b->work - b->published < PUBLISH_WORK)
		return;
	b->published = b->work;
	b->rc = builder_end(b->p);
	builder_begin(b->p);
	if (progress_cancelled(b->progress))
		b->rc = -ECANCELED;
}

/* Nodes that were not expanded, by groups and in the order of calls. */

static void merge_node(struct builder *b, struct node n)
{
	uint32_t group = b->g.group[n.entry];
	const int64_t *cost = &b->budgets.at[(size_t)n.budget * b->g.n_events];

	for (uint32_t e = 0; e < b->g.n_events; e++)
		b->merged[(size_t)group * b->g.n_events + e] += cost[e];
	b->merged_entry[group] = n.entry;
	vec_push(&b->free_rows, n.budget);
}

static bool has_cost(const int64_t *cost, uint32_t n)
{
	for (uint32_t e = 0; e < n; e++)
		if (cost[e] > 0)
			return true;
	return false;
}

static void add_merged(struct builder *b)
{
	string_id name = build_cstring(b->p, CALLGRIND_MERGED_NAME);
	function_id mark = build_function(b->p, name, (module_id){ 0 }, FUNCTION_MARK,
					  (string_id){ 0 }, 0);
	stack_id above = build_stack(b->p, b->base[0], build_symbol_location(b->p, mark));

	for (uint32_t e = 0; e < b->g.n_events; e++) {
		double share = 0;

		for (size_t i = 0; i < b->heap.n; i++)
			share += (double)b->budgets
					 .at[(size_t)b->heap.at[i].budget * b->g.n_events + e];
		share /= b->t->event[e].total > 0 ? (double)b->t->event[e].total : 1;
		b->result->merged = share > b->result->merged ? share : b->result->merged;
	}
	for (uint32_t k = b->g.n_groups; k-- > 0 && b->rc == 0;) {
		int64_t *cost = &b->merged[(size_t)k * b->g.n_events];

		/* callers come later than what they call, and have been expanded */
		while (b->heap.n > 0)
			merge_node(b, b->heap.at[--b->heap.n]);
		if (has_cost(cost, b->g.n_events))
			expand(b, above, b->merged_entry[k], cost);
		publish(b);
	}
}

/* Threads. */

/* The function that a group without callers is come into by: the one that passes on most. */
static uint32_t entry_of(const struct callgrind_graph *g, uint32_t group)
{
	uint32_t best = g->member[g->group_first[group]];
	int64_t most = -1;

	for (uint32_t m = g->group_first[group]; m < g->group_first[group + 1]; m++) {
		uint32_t f = g->member[m];
		int64_t cost = 0;

		for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++)
			if (__builtin_add_overflow(
				    cost, g->t->costs.at[(size_t)g->item[i] * g->n_events], &cost))
				cost = INT64_MAX;
		if (cost > most) {
			most = cost;
			best = f;
		}
	}
	return best;
}

static stack_id root_of(struct builder *b, capture_id c, int64_t number, enum root_names names)
{
	const char *command = profile_string(b->p, b->t->command, NULL), *end, *name;
	bool numbered = b->t->pid > 0;
	string_id comm = { 0 };
	process_id process;
	char *text;

	b->like = (struct sample){ .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	if (!numbered)
		return (stack_id){ 0 };
	end = command + strcspn(command, " ");
	for (name = end; name > command && name[-1] != '/';)
		name--;
	if (number > 1) {
		text = xasprintf("%.*s thread %ld", (int)(end - name > 64 ? 64 : end - name), name,
				 (long)number);
		comm = build_cstring(b->p, text);
		free(text);
	} else if (end > name) {
		comm = build_string(b->p, name, (size_t)(end - name));
	}
	process = build_process(b->p, c, (int32_t)b->t->pid);
	build_process_name(b->p, process, comm);
	b->like.thread = build_thread(b->p, process, -1, comm);
	return build_stack(b->p, (stack_id){ 0 },
			   build_root_location(b->p, comm, (int32_t)b->t->pid, -1, names));
}

/* work_most: for this thread */
static void add_thread(struct builder *b, uint64_t work_most, stack_id root)
{
	const struct callgrind_graph *g = &b->g;
	size_t n_functions = b->t->functions.n + 1, groups = (size_t)g->n_groups * g->n_events + 1;

	b->merged = xcalloc(groups, sizeof(*b->merged));
	b->merged_entry = xcalloc((size_t)g->n_groups + 1, sizeof(*b->merged_entry));
	b->calls_left = xmalloc((g->n_items + 1) * sizeof(*b->calls_left));
	b->base = xmalloc(n_functions * sizeof(*b->base));
	b->seen = xcalloc(n_functions, sizeof(*b->seen));
	b->round = 0;
	for (size_t i = 0; i < g->n_items; i++)
		b->calls_left[i] = b->t->items.at[g->item[i]].calls;
	for (uint32_t k = 0; k < g->n_groups; k++)
		add_node(b, root, entry_of(g, k), &g->root[(size_t)k * g->n_events], 1);
	work_most += b->work;
	while (b->heap.n > 0 && b->work < work_most && b->rc == 0) {
		struct node n = pop_node(b);
		int64_t budget[CALLGRIND_EVENTS];

		/* new nodes move the budgets */
		memcpy(budget, &b->budgets.at[(size_t)n.budget * g->n_events],
		       g->n_events * sizeof(*budget));
		vec_push(&b->free_rows, n.budget);
		expand(b, n.above, n.entry, budget);
		publish(b);
	}
	if (b->heap.n > 0 && b->rc == 0) {
		b->base[0] = root;
		add_merged(b);
	}
	vec_clear(&b->heap);
	vec_clear(&b->budgets);
	vec_clear(&b->free_rows);
	b->result->n_recursive += g->n_recursive;
	b->result->n_uneven += g->n_uneven;
	free(b->merged);
	free(b->merged_entry);
	free(b->calls_left);
	free(b->base);
	free(b->seen);
}

static void make_events(struct builder *b)
{
	for (uint32_t e = 0; e < b->t->n_events; e++)
		b->event[e] = build_summed_event(
			b->p, profile_string(b->p, b->t->event[e].name, NULL), b->t->event[e].unit);
	for (size_t i = 0; i < b->t->items.n && !b->has_calls; i++)
		b->has_calls = b->t->items.at[i].calls > 0;
	if (b->t->n_events > 0)
		build_event_default(b->p, b->event[0]);
	if (b->has_calls)
		b->calls = build_summed_event(b->p, "calls", UNIT_COUNT);
}

int callgrind_tree_build(const struct callgrind_text *t, struct profile *p, capture_id c,
			 enum root_names root_names, uint64_t work_most, struct progress *progress,
			 struct callgrind_tree_result *result)
{
	struct builder b = { .t = t, .p = p, .progress = progress, .result = result };
	int rc;

	*result = (struct callgrind_tree_result){ 0 };
	b.model = xmalloc((t->functions.n + 1) * sizeof(*b.model));
	for (size_t f = 0; f < t->functions.n; f++)
		b.model[f] = ID_NONE;
	builder_begin(p);
	make_events(&b);
	for (uint32_t i = 0; i < t->threads.n && b.rc == 0 && t->n_events > 0; i++) {
		/* what a thread leaves is for those after it */
		uint64_t left = b.work < work_most ? work_most - b.work : 0;

		callgrind_graph_init(&b.g, t, i);
		if (b.g.n_items > 0)
			add_thread(&b, left / (t->threads.n - i),
				   root_of(&b, c, t->threads.at[i], root_names));
		callgrind_graph_done(&b.g);
		if (b.rc == 0 && progress_cancelled(progress))
			b.rc = -ECANCELED;
	}
	rc = builder_end(p);
	free(b.model);
	vec_done(&b.places);
	map_done(&b.by_place);
	vec_done(&b.heap);
	vec_done(&b.budgets);
	vec_done(&b.free_rows);
	vec_done(&b.path);
	vec_done(&b.parts);
	vec_done(&b.part);
	vec_done(&b.share);
	return b.rc ? b.rc : rc;
}
