/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way of every event: take the thread's state, walk the stack as far as it changed, put two to four
 * words into the ring. Everything here may run at any moment of any thread, in a signal handler too: where that has
 * interrupted a note, another state of the thread takes the handler's events.
 */
#include "config.h"

#include "record/heap/trace/tracer_record.h"

#include "heaptrace/heap_events.h"
#include "record/heap/stack/live_stack.h"
#include "record/heap/trace/live_blocks.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_loop.h"
#include "record/heap/trace/tracer_sample.h"
#include "record/heap/trace/tracer_thread.h"

#include <errno.h>

/* The longest note, with what may have to go before it and after it: a time, a chunk, what was lost; an evict. */
#define MOST_WORDS 16u

/* Of so many notes one is timed, for tracer_throttle.h, unless it took longer. */
#define TIMED_OF        31u
#define MOST_NOTE_TICKS 65536u

static void wake_writer(void)
{
	atomic_fetch_add_explicit(&recorder.writer_word, 1, memory_order_relaxed);
	tracer_wake(&recorder.writer_word);
}

/* Waits until the ring has room. False: recording was stopped. */
static __attribute__((noinline)) bool wait_for_room(struct tracer_thread *t, uint64_t head)
{
	struct loop_watch watch = { 0 };

	for (;;) {
		uint32_t word = atomic_load_explicit(&recorder.room_word, memory_order_acquire);

		t->tail_seen = atomic_load_explicit(&t->tail, memory_order_acquire);
		if (head + MOST_WORDS - t->tail_seen <= RING_WORDS)
			return true;
		if (!tracer_is_on())
			return false;
		if (!tracer_thread_drain_self())
			tracer_loop_await(&watch, word, 100);
	}
}

/* Room for a note: the place of its first word, or NULL. */
static inline uint64_t *claim(struct tracer_thread *t, uint64_t *head)
{
	*head = atomic_load_explicit(&t->head, memory_order_relaxed);
	if (__builtin_expect(*head + 2 * MOST_WORDS - t->tail_seen > RING_WORDS, 0) &&
	    !wait_for_room(t, *head + MOST_WORDS))
		return NULL;
	if (__builtin_expect((*head & (RING_WORDS - 1)) > RING_WORDS - MOST_WORDS, 0)) {
		t->ring[*head & (RING_WORDS - 1)] = 0;
		if ((*head & (RING_WORDS - 1)) < RING_WORDS - 1)
			t->ring[(*head + 1) & (RING_WORDS - 1)] = (uint64_t)NOTE_PAD
								  << NOTE_OP_SHIFT;
		*head = (*head | (RING_WORDS - 1)) + 1;
	}
	/* The writer has read these lines: to have them back takes a while. */
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(t->ring[(*head + 64) & (RING_WORDS - 1)]));
#else
	__builtin_prefetch(&t->ring[(*head + 64) & (RING_WORDS - 1)], 1);
#endif
	return &t->ring[*head & (RING_WORDS - 1)];
}

/* The note is whole: n words from head on. The writer is called when half a ring has come together. */
static inline void publish(struct tracer_thread *t, uint64_t head, uint64_t n)
{
	uint64_t before = atomic_load_explicit(&t->head, memory_order_relaxed);

	atomic_store_explicit(&t->head, head + n, memory_order_release);
	if (__builtin_expect((before ^ (head + n)) & (RING_WORDS / 2), 0))
		wake_writer();
}

static inline uint64_t *put(uint64_t *to, uint64_t first, uint64_t op, uint64_t operand)
{
	to[0] = first;
	to[1] = op << NOTE_OP_SHIFT | operand;
	return to + 2;
}

/* The time of an event: to be had early, as it takes a while and nothing waits for it. */
static inline uint64_t now(void)
{
	return tracer_ticks(&recorder.clock) >> recorder.tick_shift;
}

/* The same, but not before anything that another thread did and this one has seen. */
static inline uint64_t now_after(void)
{
	if (atomic_load_explicit(&recorder.alone, memory_order_relaxed))
		return now();
	return tracer_ticks_after(&recorder.clock) >> recorder.tick_shift;
}

