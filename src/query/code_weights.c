/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weights per stack become sums of subtrees in one pass back over the trie. The nodes that are of the
 * function make a small tree of their own; a walk over that one counts which addresses and lines
 * are above a node already, so that recursion adds nothing twice.
 */
#include "config.h"

#include "query/code_weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/task.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/heap/heap_sites.h"
#include "query/tree/build_tree.h"
#include "query/tree/calltree.h"
#include "query/tree/frametree.h"
#include "query/tree/transform.h"

#define NOT_THERE   UINT32_MAX
#define CANCEL_MASK 0xffff

/* A stack whose last frame is of the function. */
struct spot {
	uint32_t stack;
	uint32_t up;      /* the next spot outwards, or NOT_THERE */
	uint32_t address; /* index of the row */
	uint32_t first;   /* its lines are lines[first .. first + n_lines) */
	uint32_t n_lines;
};

struct finder {
	const struct analysis *a;
	struct groups own;         /* by function, where the analysis groups otherwise */
	const struct groups *keys; /* by function */
	uint32_t key;
	struct location_columns locations;
	struct stack_columns stacks;
	uint32_t *row;         /* [n_locations] address row, NOT_THERE: not of the function */
	uint64_t *path;        /* [n_stacks] of calltree_path(); NULL: not scoped */
	uint32_t *scope;       /* [n_stacks] first frame of the run that counts; NOT_THERE: none */
	uint64_t wanted;       /* the path of the scope */
	uint32_t *spot_of;     /* [n_stacks] the newest spot at or above */
	bool transformed;      /* there are the following three */
	struct frametree tree; /* of all stacks, as transforms leave them; keys are those of keys */
	bool *inside;          /* [tree.n] the node is the one of the scope or below it */
	bool *has;             /* [tree.n] the function is there inside, or above inside */
	struct map by_line;    /* of out->line */
	VEC(struct spot) spots;
	VEC(uint32_t) lines; /* of spots */
	VEC(struct code_address) addresses;
	VEC(struct code_line) line;
	struct code_weights *out;
};

static uint32_t key_of(const struct finder *f, uint32_t function, uint32_t module)
{
	return groups_of_frame(f->keys, function, module);
}

/* The frames of a location, outermost first: a run, or one made up of its function. */
static uint32_t frames_of(const struct finder *f, uint32_t location, struct frame *one,
			  const struct frame **out)
{
	const struct frame *run = location_frames(&f->locations, location);

	if (run && f->a->lens.inlines) {
		*out = run;
		return run->n_more + 1;
	}
	*one = run ? *run : (struct frame){ .function = ID_NONE };
	one->function = location_function(&f->locations, location);
	*out = one;
	return 1;
}

/* Is the function the frame of a location, or of its run of frames? keys are by function. */
static bool has_function(const struct groups *keys, const struct location_columns *l, bool inlines,
			 uint32_t location, uint32_t key)
{
	const struct frame *run = inlines ? location_frames(l, location) : NULL;
	uint32_t module = l->module[location];

	if (!run)
		return groups_of_frame(keys, location_function(l, location), module) == key;
	for (uint32_t i = 0; i <= run->n_more; i++)
		if (groups_of_frame(keys, run[i].function, module) == key)
			return true;
	return false;
}

static void find_addresses(struct finder *f)
{
	uint32_t n = f->a->counts.n_locations;

	f->row = xmalloc(((size_t)n + 1) * sizeof(*f->row));
	for (uint32_t i = 0; i < n; i++) {
		f->row[i] = NOT_THERE;
		if (!has_function(f->keys, &f->locations, f->a->lens.inlines, i, f->key))
			continue;
		f->row[i] = (uint32_t)f->addresses.n;
		vec_push(&f->addresses, ((struct code_address){ .address = f->locations.address[i],
								.module = f->locations.module[i],
								.location = i }));
	}
}

static bool same_line(const void *things, uint32_t value, const void *key)
{
	const struct finder *f = things;
	const struct code_line *l = key;

	return f->line.at[value].file == l->file && f->line.at[value].line == l->line;
}

static uint32_t line_row(struct finder *f, uint32_t file, uint32_t line)
{
	struct code_line l = { .file = file, .line = line };
	uint64_t hash = hash_pair(file, line);
	uint32_t at = map_find(&f->by_line, hash, same_line, f, &l);

	if (at != MAP_NONE)
		return at;
	at = (uint32_t)f->line.n;
	map_add(&f->by_line, hash, at);
	vec_push(&f->line, l);
	return at;
}

