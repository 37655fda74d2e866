/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks that were freed long ago and became sums, and their stacks shorter: what is live, peaks and sums are what they were. */
#include "config.h"

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/activity.h"
#include "query/analysis.h"
#include "query/core/heap_measure.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_lines.h"
#include "tests/support/flat_memory.h"
#include "tests/support/limits_work.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND   INT64_C(1000000000)
#define N_STACKS 12
#define N_BLOCKS 400
#define N_SEEDS  30
#define STEP     50
#define FENCE_AT 1500
#define N_STEPS  3000

#define N_TRACKS 3

/* Heaps while things happen to them. */
struct life {
	struct profile *p;
	uint32_t n_tracks;
	track_id track[N_TRACKS];
	uint32_t thread[N_TRACKS];
	struct heap_origin origin[N_STACKS]; /* but for the stack, the thread and the track */
	location_id location[N_STACKS];
	uint32_t n_callers; /* of a block, by lot; more than 0: stacks are many */
	uint32_t block
		[N_BLOCKS]; /* allocation_id; ID_NONE: free; of the track of the place's rest */
	uint32_t n_told;    /* times that who watches was told of other numbers */
	unsigned state;
	int64_t now_ns;
	int64_t fence_ns; /* since the start */
	uint32_t n_folds;
	uint32_t n_shortened; /* times */
};

/* What lives stays, under another number. */
static void move_blocks(void *arg, const uint32_t *to, uint32_t n)
{
	struct life *l = arg;

	l->n_told++;
	for (unsigned i = 0; i < N_BLOCKS; i++)
		if (l->block[i] != ID_NONE) {
			cr_assert_lt(l->block[i], n);
			cr_assert_neq(to[l->block[i]], ID_NONE, "what lives stays");
			l->block[i] = to[l->block[i]];
		}
}

static void begin(struct life *l, unsigned seed, uint32_t n_tracks, uint32_t n_callers,
		  const struct build_folding *f)
{
	event_id e[2];
	capture_id c;

	*l = (struct life){ .p = profile_new(),
			    .n_tracks = n_tracks,
			    .n_callers = n_callers,
			    .state = seed,
			    .now_ns = SECOND };
	if (f)
		build_folding(l->p, f);
	builder_begin(l->p);
	build_watch(l->p, &(struct build_watch){ .allocations = move_blocks, .arg = l });
	c = build_capture(l->p, "x", "heap");
	e[0] = build_heap_event(l->p, "malloc");
	e[1] = build_heap_event(l->p, "mmap");
	for (uint32_t i = 0; i < n_tracks; i++) {
		process_id process = build_process(l->p, c, (int32_t)i + 1);

		l->thread[i] = build_thread(l->p, process, 1, build_cstring(l->p, "t")).v;
		l->track[i] = build_heap_track(l->p, process, 0, 0);
	}
	for (unsigned i = 0; i < N_STACKS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "f%u", i);
		l->origin[i] = (struct heap_origin){ .event = (uint16_t)e[i % 4 == 3].v };
		l->location[i] = build_symbol_location(
			l->p, build_function(l->p, build_cstring(l->p, name), (module_id){ 0 }, 0,
					     (string_id){ 0 }, 0));
	}
	for (unsigned i = 0; i < N_BLOCKS; i++)
		l->block[i] = ID_NONE;
	builder_end(l->p);
}

static void fold(struct life *l)
{
	uint32_t *to, n, told = l->n_told;

	if (build_heap_fold(l->p, &to, &n)) {
		l->n_folds++;
		cr_expect_eq(l->n_told, told + 1, "who folds is told as all are");
		free(to);
	}
	l->n_shortened += build_shorten(l->p, NULL, NULL);
}

/* A function that allocates, under callers by lot. */
static origin_id make_origin(struct life *l, uint32_t track, unsigned function)
{
	struct heap_origin o = l->origin[function];
	stack_id at = { 0 };

	for (uint32_t i = 0; i < l->n_callers; i++)
		at = build_stack(l->p, at, l->location[made_number(&l->state, N_STACKS)]);
	o.stack = build_stack(l->p, at, l->location[function]).v;
	o.thread = l->thread[track];
	o.track = (uint16_t)l->track[track].v;
	return build_heap_origin(l->p, &o);
}

