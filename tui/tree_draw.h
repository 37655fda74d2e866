/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a tree of rows looks: a header, and below it rows with numbers, arrows, names, modules. */
#ifndef PROFTOP_TUI_TREE_DRAW_H
#define PROFTOP_TUI_TREE_DRAW_H

#include "tree_view.h"

void tree_draw(const struct tree_view *v, const struct scene *s, struct canvas *c, struct rect r);

/* Lines above the first row. */
int tree_draw_top(struct rect r);

/*
 * Where a row's arrow stands in the rectangle. Deep rows are drawn `outdent` levels further left.
 */
int tree_draw_arrow_col(const struct row_shape *sh, uint32_t outdent, uint32_t indent);

/* The outdent that shows a row of that indentation well, changing the present one seldom. */
uint32_t tree_draw_outdent(const struct row_shape *sh, uint32_t outdent, uint32_t indent);

#endif
