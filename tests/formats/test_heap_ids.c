/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which allocation is meant by an id of a heap trace, of threads that do anything by lot. */
#include "config.h"

#include "formats/heap_trace.h"

#include "base/err.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap.h"
#include "tests/support/made_heap.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* What threads do by lot, one at a time, and what must become of it. */
enum { LOT_THREADS = 3, LOT_EVENTS = 200000, LOT_BLOCK = 700, LOT_CHUNK = 1 << 10 };

struct lot {
	uint32_t seed;
	uint64_t base; /* in the trace ids are so much more */
	struct made_heap h;
	struct {
		struct heap_event e[LOT_BLOCK];
		size_t n;
		uint64_t first_id, next_id, fresh;
	} thread[LOT_THREADS];
	uint64_t n_chunks;
	uint32_t n_moments, n_rows;
	uint32_t *row_of;      /* [n_ids] of ids: a row, or one of those below */
	uint32_t *begin, *end; /* [n_rows] */
};

#define LOT_UNSEEN UINT32_MAX
#define LOT_EARLY  (UINT32_MAX - 1)
#define LOT_NOBODY (UINT32_MAX - 2)

static uint32_t draw(struct lot *l, uint32_t n)
{
	l->seed = l->seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)l->seed * n >> 32);
}

/* The thread's block is written, and its next one begins with a chunk of ids of its own. */
static void end_block(struct lot *l, uint32_t t)
{
	made_heap_events(&l->h, t + 1, l->base + l->thread[t].first_id, l->thread[t].e,
			 l->thread[t].n);
	l->thread[t].n = 0;
	l->thread[t].first_id = ++l->n_chunks * LOT_CHUNK + draw(l, 3);
	l->thread[t].next_id = l->thread[t].first_id;
}

static void draw_alloc(struct lot *l, uint32_t t, struct heap_event *e)
{
	uint64_t id = l->thread[t].next_id++;
	bool early = l->row_of[id] == LOT_EARLY;

	*e = (struct heap_event){ .op = HEAP_ALLOC,
				  .time = e->time,
				  .id = l->base + id,
				  .stack = 1 + draw(l, 3),
				  .size = draw(l, 500) };
	l->row_of[id] = l->n_rows;
	l->begin[l->n_rows] = l->n_moments++;
	l->end[l->n_rows++] = early ? l->n_moments++ : END_NEVER;
	l->thread[t].fresh = id;
}

/* Of what there is, was, or will be. */
static void draw_free(struct lot *l, uint32_t t, struct heap_event *e)
{
	uint64_t fresh = l->thread[t].fresh, id = fresh;
	uint32_t moment = l->n_moments++, *row;

	if (id == 0 || draw(l, 2))
		id = LOT_CHUNK + draw(l, (uint32_t)(l->n_chunks * LOT_CHUNK));
	if (draw(l, 200) == 0)
		id = l->thread[draw(l, LOT_THREADS)].next_id + draw(l, 2);
	*e = (struct heap_event){
		.op = HEAP_FREE, .time = e->time, .id = l->base + id, .stack = 1
	};
	row = &l->row_of[id];
	if (*row == LOT_UNSEEN)
		*row = LOT_EARLY;
	else if (*row < LOT_NOBODY && l->end[*row] == END_NEVER)
		l->end[*row] = moment | (id == fresh ? END_TEMPORARY : 0);
	l->thread[t].fresh = 0;
}

static void draw_gap(struct lot *l, uint32_t t, struct heap_event *e)
{
	*e = (struct heap_event){ .op = HEAP_GAP, .time = e->time, .size = draw(l, 3) };
	for (uint64_t i = 0; i < e->size; i++)
		l->row_of[l->thread[t].next_id++] = LOT_NOBODY;
	l->thread[t].fresh = 0;
}

static void draw_events(struct lot *l)
{
	uint32_t t = 0;

	for (uint32_t i = 0; i < LOT_EVENTS; i++) {
		uint32_t what = draw(l, 1000);
		struct heap_event *e;

		/* Long stretches and short ones. */
		if (draw(l, i / 10000 % 2 ? 3 : 400) == 0)
			t = draw(l, LOT_THREADS);
		if (l->thread[t].n == LOT_BLOCK)
			end_block(l, t);
		e = &l->thread[t].e[l->thread[t].n++];
		e->time = i;
		if (what == 0)
			draw_gap(l, t, e);
		else if (what < 600)
			draw_alloc(l, t, e);
		else
			draw_free(l, t, e);
	}
	for (t = 0; t < LOT_THREADS; t++)
		end_block(l, t);
}

