/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of samples in batches, whether the profile has them packed or as plain columns.
 *
 * Of a capture that is only read, rows are packed as they are published: in blocks, each column of a block as the
 * differences from its least value in as few bits as the largest of them needs. A column of one value takes none.
 */
#ifndef PROFTOP_PROFILE_SAMPLE_ROWS_H
#define PROFTOP_PROFILE_SAMPLE_ROWS_H

#include "profile/profile.h"

#include <stdint.h>

/* Rows of a block, and of the longest batch. */
#define SAMPLE_ROWS_BATCH 4096

/* Columns to be read, as bits. */
#define ROWS_STACK  1u
#define ROWS_THREAD 2u
#define ROWS_EVENT  4u
#define ROWS_CPU    8u
#define ROWS_TIME   16u
#define ROWS_WEIGHT 32u
#define ROWS_ALL    63u

/*
 * A batch: [n] each, of the columns that were asked for. NULL is what it is in struct sample_columns. They are good until the next
 * batch is read, and no longer than the columns.
 */
struct sample_rows {
	const uint32_t *stack, *thread;
	const uint16_t *event, *cpu;
	const int64_t *weight, *time_ns;
	const int64_t *scale; /* [n_events], see struct sample_columns */
	struct {
		uint32_t stack[SAMPLE_ROWS_BATCH], thread[SAMPLE_ROWS_BATCH];
		uint16_t event[SAMPLE_ROWS_BATCH], cpu[SAMPLE_ROWS_BATCH];
		int64_t weight[SAMPLE_ROWS_BATCH], time_ns[SAMPLE_ROWS_BATCH];
	} unpacked; /* where the pointers point when not to the profile's columns */
};

/* Reads rows [begin, begin + n), n at most SAMPLE_ROWS_BATCH. Weights need events: ROWS_WEIGHT reads both. */
void sample_rows_read(struct sample_rows *to, const struct sample_columns *from, uint64_t begin,
		      uint32_t n, unsigned columns);

/* Batches one after the other: the rows from row on, up to n_rows; how many they are. */
static inline uint32_t sample_rows_next(struct sample_rows *to, const struct sample_columns *from,
					uint64_t row, uint64_t n_rows, unsigned columns)
{
	uint64_t left = n_rows - row;
	uint32_t n = left < SAMPLE_ROWS_BATCH ? (uint32_t)left : SAMPLE_ROWS_BATCH;

	if (n > 0)
		sample_rows_read(to, from, row, n, columns);
	return n;
}

/* Row i of the batch. */
static inline uint32_t sample_rows_thread(const struct sample_rows *r, uint64_t i)
{
	return r->thread ? r->thread[i] : ID_NONE;
}

static inline uint16_t sample_rows_event(const struct sample_rows *r, uint64_t i)
{
	return r->event ? r->event[i] : 0;
}

static inline uint16_t sample_rows_cpu(const struct sample_rows *r, uint64_t i)
{
	return r->cpu ? r->cpu[i] : CPU_NONE;
}

static inline int64_t sample_rows_time(const struct sample_rows *r, uint64_t i)
{
	return r->time_ns ? r->time_ns[i] : TIME_NONE;
}

static inline int64_t sample_rows_weight(const struct sample_rows *r, uint64_t i)
{
	return r->weight ? r->weight[i] : r->scale[sample_rows_event(r, i)];
}

#endif
