/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peaks of sampled heaps whose truth is known: how much too high they are, and what is said of that. */
#include "config.h"

#include "query/heap/peak_excess.h"

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/heap/footprint.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define LIVE  1000u /* blocks at the peak */
#define BYTES 100u
#define MEAN  1000.0
#define TRUTH ((double)(LIVE * BYTES))

enum shape { FLAT, HILL, LARGE };

/* Blocks that come and go one after the other: level for a while, or up and down once. */
static struct profile *recorded(enum shape shape, unsigned seed, event_id *event)
{
	uint64_t size = shape == LARGE ? 10 * (uint64_t)MEAN : BYTES;
	unsigned n = shape == HILL ? LIVE : 40 * LIVE, state = seed, moment = 0;
	allocation_id *kept = calloc(n, sizeof(*kept));
	bool *is_kept = calloc(n, sizeof(*is_kept));
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	origin_id from;
	track_id t;

	builder_begin(p);
	/* Blocks of ten times the mean are all there. */
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), MEAN,
			     10 * (uint64_t)MEAN);
	*event = build_heap_event(p, "malloc");
	o.event = (uint16_t)event->v;
	from = build_heap_origin(p, &o);
	for (unsigned i = 0; i < n + LIVE; i++) {
		unsigned old = i - LIVE;

		if (i >= LIVE && is_kept[old]) {
			build_moment(p, t, moment++);
			build_release(p, kept[old], t, false, from);
		}
		if (i >= n)
			continue;
		is_kept[i] = shape == LARGE || (double)made_number(&state, 1u << 20) / (1u << 20) <
						       -expm1(-(double)size / MEAN);
		if (!is_kept[i])
			continue;
		build_moment(p, t, moment++);
		kept[i] = build_allocation(p, t, size, from);
	}
	builder_end(p);
	free(kept);
	free(is_kept);
	return p;
}

/* On average over several recordings: parts of the truth. */
struct seen {
	double above;  /* by how much the peak is too high */
	double excess; /* by how much it is said to be at most, beside chance */
};

static struct seen look_at(enum shape shape)
{
	const unsigned n = 20;
	struct seen out = { 0 };
	double truth = shape == LARGE ? TRUTH * 10 * MEAN / BYTES : TRUTH;

	for (unsigned seed = 1; seed <= n; seed++) {
		struct profile_counts counts;
		struct footprint *f;
		struct lens l;
		event_id event;
		struct profile *p = recorded(shape, seed * 7919, &event);
		double peak;

		profile_counts_read(p, &counts);
		made_lens(&l, p, "");
		cr_assert_eq(
			footprint_new(p, &counts, &l, (struct metric){ .event = event }, NULL, &f),
			0);
		peak = (double)f->total[FOOTPRINT_PEAK];
		out.above += (peak - truth) / truth / n;
		out.excess += f->excess * peak / truth / n;
		footprint_free(f);
		lens_done(&l);
		profile_free(p);
	}
	return out;
}

/* Level for long, it is one of many moments that chance made highest: what is said covers that. */
Test(peak_excess, many_moments_near_the_peak)
{
	struct seen s = look_at(FLAT);

	cr_log_info("%g above, %g said", s.above, s.excess);
	cr_expect_gt(s.above, 0.1);
	cr_expect_geq(s.excess, 0.9 * s.above);
	cr_expect_leq(s.excess, 2 * s.above);
}

/* Where one moment is the highest by far there is next to nothing to say. */
Test(peak_excess, one_moment)
{
	struct seen s = look_at(HILL);

	cr_log_info("%g above, %g said", s.above, s.excess);
	cr_expect_lt(s.excess, 0.05);
}

/* And nothing where all blocks were recorded. */
Test(peak_excess, all_are_recorded)
{
	struct seen s = look_at(LARGE);

	cr_expect_float_eq(s.above, 0, 1e-9);
	cr_expect_eq(s.excess, 0);
}
