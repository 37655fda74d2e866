/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The windows of a perf_stream, read and unpacked on a thread of its own, a little ahead of whoever takes them.
 *
 * Only where it is of a file: what comes by a pipe is waited for, and there is nothing to be ahead of.
 */
#ifndef PROFTOP_PERF_AHEAD_H
#define PROFTOP_PERF_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct perf_ahead;
struct perf_events;
struct perf_records;
struct perf_stream;

/*
 * Borrows the stream, which is not to be touched before perf_ahead_free(). Without a thread, because none is wanted
 * or none can be started, each window is read when it is taken.
 */
struct perf_ahead *perf_ahead_new(struct perf_stream *s, bool thread);
/* Waits for the window being read. NULL is fine. */
void perf_ahead_free(struct perf_ahead *a);

/* As perf_stream_next() and perf_stream_keep(). */
int perf_ahead_next(struct perf_ahead *a, struct perf_records *w, struct err *e);
void perf_ahead_keep(struct perf_ahead *a, unsigned n);

/* As perf_stream_digest(), for windows that are still to be read. */
void perf_ahead_digest(struct perf_ahead *a, const struct perf_events *e);

/* What the stream said when it had read the window taken last: see perf_stream.h. */
uint64_t perf_ahead_done(const struct perf_ahead *a);
uint64_t perf_ahead_n_records(const struct perf_ahead *a);
const uint8_t *perf_ahead_tracing(const struct perf_ahead *a, size_t *n);

#endif
