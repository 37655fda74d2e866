/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What passes an analysis's filter, thread by thread and metric by metric, each in the order of its times: for formats that keep
 * the samples of a thread together.
 */
#ifndef PROFTOP_FORMATS_WRITE_EXPORT_ROWS_H
#define PROFTOP_FORMATS_WRITE_EXPORT_ROWS_H

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;

struct export_row {
	uint32_t stack;  /* stack_id */
	uint16_t cpu;    /* or CPU_NONE */
	int64_t weight;  /* in 1/scale of the unit */
	int64_t count;   /* how many samples it stands for */
	int64_t time_ns; /* since its capture began; TIME_NONE */
};

/* All rows of a thread and a metric. */
struct export_series {
	struct metric metric;
	uint32_t thread; /* thread_id, or ID_NONE: also sums of a heap, which are of all threads */
	/* of those that differ in their labels or control group alone, the first */
	enum unit unit;
	int64_t scale;
	int64_t total; /* of weights */
	size_t first;  /* of rows; those of the series follow each other */
	size_t n;
	bool timed; /* some row has a time */
	bool shown; /* of the metric that the analysis shows */
};

struct export_rows {
	VEC(struct export_series) series; /* those of what is shown first, then by falling total */
	VEC(struct export_row) rows;
	VEC(uint32_t) of_row; /* while they are collected: index of the series */
	struct map by_key;
	uint32_t *
		thread_of; /* [n_threads] whose series the rows of each thread are in, or NULL: its own; owned */
	uint32_t n_metrics; /* distinct ones among them */
};

/* 0, or -errno where the samples cannot be gone through. The caller ends with export_rows_done() in any case. */
int export_rows_init(struct export_rows *r, const struct analysis *a);
/* The same with series of their own for the labels and the control groups of a thread. */
int export_rows_init_labelled(struct export_rows *r, const struct analysis *a);
/* As export_rows_init(), of the shown metric, which may be that of all heaps together; where samples are shown, of the others behind it, too. */
int export_rows_init_shown(struct export_rows *r, const struct analysis *a);
void export_rows_done(struct export_rows *r);

/*
 * "python3 812/813", and with several metrics "python3 812/813 cycles": what a series is called among the others; the caller
 * frees.
 */
char *export_rows_name(const struct export_rows *r, const struct analysis *a,
		       const struct export_series *s);

#endif