/* Where in a run the scope begins: its node may be any of the frames. */
static void find_scope(struct finder *f, uint32_t stack)
{
	uint32_t parent = f->stacks.parent[stack], location = f->stacks.location[stack];
	uint64_t path = f->path[parent];
	const struct frame *frame;
	struct frame one;
	uint32_t n = frames_of(f, location, &one, &frame);

	f->scope[stack] = f->scope[parent] == NOT_THERE ? NOT_THERE : 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t key = key_of(f, frame[i].function, f->locations.module[location]);

		path = calltree_path(path, f->keys->key[key].id);
		if (path == f->wanted && f->scope[stack] == NOT_THERE)
			f->scope[stack] = i;
	}
	f->path[stack] = path;
}

/* Which nodes of the transformed tree are within the scope; all, where there is none. */
static void scope_tree(struct finder *f)
{
	const struct frametree *t = &f->tree;
	uint64_t *path = xcalloc(t->n, sizeof(*path));

	f->inside = xcalloc(t->n, sizeof(*f->inside));
	f->inside[0] = f->wanted == 0;
	for (uint32_t i = 1; i < t->n; i++) {
		path[i] = calltree_path(path[t->parent[i]], f->keys->key[t->key[i]].id);
		f->inside[i] = f->inside[t->parent[i]] || path[i] == f->wanted;
	}
	free(path);
}

/* Stacks as transforms leave them, where there are any. 0 or -ECANCELED. */
static int transform_stacks(struct finder *f)
{
	const struct analysis *a = f->a;
	int rc;

	if (!transforms_wanted(a->lens.filter))
		return 0;
	rc = build_tree_of_stacks(a->profile, &a->counts, &a->lens, f->keys, &f->tree);
	if (rc < 0)
		return rc;
	f->transformed = true;
	scope_tree(f);
	f->has = xcalloc(f->tree.n, sizeof(*f->has));
	for (uint32_t i = 1; i < f->tree.n; i++)
		f->has[i] = f->has[f->tree.parent[i]] || (f->inside[i] && f->tree.key[i] == f->key);
	return 0;
}

/* Is the node one of the function within the scope? */
static bool is_own_node(const struct finder *f, uint32_t node)
{
	return f->tree.key[node] == f->key && f->inside[node];
}

/* Is a frame of the function still there, of the n that a stack ends in? */
static bool is_kept(const struct finder *f, uint32_t stack, uint32_t n)
{
	uint32_t node = f->tree.of_stack[stack];
	uint32_t above = f->tree.of_stack[f->stacks.parent[stack]];

	if (node == NODE_GONE || node == 0)
		return false;
	/* Where the last frame went, which may be a frame above; else frames that this stack added. */
	if (is_own_node(f, node))
		return true;
	for (uint32_t i = 1; i < n && node != above && node != 0; i++) {
		node = f->tree.parent[node];
		if (node != above && node != 0 && is_own_node(f, node))
			return true;
	}
	return false;
}

/* Notes a stack that ends in the function within the scope. */
static void add_spot(struct finder *f, uint32_t stack, uint32_t up)
{
	uint32_t location = f->stacks.location[stack], from = f->path ? f->scope[stack] : 0;
	struct spot s = {
		.stack = stack, .up = up, .address = f->row[location], .first = (uint32_t)f->lines.n
	};
	const struct frame *frame;
	struct frame one;
	uint32_t n = frames_of(f, location, &one, &frame);
	bool any = false;

	if (f->transformed && !is_kept(f, stack, n))
		return;
	for (uint32_t i = from; i < n && from != NOT_THERE; i++) {
		if (key_of(f, frame[i].function, f->locations.module[location]) != f->key)
			continue;
		any = true;
		if (frame[i].line > 0)
			vec_push(&f->lines, line_row(f, frame[i].file, frame[i].line));
	}
	if (!any)
		return;
	s.n_lines = (uint32_t)f->lines.n - s.first;
	f->spot_of[stack] = (uint32_t)f->spots.n;
	vec_push(&f->spots, s);
}

static int find_spots(struct finder *f, struct progress *progress)
{
	uint32_t n = f->a->counts.n_stacks;

	f->spot_of = xmalloc(((size_t)n + 1) * sizeof(*f->spot_of));
	f->spot_of[0] = NOT_THERE;
	if (f->path) {
		f->path[0] = 0;
		f->scope[0] = f->wanted == 0 ? 0 : NOT_THERE;
	}
	for (uint32_t i = 1; i < n; i++) {
		if ((i & CANCEL_MASK) == 0 && progress_cancelled(progress))
			return -ECANCELED;
		f->spot_of[i] = f->spot_of[f->stacks.parent[i]];
		if (f->path)
			find_scope(f, i);
		if (f->row[f->stacks.location[i]] != NOT_THERE)
			add_spot(f, i, f->spot_of[i]);
	}
	return 0;
}

