/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads are kept in a list that only grows; ended ones are taken again by later threads. */
#include "config.h"

#include "record/heap/trace/tracer_thread.h"

#include "record/heap/hooks/real_calls.h"
#include "record/heap/stack/live_stack.h"
#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_writer.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LONGEST_MS  200u
#define MOST_STATES 64u /* of a thread: as many handlers may interrupt each other in the recorder */

__thread struct tracer_tls tracer_tls
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* An ended thread's state, for a new one; NULL: there is none. */
static struct tracer_thread *take_free(void)
{
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		uint32_t state = THREAD_FREE;

		if (atomic_compare_exchange_strong(&t->state, &state, THREAD_LIVE))
			return t;
	}
	return NULL;
}

/* What outlives the process. */
struct thread_memory {
	uint64_t ring[RING_WORDS];
	struct tracer_thread thread;
};

static struct tracer_thread *make(void)
{
	struct live_walk *walk = tracer_map(sizeof(*walk));
	struct thread_memory *m = walk ? shared_memory_map(sizeof(*m)) : NULL;
	struct tracer_thread *t;

	if (!m) {
		if (walk)
			tracer_unmap(walk, sizeof(*walk));
		return NULL;
	}
	t = &m->thread;
	t->ring = m->ring;
	t->walk = walk;
	t->walk->rules.find = live_stack_find_rule;
	atomic_store(&t->state, THREAD_LIVE);
	return t;
}

static void enlist(struct tracer_thread *t)
{
	uint32_t n = atomic_fetch_add(&recorder.box->n_threads, 1);

	if (n < BOX_THREADS)
		atomic_store(&recorder.box->thread[n], t);
	t->next = atomic_load(&recorder.threads);
	while (!atomic_compare_exchange_weak(&recorder.threads, &t->next, t))
		;
}

/* Those that have ended may be had again, when the writer has seen that they have. */
static void ask_for_free(void)
{
	atomic_store_explicit(&recorder.reap, true, memory_order_relaxed);
	atomic_fetch_add_explicit(&recorder.writer_word, 1, memory_order_relaxed);
	tracer_wake(&recorder.writer_word);
}

static void wait_1_ms(void)
{
	_Atomic uint32_t nobody = 0;

	tracer_sleep_on(&nobody, 0, 1);
}

/*
 * A second thread has come: from now on slots of the table of ids are changed as several threads must. Whoever
 * was alone may be at one, believing that it still is. That is a matter of a few instructions, and it said
 * so before it looked whether it is alone; but a processor keeps what it stores to itself for a while,
 * far shorter than the time that is waited here. When it then is not at a slot, it was not, or has
 * seen that it is not alone.
 */
static void end_of_alone(void)
{
	atomic_store(&recorder.alone, false);
	if (atomic_load(&recorder.together))
		return;
	wait_1_ms();
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next)
		/* No longer than that: a signal's handler may wait for us there. */
		for (unsigned i = 0; i < LONGEST_MS && atomic_load(&t->at_slot); i++)
			wait_1_ms();
	atomic_store(&recorder.together, true);
}

/* Makes t the state of this thread, `outer` being one that is in use already, or NULL. */
static void begin(struct tracer_thread *t, const struct tracer_thread *outer)
{
	t->tid = (pid_t)syscall(SYS_gettid);
	syscall(SYS_prctl, PR_GET_NAME, t->first_name);
	t->inner = NULL;
	t->noting = 0;
	t->index = atomic_fetch_add(&recorder.n_threads, 1) + 1;
	if (!outer) {
		if (t->index > 1)
			end_of_alone();
		live_stack_begin(t->walk, (uint64_t)__builtin_frame_address(0));
		return;
	}
	/* The handler may be on a stack of its own. */
	t->walk->n = 0;
	t->walk->stack_low = outer->walk->stack_low;
	t->walk->stack_high = outer->walk->stack_high;
	t->walk->stack_gap = outer->walk->stack_gap;
}

