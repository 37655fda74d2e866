/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tree of a few columns is made like any other, but neither sorted nor indexed by key: each node leads to the next
 * one of its key.
 */
#include "config.h"

#include "query/live/recent.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "query/core/analysis_cache.h"
#include "query/core/filter.h"
#include "query/live/recent_aggregate.h"
#include "query/tree/build_tree.h"
#include "query/tree/calltree.h"
#include "query/tree/frametree.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* All that it depends on. */
struct question {
	struct metric metric;
	int64_t from_ns, slot_ns; /* since the recording's start */
	enum grouping grouping;
	bool inlines;
	enum recent_parts parts;
	char *filters; /* the lens' without times and the column's own; owned */
};

/* A function, or what else rows are of. */
struct line_of_key {
	uint32_t id;             /* of the key */
	uint32_t first;          /* node */
	struct recent_line self; /* of all its nodes */
};

struct recent {
	atomic_uint n_holders;
	struct question of;
	uint32_t n;         /* nodes, parents before children; node 0 is the root */
	uint32_t *parent;   /* [n]; owned, as are the following */
	uint32_t *id;       /* [n] of the node's key; the root's is ID_NONE */
	uint64_t *path;     /* [n] as calltree's */
	int64_t *self;      /* [n][RECENT_SLOTS] */
	int64_t *total;     /* [n][RECENT_SLOTS] */
	uint32_t *next;     /* [n] the next node of the same key; 0: none */
	struct map by_path; /* nodes */
	struct {
		struct line_of_key *at; /* [n] owned */
		size_t n, cap;
	} keys;
	struct map by_id; /* of these */
	struct {
		uint32_t *at; /* [n] what its stacks are made of; owned */
		size_t n, cap;
	} locations;
	uint64_t names;      /* of these; see names_of() */
	uint32_t resolution; /* of the profile, when they were looked at last; its keeper's */
};

struct recent_kept {
	struct recent *last[2]; /* of frames, and of threads; or NULL; held */
};

static bool same_id(const void *things, uint32_t key, const void *id)
{
	const struct recent *r = things;

	return r->keys.at[key].id == *(const uint32_t *)id;
}

static bool same_path(const void *things, uint32_t node, const void *path)
{
	const struct recent *r = things;

	return r->path[node] == *(const uint64_t *)path;
}

/* NULL: there is none of it. */
static const struct line_of_key *find_key(const struct recent *r, uint32_t id)
{
	uint32_t key = map_find(&r->by_id, hash_u64(id), same_id, r, &id);

	return key == MAP_NONE ? NULL : &r->keys.at[key];
}

/* The first node of a key; 0: there is none. */
static uint32_t first_of(const struct recent *r, uint32_t id)
{
	const struct line_of_key *key = find_key(r, id);

	return key ? key->first : 0;
}

static void add(struct recent_line *to, const int64_t *from, uint32_t node)
{
	for (size_t i = 0; i < RECENT_SLOTS; i++)
		to->slot[i] += from[(size_t)node * RECENT_SLOTS + i];
}

/* Is no node above of the same key? */
static bool is_outermost(const struct recent *r, uint32_t node)
{
	uint32_t up = r->parent[node];

	while (up != 0 && r->id[up] != r->id[node])
		up = r->parent[up];
	return up == 0;
}

/* Is the node below of one of id[1], and that of one of id[2], …? */
static bool is_called_by(const struct recent *r, uint32_t node, const uint32_t *id, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		node = r->parent[node];
		if (node == 0 || r->id[node] != id[i])
			return false;
	}
	return true;
}

struct recent_line recent_self(const struct recent *r, const uint32_t *id, uint32_t n)
{
	const struct line_of_key *key = n == 1 ? find_key(r, id[0]) : NULL;
	struct recent_line line = { { 0 } };

	if (key)
		return key->self;
	for (uint32_t node = first_of(r, id[0]); node != 0; node = r->next[node])
		if (is_called_by(r, node, id, n))
			add(&line, r->self, node);
	return line;
}

struct recent_line recent_node(const struct recent *r, uint64_t path)
{
	uint32_t node = map_find(&r->by_path, path, same_path, r, &path);
	struct recent_line line = { { 0 } };

