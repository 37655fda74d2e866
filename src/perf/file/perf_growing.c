/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "perf/file/perf_growing.h"

#include "base/err.h"
#include "base/task.h"
#include "input/input.h"
#include "perf/abi/perf_abi.h"
#include "perf/file/perf_header.h"

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* A recorder writes features behind its records, and then where these end: it may take so long. */
#define LAST_WORDS_MS   1000
#define LAST_WORDS_STEP 20

/* How often a recorder of several files is asked whether it has ended. */
#define PARTS_STEP 100

/* To where the records of a growing file begin. */
static int skip_head(struct perf_growing *g, struct err *e)
{
	uint8_t waste[4096];

	for (uint64_t left = g->header->data.offset - input_offset(g->in); left > 0;) {
		ssize_t got = input_read(g->in, waste, left < sizeof(waste) ? left : sizeof(waste),
					 e);

		if (got < 0)
			return (int)got;
		if (got == 0)
			return 0;
		left -= (uint64_t)got;
	}
	return 0;
}

/* Does a record stand where the first one of a growing file belongs? What stands behind records does not look like one. */
static bool has_begun(struct perf_growing *g)
{
	uint8_t head[PERF_RECORD_HEADER_BYTES];
	struct perf_record record;

	return input_pread(g->in, head, sizeof(head), g->header->data.offset, NULL) ==
		       (ssize_t)sizeof(head) &&
	       perf_record_at(head, g->header->swap, &record) > 0;
}

/* How far a growing file is good: some recorders say so as they go, and write other things behind. */
static uint64_t good_until(void *arg)
{
	struct perf_growing *g = arg;
	uint64_t end = perf_header_end_of_data(g->in, g->header);

	if (end > 0)
		g->told_end = end;
	if (g->told_end > 0)
		return g->told_end;
	return has_begun(g) ? UINT64_MAX : g->header->data.offset;
}

int perf_growing_begin(struct perf_growing *g, struct input *in, struct perf_header *h,
		       struct err *e)
{
	const struct timespec nap = { .tv_nsec = LAST_WORDS_STEP * 1000000L };

	*g = (struct perf_growing){ .in = in, .header = h };
	/* A recorder that is writing takes its word back for a moment. */
	if (good_until(g) == UINT64_MAX)
		nanosleep(&nap, NULL);
	input_follow_to(in, good_until, g);
	return skip_head(g, e);
}

void perf_growing_wait(struct input *in, const struct perf_header *h,
		       const struct progress *progress)
{
	const struct timespec nap = { .tv_nsec = PARTS_STEP * 1000000L };

	while (perf_header_end_of_data(in, h) == 0 && input_has_writer(in) &&
	       !progress_cancelled(progress))
		nanosleep(&nap, NULL);
}

bool perf_growing_ended(struct perf_growing *g, uint64_t at, const struct progress *progress)
{
	const struct timespec nap = { .tv_nsec = LAST_WORDS_STEP * 1000000L };
	uint64_t end = g->told_end;

	for (int ms = 0; end == 0 && ms < LAST_WORDS_MS && !progress_cancelled(progress);
	     ms += LAST_WORDS_STEP) {
		end = perf_header_end_of_data(g->in, g->header);
		if (end == 0)
			nanosleep(&nap, NULL);
	}
	g->header->no_data_size = end == 0;
	return end > 0 && end == at;
}
