/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/views/thread_list.h"

#include "query/analysis.h"
#include "tui/canvas/canvas.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/row.h"
#include "tui/views/thread_row.h"

static const struct activity nobody;

void thread_list_init(struct thread_list *t)
{
	*t = (struct thread_list){ .activity = &nobody };
}

/* The row of what the cursor was on, or ID_NONE. */
static uint32_t row_of_cursor(const struct thread_list *t)
{
	for (uint32_t i = 0; i < t->activity->n_rows; i++)
		if (thread_row_place(&t->activity->row[i]).path == t->cursor.path)
			return i;
	return ID_NONE;
}

void thread_list_take(struct thread_list *t, const struct scene *s, enum over_time_kind kind)
{
	struct list was = t->list;
	uint32_t row;

	t->made = s->analysis->over[kind];
	t->activity = t->made ? t->made->activity : &nobody;
	/* The first row stays the first, whoever that is. */
	t->sought |= was.cursor > 0;
	if (!t->made)
		return;
	list_fit(&t->list, t->activity->n_rows, (int)t->list.height);
	row = t->sought ? row_of_cursor(t) : ID_NONE;
	if (row != ID_NONE)
		list_follow(&t->list, &was, row, s->stays);
	t->sought = false;
}

void thread_list_moved(struct thread_list *t)
{
	const struct activity_row *row = thread_list_current(t);

	if (!row)
		return;
	t->cursor = thread_row_place(row);
	t->sought = false;
}

void thread_list_fit(struct thread_list *t, int height)
{
	list_fit(&t->list, t->activity->n_rows, height);
	if (!t->sought)
		thread_list_moved(t);
}

const struct activity_row *thread_list_row(const struct thread_list *t, uint32_t i)
{
	return i < t->activity->n_rows ? &t->activity->row[i] : NULL;
}

const struct activity_row *thread_list_current(const struct thread_list *t)
{
	return thread_list_row(t, t->list.cursor);
}

void thread_list_draw_nothing(const struct thread_list *t, struct canvas *c, struct rect r,
			      const struct scene *s)
{
	if (t->made)
		row_draw_nothing(c, r, s);
	else
		canvas_puts(c, r.row + r.rows / 3, r.col + 2, r.cols - 2, STYLE_DIM,
			    "counting threads…");
}

void thread_list_select(struct thread_list *t, const struct place *p)
{
	uint32_t row;

	if (p->key_id != ID_NONE)
		return;
	t->cursor = *p;
	t->sought = !t->made;
	row = row_of_cursor(t);
	if (row != ID_NONE)
		list_go(&t->list, row);
	thread_list_moved(t);
}

bool thread_list_selection(const struct thread_list *t, struct place *out)
{
	if (!t->sought && !thread_list_current(t))
		return false;
	*out = t->cursor;
	return true;
}

uint32_t thread_list_find(struct thread_list *t, const struct scene *s, int step, uint32_t *at)
{
	struct match_cursor f;

	match_cursor_start(&f, t->list.cursor, step);
	for (uint32_t i = 0; i < t->activity->n_rows; i++)
		if (thread_row_matches(s, &t->activity->row[i]))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes) {
		list_go(&t->list, f.target);
		thread_list_moved(t);
	}
	return f.n;
}
