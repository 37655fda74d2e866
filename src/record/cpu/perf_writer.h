/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A perf.data that is written while it is recorded, and can be opened at any time: records are kept back until
 * perf_writer_flush(), which writes them with the features behind, and then says so in the header. A recorder that is
 * killed leaves what was flushed.
 */
#ifndef PROFTOP_RECORD_CPU_PERF_WRITER_H
#define PROFTOP_RECORD_CPU_PERF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_writer;
struct perf_writer_head;
struct err;

/*
 * Makes the file, over an older one; "-" is standard output, which may be a pipe. It never has more than max_bytes, unless
 * what stands around the records takes more alone. -errno with a sentence.
 */
int perf_writer_open(const char *path, const struct perf_writer_head *h, uint64_t max_bytes,
		     struct perf_writer **out, struct err *e);

/* Takes n bytes of whole records; from the first that there is no room for all are left out. */
void perf_writer_add(struct perf_writer *f, const void *records, size_t n);

/*
 * -ENOSPC and so on with a sentence, once: as many records as there was room for are in a whole file then, and none will
 * come into it any more.
 */
int perf_writer_flush(struct perf_writer *f, struct err *e);

/* Has something been left out? */
bool perf_writer_is_full(const struct perf_writer *f);

/* Samples among the records: that are in the file or wait for the flush, and that were left out. */
uint64_t perf_writer_samples(const struct perf_writer *f);
uint64_t perf_writer_left_out(const struct perf_writer *f);

/* Bytes that records may surely have still. */
uint64_t perf_writer_room(const struct perf_writer *f);

/* Bytes that wait for the flush, as far as they are packed. */
size_t perf_writer_waiting(const struct perf_writer *f);

/* Bytes of the file so far, with what waits for the flush. */
uint64_t perf_writer_bytes(const struct perf_writer *f);

/* What was not flushed is lost. */
void perf_writer_close(struct perf_writer *f);

#endif