/* Of every other seed ids pass 2^32 on the way, as those of a million allocations a second do after 71 minutes. */
static void lot_init(struct lot *l, uint32_t seed)
{
	size_t n_ids = (2 * LOT_EVENTS / LOT_BLOCK + 2 * LOT_THREADS) * LOT_CHUNK;

	*l = (struct lot){ .seed = seed };
	if (seed % 2 == 0)
		l->base = (UINT64_C(1) << 32) - n_ids / 2 / LOT_CHUNK * LOT_CHUNK;
	l->row_of = xmalloc(n_ids * sizeof(*l->row_of));
	memset(l->row_of, 0xff, n_ids * sizeof(*l->row_of));
	l->begin = xmalloc(LOT_EVENTS * sizeof(*l->begin));
	l->end = xmalloc(LOT_EVENTS * sizeof(*l->end));
	made_heap_init(&l->h);
	made_heap_begin(&l->h);
	for (uint32_t t = 0; t < LOT_THREADS; t++)
		end_block(l, t);
	draw_events(l);
	made_heap_end(&l->h);
}

static void lot_done(struct lot *l)
{
	made_heap_done(&l->h);
	free(l->row_of);
	free(l->begin);
	free(l->end);
}

/* folding may be NULL. */
static struct profile *read_lot(const struct lot *l, const struct build_folding *folding)
{
	struct input *in = input_of_bytes(l->h.bytes.at, l->h.bytes.n, "x");
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	capture_id c;

	if (folding)
		build_folding(p, folding);
	builder_begin(p);
	c = build_capture(p, "x", "heap");
	builder_end(p);
	cr_assert_eq(format_heap_trace.read(in, p, c, NULL, NULL, &e), 0, "%s", err_text(&e));
	input_close(in);
	return p;
}

Test(heap_ids, by_lot)
{
	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct lot *l = xmalloc(sizeof(*l));
		struct heap_columns c;
		struct profile *p;

		lot_init(l, seed);
		p = read_lot(l, NULL);
		profile_heap(p, &c);
		cr_assert_eq(c.n_allocations, l->n_rows);
		for (uint32_t i = 0; i < l->n_rows; i++) {
			cr_assert_eq(allocation_begin(&c, i), l->begin[i], "%u: row %u begins",
				     seed, i);
			cr_assert_eq(allocation_end(&c, i, UINT32_MAX), l->end[i],
				     "%u: row %u ends at %x, not %x", seed, i,
				     allocation_end(&c, i, UINT32_MAX), l->end[i]);
		}
		profile_free(p);
		lot_done(l);
		free(l);
	}
}

/* What a heap adds up to. */
struct sums {
	uint64_t calls, bytes, live, temporary;
};

static struct sums add_up(const struct heap_columns *c)
{
	struct sums s = { 0 };

	for (uint32_t i = 0; i < c->n_allocations; i++) {
		s.calls++;
		s.bytes += allocation_size(c, i);
		s.live += allocation_end(c, i, UINT32_MAX) == END_NEVER ? allocation_size(c, i) : 0;
		s.temporary += allocation_end(c, i, UINT32_MAX) != END_NEVER &&
			       allocation_end(c, i, UINT32_MAX) & END_TEMPORARY;
	}
	for (uint32_t i = 0; i < c->n_bulk; i++) {
		s.calls += c->bulk[i].calls;
		s.bytes += c->bulk[i].bytes;
		s.temporary += c->bulk[i].temporary;
	}
	return s;
}

/* Blocks that were freed long ago become sums while it is read, and those that live are found by their ids still. */
Test(heap_ids, of_what_was_folded)
{
	static const struct build_folding folding = { .keep_ns = 1000000,
						      .n_blocks = 1000,
						      .n_sums = 3000 };

	for (uint32_t seed = 1; seed <= 6; seed++) {
		struct lot *l = xmalloc(sizeof(*l));
		struct heap_columns whole, folded;
		struct profile *p, *q;
		struct sums a, b;

		lot_init(l, seed);
		p = read_lot(l, NULL);
		q = read_lot(l, &folding);
		profile_heap(p, &whole);
		profile_heap(q, &folded);
		a = add_up(&whole);
		b = add_up(&folded);
		cr_expect_gt(folded.n_counted, 1000u);
		cr_expect_eq(folded.n_allocations + folded.n_counted, l->n_rows);
		cr_expect_eq(b.calls, a.calls);
		cr_expect_eq(b.bytes, a.bytes);
		cr_expect_eq(b.live, a.live, "%u: %lu, %lu", seed, (unsigned long)b.live,
			     (unsigned long)a.live);
		cr_expect_eq(b.temporary, a.temporary);
		profile_free(p);
		profile_free(q);
		lot_done(l);
		free(l);
	}
}
