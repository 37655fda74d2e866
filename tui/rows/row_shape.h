/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the columns of a row stand, and its numbers with their bars:
 *
 *   ▸ number bar  number bar  number  name                    module
 *
 * What does not fit is left out, from the least telling on. Columns count from a rectangle's left.
 */
#ifndef PROFTOP_TUI_ROWS_ROW_SHAPE_H
#define PROFTOP_TUI_ROWS_ROW_SHAPE_H

#include "base/fmt.h"
#include "query/core/lens.h"
#include "tui/contract/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_kind {
	NUMBER_SELF,
	NUMBER_TOTAL,
	NUMBER_SAMPLES,
	NUMBER_RATIO,  /* `of` says which of the lens's ratios */
	NUMBER_CHANGE, /* these four of comparisons: row_change.h */
	NUMBER_BEFORE,
	NUMBER_AFTER,
	NUMBER_NOISE
};

/* A column of numbers. */
struct number_column {
	enum number_kind kind;
	uint32_t of;          /* which of the lens's columns */
	char title[32];       /* "SELF %"; the metric in front where the lens has several columns */
	size_t name_bytes;    /* of the metric's name in it; 0: it has none, or nothing else */
	bool second;          /* of its event: total beside self, or self beside total */
	bool of_total;        /* of a comparison: of total, not of self */
	enum unit unit;       /* of its weights */
	int64_t scale, whole; /* as in struct event; what 100 % is */
	int col;              /* where the number begins */
	int digits;           /* columns of the number; 0: there was no room */
	int bar;              /* columns of its bar, which begins one column after the number */
	int64_t bar_whole;    /* what a full bar is, see row_shape_bars() */
};

#define ROW_MAX_NUMBERS (2 * LENS_MAX_COLUMNS + 1)

struct diff;
struct diff_family;
struct ratios;
struct weights;

struct row_shape {
	const struct diff *diff;          /* of a comparison, until the next update; else NULL */
	const struct diff_family *family; /* whose rows these are: by it noise is told */
	struct number_column number[ROW_MAX_NUMBERS];
	int n_numbers;               /* those without room included */
	bool percent;                /* shares, not weights */
	const struct ratios *ratios; /* of the lens, until the next update; NULL: none are shown */
	const struct weights *weights; /* what they are made of; likewise */
	bool ratios_of_total;          /* not of self */
	int name, name_cols;           /* the name's cell */
	int module, module_cols;       /* the module's cell; 0 columns: left out */
};

/* What a view would like to show. */
struct row_wish {
	bool self, total; /* of each column of the lens */
	bool total_first; /* else self; what comes first has a bar */
	bool two_bars;    /* so has the second */
	bool samples;     /* how many samples end in the row, of the first column */
	bool module;      /* modules' names at the right */
	bool ratios;      /* of self, or where total comes first of that */
	bool share;       /* self is all there is to a row, and is called SHARE */
	int beside; /* columns that the view takes from those of the name: bars give way to them */
	const int64_t *whole; /* [n_columns] what 100 % is; NULL: all that was weighed */
};

void row_shape_init(struct row_shape *sh, const struct scene *s, const struct row_wish *w,
		    int cols);

/*
 * Bars are as long as the largest number asks for, so that small differences are seen, too: first row_shape_no_bars(),
 * then row_shape_bars() for each row that may be the largest. Without either a full bar is the whole. Bars of comparisons
 * have a scale of their own.
 */
struct row_values;
void row_shape_no_bars(struct row_shape *sh);
void row_shape_bars(struct row_shape *sh, const struct row_values *v);

/*
 * Writes titles on a line of r. sorted is the index of the number column that rules, or ROW_BY_NAME
 * or ROW_BY_MODULE, or ROW_UNSORTED. Columns of the lens without room are counted: "+2 events".
 */
/* Those of ratios alone; are there any? */
bool row_draw_ratio_titles(const struct row_shape *sh, struct canvas *c, struct rect r, int line);
void row_draw_header(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     int sorted, bool reverse, const char *name, const char *module);

#define ROW_UNSORTED  -1
#define ROW_BY_NAME   -2
#define ROW_BY_MODULE -3

/* What is under a column of the rectangle: a number's index, ROW_BY_NAME, … or ROW_UNSORTED. */
int row_column_at(const struct row_shape *sh, int col);

/* The numbers of one row. */
struct row_values {
	uint32_t key;                /* of a comparison: whose they are, or KEY_NONE */
	const int64_t *self, *total; /* [n_columns] */
	uint64_t n_samples;          /* in the weights' sample_scale */
	uint16_t bar;                /* style of the bars */
	bool hot;                    /* the row should catch the eye */
};

void row_draw_numbers(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		      const struct row_values *v);
/* Those of ratios alone. */
void row_draw_ratios(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     const struct row_values *v);

/* One of them. */
void row_draw_number(const struct row_shape *sh, struct canvas *c, struct rect r, int line, int i,
		     int64_t value, uint16_t style, uint16_t bar);

/* A share of the whole or a weight in its unit, as the scene wants; returns out. */
const char *row_number(char out[FMT_SIZE], const struct number_column *n, bool percent,
		       int64_t value);

/* The unit that column of the lens has. */
void row_unit(const struct scene *s, uint32_t column, enum unit *unit, int64_t *scale);

#endif
