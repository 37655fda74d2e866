/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions about the allocations of a footprint, each answered by one table: rows of numbers with a site, a bucket or a block,
 * and sentences above them. Screens and reports show these tables and add nothing.
 */
#ifndef PROFTOP_QUERY_HEAP_HEAP_TABLE_H
#define PROFTOP_QUERY_HEAP_HEAP_TABLE_H

#include "base/mem.h"
#include "profile/profile.h"
#include "query/heap/heap_verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct footprint;
struct progress;
struct suppressions;
struct teardown_cache;

enum heap_question {
	HEAP_LEAKS,       /* sites, by how what they hold grows */
	HEAP_LIFETIMES,   /* how long blocks live */
	HEAP_SIZES,       /* how large they are */
	HEAP_TEMPORARIES, /* sites of blocks that die soon */
	HEAP_HANDOFFS,    /* which thread frees what which one allocates */
	HEAP_REALLOCS,    /* sites of blocks that grow by realloc */
	HEAP_WASTE,       /* what malloc takes beyond what was asked for */
	HEAP_BLOCKS,      /* single blocks, the largest first */
	HEAP_ALLOCATORS,  /* sites, by the average size and lifetime of their blocks, too */
	N_HEAP_QUESTIONS
};

/* How a number is written. */
enum heap_cell {
	CELL_BYTES,
	CELL_COUNT,
	CELL_NS,   /* a duration */
	CELL_TIME, /* since the start, in ns */
	CELL_PART, /* 1/10,000 */
	CELL_RATE, /* bytes an hour */
};

/* There is no such number. */
#define CELL_NONE INT64_MIN

#define HEAP_TABLE_COLUMNS 9

/* Slots of time of a row's line. */
#define HEAP_LINE 48u

/* The columns of HEAP_ALLOCATORS. */
enum {
	ALLOCATORS_CALLS,
	ALLOCATORS_BYTES,
	ALLOCATORS_MEAN_SIZE,
	ALLOCATORS_MEAN_LIFE,
	ALLOCATORS_LEAKED,
	ALLOCATORS_PEAK,
	ALLOCATORS_LIVE,
	ALLOCATORS_TEMPORARY,
	ALLOCATORS_FREED
};

struct heap_table_column {
	const char *title; /* on screens */
	const char *name;  /* in JSON */
	enum heap_cell cell;
};

struct heap_table_row {
	int64_t cell[HEAP_TABLE_COLUMNS];
	enum heap_verdict verdict; /* leaks only */
	char *label;               /* verdict, bucket, threads; owned, or NULL */
	char *remark;              /* behind the site; owned, or NULL */
	char *filter;              /* terms that leave what the row is of; owned, or NULL */
	uint32_t key;              /* of the footprint's rows; KEY_NONE: the row has no site */
	uint32_t file, line;       /* of the site's call, see heap_sites.h */
	uint32_t stack;            /* that allocated most of it; 0: none */
	/* [HEAP_LINE] bytes in use at the ends of equal slots of the whole time; owned, or NULL */
	int64_t *line_over_time;
};

/* What a column stands for beside its numbers. */
struct heap_table_form {
	const char *label; /* title of the labels; NULL: there are none */
	bool sites;        /* rows have sites, or what else the footprint's rows are of */
	int bar;           /* the column whose numbers have bars; -1: none */
	int order; /* the column by which rows fall; -1: rows are in an order of their own */
	struct heap_table_column column[HEAP_TABLE_COLUMNS]; /* up to one without a title */
};

struct heap_table {
	enum heap_question question;
	const struct footprint *footprint;  /* borrowed: its keys are those of rows */
	const struct heap_table_form *form; /* static */
	int n_columns;
	/* handoffs: freed by other threads, of blocks whose freer is known; waste: bytes beyond those asked for, and these */
	int64_t part, whole;
	const char *
		busiest; /* handoffs: label of the row that has most of part; borrowed from it, NULL: none */
	VEC(char *) notes;               /* sentences without line breaks; owned */
	VEC(struct heap_table_row) rows; /* in the order to be shown */
};

/*
 * The answer about all that passes the footprint's filter. It reads what stays as it is when sites are sorted and cursors
 * moved, so another thread may do these meanwhile. suppress: rows of leaks that are only counted; NULL: none. 0 or -ECANCELED;
 * the caller frees *out before the footprint.
 */
int heap_table_new(const struct footprint *f, enum heap_question q,
		   const struct suppressions *suppress, struct progress *progress,
		   struct heap_table **out);
/* What else is wanted; zeros are what heap_table_new() takes. */
struct heap_table_wish {
	const struct suppressions *suppress; /* as above */
	struct teardown_cache *teardown;     /* see footprint_lines_new() */
	uint32_t most_blocks;                /* rows of HEAP_BLOCKS at most; 0: 10,000 */
};

int heap_table_new_as(const struct footprint *f, enum heap_question q,
		      const struct heap_table_wish *wish, struct progress *progress,
		      struct heap_table **out);
void heap_table_free(struct heap_table *t);

/* Rows by a column, falling or rising; column -1: in their own order, which is lost. Ties stay. */
void heap_table_sort(struct heap_table *t, int column, bool rising);

/* A row's number as people read it, with ~ before an estimate; returns out. */
const char *heap_table_text(const struct heap_table *t, const struct heap_table_row *row,
			    int column, char out[64]);

#endif
