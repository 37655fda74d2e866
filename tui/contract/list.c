/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cursor of a view of rows; see list.h. */
#include "config.h"

#include "tui/contract/list.h"

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Restores the invariant, moving as little as possible; no blank lines below the last row. */
static void keep(struct list *l)
{
	uint32_t height = l->height > 0 ? l->height : 1;
	uint32_t last_top = l->n > height ? l->n - height : 0;

	l->cursor = l->n == 0 ? 0 : least(l->cursor, l->n - 1);
	l->top = least(l->top, last_top);
	if (l->cursor < l->top)
		l->top = l->cursor;
	else if (l->cursor - l->top >= height)
		l->top = l->cursor - height + 1;
}

/* Cursor and window both go; at the ends only the cursor does. */
static void move(struct list *l, uint32_t rows, bool down, bool window)
{
	if (down) {
		l->cursor = rows < l->n - l->cursor ? l->cursor + rows : l->n;
		if (window)
			l->top = rows < l->n - l->top ? l->top + rows : l->n;
	} else {
		l->cursor -= least(rows, l->cursor);
		if (window)
			l->top -= least(rows, l->top);
	}
	keep(l);
}

void list_fit(struct list *l, uint32_t n, int height)
{
	l->n = n;
	l->height = height > 0 ? (uint32_t)height : 0;
	keep(l);
}

bool list_act(struct list *l, enum action a)
{
	uint32_t seen = l->height - least(l->pinned, l->height);
	uint32_t page = seen > 1 ? seen : 1, half = page > 1 ? page / 2 : 1;

	keep(l);
	switch ((int)a) {
	case ACTION_DOWN:
	case ACTION_UP:
		move(l, 1, a == ACTION_DOWN, false);
		return true;
	case ACTION_PAGE_DOWN:
	case ACTION_PAGE_UP:
		move(l, page, a == ACTION_PAGE_DOWN, true);
		return true;
	case ACTION_HALF_DOWN:
	case ACTION_HALF_UP:
		move(l, half, a == ACTION_HALF_DOWN, true);
		return true;
	case ACTION_FIRST:
		l->cursor = 0;
		keep(l);
		return true;
	case ACTION_LAST:
		l->cursor = l->n;
		keep(l);
		return true;
	default:
		return false;
	}
}

void list_go(struct list *l, uint32_t row)
{
	uint32_t height = l->height > 0 ? l->height : 1;

	l->cursor = row;
	if (row < l->top || row - l->top >= height)
		l->top = row - least(row, height / 3);
	keep(l);
}

void list_follow(struct list *l, const struct list *was, uint32_t row, bool stays)
{
	uint32_t line = was->cursor > was->top ? was->cursor - was->top : 0;

	if (!stays) {
		list_go(l, row);
		return;
	}
	l->cursor = row;
	l->top = row > line ? row - line : 0;
	keep(l);
}

void list_position(const struct list *l, uint32_t *at, uint32_t *of)
{
	*at = l->n > 0 ? l->cursor + 1 : 0;
	*of = l->n;
}

uint32_t list_at(const struct list *l, int line)
{
	if (line < 0 || (uint32_t)line >= l->height || (uint32_t)line >= l->n - l->top)
		return UINT32_MAX;
	return l->top + (uint32_t)line;
}
