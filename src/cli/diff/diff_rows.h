/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A view of a comparison as rows of changes and names, for text, JSON and Markdown alike. */
#ifndef PROFTOP_CLI_DIFF_DIFF_ROWS_H
#define PROFTOP_CLI_DIFF_DIFF_ROWS_H

#include "base/mem.h"
#include "cli/report/report.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "tui/contract/view.h"

#include <stdbool.h>
#include <stdint.h>

/* With less in common, a sentence asks whether programs are different ones. */
#define LITTLE_OVERLAP 0.2

struct diff_move;
struct notebook;

struct diff_row {
	uint32_t key;     /* of the analysis; KEY_NONE: no caller, or it has a name */
	const char *name; /* of a process or thread; else NULL; the analysis' */
	uint32_t parent;  /* the row above it in a tree, or ROW_NONE */
	uint32_t depth;   /* in a tree, 0 for its roots */
	bool only_child;  /* nothing else is called by (or calls) its parent */
	bool has_self;    /* neighbours in a butterfly have only totals */
	enum change_verdict self_verdict, total_verdict;
	struct noise_delta self, total;
	enum report_role role; /* where in a butterfly it stands */
};

struct diff_rows {
	struct diff *diff;              /* borrowed; lazy parts of its analysis may be made */
	const struct comparison *sides; /* borrowed */
	const struct notebook *notes;   /* of the second recording; borrowed; or NULL */
	enum view_kind view;            /* top, tree, callers, butterfly or threads */
	int64_t max_rows;               /* 0: all */
	double min_percent;             /* of the larger total: smaller changes are left out */
	bool ascii;
	int width;      /* names are folded so that rows fit into so many columns; 0: not */
	double overlap; /* share of both sides that is in functions which both have, 0..1 */
	uint64_t n_left_out;
	struct diff_move *moves; /* [n_keys] where the other side has functions, or NULL; owned */
	VEC(struct diff_row) rows;
};

/*
 * Fills the rows of r->view; what stands above n_left_out is the caller's to set before. Rows without any change are left
 * out and not counted. 0, or -EINVAL with a sentence; ends with diff_rows_done() either way.
 */
int diff_rows_make(struct diff_rows *r, const char *function, struct err *e);
void diff_rows_done(struct diff_rows *r);

/* What a row is called. */
const char *diff_rows_name(const struct diff_rows *r, const struct diff_row *row);

/* The change that a row is sorted by: of self in tables and callers, of total elsewhere. */
const struct noise_delta *diff_rows_ruling(const struct diff_rows *r, const struct diff_row *row);

/* "+12.3", "new", "gone": a change against what was before. */
const char *diff_relative(char out[FMT_SIZE], const struct noise_delta *d);

/* The same of a row's ruling change; "new" and "gone" are functions that one side lacks, not those that lack time of their own. */
const char *diff_rows_relative(char out[FMT_SIZE], const struct diff_rows *r,
			       const struct diff_row *row);

/* What is said of the ruling change; where there is none, of the other one. */
enum change_verdict diff_rows_verdict(const struct diff_rows *r, const struct diff_row *row);
bool diff_rows_beyond(const struct diff_rows *r, const struct diff_row *row);

/* The family of the rows, which says how many were tested. */
const struct diff_family *diff_rows_family(const struct diff_rows *r);

#endif
