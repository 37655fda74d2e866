/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Totals need the way from the root only to count recursion once: the trie is read in preorder with a count of each
 * key on the way, and no node is ever compared with its siblings, as a call tree's are. A large trie is read by two
 * threads, branch by branch.
 *
 * Of a shallow trie each stack asks those above it for its key instead, in the order of ids: that needs no links, and no load waits for
 * another, where hardly a stack has its parent in a cache.
 */
#include "config.h"

#include "query/tree/stack_table.h"

#include "base/huge_alloc.h"
#include "base/mem.h"
#include "base/task.h"
#include "query/core/analysis_cache.h"
#include "query/tree/build_tree.h"
#include "query/tree/table_cache.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Stacks between two looks at whether somebody wants to stop. */
#define CANCEL_MASK 0xffffu

/* Branches that are enough for two threads to be done at about the same time, and stacks that pay for a second one. */
#define BRANCHES_ENOUGH 256
#define STACKS_MANY     ((uint32_t)1 << 15)

/* A trie is shallow where stacks, of which some are asked, are this deep on average. */
#define SHALLOW 8
#define ASKED   1024u
/* Stacks that are passed in one go. */
#define PIECE   (CANCEL_MASK + 1)

/* A stack as it is passed: all that is needed to go on from it lies together. */
struct node {
	uint32_t child;    /* the first that is live, or 0 */
	uint32_t sibling;  /* the next that is live, or 0 */
	uint32_t location; /* location_id */
};

/* A part of the trie that is read in one go. */
struct branch {
	uint32_t stack;
	bool alone; /* what is above it is in other branches */
};

struct trie {
	const struct groups *keys;
	struct location_columns locations;
	struct stack_columns stacks;
	struct weights *w; /* of stacks; those of what is above them are added */
	uint32_t *key;     /* [n_locations] of the innermost frame; owned, as are the following */
	const struct frame **outer; /* [n_locations] frames around that one, or NULL */
	bool *is_live;     /* [n_locations] of stacks that weigh, or something above them */
	struct node *node; /* [n_stacks]; NULL: it is shallow, and there is … */
	uint64_t *
		live; /* … a bit for each stack that weighs, or has something above it that does; huge_alloc_table_new() */
	VEC(struct branch) branches;
	_Atomic uint32_t n_taken;  /* of them */
	struct progress *progress; /* borrowed */
	struct table_sums sums;    /* what is asked for */
};

/* One thread's way through the trie. */
struct passage {
	struct trie *trie;
	uint32_t *
		n_on_way; /* [n_keys] frames on the way to where we are; owned, as are the following */
	VEC(uint32_t) way; /* stack_ids from below the root to where we are */
	int64_t *total;    /* [n_keys][n_columns] */
	bool *wanted;      /* [n_keys] that were passed */
};

static void find_keys(struct trie *t, uint32_t n_locations, bool inlines)
{
	const struct location_columns *l = &t->locations;

	t->key = xmalloc(n_locations * sizeof(*t->key));
	t->outer = xcalloc(n_locations, sizeof(*t->outer));
	t->is_live = xcalloc(n_locations, sizeof(*t->is_live));
	for (uint32_t i = 0; i < n_locations; i++) {
		const struct frame *f = inlines ? location_frames(l, i) : NULL;
		uint32_t function = f ? f[f->n_more].function : location_function(l, i);

		t->key[i] = groups_of_frame(t->keys, function, l->module[i]);
		t->outer[i] = f && f->n_more > 0 ? f : NULL;
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

		if (t->node)
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
		t->is_live[t->node[i].location] = true;
		t->sums.n_samples[t->key[t->node[i].location]] += t->w->samples[i];
		for (uint32_t c = 0; c < n_columns; c++)
			t->w->stack[(size_t)parent * n_columns + c] += weight[c];
		t->node[i].sibling = t->node[parent].child;
		t->node[parent].child = i;
	}
}

/* Steps onto a frame of a stack, whose weight counts for it unless weight is NULL or it is on the way already. */
static void pass_frame(struct passage *g, const int64_t *weight, uint32_t key)
{
	uint32_t n_columns = g->trie->w->n_columns;
	int64_t *total = g->total + (size_t)key * n_columns;

	if (g->n_on_way[key]++ > 0 || !weight)
		return;
	g->wanted[key] = true;
	for (uint32_t c = 0; c < n_columns; c++)
		total[c] += weight[c];
}

