/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Build-ids of the files that processes map, each file opened once: by device and inode, which is what /proc and the kernel's
 * records tell of a file. Where the kernel could tell build-ids itself, in recordings of all processes, it marks records of
 * other recordings, too, so that these are not asked for.
 */
#ifndef PROFTOP_RECORD_FILE_IDS_H
#define PROFTOP_RECORD_FILE_IDS_H

#include <stddef.h>
#include <stdint.h>

struct build_id;
struct file_ids;
struct perf_mmap;

struct file_ids *file_ids_new(void);
void file_ids_free(struct file_ids *f);

/*
 * Of what a process has mapped; m->file says which file it is, and m->path, with a NUL behind it, what the process calls it. n
 * is 0 where it has none, or cannot be opened any more.
 */
struct build_id file_ids_of(struct file_ids *f, const struct perf_mmap *m);

/* Writes them into whole records, where code of files is mapped and none is told. */
void file_ids_fill(struct file_ids *f, uint8_t *records, size_t n);

#endif