	if (node != MAP_NONE)
		add(&line, r->total, node);
	return line;
}

struct recent_line recent_total(const struct recent *r, uint32_t id)
{
	struct recent_line line = { { 0 } };

	for (uint32_t node = first_of(r, id); node != 0; node = r->next[node])
		if (is_outermost(r, node))
			add(&line, r->total, node);
	return line;
}

struct recent_line recent_caller(const struct recent *r, uint32_t id, uint32_t caller)
{
	struct recent_line line = { { 0 } };

	for (uint32_t node = first_of(r, id); node != 0; node = r->next[node])
		if (r->id[r->parent[node]] == caller && is_outermost(r, node))
			add(&line, r->total, node);
	return line;
}

struct recent_line recent_callee(const struct recent *r, uint32_t id, uint32_t callee)
{
	struct recent_line line = { { 0 } };

	for (uint32_t node = first_of(r, callee); node != 0; node = r->next[node]) {
		uint32_t up = r->parent[node];

		if (up != 0 && r->id[up] == id && is_outermost(r, up))
			add(&line, r->total, node);
	}
	return line;
}

struct recent_line recent_thread(const struct recent *r, uint32_t process, uint32_t thread)
{
	uint64_t path = calltree_path(0, process);

	return recent_node(r, thread == ID_NONE ? path : calltree_path(path, thread));
}

static char *filter_words(const struct filter *f)
{
	return f ? filter_text(f) : xstrdup("");
}

/* lens is without time terms. */
static struct question question_of(const struct lens *lens, const struct weights *w)
{
	struct question q = { .metric = lens->column[0].metric,
			      .slot_ns = lens->recent_ns / RECENT_SLOTS,
			      .grouping = lens->grouping,
			      .inlines = lens->inlines };
	char *all = filter_words(lens->filter), *own = filter_words(lens->column[0].filter);

	/* One that is not over would look as if less were done now: the last is the last whole one. */
	if (q.slot_ns > 0)
		q.from_ns = ((w->end_ns - w->begin_ns) / q.slot_ns - RECENT_SLOTS) * q.slot_ns;
	q.filters = xasprintf("%s\n%s", all, own);
	free(all);
	free(own);
	return q;
}

static bool same_question(const struct question *a, const struct question *b)
{
	return metric_same_event(a->metric, b->metric) && a->metric.measure == b->metric.measure &&
	       a->from_ns == b->from_ns && a->slot_ns == b->slot_ns && a->grouping == b->grouping &&
	       a->inlines == b->inlines && a->parts == b->parts &&
	       strcmp(a->filters, b->filters) == 0;
}

/* A function that is newer than the counts is not known yet. */
static uint64_t name_of(uint32_t function, const struct profile_counts *counts)
{
	return function < counts->n_functions ? function : ID_NONE;
}

/* What the locations are called; another number when that is something else. */
static uint64_t names_of(const struct recent *r, const struct profile *p,
			 const struct profile_counts *counts)
{
	struct location_columns l;
	uint64_t names = 0;

	profile_locations(p, &l);
	for (size_t i = 0; i < r->locations.n; i++) {
		uint32_t location = r->locations.at[i];
		const struct frame *f = location_frames(&l, location);

		names = hash_u64(names ^ name_of(location_function(&l, location), counts));
		for (uint32_t k = 0; f && k <= f->n_more; k++)
			names = hash_u64(names ^ name_of(f[k].function, counts) << 32);
	}
	return names;
}

/* All of what weighs, and what is above it. */
static void note_locations(struct recent *r, const struct profile *p,
			   const struct profile_counts *counts, const struct weights *w)
{
	bool *live = xcalloc(w->n_stacks, sizeof(*live));
	bool *noted = xcalloc((size_t)counts->n_locations + 1, sizeof(*noted));
	struct stack_columns stacks;

	profile_stacks_of(p, counts, &stacks);
	for (uint32_t i = w->n_stacks; i-- > 1;) {
		uint32_t location = stacks.location[i];

		for (uint32_t k = 0; k < RECENT_SLOTS && !live[i]; k++)
			live[i] = w->stack[(size_t)i * RECENT_SLOTS + k] != 0;
		live[stacks.parent[i]] |= live[i];
		if (!live[i] || noted[location])
			continue;
		noted[location] = true;
		vec_push(&r->locations, location);
	}
	free(noted);
	free(live);
}

