/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder works in the calls that it notes, on the program's threads, and on a thread of its own. */
#include "config.h"

#include "query/heap/tracer_overhead.h"

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"
#include "query/core/frame_class.h"

#include <string.h>

/* What its thread is called in the program that it records. */
#define TRACER_THREAD "proftop-heap"

/* Is what the stack ends in, besides the kernel, code of the tracer? */
static bool ends_in_tracer(const struct profile *p, const struct stack_columns *stacks,
			   const struct location_columns *locations, uint32_t stack)
{
	for (; stack != 0; stack = stacks->parent[stack]) {
		module_id id = { locations->module[stacks->location[stack]] };
		const struct module *m = profile_module(p, id);

		if (m->family != FAMILY_KERNEL)
			return strcmp(profile_string(p, m->name, NULL), TRACER_MODULE) == 0;
	}
	return false;
}

/* What the recorder of the heap took itself, in the calls that it notes and on its thread. */
static int64_t tracer_weight(const struct profile *p, const struct profile_counts *counts,
			     const struct weights *w)
{
	struct location_columns locations;
	struct stack_columns stacks;
	int64_t sum = 0;

	profile_stacks_of(p, counts, &stacks);
	profile_locations(p, &locations);
	for (uint32_t s = 0; s < w->n_stacks; s++) {
		const int64_t *of = w->stack + (size_t)s * w->n_columns;

		sum += of[0] != 0 && ends_in_tracer(p, &stacks, &locations, s) ? of[0] : of[1];
	}
	return sum;
}

bool tracer_overhead_share(struct profile *p, struct tracer_overhead_share *out)
{
	struct profile_counts counts;
	struct weights w;
	struct lens lens;
	bool known;

	profile_hold(p, &counts);
	lens_init(&lens, p);
	lens.n_columns = 2;
	lens.column[1].metric = lens.column[0].metric;
	filter_parse("thread:^" TRACER_THREAD "$", &lens.column[1].filter, NULL);
	known = counts.n_samples > 0 && !metric_is_heap(p, lens.column[0].metric) &&
		aggregate(p, &counts, &lens, NULL, &w) == 0;
	if (known) {
		out->metric = lens.column[0].metric;
		out->weight = tracer_weight(p, &counts, &w);
		out->total = w.total[0];
		weights_done(&w);
	}
	lens_done(&lens);
	profile_release(p, &counts);
	return known;
}
