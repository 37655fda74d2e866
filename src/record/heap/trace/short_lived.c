/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs are found by a table of the allocations in one ring; sums are kept in a hash table until they are told. */
#include "config.h"

#include "record/heap/trace/short_lived.h"

#include "base/hash.h"
#include "heaptrace/heap_events.h"
#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/tracer_memory.h"

#include <string.h>

#define N_SUMS        16384u
#define MOST_SUMS     (N_SUMS * 3 / 4)
#define KEPT_WORDS    (RING_WORDS / 4) /* of a ring may wait for their frees */
#define N_IDS         (1u << ID_CHUNK_BITS)
#define TELL_EVERY_NS UINT64_C(1000000000)

/*
 * Where the note of an allocation was seen. A ring holds fewer than there are of these, so none of one look is in
 * another's place; what earlier looks at this and other rings left is to be told from it.
 */
struct noted {
	uint64_t id;
	uint64_t at;              /* word of its thread's notes */
	struct tracer_thread *by; /* whose notes */
};

static struct {
	struct noted *noted;   /* [N_IDS] by the low bits of the id */
	struct cull_sum *sums; /* [N_SUMS] */
	uint32_t n_sums;       /* that are not empty */
	uint32_t next;         /* to be told */
	uint64_t threshold;    /* ticks >> tick_shift, by what a tick is worth */
} cull;

/* A look at the notes of one ring. */
struct look {
	struct tracer_thread *t;
	uint64_t from;  /* where its notes begin that were not taken */
	uint64_t id;    /* that the next allocation takes */
	uint64_t fresh; /* taken by the event just before; 0: it took none */
};

static void note_since(void)
{
	recorder.box->cull_since_ns = tracer_monotonic_ns();
}

bool short_lived_init(void)
{
	if (!cull.noted)
		cull.noted = tracer_map(N_IDS * sizeof(*cull.noted));
	if (!cull.sums || recorder.box->sums != cull.sums)
		cull.sums = shared_memory_map(N_SUMS * sizeof(*cull.sums));
	if (!cull.noted || !cull.sums)
		return false;
	memset(cull.sums, 0, cull.n_sums ? N_SUMS * sizeof(*cull.sums) : 0);
	cull.n_sums = cull.next = 0;
	recorder.box->n_sums = N_SUMS;
	recorder.box->sums = cull.sums;
	atomic_store(&recorder.box->cull_pair.sum, 0);
	note_since();
	return true;
}

static struct cull_sum *sum_of(uint32_t stack, uint32_t thread)
{
	uint32_t i = (uint32_t)hash_u64((uint64_t)thread << 32 | stack);

	for (;; i++) {
		struct cull_sum *s = &cull.sums[i % N_SUMS];

		if (s->calls && (s->stack != stack || s->thread != thread))
			continue;
		if (!s->calls) {
			if (cull.n_sums == MOST_SUMS)
				return NULL;
			cull.n_sums++;
			*s = (struct cull_sum){ .stack = stack, .thread = thread };
		}
		return s;
	}
}

static uint64_t *word_at(const struct tracer_thread *t, uint64_t at)
{
	return &t->ring[at & (RING_WORDS - 1)];
}

/* Time that passed from one note to a later one, >> tick_shift; clocks of processors differ a little. */
static uint32_t passed(uint32_t from, uint32_t to)
{
	return (int32_t)(to - from) < 0 ? 0 : to - from;
}

