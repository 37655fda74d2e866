/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A filter made ready for a pass over the samples: what it says of threads, events, cpus and stacks is
 * worked out once each, so that a sample costs a few look-ups.
 */
#ifndef PROFTOP_QUERY_CORE_COMPILED_FILTER_H
#define PROFTOP_QUERY_CORE_COMPILED_FILTER_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct filter;
struct progress;
struct sample_rows;
struct term;

struct compiled_filter {
	bool passes_all;           /* nothing is filtered; everything below is NULL */
	bool *thread;              /* [n_threads + 1] passes; the last: unknown; NULL: all; owned */
	bool *event;               /* [n_events] likewise */
	bool *cpu;                 /* [UINT16_MAX + 1] likewise; CPU_NONE is the last */
	bool *stack;               /* [n_stacks] likewise */
	bool *capture;             /* [n_captures] likewise; by it rows without a thread */
	bool only_captures;        /* no term but those of captures: rows of one pass or do not */
	const struct term **times; /* [n_times] time terms; array owned */
	uint32_t n_times;
	/* [n_blocks] terms about blocks of a heap, which samples pass; array owned */
	const struct term **blocks;
	bool **freed_in; /* [n_blocks] of TERM_FREED_IN: which stacks, [n_stacks], match; else NULL; owned */
	uint32_t n_blocks;
	uint32_t n_threads;            /* counts->n_threads */
	uint32_t n_captures;           /* counts->n_captures */
	const struct profile *profile; /* borrowed */
	const int64_t *
		origin; /* [n_threads + 1] starts of captures, see compiled_filter_origins(); borrowed */
};

/*
 * When the capture that each thread belongs to began (the last: for unknown threads), to which times
 * in filters and on screens are relative; 0 where there are no times. The caller frees.
 */
int64_t *compiled_filter_origins(const struct profile *p, const struct profile_counts *counts);

/*
 * f (may be NULL) and origin are borrowed as long as s is used. inlines: are inlined functions
 * frames? Returns 0 or -ECANCELED; the caller ends with compiled_filter_done() in any case.
 */
int compiled_filter_init(struct compiled_filter *s, const struct profile *p,
			 const struct profile_counts *counts, const struct filter *f, bool inlines,
			 const int64_t *origin, struct progress *progress);
void compiled_filter_done(struct compiled_filter *s);

/* Sets pass[i] for rows [begin, begin + n), which were read, to what it was and the sieve says, but for times. */
void compiled_filter_rows_any_time(const struct compiled_filter *s, const struct sample_rows *rows,
				   uint64_t begin, uint64_t n, bool *pass);
/* The same for what it says of times. */
void compiled_filter_times(const struct compiled_filter *s, const struct sample_rows *rows,
			   uint64_t n, bool *pass);

#endif
