/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block is finished between two notes, never within one: whoever goes on from there, after the process was killed, takes each note
 * once.
 */
#include "config.h"

#include "record/heap/trace/decode_notes.h"

#include "record/heap/trace/decode_fast.h"
#include "record/heap/trace/short_lived.h"

#define MOST_EVENTS 2u /* that one note may become */

static uint64_t note_us(const struct tracer_taking *k, uint64_t first)
{
	struct tracer_taken *s = k->s;
	uint64_t us;

	s->write_ticks += (uint32_t)(first >> 32) - (uint32_t)s->write_ticks;
	us = tracer_clock_us(k->clock, s->write_ticks << k->tick_shift);
	/* What a tick is worth is known a little better each time. */
	if (us > s->write_us)
		s->write_us = us;
	return s->write_us;
}

/* How long before the last event a realloc began. */
static uint64_t early_us(const struct tracer_taking *k, uint64_t ticks)
{
	uint64_t us = tracer_clock_us(k->clock, ticks << k->tick_shift);

	return us < k->s->write_us ? k->s->write_us - us : 0;
}

/* The event that a note at `note` stands for; returns the words of the note. */
static unsigned read_event(const struct tracer_taking *k, const uint64_t *note,
			   struct heap_event *e)
{
	uint64_t operand = note[1] & NOTE_OPERAND;

	*e = (struct heap_event){ .time = note_us(k, note[0]), .stack = (uint32_t)note[0] };
	e->op = (uint8_t)(note[1] >> NOTE_OP_SHIFT);
	e->kind = note[1] >> NOTE_KIND_SHIFT & 3;
	if (e->op == NOTE_ALLOC_AT) {
		e->op = HEAP_ALLOC;
		e->address = note[2];
	}
	switch ((enum heap_op)e->op) {
	case HEAP_FREE:
		e->id = operand;
		return 2;
	case HEAP_FREE_ADDRESS:
		e->old_address = operand;
		return 2;
	case HEAP_EVICT:
		e->id = operand;
		e->address = note[2];
		return 3;
	case HEAP_ALLOC:
		e->size = operand;
		return tracer_note_words(note);
	case HEAP_REALLOC:
	case HEAP_REALLOC_ADDRESS:
		e->size = operand;
		e->address = note[2];
		e->old_id = e->old_address = note[3];
		e->early = early_us(k, note[4]);
		return 5;
	case HEAP_RANGE:
		e->size = operand;
		e->address = note[2];
		e->old_address = note[3];
		e->old_size = note[4];
		return 5;
	case HEAP_GAP:
		break;
	}
	return 2;
}

static void put_event(const struct tracer_taking *k, const struct heap_event *e)
{
	heap_write_event(k->w, e);
	k->s->write_id = k->w->state.next_id;
}

/*
 * Says which ids are nobody's, before what comes after their allocations. A free comes after none of them but after a
 * free that was left out all the same: then that is said by a gap of nothing, as a block that is freed next
 * after it was made is a temporary one.
 */
static void tell_gap(const struct tracer_taking *k, uint64_t op)
{
	struct heap_event e = { .op = HEAP_GAP, .time = k->s->write_us, .size = k->s->n_culled };
	bool tell = k->s->n_culled || (k->s->left_free && op == HEAP_FREE);

	k->s->n_culled = 0;
	k->s->left_free = false;
	if (tell)
		put_event(k, &e);
}

/* Takes the note at word `at` of the ring; returns how many words it has. */
static unsigned take_note(const struct tracer_taking *k, uint64_t at)
{
	const uint64_t *note = &k->ring[at & (RING_WORDS - 1)];
	uint64_t last = RING_WORDS - 1 - (at & (RING_WORDS - 1));
	uint64_t op = last ? note[1] >> NOTE_OP_SHIFT : NOTE_PAD;
	struct heap_event e;
	unsigned n;

	if (op == NOTE_PAD || last + 1 < tracer_note_words(note))
		return (unsigned)last + 1;
	if (op == NOTE_CULLED || op == NOTE_CULLED_AT || op == NOTE_CULLED_FREE) {
		note_us(k, note[0]);
		k->s->n_culled += op != NOTE_CULLED_FREE;
		k->s->left_free |= op == NOTE_CULLED_FREE;
		return tracer_note_words(note);
	}
	if (op == NOTE_CHUNK) {
		tell_gap(k, op);
		k->s->write_id = note[1] & NOTE_OPERAND;
		k->finish(k, at + 2);
		return 2;
	}
	if (op == NOTE_TIME) {
		k->s->write_ticks = note[1] & NOTE_OPERAND;
		return 2;
	}
	if (op == NOTE_LOST) {
		k->lost(k, note[1] & NOTE_OPERAND);
		k->finish(k, at + 2);
		return 2;
	}
	tell_gap(k, op);
	n = read_event(k, note, &e);
	put_event(k, &e);
	return n;
}

/* Takes those that many are. */
static uint64_t take_usual(const struct tracer_taking *k, uint64_t at, uint64_t head)
{
	struct tracer_note_time time = { k->s->write_ticks, k->s->write_us };

	at = tracer_take_usual(k->ring, at, head, &time, k->clock, k->tick_shift, k->w);
	k->s->write_ticks = time.ticks;
	k->s->write_us = time.us;
	k->s->write_id = k->w->state.next_id;
	return at;
}

void decode_notes(const struct tracer_taking *k, uint64_t at, uint64_t head)
{
	while (at < head) {
		if (!k->s->n_culled && !k->s->left_free)
			at = take_usual(k, at, head);
		if (at >= head)
			return;
		if (!heap_event_writer_has_room(k->w, MOST_EVENTS))
			k->finish(k, at);
		at += take_note(k, at);
	}
}