static void add(int64_t *to, const int64_t *weight, uint32_t n)
{
	for (uint32_t c = 0; c < n; c++)
		to[c] += weight[c];
}

/* What ends in a stack of the function. */
static void add_selves(struct finder *f, const struct weights *w)
{
	struct code_weights *o = f->out;

	for (size_t i = 0; i < f->spots.n; i++) {
		const struct spot *s = &f->spots.at[i];
		const int64_t *weight = w->stack + (size_t)s->stack * w->n_columns;
		uint32_t location = f->stacks.location[s->stack];
		const struct frame *frame;
		struct frame one;
		uint32_t n = frames_of(f, location, &one, &frame);

		add(o->address_self + (size_t)s->address * w->n_columns, weight, w->n_columns);
		add(o->code, weight, w->n_columns);
		if (key_of(f, frame[n - 1].function, f->locations.module[location]) != f->key)
			continue;
		add(o->self, weight, w->n_columns);
		if (s->n_lines > 0 && frame[n - 1].line > 0)
			add(o->line_self +
				    (size_t)f->lines.at[s->first + s->n_lines - 1] * w->n_columns,
			    weight, w->n_columns);
	}
}

/* The same of one stack at a frame of the function, which it or what was merged into it ends in. */
static void add_self_at(struct finder *f, const struct spot *s, bool own, const int64_t *weight)
{
	struct code_weights *o = f->out;
	uint32_t location = f->stacks.location[s->stack];
	const struct frame *frame;
	struct frame one;
	uint32_t n = frames_of(f, location, &one, &frame), columns = o->n_columns, all = n;

	add(o->address_self + (size_t)s->address * columns, weight, columns);
	add(o->code, weight, columns);
	while (n > 0 && key_of(f, frame[n - 1].function, f->locations.module[location]) != f->key)
		n--;
	if (!own || n == 0 || frame[n - 1].line == 0 || s->n_lines == 0)
		return;
	add(o->line_self + (size_t)f->lines.at[s->first + s->n_lines - 1] * columns, weight,
	    columns);
	if (n < all)
		add(o->address_taken + (size_t)s->address * columns, weight, columns);
}

/* What ends in a stack of the function as transforms leave it. Stacks that have it no longer weigh nothing then. */
static void add_transformed(struct finder *f, struct weights *w)
{
	struct code_weights *o = f->out;

	for (uint32_t i = 0; i < w->n_stacks; i++) {
		int64_t *weight = w->stack + (size_t)i * w->n_columns;
		uint32_t node = f->tree.of_stack[i], spot = f->spot_of[i];
		bool own;

		if (node == NODE_GONE || !f->has[node]) {
			memset(weight, 0, w->n_columns * sizeof(*weight));
			continue;
		}
		own = f->tree.key[node] == f->key;
		add(o->total, weight, w->n_columns);
		if (own)
			add(o->self, weight, w->n_columns);
		if (spot != NOT_THERE && f->tree.of_stack[f->spots.at[spot].stack] == node)
			add_self_at(f, &f->spots.at[spot], own, weight);
	}
}

/* What spots have in common: each has items, which stacks pay once however often they meet them. */
struct items {
	const uint32_t
		*first; /* [n_spots + 1] the items of spot i are item[first[i] .. first[i + 1]) */
	const uint32_t *item;
	uint32_t *above; /* [n_items] how often on the way to the spot of a walk */
	int64_t *total;  /* [n_items][n_columns] */
};

static void enter(const struct code_weights *w, const struct items *t, uint32_t spot)
{
	for (uint32_t i = t->first[spot]; i < t->first[spot + 1]; i++)
		if (t->above[t->item[i]]++ == 0)
			add(t->total + (size_t)t->item[i] * w->n_columns,
			    w->spot_total + (size_t)spot * w->n_columns, w->n_columns);
}

static void leave(const struct items *t, uint32_t spot)
{
	for (uint32_t i = t->first[spot]; i < t->first[spot + 1]; i++)
		t->above[t->item[i]]--;
}

