/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the records of a perf.data begin and end that is still being written. */
#ifndef PROFTOP_PERF_FILE_PERF_GROWING_H
#define PROFTOP_PERF_FILE_PERF_GROWING_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct input;
struct perf_header;
struct progress;

struct perf_growing {
	struct input *in;
	struct perf_header *header;
	uint64_t told_end; /* of its records, as its recorder said last; 0: it did not */
};

/*
 * Goes to where records begin; from then on, reading waits for what the recorder says is good. Borrows in and h, and
 * g stays where it is while in is read. 0 or -errno.
 */
int perf_growing_begin(struct perf_growing *g, struct input *in, struct perf_header *h,
		       struct err *e);

/*
 * Of a directory whose files data.N hold the records: waits until its recorder has ended, or is gone. The same records are
 * in no order before, as each file is written when a ring of its own is half full.
 */
void perf_growing_wait(struct input *in, const struct perf_header *h,
		       const struct progress *progress);

/*
 * Did the records end at that offset because their recorder says so? What stands behind them is none. Notes in the
 * header whether it said anything, which may take a moment.
 */
bool perf_growing_ended(struct perf_growing *g, uint64_t at, const struct progress *progress);

#endif