/* Puts a state for this thread into *place, unless a handler of signals has done so; or leaves it. */
static void find_state(struct tracer_thread **place, const struct tracer_thread *outer)
{
	int kept = errno;
	struct tracer_internal was = tracer_thread_internal(TRACER_INTERNAL);
	struct tracer_thread *t = *place ? NULL : take_free();
	bool is_new = !t && !*place;

	if (is_new) {
		ask_for_free();
		t = make();
	}
	if (t) {
		begin(t, outer);
		if (is_new)
			enlist(t);
		*place = t;
	}
	tracer_thread_resume(&was);
	errno = kept;
}

static void count_lost(void)
{
	struct tracer_thread *t = tracer_tls.thread;

	/* Told with its next note, which it may never come to where it is at one, or may not make any. */
	if (t && !atomic_load(&t->noting) && tracer_tls.busy != TRACER_SILENT)
		atomic_fetch_add_explicit(&t->n_unsaid, 1, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&recorder.box->n_unsaid, 1, memory_order_relaxed);
}

static bool is_own(const struct live_walk *w, uint64_t sp)
{
	return sp >= w->stack_low && sp < w->stack_high;
}

/*
 * Was the note that t is at left by a jump? That is certain on the thread's own stack only, whose frames call each other:
 * what is at a note on another one may go on when the thread is there again. by: another state, which is in use, to walk
 * with; or NULL, when only places are compared.
 */
static bool was_left(const struct tracer_thread *t, const struct walk_start *from,
		     struct tracer_thread *by)
{
	uint64_t sp = atomic_load_explicit(&t->noting, memory_order_relaxed);

	if (!sp || !is_own(t->walk, sp) || !is_own(t->walk, from->sp))
		return false;
	return from->sp >= sp || (by && live_stack_within(by, from, sp) == LIVE_LEFT);
}

/* Makes usable again what may have been left at any place of a note. */
static void put_in_order(struct tracer_thread *t)
{
	/* Ids and times that no note tells. */
	t->next_id = t->end_id = 0;
	if (t->last_ticks)
		t->least_ticks = t->last_ticks;
	t->last_ticks = 0;
	live_walk_flush(t->walk);
	atomic_store(&t->at_slot, false);
	atomic_store(&t->noting, 0);
}

static void put_left_in_order(const struct walk_start *from, struct tracer_thread *by)
{
	for (struct tracer_thread *t = tracer_tls.thread; t && t != by; t = t->inner)
		if (was_left(t, from, by))
			put_in_order(t);
}

void tracer_thread_meet(void)
{
	struct tracer_tls *tls = &tracer_tls;

	if (tls->thread || tls->busy)
		return;
	/* Of whoever made this thread, which is not known: of all. */
	tls->limits |= atomic_load(&recorder.limits);
	if (real.attached && atomic_load(&recorder.clock.counter) && !tracer_clock_may_read()) {
		tls->limits |= LIMIT_NOTES;
		tracer_forbidden_no_counter();
	}
	if (tls->limits & LIMIT_NOTES)
		tls->busy = TRACER_SILENT;
}

struct tracer_thread *tracer_thread_other(const struct walk_start *from)
{
	struct tracer_tls *tls = &tracer_tls;
	struct tracer_thread *t;

	tracer_thread_meet();
	tracer_forbidden_own();
	if (tls->busy == TRACER_INTERNAL || tls->busy == TRACER_SILENT)
		count_lost();
	if (tls->busy)
		return NULL;
	/* Where memory was short it may still be: not each event asks the kernel. */
	if (!tls->thread && tls->n_refused++ % 1024 == 0)
		find_state(&tls->thread, NULL);
	t = tls->thread;
	put_left_in_order(from, NULL);
	for (unsigned i = 1; t && atomic_load(&t->noting); i++) {
		if (!t->inner && i < MOST_STATES)
			find_state(&t->inner, t);
		t = t->inner;
	}
	if (!t) {
		count_lost();
	} else if (t != tls->thread) {
		atomic_store(&t->noting, from->sp);
		put_left_in_order(from, t);
	}
	return t;
}

