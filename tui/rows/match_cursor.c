/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Picking one of many matches; see match_cursor.h. */
#include "config.h"

#include "tui/rows/match_cursor.h"

void match_cursor_start(struct match_cursor *f, uint32_t from, int step)
{
	*f = (struct match_cursor){
		.from = from, .step = step, .least = UINT32_MAX, .next = UINT32_MAX
	};
}

void match_cursor_add(struct match_cursor *f, uint32_t place)
{
	bool near = f->step == 1 ? place <= f->from : place < f->from;

	f->n++;
	f->n_before += near;
	f->least = place < f->least ? place : f->least;
	f->most = place > f->most ? place : f->most;
	if (near)
		f->before = place > f->before ? place : f->before;
	else
		f->next = place < f->next ? place : f->next;
}

uint32_t match_cursor_end(struct match_cursor *f)
{
	if (f->n == 0)
		return 0;
	if (f->step == FIND_STAY)
		return f->next == f->from ? f->n_before + 1 : 0;
	f->goes = true;
	if (f->step < 0 && f->n_before > 0)
		f->target = f->before;
	else if (f->step < 0)
		f->target = f->most;
	else
		f->target = f->n_before < f->n ? f->next : f->least;
	if (f->step < 0)
		return f->n_before > 0 ? f->n_before : f->n;
	return f->n_before < f->n ? f->n_before + 1 : 1;
}
