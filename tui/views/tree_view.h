/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The view of a tree as rows, for both directions: view_tree.c and view_callers.c are this with one
 * source each.
 */
#ifndef PROFTOP_TUI_VIEWS_TREE_VIEW_H
#define PROFTOP_TUI_VIEWS_TREE_VIEW_H

#include "tui/contract/list.h"
#include "tui/contract/view.h"
#include "tui/rows/row_shape.h"
#include "tui/rows/row_sparkline.h"
#include "tui/rows/tree_rows.h"
#include "tui/rows/tree_zoom.h"

/* Lines for ancestors of what is in sight: at most so many, and one in TREE_PIN_PART. */
#define TREE_PINS_MOST 6
#define TREE_PIN_PART  4

/* How far up the cursor is looked for when its own row is gone. */
#define TREE_ABOVE_MOST 64

struct tree_view {
	struct tree_rows rows;
	struct list list;
	struct tree_zoom zoom;
	struct row_shape shape; /* as of the last layout */
	struct row_sparkline minute;
	uint32_t found;       /* the node that a search went to, or TREE_NONE */
	uint64_t cursor_path; /* of the first node in the cursor's row, 0: none */
	uint64_t above
		[TREE_ABOVE_MOST]; /* [n_above] that path and those of what it is below of, nearest first */
	uint32_t n_above;
	uint32_t outdent; /* levels of indentation that are scrolled out on the left */
	int level_cols;   /* columns of a level: fewer where rows of many are in sight */
	uint32_t pin[TREE_PINS_MOST]; /* [list.pinned] rows that stay in sight, outermost first */
	bool touched;                 /* the user did something: do not open rows any more */
};

struct tree_view *tree_view_new(const struct tree_source *src);
void tree_view_free(void *state);

void tree_view_update(void *state, const struct scene *s);
void tree_view_layout(void *state, const struct scene *s, struct rect r);
void tree_view_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r);
bool tree_view_act(void *state, const struct scene *s, enum action a, struct effect *out);
void tree_view_click(void *state, const struct scene *s, struct rect r, int row, int col,
		     bool twice, struct effect *out);
bool tree_view_selection(const void *state, const struct scene *s, struct place *out);
uint32_t tree_view_find(void *state, const struct scene *s, int step, uint32_t *at);
char *tree_view_status(const void *state, const struct scene *s);
const char *tree_view_order(const void *state, const struct scene *s);
bool tree_view_sort(void *state, const struct scene *s, const char *by);
void tree_view_position(const void *state, uint32_t *at, uint32_t *of);
char *tree_view_crumb(const void *state, const struct scene *s);
char *tree_view_zoom(const void *state, const struct scene *s);
bool tree_view_zoom_to(void *state, const struct scene *s, const char *term);

/* Goes to a node, zooming out where it lies elsewhere. */
void tree_view_go(struct tree_view *v, const struct scene *s, uint32_t node);

/* Opens what is below the cursor along the heaviest children that weigh half of it, to where the path splits. */
void tree_view_open_hot(struct tree_view *v, const struct scene *s);

#endif