/* No counter is so far ahead of another, nor read so early. */
#define MOST_AHEAD (UINT64_C(1) << 16)

/*
 * The time of what was handed out at `address`, about which the table said `had`: not before the block that was there
 * last was freed, maybe by another thread. ticks: what it seems to be. Where the table had forgotten when that was, the
 * processor has to wait.
 */
static inline uint64_t time_of_alloc(uint64_t had, uint64_t address, uint64_t ticks)
{
	uint64_t ahead = (had - ticks) & (ID_FREED - 1);

	if (had == 0)
		return ticks;
	if (__builtin_expect(!(had & ID_FREED) || had >> ID_BITS != address_tag(address), 0))
		return now_after();
	return ahead < MOST_AHEAD ? ticks + ahead : ticks;
}

/*
 * The time of the free of a block, about which the table said `had`: not before it was allocated. What has one of the
 * thread's own last ids was allocated by itself.
 */
static inline uint64_t time_of_free(const struct tracer_thread *t, uint64_t had, uint64_t ticks)
{
	if (__builtin_expect((had & ID_MASK) >= t->end_id - (UINT64_C(1) << ID_CHUNK_BITS) &&
				     (had & ID_MASK) < t->end_id,
			     1))
		return ticks > t->last_ticks ? ticks : t->last_ticks;
	return now_after();
}

/* Puts what must be said before the note itself. Returns where the note goes. */
static inline uint64_t *begin_note(struct tracer_thread *t, uint64_t *at, uint64_t ticks,
				   bool takes_id)
{
	/* Notes have the low 32 bits only; the writer must see fewer than 2³¹ pass. */
	if (__builtin_expect((ticks - t->last_ticks) >> 31 != 0, 0)) {
		/* A processor whose counter is behind: no time passed. */
		if (ticks < t->last_ticks)
			ticks = t->last_ticks;
		else if (ticks < t->least_ticks)
			ticks = t->least_ticks;
		if (ticks != t->last_ticks)
			at = put(at, ticks << 32, NOTE_TIME, ticks & NOTE_OPERAND);
	}
	t->last_ticks = ticks;
	if (takes_id && __builtin_expect(t->next_id == t->end_id, 0)) {
		t->next_id = atomic_fetch_add_explicit(&recorder.box->next_chunk, 1,
						       memory_order_relaxed)
			     << ID_CHUNK_BITS;
		t->end_id = t->next_id + (UINT64_C(1) << ID_CHUNK_BITS);
		at = put(at, ticks << 32, NOTE_CHUNK, t->next_id);
	}
	if (__builtin_expect(atomic_load_explicit(&t->n_unsaid, memory_order_relaxed) != 0, 0))
		at = put(at, ticks << 32, NOTE_LOST,
			 atomic_exchange_explicit(&t->n_unsaid, 0, memory_order_relaxed));
	return at;
}

/*
 * compare_exchange for a thread that is alone: whole for its handlers of signals, not for other processors, and
 * without the wait that this takes.
 */
static inline bool swap_alone(_Atomic uint64_t *slot, uint64_t had, uint64_t content)
{
#ifdef __x86_64__
	bool swapped;

	__asm__ volatile("cmpxchgq %[content], %[slot]"
			 : "=@ccz"(swapped), [slot] "+m"(*slot), "+a"(had)
			 : [content] "r"(content)
			 : "memory");
	return swapped;
#else
	return atomic_compare_exchange_strong_explicit(slot, &had, content, memory_order_release,
						       memory_order_relaxed);
#endif
}

/*
 * Puts content into a slot that holds `had`. The only thread that notes anything does it without the lock on
 * memory, for which a processor waits until all that it has begun is done; at_slot is how a second one
 * knows that this is over. t NULL: from any state.
 */
