/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the head of a perf.data says and how its records ended, as facts for `info`. */
#ifndef PROFTOP_PERF_FILE_PERF_INFO_H
#define PROFTOP_PERF_FILE_PERF_INFO_H

#include "profile/ids.h"

#include <stdint.h>

struct perf_header;
struct dir_parts;
struct perf_stream_stats;
struct profile;

/*
 * Sections file and losses; wants the pen. file_bytes: of all files; 0: unknown. broken: why reading
 * stopped early, or NULL.
 */
void perf_info(struct profile *p, capture_id c, uint64_t file_bytes, const struct dir_parts *parts,
	       const struct perf_header *h, const struct perf_stream_stats *s, const char *broken);

#endif