/* More blocks come than go for some time, and then the other way round. The second heap begins late, and the third ends early. */
static void go_on(struct life *l, unsigned step)
{
	unsigned i = made_number(&l->state, step % 1000 < 700 ? N_BLOCKS : N_BLOCKS / 8);
	uint32_t of = i % l->n_tracks;
	track_id track = l->track[of];
	origin_id who = make_origin(l, of, made_number(&l->state, N_STACKS));
	uint64_t size = made_number(&l->state, 50) == 0 ? 5000000000u
							: made_number(&l->state, 5000);

	l->now_ns += made_number(&l->state, 40000000);
	if ((of == 1 && step < N_STEPS / 4) || (of == 2 && step > N_STEPS / 2))
		return;
	build_moment(l->p, track, l->now_ns);
	if (l->block[i] != ID_NONE)
		build_release(l->p, (allocation_id){ l->block[i] }, track,
			      made_number(&l->state, 3) == 0, (origin_id){ ID_NONE });
	/* A release alone, an allocation alone, or both at one moment. */
	if (l->block[i] != ID_NONE && made_number(&l->state, 4) > 0)
		l->block[i] = ID_NONE;
	else
		l->block[i] = build_allocation(l->p, track, size, who).v;
}

static void live(struct life *l, unsigned seed, uint32_t n_callers, const struct build_folding *f)
{
	begin(l, seed, 1 + seed % N_TRACKS, n_callers, f);
	for (unsigned step = 0; step < N_STEPS; step += STEP) {
		builder_begin(l->p);
		fold(l);
		for (unsigned k = 0; k < STEP; k++)
			go_on(l, step + k);
		cr_assert_eq(builder_end(l->p), 0);
		if (step != FENCE_AT)
			continue;
		l->fence_ns = l->now_ns + 1 -
			      capture_begin(profile_capture(l->p, (capture_id){ 0 }));
		profile_fences(l->p, (int64_t[]){ TIME_NONE, l->now_ns + 1 });
	}
}

static void expect_same(const struct life *x, const struct life *y, const char *filter,
			uint32_t event, enum measure measure, int64_t level_ns)
{
	const struct life *of[2] = { x, y };
	struct analysis *a[2];
	struct lens l[2];

	for (size_t i = 0; i < 2; i++) {
		made_lens(&l[i], of[i]->p, filter);
		l[i].column[0].metric = (struct metric){ { event }, measure, false };
		l[i].column[0].level_ns = level_ns;
		cr_assert_eq(analysis_new(of[i]->p, &l[i], NULL, &a[i]), 0);
	}
	cr_expect_eq(a[0]->weights.total[0], a[1]->weights.total[0],
		     "%s, event %u, measure %u: %ld, %ld", filter, event, (unsigned)measure,
		     (long)a[0]->weights.total[0], (long)a[1]->weights.total[0]);
	cr_expect_eq(a[0]->weights.peak.time_ns, a[1]->weights.peak.time_ns,
		     "%s, event %u, measure %u", filter, event, (unsigned)measure);
	cr_expect_eq(a[0]->weights.n_samples, a[1]->weights.n_samples, "%s, event %u, measure %u",
		     filter, event, (unsigned)measure);
	cr_assert_eq(a[0]->table.n_rows, a[1]->table.n_rows, "%s, event %u, measure %u", filter,
		     event, (unsigned)measure);
	for (uint32_t r = 0; r < a[0]->table.n_rows; r++) {
		cr_expect_eq(a[0]->table.key[r], a[1]->table.key[r]);
		cr_expect_eq(a[0]->table.self[r], a[1]->table.self[r], "%s, event %u, measure %u",
			     filter, event, (unsigned)measure);
	}
	for (size_t i = 0; i < 2; i++) {
		analysis_free(a[i]);
		lens_done(&l[i]);
	}
}

static const struct build_folding small = { .keep_ns = SECOND / 10, .n_blocks = 64, .n_sums = 128 };

