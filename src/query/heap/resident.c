/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/resident.h"

#include "query/core/filter.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_lines.h"

#include <string.h>

/* After its last event a program that goes on for so long sleeps, and does not end. */
#define ASLEEP_NS 500000000
/* One that ends sooner is read at its end: what this last part of its time had is what it kept, and not what it began to free. */
#define END_PART  16

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

int64_t resident_growth(const struct footprint *f)
{
	const struct heap_reading *reading = profile_heap_readings(f->profile);
	int64_t first = -1, last = -1, at, from = 0, to = 0;
	struct heap_columns c;

	profile_heap_of(f->profile, &f->counts, &c);
	for (uint32_t i = 0; i < c.n_readings; i++) {
		if (!resident_reading(f->profile, &reading[i], &at))
			continue;
		if (first < 0 || at < from) {
			first = reading[i].value;
			from = at;
		}
		if (last < 0 || at >= to) {
			last = reading[i].value;
			to = at;
		}
	}
	return c.n_tracks == 1 && first >= 0 && to > from ? last - first : INT64_MAX;
}

static uint32_t slot_at(const struct footprint_lines *l, int64_t at)
{
	uint32_t slot = at < l->to_ns ? (uint32_t)((double)at / (double)l->to_ns * l->span.n)
				      : l->span.n;

	return slot < l->span.n ? slot : l->span.n - 1;
}

/* Most that was there in the last part of the time. */
static int64_t most_at_end(const struct footprint_lines *l)
{
	int64_t most = 0;

	for (uint32_t i = l->span.n - l->span.n / END_PART - 1; i < l->span.n; i++)
		most = l->slot[i].most > most ? l->slot[i].most : most;
	return most;
}

/* How much was in use at a reading; INT64_MAX: it was being freed for the end. */
static int64_t in_use_at(const struct footprint_lines *l, int64_t at)
{
	uint32_t slot = slot_at(l, at);

	if (at >= l->to_ns + ASLEEP_NS)
		return l->slot[l->span.n - 1].live;
	if (at >= l->to_ns && l->teardown == l->span.n)
		return most_at_end(l);
	return at < l->to_ns && slot < l->teardown ? l->slot[slot].most : INT64_MAX;
}

void resident_kept(const struct footprint *f, const struct footprint_lines *l,
		   struct resident_kept *out)
{
	const struct heap_reading *reading = profile_heap_readings(f->profile);
	int64_t peak = f->total[FOOTPRINT_PEAK], at;
	struct heap_columns columns;

	*out = (struct resident_kept){ 0 };
	profile_heap_of(f->profile, &f->counts, &columns);
	for (uint32_t i = 0; i < columns.n_readings; i++) {
		int64_t live;

		if (!resident_reading(f->profile, &reading[i], &at) || at <= f->peak.time_ns)
			continue;
		live = in_use_at(l, at);
		if (live > peak / 2 || reading[i].value - live <= out->beyond)
			continue;
		*out = (struct resident_kept){ slot_at(l, at), reading[i].value - live, live, at };
	}
}

/* How much was there at any time within a slot, at least. */
static int64_t least_live(const struct footprint_lines *l, uint32_t slot)
{
	return (slot > 0 ? l->slot[slot - 1].live : 0) - l->slot[slot].freed;
}

void resident_absent(const struct footprint *f, const struct footprint_lines *l,
		     struct resident_absent *out)
{
	const struct heap_reading *reading = profile_heap_readings(f->profile);
	struct heap_columns columns;
	int64_t at;

	*out = (struct resident_absent){ 0 };
	profile_heap_of(f->profile, &f->counts, &columns);
	for (uint32_t i = 0; i < columns.n_readings; i++) {
		int64_t live;

		if (!resident_reading(f->profile, &reading[i], &at) || at >= l->to_ns)
			continue;
		live = least_live(l, slot_at(l, at));
		if (live - reading[i].value > out->bytes)
			*out = (struct resident_absent){ live - reading[i].value, live, at };
	}
}
