/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks stand in the order of their numbers. A block says how many moments of its track later than the one before it it began, and how many
 * moments it lived. A reader tells the model moment by moment, so that what happened at one stays together.
 */
#include "config.h"

#include "formats/pack/pack_heap.h"

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"

#include <stdlib.h>
#include <string.h>

/* Moments of a track without a block of their own that a reader allows: what was only counted makes such. */
#define FREE_MOMENTS UINT64_C(1000000)

/* Writing. */

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static void put_time(pack_bytes *b, int64_t ns)
{
	pack_put(b, ns != TIME_NONE);
	if (ns != TIME_NONE)
		pack_put_signed(b, ns);
}

static void put_track(pack_bytes *b, const struct heap_track *t)
{
	struct heap_tick before = { 0 };

	pack_put(b, t->process.v);
	pack_put(b, (t->attached ? 1u : 0) | (t->lives_on ? 2u : 0));
	pack_put_signed(b, t->culled_ns);
	pack_put(b, t->lacks);
	put_time(b, t->gone_ns);
	pack_put(b, t->n_rates);
	for (uint32_t i = 0; i < t->n_rates; i++) {
		pack_put(b, t->rate[i].moment);
		pack_put(b, bits_of(t->rate[i].sample_bytes));
		pack_put(b, t->rate[i].exact_from);
	}
	pack_put(b, t->n_ticks);
	for (uint32_t i = 0; i < t->n_ticks; i++) {
		pack_put(b, t->tick[i].moment - before.moment);
		pack_put_signed(b, t->tick[i].time_ns - before.time_ns);
		before = t->tick[i];
	}
	pack_put(b, t->n_moments);
}

static void put_origins(pack_bytes *b, const struct heap_columns *c)
{
	pack_put(b, c->n_origins);
	for (uint32_t i = 0; i < c->n_origins; i++) {
		const struct heap_origin *o = &c->origins[i];

		pack_put(b, o->stack);
		pack_put(b, o->thread == ID_NONE ? 0 : o->thread + 1u);
		pack_put(b, o->event);
		pack_put(b, o->track);
		pack_put(b, o->flags);
	}
}

static void put_blocks(pack_bytes *b, const struct heap_columns *c, const struct heap_track *tracks)
{
	uint32_t *before = xcalloc(c->n_tracks + 1u, sizeof(*before));

	pack_put(b, c->n_allocations);
	for (uint32_t i = 0; i < c->n_allocations; i++)
		pack_put(b, allocation_origin(c, i));
	for (uint32_t i = 0; i < c->n_allocations; i++) {
		uint16_t track = c->origins[allocation_origin(c, i)].track;

		pack_put(b, allocation_begin(c, i) - before[track]);
		before[track] = allocation_begin(c, i);
	}
	for (uint32_t i = 0; i < c->n_allocations; i++) {
		uint16_t track = c->origins[allocation_origin(c, i)].track;
		uint32_t end = allocation_end(c, i, tracks[track].n_moments);
		uint64_t lived = (end & END_MOMENT) - allocation_begin(c, i);

		pack_put(b,
			 end == END_NEVER ? 0 : (lived << 1 | (end & END_TEMPORARY ? 1 : 0)) + 1);
	}
	for (uint32_t i = 0; i < c->n_allocations; i++)
		pack_put(b, allocation_size(c, i));
	pack_put(b, c->release != NULL);
	for (uint32_t i = 0; c->release && i < c->n_allocations; i++)
		pack_put(b,
			 allocation_release(c, i) == ID_NONE ? 0 : allocation_release(c, i) + 1u);
	free(before);
}

static void put_bulk(pack_bytes *b, const struct heap_columns *c)
{
	pack_put(b, c->n_bulk);
	for (uint32_t i = 0; i < c->n_bulk; i++) {
		pack_put(b, c->bulk[i].origin);
		pack_put(b, c->bulk[i].moment);
		pack_put(b, c->bulk[i].until);
		pack_put(b, c->bulk[i].calls);
		pack_put(b, c->bulk[i].bytes);
		pack_put(b, c->bulk[i].temporary);
	}
}