/* The key of a node, which becomes one of its nodes. */
static struct line_of_key *key_of(struct recent *r, uint32_t node)
{
	uint32_t id = r->id[node], key = map_find(&r->by_id, hash_u64(id), same_id, r, &id);

	if (key == MAP_NONE) {
		struct line_of_key new = { .id = id };

		key = (uint32_t)r->keys.n;
		vec_push(&r->keys, new);
		map_add(&r->by_id, hash_u64(id), key);
	}
	r->next[node] = r->keys.at[key].first;
	r->keys.at[key].first = node;
	return &r->keys.at[key];
}

/* Totals and paths. */
static void index_paths(struct recent *r)
{
	size_t bytes = (size_t)r->n * RECENT_SLOTS * sizeof(*r->total);

	r->total = xmalloc(bytes);
	memcpy(r->total, r->self, bytes);
	r->path = xcalloc(r->n, sizeof(*r->path));
	for (uint32_t node = r->n; node-- > 1;) {
		const int64_t *from = r->total + (size_t)node * RECENT_SLOTS;
		int64_t *to = r->total + (size_t)r->parent[node] * RECENT_SLOTS;

		for (size_t i = 0; i < RECENT_SLOTS; i++)
			to[i] += from[i];
	}
	map_reserve(&r->by_path, r->n);
	for (uint32_t node = 1; node < r->n; node++) {
		r->path[node] = calltree_path(r->path[r->parent[node]], r->id[node]);
		map_add(&r->by_path, r->path[node], node);
	}
}

/* And what leads from a key to its nodes. */
static void index_nodes(struct recent *r)
{
	index_paths(r);
	r->next = xcalloc(r->n, sizeof(*r->next));
	for (uint32_t node = 1; node < r->n; node++)
		add(&key_of(r, node)->self, r->self, node);
}

/* Takes the tree apart. */
static void read_off(struct recent *r, struct frametree *t, const struct groups *k)
{
	r->n = t->n;
	r->parent = t->parent;
	r->self = t->self;
	r->id = t->key;
	r->id[0] = ID_NONE;
	for (uint32_t i = 1; i < r->n; i++)
		r->id[i] = k->key[r->id[i]].id;
	t->parent = t->key = NULL;
	t->self = NULL;
	frametree_done(t);
	index_nodes(r);
}

/* The locations that stacks end in. */
static void note_leaves(struct recent *r, const struct profile *p,
			const struct profile_counts *counts)
{
	bool *noted = xcalloc((size_t)counts->n_locations + 1, sizeof(*noted));
	struct stack_columns stacks;

	profile_stacks_of(p, counts, &stacks);
	for (uint32_t i = 1; i < counts->n_stacks; i++) {
		uint32_t location = stacks.location[i];

		if (!noted[location])
			vec_push(&r->locations, location);
		noted[location] = true;
	}
	free(noted);
}

/* What ends in each stack is of a node for its key, below the root: a tree without callers. The caller frees. */
static uint32_t *find_leaves(const struct profile *p, const struct profile_counts *counts,
			     const struct lens *lens, const struct groups *k)
{
	uint32_t *leaf = xcalloc(counts->n_stacks, sizeof(*leaf));
	struct location_columns locations;
	struct stack_columns stacks;

	profile_locations(p, &locations);
	profile_stacks_of(p, counts, &stacks);
	for (uint32_t i = 1; i < counts->n_stacks; i++) {
		uint32_t at = stacks.location[i], function = location_function(&locations, at);
		const struct frame *f = lens->inlines ? location_frames(&locations, at) : NULL;

		if (f)
			function = f[f->n_more].function;
		leaf[i] = 1 + groups_of_frame(k, function, locations.module[at]);
	}
	return leaf;
}

