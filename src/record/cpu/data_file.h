/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A perf.data that is written while it is recorded, and can be opened at any time: records are kept back until
 * data_file_flush(), which writes them with the features behind, and then says so in the header. A recorder that is
 * killed leaves what was flushed.
 */
#ifndef PROFTOP_RECORD_DATA_FILE_H
#define PROFTOP_RECORD_DATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct data_file;
struct data_head;
struct err;

/*
 * Makes the file, over an older one; "-" is standard output, which may be a pipe. It never has more than max_bytes, unless
 * what stands around the records takes more alone. -errno with a sentence.
 */
int data_file_open(const char *path, const struct data_head *h, uint64_t max_bytes,
		   struct data_file **out, struct err *e);

/* Takes n bytes of whole records; from the first that there is no room for all are left out. */
void data_file_add(struct data_file *f, const void *records, size_t n);

/*
 * -ENOSPC and so on with a sentence, once: as many records as there was room for are in a whole file then, and none will
 * come into it any more.
 */
int data_file_flush(struct data_file *f, struct err *e);

/* Has something been left out? */
bool data_file_is_full(const struct data_file *f);

/* Samples among the records: that are in the file or wait for the flush, and that were left out. */
uint64_t data_file_samples(const struct data_file *f);
uint64_t data_file_left_out(const struct data_file *f);

/* Bytes that records may surely have still. */
uint64_t data_file_room(const struct data_file *f);

/* Bytes that wait for the flush, as far as they are packed. */
size_t data_file_waiting(const struct data_file *f);

/* Bytes of the file so far, with what waits for the flush. */
uint64_t data_file_bytes(const struct data_file *f);

/* What was not flushed is lost. */
void data_file_close(struct data_file *f);

#endif
