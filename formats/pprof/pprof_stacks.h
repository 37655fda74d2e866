/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The locations of a pprof profile as locations of the model, and its stacks. */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_STACKS_H
#define PROFTOP_FORMATS_PPROF_PPROF_STACKS_H

#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct pprof_row;
struct pprof_stacks;
struct pprof_tables;
struct progress;
struct resolver_options;

/* Borrows p and t; options may be NULL. */
struct pprof_stacks *pprof_stacks_new(struct profile *p, capture_id c, const struct pprof_tables *t,
				      const struct resolver_options *options);
void pprof_stacks_free(struct pprof_stacks *s);

/* The stack of a row, without what drop_frames says. Wants the pen. */
stack_id pprof_stack(struct pprof_stacks *s, const struct pprof_row *row);

/* Names what the file has addresses of only; see resolver_name(). 0 or -ECANCELED, -EFBIG. */
int pprof_stacks_name(struct pprof_stacks *s, struct progress *progress);

#endif