/* Every measure, of all of it and of what came before and since a moment that was said; and what was there then. */
Test(heap_fold, changes_no_answer)
{
	uint64_t n_less = 0;

	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct heap_columns whole, folded;
		char filter[3][64] = { "", "", "" };
		struct life x, y;

		live(&x, seed, 0, NULL);
		live(&y, seed, 0, &small);
		profile_heap(x.p, &whole);
		profile_heap(y.p, &folded);
		cr_expect_gt(y.n_folds, 3u);
		cr_expect_eq(whole.n_allocations, folded.n_allocations + folded.n_counted);
		n_less += whole.n_allocations - folded.n_allocations;
		snprintf(filter[1], sizeof(filter[1]), "time:0,%" PRId64 "ns", x.fence_ns);
		snprintf(filter[2], sizeof(filter[2]), "time:%" PRId64 "ns,", x.fence_ns);
		for (uint32_t i = 0; i < 6; i++)
			for (enum measure m = MEASURE_WEIGHT; m <= MEASURE_TEMPORARY; m++)
				expect_same(&x, &y, filter[i / 2], i % 2, m, 0);
		for (uint32_t i = 0; i < 2; i++) {
			expect_same(&x, &y, "", i, MEASURE_LIVE, x.fence_ns);
			expect_same(&x, &y, "", i, MEASURE_LEAKED, x.fence_ns);
		}
		profile_free(x.p);
		profile_free(y.p);
	}
	cr_expect_gt(n_less, 10000u, "%lu", (unsigned long)n_less);
}

/* How much of a track was there after so many moments. */
static uint64_t level_at(const struct heap_columns *c, uint32_t track, uint32_t n_moments)
{
	uint64_t level = 0;

	for (uint32_t i = 0; i < c->n_allocations; i++)
		if (c->origins[allocation_origin(c, i)].track == track &&
		    allocation_begin(c, i) < n_moments &&
		    (allocation_end(c, i, UINT32_MAX) & END_MOMENT) >= n_moments)
			level += allocation_size(c, i);
	return level;
}

static void expect_known_levels(const struct life *x, const struct life *y, uint32_t track)
{
	struct heap_track s = profile_heap_track(x->p, x->track[track]);
	struct heap_track t = profile_heap_track(y->p, y->track[track]);
	struct heap_columns whole, folded;

	profile_heap(x->p, &whole);
	profile_heap(y->p, &folded);
	cr_expect_gt(t.folded.until, 0u);
	/* Of more heaps each has fewer, further apart: all of them may stay. */
	cr_expect_lt(t.n_moments, s.n_moments + (x->n_tracks > 1), "numbers are used again");
	cr_expect_lt(t.n_ticks, s.n_ticks + (x->n_tracks > 1));
	for (uint32_t at = 0; at < t.n_moments; at += 7) {
		uint32_t known = heap_level_known(&t, at), same = known;
		uint32_t tells = heap_level_tells(&t, at);

		cr_assert_leq(known, at);
		/* Where it is known there is a tick, or all moments are there from then on. */
		if (known < t.n_moments && known < t.folded.until)
			same = heap_track_moment(&s, heap_track_time(&t, known));
		else
			same = s.n_moments - (t.n_moments - known);
		cr_assert_eq(level_at(&whole, track, same), level_at(&folded, track, known),
			     "track %u of %u, %u for %u", track, x->n_tracks, known, at);
		cr_assert_geq(tells, at);
		cr_assert_eq(heap_level_known(&t, tells + 1), tells + 1,
			     "what happened is told from a moment on that is known");
	}
}

/*
 * What is live at a time is said of the last moment at which it is known, and that is not long before. Moments have other numbers
 * where some went, and mean the same.
 */
Test(heap_fold, levels_are_those_of_a_moment_that_is_known)
{
	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct life x, y;

		live(&x, seed, 0, NULL);
		live(&y, seed, 0, &small);
		for (uint32_t i = 0; i < x.n_tracks; i++)
			expect_known_levels(&x, &y, i);
		profile_free(x.p);
		profile_free(y.p);
	}
}

