/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers over a span of time. They take as long as an analysis, and only views that show time want them: each says
 * what, and has it made beside the terminal.
 */
#ifndef PROFTOP_QUERY_OVER_TIME_H
#define PROFTOP_QUERY_OVER_TIME_H

#include "query/core/time_span.h"

#include <stdbool.h>

struct activity;
struct activity_lanes;
struct analysis;
struct analysis_cache;
struct findings;
struct footprint_lines;
struct heap_table;
struct heat_map;
struct progress;
struct comparison_lines;

enum over_time_kind {
	OVER_MEMORY, /* lines of the footprint */
	OVER_SIDES,  /* lines of the sides of a comparison */
	OVER_THREADS, /* who worked when, of what time terms let pass; the span says but how closely */
	OVER_TIMELINE, /* who worked when within the span, whatever time terms say */
	OVER_FINDINGS, /* what is worth knowing; of all of the time, and the span is any */
	OVER_HEAP, /* a table about allocations: from_ns of the span is its enum heap_question */
	OVER_HEAT_MAP, /* all threads together within the span, whatever time terms say */
	N_OVER_TIME
};

struct over_time_wish {
	enum over_time_kind kind;
	struct time_span span;
};

/* One of each kind; one whose span has n 0 is not wanted. */
struct over_time_wishes {
	struct over_time_wish of[N_OVER_TIME];
};

/* Of its kind one is there, and the others are NULL; owned. */
struct over_time {
	struct over_time_wish wish; /* as it was asked for */
	struct footprint_lines *memory;
	struct comparison_lines *sides;
	struct activity *activity;
	struct activity_lanes *lanes; /* beside it, of OVER_TIMELINE; NULL: there are none */
	struct findings *findings;
	struct heap_table *heap;
	struct heat_map *heat_map;
};

bool over_time_same_wish(const struct over_time_wish *a, const struct over_time_wish *b);

/* Does the analysis have what it is made of? */
bool over_time_possible(const struct analysis *a, enum over_time_kind kind);

/*
 * Reads what stays as it is in an analysis, so that another thread may sort its rows and move its cursors. cache: see
 * analysis_cache.h, or NULL. 0 or -ECANCELED; the caller frees *out. Only where it is possible, and of sides by one thread at a time.
 */
int over_time_new(const struct analysis *a, const struct over_time_wish *wish,
		  const struct analysis_cache *cache, struct progress *progress,
		  struct over_time **out);
void over_time_free(struct over_time *o);

#endif