/* child and sibling are [n_spots], NOT_THERE where there is none. */
static void walk_from(const struct code_weights *w, const struct items *t, const uint32_t *child,
		      const uint32_t *sibling, uint32_t root)
{
	uint32_t at = root;

	enter(w, t, at);
	for (;;) {
		if (child[at] != NOT_THERE) {
			at = child[at];
			enter(w, t, at);
			continue;
		}
		while (sibling[at] == NOT_THERE || at == root) {
			leave(t, at);
			if (at == root)
				return;
			at = w->spot_up[at];
		}
		leave(t, at);
		at = sibling[at];
		enter(w, t, at);
	}
}

static void add_totals(const struct code_weights *w, const uint32_t *first, const uint32_t *item,
		       uint32_t n_items, int64_t *total)
{
	struct items t = { first, item, xcalloc((size_t)n_items + 1, sizeof(uint32_t)), total };
	uint32_t n = w->n_spots;
	uint32_t *child = xmalloc(((size_t)n + 1) * sizeof(*child));
	uint32_t *sibling = xmalloc(((size_t)n + 1) * sizeof(*sibling));

	for (uint32_t i = 0; i < n; i++)
		child[i] = sibling[i] = NOT_THERE;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t up = w->spot_up[i];

		if (up == NOT_THERE)
			continue;
		sibling[i] = child[up];
		child[up] = i;
	}
	for (uint32_t i = 0; i < n; i++)
		if (w->spot_up[i] == NOT_THERE)
			walk_from(w, &t, child, sibling, i);
	free(t.above);
	free(child);
	free(sibling);
}

void code_weights_of_sets(const struct code_weights *w, const uint32_t *first, const uint32_t *set,
			  uint32_t n_sets, int64_t *total)
{
	uint32_t *from = xmalloc(((size_t)w->n_spots + 1) * sizeof(*from));
	VEC(uint32_t) item = { 0 };

	for (uint32_t i = 0; i < w->n_spots; i++) {
		uint32_t address = w->spot_address[i];

		from[i] = (uint32_t)item.n;
		if (address == NOT_THERE)
			continue;
		for (uint32_t k = first[address]; k < first[address + 1]; k++)
			vec_push(&item, set[k]);
	}
	from[w->n_spots] = (uint32_t)item.n;
	add_totals(w, from, item.at, n_sets, total);
	free(from);
	vec_done(&item);
}

/* The spots with what is at and below them; sums are those of sum_up(). */
static void give_spots(struct finder *f, const struct weights *sums)
{
	struct code_weights *o = f->out;
	uint32_t n = (uint32_t)f->spots.n, columns = o->n_columns;
	uint32_t *first = xmalloc(((size_t)n + 1) * sizeof(*first));

	o->n_spots = n;
	o->spot_up = xmalloc(((size_t)n + 1) * sizeof(*o->spot_up));
	o->spot_address = xmalloc(((size_t)n + 1) * sizeof(*o->spot_address));
	o->spot_total = xcalloc((size_t)n * columns + 1, sizeof(*o->spot_total));
	for (uint32_t i = 0; i < n; i++) {
		const struct spot *s = &f->spots.at[i];

		o->spot_up[i] = s->up;
		o->spot_address[i] = s->address;
		add(o->spot_total + (size_t)i * columns, sums->stack + (size_t)s->stack * columns,
		    columns);
		if (s->up == NOT_THERE && !f->transformed)
			add(o->total, o->spot_total + (size_t)i * columns, columns);
		first[i] = i;
	}
	first[n] = n;
	add_totals(o, first, o->spot_address, (uint32_t)f->addresses.n, o->address_total);
	for (uint32_t i = 0; i < n; i++)
		first[i] = f->spots.at[i].first;
	first[n] = (uint32_t)f->lines.n;
	add_totals(o, first, f->lines.at, (uint32_t)f->line.n, o->line_total);
	free(first);
}

/* Each stack becomes the sum of what is at and below it. */
static void sum_up(const struct finder *f, struct weights *w)
{
	for (uint32_t i = w->n_stacks; i-- > 1;)
		add(w->stack + (size_t)f->stacks.parent[i] * w->n_columns,
		    w->stack + (size_t)i * w->n_columns, w->n_columns);
}

/* Rows in order of module and address; of file and line. */
struct ordered {
	uint32_t high;
	uint64_t low;
	uint32_t at;
};

static int by_order(const void *x, const void *y)
{
	const struct ordered *a = x, *b = y;

	return COMPARE(a->high, b->high) ?: COMPARE(a->low, b->low);
}