/* What a program allocates as it starts and keeps is there in the first second, too, when that is one slot. */
Test(heap_fold, what_was_there_from_the_start_is_there_in_the_first_slot)
{
	enum { SIZE = 100000, AT_MS = 100, UNTIL_MS = 3000 };
	struct heap_columns c;
	struct heap_track t;
	struct life l;

	begin(&l, 1, 1, 0, &small);
	for (int ms = 0; ms < UNTIL_MS; ms++) {
		allocation_id a;

		builder_begin(l.p);
		fold(&l);
		build_moment(l.p, l.track[0], SECOND + ms * (SECOND / 1000));
		a = build_allocation(l.p, l.track[0], ms == 0 ? SIZE : 1, make_origin(&l, 0, 0));
		if (ms > 0)
			build_release(l.p, a, l.track[0], true, (origin_id){ ID_NONE });
		cr_assert_eq(builder_end(l.p), 0);
	}
	t = profile_heap_track(l.p, l.track[0]);
	profile_heap(l.p, &c);
	cr_assert_geq(heap_track_time(&t, t.folded.until), 2 * SECOND, "the first slot is folded");
	for (int ms = AT_MS; ms < UNTIL_MS; ms += AT_MS) {
		uint32_t at = heap_track_moment(&t, SECOND + ms * (SECOND / 1000));

		cr_expect_geq(level_at(&c, 0, heap_level_known(&t, at)), SIZE, "at %d ms", ms);
	}
	profile_free(l.p);
}

static uint32_t row_called(const struct analysis *a, const char *name)
{
	uint32_t row = 0;

	while (row < a->table.n_rows &&
	       strcmp(a->table_keys->key[a->table.key[row]].label, name) != 0)
		row++;
	return row;
}

/* Of what lives, and was at the peak, stacks are whole: totals are the same, too. */
static void expect_same_rows(const struct analysis *a, const struct analysis *b, bool whole)
{
	bool marked = row_called(b, SHORTENED_NAME) < b->table.n_rows;

	cr_expect_eq(a->table.n_rows + marked, b->table.n_rows);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const char *name = a->table_keys->key[a->table.key[i]].label;
		uint32_t j = row_called(b, name);

		cr_assert_lt(j, b->table.n_rows, "%s", name);
		cr_expect_eq(a->table.self[i], b->table.self[j], "self of %s", name);
		if (whole)
			cr_expect_eq(a->table.total[i], b->table.total[j], "total of %s", name);
		else
			cr_expect_geq(a->table.total[i], b->table.total[j], "total of %s", name);
	}
}

static void expect_same_functions(const struct life *x, const struct life *y, enum measure measure)
{
	const struct life *of[2] = { x, y };
	struct analysis *a[2];
	struct lens l[2];

	for (size_t i = 0; i < 2; i++) {
		made_lens(&l[i], of[i]->p, "");
		l[i].column[0].metric = (struct metric){ { 0 }, measure, false };
		a[i] = made_analysis(of[i]->p, &l[i]);
	}
	cr_expect_eq(a[0]->weights.total[0], a[1]->weights.total[0], "measure %u",
		     (unsigned)measure);
	cr_expect_eq(a[0]->weights.n_samples, a[1]->weights.n_samples, "measure %u",
		     (unsigned)measure);
	expect_same_rows(a[0], a[1], measure == MEASURE_LIVE || measure == MEASURE_PEAK);
	for (size_t i = 0; i < 2; i++) {
		analysis_free(a[i]);
		lens_done(&l[i]);
	}
}

/* Stacks that never come again: what functions did themselves is what it was, and what lives has its whole stack. */
Test(heap_fold, shorter_stacks_change_no_self)
{
	static const struct build_folding folding = {
		.keep_ns = SECOND / 10, .n_stacks = 256, .n_blocks = 64, .n_sums = 128
	};

	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct profile_counts whole, shorter;
		struct life x, y;

		live(&x, seed, 3, NULL);
		live(&y, seed, 3, &folding);
		profile_counts_read(x.p, &whole);
		profile_counts_read(y.p, &shorter);
		cr_expect_gt(y.n_shortened, 0u);
		cr_expect_lt(shorter.n_stacks, whole.n_stacks);
		for (enum measure m = MEASURE_WEIGHT; m <= MEASURE_TEMPORARY; m++)
			expect_same_functions(&x, &y, m);
		profile_free(x.p);
		profile_free(y.p);
	}
}

/* What a heap takes. */
struct held {
	uint32_t n_rows, n_bulk, n_ticks, n_moments, n_origins, n_stacks;
};

static void grow(uint32_t *most, uint32_t n)
{
	*most = n > *most ? n : *most;
}

