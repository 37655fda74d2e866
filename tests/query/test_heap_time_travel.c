/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time travel: what a heap was at instants by lot, whatever the filter, against a replay of all that happened. */
#include "config.h"

#include "base/mem.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/core/aggregate.h"
#include "query/core/analysis_cache.h"
#include "query/core/heap_sums_cache.h"
#include "query/heap/footprint.h"
#include "tests/support/made_profile.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A filter, as text and as the replay knows it; times are since the first deed. */
struct question {
	char filter[96];
	int64_t from_ns, to_ns; /* allocated in */
	uint64_t from_size;     /* at least so large */
	uint32_t stack_of_3;    /* stacks that stand there of three: f0, f0 f1, f0 f1 f2; 3: all */
	bool leaked, not_temporary;
	int64_t cursor_ns;
};

static int64_t since(const struct story *s, uint32_t deed)
{
	return s->deed[deed].time_ns - s->deed[0].time_ns;
}

static bool passes(const struct story *s, const struct question *q, const struct block *b)
{
	int64_t born = since(s, b->born);

	return born >= q->from_ns && born < q->to_ns && b->size >= q->from_size &&
	       (q->stack_of_3 == 3 || b->stack % 3 >= q->stack_of_3) &&
	       (!q->leaked || b->died == UINT32_MAX) && (!q->not_temporary || !b->temporary);
}

/* What a footprint says in all. */
struct answer {
	int64_t live, peak, bytes, calls, temporary, leaked, whole;
};

static struct answer replay(const struct story *s, const struct question *q)
{
	struct answer a = { 0 };
	int64_t now = 0;

	for (uint32_t i = 0; i < STORY_DEEDS; i++) {
		const struct deed *d = &s->deed[i];
		const struct block *b = &s->block[d->block];
		int64_t size = (int64_t)b->size;

		a.whole += d->frees ? 0 : size;
		if (!passes(s, q, b))
			continue;
		now += d->frees ? -size : size;
		a.peak = now > a.peak ? now : a.peak;
		if (since(s, i) < q->cursor_ns)
			a.live = now;
		if (d->frees)
			continue;
		a.calls++;
		a.bytes += size;
		a.temporary += b->temporary;
		a.leaked += b->died == UINT32_MAX ? size : 0;
	}
	return a;
}

static void add_term(struct question *q, const char *term)
{
	size_t n = strlen(q->filter);

	snprintf(q->filter + n, sizeof(q->filter) - n, "%s%s", n ? " " : "", term);
}

/* By lot: often the same filter as before, at another instant. */
static void ask(struct question *q, unsigned *lot, int64_t whole)
{
	char term[64];

	q->cursor_ns = 1 + made_number(lot, (unsigned)whole);
	if (made_number(lot, 3) > 0)
		return;
	*q = (struct question){ .to_ns = INT64_MAX, .stack_of_3 = 3, .cursor_ns = q->cursor_ns };
	if (made_number(lot, 2)) {
		q->from_ns = made_number(lot, (unsigned)whole);
		q->to_ns = q->from_ns + made_number(lot, (unsigned)whole);
		snprintf(term, sizeof(term), "time:%ldns,%ldns", (long)q->from_ns, (long)q->to_ns);
		add_term(q, term);
	}
	if (made_number(lot, 3) == 0) {
		q->from_size = made_number(lot, 1000);
		snprintf(term, sizeof(term), "size:%ld,", (long)q->from_size);
		add_term(q, term);
	}
	if (made_number(lot, 3) == 0) {
		q->stack_of_3 = made_number(lot, 3);
		snprintf(term, sizeof(term), "depth:%u-9", q->stack_of_3 + 1);
		add_term(q, term);
	}
	q->leaked = made_number(lot, 8) == 0;
	if (q->leaked)
		add_term(q, "block:leaked");
	q->not_temporary = made_number(lot, 8) == 0;
	if (q->not_temporary)
		add_term(q, "!block:temporary");
}

