/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zooming into trees; see tree_zoom.h. */
#include "config.h"

#include "tui/rows/tree_zoom.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/filter_term.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"

/* Columns of one name in a breadcrumb. */
#define NAME_COLS 32

void tree_zoom_done(struct tree_zoom *z)
{
	vec_done(&z->path);
	vec_done(&z->stop);
}

uint32_t tree_zoom_node(struct tree_zoom *z, const struct tree_source *src, struct analysis *a)
{
	uint32_t node = TREE_NONE, stopped = TREE_NONE;
	size_t stop = 0;

	for (size_t i = 0; i <= z->path.n; i++) {
		for (; stop < z->stop.n && z->stop.at[stop].length == i; stop++)
			stopped = node;
		if (i < z->path.n)
			node = tree_child(src, a, node, z->path.at[i]);
		if (node == TREE_NONE)
			break;
	}
	z->stop.n = stop;
	z->path.n = stop > 0 ? z->stop.at[stop - 1].length : 0;
	return stopped;
}

uint32_t tree_zoom_skip(const struct tree_zoom *z)
{
	return z->stop.n > 0 ? z->stop.at[z->stop.n - 1].n_skip : 0;
}

void tree_zoom_into(struct tree_zoom *z, const struct tree_source *src, struct analysis *a,
		    uint32_t node, uint32_t n_skip)
{
	uint32_t top = tree_zoom_node(z, src, a);
	size_t n = 0, from = z->path.n;
	uint32_t up = node;
	struct tree_stop stop = { .n_skip = n_skip };

	while (up != top && up != TREE_NONE) {
		n++;
		up = src->parent(a, up);
	}
	if (up != top) {
		tree_zoom_reset(z);
		from = 0;
	}
	vec_reserve(&z->path, from + n);
	z->path.n = from + n;
	for (size_t i = from + n; i-- > from; node = src->parent(a, node))
		z->path.at[i] = tree_key(src, a, node)->id;
	stop.length = (uint32_t)(from + n);
	if (n > 0 || n_skip != tree_zoom_skip(z))
		vec_push(&z->stop, stop);
}

bool tree_zoom_out(struct tree_zoom *z)
{
	if (z->stop.n == 0)
		return false;
	z->stop.n--;
	z->path.n = z->stop.n > 0 ? z->stop.at[z->stop.n - 1].length : 0;
	return true;
}

void tree_zoom_reset(struct tree_zoom *z)
{
	z->stop.n = z->path.n = 0;
}

char *tree_zoom_text(const struct tree_zoom *z, const struct groups *keys)
{
	char *out = NULL;

	for (size_t i = 0; i < z->stop.n; i++) {
		const struct tree_stop *stop = &z->stop.at[i];
		uint32_t key = KEY_NONE;
		char *name, *longer;

		if (stop->length > 0 && stop->n_skip == 0)
			key = row_key_of_id(keys, z->path.at[stop->length - 1]);
		if (key == KEY_NONE)
			name = xstrdup("…");
		else
			name = name_in_row(keys->key[key].label, NAME_COLS, false);
		longer = xasprintf("%s%s%s", out ? out : "", out ? " › " : "", name);
		free(out);
		free(name);
		out = longer;
	}
	return out;
}

char *tree_zoom_term(const struct tree_zoom *z, const struct groups *keys)
{
	VEC(const char *) names = { 0 };
	char *term = NULL;

	for (size_t i = 0; i < z->path.n; i++) {
		uint32_t key = row_key_of_id(keys, z->path.at[i]);

		if (key != KEY_NONE)
			vec_push(&names, keys->key[key].label);
	}
	if (names.n > 0 && names.n == z->path.n && tree_zoom_skip(z) == 0)
		term = term_path(TERM_FOCUS_PATH, names.at, names.n);
	vec_done(&names);
	return term;
}

/* A child of node (or a root) by its name, or TREE_NONE. */
static uint32_t child_named(const struct tree_source *src, struct analysis *a, uint32_t node,
			    const char *name)
{
	uint32_t child = src->first(a, node);

	while (child != TREE_NONE && strcmp(tree_key(src, a, child)->label, name) != 0)
		child = src->next(a, child);
	return child;
}

bool tree_zoom_follow(struct tree_zoom *z, const struct tree_source *src, struct analysis *a,
		      const char *term)
{
	uint32_t node = TREE_NONE;
	struct term t;
	size_t i = 0;

	if (term_parse(&term, &t, NULL) != 0)
		return false;
	while (i < t.n_frames && (node = child_named(src, a, node, t.frames[i])) != TREE_NONE)
		i++;
	if (node != TREE_NONE) {
		tree_zoom_reset(z);
		tree_zoom_into(z, src, a, node, 0);
	}
	term_done(&t);
	return node != TREE_NONE;
}