static int64_t *reordered(int64_t *from, const struct ordered *o, uint32_t n, uint32_t n_columns)
{
	int64_t *to = xcalloc((size_t)n * n_columns + 1, sizeof(*to));

	for (uint32_t i = 0; i < n; i++)
		memcpy(to + (size_t)i * n_columns, from + (size_t)o[i].at * n_columns,
		       n_columns * sizeof(*to));
	free(from);
	return to;
}

static bool any(const int64_t *numbers, uint32_t n)
{
	for (uint32_t c = 0; c < n; c++)
		if (numbers[c] != 0)
			return true;
	return false;
}

/* Rows that nobody paid for are left out. */
static void give_out(struct finder *f)
{
	struct code_weights *o = f->out;
	struct ordered *order = xcalloc(f->addresses.n + f->line.n + 1, sizeof(*order));
	uint32_t *row = xmalloc((f->addresses.n + 1) * sizeof(*row)), n = 0;

	for (uint32_t i = 0; i < f->addresses.n; i++)
		if (any(o->address_total + (size_t)i * o->n_columns, o->n_columns))
			order[n++] = (struct ordered){ f->addresses.at[i].module,
						       f->addresses.at[i].address, i };
	qsort(order, n, sizeof(*order), by_order);
	o->address = xcalloc((size_t)n + 1, sizeof(*o->address));
	for (size_t i = 0; i < f->addresses.n; i++)
		row[i] = NOT_THERE;
	for (uint32_t i = 0; i < n; i++) {
		o->address[i] = f->addresses.at[order[i].at];
		row[order[i].at] = i;
	}
	for (uint32_t i = 0; i < o->n_spots; i++)
		o->spot_address[i] = row[o->spot_address[i]];
	free(row);
	o->n_addresses = n;
	o->address_self = reordered(o->address_self, order, n, o->n_columns);
	o->address_taken = reordered(o->address_taken, order, n, o->n_columns);
	o->address_total = reordered(o->address_total, order, n, o->n_columns);
	n = 0;
	for (uint32_t i = 0; i < f->line.n; i++)
		if (any(o->line_total + (size_t)i * o->n_columns, o->n_columns))
			order[n++] = (struct ordered){ f->line.at[i].file, f->line.at[i].line, i };
	qsort(order, n, sizeof(*order), by_order);
	o->line = xcalloc((size_t)n + 1, sizeof(*o->line));
	for (uint32_t i = 0; i < n; i++)
		o->line[i] = f->line.at[order[i].at];
	o->n_lines = n;
	o->line_self = reordered(o->line_self, order, n, o->n_columns);
	o->line_total = reordered(o->line_total, order, n, o->n_columns);
	free(order);
}

static void weigh(struct finder *f, struct weights *w)
{
	struct code_weights *o = f->out;
	size_t n_addresses = f->addresses.n * w->n_columns, n_lines = f->line.n * w->n_columns;

	o->n_columns = w->n_columns;
	memcpy(o->scale, w->scale, sizeof(o->scale));
	o->address_self = xcalloc(n_addresses + 1, sizeof(int64_t));
	o->address_taken = xcalloc(n_addresses + 1, sizeof(int64_t));
	o->address_total = xcalloc(n_addresses + 1, sizeof(int64_t));
	o->line_self = xcalloc(n_lines + 1, sizeof(int64_t));
	o->line_total = xcalloc(n_lines + 1, sizeof(int64_t));
	if (w->stack) {
		weights_unsum(w, f->stacks.parent);
		if (f->transformed)
			add_transformed(f, w);
		else
			add_selves(f, w);
		sum_up(f, w);
		give_spots(f, w);
	}
	give_out(f);
}

uint32_t code_key(const struct groups *keys, uint32_t key_id)
{
	uint32_t module = key_id & ~KEY_OF_MODULE;

	if (key_id < keys->n_functions)
		return keys->of_function[key_id];
	return key_id & KEY_OF_MODULE && module < keys->n_modules ? keys->of_module[module]
								  : KEY_NONE;
}

/* The key that has the id; the analysis may group by something else. */
static bool find_key(struct finder *f, uint32_t key_id)
{
	const struct analysis *a = f->a;

	f->keys = &a->keys;
	if (a->keys.grouping != GROUP_FUNCTION) {
		groups_init_named(&f->own, a->profile, &a->counts, GROUP_FUNCTION, a->lens.names);
		f->keys = &f->own;
	}
	f->key = code_key(f->keys, key_id);
	return f->key != KEY_NONE;
}

