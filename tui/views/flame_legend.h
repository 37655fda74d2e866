/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What widths, colours and signs of a flame graph mean where two sides are compared: its last line. */
#ifndef PROFTOP_TUI_VIEWS_FLAME_LEGEND_H
#define PROFTOP_TUI_VIEWS_FLAME_LEGEND_H

#include "tui/canvas/canvas.h"
#include "tui/contract/view.h"

/* What of the view's rectangle is left to the graph: all of it where nothing is compared, or there are few rows. */
struct rect flame_legend_above(const struct scene *s, struct rect r);
/* Draws it into the same rectangle's last line, if it is there. */
void flame_legend_draw(const struct scene *s, struct canvas *c, struct rect r);

#endif