static void enter(struct passage *g, uint32_t stack, const int64_t *weight)
{
	const struct trie *t = g->trie;
	uint32_t location = t->node[stack].location;
	const struct frame *f = t->outer[location];

	for (; f && f->n_more > 0; f++)
		pass_frame(g, weight,
			   groups_of_frame(t->keys, f->function, t->locations.module[location]));
	pass_frame(g, weight, t->key[location]);
	vec_push(&g->way, stack);
}

/* Back to where the innermost stack on the way came from. Returns the sibling of that one, or 0. */
static uint32_t leave(struct passage *g)
{
	const struct trie *t = g->trie;
	const struct node *node = &t->node[g->way.at[--g->way.n]];
	const struct frame *f = t->outer[node->location];

	for (; f && f->n_more > 0; f++)
		g->n_on_way[groups_of_frame(t->keys, f->function,
					    t->locations.module[node->location])]--;
	g->n_on_way[t->key[node->location]]--;
	return node->sibling;
}

/* Leaves one way for the one to a stack, in any order, which others pass. */
static void set_out(struct passage *g, uint32_t to)
{
	while (g->way.n > 0)
		leave(g);
	for (; to != 0; to = g->trie->stacks.parent[to])
		enter(g, to, NULL);
}

/* Preorder: down to the first child, else on to the next sibling of the nearest that has one. */
static int pass_branch(struct passage *g, const struct branch *b)
{
	const struct trie *t = g->trie;
	size_t base = g->way.n;
	uint32_t at = b->stack;

	for (uint32_t n = 1; at != 0; n++) {
		uint32_t sibling = t->node[at].sibling;

		if ((n & CANCEL_MASK) == 0 && progress_cancelled(t->progress))
			return -ECANCELED;
		/* It is passed after all that is above this one. */
		__builtin_prefetch(&t->node[sibling]);
		__builtin_prefetch(t->w->stack + (size_t)sibling * t->w->n_columns);
		enter(g, at, t->w->stack + (size_t)at * t->w->n_columns);
		at = b->alone ? 0 : t->node[at].child;
		while (at == 0 && g->way.n > base) {
			at = leave(g);
			if (g->way.n == base)
				return 0;
		}
	}
	return 0;
}

/* Passes branches until there are none left. */
static int go_through(void *arg)
{
	struct passage *g = arg;
	struct trie *t = g->trie;
	uint32_t from = 0, i;
	int rc = 0;

	while (rc == 0 && (i = atomic_fetch_add(&t->n_taken, 1)) < t->branches.n) {
		const struct branch *b = &t->branches.at[i];

		/* Siblings stand together. */
		if (t->stacks.parent[b->stack] != from) {
			from = t->stacks.parent[b->stack];
			set_out(g, from);
		}
		rc = pass_branch(g, b);
	}
	return rc;
}

static void add_branches(struct trie *t, uint32_t parent)
{
	for (uint32_t i = t->node[parent].child; i != 0; i = t->node[i].sibling)
		vec_push(&t->branches, ((struct branch){ .stack = i }));
}

/* Divides the trie into branches: from the root upwards, until they are enough or all. */
static void divide(struct trie *t)
{
	add_branches(t, 0);
	for (size_t i = 0; i < t->branches.n && t->branches.n < BRANCHES_ENOUGH; i++) {
		t->branches.at[i].alone = true;
		add_branches(t, t->branches.at[i].stack);
	}
}

static void passage_begin(struct passage *g, struct trie *t)
{
	uint32_t n_keys = t->keys->n;

	*g = (struct passage){ .trie = t };
	g->n_on_way = xcalloc(n_keys, sizeof(*g->n_on_way));
	g->total = xcalloc((size_t)n_keys * t->w->n_columns, sizeof(*g->total));
	g->wanted = xcalloc(n_keys, sizeof(*g->wanted));
}

/* Adds what was passed to the sums. */
static void passage_end(struct passage *g)
{
	struct table_sums *sums = &g->trie->sums;
	uint32_t n_keys = g->trie->keys->n;

	for (size_t i = 0; i < (size_t)n_keys * sums->n_columns; i++)
		sums->total[i] += g->total[i];
	for (uint32_t i = 0; i < n_keys; i++)
		sums->wanted[i] |= g->wanted[i];
	free(g->n_on_way);
	free(g->total);
	free(g->wanted);
	vec_done(&g->way);
}

