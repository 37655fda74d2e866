/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What perf archive makes: a packed tar of ~/.debug's files for one recording, which brings the symbols to
 * another machine. The one beside a recording is used by itself.
 */
#ifndef PROFTOP_PERF_FILE_PERF_ARCHIVE_H
#define PROFTOP_PERF_FILE_PERF_ARCHIVE_H

#include "base/mem.h"
#include "profile/profile.h"

struct file_archive;
struct progress;
struct resolver_options;

struct perf_archives {
	VEC(struct file_archive *) all; /* owned */
};

/*
 * Those beside the recording called name (NAME.tar.bz2, .gz, .xz, .zst or .tar) and those that the options
 * name where directories may stand. They are read when a file in them is wanted, until progress
 * (borrowed) is cancelled.
 */
void perf_archives_find(struct perf_archives *a, const char *name, const struct resolver_options *o,
			struct progress *progress);
void perf_archives_done(struct perf_archives *a);

/* What they held, as facts. Wants the pen. */
void perf_archives_facts(const struct perf_archives *a, struct profile *p, capture_id c);

#endif