static inline bool swap_slot(struct tracer_thread *t, _Atomic uint64_t *slot, uint64_t had,
			     uint64_t content)
{
	bool swapped;

	if (!t)
		return atomic_compare_exchange_strong(slot, &had, content);
	atomic_store_explicit(&t->at_slot, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&recorder.alone, memory_order_relaxed)) {
		swapped = swap_alone(slot, had, content);
	} else {
		swapped = atomic_compare_exchange_strong_explicit(
			slot, &had, content, memory_order_release, memory_order_relaxed);
	}
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&t->at_slot, false, memory_order_release);
	return swapped;
}

/*
 * As enter_address(), where another address has the slot, or this one cannot have any. What is forgotten is
 * remembered before the slot is overwritten, so that whoever frees the other one knows.
 */
static __attribute__((noinline)) uint64_t *enter_taken(struct tracer_thread *t, uint64_t *at,
						       uint64_t address, uint64_t id)
{
	_Atomic uint64_t *slot = &recorder.ids[address_slot(address)];
	uint64_t had, other;

	if (address_is_odd(address)) {
		address_evict(recorder.evicted, address);
		at = put(at, t->last_ticks << 32, HEAP_EVICT, id);
		*at++ = address;
		return at;
	}
	do {
		had = atomic_load_explicit(slot, memory_order_relaxed);
		other = slot_is_taken(had) && !slot_is_of(had, address)
				? slot_address_of(address_slot(address), had)
				: 0;
		if (other != 0)
			address_evict(recorder.evicted, other);
	} while (!swap_slot(t, slot, had, address_tag(address) << ID_BITS | id));
	if (other == 0)
		return at;
	at = put(at, t->last_ticks << 32, HEAP_EVICT, had & ID_MASK);
	*at++ = other;
	return at;
}

/* What the table has in the place of an address. */
static inline uint64_t slot_content(uint64_t address)
{
	return atomic_load_explicit(&recorder.ids[address_slot(address)], memory_order_acquire);
}

/*
 * Puts the id that is at `address` now into the table, which had `had` there. Returns the place after the words that
 * say what was forgotten for it.
 */
static inline uint64_t *enter_address(struct tracer_thread *t, uint64_t *at, uint64_t address,
				      uint64_t had, uint64_t id)
{
	_Atomic uint64_t *slot = &recorder.ids[address_slot(address)];

	if (recorder.known)
		address_count(recorder.known, address, 1);
	if (__builtin_expect(!slot_is_taken(had) && !address_is_odd(address), 1) &&
	    __builtin_expect(swap_slot(t, slot, had, address_tag(address) << ID_BITS | id), 1))
		return at;
	return enter_taken(t, at, address, id);
}

/*
 * Takes what is known of the block at old->address, which is freed now, out of the table; false: nothing is. Sets slot
 * and ticks. t NULL: from any state.
 */
static inline bool leave_address(struct tracer_thread *t, struct tracer_old *old)
{
	_Atomic uint64_t *slot = &recorder.ids[address_slot(old->address)];
	uint64_t ticks = now();

	old->slot = atomic_load_explicit(slot, memory_order_acquire);
	if (!slot_is_of(old->slot, old->address) || address_is_odd(old->address)) {
		old->slot = 0;
		return false;
	}
	old->ticks = t ? time_of_free(t, old->slot, ticks) : now_after();
	/* Another address may have taken the slot by now; then that one stays, and this one is counted as forgotten. */
	if (swap_slot(t, slot, old->slot, slot_freed(old->slot, old->ticks)) && recorder.known)
		address_count(recorder.known, old->address, (uint8_t)-1);
	return true;
}

static __attribute__((noinline)) void time_note(struct tracer_thread *t, uint64_t ticks)
{
	uint64_t took = now_after() - ticks;

	/* Longer is not ours: the thread did not run. */
	if (took < (MOST_NOTE_TICKS >> recorder.tick_shift)) {
		atomic_fetch_add_explicit(&t->n_timed, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&t->timed_ticks, took, memory_order_relaxed);
	}
}

/* A note is done that was begun at `ticks`. */
static inline void count_note(struct tracer_thread *t, uint64_t ticks)
{
	uint64_t n;

	if (__builtin_expect(!(recorder.options.most_share > 0), 1))
		return;
	n = atomic_load_explicit(&t->n_notes, memory_order_relaxed);
	atomic_store_explicit(&t->n_notes, n + 1, memory_order_relaxed);
	if (n % TIMED_OF == 0)
		time_note(t, ticks);
}