static struct answer answer_of(const struct profile *p, const struct question *q,
			       const struct analysis_cache *cache)
{
	struct profile_counts counts;
	struct footprint *f;
	struct weights w;
	struct lens l;
	struct answer a;

	profile_counts_read(p, &counts);
	made_lens(&l, p, q->filter);
	l.cursor_ns = q->cursor_ns;
	l.cache = cache;
	l.column[0].metric = lens_usual_metric(p, NULL);
	cr_assert_eq(footprint_weigh(p, &counts, &l, NULL, &w, &f), 0);
	a = (struct answer){ f->total[FOOTPRINT_LIVE],
			     f->total[FOOTPRINT_PEAK],
			     f->total[FOOTPRINT_BYTES],
			     f->total[FOOTPRINT_CALLS],
			     f->total[FOOTPRINT_TEMPORARY],
			     f->total[FOOTPRINT_LEAKED],
			     0 };
	footprint_free(f);
	weights_done(&w);
	/* What shares are of: all bytes, whatever the filter leaves. */
	l.column[0].metric.measure = MEASURE_WEIGHT;
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	a.whole = w.whole[0];
	weights_done(&w);
	lens_done(&l);
	return a;
}

Test(heap_time_travel, any_instant_of_any_filter_is_a_replay)
{
	unsigned lot = 7;

	for (unsigned seed = 1; seed < 6; seed++) {
		struct story *s = story_new(seed);
		struct heap_sums_cache *kept = heap_sums_cache_new();
		const struct analysis_cache cache = { .heap = kept };
		struct question q = { .to_ns = INT64_MAX, .stack_of_3 = 3 };

		for (int i = 0; i < 200; i++) {
			struct answer is, want;

			ask(&q, &lot, since(s, STORY_DEEDS - 1));
			want = replay(s, &q);
			is = answer_of(s->p, &q, i % 4 ? &cache : NULL);
			cr_assert_eq(is.live, want.live, "%s at %ld: live %ld, not %ld", q.filter,
				     (long)q.cursor_ns, (long)is.live, (long)want.live);
			cr_assert_eq(is.peak, want.peak, "%s: peak %ld, not %ld", q.filter,
				     (long)is.peak, (long)want.peak);
			cr_assert_eq(is.bytes, want.bytes, "%s: bytes", q.filter);
			cr_assert_eq(is.calls, want.calls, "%s: calls", q.filter);
			cr_assert_eq(is.temporary, want.temporary, "%s: temporary", q.filter);
			cr_assert_eq(is.whole, want.whole, "%s: all %ld, not %ld", q.filter,
				     (long)is.whole, (long)want.whole);
			cr_assert_eq(is.leaked, want.leaked, "%s: leaked", q.filter);
		}
		heap_sums_cache_free(kept);
		story_free(s);
	}
}

#define LONG_ROWS 60000
#define STEP_NS   1000

/* Block i is allocated at step i. Of four, three are freed at once; the others never, or after 300 more. */
static bool is_brief(uint32_t i)
{
	return i % 4 > 0;
}

static bool is_left(uint32_t i)
{
	return i % 12 == 0;
}

static int64_t size_of(uint32_t i)
{
	return 16 + i * 7 % 1000;
}

static struct profile *long_heap(void)
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	allocation_id *block = xcalloc(LONG_ROWS, sizeof(*block));
	origin_id who[3];
	track_id t;

	builder_begin(p);
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, UINT64_MAX);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "a", "b", "c" };
		function_id f = build_function(p, build_cstring(p, names[i]), (module_id){ 0 }, 0,
					       (string_id){ 0 }, 0);

		o.stack = build_stack(p, (stack_id){ 0 }, build_symbol_location(p, f)).v;
		who[i] = build_heap_origin(p, &o);
	}
	for (uint32_t i = 0; i < LONG_ROWS; i++) {
		build_moment(p, t, i * STEP_NS);
		block[i] = build_allocation(p, t, (uint64_t)size_of(i), who[i % 3]);
		if (is_brief(i)) {
			build_moment(p, t, i * STEP_NS);
			build_release(p, block[i], t, true, (origin_id){ ID_NONE });
		}
		if (i >= 300 && !is_brief(i - 300) && !is_left(i - 300)) {
			build_moment(p, t, i * STEP_NS);
			build_release(p, block[i - 300], t, false, (origin_id){ ID_NONE });
		}
	}
	builder_end(p);
	free(block);
	return p;
}

/* The step at which it is freed; LONG_ROWS: never. */
static uint32_t death_of(uint32_t i)
{
	if (is_brief(i))
		return i;
	return is_left(i) || i + 300 >= LONG_ROWS ? LONG_ROWS : i + 300;
}

