/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Earlier runs of the same program: by how much each function differs from run to run, beyond chance.
 *
 * A run is what a table of functions says of it: for each function a number that stands for its name and module, its self and its
 * total. Runs are compared with the next of the same metric, as they were noted. Of a function the median of what it differs by counts, so
 * that what changes between a few of the runs, as code does, changes no interval.
 *
 * Text of a run, a file each (doc/formats.md):
 *
 *   proftop history 1
 *   noted 1764177661000000000
 *   metric cpu-clock
 *   total 2711000000
 *   rows 6f1c3b5a99e0d274
 *   f 00d3a1c9e2b4f687 829000000 829 911000000 911
 *   end 1
 */
#ifndef PROFTOP_QUERY_DIFF_RUN_HISTORY_H
#define PROFTOP_QUERY_DIFF_RUN_HISTORY_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;
struct err;

/* Of a run the functions with most are noted. */
#define HISTORY_MOST_FUNCTIONS 4096
/* A larger text is no run. */
#define HISTORY_MOST_BYTES     (1u << 20)
/* The newest so many runs are heard, … */
#define HISTORY_MOST_RUNS      64
/* … and fewer say nothing. */
#define HISTORY_LEAST_RUNS     4

enum row_part { PART_SELF, PART_TOTAL };
#define N_PARTS 2

struct noted_function {
	uint64_t id;             /* of name and module */
	double amount[N_PARTS];  /* in the metric's unit */
	double samples[N_PARTS]; /* so many of equal weight vary as much by chance */
};

struct noted_run {
	int64_t noted_ns; /* since 1970; runs come in this order */
	char *metric;     /* as metric_name() says, without control characters; owned */
	double total;
	uint64_t
		rows; /* a hash of its samples' times and weights, or of their stacks where they have no times; 0: not known */
	VEC(struct noted_function) function; /* by id, each once; owned */
};

struct run_history {
	VEC(struct noted_run) run; /* owned, as is what is in them */
};

void run_history_done(struct run_history *h);
void noted_run_done(struct noted_run *r);

/* The runs of an analysis that compares functions without a filter, each to be noted: noted_ns is 0. */
void run_history_take(const struct analysis *a, struct run_history *out);

/* The text of a run; the caller frees. */
char *run_history_write(const struct noted_run *r);
/* The run of such a text of n bytes, called name. -EBADMSG with a sentence, and *out needs nothing. */
int run_history_read(const char *text, size_t n, const char *name, struct noted_run *out,
		     struct err *e);

/* Are both of the same samples, whenever they were noted and whatever functions are called? Where samples are not known, of equal functions. */
bool run_history_same(const struct noted_run *a, const struct noted_run *b);

/* What a function's runs differ by of themselves. */
struct own_spread {
	double square; /* variance of a run's number beyond chance, in squares of it; 0: nothing is known */
	double freedom; /* how well it is known, in degrees of freedom */
};

/*
 * What the runs of h say of the functions of an analysis that compares: [n_keys] for each part, which the caller frees; NULL: nothing.
 * Runs of other metrics or other programs, and the compared ones themselves, are left out; *n_runs is how many are not.
 */
void run_history_learn(const struct run_history *h, const struct analysis *a,
		       struct own_spread *out[N_PARTS], uint32_t *n_runs);

#endif