static uint64_t size_and_kind(size_t size, unsigned kind)
{
	uint64_t most = (UINT64_C(1) << NOTE_KIND_SHIFT) - 1;

	return (size < most ? size : most) | (uint64_t)kind << NOTE_KIND_SHIFT;
}

/*
 * A new block at address: with `old`, what its realloc ended (0: an alloc). decided: the time that it has in any case, or
 * 0; that was not read before anything that the thread has seen.
 */
static inline __attribute__((always_inline)) void put_block(struct tracer_thread *t,
							    const struct walk_start *from,
							    uint64_t address, uint64_t operand,
							    uint64_t decided,
							    const struct tracer_old *old)
{
	uint64_t ticks = decided ? decided : now(), had = slot_content(address),
		 stack = live_stack(t, from), head;
	uint64_t *begin = claim(t, &head), *at = begin;
	bool addresses = recorder.options.addresses;
	uint64_t op = !old        ? (addresses ? NOTE_ALLOC_AT : HEAP_ALLOC)
		      : old->slot ? HEAP_REALLOC
				  : HEAP_REALLOC_ADDRESS;

	if (!begin)
		return;
	at = begin_note(t, at, decided ? decided : time_of_alloc(had, address, ticks), true);
	at = put(at, t->last_ticks << 32 | stack, op, operand);
	if (old || __builtin_expect(addresses, 0))
		*at++ = address;
	if (old) {
		*at++ = old->slot ? old->slot & ID_MASK : old->address;
		*at++ = old->ticks;
	}
	at = enter_address(t, at, address, had, t->next_id++);
	tracer_thread_told(t);
	publish(t, head, (uint64_t)(at - begin));
	count_note(t, ticks);
}

static __attribute__((noinline)) void note_realloc(struct tracer_thread *t,
						   const struct walk_start *from, uint64_t address,
						   uint64_t operand, uint64_t decided,
						   const struct tracer_old *old)
{
	put_block(t, from, address, operand, decided, old);
}

static inline __attribute__((always_inline)) void note_free(struct tracer_thread *t,
							    const struct walk_start *from,
							    const struct tracer_old *old)
{
	uint64_t head, *begin, *at;
	uint64_t stack = recorder.options.free_stacks ? live_stack(t, from) : 0;

	begin = at = claim(t, &head);
	if (!begin)
		return;
	at = begin_note(t, at, old->ticks, false);
	/* Or a block would seem to be freed next after it was made, when the others between were not sampled. */
	if (__builtin_expect(tracer_thread_passed(t), 0))
		at = put(at, t->last_ticks << 32, NOTE_CULLED_FREE, 0);
	tracer_thread_told(t);
	if (old->slot)
		at = put(at, t->last_ticks << 32 | stack, HEAP_FREE, old->slot & ID_MASK);
	else
		at = put(at, t->last_ticks << 32 | stack, HEAP_FREE_ADDRESS, old->address);
	publish(t, head, (uint64_t)(at - begin));
	count_note(t, old->ticks);
}

void tracer_record_alloc(const struct walk_start *from, void *p, size_t size, unsigned family)
{
	struct tracer_thread *t = tracer_thread_enter(from);
	uint64_t decided = 0;

	if (!t)
		return;
	if (tracer_sampled(t, size, &decided))
		put_block(t, from, (uint64_t)p, size_and_kind(size, family), decided, NULL);
	tracer_thread_leave(t);
}

void tracer_record_intent(const struct walk_start *from, size_t size, unsigned family)
{
	struct tracer_thread *t = tracer_thread_enter(from);
	const struct sample_rate *rate = &recorder.rate;

	if (!t)
		return;
	t->intent.operand = 0;
	atomic_signal_fence(memory_order_seq_cst);
	t->intent.head = atomic_load_explicit(&t->head, memory_order_relaxed);
	t->intent.ticks = now();
	t->intent.stack = live_stack(t, from);
	atomic_signal_fence(memory_order_seq_cst);
	/* Of a sample it may not be one. */
	if (atomic_load(&rate->mean) == 0 && !(atomic_load(&recorder.n_switches) & 1))
		t->intent.operand = size_and_kind(size, family);
	tracer_thread_leave(t);
}

