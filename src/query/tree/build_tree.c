/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One pass back over the trie to see which stacks matter, one forward to place them.
 *
 * Without transforms, nodes are keys at once. With them, nodes are first atoms, as transforms speak
 * of functions whatever the grouping, and are grouped at the end. Where lines are grouped, they are atoms at lines.
 */
#include "config.h"

#include "query/tree/build_tree.h"

#include "base/huge_alloc.h"
#include "base/mem.h"
#include "base/task.h"
#include "query/core/filter.h"
#include "query/core/frame_ids.h"
#include "query/tree/line_frames.h"
#include "query/tree/transform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Stacks between two looks at whether somebody wants to stop. */
#define CANCEL_MASK 0xffff

struct planter {
	const struct profile_counts *counts;
	const struct groups *keys;    /* to group by; NULL: nodes are atoms */
	const struct groups *by_line; /* of atoms: to group by, where that is by line; else NULL */
	struct line_frames lines;     /* of by_line; owned */
	bool adjacent;                /* frames of one group that follow each other are one node */
	bool inlines;                 /* inlined functions are frames */
	bool keep_stacks;             /* the tree is to have of_stack */
	struct location_columns locations;
	struct stack_columns stacks;
	const uint32_t *group; /* [n_locations] of its one frame, or PLANT_RUN */
	bool *live;            /* [n_stacks] something below weighs; owned */
	uint32_t *node;        /* [n_stacks] of live ones; owned */
	struct frametree *tree;
};

/* By module or file, what matters is who calls into whom. */
static bool joins_adjacent(const struct groups *k)
{
	return k->grouping == GROUP_MODULE || k->grouping == GROUP_FILE;
}

static uint32_t group_of(struct planter *b, const struct frame *f, uint32_t module)
{
	uint32_t atom;

	if (b->keys)
		return groups_of_run(b->keys, &b->locations, f, module);
	atom = frame_id_of_frame(b->counts, f->function, module);
	return b->by_line ? line_frames_number(&b->lines, b->by_line, atom,
					       groups_of_run(b->by_line, &b->locations, f, module))
			  : atom;
}

/* The same of a location as one frame. */
static uint32_t group_of_location(struct planter *b, uint32_t i)
{
	const struct location_columns *l = &b->locations;
	uint32_t atom;

	if (b->keys)
		return groups_of_location(b->keys, l, i);
	atom = frame_id_of_frame(b->counts, location_function(l, i), l->module[i]);
	return b->by_line ? line_frames_number(&b->lines, b->by_line, atom,
					       groups_of_location(b->by_line, l, i))
			  : atom;
}

static uint32_t step(struct planter *b, uint32_t parent, uint32_t group, bool inlined)
{
	if (b->adjacent && b->tree->key[parent] == group) {
		b->tree->inlined[parent] &= inlined;
		return parent;
	}
	return frametree_child(b->tree, parent, group, inlined);
}

/* As they are known now. The caller frees. */
static uint32_t *group_locations(struct planter *b)
{
	const struct location_columns *l = &b->locations;
	uint32_t *group = xmalloc(b->counts->n_locations * sizeof(*group));

	for (uint32_t i = 0; i < b->counts->n_locations; i++)
		group[i] = b->inlines && location_frames(l, i) ? PLANT_RUN
							       : group_of_location(b, i);
	return group;
}

/* Marks stacks that weigh, and all above them; returns how many. */
static size_t mark_live(struct planter *b, const struct weights *w)
{
	size_t n = 0;

	b->live = xcalloc(w->n_stacks, sizeof(*b->live));
	for (uint32_t i = w->n_stacks; i-- > 0;) {
		const int64_t *weight = w->stack + (size_t)i * w->n_columns;

		for (uint32_t c = 0; c < w->n_columns; c++)
			b->live[i] |= weight[c] != 0;
		b->live[b->stacks.parent[i]] |= b->live[i];
		n += b->live[i];
	}
	return n;
}

static uint32_t place_run(struct planter *b, uint32_t parent, uint32_t location)
{
	const struct frame *f = location_frames(&b->locations, location);
	uint32_t module = b->locations.module[location], n = f->n_more + 1, node = parent;

	for (uint32_t i = 0; i < n; i++)
		node = step(b, node, group_of(b, &f[i], module), i > 0);
	return node;
}

static int place_stacks(struct planter *b, struct progress *progress)
{
	b->node = xmalloc(b->counts->n_stacks * sizeof(*b->node));
	b->node[0] = 0;
	for (uint32_t i = 1; i < b->counts->n_stacks; i++) {
		uint32_t location = b->stacks.location[i], parent, group;

		if ((i & CANCEL_MASK) == 0 && progress_cancelled(progress))
			return -ECANCELED;
		if (!b->live[i])
			continue;
		parent = b->node[b->stacks.parent[i]];
		group = b->group[location];
		b->node[i] = group == PLANT_RUN ? place_run(b, parent, location)
						: step(b, parent, group, false);
	}
	return 0;
}

