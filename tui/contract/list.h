/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cursor of a view of rows: which row it is on and which rows are in sight. Knows numbers only,
 * so everything here takes the same time for ten rows and for ten million.
 *
 * Invariant after list_fit(): cursor < n (0 when there is none), and cursor in [top, top + height).
 */
#ifndef PROFTOP_TUI_CONTRACT_LIST_H
#define PROFTOP_TUI_CONTRACT_LIST_H

#include "tui/contract/actions.h"

#include <stdbool.h>
#include <stdint.h>

struct list {
	uint32_t n;      /* rows in all */
	uint32_t cursor; /* the selected row */
	uint32_t top;    /* first row in sight */
	uint32_t height; /* rows that fit; 0 before the first layout */
	/* lines at the top under which rows are hidden; the view's to set, 0 in most */
	uint32_t pinned;
};

/* The rows changed in number, or the room for them did: keeps the cursor, and keeps it in sight. */
void list_fit(struct list *l, uint32_t n, int height);

/* Moves for DOWN UP PAGE_* HALF_* FIRST LAST; false for other actions. */
bool list_act(struct list *l, enum action a);

/* Puts the cursor on a row; if that is out of sight, a third of the way down the screen. */
void list_go(struct list *l, uint32_t row);

/*
 * The cursor's row is another one now: as list_go(), or, where what is under the cursor stays, on the line of the screen
 * where the cursor was, as far as there are rows.
 */
void list_follow(struct list *l, const struct list *was, uint32_t row, bool stays);

/* The cursor's number from 1, and of how many: what a view's position() says. */
void list_position(const struct list *l, uint32_t *at, uint32_t *of);

/* The row at `line` lines below the first in sight, or UINT32_MAX. */
uint32_t list_at(const struct list *l, int line);

#endif
