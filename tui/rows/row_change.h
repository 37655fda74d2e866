/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The numbers of a row that compares: the change with a bar, what was before and is after, the interval, and the
 * change of the other of self and total.
 *
 *   +500 ███▏   2,000   2,500   ± 131   +540   parse
 *
 * Asked for per cent, before and after are shares of their own side. A change is one only where shares are compared; else it
 * is in its unit: sides may have unequal totals, so that it is no difference of the shares beside it.
 */
#ifndef PROFTOP_TUI_ROWS_ROW_CHANGE_H
#define PROFTOP_TUI_ROWS_ROW_CHANGE_H

#include "query/core/groups.h"
#include "query/diff/diff.h"
#include "tui/rows/row_shape.h"

#include <stdbool.h>
#include <stdint.h>

/* Adds the columns; the scene's analysis has a diff. */
void row_change_add(struct row_shape *sh, const struct scene *s, const struct row_wish *w);

/* Is there room for the column where details do or do not fit, beside so many others? */
bool row_change_fits(const struct number_column *n, bool details, bool bars, int n_numbers);

/* key: whose numbers they are, as diff_delta() takes it. */
void row_change_draw(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     uint32_t key, const int64_t *self, const int64_t *total);

/* The verdict on what rules the row's order. */
enum change_verdict row_change_verdict(const struct row_shape *sh, uint32_t key,
				       const int64_t *self, const int64_t *total);
/*
 * The tag at the right of the name: "noise", "run?" (changed, or one of the two runs differs so of itself), and "renamed?" of a function
 * that has another name before; NULL: none of these.
 */
const char *row_change_tag(const struct row_shape *sh, const struct scene *s, const struct key *k,
			   enum change_verdict verdict);

/*
 * "+500 (+25.0 %) ± 131, from 2,000 to 2,500  module  name": for the status line, with the interval of the rows it is one of; the
 * caller frees.
 */
char *row_change_say(const struct scene *s, const struct diff_family *f, const char *name,
		     const char *module, uint32_t key, enum row_part part, const int64_t *numbers);
/* The same of a key. */
char *row_change_status(const struct scene *s, const struct diff_family *f,
			const struct groups *keys, uint32_t key, enum row_part part,
			const int64_t *numbers);

/* A flame cell's style by what changed there, and "+3.1 %", "new", "gone" or "" for its label. */
uint16_t row_change_flame_style(const struct scene *s, uint32_t key, const int64_t *total,
				char label[FMT_SIZE]);

#endif
