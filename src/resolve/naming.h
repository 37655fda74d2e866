/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions for locations: module by module, in batches, beside whoever reads and draws. */
#ifndef PROFTOP_RESOLVE_NAMING_H
#define PROFTOP_RESOLVE_NAMING_H

#include "profile.h"

struct dso_table;
struct finder;
struct naming;
struct progress;

/* Borrows all of it. */
struct naming *naming_new(struct profile *p, capture_id c, struct dso_table *dsos,
			  const struct finder *f);
void naming_free(struct naming *n);

/*
 * Names every published location of the table's modules that has no name, and states in facts what
 * was missing. 0, -ECANCELED, or -EFBIG when the profile is full. May be called again.
 */
int naming_run(struct naming *n, struct progress *progress);

/* See resolver_fetch(). */
int naming_fetch(struct naming *n, struct progress *progress);

/*
 * Gives named locations the frames that were inlined there, and their functions the place where they
 * are declared, from debug information. As naming_run().
 */
int naming_inline(struct naming *n, struct progress *progress);

/*
 * Some of that, while more is being read: for modules where it costs little, and only when there is
 * much new; few: some wait for more of their kind, and want to be asked for again though none comes. As naming_run().
 */
int naming_inline_ahead(struct naming *n, bool *few, struct progress *progress);

#endif
