/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes are made when a row asks for them, so that the tree has what passes the filter and nothing else. */
#include "config.h"

#include "formats/write/export_stacks.h"

#include "base/hash.h"
#include "query/analysis.h"
#include "query/tree/build_tree.h"
#include "query/tree/frametree.h"
#include "query/tree/transform.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *unknown(size_t n)
{
	uint32_t *ids = xmalloc((n + 1) * sizeof(*ids));

	memset(ids, 0xff, (n + 1) * sizeof(*ids));
	return ids;
}

int export_stacks_init(struct export_stacks *s, const struct analysis *a, enum export_detail d)
{
	int rc = 0;

	*s = (struct export_stacks){ .a = a };
	s->by_key = d == EXPORT_KEYS || transforms_wanted(a->lens.filter) ||
		    a->keys.grouping != GROUP_FUNCTION;
	profile_stacks_of(a->profile, &a->counts, &s->stacks);
	profile_locations(a->profile, &s->locations);
	if (s->by_key) {
		struct lens lens = a->lens;

		s->tree = xcalloc(1, sizeof(*s->tree));
		rc = build_tree_of_stacks(a->profile, &a->counts, &lens, &a->keys, s->tree);
		if (rc < 0)
			return rc;
	}
	s->node = unknown(s->by_key ? s->tree->n : a->counts.n_stacks);
	s->first = unknown(s->by_key ? a->keys.n : a->counts.n_locations);
	s->node[0] = 0;
	vec_push(&s->nodes, (struct export_node){ 0 });
	return 0;
}

void export_stacks_done(struct export_stacks *s)
{
	if (s->tree)
		frametree_done(s->tree);
	free(s->tree);
	free(s->node);
	free(s->first);
	map_done(&s->by_place);
	vec_done(&s->frames);
	vec_done(&s->nodes);
	vec_done(&s->path);
}

/* Frames. */

/* What became known after the analysis counted is none of its strings. */
static string_id known_file(const struct export_stacks *s, string_id file)
{
	return file.v < s->a->counts.n_strings ? file : (string_id){ 0 };
}

static void add_frame(struct export_stacks *s, uint32_t key, uint32_t function, uint32_t module)
{
	struct export_frame f = { .name = s->a->keys.key[key].label,
				  .key = key,
				  .function = function,
				  .module = module };

	if (function < s->a->counts.n_functions) {
		const struct function *of = profile_function(s->a->profile,
							     (function_id){ function });

		f.module = of->module.v;
		f.file = known_file(s, function_file(of));
		f.declared = function_line(of);
	}
	vec_push(&s->frames, f);
}

static uint32_t frame_of_key(struct export_stacks *s, uint32_t key)
{
	uint32_t id = s->a->keys.key[key].id;
	bool named = s->a->keys.grouping == GROUP_FUNCTION && !(id & KEY_OF_MODULE);

	if (s->first[key] == EXPORT_GONE) {
		s->first[key] = (uint32_t)s->frames.n;
		add_frame(s, key, named ? id : ID_NONE,
			  id & KEY_OF_MODULE ? id & ~KEY_OF_MODULE : 0);
	}
	return s->first[key];
}

static uint32_t run_length(const struct export_stacks *s, const struct frame *run)
{
	return run && s->a->lens.inlines ? run->n_more + 1 : 1;
}

static uint32_t key_of_location(const struct export_stacks *s, uint32_t location)
{
	return groups_of_location(&s->a->keys, &s->locations, location);
}

/* The first frame of a location; those that are inlined into it follow. */
static uint32_t frames_of_location(struct export_stacks *s, uint32_t location)
{
	uint32_t module = s->locations.module[location];
	const struct frame alone = { .function = location_function(&s->locations, location) };
	const struct frame *run = location_frames(&s->locations, location);
	uint32_t n = run_length(s, run);

	if (s->first[location] != EXPORT_GONE)
		return s->first[location];
	s->first[location] = (uint32_t)s->frames.n;
	for (uint32_t i = 0; i < n; i++) {
		const struct frame *from = run ? &run[i] : &alone;
		struct export_frame *f;
		bool known = from->function < s->a->counts.n_functions;

		add_frame(s,
			  run ? groups_of_run(&s->a->keys, &s->locations, from, module)
			      : groups_of_frame(&s->a->keys, from->function, module),
			  known ? from->function : ID_NONE, module);
		f = &s->frames.at[s->frames.n - 1];
		f->address = s->locations.address[location];
		f->depth = i;
		f->line = from->line;
		if (from->line > 0 && from->file != 0)
			f->file = known_file(s, (string_id){ from->file });
	}
	return s->first[location];
}

/* Nodes. */

static bool same_place(const void *things, uint32_t value, const void *key)
{
	const struct export_node *n = (const struct export_node *)things + value, *k = key;

	return n->parent == k->parent && n->frame == k->frame;
}

static uint32_t child(struct export_stacks *s, uint32_t parent, uint32_t frame)
{
	struct export_node n = { parent, frame };
	uint64_t hash = hash_pair(parent, frame);
	uint32_t i;

	i = map_find(&s->by_place, hash, same_place, s->nodes.at, &n);
	if (i == MAP_NONE) {
		i = (uint32_t)s->nodes.n;
		map_add(&s->by_place, hash, i);
		vec_push(&s->nodes, n);
	}
	return i;
}

/* Is it a thread's name? */
static bool is_comm(const struct export_stacks *s, uint32_t key)
{
	return s->a->keys.key[key].flags & FUNCTION_COMM;
}

static uint32_t place(struct export_stacks *s, uint32_t parent, uint32_t at)
{
	uint32_t frame, n;

	if (is_comm(s, s->by_key ? s->tree->key[at] : key_of_location(s, s->stacks.location[at])))
		return parent;
	if (s->by_key)
		return child(s, parent, frame_of_key(s, s->tree->key[at]));
	frame = frames_of_location(s, s->stacks.location[at]);
	n = run_length(s, location_frames(&s->locations, s->stacks.location[at]));
	for (uint32_t i = 0; i < n; i++)
		parent = child(s, parent, frame + i);
	return parent;
}

uint32_t export_stacks_node(struct export_stacks *s, uint32_t stack)
{
	const uint32_t *parents = s->by_key ? s->tree->parent : s->stacks.parent;
	uint32_t at = s->by_key ? s->tree->of_stack[stack] : stack, node;

	if (at == NODE_GONE)
		return EXPORT_GONE;
	vec_clear(&s->path);
	for (; s->node[at] == EXPORT_GONE; at = parents[at])
		vec_push(&s->path, at);
	node = s->node[at];
	while (s->path.n > 0) {
		at = s->path.at[--s->path.n];
		node = s->node[at] = place(s, node, at);
	}
	return node;
}

uint32_t export_stacks_framed(struct export_stacks *s, uint32_t stack)
{
	uint32_t node = export_stacks_node(s, stack);

	if (node != 0)
		return node;
	if (s->bare == 0) {
		vec_push(&s->frames,
			 ((struct export_frame){
				 .name = "[no frames]", .key = KEY_NONE, .function = ID_NONE }));
		s->bare = child(s, 0, (uint32_t)s->frames.n - 1);
	}
	return s->bare;
}
