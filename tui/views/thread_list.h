/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of processes and threads in a view, and which one the cursor is on. They are made beside the terminal:
 * until they are there nobody is in the list, and the cursor goes where it belongs when they come.
 */
#ifndef PROFTOP_TUI_VIEWS_THREAD_LIST_H
#define PROFTOP_TUI_VIEWS_THREAD_LIST_H

#include "query/activity.h"
#include "query/over_time.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"

#include <stdbool.h>

struct thread_list {
	const struct activity *activity; /* the analysis', or one of nobody */
	const struct over_time *made;    /* that it is from; NULL: on its way; the analysis' */
	struct list list;
	struct place cursor; /* what the cursor is on */
	bool sought;         /* it is to go there */
};

void thread_list_init(struct thread_list *t);

/* Takes what the analysis has of this kind. */
void thread_list_take(struct thread_list *t, const struct scene *s, enum over_time_kind kind);

/* Rows or the room for them changed; remembers the cursor, as thread_list_moved() does. */
void thread_list_fit(struct thread_list *t, int height);

/* The cursor was moved. */
void thread_list_moved(struct thread_list *t);

/* NULL behind the last one. */
const struct activity_row *thread_list_row(const struct thread_list *t, uint32_t i);
const struct activity_row *thread_list_current(const struct thread_list *t);

/* Why there are no rows. */
void thread_list_draw_nothing(const struct thread_list *t, struct canvas *c, struct rect r,
			      const struct scene *s);

/* What such views do for view_ops. */
void thread_list_select(struct thread_list *t, const struct place *p);
bool thread_list_selection(const struct thread_list *t, struct place *out);
uint32_t thread_list_find(struct thread_list *t, const struct scene *s, int step, uint32_t *at);

#endif
