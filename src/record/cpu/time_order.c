/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places are sorted, then the bytes copied once. */
#include "config.h"

#include "record/cpu/time_order.h"

#include <stdlib.h>

#include "base/compare.h"
#include "perf/abi/perf_put.h"
#include "perf/records/perf_events.h"

struct place {
	uint64_t time;
	size_t at, n; /* in the records */
};

static uint64_t time_of(struct perf_events *e, const struct perf_record *r)
{
	struct perf_trailer trailer;
	struct perf_sample sample;
	uint32_t event;

	if (r->type != PERF_REC_SAMPLE)
		return perf_trailer_decode(perf_events_of_record(e, r), r, &trailer) ? trailer.time
										     : 0;
	event = perf_events_of_sample(e, r);
	if (event == PERF_EVENT_NONE || !perf_sample_decode(&e->all.at[event].attr, r, &sample))
		return 0;
	return sample.time;
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return COMPARE(x->time, y->time) ?: COMPARE(x->at, y->at);
}

void time_order(struct perf_events *e, struct perf_put *records)
{
	struct perf_put sorted = { 0 };
	VEC(struct place) places = { 0 };
	struct perf_record r;

	for (size_t at = 0; at < records->n; at += r.size) {
		if (perf_record_at(records->at + at, false, &r) == 0)
			break;
		vec_push(&places, ((struct place){ time_of(e, &r), at, r.size }));
	}
	if (places.n > 0)
		qsort(places.at, places.n, sizeof(*places.at), compare);
	for (size_t i = 0; i < places.n; i++)
		perf_put_bytes(&sorted, records->at + places.at[i].at, places.at[i].n);
	vec_done(&places);
	vec_done(records);
	*records = sorted;
}
