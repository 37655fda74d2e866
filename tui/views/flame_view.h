/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the flame graph, for view_flame.c and flame_draw.c. */
#ifndef PROFTOP_TUI_VIEWS_FLAME_VIEW_H
#define PROFTOP_TUI_VIEWS_FLAME_VIEW_H

#include "tui/contract/view.h"
#include "tui/rows/tree_zoom.h"
#include "tui/views/flame_layout.h"

/* i goes round. */
enum flame_mode {
	FLAME_ICICLE, /* roots on top */
	FLAME_FLAME,  /* roots at the bottom */
	FLAME_LEAVES  /* what costs on top, its callers below */
};

struct flame_view {
	enum flame_mode mode;
	struct flame_layout layout;
	struct tree_zoom zoom;
	struct tree_zoom other; /* the zoom of the other tree: calls while leaves come first */
	struct tree_zoom place; /* the selected node as its only stop, to find it again */
	uint32_t cell;          /* the selected one, FLAME_NONE: there is none */
	uint32_t node;          /* in its chain; TREE_NONE: everything or merged ones */
	int goal;               /* column that moving up and down keeps to */
	uint32_t scroll;        /* levels out of sight on the roots' side */
	int rows, cols;         /* of the last layout */
};

void flame_draw(const struct flame_view *v, const struct scene *s, struct canvas *c, struct rect r);

#endif
