/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What part of the samples of a program whose heap was recorded, too, is the recorder's own work. */
#ifndef PROFTOP_QUERY_HEAP_TRACER_OVERHEAD_H
#define PROFTOP_QUERY_HEAP_TRACER_OVERHEAD_H

#include "query/core/lens.h"

#include <stdbool.h>
#include <stdint.h>

struct profile;

struct tracer_overhead_share {
	struct metric metric;  /* of the samples: what a profile shows first */
	int64_t weight, total; /* of the recorder, and of all */
};

/* False when the profile has no samples. */
bool tracer_overhead_share(struct profile *p, struct tracer_overhead_share *out);

#endif
