/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/rows/row_sparkline.h"

/* Between it and what stands beside it. */
#define GAP_COLS 2

/* Two slots a column, where there is no room for more. */
#define BRIEF_COLS (ROW_MINUTE_BRIEF - GAP_COLS)

void row_sparkline_init(struct row_sparkline *m, struct row_shape *sh, const struct recent *recent,
			enum minute_side side, int least_name)
{
	int room = sh->name_cols - least_name - GAP_COLS, cols;

	*m = (struct row_sparkline){ 0 };
	if (!recent || room < BRIEF_COLS)
		return;
	m->cols = room < RECENT_SLOTS ? BRIEF_COLS : RECENT_SLOTS;
	m->col = side == MINUTE_BEFORE_NAME ? sh->name : sh->name + sh->name_cols - m->cols;
	cols = m->cols + GAP_COLS;
	sh->name += side == MINUTE_BEFORE_NAME ? cols : 0;
	sh->name_cols -= cols;
}

void row_sparkline_draw_title(const struct row_sparkline *m, struct canvas *c, struct rect r,
			      int line)
{
	if (m->cols > 0)
		canvas_puts(c, r.row + line, r.col + m->col, m->cols, STYLE_HEADER,
			    m->cols > BRIEF_COLS ? "LAST MINUTE" : "MINUTE");
}

void row_sparkline_draw(const struct row_sparkline *m, struct canvas *c, struct rect r, int line,
			const struct recent_line *l)
{
	if (m->cols > 0)
		canvas_spark(c, r.row + line, r.col + m->col, m->cols, STYLE_SPARK, l->slot,
			     RECENT_SLOTS, 0);
}
