/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder works in the calls that it notes, on the program's threads, and on a thread of its own. */
#include "config.h"

#include "query/heap/tracer_overhead.h"

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"

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
	filter_parse("is:tracer", &lens.column[1].filter, NULL);
	known = counts.n_samples > 0 && !metric_is_heap(p, lens.column[0].metric) &&
		aggregate(p, &counts, &lens, NULL, &w) == 0;
	if (known) {
		out->metric = lens.column[0].metric;
		out->weight = w.total[1];
		out->total = w.total[0];
		weights_done(&w);
	}
	lens_done(&lens);
	profile_release(p, &counts);
	return known;
}
