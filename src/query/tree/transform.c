/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function per transform. Each visits a node after its parent and says where in the new tree what
 * ends in it goes: to a child of where its parent went, to that place itself, or nowhere.
 */
#include "config.h"

#include "query/tree/transform.h"

#include "base/mem.h"
#include "base/task.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "query/core/frame_ids.h"
#include "query/tree/frametree.h"
#include "query/tree/line_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One transform at work. */
struct work {
	const struct profile *profile;
	const struct profile_counts *counts;
	const struct groups *functions;  /* to see recursion by */
	const struct line_frames *lines; /* keys of nodes that are no atoms; NULL: all are atoms */
	const struct term *term;
	const bool *matches; /* [frame_ids_n()] of the term's expression; NULL without one */
	const struct frametree *from; /* what was */
	struct frametree *to;         /* what becomes */
	uint32_t *map;                /* [from->n] nodes of to, or NODE_GONE */
};

/* The atom that node i of from, or a key of a node, stands for, at whatever line. */
static uint32_t atom_of_key(const struct work *w, uint32_t key)
{
	return w->lines ? line_frames_id(w->lines, key) : key;
}

static uint32_t atom_of(const struct work *w, uint32_t i)
{
	return atom_of_key(w, w->from->key[i]);
}

/* Node i of from as a child of a node of to. */
static uint32_t keep(struct work *w, uint32_t i, uint32_t parent)
{
	return frametree_child(w->to, parent, w->from->key[i], w->from->inlined[i]);
}

/* The function that a node's key is a frame of, as recursion sees it. */
static uint32_t function_key(const struct work *w, uint32_t key)
{
	uint32_t atom = atom_of_key(w, key);

	if (atom < w->functions->n_functions)
		return w->functions->of_function[atom];
	return w->functions->of_module[atom - w->functions->n_functions];
}

static void focus(struct work *w)
{
	w->map[0] = NODE_GONE;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t parent = w->map[w->from->parent[i]];

		if (parent == NODE_GONE && w->matches[atom_of(w, i)])
			parent = 0;
		w->map[i] = parent == NODE_GONE ? NODE_GONE : keep(w, i, parent);
	}
}

static void merge(struct work *w)
{
	w->map[0] = 0;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t parent = w->map[w->from->parent[i]];

		w->map[i] = w->matches[atom_of(w, i)] ? parent : keep(w, i, parent);
	}
}

static void collapse(struct work *w)
{
	bool *closed = xcalloc(w->from->n, sizeof(*closed)); /* frames below are folded */

	w->map[0] = 0;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t up = w->from->parent[i], parent = w->map[up];

		closed[i] = closed[up] || w->matches[atom_of(w, i)];
		if (closed[up])
			w->map[i] = parent;
		else if (closed[i])
			w->map[i] = frametree_child(w->to, parent, atom_of(w, i),
						    w->from->inlined[i]);
		else
			w->map[i] = keep(w, i, parent);
	}
	free(closed);
}

/* Node i of from, which is of the same function as a node of to, as one frame with it: at i's line where there are lines. */
static uint32_t fold(struct work *w, uint32_t i, uint32_t node)
{
	bool inlined = w->to->inlined[node] && w->from->inlined[i];

	if (w->lines)
		return frametree_child(w->to, w->to->parent[node], w->from->key[i], inlined);
	w->to->inlined[node] = inlined;
	return node;
}

static void fold_direct_recursion(struct work *w)
{
	w->map[0] = 0;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t parent = w->map[w->from->parent[i]];
		uint32_t key = function_key(w, w->from->key[i]);

		if (parent != 0 && function_key(w, w->to->key[parent]) == key)
			w->map[i] = fold(w, i, parent);
		else
			w->map[i] = keep(w, i, parent);
	}
}

/*
 * Folding all recursion: a walk of the old tree in preorder which keeps the path in the new one. A
 * frame whose function is on that path cuts the path back to it. Leaving a frame undoes what entering
 * did, one entry of `path` and one of `node_of`; cut entries are told by no longer being on the path.
 */
struct fold_step {
	uint32_t node;       /* of the old tree */
	uint32_t next_child; /* index of the next one to enter */
	uint32_t depth;      /* length of the new path, counting the root, after entering */
	uint32_t old_path;   /* what path[depth - 1] was */
	uint32_t old_node;   /* what node_of[function] was */
};

struct compact {
	VEC(struct fold_step) steps; /* from the root to where the walk is */
	uint32_t *path;              /* [longest path + 1] nodes of the new tree, by depth */
	uint32_t *node_of;           /* [functions] node on the path, or once on it; or NODE_GONE */
	uint32_t *depth_of;          /* [nodes of the old tree] depth of nodes of the new one */
};

