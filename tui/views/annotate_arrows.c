/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrows of jumps beside instructions. */
#include "config.h"

#include "tui/views/annotate_view.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tui/canvas/glyphs.h"

/* A jump between two rows. */
struct arrow {
	uint32_t low, high; /* rows */
	bool up;            /* it goes to the lower number */
	bool selected;
	int lane; /* from the text outwards */
};

static int by_length(const void *x, const void *y)
{
	const struct arrow *a = x, *b = y;
	uint32_t la = a->high - a->low, lb = b->high - b->low;

	if (a->selected != b->selected)
		return a->selected ? -1 : 1;
	return la != lb ? (la < lb ? -1 : 1) : a->low < b->low ? -1 : a->low > b->low;
}

static void draw_arrow(const struct annotate_view *v, struct canvas *c, struct rect r, int line0,
		       const struct arrow *x)
{
	int inner = r.col + v->shape.text + v->shape.arrows - 2, col = inner - x->lane;
	uint32_t top = v->list.top, bottom = top + (uint32_t)(r.rows - line0);
	uint16_t style = x->selected ? STYLE_HOT : STYLE_RULE;

	for (uint32_t k = x->low > top ? x->low : top; k <= x->high && k < bottom; k++) {
		int row = r.row + line0 + (int)(k - top);
		bool end = k == x->low || k == x->high, target = k == (x->up ? x->low : x->high);

		canvas_fill(c, row, col, 1, style,
			    k == x->low    ? GLYPH_CORNER_TOP
			    : k == x->high ? GLYPH_CORNER_BOTTOM
					   : GLYPH_WALL);
		if (end && col < inner)
			canvas_fill(c, row, col + 1, inner - col, style, GLYPH_RULE);
		if (target)
			canvas_fill(c, row, inner + 1, 1, style, GLYPH_RIGHT);
	}
}

void annotate_draw_arrows(const struct annotate_view *v, const struct annotation *a,
			  struct canvas *c, struct rect r, int line0)
{
	uint32_t top = v->list.top, bottom = top + (uint32_t)(r.rows - line0);
	int lanes = v->shape.arrows - 1;
	VEC(struct arrow) all = { 0 };

	for (size_t i = 0; i < a->code.n; i++) {
		uint32_t target = a->code.at[i].target, from = v->row_of.at[i], to;
		struct arrow x = { .lane = -1 };

		if (target == ANNOTATION_NONE || from == ANNOTATION_NONE)
			continue;
		to = v->row_of.at[target];
		if (to == ANNOTATION_NONE || to == from)
			continue;
		x.low = from < to ? from : to;
		x.high = from < to ? to : from;
		x.up = to < from;
		x.selected = v->list.cursor == from;
		if ((x.low >= top && x.low < bottom) || (x.high >= top && x.high < bottom) ||
		    x.selected)
			vec_push(&all, x);
	}
	if (all.n > 0)
		qsort(all.at, all.n, sizeof(*all.at), by_length);
	for (size_t i = 0; i < all.n; i++) {
		for (int lane = 0; lane < lanes && all.at[i].lane < 0; lane++) {
			bool is_free = true;

			for (size_t k = 0; k < i && is_free; k++)
				is_free = all.at[k].lane != lane ||
					  all.at[k].high < all.at[i].low ||
					  all.at[k].low > all.at[i].high;
			if (is_free)
				all.at[i].lane = lane;
		}
		if (all.at[i].lane >= 0)
			draw_arrow(v, c, r, line0, &all.at[i]);
	}
	vec_done(&all);
}