static void put_name(pack_bytes *b, const struct profile *p, string_id id)
{
	size_t n;
	const char *s = profile_string(p, id, &n);

	pack_put_text(b, s, n);
}

static void put_series(pack_bytes *b, const struct profile *p, const struct heap_columns *c)
{
	const struct heap_reading *readings = profile_heap_readings(p);
	const struct heap_mark *marks = profile_heap_marks(p);

	pack_put(b, c->n_series);
	for (uint32_t i = 0; i < c->n_series; i++) {
		const struct heap_series *s = profile_heap_series(p, (series_id){ i });

		put_name(b, p, s->name);
		pack_put(b, s->unit);
	}
	pack_put(b, c->n_readings);
	for (uint32_t i = 0; i < c->n_readings; i++) {
		pack_put(b, readings[i].series);
		pack_put_signed(b, readings[i].time_ns);
		pack_put_signed(b, readings[i].value);
	}
	pack_put(b, c->n_marks);
	for (uint32_t i = 0; i < c->n_marks; i++) {
		put_name(b, p, marks[i].name);
		pack_put(b, marks[i].thread == ID_NONE ? 0 : marks[i].thread + 1u);
		pack_put_signed(b, marks[i].time_ns);
	}
}

bool pack_heap_put(const struct profile *p, const struct profile_counts *counts, pack_bytes *body)
{
	struct heap_track *tracks;
	struct heap_columns c;

	profile_heap_of(p, counts, &c);
	if (c.n_tracks == 0 && c.n_series == 0 && c.n_marks == 0)
		return false;
	tracks = xcalloc(c.n_tracks + 1u, sizeof(*tracks));
	pack_put(body, c.n_tracks);
	for (uint32_t i = 0; i < c.n_tracks; i++) {
		tracks[i] = profile_heap_track_of(p, counts, (track_id){ i });
		put_track(body, &tracks[i]);
	}
	put_origins(body, &c);
	put_blocks(body, &c, tracks);
	put_bulk(body, &c);
	put_series(body, p, &c);
	free(tracks);
	return true;
}

/* Reading. */

/* A release that is due. */
struct due {
	uint32_t moment, allocation;
	uint32_t by; /* origin in the file + 1; 0: not recorded */
	bool temporary;
};

struct track {
	track_id id;
	VEC(struct heap_rate) rates;
	VEC(struct heap_tick) ticks;
	size_t rate, tick; /* the next ones */
	int64_t gone_ns;
	bool lives_on;
	uint64_t n_moments, built; /* in all, and so far */
	VEC(struct due) due;       /* a heap by moment, then by allocation */
};

struct taker {
	const struct pack_heap *h;
	struct bytes *b;
	VEC(struct track) tracks;
	VEC(uint32_t) origins;   /* origin_id of each in the file */
	VEC(uint16_t) of_origin; /* track of each, in the file */
};

static uint32_t take_below(struct taker *t, const uint32_t *table, size_t n)
{
	uint32_t i = pack_take_below(t->b, n);

	return n > 0 ? table[i] : 0;
}

static uint32_t take_thread(struct taker *t)
{
	uint32_t i = pack_take_below(t->b, (uint64_t)t->h->n_threads + 1);

	return i > 0 ? t->h->threads[i - 1] : ID_NONE;
}

static double take_rate(struct taker *t)
{
	uint64_t bits = pack_take(t->b);
	double v;

	memcpy(&v, &bits, sizeof(v));
	if (!(v >= 0 && v <= (double)SAMPLE_BYTES_MOST)) {
		t->b->bad = true;
		return 0;
	}
	return v;
}