static void fold_enter(struct work *w, struct compact *f, uint32_t i, uint32_t first_child)
{
	const struct fold_step *up = &f->steps.at[f->steps.n - 1];
	uint32_t key = function_key(w, w->from->key[i]), node = f->node_of[key];
	struct fold_step step = { .node = i, .next_child = first_child };

	if (node != NODE_GONE && f->depth_of[node] < up->depth &&
	    f->path[f->depth_of[node]] == node) {
		step.depth = f->depth_of[node] + 1;
		node = fold(w, i, node);
		f->depth_of[node] = step.depth - 1;
	} else {
		node = keep(w, i, f->path[up->depth - 1]);
		f->depth_of[node] = up->depth;
		step.depth = up->depth + 1;
	}
	step.old_path = f->path[step.depth - 1];
	step.old_node = f->node_of[key];
	f->path[step.depth - 1] = node;
	f->node_of[key] = node;
	w->map[i] = node;
	vec_push(&f->steps, step);
}

static void fold_leave(struct work *w, struct compact *f)
{
	const struct fold_step *step = &f->steps.at[--f->steps.n];

	f->path[step->depth - 1] = step->old_path;
	f->node_of[function_key(w, w->from->key[step->node])] = step->old_node;
}

static void fold_all_recursion(struct work *w)
{
	uint32_t n = w->from->n, *start, *child;
	struct compact f = { 0 };

	frametree_children(w->from, &start, &child);
	f.path = xcalloc((size_t)n + 1, sizeof(*f.path));
	f.depth_of = xcalloc((size_t)n + 1, sizeof(*f.depth_of));
	f.node_of = xmalloc(w->functions->n * sizeof(*f.node_of));
	memset(f.node_of, 0xff, w->functions->n * sizeof(*f.node_of));
	vec_push(&f.steps, ((struct fold_step){ .next_child = start[0], .depth = 1 }));
	w->map[0] = 0;
	for (;;) {
		struct fold_step *top = &f.steps.at[f.steps.n - 1];

		if (top->next_child < start[top->node + 1]) {
			uint32_t i = child[top->next_child++];

			fold_enter(w, &f, i, start[i]);
		} else if (f.steps.n > 1) {
			fold_leave(w, &f);
		} else {
			break;
		}
	}
	vec_done(&f.steps);
	free(f.path);
	free(f.depth_of);
	free(f.node_of);
	free(start);
	free(child);
}

static bool is_made_label(const struct profile *p, module_id m, const char *name)
{
	char *made = frame_id_made_label(p, m);
	bool yes = strcmp(made, name) == 0;

	free(made);
	return yes;
}

static bool frame_id_is_called(const struct work *w, uint32_t atom, const char *name)
{
	const struct profile *p = w->profile;

	if (atom < w->counts->n_functions) {
		const struct function *f = profile_function(p, (function_id){ atom });

		return strcmp(profile_string(p, f->name, NULL), name) == 0 ||
		       (f->flags & FUNCTION_BEGIN && is_made_label(p, f->module, name));
	}
	return is_made_label(p, (module_id){ atom - w->counts->n_functions }, name);
}

static void focus_path(struct work *w)
{
	/* Frames of the path that the stack has so far; NODE_GONE: it is another path. */
	uint32_t *n_found = xcalloc(w->from->n, sizeof(*n_found));

	w->map[0] = NODE_GONE;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t up = w->from->parent[i], parent = w->map[up], n = n_found[up];

		w->map[i] = NODE_GONE;
		n_found[i] = NODE_GONE;
		if (parent != NODE_GONE) {
			w->map[i] = keep(w, i, parent);
		} else if (n != NODE_GONE &&
			   frame_id_is_called(w, atom_of(w, i), w->term->frames[n])) {
			n_found[i] = n + 1;
			if (n + 1 == w->term->n_frames)
				w->map[i] = keep(w, i, 0);
		}
	}
	free(n_found);
}

/* What is not of the modules goes to its caller; stacks without any of it are dropped. */
static void focus_module(struct work *w)
{
	uint32_t *place = xcalloc(w->from->n, sizeof(*place));
	bool *within = xcalloc(w->from->n, sizeof(*within));

	w->map[0] = NODE_GONE;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t up = w->from->parent[i];
		bool is = w->matches[atom_of(w, i)];

		within[i] = within[up] || is;
		place[i] = is ? keep(w, i, place[up]) : place[up];
		w->map[i] = within[i] ? place[i] : NODE_GONE;
	}
	free(place);
	free(within);
}