static void hold_most(struct held *most, const struct life *l)
{
	uint32_t n_ticks = 0, n_moments = 0;
	struct profile_counts counts;
	struct heap_columns h;

	profile_counts_read(l->p, &counts);
	profile_heap(l->p, &h);
	grow(&most->n_rows, h.n_allocations);
	grow(&most->n_bulk, h.n_bulk);
	for (uint32_t i = 0; i < l->n_tracks; i++) {
		struct heap_track t = profile_heap_track(l->p, l->track[i]);

		n_ticks += t.n_ticks;
		n_moments += t.n_moments;
	}
	grow(&most->n_ticks, n_ticks);
	grow(&most->n_moments, n_moments);
	grow(&most->n_origins, h.n_origins);
	grow(&most->n_stacks, counts.n_stacks);
}

/* n blocks that are freed at once, one each step. */
static void come_and_go(struct life *l, uint32_t n, int64_t step_ns)
{
	builder_begin(l->p);
	fold(l);
	for (uint32_t i = 0; i < n; i++) {
		track_id track = l->track[i % l->n_tracks];
		origin_id who = make_origin(l, i % l->n_tracks, made_number(&l->state, N_STACKS));
		allocation_id a;

		build_moment(l->p, track, l->now_ns += step_ns);
		a = build_allocation(l->p, track, 100, who);
		build_moment(l->p, track, l->now_ns);
		build_release(l->p, a, track, false, (origin_id){ ID_NONE });
	}
	cr_assert_eq(builder_end(l->p), 0);
}

static void live_for_hours(uint32_t n_tracks)
{
	enum { HOURS = 3, HZ = 20, ROWS = 1 << 12 };
	static const struct build_folding folding = { .keep_ns = 70 * SECOND,
						      .n_blocks = ROWS,
						      .n_sums = ROWS / 2 };
	struct held most[HOURS] = { 0 };
	struct heap_columns h;
	struct life l;

	begin(&l, 1, n_tracks, 0, &folding);
	for (uint32_t second = 0; second < HOURS * 3600; second++) {
		come_and_go(&l, HZ, SECOND / HZ);
		hold_most(&most[second / 3600], &l);
	}
	profile_heap(l.p, &h);
	cr_expect_eq(h.n_counted + h.n_allocations, (uint64_t)HOURS * 3600 * HZ);
	cr_expect_leq(most[2].n_rows, most[1].n_rows + most[1].n_rows / 16);
	cr_expect_leq(most[2].n_bulk, most[1].n_bulk + most[1].n_bulk / 16);
	cr_expect_leq(most[2].n_ticks, most[1].n_ticks + most[1].n_ticks / 16);
	cr_expect_leq(most[2].n_moments, most[1].n_moments + most[1].n_moments / 16);
	profile_free(l.p);
}

/* The same stacks again and again, 20 blocks a second that are freed at once: the third hour takes what the second took. */
Test(heap_fold, hours_take_no_more, .timeout = 600)
{
	live_for_hours(1);
	live_for_hours(N_TRACKS);
}

/* How many blocks came in each slot of a span, n: [n_slots]; the profile goes. */
static void count_allocated(struct profile *p, const struct time_span *span, uint32_t n_slots,
			    uint64_t *n)
{
	struct profile_counts counts;
	struct footprint_lines *lines;
	struct footprint *m;
	struct lens lens;

	profile_counts_read(p, &counts);
	made_lens(&lens, p, "");
	cr_assert_eq(footprint_new(p, &counts, &lens, (struct metric){ .event = { 0 } }, NULL, &m),
		     0);
	cr_assert_eq(footprint_lines_new(m, span, NULL, NULL, &lines), 0);
	for (uint32_t i = 0; i < n_slots; i++)
		n[i] = lines->slot[i].n_allocated;
	footprint_lines_free(lines);
	footprint_free(m);
	lens_done(&lens);
	profile_free(p);
}

