/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Totals need the way from the root only to count recursion once: the trie is read in preorder with a count of each
 * key on the way, and no node is ever compared with its siblings, as a call tree's are.
 */
#include "config.h"

#include "stack_table.h"

#include "mem.h"
#include "task.h"

#include <errno.h>
#include <stdlib.h>

/* Stacks between two looks at whether somebody wants to stop. */
#define CANCEL_MASK 0xffffu

/* A stack as it is passed: all that is needed to go on from it lies together. */
struct node {
	uint32_t child;    /* the first that is live, or 0 */
	uint32_t sibling;  /* the next that is live, or 0 */
	uint32_t location; /* location_id */
};

struct trie {
	const struct keys *keys;
	struct location_columns locations;
	struct stack_columns stacks;
	struct weights *w;  /* of stacks; those of what is above them are added */
	uint32_t *key;      /* [n_locations] of the innermost frame; owned, as are the following */
	bool *is_run;       /* [n_locations] there are frames around that one */
	struct node *node;  /* [n_stacks] */
	uint32_t *n_on_way; /* [n_keys] frames on the way to where we are */
	VEC(uint32_t) way;  /* stack_ids from the first below the root to where we are */
	struct table_sums sums; /* what is asked for */
};

static void find_keys(struct trie *t, uint32_t n_locations, bool inlines)
{
	const struct location_columns *l = &t->locations;

	t->key = xmalloc(n_locations * sizeof(*t->key));
	t->is_run = xcalloc(n_locations, sizeof(*t->is_run));
	for (uint32_t i = 0; i < n_locations; i++) {
		const struct frame *f = inlines ? location_frames(l, i) : NULL;
		uint32_t function = f ? f[f->n_more].function : location_function(l, i);

		t->key[i] = keys_of_frame(t->keys, function, l->module[i]);
		t->is_run[i] = f && f->n_more > 0;
	}
}

/* What ends in each stack counts for its innermost frame. */
static void sum_self(struct trie *t)
{
	uint32_t n_columns = t->w->n_columns;

	for (uint32_t i = 1; i < t->w->n_stacks; i++) {
		const int64_t *weight = t->w->stack + (size_t)i * n_columns;
		uint32_t location = t->stacks.location[i];
		int64_t *self = t->sums.self + (size_t)t->key[location] * n_columns;

		t->node[i].location = location;
		for (uint32_t c = 0; c < n_columns; c++)
			self[c] += weight[c];
	}
}

/* Does it weigh, or something above it, which was seen to before? */
static bool is_live(const struct trie *t, uint32_t stack)
{
	const int64_t *weight = t->w->stack + (size_t)stack * t->w->n_columns;
	bool live = t->node[stack].child != 0;

	for (uint32_t c = 0; c < t->w->n_columns && !live; c++)
		live = weight[c] != 0;
	return live;
}

/* Adds up from the leaves, and links what is live to its parent. */
static void sum_up(struct trie *t)
{
	uint32_t n_columns = t->w->n_columns;

	for (uint32_t i = t->w->n_stacks; i-- > 1;) {
		const int64_t *weight = t->w->stack + (size_t)i * n_columns;
		uint32_t parent = t->stacks.parent[i];

		if (!is_live(t, i))
			continue;
		t->sums.n_samples[t->key[t->node[i].location]] += t->w->samples[i];
		for (uint32_t c = 0; c < n_columns; c++)
			t->w->stack[(size_t)parent * n_columns + c] += weight[c];
		t->node[i].sibling = t->node[parent].child;
		t->node[parent].child = i;
	}
}

static void pass_frame(struct trie *t, uint32_t stack, uint32_t key)
{
	uint32_t n_columns = t->w->n_columns;
	const int64_t *weight = t->w->stack + (size_t)stack * n_columns;
	int64_t *total = t->sums.total + (size_t)key * n_columns;

	if (t->n_on_way[key]++ > 0)
		return;
	t->sums.wanted[key] = true;
	for (uint32_t c = 0; c < n_columns; c++)
		total[c] += weight[c];
}

static void enter(struct trie *t, uint32_t stack)
{
	uint32_t location = t->node[stack].location, sibling = t->node[stack].sibling;
	const struct frame *f = t->is_run[location] ? location_frames(&t->locations, location)
						    : NULL;

	/* It is passed after all that is above this one. */
	__builtin_prefetch(&t->node[sibling]);
	__builtin_prefetch(t->w->stack + (size_t)sibling * t->w->n_columns);
	for (; f && f->n_more > 0; f++)
		pass_frame(t, stack,
			   keys_of_frame(t->keys, f->function, t->locations.module[location]));
	pass_frame(t, stack, t->key[location]);
	vec_push(&t->way, stack);
}

/* Back to where the innermost stack on the way came from. Returns the sibling of that one, or 0. */
static uint32_t leave(struct trie *t)
{
	const struct node *node = &t->node[t->way.at[--t->way.n]];
	uint32_t location = node->location;
	const struct frame *f = t->is_run[location] ? location_frames(&t->locations, location)
						    : NULL;

	for (; f && f->n_more > 0; f++)
		t->n_on_way[keys_of_frame(t->keys, f->function, t->locations.module[location])]--;
	t->n_on_way[t->key[location]]--;
	return node->sibling;
}

/* Preorder: down to the first child, else on to the next sibling of the nearest that has one. */
static int go_through(struct trie *t, struct progress *progress)
{
	uint32_t at = t->node[0].child;

	for (uint32_t n = 1; at != 0; n++) {
		if ((n & CANCEL_MASK) == 0 && progress_cancelled(progress))
			return -ECANCELED;
		enter(t, at);
		at = t->node[at].child;
		while (at == 0 && t->way.n > 0)
			at = leave(t);
	}
	return 0;
}

/* Rows for what was passed, but for the names of threads. */
static void choose_rows(struct trie *t)
{
	for (uint32_t i = 0; i < t->keys->n; i++)
		t->sums.wanted[i] = t->sums.wanted[i] && !(t->keys->key[i].flags & FUNCTION_COMM);
}

int table_of_stacks(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, const struct keys *k, struct weights *w,
		    struct progress *progress, struct table *out)
{
	struct trie t = { .keys = k, .w = w };
	int rc;

	profile_locations(p, &t.locations);
	profile_stacks(p, &t.stacks);
	find_keys(&t, counts->n_locations, lens->inlines);
	t.node = xcalloc(w->n_stacks, sizeof(*t.node));
	t.n_on_way = xcalloc(k->n, sizeof(*t.n_on_way));
	table_sums_init(&t.sums, k, w->n_columns);
	sum_self(&t);
	sum_up(&t);
	rc = go_through(&t, progress);
	if (rc == 0) {
		choose_rows(&t);
		table_of_sums(&t.sums, out);
	}
	table_sums_done(&t.sums);
	free(t.key);
	free(t.is_run);
	free(t.node);
	free(t.n_on_way);
	vec_done(&t.way);
	weights_drop_stacks(w);
	weights_drop_samples(w);
	return rc;
}
