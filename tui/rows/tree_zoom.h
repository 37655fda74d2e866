/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a tree is zoomed into, and how one came there: a path of key ids from the root with marks
 * where one stopped on the way. Key ids mean the same in every analysis, so a zoom outlives them.
 */
#ifndef PROFTOP_TUI_ROWS_TREE_ZOOM_H
#define PROFTOP_TUI_ROWS_TREE_ZOOM_H

#include "tui/rows/tree_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_stop {
	uint32_t length; /* of the path to it; does not fall from stop to stop */
	uint32_t n_skip; /* only its children but for so many of the heaviest; 0: all of it */
};

struct tree_zoom {
	struct {
		uint32_t *at; /* [n] key ids, from a root to what is zoomed into; owned */
		size_t n, cap;
	} path;
	struct {
		struct tree_stop *at; /* [n]; owned */
		size_t n, cap;
	} stop;
};

/* Zeroed is a valid zoom into nothing. */
void tree_zoom_done(struct tree_zoom *z);

/* The node zoomed into, or TREE_NONE; drops stops that lead nowhere in this analysis. */
uint32_t tree_zoom_node(struct tree_zoom *z, const struct tree_source *src, struct analysis *a);

/* How many of that node's children are left out. */
uint32_t tree_zoom_skip(const struct tree_zoom *z);

/*
 * Zooms into node, which is below what is zoomed into or, if not, becomes the only stop. node may be
 * TREE_NONE when n_skip > 0.
 */
void tree_zoom_into(struct tree_zoom *z, const struct tree_source *src, struct analysis *a,
		    uint32_t node, uint32_t n_skip);
/* Back to the stop before; false when there was none. */
bool tree_zoom_out(struct tree_zoom *z);
void tree_zoom_reset(struct tree_zoom *z);

/* "main › parse": the stops; malloc'd, or NULL when there are none. */
char *tree_zoom_text(const struct tree_zoom *z, const struct groups *keys);

/* What is zoomed into as a "focus-path:…" of names, which other recordings have too; NULL: nothing, or not all of a node. The caller frees. */
char *tree_zoom_term(const struct tree_zoom *z, const struct groups *keys);
/* Zooms into what such a term names, instead of what it was zoomed into; false where that is not in the tree. */
bool tree_zoom_follow(struct tree_zoom *z, const struct tree_source *src, struct analysis *a,
		      const char *term);

#endif