/* What comes and goes as often all the time seems to: sums are of all of their slot, not of the moment at which it begins. */
Test(heap_fold, rates_stay_even)
{
	enum { SECONDS = 120, HZ = 100, COLS = 4 * SECONDS };
	static const struct build_folding folding = { .keep_ns = 10 * SECOND,
						      .n_blocks = 1 << 10,
						      .n_sums = 1 << 10 };
	struct time_span span = { 0, SECONDS * SECOND, COLS, 0 };
	struct life l;
	uint64_t n[COLS];

	begin(&l, 1, 1, 0, &folding);
	for (uint32_t second = 0; second < SECONDS; second++)
		come_and_go(&l, HZ, SECOND / HZ);
	cr_expect_gt(l.n_folds, 3u);
	count_allocated(l.p, &span, COLS, n);
	for (uint32_t i = 0; i < COLS; i++)
		cr_expect_leq(n[i], 2u * HZ * SECONDS / COLS, "slot %u: %lu", i,
			      (unsigned long)n[i]);
}

/* More origins than sums there may be: wider slots make no fewer, and of each block a part is in every slot that its time has. */
Test(heap_fold, rates_of_many_origins_stay)
{
	enum { SECONDS = 30, HZ = 256, COLS = 4 * SECONDS };
	static const struct build_folding folding = { .keep_ns = 60 * SECOND,
						      .n_blocks = 1 << 12,
						      .n_sums = 2 };
	struct time_span span = { 0, SECONDS * SECOND, COLS, 0 };
	uint64_t n[COLS], n_allocated = 0;
	struct life l;

	begin(&l, 1, 1, 2, &folding);
	for (uint32_t second = 0; second < SECONDS; second++)
		come_and_go(&l, HZ, SECOND / HZ);
	cr_expect_gt(l.n_folds, 0u);
	count_allocated(l.p, &span, COLS, n);
	for (uint32_t i = 0; i < COLS; i++)
		n_allocated += n[i];
	/* A fourth is of the other event, see begin(). */
	cr_expect_gt(n_allocated, HZ * SECONDS * 11u / 16, "%lu of %d", (unsigned long)n_allocated,
		     HZ * SECONDS);
}

/* Graphs of what comes and goes as often all the time. */
enum { EVEN_SECONDS = 40, EVEN_HZ = 2000, EVEN_RING = 300, EVEN_SIZE = 512, EVEN_COLS = 110 };

static uint32_t come_round(struct life *l, uint32_t i)
{
	return build_allocation(l->p, l->track[0], EVEN_SIZE, make_origin(l, 0, i % 2)).v;
}

/* A ring of blocks of which one goes and one comes at a time, in turn or by lot; nearly all live for less than a slot. */
static void go_round(struct life *l, bool by_lot)
{
	const uint32_t step = EVEN_HZ / 4;

	builder_begin(l->p);
	build_moment(l->p, l->track[0], l->now_ns);
	for (uint32_t i = 0; i < EVEN_RING; i++)
		l->block[i] = come_round(l, i);
	cr_assert_eq(builder_end(l->p), 0);
	for (uint32_t i = 0; i < EVEN_SECONDS * EVEN_HZ; i++) {
		uint32_t at = by_lot ? made_number(&l->state, EVEN_RING) : i % EVEN_RING;

		if (i % step == 0) {
			builder_begin(l->p);
			fold(l);
		}
		build_moment(l->p, l->track[0], l->now_ns += SECOND / EVEN_HZ);
		build_release(l->p, (allocation_id){ l->block[at] }, l->track[0], true,
			      (origin_id){ ID_NONE });
		l->block[at] = come_round(l, i);
		if (i % step == step - 1)
			cr_assert_eq(builder_end(l->p), 0);
	}
}

/* Columns, without the first ones, in which the ring is made, and the last ones, are within a twelfth of what they are on average. */
static void expect_even(const char *what, const int64_t *column, uint32_t n)
{
	double sum = 0, mean;
	uint32_t from = n / 20 + 1, to = n - n / 20 - 1;

	for (uint32_t i = from; i < to; i++)
		sum += (double)column[i];
	mean = sum / (to - from);
	cr_expect_gt(mean, 0, "%s", what);
	for (uint32_t i = from; i < to; i++)
		cr_expect(fabs((double)column[i] - mean) < mean / 12,
			  "%s, column %u: %ld, on average %.0f", what, i, (long)column[i], mean);
}

static int64_t sum_of(const int64_t *column, uint32_t n)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += column[i];
	return sum;
}