static void take_rates(struct taker *t, struct track *track)
{
	uint64_t n = pack_take_count(t->b);

	for (uint64_t i = 0; i < n && !t->b->bad; i++) {
		struct heap_rate r = { .moment = pack_take_below(t->b, END_MOMENT) };

		r.sample_bytes = take_rate(t);
		r.exact_from = pack_take(t->b);
		if (i > 0 && r.moment < track->rates.at[i - 1].moment)
			t->b->bad = true;
		vec_push(&track->rates, r);
	}
}

static void take_ticks(struct taker *t, struct track *track)
{
	uint64_t n = pack_take_count(t->b), moment = 0, time = 0;

	for (uint64_t i = 0; i < n && !t->b->bad; i++) {
		moment += pack_take_below(t->b, END_MOMENT);
		time += (uint64_t)pack_take_signed(t->b);
		t->b->bad |= moment > END_MOMENT;
		vec_push(&track->ticks, ((struct heap_tick){ (uint32_t)moment, (int64_t)time }));
	}
}

static void take_track(struct taker *t)
{
	process_id process = { take_below(t, t->h->processes, t->h->n_processes) };
	uint32_t flags = pack_take_below(t->b, 4);
	int64_t culled = pack_take_signed(t->b);
	uint32_t lacks = pack_take_below(t->b, UINT32_MAX);
	struct track track = { .gone_ns = TIME_NONE };
	struct heap_rate first = { 0 };

	if (pack_take_below(t->b, 2))
		track.gone_ns = pack_take_signed(t->b);
	track.lives_on = flags & 2;
	take_rates(t, &track);
	take_ticks(t, &track);
	track.n_moments = pack_take_below(t->b, END_MOMENT);
	t->b->bad |= t->h->n_processes == 0 || track.rates.n == 0 || track.rates.at[0].moment != 0;
	if (!t->b->bad) {
		first = track.rates.at[0];
		track.rate = 1;
		track.id = build_heap_track(t->h->p, process, first.sample_bytes, first.exact_from);
		build_heap_manner(t->h->p, track.id, flags & 1, culled);
		build_heap_lacks(t->h->p, track.id, lacks);
	}
	vec_push(&t->tracks, track);
}

static void take_origins(struct taker *t)
{
	uint64_t n = pack_take_count(t->b);

	for (uint64_t i = 0; i < n && !t->b->bad; i++) {
		struct heap_origin o = { .stack = take_below(t, t->h->stacks, t->h->n_stacks) };
		uint32_t track;

		o.thread = take_thread(t);
		o.event = (uint16_t)take_below(t, t->h->events, t->h->n_events);
		track = pack_take_below(t->b, t->tracks.n);
		o.flags = pack_take_below(t->b, 8);
		t->b->bad |= t->h->n_events == 0 || t->h->n_stacks == 0 || track > UINT16_MAX ||
			     !profile_event(t->h->p, (event_id){ o.event })->is_heap;
		if (t->b->bad)
			return;
		o.track = (uint16_t)t->tracks.at[track].id.v;
		vec_push(&t->origins, build_heap_origin(t->h->p, &o).v);
		vec_push(&t->of_origin, (uint16_t)track);
	}
}

/* The heap of what is due. */

static bool is_before(const struct due *a, const struct due *b)
{
	return a->moment != b->moment ? a->moment < b->moment : a->allocation < b->allocation;
}