/* What is per stack becomes per node, one array after the other as they are large. */
static void weigh_nodes(struct planter *b, struct weights *w)
{
	struct frametree *t = b->tree;
	uint32_t n = w->n_columns;

	frametree_seal(t);
	t->self = xcalloc((size_t)t->n * n, sizeof(*t->self));
	for (uint32_t i = 0; i < w->n_stacks; i++)
		for (uint32_t c = 0; c < n && b->live[i]; c++)
			t->self[(size_t)b->node[i] * n + c] += w->stack[(size_t)i * n + c];
	weights_drop_stacks(w);
	t->samples = xcalloc(t->n, sizeof(*t->samples));
	for (uint32_t i = 0; i < w->n_stacks; i++)
		if (b->live[i])
			t->samples[b->node[i]] += w->samples[i];
	weights_drop_samples(w);
}

static int place_all(struct planter *b, const struct profile *p, struct weights *w,
		     struct progress *progress)
{
	uint32_t *own = NULL;
	int rc;

	profile_locations(p, &b->locations);
	profile_stacks_of(p, b->counts, &b->stacks);
	if (!b->group)
		b->group = own = group_locations(b);
	weights_unsum(w, b->stacks.parent);
	frametree_init(b->tree, w->n_columns, mark_live(b, w) / 2);
	rc = place_stacks(b, progress);
	free(own);
	if (rc == 0)
		weigh_nodes(b, w);
	else
		frametree_done(b->tree);
	if (rc == 0 && b->keep_stacks) {
		b->tree->of_stack = b->node;
		b->tree->n_stacks = b->counts->n_stacks;
		b->node = NULL;
	}
	free(b->live);
	free(b->node);
	return rc;
}

/* The key of an atom, or of one at a line. */
static uint32_t key_of_atom(const struct planter *b, uint32_t atom)
{
	uint32_t n_functions = b->counts->n_functions;

	if (b->by_line && atom >= b->lines.first)
		return b->lines.of.at[atom - b->lines.first].key;
	return atom < n_functions ? b->keys->of_function[atom]
				  : b->keys->of_module[atom - n_functions];
}

/* From a tree of atoms to one of keys. */
static void group_nodes(struct planter *b, struct frametree *atoms)
{
	uint32_t *map = xmalloc(atoms->n * sizeof(*map));

	frametree_init(b->tree, atoms->n_columns, atoms->n / 2);
	map[0] = 0;
	for (uint32_t i = 1; i < atoms->n; i++)
		map[i] = step(b, map[atoms->parent[i]], key_of_atom(b, atoms->key[i]),
			      atoms->inlined[i]);
	frametree_move(b->tree, atoms, map);
	frametree_move_stacks(b->tree, atoms, map);
	free(map);
}

static int plant_transformed(struct planter *b, const struct profile *p, const struct lens *lens,
			     const struct groups *k, struct weights *w, struct progress *progress)
{
	struct frametree atoms, *out = b->tree;
	struct groups functions;
	bool own = k->grouping != GROUP_FUNCTION;
	int rc;

	b->tree = &atoms;
	b->by_line = k->grouping == GROUP_LINE ? k : NULL;
	b->lines.first = frame_ids_n(b->counts);
	rc = place_all(b, p, w, progress);
	if (rc < 0) {
		line_frames_done(&b->lines);
		return rc;
	}
	if (own)
		groups_init(&functions, p, b->counts, GROUP_FUNCTION);
	rc = transforms_apply(lens->filter, p, b->counts, own ? &functions : k,
			      b->by_line ? &b->lines : NULL, progress, &atoms);
	if (own)
		groups_done(&functions);
	if (rc == 0) {
		b->tree = out;
		b->keys = k;
		b->adjacent = joins_adjacent(k);
		group_nodes(b, &atoms);
	}
	frametree_done(&atoms);
	line_frames_done(&b->lines);
	return rc;
}

static int plant(struct planter *b, const struct profile *p, const struct lens *lens,
		 const struct groups *k, const uint32_t *groups, struct weights *w,
		 struct progress *progress)
{
	if (transforms_wanted(lens->filter))
		return plant_transformed(b, p, lens, k, w, progress);
	b->keys = k;
	b->group = groups;
	b->adjacent = joins_adjacent(k);
	return place_all(b, p, w, progress);
}

int build_tree_tree(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, const struct groups *k, const uint32_t *groups,
		    struct weights *w, struct progress *progress, struct frametree *out)
{
	struct planter b = { .counts = counts, .inlines = lens->inlines, .tree = out };

	return plant(&b, p, lens, k, groups, w, progress);
}

int build_tree_of_stacks(const struct profile *p, const struct profile_counts *counts,
			 const struct lens *lens, const struct groups *k, struct frametree *out)
{
	struct planter b = {
		.counts = counts, .inlines = lens->inlines, .keep_stacks = true, .tree = out
	};
	struct weights w = { .n_stacks = counts->n_stacks, .n_columns = 1 };
	int rc;

	w.stack = huge_alloc_table_new(w.n_stacks * sizeof(*w.stack));
	w.samples = huge_alloc_table_new(w.n_stacks * sizeof(*w.samples));
	for (uint32_t i = 0; i < w.n_stacks; i++)
		w.stack[i] = 1;
	rc = plant(&b, p, lens, k, NULL, &w, NULL);
	weights_drop_stacks(&w);
	weights_drop_samples(&w);
	return rc;
}
