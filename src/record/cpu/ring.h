/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ring of memory through which the kernel hands over records of one cpu.
 *
 * It is read in turns: ring_turn() says up to where this turn goes, ring_ahead() shows what else has come by
 * then without taking it, and ring_take() takes the turn's records and gives their room back. So the owner can
 * know what happened beside the samples, on all cpus, before it takes any.
 */
#ifndef PROFTOP_RECORD_CPU_RING_H
#define PROFTOP_RECORD_CPU_RING_H

#include <stddef.h>
#include <stdint.h>

struct perf_records;
struct ring;

/* Whole records in memory that holds until the call returns; see struct perf_records. */
typedef void ring_fn(void *arg, const struct perf_records *records);

/*
 * Maps the ring of a descriptor: n_bytes, a power of two of at least a page. 0 or -errno; -EPERM: more than the
 * user may lock.
 */
int ring_map(int fd, size_t n_bytes, struct ring **out);
void ring_unmap(struct ring *r);

void ring_turn(struct ring *r);
void ring_ahead(struct ring *r, ring_fn *each, void *arg);
void ring_take(struct ring *r, ring_fn *each, void *arg);

#endif