/* Node i + 1 is of key i. */
static int make_flat(struct recent *r, const struct profile *p, const struct profile_counts *counts,
		     const struct lens *lens, const struct groups *k, const struct time_span *span,
		     struct progress *progress)
{
	struct recent_rows rows = { .n = k->n + 1 };
	struct weights w;
	uint32_t *leaf;
	int rc;

	note_leaves(r, p, counts);
	r->names = names_of(r, p, counts);
	leaf = find_leaves(p, counts, lens, k);
	rows.of_stack = leaf;
	rc = recent_aggregate(p, counts, lens, span, &rows, progress, &w);
	free(leaf);
	if (rc == 0) {
		r->n = k->n + 1;
		r->parent = xcalloc(r->n, sizeof(*r->parent));
		r->id = xmalloc(r->n * sizeof(*r->id));
		r->id[0] = ID_NONE;
		for (uint32_t i = 0; i < k->n; i++)
			r->id[i + 1] = k->key[i].id;
		r->self = xmalloc((size_t)r->n * RECENT_SLOTS * sizeof(*r->self));
		memcpy(r->self, w.stack, (size_t)r->n * RECENT_SLOTS * sizeof(*r->self));
		index_nodes(r);
	}
	weights_done(&w);
	return rc;
}

/* With callers. */
static int make_tree(struct recent *r, const struct profile *p, const struct profile_counts *counts,
		     const struct lens *lens, const struct groups *k, const struct time_span *span,
		     struct progress *progress)
{
	struct recent_rows rows = { .n = counts->n_stacks };
	struct frametree tree;
	struct weights w;
	int rc = recent_aggregate(p, counts, lens, span, &rows, progress, &w);

	if (rc == 0) {
		note_locations(r, p, counts, &w);
		/* Before they are used: what gets a name meanwhile is another one by then. */
		r->names = names_of(r, p, counts);
		rc = build_tree_tree(p, counts, lens, k, NULL, &w, progress, &tree);
	}
	weights_done(&w);
	if (rc == 0)
		read_off(r, &tree, k);
	return rc;
}

/* Adds a node below another one. Returns it. */
static uint32_t put_node(struct recent *r, uint32_t parent, uint32_t id)
{
	r->parent[r->n] = parent;
	r->id[r->n] = id;
	return r->n++;
}

/* Nodes of threads that weigh, below those of their processes. w: of keys. */
static void plant_threads(struct recent *r, const struct profile *p, uint32_t n_processes,
			  const struct groups *k, const struct weights *w)
{
	uint32_t *process_node = xcalloc((size_t)n_processes + 1, sizeof(*process_node));
	size_t most = 2 * (size_t)k->n + 1;

	r->parent = xcalloc(most, sizeof(*r->parent));
	r->id = xcalloc(most, sizeof(*r->id));
	r->self = xcalloc(most, RECENT_SLOTS * sizeof(*r->self));
	put_node(r, 0, ID_NONE);
	for (uint32_t i = 0; i < k->n; i++) {
		const int64_t *slots = w->stack + (size_t)i * RECENT_SLOTS;
		uint32_t thread = k->key[i].id, process = ID_NONE, *above, node;
		bool weighs = false;

		for (size_t slot = 0; slot < RECENT_SLOTS; slot++)
			weighs |= slots[slot] != 0;
		if (!weighs)
			continue;
		if (thread != ID_NONE)
			process = profile_thread(p, (thread_id){ thread })->process.v;
		above = &process_node[process < n_processes ? process : n_processes];
		if (*above == 0)
			*above = put_node(r, 0, process);
		node = put_node(r, *above, thread);
		memcpy(r->self + (size_t)node * RECENT_SLOTS, slots, RECENT_SLOTS * sizeof(*slots));
	}
	free(process_node);
}

static int make_threads(struct recent *r, const struct profile *p,
			const struct profile_counts *counts, const struct lens *lens,
			const struct groups *k, const struct time_span *span,
			struct progress *progress)
{
	struct recent_rows rows = { .n = k->n, .threads = k };
	struct weights w;
	int rc = recent_aggregate(p, counts, lens, span, &rows, progress, &w);

