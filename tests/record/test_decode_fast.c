/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes of plain allocations and frees become the same bytes as event by event. */
#include "config.h"

#include "record/heap/trace/decode_fast.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS 30000u

static uint64_t ring[RING_WORDS];

/* What notes are made of by lot: how far apart times, stacks, sizes and ids are, in bits. */
static const struct made {
	unsigned time_bits, stack_bits, size_bits, back_bits;
} cases[] = {
	{ 4, 2, 7, 8 },    /* as most programs */
	{ 0, 0, 3, 1 },    /* all the same */
	{ 30, 28, 57, 30 } /* far apart: all lengths of numbers, ids that are not near */
};

static uint64_t lot(unsigned bits)
{
	uint64_t r = (uint64_t)random() << 40 ^ (uint64_t)random() << 20 ^ (uint64_t)random();

	return bits ? r >> (random() % 64) & (UINT64_MAX >> (64 - bits)) : 0;
}

/* Puts notes into the ring from word `at` on, which is not its end; returns how many words. */
static uint64_t note(const struct made *m, uint64_t first_id, uint64_t at, unsigned n)
{
	uint64_t ticks = 0, next_id = first_id, from = at;

	for (; n--; at += 2) {
		bool frees = next_id > first_id && random() % 2;
		uint64_t back = lot(m->back_bits), *to = &ring[at & (RING_WORDS - 1)];
		uint64_t size = lot(m->size_bits), kind = (uint64_t)random() % 4;

		ticks += lot(m->time_bits);
		to[0] = ticks << 32 | (uint32_t)lot(m->stack_bits);
		if (frees)
			to[1] = (uint64_t)HEAP_FREE << NOTE_OP_SHIFT |
				(next_id - 1 - (back < next_id ? back : 0));
		else
			to[1] = (uint64_t)HEAP_ALLOC << NOTE_OP_SHIFT | kind << NOTE_KIND_SHIFT |
				size;
		next_id += !frees;
	}
	return at - from;
}

/* One after the other, as if they were not usual. */
static void take_each(uint64_t at, uint64_t head, struct tracer_clock *clock,
		      struct heap_event_writer *w)
{
	uint64_t ticks = 0, us = 0;

	for (; at < head; at += 2) {
		const uint64_t *from = &ring[at & (RING_WORDS - 1)];
		struct heap_event e = { .op = (uint8_t)(from[1] >> NOTE_OP_SHIFT),
					.stack = (uint32_t)from[0],
					.kind = from[1] >> NOTE_KIND_SHIFT & 3,
					.id = from[1] & NOTE_OPERAND,
					.size = from[1] & NOTE_OPERAND };

		ticks += (uint32_t)(from[0] >> 32) - (uint32_t)ticks;
		us = tracer_clock_us(clock, ticks << 5) > us ? tracer_clock_us(clock, ticks << 5)
							     : us;
		e.time = us;
		cr_assert(heap_write_event(w, &e));
	}
}

static void compare(const struct heap_event_writer *a, const struct heap_event_writer *b)
{
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++) {
		cr_assert_eq(heap_out_n(&a->column[i]), heap_out_n(&b->column[i]), "column %u", i);
		cr_assert_arr_eq(a->column[i].begin, b->column[i].begin, heap_out_n(&a->column[i]));
	}
	cr_expect_arr_eq(&a->state, &b->state, sizeof(a->state));
	cr_expect_eq(a->n, b->n);
	cr_expect_arr_eq(&a->block, &b->block, sizeof(a->block));
}

Test(tracer_usual, same_bytes_as_event_by_event)
{
	void *memory[2] = { malloc(heap_event_memory(MOST_EVENTS)),
			    malloc(heap_event_memory(MOST_EVENTS)) };

	for (unsigned i = 0; i < 3 * sizeof(cases) / sizeof(*cases); i++) {
		const struct made *m = &cases[i / 3];
		/* The third of each goes over the end of the ring. */
		uint64_t at = i % 3 == 2 ? RING_WORDS - 1000 : 0, id = UINT64_C(1) << 35, head;
		/* A counter whose ticks are 0.3 ns, as of a processor. */
		struct tracer_clock clock = {
			.piece = { { .us_per_tick = (UINT64_C(1) << CLOCK_POINT) / 3333 } },
			.n_pieces = 1
		};
		struct tracer_note_time time = { 0, 0 };
		struct heap_event_writer usual, each;

		heap_event_writer_init(&usual, memory[0], MOST_EVENTS, 1, id, 0);
		heap_event_writer_init(&each, memory[1], MOST_EVENTS, 1, id, 0);
		usual.addresses = each.addresses = false;
		srandom(i);
		head = at + note(m, id, at, 20000);
		for (uint64_t from = at, to; from < head; from = to) {
			to = tracer_take_usual(ring, from, head, &time, &clock, 5, &usual);
			/* No further than to the end of the ring at once. */
			cr_assert(to == head || to == RING_WORDS, "%u: %zu", i, (size_t)to);
		}
		take_each(at, head, &clock, &each);
		compare(&usual, &each);
		cr_expect_eq(time.us, each.state.time);
	}
	free(memory[0]);
	free(memory[1]);
}

Test(tracer_usual, others_are_left)
{
	void *memory = malloc(heap_event_memory(MOST_EVENTS));
	struct tracer_clock clock = { .n_pieces = 1 };
	struct tracer_note_time time = { 0, 0 };
	struct heap_event_writer w;

	for (unsigned op = HEAP_FREE_ADDRESS; op < 16; op++) {
		heap_event_writer_init(&w, memory, MOST_EVENTS, 1, 0, 0);
		w.addresses = false;
		note(&cases[0], 0, 0, 10);
		ring[7] = (uint64_t)op << NOTE_OP_SHIFT | 1;
		cr_expect_eq(tracer_take_usual(ring, 0, 20, &time, &clock, 5, &w), 6, "op %u", op);
		cr_expect_eq(w.n, 3);
	}
	/* No more than there is room for, and nothing beyond the last word. */
	heap_event_writer_init(&w, memory, 5, 1, 0, 0);
	w.addresses = false;
	note(&cases[0], 0, 0, 10);
	cr_expect_eq(tracer_take_usual(ring, 0, 20, &time, &clock, 5, &w), 10);
	cr_expect_eq(tracer_take_usual(ring, RING_WORDS - 1, RING_WORDS + 5, &time, &clock, 5, &w),
		     RING_WORDS - 1);
	/* Where addresses are recorded, each event has one. */
	heap_event_writer_init(&w, memory, MOST_EVENTS, 1, 0, 0);
	cr_expect_eq(tracer_take_usual(ring, 0, 20, &time, &clock, 5, &w), 0);
	free(memory);
}