static void prepare_scope(struct finder *f, const struct code_wish *wish)
{
	uint32_t n = f->a->counts.n_stacks;

	if (wish->path == 0 || f->keys == &f->own)
		return;
	f->out->scoped = true;
	f->wanted = wish->path;
	/* The path of a node under transforms has no place in recorded stacks: scope_tree() finds it. */
	if (transforms_wanted(f->a->lens.filter))
		return;
	f->path = xmalloc(((size_t)n + 1) * sizeof(*f->path));
	f->scope = xmalloc(((size_t)n + 1) * sizeof(*f->scope));
}

int code_weights_init(const struct analysis *a, const struct code_wish *wish,
		      struct progress *progress, struct code_weights *out)
{
	struct finder f = { .a = a, .out = out };
	struct weights w;
	int rc = 0;

	*out = (struct code_weights){ .n_columns = 0 };
	profile_locations(a->profile, &f.locations);
	profile_stacks_of(a->profile, &a->counts, &f.stacks);
	if (!find_key(&f, wish->key_id)) {
		rc = -ENOENT;
		goto out;
	}
	prepare_scope(&f, wish);
	find_addresses(&f);
	rc = transform_stacks(&f);
	if (rc == 0)
		rc = find_spots(&f, progress);
	if (rc == 0)
		rc = aggregate(a->profile, &a->counts, &a->lens, progress, &w);
	if (rc == 0) {
		weigh(&f, &w);
		weights_done(&w);
	}
out:
	if (f.keys == &f.own)
		groups_done(&f.own);
	map_done(&f.by_line);
	vec_done(&f.spots);
	vec_done(&f.lines);
	vec_done(&f.addresses);
	vec_done(&f.line);
	if (f.transformed)
		frametree_done(&f.tree);
	free(f.has);
	free(f.inside);
	free(f.row);
	free(f.path);
	free(f.scope);
	free(f.spot_of);
	return rc;
}

void code_weights_done(struct code_weights *w)
{
	free(w->spot_up);
	free(w->spot_address);
	free(w->spot_total);
	free(w->address);
	free(w->address_self);
	free(w->address_taken);
	free(w->address_total);
	free(w->line);
	free(w->line_self);
	free(w->line_total);
	*w = (struct code_weights){ .n_columns = 0 };
}

/* The function of the sites with most of column 0, of a heap; ID_NONE: there is none. */
static uint32_t first_site(const struct analysis *a)
{
	const struct groups *keys = &a->keys;
	struct heap_site *site;
	uint32_t best = KEY_NONE;
	struct weights w;
	int64_t *sum;

	if (aggregate(a->profile, &a->counts, &a->lens, NULL, &w) != 0)
		return ID_NONE;
	site = heap_sites(a->profile, &a->counts, keys, a->lens.inlines);
	sum = xcalloc(keys->n + 1u, sizeof(*sum));
	for (uint32_t i = 0; i < w.n_stacks; i++)
		if (site[i].key != KEY_NONE)
			sum[site[i].key] += w.stack[(size_t)i * w.n_columns];
	for (uint32_t k = 0; k < keys->n; k++)
		if (sum[k] > 0 && (best == KEY_NONE || sum[k] > sum[best]))
			best = k;
	free(sum);
	free(site);
	weights_done(&w);
	return best == KEY_NONE ? ID_NONE : keys->key[best].id;
}

uint32_t code_hottest(const struct analysis *a)
{
	const struct table *t = &a->table;
	uint32_t out = ID_NONE;
	double most = -1;
	bool named = false;

	if (a->keys.grouping == GROUP_FUNCTION &&
	    metric_is_heap(a->profile, a->lens.column[0].metric))
		out = first_site(a);
	if (out != ID_NONE)
		return out;
	for (uint32_t i = 0; i < t->n_rows && a->table_keys->grouping == GROUP_FUNCTION; i++) {
		const struct key *k = &a->table_keys->key[t->key[i]];
		double self = lens_share(&a->lens, t->self + (size_t)i * t->n_columns,
					 a->weights.total);
		bool has_name = self > 0 && !(k->flags & (FUNCTION_UNRESOLVED | FUNCTION_BEGIN)) &&
				!(k->id & KEY_OF_MODULE);

		if (k->flags & (FUNCTION_COMM | FUNCTION_MARK) || (named && !has_name))
			continue;
		if (out != ID_NONE && named == has_name && self <= most)
			continue;
		out = k->id;
		most = self;
		named = has_name;
	}
	return out;
}