static void push_due(struct track *track, struct due d)
{
	size_t i = track->due.n;

	vec_push(&track->due, d);
	while (i > 0 && is_before(&d, &track->due.at[(i - 1) / 2])) {
		track->due.at[i] = track->due.at[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	track->due.at[i] = d;
}

static struct due pop_due(struct track *track)
{
	struct due top = track->due.at[0], last = track->due.at[--track->due.n];
	size_t i = 0, n = track->due.n;

	while (2 * i + 1 < n) {
		size_t c = 2 * i + 1;

		c += c + 1 < n && is_before(&track->due.at[c + 1], &track->due.at[c]);
		if (!is_before(&track->due.at[c], &last))
			break;
		track->due.at[i] = track->due.at[c];
		i = c;
	}
	if (n > 0)
		track->due.at[i] = last;
	return top;
}

/* Goes on until so many moments of the track have begun, with what is released meanwhile. */
static void go_on(struct taker *t, struct track *track, uint64_t until)
{
	while (track->built < until) {
		uint32_t moment = (uint32_t)track->built++;

		while (track->rate < track->rates.n &&
		       track->rates.at[track->rate].moment <= moment) {
			build_heap_rate(t->h->p, track->id,
					track->rates.at[track->rate].sample_bytes,
					track->rates.at[track->rate].exact_from);
			track->rate++;
		}
		while (track->tick < track->ticks.n &&
		       track->ticks.at[track->tick].moment <= moment)
			track->tick++;
		build_moment(t->h->p, track->id,
			     track->tick > 0 ? track->ticks.at[track->tick - 1].time_ns : 0);
		while (track->due.n > 0 && track->due.at[0].moment <= moment) {
			struct due d = pop_due(track);
			origin_id by = { d.by ? t->origins.at[d.by - 1] : ID_NONE };

			build_release(t->h->p, (allocation_id){ d.allocation }, track->id,
				      d.temporary, by);
		}
	}
}

/* Columns of blocks, as cursors: each block's numbers stand in five places. */
struct block_columns {
	struct bytes origin, begin, end, size, release;
	bool released;
};

/* A cursor over so many numbers, behind which the next column begins. */
static struct bytes column(struct taker *t, uint64_t n)
{
	struct bytes begin = *t->b;

	for (uint64_t i = 0; i < n && !t->b->bad; i++)
		pack_take(t->b);
	return begin;
}

static void take_block(struct taker *t, struct block_columns *c, uint64_t *began)
{
	uint32_t origin = pack_take_below(&c->origin, t->origins.n);
	uint64_t delta = pack_take(&c->begin), end = pack_take(&c->end), size = pack_take(&c->size);
	uint32_t by = c->released ? pack_take_below(&c->release, (uint64_t)t->origins.n + 1) : 0;
	struct track *track;
	allocation_id a;
	uint64_t begin;

	t->b->bad |= c->origin.bad || c->release.bad || t->origins.n == 0 || size > SIZE_MOST;
	if (t->b->bad)
		return;
	track = &t->tracks.at[t->of_origin.at[origin]];
	begin = began[t->of_origin.at[origin]] += delta <= END_MOMENT ? delta : END_MOMENT;
	t->b->bad |= begin >= track->n_moments || delta > END_MOMENT || end >> 33 != 0 ||
		     (size >= SIZE_LARGE && !build_heap_claim(t->h->p, size));
	if (t->b->bad)
		return;
	go_on(t, track, begin + 1);
	a = build_allocation(t->h->p, track->id, size, (origin_id){ t->origins.at[origin] });
	if (end == 0 || a.v == ID_NONE)
		return;
	end--;
	if (begin + (end >> 1) >= track->n_moments)
		t->b->bad = true;
	else if (end >> 1 == 0)
		build_release(t->h->p, a, track->id, end & 1,
			      (origin_id){ by ? t->origins.at[by - 1] : ID_NONE });
	else
		push_due(track, (struct due){ (uint32_t)(begin + (end >> 1)), a.v, by, end & 1 });
}

static void take_blocks(struct taker *t)
{
	uint64_t n = pack_take_count(t->b), moments = 0;
	uint64_t *began = xcalloc(t->tracks.n + 1, sizeof(*began));
	struct block_columns c = { .origin = column(t, n) };

	c.begin = column(t, n);
	c.end = column(t, n);
	c.size = column(t, n);
	c.released = pack_take_below(t->b, 2);
	c.release = column(t, c.released ? n : 0);
	for (size_t i = 0; i < t->tracks.n; i++)
		moments += t->tracks.at[i].n_moments;
	/* a block begins and ends at a moment each: more moments would be nothing but time to be spent */
	t->b->bad |= moments > 2 * n + FREE_MOMENTS;
	for (uint64_t i = 0; i < n && !t->b->bad; i++)
		take_block(t, &c, began);
	for (size_t i = 0; i < t->tracks.n && !t->b->bad; i++)
		go_on(t, &t->tracks.at[i], t->tracks.at[i].n_moments);
	free(began);
}

static void take_bulk(struct taker *t)
{
	uint64_t n = pack_take_count(t->b);

	for (uint64_t i = 0; i < n && !t->b->bad; i++) {
		struct heap_bulk bulk = { .origin = take_below(t, t->origins.at, t->origins.n) };

		bulk.moment = pack_take_below(t->b, END_MOMENT);
		bulk.until = pack_take_below(t->b, END_MOMENT);
		bulk.calls = pack_take_below(t->b, UINT32_MAX);
		bulk.bytes = pack_take(t->b);
		bulk.temporary = pack_take_below(t->b, UINT32_MAX);
		t->b->bad |= t->origins.n == 0 || bulk.temporary > bulk.calls;
		if (!t->b->bad && build_heap_claim(t->h->p, bulk.bytes))
			build_bulk(t->h->p, &bulk);
	}
}

static char *take_name(struct taker *t)
{
	uint64_t n = pack_take_count(t->b);
	const uint8_t *s = take_bytes(t->b, (size_t)n);

	return s ? xstrndup((const char *)s, (size_t)n) : xstrdup("");
}

static void take_series(struct taker *t)
{
	uint64_t n = pack_take_count(t->b);
	VEC(uint32_t) series = { 0 };

	for (uint64_t i = 0; i < n && !t->b->bad; i++) {
		char *name = take_name(t);
		enum unit unit = (enum unit)pack_take_below(t->b, UNIT_BYTES + 1);

		vec_push(&series, build_heap_series(t->h->p, t->h->capture, name, unit).v);
		free(name);
	}
	n = pack_take_count(t->b);
	for (uint64_t i = 0; i < n && !t->b->bad; i++) {
		series_id s = { take_below(t, series.at, series.n) };
		int64_t time = pack_take_signed(t->b), value = pack_take_signed(t->b);

		t->b->bad |= series.n == 0;
		if (!t->b->bad)
			build_heap_reading(t->h->p, s, time, value);
	}
	vec_done(&series);
}

static void take_marks(struct taker *t)
{
	uint64_t n = pack_take_count(t->b);

	for (uint64_t i = 0; i < n && !t->b->bad; i++) {
		struct heap_mark m = { .capture = t->h->capture };
		char *name = take_name(t);

		m.name = build_cstring(t->h->p, name);
		m.thread = take_thread(t);
		m.time_ns = pack_take_signed(t->b);
		if (!t->b->bad)
			build_heap_mark(t->h->p, &m);
		free(name);
	}
}

static void end_tracks(struct taker *t)
{
	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct track *track = &t->tracks.at[i];

		if (track->gone_ns != TIME_NONE)
			build_heap_gone(t->h->p, track->id, track->gone_ns);
		if (track->lives_on)
			build_heap_lives_on(t->h->p, track->id);
	}
}

void pack_heap_take(const struct pack_heap *h, struct bytes *b)
{
	struct taker t = { .h = h, .b = b };
	uint64_t n = pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++)
		take_track(&t);
	take_origins(&t);
	if (!b->bad)
		take_blocks(&t);
	if (!b->bad) {
		end_tracks(&t);
		take_bulk(&t);
		take_series(&t);
		take_marks(&t);
	}
	for (size_t i = 0; i < t.tracks.n; i++) {
		vec_done(&t.tracks.at[i].rates);
		vec_done(&t.tracks.at[i].ticks);
		vec_done(&t.tracks.at[i].due);
	}
	vec_done(&t.tracks);
	vec_done(&t.origins);
	vec_done(&t.of_origin);
}
