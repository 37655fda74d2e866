/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of single calls in one row: "main › serve › handle_request", or outward from what costs,
 * "handle_request ‹ serve ‹ main". The name that matters, the innermost, is there in any case; inward the first,
 * which tells the row from those beside it, where there is room; and of the others as many of the nearest.
 */
#ifndef PROFTOP_TUI_ROWS_CHAIN_H
#define PROFTOP_TUI_ROWS_CHAIN_H

#include "tui/contract/view.h"
#include "tui/rows/tree_source.h"

struct chain_look {
	bool by_family;     /* names are coloured by family, and arguments stand back */
	uint16_t style;     /* flags to add; or the whole style when not by_family */
	bool wide;          /* the name that matters in full */
	bool bold;          /* and so */
	const char *detail; /* what stands behind it, or NULL; borrowed */
	const char *label;  /* is written instead of it, see names_apart(); NULL: none; borrowed */
};

/* Where it is drawn. */
struct chain_cell {
	int row, col, cols;
};

/* Draws the chain from first to last node; returns the columns used. */
int chain_draw(struct canvas *c, struct chain_cell at, const struct scene *s,
	       const struct tree_source *src, uint32_t first, uint32_t last,
	       const struct chain_look *look);

/* The columns that the name that matters has at most, were the chain drawn so. */
int chain_name_cols(struct chain_cell at, bool ascii, const struct scene *s,
		    const struct tree_source *src, uint32_t first, uint32_t last,
		    const struct chain_look *look);

/* The node whose name matters: the last, or by callers the first. */
static inline uint32_t chain_main(const struct tree_source *src, uint32_t first, uint32_t last)
{
	return src->by_self ? first : last;
}

#endif
