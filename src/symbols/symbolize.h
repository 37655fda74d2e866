/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions for locations: module by module, in batches, beside whoever reads and draws. */
#ifndef PROFTOP_SYMBOLS_SYMBOLIZE_H
#define PROFTOP_SYMBOLS_SYMBOLIZE_H

#include "profile/profile.h"

struct dso_table;
struct debug_file_search;
struct symbolize;
struct progress;

/* Borrows all of it. */
struct symbolize *symbolize_new(struct profile *p, capture_id c, struct dso_table *dsos,
				const struct debug_file_search *f);
void symbolize_free(struct symbolize *n);

/*
 * Names every published location of the table's modules that has no name, and states in facts what
 * was missing. 0, -ECANCELED, or -EFBIG when the profile is full. May be called again.
 */
int symbolize_run(struct symbolize *n, struct progress *progress);

/* See resolver_fetch(). */
int symbolize_fetch(struct symbolize *n, struct progress *progress);

/*
 * Gives named locations the frames that were inlined there, and their functions the place where they
 * are declared, from debug information. As symbolize_run().
 */
int symbolize_inline(struct symbolize *n, struct progress *progress);

/*
 * Some of that, while more is being read: for modules where it costs little, and only when there is
 * much new; few: some wait for more of their kind, and want to be asked for again though none comes. As symbolize_run().
 */
int symbolize_inline_ahead(struct symbolize *n, bool *few, struct progress *progress);

#endif
