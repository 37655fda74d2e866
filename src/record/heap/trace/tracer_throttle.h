/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps what recording costs below a share of what the program itself uses of the processors, by how many allocations are
 * recorded: the mean of the sampling (tracer_sample.h) rises and falls.
 *
 * The mean changes for all threads at one moment of their common clock, which the trace names: allocations up to it have
 * the old one, later ones the new one, so that estimates stay without bias. Threads are told of a change before; who
 * may still not have heard of it is awaited, as in read-copy-update. All of this belongs to the writer.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_THROTTLE_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_THROTTLE_H

#include <stdint.h>

/* What the writer has written so far. */
struct tracer_written {
	uint64_t n_allocs, n_bytes;
};

/* As at the beginning of a recording. */
void tracer_throttle_begin(void);

/* Looks whether the mean is to change. With the drain lock held. Returns when to look again: ms. */
uint32_t tracer_throttle_look(const struct tracer_written *written);

/*
 * The mean that is to follow `mean` (bytes; 0: all are recorded), with which recording took `share` of the program's own
 * time, where it may take `most`. typical: bytes of an allocation that was recorded.
 */
uint64_t tracer_throttle_next(uint64_t mean, double share, double most, double typical);

/*
 * What may be taken, of the program's own time, by what is recorded: of `most` what calls leave that are not recorded, which
 * take `passing`; but a part of it in any case, or nothing at all would be recorded. It is that part, too, while more than
 * `most` was taken so far, as the beginning of a recording takes.
 */
double tracer_throttle_room(double most, double passing, double so_far);

/* The recording ends: tells the trace and the log what it took, where that is limited. With the drain lock held. */
void tracer_throttle_end(void);

#endif
