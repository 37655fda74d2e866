/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a line of bytes over time says of its growth, for tables, findings and screens alike. Knows numbers only. */
#ifndef PROFTOP_QUERY_HEAP_HEAP_VERDICT_H
#define PROFTOP_QUERY_HEAP_HEAP_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum heap_verdict {
	VERDICT_STEADY,   /* grows to the end, without slowing down; so may the troughs of a saw */
	VERDICT_SAWTOOTH, /* falls to less than half of what it was, again and again */
	VERDICT_BOUNDED,  /* grew to a level and stays there, while blocks come and go */
	VERDICT_STARTUP,  /* all of it was allocated in the beginning */
	VERDICT_AT_END,   /* all of it was allocated at the end */
	VERDICT_SHORT,    /* there are too few numbers */
	VERDICT_OTHER
};

struct heap_run {
	const int64_t *line; /* [n] bytes at the ends of slots, up to where its program frees all */
	uint32_t n;
	double slot_ns;     /* how long a slot is */
	double first, last; /* when its first and last allocations were, as parts of the run */
	double ends;        /* where the line ends, likewise */
	bool ended; /* its program has: what the site frees in its last slots is freed for the exit */
};

struct heap_growth {
	enum heap_verdict verdict;
	double bytes_per_hour; /* VERDICT_STEADY; else 0 */
	double error;          /* of that, to either side: 95 in 100 times it is not larger */
	double level_since;    /* VERDICT_BOUNDED: since when, as a part of the run */
	uint32_t n_falls;      /* VERDICT_SAWTOOTH */
	uint32_t n;      /* numbers of the line that were judged: without the frees for the exit */
	int64_t highest; /* the highest of the line */
};

struct heap_growth heap_judge_growth(const struct heap_run *run);

#endif
