/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/valgrind/massif_tree.h"

#include <stdlib.h>
#include <string.h>

/* What is in place of callers that hold too little for massif to list them. */
#define BELOW_THRESHOLD "[below massif's threshold]"

void massif_tree_init(struct massif_tree *t, struct profile *p)
{
	*t = (struct massif_tree){ .frames = { .p = p } };
}

void massif_tree_done(struct massif_tree *t)
{
	valgrind_frames_done(&t->frames);
	vec_done(&t->leaves);
	vec_done(&t->path);
}

void massif_tree_begin(struct massif_tree *t)
{
	vec_clear(&t->path);
	t->first = t->leaves.n;
	t->n_missing = 0;
}

/* The node's own bytes, as a leaf; of a root without callers there is no stack to speak of. */
static void close_node(struct massif_tree *t)
{
	const struct massif_node *node = &t->path.at[t->path.n - 1];
	struct profile *p = t->frames.p;
	stack_id stack = { 0 };

	t->n_missing += node->n_left;
	if (node->bytes > 0 && t->path.n > 1) {
		for (size_t i = t->path.n; i-- > 1;)
			stack = build_stack(p, stack, (location_id){ t->path.at[i].location });
		vec_push(&t->leaves, ((struct massif_leaf){ stack.v, node->bytes }));
	}
	t->path.n--;
}

/* "n2: 100000 0x109255: leak_here() (alloc.cpp:8)": how many callers, bytes, and the frame. */
static bool take_apart(const char *s, size_t n, uint64_t *callers, uint64_t *bytes,
		       const char **label)
{
	const char *end = s + n;
	uint64_t *to[] = { callers, bytes };
	const char *const behind[] = { ": ", " " };

	if (n == 0 || *s++ != 'n')
		return false;
	for (int i = 0; i < 2; i++) {
		const char *from = s;

		for (*to[i] = 0; s < end && *s >= '0' && *s <= '9'; s++)
			if (__builtin_mul_overflow(*to[i], 10, to[i]) ||
			    __builtin_add_overflow(*to[i], (uint64_t)(*s - '0'), to[i]))
				return false;
		if (s == from || (size_t)(end - s) < strlen(behind[i]) ||
		    memcmp(s, behind[i], strlen(behind[i])) != 0)
			return false;
		s += strlen(behind[i]);
	}
	*label = s;
	return true;
}

const char *massif_tree_line(struct massif_tree *t, const char *s, size_t n)
{
	struct massif_node node = { 0 };
	const char *label;
	size_t depth = 0;

	while (depth < n && s[depth] == ' ')
		depth++;
	if (!take_apart(s + depth, n - depth, &node.n_left, &node.bytes, &label))
		return "has no callers and bytes";
	if (depth > t->path.n || (depth == 0 && t->path.n > 0))
		return "is below no caller of the tree";
	while (t->path.n > depth)
		close_node(t);
	if (depth > 0) {
		struct massif_node *above = &t->path.at[depth - 1];

		if (node.bytes > above->bytes)
			return "has more bytes than what it is below";
		above->bytes -= node.bytes;
		above->n_left -= above->n_left > 0;
		node.location = s + n - label > 3 && memcmp(label, "in ", 3) == 0
					? valgrind_frame_mark(t->frames.p, BELOW_THRESHOLD).v
					: valgrind_frame_location(&t->frames, label,
								  (size_t)(s + n - label))
						  .v;
	}
	vec_push(&t->path, node);
	return NULL;
}

static int by_stack(const void *a, const void *b)
{
	const struct massif_leaf *x = a, *y = b;

	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Callers with equal names at equal places are one stack. */
static void merge(struct massif_tree *t)
{
	size_t to = t->first;

	for (size_t i = t->first; i < t->leaves.n; i++) {
		if (to > t->first && t->leaves.at[to - 1].stack == t->leaves.at[i].stack)
			t->leaves.at[to - 1].bytes += t->leaves.at[i].bytes;
		else
			t->leaves.at[to++] = t->leaves.at[i];
	}
	t->leaves.n = to;
}

uint64_t massif_tree_end(struct massif_tree *t)
{
	while (t->path.n > 0)
		close_node(t);
	if (t->leaves.n > t->first)
		qsort(t->leaves.at + t->first, t->leaves.n - t->first, sizeof(*t->leaves.at),
		      by_stack);
	merge(t);
	return t->n_missing;
}
