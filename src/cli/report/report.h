/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A view as rows of numbers and names, for report's text and JSON alike: both print these rows and
 * nothing else, so they cannot disagree.
 */
#ifndef PROFTOP_CLI_REPORT_REPORT_H
#define PROFTOP_CLI_REPORT_REPORT_H

#include "base/mem.h"
#include "query/core/groups.h"
#include "query/tree/table.h"
#include "tui/contract/view.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct analysis;
struct err;
struct findings;
struct heap_table;
struct heat_grid;
struct notebook;
struct options;
struct ratio;
struct ratio_value;
struct ratios;

/* Where in a butterfly a row stands. */
enum report_role { ROLE_ROW, ROLE_CALLER, ROLE_CENTRE, ROLE_CALLEE };

/* "caller", "function", "callee": as JSON says it; "" for rows elsewhere. */
const char *report_role_name(enum report_role role);

#define ROW_NONE UINT32_MAX

struct report_row {
	uint32_t key;       /* in report_keys(); KEY_NONE: everything, or no caller */
	bool of_process;    /* the key is one of report.processes */
	uint32_t parent;    /* the row above it in a tree, or ROW_NONE */
	uint32_t depth;     /* in a tree, 0 for its roots */
	bool only_child;    /* nothing else is called by (or calls) its parent */
	bool inlined;       /* every occurrence is inlined code */
	bool has_samples;   /* n_samples means something */
	uint64_t n_samples; /* that end here, in the weights' sample_scale */
	int64_t from_ns;    /* of timeline and heat map: since the start; … */
	int64_t to_ns;      /* … and where it ends */
	enum report_role role;
};

struct report {
	struct analysis *analysis; /* borrowed; its lazy parts may be made */
	const struct groups *keys; /* of the rows; the analysis's */
	struct groups processes;   /* of the rows of processes in threads; owned */
	enum view_kind view;
	bool ascii;
	int width;              /* names are folded so that rows fit into so many columns; 0: not */
	int stack_width;        /* the same of frames of stacks, which are folded in a pipe, too */
	int cols;               /* of the flame graph; 0: as wide as it likes */
	enum table_order order; /* of the rows of tables */
	int64_t max_rows;       /* 0: all */
	uint32_t most_blocks;   /* of the view of blocks; 0: as many as usual */
	double min_percent;     /* of column 0's total */
	uint32_t n_columns;     /* numbers of a row that are shown */
	uint32_t n_sums;        /* those, and behind them those that ratios are made of */
	const struct ratios *ratios;  /* above n_columns; NULL: none; borrowed */
	struct findings *findings;    /* of that view; owned, freed by report_done() */
	struct heap_table *heap;      /* of tables about a heap; owned likewise */
	struct heat_grid *heat;       /* of the heat map; owned likewise */
	const struct notebook *notes; /* on rows; NULL: none; borrowed */
	uint64_t n_left_out;          /* rows that max_rows or min_percent left out */
	VEC(struct report_row) rows;
	VEC(int64_t) numbers; /* [n rows][2][n_sums] self, then total */
};

/* Columns of a heat map at most, and its rows, unless max_rows says otherwise. */
#define REPORT_HEAT_COLUMNS 100
#define REPORT_HEAT_ROWS    20
#define REPORT_HEAT_MOST    1000

/* Slices of time in a timeline, unless max_rows says otherwise. */
#define REPORT_SLICES 40

/* The view named (NULL: top). -EINVAL with a sentence. */
int report_find_view(const char *name, enum view_kind *out, struct err *e);

/*
 * Fills the rows of r->view; everything above n_left_out is the caller's to set before. function is
 * --function or NULL. 0 or -EINVAL with a sentence. Ends with report_done() either way.
 */
int report_make_rows(struct report *r, const char *function, struct err *e);
void report_done(struct report *r);

/* Cells down a column of the heat map, at most. */
uint32_t report_heat_rows(const struct report *r);

/* What a row's key is in. */
const struct groups *report_keys(const struct report *r, const struct report_row *row);

/*
 * What 100 % of a row's numbers is, [n_columns]: beside a butterfly's centre the centre's total, else that of
 * everything. Borrowed until rows are added.
 */
const int64_t *report_whole(const struct report *r, const struct report_row *row);

/* Are numbers of column 0 estimates, from a sample of the allocations? */
bool report_is_estimated(const struct report *r);

/* [n_sums] each; borrowed until rows are added. */
const int64_t *report_self(const struct report *r, size_t row);
const int64_t *report_total(const struct report *r, size_t row);

/* Of ratio k of a row: of its self, or of its total. false: there are too few samples to say. */
bool report_ratio(const struct report *r, size_t row, uint32_t k, bool total,
		  struct ratio_value *out);
uint32_t report_n_ratios(const struct report *r);

#endif
