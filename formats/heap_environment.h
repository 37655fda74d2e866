/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment that a heap trace keeps, as facts: what of it bears on a heap, and how much more there is. */
#ifndef PROFTOP_FORMATS_HEAP_ENVIRONMENT_H
#define PROFTOP_FORMATS_HEAP_ENVIRONMENT_H

#include "builder.h"
#include "heap_records.h"

/* text: of an ENVIRONMENT record, variables that each end in a NUL; the last one may be cut. */
void heap_environment_tell(struct profile *p, capture_id c, const struct heap_text *text);

#endif