/* A second thread helps where there is a second core and enough to do. */
static int sum_totals(struct trie *t, int (*pass)(void *passage))
{
	struct passage own, other;
	struct task *helper = NULL;
	int rc, helped;

	passage_begin(&own, t);
	passage_begin(&other, t);
	if (t->w->n_stacks >= STACKS_MANY && sysconf(_SC_NPROCESSORS_ONLN) > 1)
		helper = task_start(pass, &other, -1);
	rc = pass(&own);
	helped = task_join(helper);
	passage_end(&own);
	passage_end(&other);
	return rc ? rc : helped;
}

static size_t live_bytes(const struct trie *t)
{
	return ((size_t)t->w->n_stacks / 64 + 1) * sizeof(*t->live);
}

static inline bool has_live(const struct trie *t, uint32_t stack)
{
	return t->live[stack / 64] >> stack % 64 & 1;
}

/* No frame has others inlined into it, and few stacks are above each. */
static bool is_shallow(const struct trie *t, uint32_t n_locations)
{
	uint32_t n = t->w->n_stacks, step = n / ASKED + 1;
	uint64_t n_asked = 0, depth = 0;

	for (uint32_t i = 0; i < n_locations; i++)
		if (t->outer[i])
			return false;
	for (uint32_t i = n; i > 1 && depth <= (n_asked + ASKED) * SHALLOW;
	     i -= i > step ? step : i) {
		for (uint32_t at = i - 1; at != 0 && depth <= (n_asked + ASKED) * SHALLOW;
		     at = t->stacks.parent[at])
			depth++;
		n_asked++;
	}
	return depth <= n_asked * SHALLOW;
}

/* As sum_self() and sum_up() do, of a shallow trie. */
static void sum_up_shallow(struct trie *t)
{
	uint32_t n_columns = t->w->n_columns;

	for (uint32_t i = t->w->n_stacks; i-- > 1;) {
		const int64_t *weight = t->w->stack + (size_t)i * n_columns;
		uint32_t parent = t->stacks.parent[i], location = t->stacks.location[i];
		bool live = has_live(t, i);

		for (uint32_t c = 0; c < n_columns && !live; c++)
			live = weight[c] != 0;
		if (!live)
			continue;
		t->live[i / 64] |= (uint64_t)1 << i % 64;
		t->live[parent / 64] |= (uint64_t)1 << parent % 64;
		t->is_live[location] = true;
		t->sums.n_samples[t->key[location]] += t->w->samples[i];
		for (uint32_t c = 0; c < n_columns; c++)
			t->w->stack[(size_t)parent * n_columns + c] += weight[c];
	}
}

/* Passes pieces of a shallow trie until there are none left. */
static int go_over(void *arg)
{
	struct passage *g = arg;
	struct trie *t = g->trie;
	uint32_t n_columns = t->w->n_columns, piece;

	while ((piece = atomic_fetch_add(&t->n_taken, 1)) <= t->w->n_stacks / PIECE) {
		uint32_t from = piece * PIECE + (piece == 0);
		uint32_t left = t->w->n_stacks - piece * PIECE;
		uint32_t to = piece * PIECE + (left < PIECE ? left : PIECE);

		if (progress_cancelled(t->progress))
			return -ECANCELED;
		for (uint32_t i = from; i < to; i++) {
			uint32_t key = t->key[t->stacks.location[i]], at = t->stacks.parent[i];

			if (!has_live(t, i))
				continue;
			while (at != 0 && t->key[t->stacks.location[at]] != key)
				at = t->stacks.parent[at];
			if (at != 0)
				continue;
			g->wanted[key] = true;
			for (uint32_t c = 0; c < n_columns; c++)
				g->total[(size_t)key * n_columns + c] +=
					t->w->stack[(size_t)i * n_columns + c];
		}
	}
	return 0;
}

static void add_beyond(struct trie *t, const int64_t *beyond)
{
	uint32_t n_columns = t->sums.n_columns;

	for (size_t i = 0; i < (size_t)t->keys->n * n_columns; i++) {
		t->sums.total[i] += beyond[i];
		t->sums.wanted[i / n_columns] |= beyond[i] != 0;
	}
}

