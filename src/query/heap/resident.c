/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/resident.h"

#include "query/core/filter.h"
#include "query/heap/footprint.h"

#include <string.h>

bool resident_reading(const struct profile *p, const struct heap_reading *r, int64_t *since_ns)
{
	const struct heap_series *of = profile_heap_series(p, (series_id){ r->series });
	int64_t begin = capture_begin(profile_capture(p, of->capture));

	*since_ns = begin == TIME_NONE || r->time_ns < begin ? 0 : r->time_ns - begin;
	return strcmp(profile_string(p, of->name, NULL), "RSS") == 0;
}

int64_t resident_at(const struct profile *p, const struct profile_counts *counts, int64_t since_ns)
{
	const struct heap_reading *reading = profile_heap_readings(p);
	struct heap_columns c;
	int64_t value = -1, at;

	profile_heap_of(p, counts, &c);
	for (uint32_t i = 0; i < c.n_readings; i++)
		if (resident_reading(p, &reading[i], &at) && at <= since_ns)
			value = reading[i].value;
	return value;
}

/* The reading closest to a time, or the highest of all with since_ns TIME_NONE; -1: there is none. */
static int64_t find_reading(const struct footprint *f, int64_t since_ns)
{
	const struct heap_reading *reading = profile_heap_readings(f->profile);
	int64_t value = -1, at, distance = INT64_MAX;
	struct heap_columns c;

	profile_heap_of(f->profile, &f->counts, &c);
	for (uint32_t i = 0; i < c.n_readings; i++) {
		int64_t away;

		if (!resident_reading(f->profile, &reading[i], &at))
			continue;
		away = since_ns == TIME_NONE ? 0 : at > since_ns ? at - since_ns : since_ns - at;
		if (since_ns == TIME_NONE ? reading[i].value <= value : away >= distance)
			continue;
		value = reading[i].value;
		distance = away;
	}
	return value;
}

/* Is the footprint of all that one process has? */
static bool is_whole(const struct footprint *f)
{
	struct metric m = f->lens.column[0].metric;
	struct heap_columns c;

	profile_heap_of(f->profile, &f->counts, &c);
	return c.n_tracks == 1 && (m.all || !lens_sums_heaps(f->profile)) &&
	       (!f->lens.filter || filter_n_terms(f->lens.filter) == 0);
}

bool resident_beyond(const struct footprint *f, struct resident_beyond *out)
{
	int64_t live, peak;

	if (!is_whole(f) || f->peak.time_ns == TIME_NONE)
		return false;
	live = find_reading(f, f->lens.cursor_ns < f->whole_ns ? f->lens.cursor_ns : f->whole_ns);
	peak = find_reading(f, TIME_NONE);
	if (live < 0 || peak < 0)
		return false;
	out->live = live - f->total[FOOTPRINT_LIVE];
	out->peak = peak - f->total[FOOTPRINT_PEAK];
	return true;
}
