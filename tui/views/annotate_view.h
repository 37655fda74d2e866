/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of the annotate view; for view_annotate.c, annotate_draw.c and annotate_arrows.c only. */
#ifndef PROFTOP_TUI_VIEWS_ANNOTATE_VIEW_H
#define PROFTOP_TUI_VIEWS_ANNOTATE_VIEW_H

#include "base/mem.h"
#include "code/annotation.h"
#include "query/diff/comparison.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"

#include <stdbool.h>
#include <stdint.h>

/* What a cell of numbers says. */
enum annotate_cell_kind {
	CELL_SELF,   /* of a column of the lens */
	CELL_TOTAL,  /* likewise */
	CELL_AMOUNT, /* likewise: the total in its unit */
	CELL_BEFORE, /* these two of comparisons: the total of the side's runs */
	CELL_AFTER
};

struct annotate_cell {
	enum annotate_cell_kind kind;
	uint32_t column; /* of the lens */
	char title[16];
	int col, cols;     /* of the number */
	int bar;           /* columns of a bar, one column after the number; 0: none */
	int64_t bar_whole; /* what a full bar is: the largest of all rows */
};

/* Where the cursor is, so that other rows of the same function can have it in the same place. */
struct annotate_anchor {
	bool has_code, has_line;
	uint64_t shown; /* address of the instruction */
	uint32_t line;
};

#define ANNOTATE_CELLS 6

/* Where the parts of a row stand. */
struct annotate_shape {
	struct annotate_cell cell[ANNOTATE_CELLS];
	int n_cells;
	int line, line_cols; /* numbers of lines */
	int text, text_cols; /* source and instructions */
	int arrows;          /* columns in front of instructions for jumps, in assembly */
};

struct annotate_view {
	struct code_wish wish;  /* key_id ID_NONE: nothing yet */
	struct code_wish shown; /* of the annotation that the rows are of */
	enum annotation_mode mode;
	struct annotation_rows rows;
	struct list list;
	struct annotate_shape shape;
	VEC(uint32_t) hot; /* rows that add up to the function, the hottest first; of some weight */
	VEC(uint32_t) row_of; /* [code.n] the row of each instruction, or ANNOTATION_NONE */
	int shift;            /* columns of text that are scrolled out at the left */
	int title_rows;
	int cols;                  /* that warnings are broken at; 0: not laid out yet */
	uint32_t want_line;        /* go there when it is shown; 0: nowhere */
	struct annotate_anchor at; /* where the cursor was when rows were last there */
};

/* The annotation that the scene has, if it is of what the view wants; else NULL. */
const struct annotation *annotate_shown(const struct annotate_view *v, const struct scene *s);

void annotate_shape_make(struct annotate_shape *sh, const struct scene *s,
			 const struct annotation *a, enum annotation_mode mode, int cols);
/* Bars are of the largest of all rows, so that scrolling changes none. */
void annotate_scale_bars(struct annotate_view *v, const struct scene *s,
			 const struct annotation *a);
void annotate_draw(const struct annotate_view *v, const struct scene *s, struct canvas *c,
		   struct rect r);
/* Jumps with an end in sight, the shortest next to the text; those without a free lane are left out. Rows begin at line0. */
void annotate_draw_arrows(const struct annotate_view *v, const struct annotation *a,
			  struct canvas *c, struct rect r, int line0);
/* "file.c:42  12.3 %  …": the row in full; the caller frees. */
char *annotate_status(const struct annotate_view *v, const struct scene *s,
		      const struct annotation *a);

/* "12.3 %, self 4.0 %", "before 1.0 %, after 2.0 %": a row of numbers in words; the caller frees. */
char *annotate_numbers(const struct scene *s, const struct annotation *a, uint32_t numbers);

/* Columns in front of a warning. */
#define WARNING_INDENT 3

/* Does the row match the search? */
bool annotate_matches(const struct scene *s, const struct annotation *a,
		      const struct annotation_row *row);

#endif
