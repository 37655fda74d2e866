/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The windows of a perf_stream, read and unpacked on a thread of its own, a little ahead of whoever takes them.
 *
 * Only where it is of a file: what comes by a pipe is waited for, and there is nothing to be ahead of.
 */
#ifndef PROFTOP_PERF_FILE_READAHEAD_H
#define PROFTOP_PERF_FILE_READAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct readahead;
struct perf_events;
struct perf_records;
struct perf_stream;

/*
 * Borrows the stream, which is not to be touched before readahead_free(). Without a thread, because none is wanted
 * or none can be started, each window is read when it is taken.
 */
struct readahead *readahead_new(struct perf_stream *s, bool thread);
/* Waits for the window being read. NULL is fine. */
void readahead_free(struct readahead *a);

/* As perf_stream_next() and perf_stream_keep(). */
int readahead_next(struct readahead *a, struct perf_records *w, struct err *e);
void readahead_keep(struct readahead *a, unsigned n);

/* As perf_stream_digest(), for windows that are still to be read. */
void readahead_digest(struct readahead *a, const struct perf_events *e);

/* What the stream said when it had read the window taken last: see perf_stream.h. */
uint64_t readahead_done(const struct readahead *a);
uint64_t readahead_n_records(const struct readahead *a);
const uint8_t *readahead_tracing(const struct readahead *a, size_t *n);

#endif
