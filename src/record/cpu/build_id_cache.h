/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Build-ids of the files that processes map, each file opened once: by device and inode, which is what /proc and the kernel's
 * records tell of a file. Where the kernel could tell build-ids itself, in recordings of all processes, it marks records of
 * other recordings, too, so that these are not asked for.
 */
#ifndef PROFTOP_RECORD_CPU_BUILD_ID_CACHE_H
#define PROFTOP_RECORD_CPU_BUILD_ID_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct build_id;
struct build_id_cache;
struct perf_mmap;

struct build_id_cache *build_id_cache_new(void);
void build_id_cache_free(struct build_id_cache *f);

/*
 * Of what a process has mapped; m->file says which file it is, and m->path, with a NUL behind it, what the process calls it. n
 * is 0 where it has none, or cannot be opened any more.
 */
struct build_id build_id_cache_of(struct build_id_cache *f, const struct perf_mmap *m);

/* Writes them into whole records, where code of files is mapped and none is told. */
void build_id_cache_fill(struct build_id_cache *f, uint8_t *records, size_t n);

#endif