/* Rows for what was passed, but for the names of threads. */
static void choose_rows(struct trie *t)
{
	for (uint32_t i = 0; i < t->keys->n; i++)
		t->sums.wanted[i] = t->sums.wanted[i] && !(t->keys->key[i].flags & FUNCTION_COMM);
}

/* Of the frames that are live all of a key are inlined. The caller frees. */
static bool *find_inlined(const struct trie *t, uint32_t n_locations)
{
	bool *inlined = xcalloc(t->keys->n, sizeof(*inlined));
	bool *own = xcalloc(t->keys->n, sizeof(*own));

	for (uint32_t i = 0; i < n_locations; i++) {
		const struct frame *f = t->outer[i];
		uint32_t module = t->locations.module[i];

		if (!t->is_live[i])
			continue;
		own[f ? groups_of_frame(t->keys, f->function, module) : t->key[i]] = true;
		for (uint32_t n = f ? f->n_more : 0; n > 0; n--)
			inlined[groups_of_frame(t->keys, f[n].function, module)] = true;
	}
	for (uint32_t k = 0; k < t->keys->n; k++)
		inlined[k] &= !own[k];
	free(own);
	return inlined;
}

/* What a tree of the same is made by later; see build_tree_tree(). The caller frees. */
static uint32_t *take_groups(struct trie *t, uint32_t n_locations)
{
	uint32_t *group = t->key;

	for (uint32_t i = 0; i < n_locations; i++)
		if (t->outer[i])
			group[i] = PLANT_RUN;
	t->key = NULL;
	return group;
}

/* Of all samples, by way of the whole trie. */
static int sum_all(struct trie *t, uint32_t n_locations)
{
	bool shallow = is_shallow(t, n_locations);
	size_t bytes = shallow ? live_bytes(t) : t->w->n_stacks * sizeof(*t->node);
	int rc;

	if (shallow)
		t->live = huge_alloc_table_new(bytes);
	else
		t->node = huge_alloc_table_new(bytes);
	sum_self(t);
	if (shallow)
		sum_up_shallow(t);
	else
		sum_up(t);
	t->w->summed = true;
	if (!shallow)
		divide(t);
	rc = sum_totals(t, shallow ? go_over : go_through);
	if (shallow)
		huge_alloc_table_free(t->live, bytes);
	else
		huge_alloc_table_free(t->node, bytes);
	return rc;
}

/* What only came since the last time is added to what was known then. */
static int sum(struct trie *t, const struct profile *p, const struct profile_counts *counts,
	       const struct lens *lens)
{
	const struct table_frames f = { .keys = t->keys,
					.key = t->key,
					.outer = t->outer,
					.module = t->locations.module,
					.is_live = t->is_live,
					.n = counts->n_locations };
	struct table_cache *kept = lens->cache ? lens->cache->table : NULL;
	int rc = table_cache_sum(kept, p, counts, lens, &f, t->w, t->progress, &t->sums);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (!t->w->stack)
		rc = aggregate(p, counts, lens, t->progress, t->w);
	if (rc == 0)
		rc = sum_all(t, counts->n_locations);
	if (rc == 0)
		table_cache_put(kept, p, counts, lens, &f, t->w, &t->sums);
	return rc;
}

int table_of_stacks(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, const struct groups *k, const int64_t *beyond,
		    struct weights *w, uint32_t **groups, struct progress *progress,
		    struct table *out)
{
	struct trie t = { .keys = k, .w = w, .progress = progress };
	int rc;

	profile_locations(p, &t.locations);
	profile_stacks_of(p, counts, &t.stacks);
	find_keys(&t, counts->n_locations, lens->inlines);
	table_sums_init(&t.sums, k, w->n_columns);
	rc = sum(&t, p, counts, lens);
	if (rc == 0) {
		if (beyond)
			add_beyond(&t, beyond);
		choose_rows(&t);
		table_of_sums(&t.sums, out);
		out->inlined = find_inlined(&t, counts->n_locations);
	}
	if (rc == 0 && groups) {
		*groups = take_groups(&t, counts->n_locations);
	} else {
		weights_drop_stacks(w);
		weights_drop_samples(w);
	}
	table_sums_done(&t.sums);
	free(t.key);
	free(t.outer);
	free(t.is_live);
	vec_done(&t.branches);
	return rc;
}