	if (rc == 0) {
		plant_threads(r, p, counts->n_processes, k, &w);
		index_paths(r);
	}
	weights_done(&w);
	return rc;
}

static int make(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, const struct groups *k, const struct question *q,
		struct progress *progress, struct recent **out)
{
	struct time_span span = { .from_ns = q->from_ns,
				  .to_ns = q->from_ns + RECENT_SLOTS * q->slot_ns,
				  .n = RECENT_SLOTS };
	struct recent *r = xcalloc(1, sizeof(*r));
	int rc;

	atomic_init(&r->n_holders, 1);
	r->resolution = counts->resolution;
	rc = q->parts == RECENT_THREADS  ? make_threads(r, p, counts, lens, k, &span, progress)
	     : q->parts == RECENT_LEAVES ? make_flat(r, p, counts, lens, k, &span, progress)
					 : make_tree(r, p, counts, lens, k, &span, progress);
	if (rc == 0)
		*out = r;
	else
		recent_free(r);
	return rc;
}

/* The last one again, if it answers the question. */
static struct recent *find(struct recent_kept *kept, const struct profile *p,
			   const struct profile_counts *counts, const struct question *q)
{
	struct recent *last = kept ? kept->last[q->parts == RECENT_THREADS] : NULL;

	if (!last || !same_question(&last->of, q))
		return NULL;
	/* Something gets a name all the time, but it is hardly ever of what was there before. */
	if (last->resolution != counts->resolution && names_of(last, p, counts) != last->names)
		return NULL;
	last->resolution = counts->resolution;
	atomic_fetch_add(&last->n_holders, 1);
	return last;
}

static void keep(struct recent_kept *kept, struct recent *r)
{
	struct recent **last;

	if (!kept)
		return;
	last = &kept->last[r->of.parts == RECENT_THREADS];
	recent_free(*last);
	*last = r;
	atomic_fetch_add(&r->n_holders, 1);
}

int recent_new(const struct profile *p, const struct profile_counts *counts,
	       const struct lens *lens, const struct groups *k, const struct weights *w,
	       enum recent_parts parts, struct progress *progress, struct recent **out)
{
	struct recent_kept *kept = lens->cache ? lens->cache->recent : NULL;
	struct lens any_time = *lens; /* but for its filter all of it is borrowed */
	struct question q;
	int rc = 0;

	*out = NULL;
	/* Rows of what compares are of two times already. */
	if (w->begin_ns == TIME_NONE || lens->recent_ns < RECENT_SLOTS || lens_compares(lens))
		return 0;
	any_time.n_columns = 1;
	any_time.half_life_ns = 0;
	any_time.grouping = k->grouping;
	if (lens->filter) {
		any_time.filter = filter_copy(lens->filter);
		free(filter_take_times(any_time.filter));
	}
	q = question_of(&any_time, w);
	q.parts = parts == RECENT_LEAVES && metric_is_heap(p, q.metric) ? RECENT_ALL : parts;
	*out = find(kept, p, counts, &q);
	if (!*out)
		rc = make(p, counts, &any_time, k, &q, progress, out);
	if (rc == 0 && *out && !(*out)->of.filters) {
		(*out)->of = q;
		keep(kept, *out);
		q.filters = NULL;
	}
	free(q.filters);
	filter_free(any_time.filter);
	return rc == -ENODATA ? 0 : rc;
}

void recent_free(struct recent *r)
{
	if (!r || atomic_fetch_sub(&r->n_holders, 1) > 1)
		return;
	free(r->of.filters);
	free(r->parent);
	free(r->id);
	free(r->path);
	free(r->self);
	free(r->total);
	free(r->next);
	map_done(&r->by_path);
	map_done(&r->by_id);
	vec_done(&r->keys);
	vec_done(&r->locations);
	free(r);
}

struct recent_kept *recent_kept_new(void)
{
	return xcalloc(1, sizeof(struct recent_kept));
}

void recent_kept_free(struct recent_kept *k)
{
	if (!k)
		return;
	recent_free(k->last[0]);
	recent_free(k->last[1]);
	free(k);
}
