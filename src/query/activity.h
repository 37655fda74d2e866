/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who worked when: processes and their threads with what they weigh, that of column 0 over time, too.
 */
#ifndef PROFTOP_QUERY_ACTIVITY_H
#define PROFTOP_QUERY_ACTIVITY_H

#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/core/time_span.h"

#include <stdbool.h>
#include <stdint.h>

struct activity_pairs;
struct progress;
struct recent;
struct sample_scan;

/* A process with the sums of its threads, or one of the threads that follow it. */
struct activity_row {
	const char *name; /* untrusted text; lives with the profile or the answer */
	uint32_t process; /* process_id, ID_NONE: unknown */
	uint32_t thread;  /* thread_id; ID_NONE: the sum of the threads that follow */
	bool is_process;  /* stands for a whole process: such a sum, or its only row */
	int64_t weight;
	uint64_t n_samples;
	int64_t *slice; /* [n_slices] weight over time; NULL without times */
	int64_t *
		column; /* [n_columns] of the lens; NULL where it has but one, or is of a span of time */
};

struct activity {
	/* [n_rows] by falling weight, threads below their process; owned */
	struct activity_row *row;
	uint32_t n_rows;
	int64_t *slices; /* what rows point into; owned, as is the next */
	int64_t *columns;
	struct groups keys; /* of threads */
	int64_t most;       /* largest slice of a thread */
	int64_t span_ns;    /* that the slices are of */
	uint32_t n_slices;
	uint32_t n_columns;
	int64_t weight;        /* of all rows together */
	uint64_t n_samples;    /* likewise */
	struct recent *recent; /* for recent_thread(), where the lens wants it; else NULL; owned */
	/* of a comparison, whose rows are by name; else NULL; owned */
	struct activity_pairs *pairs;
};

/* When row i of the batch was, since the start of a recording of that length (-1: without times); TIME_NONE: unknown. */
int64_t activity_time(const struct sample_scan *r, int64_t whole_ns, uint64_t i);

/* What a process is called, ID_NONE's too. */
const char *activity_process_name(const struct profile *p, uint32_t process);

/* Is the row the sum of those of its threads, which follow it? */
static inline bool activity_is_sum(const struct activity_row *row)
{
	return row->thread == ID_NONE && row->process != ID_NONE;
}

/* Does a thread's row alone say all of its process, its name too? So do main and unknown threads. */
bool activity_stands_for_process(const struct profile *p, uint32_t thread);

/*
 * Of the samples that pass lens, over the time that its filter lets pass. w is of the same lens and counts: it knows the recording's times.
 * A process of which only the main thread is there has one row, the thread's, which says so by
 * is_process; any other thread stands below its process. Returns 0 or -ECANCELED, when *out is empty; the caller ends with activity_done() in any case.
 */
int activity_of_threads(const struct profile *p, const struct profile_counts *counts,
			const struct lens *lens, const struct weights *w, uint32_t n_slices,
			struct progress *progress, struct activity *out);
/*
 * The same of the samples within a span of time alone, whatever the lens' time terms say; of all of
 * them where there are no times.
 */
int activity_within(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, const struct weights *w, const struct time_span *span,
		    struct progress *progress, struct activity *out);
/*
 * Slices of the same, of all threads together: [span->n], which the caller frees, or NULL where there are no times. What was after
 * latest_ns since the start counts there.
 */
int activity_together(const struct profile *p, const struct profile_counts *counts,
		      const struct lens *lens, const struct weights *w,
		      const struct time_span *span, int64_t latest_ns, struct progress *progress,
		      int64_t **slices);
void activity_done(struct activity *a);

#endif