/* The atom that stands for an atom's whole module. */
static uint32_t atom_of_module(const struct work *w, uint32_t atom)
{
	if (atom >= w->counts->n_functions)
		return atom;
	return w->counts->n_functions +
	       profile_function(w->profile, (function_id){ atom })->module.v;
}

/* Frames that follow each other within a module are one frame that is called by its name. */
static void collapse_module(struct work *w)
{
	bool *folded = xcalloc(w->from->n + (size_t)1, sizeof(*folded)); /* nodes of to */

	w->map[0] = 0;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t parent = w->map[w->from->parent[i]], atom = atom_of(w, i), node;

		if (!w->matches[atom]) {
			w->map[i] = keep(w, i, parent);
			continue;
		}
		atom = atom_of_module(w, atom);
		if (folded[parent] &&
		    function_key(w, w->to->key[parent]) == function_key(w, atom)) {
			w->map[i] = parent;
			continue;
		}
		node = frametree_child(w->to, parent, atom, false);
		folded[node] = true;
		w->map[i] = node;
	}
	free(folded);
}

/* The node of one path goes to its caller, and what it calls with it. */
static void merge_path(struct work *w)
{
	uint32_t *n_found = xcalloc(w->from->n, sizeof(*n_found));

	w->map[0] = 0;
	for (uint32_t i = 1; i < w->from->n; i++) {
		uint32_t up = w->from->parent[i], n = n_found[up];
		bool on = n != NODE_GONE && n < w->term->n_frames &&
			  frame_id_is_called(w, atom_of(w, i), w->term->frames[n]);

		n_found[i] = on ? n + 1 : NODE_GONE;
		if (on && n + 1 == w->term->n_frames)
			w->map[i] = w->map[up];
		else
			w->map[i] = keep(w, i, w->map[up]);
	}
	free(n_found);
}

static void apply(struct work *w)
{
	switch (w->term->kind) {
	case TERM_FOCUS:
		focus(w);
		break;
	case TERM_MERGE:
		merge(w);
		break;
	case TERM_COLLAPSE:
		collapse(w);
		break;
	case TERM_RECURSION:
		if (w->term->all_recursion)
			fold_all_recursion(w);
		else
			fold_direct_recursion(w);
		break;
	case TERM_FOCUS_PATH:
		focus_path(w);
		break;
	case TERM_FOCUS_MODULE:
		focus_module(w);
		break;
	case TERM_COLLAPSE_MODULE:
		collapse_module(w);
		break;
	case TERM_MERGE_PATH:
		merge_path(w);
		break;
	default:
		break;
	}
}

bool transforms_wanted(const struct filter *f)
{
	size_t n;
	const struct term *terms = filter_terms(f, &n);

	for (size_t i = 0; i < n; i++)
		if (term_is_transform(&terms[i]))
			return true;
	return false;
}

static int apply_term(struct work *w, struct frametree *t, struct progress *progress)
{
	bool *matches = NULL;
	struct frametree to;
	int rc = 0;

	if (progress_cancelled(progress))
		return -ECANCELED;
	if (w->term->regex) {
		matches = xmalloc(frame_ids_n(w->counts) * sizeof(*matches));
		rc = frame_ids_match(w->profile, w->counts, w->term, progress, matches);
	}
	if (rc == 0) {
		frametree_init(&to, t->n_columns, t->n / 2);
		w->matches = matches;
		w->from = t;
		w->to = &to;
		w->map = xmalloc(t->n * sizeof(*w->map));
		apply(w);
		frametree_move(&to, t, w->map);
		frametree_move_stacks(&to, t, w->map);
		/* Only folding leaves places that all stacks have left again: of all recursion, or for another line. */
		if (w->term->all_recursion || (w->lines && w->term->kind == TERM_RECURSION))
			frametree_prune(&to);
		free(w->map);
		frametree_done(t);
		*t = to;
	}
	free(matches);
	return rc;
}

int transforms_apply(const struct filter *f, const struct profile *p,
		     const struct profile_counts *counts, const struct groups *functions,
		     const struct line_frames *lines, struct progress *progress,
		     struct frametree *t)
{
	struct work w = { .profile = p, .counts = counts, .functions = functions, .lines = lines };
	size_t n;
	const struct term *terms = filter_terms(f, &n);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		w.term = &terms[i];
		if (term_is_transform(w.term))
			rc = apply_term(&w, t, progress);
	}
	return rc;
}
