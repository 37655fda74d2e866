/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each number is put where its column goes on, with all of 4 bytes; then the column grows by as many as it takes, or by none.
 * So columns need room for 4 bytes more than they hold, which heap_event_writer_init() leaves.
 */
#include "config.h"

#include "record/heap/trace/decode_fast.h"

#include <string.h>

#define AHEAD_WORDS 128 /* so far ahead lines are asked for: they are the noting processor's */
#define MOST_BITS   28u /* of a number that is taken here: it has 4 bytes at most */
#define NEAR        (UINT64_C(1) << 20) /* as heap_events.c has it */

/* Of a number whose highest bit is this one: its bytes, and the bits of these that say that others follow. */
static const struct length {
	uint32_t n, more;
} lengths[MOST_BITS] = {
#define LENGTH(n, more) \
	{ n, more }, { n, more }, { n, more }, { n, more }, { n, more }, { n, more }, \
	{ \
		n, more \
	}
	LENGTH(1, 0), LENGTH(2, 0x80), LENGTH(3, 0x8080), LENGTH(4, 0x808080)
#undef LENGTH
};

/* ULEB128 of v, which has MOST_BITS at most; returns where the next one goes. */
static inline uint8_t *put_if(uint8_t *at, uint32_t v, bool is_there)
{
	const struct length *l = &lengths[31 - (unsigned)__builtin_clz(v | 1)];

	v = (v & 0x3fffu) | (v & 0xfffc000u) << 2;
	v = (v & 0x7f007fu) | (v & 0x3f803f80u) << 1;
	v |= l->more;
	memcpy(at, &v, sizeof(v));
	return at + (l->n & -(uint32_t)is_there);
}

/* Copies of what goes on with each event, so that no store to a column may change them. */
struct usual {
	uint8_t *op, *time, *stack, *size, *ref;
	uint32_t alloc_stack, free_stack; /* of the last ones */
	uint64_t us;                      /* of the last event */
	uint64_t last_size;               /* of an allocation */
	uint64_t far_id;                  /* that was named last and not near */
	uint64_t next_id;                 /* the next allocation's */
	uint64_t bytes;                   /* allocated so far */
};

/* A number that may be of any length. */
static __attribute__((noinline)) uint8_t *put_long(uint8_t *at, uint64_t v)
{
	struct heap_out out = heap_out_over(at, 10);

	heap_put_number(&out, v);
	return out.at;
}

static inline uint8_t *put(uint8_t *at, uint64_t v)
{
	return __builtin_expect(v >> MOST_BITS == 0, 1) ? put_if(at, (uint32_t)v, true)
							: put_long(at, v);
}

/* What a free has of its own; returns its op. */
static inline unsigned put_free(struct usual *u, uint32_t stack, uint64_t id)
{
	uint64_t back = u->next_id - 1 - id;

	if (__builtin_expect(back < NEAR, 1)) {
		u->ref = put_if(u->ref, (uint32_t)back << 1, true);
	} else {
		u->ref = put(u->ref, heap_zigzag(id - u->far_id) << 1 | 1);
		u->far_id = id;
	}
	if (__builtin_expect(stack == u->free_stack, 1))
		return HEAP_FREE;
	u->stack = put(u->stack, stack);
	u->free_stack = stack;
	return HEAP_FREE | HEAP_OP_HAS_STACK;
}

/* The same of an allocation. */
static inline unsigned put_alloc(struct usual *u, uint32_t stack, uint64_t size, unsigned kind)
{
	bool other_stack = stack != u->alloc_stack, other_size = size != u->last_size;

	u->stack = put_if(u->stack, stack, other_stack);
	u->alloc_stack = stack;
	if (__builtin_expect(size >> MOST_BITS == 0, 1))
		u->size = put_if(u->size, (uint32_t)size, other_size);
	else if (other_size)
		u->size = put_long(u->size, size);
	u->last_size = size;
	u->bytes += size;
	u->next_id++;
	return HEAP_ALLOC | kind << HEAP_OP_FAMILY | other_stack * HEAP_OP_HAS_STACK |
	       other_size * HEAP_OP_HAS_SIZE;
}

/* In a program that does nothing else hardly any event has another time than the last; in others nearly each has. */
static inline void put_event(struct usual *u, uint64_t us, uint32_t stack, uint64_t second)
{
	uint64_t operand = second & NOTE_OPERAND;
	unsigned op = 0;

	if (us > u->us) {
		u->time = put(u->time, us - u->us);
		u->us = us;
		op = HEAP_OP_HAS_TIME;
	}
	if (second >> NOTE_OP_SHIFT == HEAP_FREE)
		op |= put_free(u, stack, operand);
	else
		op |= put_alloc(u, stack, operand, (unsigned)(second >> NOTE_KIND_SHIFT));
	*u->op++ = (uint8_t)op;
}

