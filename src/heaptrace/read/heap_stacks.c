/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heaptrace/read/heap_stacks.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "symbols/resolver.h"

#include <stdlib.h>
#include <string.h>

/* More mappings than a process has are not compared with each other any more. */
#define MOST_RANGES 65536

struct node {
	uint64_t ip;
	uint32_t parent;
	uint32_t location; /* location_id as of `epoch` */
	uint32_t epoch;    /* 0: not looked up yet */
	bool exact;
};

/* The stack of a node under a root, as of an epoch. */
struct answer {
	uint32_t root; /* stack_id */
	uint32_t node;
	uint32_t epoch;
	uint32_t stack; /* stack_id */
};

struct range {
	uint64_t start, end;
	uint64_t module;
};

struct heap_stacks {
	struct profile *profile;   /* borrowed */
	struct resolver *resolver; /* borrowed */
	int32_t pid;
	VEC(struct node) nodes; /* [0] is none */
	VEC(struct answer) answers;
	struct map answer_of;     /* indexes of answers by root and node */
	VEC(struct range) ranges; /* that are or were mapped */
	VEC(int64_t) remapped;    /* when something was mapped over something else, in order */
	size_t n_passed;          /* of these, by the times that were asked for */
	VEC(uint32_t) path;       /* nodes on the way out, while a stack is made */
};

struct heap_stacks *heap_stacks_new(struct profile *p, struct resolver *r, int32_t pid)
{
	struct heap_stacks *s = xcalloc(1, sizeof(*s));

	s->profile = p;
	s->resolver = r;
	s->pid = pid;
	vec_push(&s->nodes, (struct node){ 0 });
	return s;
}

void heap_stacks_free(struct heap_stacks *s)
{
	if (!s)
		return;
	vec_done(&s->nodes);
	vec_done(&s->answers);
	vec_done(&s->ranges);
	vec_done(&s->remapped);
	vec_done(&s->path);
	map_done(&s->answer_of);
	free(s);
}

bool heap_stacks_add(struct heap_stacks *s, const struct heap_block *b,
		     const struct heap_unpacked *u)
{
	struct heap_in parents = u->column[HEAP_COL_PARENT], ips = u->column[HEAP_COL_IP];
	struct heap_node_state state = { .id = b->first_id };

	if (b->first_id < s->nodes.n || b->first_id > UINT32_MAX - b->n)
		return false;
	/* A block before this one may be lost: nodes without a number of theirs have no frame. */
	while (s->nodes.n < b->first_id && b->first_id - s->nodes.n <= HEAP_MAX_COLUMN)
		vec_push(&s->nodes, (struct node){ .ip = HEAP_IP_UNKNOWN });
	if (s->nodes.n != b->first_id)
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		struct node to = { 0 };
		struct heap_node node;

		if (!heap_take_node(&parents, &ips, &state, &node))
			return false;
		to.ip = node.ip;
		to.parent = node.parent;
		to.exact = node.exact;
		vec_push(&s->nodes, to);
	}
	return true;
}

bool heap_stacks_map(struct heap_stacks *s, const struct heap_record *map, int64_t time_ns)
{
	struct range r = { .start = map->number[HEAP_MAP_START],
			   .module = map->number[HEAP_MAP_MODULE] };
	bool over = s->ranges.n >= MOST_RANGES;

	if (__builtin_add_overflow(r.start, map->number[HEAP_MAP_BYTES], &r.end))
		r.end = UINT64_MAX;
	for (size_t i = 0; i < s->ranges.n && !over; i++) {
		const struct range *o = &s->ranges.at[i];

		over = r.start < o->end && o->start < r.end && r.module != o->module;
	}
	if (s->ranges.n < MOST_RANGES)
		vec_push(&s->ranges, r);
	if (over)
		vec_push(&s->remapped, time_ns);
	return over;
}

uint32_t heap_stacks_epoch(struct heap_stacks *s, int64_t time_ns)
{
	while (s->n_passed < s->remapped.n && s->remapped.at[s->n_passed] <= time_ns)
		s->n_passed++;
	return (uint32_t)s->n_passed + 1;
}

int64_t heap_stacks_epoch_end(const struct heap_stacks *s)
{
	return s->n_passed < s->remapped.n ? s->remapped.at[s->n_passed] : INT64_MAX;
}

static location_id mark_location(struct profile *p, const char *name)
{
	return build_symbol_location(p, build_function(p, build_cstring(p, name), (module_id){ 0 },
						       FUNCTION_MARK, (string_id){ 0 }, 0));
}

static location_id location_of(struct heap_stacks *s, uint32_t number, uint32_t epoch,
			       int64_t time_ns)
{
	struct node *node = &s->nodes.at[number];
	location_id l;

	if (node->epoch == epoch)
		return (location_id){ node->location };
	if (node->ip == HEAP_IP_UNKNOWN)
		l = mark_location(s->profile, "[truncated]");
	else if (node->ip == HEAP_IP_ELIDED)
		l = mark_location(s->profile, "[too deep]");
	else
		l = resolver_locate(s->resolver, s->pid, time_ns, node->ip, MODE_USER,
				    !node->exact);
	node->location = l.v;
	node->epoch = epoch;
	return l;
}

static bool same_answer(const void *things, uint32_t value, const void *key)
{
	const struct answer *a = &((const struct answer *)things)[value], *k = key;

	return a->node == k->node && a->root == k->root;
}

/* The answer for a node, an old one if need be; made when there is none. Good until the next call. */
static struct answer *answer_for(struct heap_stacks *s, uint32_t root, uint32_t node)
{
	struct answer key = { .root = root, .node = node };
	uint64_t hash = hash_pair(root, node);
	uint32_t i = map_find(&s->answer_of, hash, same_answer, s->answers.at, &key);

	if (i == MAP_NONE) {
		i = (uint32_t)s->answers.n;
		vec_push(&s->answers, key);
		map_add(&s->answer_of, hash, i);
	}
	return &s->answers.at[i];
}

void heap_stacks_forget(struct heap_stacks *s)
{
	vec_done(&s->answers);
	map_done(&s->answer_of);
}

stack_id heap_stacks_get(struct heap_stacks *s, stack_id root, uint32_t node, int64_t time_ns)
{
	uint32_t epoch = heap_stacks_epoch(s, time_ns);
	stack_id at = root;

	/* Out to where the answer is known, and in again. */
	s->path.n = 0;
	while (node != 0 && node < s->nodes.n) {
		const struct answer *a = answer_for(s, root.v, node);

		if (a->epoch == epoch) {
			at.v = a->stack;
			break;
		}
		vec_push(&s->path, node);
		node = s->nodes.at[node].parent;
	}
	for (size_t i = s->path.n; i-- > 0;) {
		struct answer *a;

		node = s->path.at[i];
		at = build_stack(s->profile, at, location_of(s, node, epoch, time_ns));
		a = answer_for(s, root.v, node);
		a->epoch = epoch;
		a->stack = at.v;
	}
	return at;
}
