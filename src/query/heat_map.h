/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heat map's question: time in columns of one period each, and down a column the equal parts of its period. A
 * period is a second where a recording has not too many and not too few of them.
 *
 * A cell is a stretch of time without gaps, [from, from + period / n_rows), so that any two cells are the ends of a
 * range; column follows column where the one before ends.
 */
#ifndef PROFTOP_QUERY_HEAT_MAP_H
#define PROFTOP_QUERY_HEAT_MAP_H

#include "query/core/time_span.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct progress;

struct heat_grid {
	int64_t period_ns;  /* what a column lasts; a round number */
	uint32_t n_rows;    /* cells of a column; they divide the period exactly */
	uint32_t n_columns; /* of the whole recording; the last one may reach beyond its end */
};

/* Sums of column 0 of a lens over the cells of a span. */
struct heat_map {
	struct time_span span; /* of n cells */
	int64_t *cell;         /* [span.n], or NULL: there are no times; owned */
	int64_t most;          /* the largest cell, at least 0 */
};

/* What a grid has to fit: the screen, and how closely samples tell. */
struct heat_limits {
	uint32_t most_columns; /* at least 1; of heat_grid_choose() alone */
	uint32_t most_rows;    /* at least 1 */
	int64_t least_cell_ns; /* cells are not shorter; 0: any may be */
};

/* Longer spans of time are cut off there, so that no sum of periods is too large a number: 146 years. */
#define HEAT_WHOLE_MOST (INT64_MAX / 2)

/* Shades that a value may have; 0 is nothing. */
#define HEAT_LEVELS 8

/*
 * Time that a sample of column 0 stands for, on average: the period of a clock, else how far samples are apart. 0: rows last, or
 * are allocations, so that cells of any length are exact.
 */
int64_t heat_sample_ns(const struct analysis *a);
/* The shortest cell whose value means something, with samples of that length. */
int64_t heat_least_cell(int64_t sample_ns);
/* By how much a cell's value may be wrong, as samples begin and end anywhere in it; 0: not at all. */
int64_t heat_margin(int64_t value, int64_t scale, int64_t cell_ns, int64_t sample_ns);

/* The usual grid of a recording of 0 < whole_ns <= HEAT_WHOLE_MOST. */
void heat_grid_choose(int64_t whole_ns, const struct heat_limits *limits, struct heat_grid *out);
/* The grid of a period; any period above 0 is replaced by the next round one above it. */
void heat_grid_of(int64_t whole_ns, int64_t period_ns, const struct heat_limits *limits,
		  struct heat_grid *out);
/* The next shorter or longer period; false where there is none of use. */
bool heat_grid_zoom(int64_t whole_ns, bool in, const struct heat_limits *limits,
		    struct heat_grid *grid);

static inline int64_t heat_cell_ns(const struct heat_grid *g)
{
	return g->period_ns / g->n_rows;
}

/* 1 to HEAT_LEVELS by its share of the largest cell; 0: there is nothing. */
int heat_level(int64_t value, int64_t most);
/* Of the samples that pass the lens, whatever its time terms say. 0 or -ECANCELED; the caller frees *out. */
int heat_map_new(const struct analysis *a, const struct time_span *span, struct progress *progress,
		 struct heat_map **out);
void heat_map_free(struct heat_map *m);

#endif