static inline struct usual begin(const struct heap_event_writer *w)
{
	return (struct usual){
		.op = w->column[HEAP_COL_OP].at,
		.time = w->column[HEAP_COL_TIME].at,
		.stack = w->column[HEAP_COL_STACK].at,
		.size = w->column[HEAP_COL_SIZE].at,
		.ref = w->column[HEAP_COL_REF].at,
		.alloc_stack = w->state.stack[0],
		.free_stack = w->state.stack[1],
		.us = w->state.time,
		.last_size = w->state.size,
		.far_id = w->state.ref,
		.next_id = w->state.next_id,
	};
}

static inline void end(const struct usual *u, struct heap_event_writer *w)
{
	uint32_t n = (uint32_t)(u->op - w->column[HEAP_COL_OP].at);
	uint32_t n_allocs = (uint32_t)(u->next_id - w->state.next_id);

	w->block.n = w->n += n;
	w->block.n_allocs += n_allocs;
	w->block.n_frees += n - n_allocs;
	w->block.bytes += u->bytes;
	w->column[HEAP_COL_OP].at = u->op;
	w->column[HEAP_COL_TIME].at = u->time;
	w->column[HEAP_COL_STACK].at = u->stack;
	w->column[HEAP_COL_SIZE].at = u->size;
	w->column[HEAP_COL_REF].at = u->ref;
	w->state.time = w->block.last_time = u->us;
	w->state.stack[0] = u->alloc_stack;
	w->state.stack[1] = u->free_stack;
	w->state.size = u->last_size;
	w->state.ref = u->far_id;
	w->state.next_id = u->next_id;
}

/* The microsecond of the last event, and to where it goes on for certain: most events are in that of the one before. */
struct unit {
	const struct clock_piece *piece;
	struct tracer_clock *clock;
	uint64_t ticks_per_us; /* at least */
	uint64_t us;
	uint64_t until; /* ticks */
};

static __attribute__((noinline)) void find_unit(struct unit *unit, uint64_t ticks)
{
	const struct clock_piece *p = unit->piece;
	unsigned __int128 us;
	uint64_t left;

	unit->until = ticks;
	if (__builtin_expect(ticks < p->ticks, 0)) {
		unit->us = tracer_clock_us_before(unit->clock, ticks);
		return;
	}
	us = (unsigned __int128)(ticks - p->ticks) * p->us_per_tick + p->fraction;
	unit->us = p->us + (uint64_t)(us >> CLOCK_POINT);
	/* Rounded down, and one tick less, as the next unit begins with its first tick. */
	left = (UINT64_C(1) << CLOCK_POINT) - 1 -
	       ((uint64_t)us & ((UINT64_C(1) << CLOCK_POINT) - 1));
	unit->until += (left >> CLOCK_POINT / 2) * unit->ticks_per_us >> CLOCK_POINT / 2;
}

/* The words from `at` on that lie behind each other, are there, and do not become more than n events. */
static uint64_t end_of_run(uint64_t at, uint64_t head, uint32_t n)
{
	uint64_t end = (at | (RING_WORDS - 1)) + 1;

	end = end < head ? end : head;
	end = end < at + 2 * (uint64_t)n ? end : at + 2 * (uint64_t)n;
	return at + ((end - at) & ~UINT64_C(1));
}

uint64_t tracer_take_usual(const uint64_t *ring, uint64_t at, uint64_t head,
			   struct tracer_note_time *time, struct tracer_clock *clock,
			   unsigned tick_shift, struct heap_event_writer *w)
{
	struct usual u = begin(w);
	uint64_t until = end_of_run(at, head, w->addresses ? 0 : w->max - w->n),
		 ticks = time->ticks;
	const uint64_t *note = &ring[at & (RING_WORDS - 1)], *end_note = note + (until - at);
	const uint64_t *first = note;
	const struct clock_piece piece = *tracer_clock_last(clock);
	struct unit unit = { .piece = &piece, .clock = clock };

	/* Time may have passed without an event. */
	if (u.us != time->us)
		return at;
	/* As many as (left >> 28) times them do not overflow, which are more than any clock has. */
	unit.ticks_per_us = piece.us_per_tick ? (UINT64_C(1) << CLOCK_POINT) / piece.us_per_tick
					      : 0;
	for (; note < end_note && note[1] >> NOTE_OP_SHIFT <= HEAP_FREE; note += 2) {
		uint64_t now;

		/* What lies behind the end is being noted: it stays where it is. */
		__builtin_prefetch(end_note - note > AHEAD_WORDS ? note + AHEAD_WORDS : note);
		ticks += (uint32_t)(note[0] >> 32) - (uint32_t)ticks;
		now = ticks << tick_shift;
		if (now > unit.until || note == first)
			find_unit(&unit, now);
		put_event(&u, unit.us, (uint32_t)note[0], note[1]);
	}
	time->ticks = ticks;
	time->us = u.us;
	end(&u, w);
	return at + (uint64_t)(note - first);
}
