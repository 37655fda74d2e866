/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a tree of rows looks: a header, and below it rows with numbers, arrows, names, modules. */
#ifndef PROFTOP_TUI_VIEWS_TREE_DRAW_H
#define PROFTOP_TUI_VIEWS_TREE_DRAW_H

#include "tui/views/tree_view.h"

void tree_draw(const struct tree_view *v, const struct scene *s, struct canvas *c, struct rect r);

/* Lines above the first row. */
int tree_draw_top(struct rect r);

/* Where a row's arrow stands in the rectangle. Deep rows are drawn v->outdent levels further left. */
int tree_draw_arrow_col(const struct tree_view *v, uint32_t indent);

/* Sets outdent and level_cols so that the cursor's row is shown well, changing them seldom. */
void tree_draw_fit(struct tree_view *v);

#endif