/* The strip of activity and the rows of threads, of a measure. */
static void expect_even_slices(const struct life *l, enum measure measure, const char *what)
{
	struct analysis *a;
	struct activity act;
	struct lens lens;

	made_lens(&lens, l->p, "");
	lens.column[0].metric = (struct metric){ { 0 }, measure, false };
	a = made_analysis(l->p, &lens);
	expect_even(what, a->weights.slice, WEIGH_N_SLICES);
	cr_assert_eq(
		activity_of_threads(l->p, &a->counts, &lens, &a->weights, EVEN_COLS, NULL, &act),
		0);
	expect_even(what, act.row[0].slice, act.n_slices);
	if (!measure_is_level(measure)) {
		cr_expect_eq(sum_of(a->weights.slice, WEIGH_N_SLICES), a->weights.total[0], "%s",
			     what);
		cr_expect_eq(sum_of(act.row[0].slice, act.n_slices), a->weights.total[0], "%s",
			     what);
	}
	activity_done(&act);
	analysis_free(a);
	lens_done(&lens);
}

/* The graphs of the memory view. */
static void expect_even_lines(const struct life *l, const char *what)
{
	enum { N_WENT = EVEN_SECONDS * EVEN_HZ, N_CAME = N_WENT + EVEN_RING };
	struct time_span span = { 0, EVEN_SECONDS * SECOND + 1, EVEN_COLS, 0 };
	int64_t of[6][EVEN_COLS];
	struct profile_counts counts;
	struct footprint_lines *lines;
	struct footprint *m;
	struct lens lens;

	profile_counts_read(l->p, &counts);
	made_lens(&lens, l->p, "");
	cr_assert_eq(
		footprint_new(l->p, &counts, &lens, (struct metric){ .event = { 0 } }, NULL, &m),
		0);
	cr_assert_eq(footprint_lines_new(m, &span, NULL, NULL, &lines), 0);
	for (uint32_t i = 0; i < EVEN_COLS; i++) {
		const struct footprint_slot *slot = &lines->slot[i];

		of[0][i] = slot->allocated;
		of[1][i] = slot->freed;
		of[2][i] = (int64_t)slot->n_allocated;
		of[3][i] = (int64_t)slot->n_freed;
		of[4][i] = slot->live;
		of[5][i] = slot->most;
	}
	for (size_t i = 0; i < 6; i++)
		expect_even(what, of[i], EVEN_COLS);
	cr_expect_eq(sum_of(of[0], EVEN_COLS), (int64_t)N_CAME * EVEN_SIZE);
	cr_expect_eq(sum_of(of[1], EVEN_COLS), (int64_t)N_WENT * EVEN_SIZE);
	cr_expect_eq(sum_of(of[2], EVEN_COLS), N_CAME);
	cr_expect_eq(sum_of(of[3], EVEN_COLS), N_WENT);
	footprint_lines_free(lines);
	footprint_free(m);
	lens_done(&lens);
}

/*
 * However much is folded, graphs of what is even are: sums, and blocks that stay as they were there at a border of slots, are of all of
 * their slot, and what is there is told at borders alone. All parts together are the whole.
 */
Test(heap_fold, graphs_stay_even)
{
	static const struct {
		const char *what;
		struct build_folding folding;
	} cases[] = {
		{ "narrow slots",
		  { .keep_ns = 30 * SECOND, .n_blocks = 1 << 12, .n_sums = 1 << 14 } },
		{ "old ones", { .keep_ns = 4 * SECOND, .n_blocks = 1 << 12, .n_sums = 1 << 14 } },
		{ "wide ones", { .keep_ns = 8 * SECOND, .n_blocks = 1 << 13, .n_sums = 1 << 10 } },
	};
	static const enum measure measures[] = { MEASURE_WEIGHT,    MEASURE_SAMPLES, MEASURE_FREED,
						 MEASURE_TEMPORARY, MEASURE_LIVE,    MEASURE_PEAK };

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct heap_columns h;
		struct life l;

		begin(&l, 1, 1, 0, &cases[i / 2].folding);
		go_round(&l, i % 2);
		cr_expect_gt(l.n_folds, 3u);
		profile_heap(l.p, &h);
		cr_expect_gt(h.n_counted, EVEN_SECONDS * EVEN_HZ / 2u, "%s", cases[i / 2].what);
		for (size_t k = 0; k < sizeof(measures) / sizeof(measures[0]); k++)
			expect_even_slices(&l, measures[k], cases[i / 2].what);
		expect_even_lines(&l, cases[i / 2].what);
		profile_free(l.p);
	}
}