void tracer_record_none(void)
{
	for (struct tracer_thread *t = tracer_is_on() ? tracer_tls.thread : NULL; t; t = t->inner)
		t->intent.operand = 0;
}

/* What is known of a block that is about to go; false: nothing that would be missed. */
static inline bool known(struct tracer_thread *t, uint64_t address, struct tracer_old *old)
{
	old->address = address;
	if (recorder.known && !address_may_be_known(recorder.known, address))
		return false;
	if (leave_address(t, old))
		return true;
	if (!address_was_evicted(recorder.evicted, address))
		return false;
	old->ticks = now_after();
	return true;
}

void tracer_record_free(const struct walk_start *from, void *p)
{
	struct tracer_thread *t = tracer_thread_enter(from);
	struct tracer_old old;

	if (!t)
		return;
	if (known(t, (uint64_t)p, &old))
		note_free(t, from, &old);
	else
		tracer_thread_pass(t);
	tracer_thread_leave(t);
}

struct tracer_old tracer_record_give_up(void *p)
{
	struct tracer_old old = { (uint64_t)p, 0, 0 };

	if (!p || !tracer_is_on())
		return old;
	if (__builtin_expect(!tracer_tls.thread, 0))
		tracer_thread_meet();
	if (tracer_tls.busy == TRACER_SILENT && (tracer_forbidden_own() & LIMIT_NOTES))
		return old;
	/* May be in a handler of a signal that came while this thread was at a slot. */
	if (!known(NULL, (uint64_t)p, &old))
		old.address = 0;
	return old;
}

void tracer_record_realloc(const struct walk_start *from, const struct tracer_old *old, void *p,
			   size_t size)
{
	struct tracer_thread *t = tracer_thread_enter(from);
	uint64_t decided = 0;

	if (!t)
		return;
	if (tracer_sampled(t, size, &decided))
		note_realloc(t, from, (uint64_t)p, size_and_kind(size, HEAP_MALLOC), decided,
			     old->address ? old : NULL);
	else if (old->address)
		note_free(t, from, old);
	tracer_thread_leave(t);
}

void tracer_record_given_up(const struct walk_start *from, const struct tracer_old *old)
{
	struct tracer_thread *t = tracer_thread_enter(from);

	if (!t)
		return;
	if (old->address)
		note_free(t, from, old);
	else
		tracer_thread_pass(t);
	tracer_thread_leave(t);
}

void tracer_record_take_back(const struct walk_start *from, const struct tracer_old *old)
{
	struct tracer_thread *t = old->slot ? tracer_thread_enter(from) : NULL;
	uint64_t head, *begin, *at, last_ticks;

	if (!t)
		return;
	begin = at = claim(t, &head);
	if (begin) {
		last_ticks = t->last_ticks;
		/* Another address may have the slot by now, and is forgotten then. */
		at = begin_note(t, at, now_after(), false);
		at = enter_address(t, at, old->address, slot_content(old->address),
				   old->slot & ID_MASK);
		if (at == begin)
			t->last_ticks = last_ticks;
		publish(t, head, (uint64_t)(at - begin));
	}
	tracer_thread_leave(t);
}

void tracer_record_range(const struct walk_start *from, const struct tracer_range *range)
{
	struct tracer_thread *t = tracer_thread_enter(from);
	uint64_t head, *begin, *at;
	uint32_t stack;

	if (!t)
		return;
	stack = live_stack(t, from);
	begin = claim(t, &head);
	if (begin) {
		at = begin_note(t, begin, now(), false);
		at = put(at, t->last_ticks << 32 | stack, HEAP_RANGE,
			 size_and_kind(range->size, range->kind));
		*at++ = range->address;
		*at++ = range->old_address;
		*at++ = range->old_size;
		publish(t, head, (uint64_t)(at - begin));
	}
	tracer_thread_leave(t);
}