/* Terms of two steps, and what they say of a block. */
static bool term_holds(int term, uint32_t from, uint32_t to, uint32_t i)
{
	uint32_t death = death_of(i), lived = death - i;

	switch (term) {
	case 0:
		return i >= from && i < to;
	case 1:
		return death < LONG_ROWS && death >= from && death < to;
	case 2:
		return i < from && death >= from;
	case 3:
		return death < LONG_ROWS && lived >= from && lived < to;
	case 4:
		return is_brief(i);
	case 5:
		return death == LONG_ROWS;
	default:
		return size_of(i) >= from && size_of(i) < to;
	}
}

static void term_text(int term, uint32_t from, uint32_t to, char *out, size_t size)
{
	static const char *const kind[] = {
		"time", "freed", "alive", "lifetime", NULL, NULL, "size"
	};
	const char *unit = term == 6 ? "" : "us";

	if (term == 4 || term == 5)
		snprintf(out, size, "block:%s", term == 4 ? "temporary" : "leaked");
	else if (term == 2)
		snprintf(out, size, "alive:%uus,", from);
	else
		snprintf(out, size, "%s:%u%s,%u%s", kind[term], from, unit, to, unit);
}

/* Blocks of one of three sites, or of all (3), for which a term holds. */
static struct answer replay_long(int term, uint32_t from, uint32_t to, uint32_t site,
				 uint32_t cursor)
{
	struct answer a = { 0 };
	int64_t now = 0;

	for (uint32_t i = 0; i < LONG_ROWS; i++) {
		int64_t size = size_of(i);
		bool of = term_holds(term, from, to, i) && (site == 3 || i % 3 == site);
		uint32_t gone = i - 300;

		if (i == cursor)
			a.live = now;
		a.whole += size;
		a.calls += of;
		a.bytes += of ? size : 0;
		a.temporary += of && is_brief(i);
		now += of ? size : 0;
		a.peak = now > a.peak ? now : a.peak;
		now -= of && is_brief(i) ? size : 0;
		if (i >= 300 && !is_brief(gone) && !is_left(gone) &&
		    term_holds(term, from, to, gone) && (site == 3 || gone % 3 == site))
			now -= size_of(gone);
	}
	a.leaked = now;
	a.live = cursor < LONG_ROWS ? a.live : now;
	return a;
}

/* Long enough that most groups of rows lie between two moments that are looked at. */
Test(heap_time_travel, ranges_of_a_long_heap_are_a_replay)
{
	static const char *const sites[] = { " fn:^a$", " fn:^b$", " fn:^c$", "" };
	struct profile *p = long_heap();
	struct heap_sums_cache *kept = heap_sums_cache_new();
	const struct analysis_cache cache = { .heap = kept };
	unsigned lot = 3;

	for (int i = 0; i < 140; i++) {
		int term = i % 7;
		uint32_t most = term == 3 ? 400 : term == 6 ? 1000 : LONG_ROWS;
		uint32_t from = made_number(&lot, most), site = made_number(&lot, 4);
		uint32_t to = from + 1 + made_number(&lot, most - from);
		uint32_t cursor = 1 + made_number(&lot, LONG_ROWS);
		struct question q = { .cursor_ns = (int64_t)cursor * STEP_NS };
		struct answer is, want = replay_long(term, from, to, site, cursor);
		char text[64];

		term_text(term, from, to, text, sizeof(text));
		snprintf(q.filter, sizeof(q.filter), "%s%s", text, sites[site]);
		is = answer_of(p, &q, i % 4 ? &cache : NULL);
		cr_assert_arr_eq(&is, &want, sizeof(is),
				 "%s at %u: live %ld peak %ld bytes %ld calls %ld temporary %ld "
				 "leaked %ld of %ld; want %ld %ld %ld %ld %ld %ld of %ld",
				 q.filter, cursor, (long)is.live, (long)is.peak, (long)is.bytes,
				 (long)is.calls, (long)is.temporary, (long)is.leaked,
				 (long)is.whole, (long)want.live, (long)want.peak, (long)want.bytes,
				 (long)want.calls, (long)want.temporary, (long)want.leaked,
				 (long)want.whole);
	}
	heap_sums_cache_free(kept);
	profile_free(p);
}