/* Three hundred thousand blocks, hardly one of a stack that came before: stacks, origins and sums are never more than a number that is fixed. */
Test(heap_fold, stacks_that_never_come_again_do_not_add_up, .timeout = 600)
{
	enum { N = 300000, BATCH = 500, CALLERS = 5, ROWS = 1 << 14, STACKS = 1 << 13 };
	static const struct build_folding folding = {
		.keep_ns = 70 * SECOND, .n_stacks = STACKS, .n_blocks = ROWS, .n_sums = ROWS
	};
	struct held most = { 0 };
	struct heap_columns h;
	struct life l;

	begin(&l, 1, N_TRACKS, CALLERS, &folding);
	for (uint32_t i = 0; i < N; i += BATCH) {
		come_and_go(&l, BATCH, SECOND / 2000);
		hold_most(&most, &l);
	}
	profile_heap(l.p, &h);
	cr_expect_leq(most.n_stacks, 2u * STACKS, "%u stacks", most.n_stacks);
	cr_expect_leq(most.n_origins, 2u * STACKS, "%u origins", most.n_origins);
	cr_expect_leq(most.n_bulk, 2u * ROWS, "%u sums", most.n_bulk);
	cr_expect_leq(most.n_rows, ROWS, "%u rows", most.n_rows);
	cr_expect_eq(h.n_counted + h.n_allocations, (uint64_t)N);
	profile_free(l.p);
}

/* Tenths of a second, at the beginning of which something happens all at once. */
#define TENTHS   10
#define BURST_NS 1000

/* The most memory that minutes take in which somebody looks every other second. */
static uint64_t watch_minutes(struct life *l, const struct lens *lens, int n, uint32_t hz)
{
	struct analysis *shown = NULL, *next;

	flat_most_bytes();
	for (int second = 0; second < n * 60; second++) {
		for (uint32_t i = 0; i < TENTHS; i++) {
			come_and_go(l, hz / TENTHS, BURST_NS);
			l->now_ns += SECOND / TENTHS - hz / TENTHS * BURST_NS;
		}
		if (second % 2 == 0)
			continue;
		/* What is on the screen stays until the next is there. */
		next = made_analysis(l->p, lens);
		analysis_free(shown);
		shown = next;
	}
	analysis_free(shown);
	return flat_most_bytes();
}

/*
 * As live keeps them: what the tenth minute takes at any moment, a fold's included, is what the third took. Of few stacks and of many, and
 * of so few blocks that ten minutes' were no more than live has of a busy program.
 */
Test(heap_fold, the_tenth_minute_takes_what_the_third_took, .timeout = 600)
{
	static const struct {
		const char *what;
		uint32_t hz, n_callers;
	} cases[] = { { "few stacks", 2000, 1 },
		      { "few blocks", 460, 1 },
		      { "more stacks than are kept", 2000, 3 } };

	/* Sanitizers do not tell memory: the minutes between are like those before and after. */
	const int between = IS_SANITIZED ? 0 : 6;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct heap_columns h;
		uint64_t third, tenth;
		struct lens lens;
		struct life l;

		begin(&l, 1, 1, cases[i].n_callers, build_folding_live());
		made_lens(&lens, l.p, "");
		lens.column[0].metric = (struct metric){ { 0 }, MEASURE_LIVE, false };
		watch_minutes(&l, &lens, 2, cases[i].hz);
		third = watch_minutes(&l, &lens, 1, cases[i].hz);
		watch_minutes(&l, &lens, between, cases[i].hz);
		tenth = watch_minutes(&l, &lens, 1, cases[i].hz);
		flat_expect(third, tenth, 10, cases[i].what);
		profile_heap(l.p, &h);
		cr_expect_eq(h.n_counted + h.n_allocations,
			     (uint64_t)(4 + between) * 60 * cases[i].hz);
		lens_done(&lens);
		profile_free(l.p);
	}
}