struct tracer_internal tracer_thread_internal(enum tracer_busy how)
{
	struct tracer_internal was = { tracer_signals_block(), tracer_tls.busy };

	tracer_tls.busy = how;
	return was;
}

void tracer_thread_resume(const struct tracer_internal *was)
{
	tracer_tls.busy = was->busy;
	tracer_signals_restore(was->blocked);
}

bool tracer_thread_drain_self(void)
{
	uint64_t blocked;

	if (atomic_load(&recorder.writer_runs))
		return false;
	blocked = tracer_signals_block();
	if (!tracer_writer_drain())
		tracer_give_up(true);
	tracer_signals_restore(blocked);
	return true;
}

void tracer_threads_reap(void)
{
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		if (atomic_load(&t->state) == THREAD_LIVE &&
		    syscall(SYS_tgkill, recorder.pid, t->tid, 0) && errno == ESRCH)
			atomic_store(&t->state, THREAD_ENDED);
		if (atomic_load(&t->state) == THREAD_ENDED &&
		    atomic_load(&t->head) == atomic_load(&t->tail))
			tracer_writer_end_thread(t);
	}
}

/* Of a thread that may have ended in the middle of a note. */
static bool is_noting(const struct tracer_thread *t)
{
	return atomic_load(&t->noting) && syscall(SYS_tgkill, recorder.pid, t->tid, 0) == 0;
}

bool tracer_threads_note(void)
{
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next)
		if (atomic_load(&t->state) == THREAD_LIVE && is_noting(t))
			return true;
	return false;
}

bool tracer_threads_pass(uint64_t number)
{
	bool all = true;

	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		if (t->passed_number == number)
			continue;
		if (atomic_load(&t->state) == THREAD_LIVE && is_noting(t))
			all = false;
		else
			t->passed_number = number;
	}
	return all;
}

void tracer_threads_renew(void)
{
	atomic_store(&recorder.n_threads, 0);
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		if (atomic_load(&t->state) == THREAD_ENDED)
			atomic_store(&t->state, THREAD_FREE);
		if (atomic_load(&t->state) == THREAD_LIVE)
			t->index = atomic_fetch_add(&recorder.n_threads, 1) + 1;
		atomic_store(&t->tail, atomic_load(&t->head));
		t->tail_seen = atomic_load(&t->head);
		t->next_id = t->end_id = 0;
		t->passed_told = 0;
		atomic_store(&t->n_passed, 0);
		atomic_store(&t->n_passed_long, 0);
		t->n_notes = t->n_timed = t->timed_ticks = t->sample_mean = 0;
		t->taken = (struct tracer_taken){ .write_ticks = t->last_ticks };
		t->named_us = 0;
		t->intent.operand = 0;
		t->kept[0] = t->taken;
		t->kept[0].tail = atomic_load(&t->head);
		atomic_store(&t->kept_at, 0);
		atomic_store(&t->n_unsaid, 0);
		t->announced = false;
		t->name[0] = '\0';
	}
}

/* This thread's stays until its child forks: it may come back to where it is about to note with it. */
void tracer_threads_forked(void)
{
	static struct live_walk *stays;
	struct tracer_thread *own = tracer_tls.thread;

	if (own && stays) {
		tracer_unmap(stays, sizeof(*stays));
		stays = NULL;
	}
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		if (t == own)
			stays = t->walk;
		else
			tracer_unmap(t->walk, sizeof(*t->walk));
	}
	atomic_store(&recorder.threads, NULL);
	tracer_tls.thread = NULL;
	tracer_tls.n_refused = 0;
}

bool tracer_threads_ring(const void *page)
{
	uint64_t at = (uint64_t)(uintptr_t)page;

	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next)
		if (at - (uint64_t)(uintptr_t)t->ring < RING_WORDS * sizeof(*t->ring))
			return true;
	return false;
}

void tracer_threads_rest(void)
{
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next)
		shared_memory_empty(t->ring, RING_WORDS * sizeof(*t->ring));
}
