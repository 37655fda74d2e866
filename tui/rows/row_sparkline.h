/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a row weighed in the last minute of what is being recorded: a sparkline beside its name, where there is room for both. */
#ifndef PROFTOP_TUI_ROWS_ROW_SPARKLINE_H
#define PROFTOP_TUI_ROWS_ROW_SPARKLINE_H

#include "query/live/recent.h"
#include "tui/rows/row_shape.h"

struct row_sparkline {
	int col, cols; /* columns count from a rectangle's left; 0 columns: it is not shown */
};

/* So much it takes at least. */
#define ROW_MINUTE_BRIEF (RECENT_SLOTS / 2 + 2)

enum minute_side { MINUTE_BEFORE_NAME, MINUTE_BEHIND_NAME };

/* What to wish for beside the name. recent as of rows, or NULL, here and below. */
static inline int row_sparkline_wish(const struct recent *recent)
{
	return recent ? ROW_MINUTE_BRIEF : 0;
}

/* Takes its columns from those of the name, which is left at least so many. */
void row_sparkline_init(struct row_sparkline *m, struct row_shape *sh, const struct recent *recent,
			enum minute_side side, int least_name);

/* What stands above it. */
void row_sparkline_draw_title(const struct row_sparkline *m, struct canvas *c, struct rect r,
			      int line);
void row_sparkline_draw(const struct row_sparkline *m, struct canvas *c, struct rect r, int line,
			const struct recent_line *l);

#endif
