/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row of a process or thread: what views say of it, and what Enter on it asks the app for. */
#ifndef PROFTOP_TUI_VIEWS_THREAD_ROW_H
#define PROFTOP_TUI_VIEWS_THREAD_ROW_H

#include "query/activity.h"
#include "tui/contract/view.h"

#include <stdbool.h>

#define THREAD_ROW_DETAIL 64

/* Columns that threads stand to the right of their process. */
#define THREAD_ROW_INDENT 2

/* "pid 812", or "tid 813" of one thread of several; "" where neither is known. */
void thread_row_detail(const struct scene *s, const struct activity_row *row,
		       char out[THREAD_ROW_DETAIL]);

/* Its name and detail in at most cols columns; the style is that of the name. */
void thread_row_draw_name(const struct scene *s, const struct activity_row *row, struct canvas *c,
			  int line, int col, int cols, uint16_t style);

/* The same with the number alone: "cc1plus  8280". */
void thread_row_draw_brief(const struct scene *s, const struct activity_row *row, struct canvas *c,
			   int line, int col, int cols, uint16_t style);

/* Does the search match its name? */
bool thread_row_matches(const struct scene *s, const struct activity_row *row);

/* What matching rows weigh together; a process that matches counts with all of its threads. */
int64_t thread_row_found(const struct activity *a, const struct scene *s);

/*
 * The row in a view of frames, alone; without a filter where it is all that is shown. False when row is
 * NULL.
 */
bool thread_row_show(const struct scene *s, const struct activity_row *row, enum view_kind view,
		     struct effect *out);

/* The row as a side of a comparison; see row_effects_side_task(). */
bool thread_row_side(const struct scene *s, const struct activity_row *row, struct effect *out);

/* Rows are no keys: a place holds the process and the thread in its path. */
struct place thread_row_place(const struct activity_row *row);

#endif