/* The process may be killed at any store: until the pair is marked and counted, the box says how to undo it. */
static void leave_out(const struct look *l, struct cull_sum *s, uint64_t alloc_at, uint64_t free_at)
{
	struct cull_pair *pair = &recorder.box->cull_pair;
	uint64_t *alloc = word_at(l->t, alloc_at), *free_note = word_at(l->t, free_at);
	uint64_t id = free_note[1] & NOTE_OPERAND;
	uint32_t lived = passed((uint32_t)(alloc[0] >> 32), (uint32_t)(free_note[0] >> 32));

	pair->was = *s;
	pair->thread = l->t;
	pair->alloc_at = alloc_at;
	pair->free_at = free_at;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&pair->sum, (uint32_t)(s - cull.sums) + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	s->calls++;
	s->bytes += alloc[1] & NOTE_OPERAND;
	s->ticks += lived;
	s->temporary += l->fresh == id;
	short_lived_set_op(alloc,
			   short_lived_op(alloc) == NOTE_ALLOC_AT ? NOTE_CULLED_AT : NOTE_CULLED);
	short_lived_set_op(free_note, NOTE_CULLED_FREE);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&pair->sum, 0, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/* A free by id, noted at word `at`: when its allocation is in the ring too and not old, both are marked and counted. */
static void mark_pair(const struct look *l, const uint64_t *free_note, uint64_t at)
{
	uint64_t id = free_note[1] & NOTE_OPERAND, *note;
	const struct noted *n = &cull.noted[id % N_IDS];
	struct cull_sum *s;

	if (n->id != id || n->by != l->t || n->at < l->from)
		return;
	note = word_at(l->t, n->at);
	if (passed((uint32_t)(note[0] >> 32), (uint32_t)(free_note[0] >> 32)) >= cull.threshold)
		return;
	s = sum_of((uint32_t)note[0], l->t->index);
	if (s)
		leave_out(l, s, n->at, at);
}

/* Looks at the note at word `at`. */
static void look_at(struct look *l, uint64_t *note, uint64_t at)
{
	uint64_t fresh = l->fresh;

	switch (short_lived_op(note)) {
	case HEAP_ALLOC:
	case NOTE_ALLOC_AT:
		cull.noted[l->id % N_IDS] = (struct noted){ l->id, at, l->t };
		l->fresh = l->id++;
		return;
	case NOTE_CULLED:
	case NOTE_CULLED_AT:
	case HEAP_REALLOC:
	case HEAP_REALLOC_ADDRESS:
		l->fresh = l->id++;
		return;
	case NOTE_CHUNK:
		l->id = note[1] & NOTE_OPERAND;
		return;
	case HEAP_EVICT:
	case NOTE_TIME:
	case NOTE_LOST:
		return;
	case HEAP_FREE:
		l->fresh = fresh;
		mark_pair(l, note, at);
		break;
	}
	l->fresh = 0;
}

uint64_t short_lived_mark(struct tracer_thread *t, uint64_t head, bool all)
{
	uint64_t at = atomic_load_explicit(&t->tail, memory_order_relaxed), until = head;
	uint32_t now = (uint32_t)(tracer_ticks(&recorder.clock) >> recorder.tick_shift);
	struct look l = { .t = t, .from = at, .id = t->taken.write_id + t->taken.n_culled };

	cull.threshold =
		(uint64_t)((double)recorder.options.cull_ns / recorder.clock.ns_per_tick) >>
		recorder.tick_shift;
	while (at < head) {
		uint64_t *note = word_at(t, at), left = RING_WORDS - (at & (RING_WORDS - 1));

		if (left == 1 || short_lived_op(note) == NOTE_PAD) {
			at += left;
			continue;
		}
		if (until == head && head - at <= KEPT_WORDS && !all &&
		    passed((uint32_t)(note[0] >> 32), now) < cull.threshold)
			until = at;
		look_at(&l, note, at);
		at += tracer_note_words(note);
	}
	return until;
}

bool short_lived_is_due(bool all)
{
	return cull.n_sums &&
	       (all || cull.n_sums > MOST_SUMS / 2 ||
		tracer_monotonic_ns() - recorder.box->cull_since_ns >= TELL_EVERY_NS);
}

static uint64_t us_since_start(uint64_t ns)
{
	return (ns - recorder.clock.start_ns) / 1000;
}

/* The record of the last one has been put. */
static void forget_told(void)
{
	uint32_t told = atomic_load(&recorder.box->cull_telling);

	if (told)
		cull.sums[told - 1].calls = 0;
	atomic_store(&recorder.box->cull_telling, 0);
}

bool short_lived_next(struct heap_record *r)
{
	double us = recorder.clock.ns_per_tick * (double)(1u << recorder.tick_shift) / 1000;

	forget_told();
	for (; cull.next < N_SUMS; cull.next++) {
		struct cull_sum *s = &cull.sums[cull.next];

		if (!s->calls)
			continue;
		*r = (struct heap_record){ .type = HEAP_REC_CULLED };
		r->number[HEAP_CULLED_SINCE] = us_since_start(recorder.box->cull_since_ns);
		r->number[HEAP_CULLED_STACK] = s->stack;
		r->number[HEAP_CULLED_COUNT] = s->calls;
		r->number[HEAP_CULLED_BYTES] = s->bytes;
		r->number[HEAP_CULLED_LIFETIME] = (uint64_t)((double)s->ticks * us);
		r->number[HEAP_CULLED_THREAD] = s->thread;
		r->number[HEAP_CULLED_TEMPORARY] = s->temporary;
		atomic_store(&recorder.box->cull_telling, cull.next + 1);
		return true;
	}
	cull.next = 0;
	cull.n_sums = 0;
	note_since();
	return false;
}
