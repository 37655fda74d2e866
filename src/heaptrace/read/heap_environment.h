/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment that a heap trace keeps, as facts: what of it bears on a heap, and how much more there is. */
#ifndef PROFTOP_HEAPTRACE_READ_HEAP_ENVIRONMENT_H
#define PROFTOP_HEAPTRACE_READ_HEAP_ENVIRONMENT_H

#include "heaptrace/heap_records.h"
#include "profile/builder.h"

/* text: of an ENVIRONMENT record, variables that each end in a NUL; the last one may be cut. */
void heap_environment_tell(struct profile *p, capture_id c, const struct heap_text *text);

#endif
