/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads are kept in a list that only grows; ended ones are taken again by later threads. */
#include "config.h"

#include "tracer_thread.h"

#include "live_stack.h"
#include "tracer_memory.h"
#include "tracer_writer.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static struct tracer_thread *make(void)
{
	struct tracer_thread *t = tracer_map(sizeof(*t));

	if (!t)
		return NULL;
	t->ring = tracer_map(RING_WORDS * sizeof(*t->ring));
	t->walk = tracer_map(sizeof(*t->walk));
	t->stacks = tracer_map(STACK_SETS * sizeof(*t->stacks));
	if (!t->ring || !t->walk || !t->stacks)
		return NULL; /* what was mapped stays; there is no memory anyway */
	t->walk->rules.find = live_stack_find_rule;
	atomic_store(&t->state, THREAD_LIVE);
	return t;
}

static void enlist(struct tracer_thread *t)
{
	t->next = atomic_load(&recorder.threads);
	while (!atomic_compare_exchange_weak(&recorder.threads, &t->next, t))
		;
}

struct tracer_thread *tracer_thread_begin(void)
{
	int kept = errno;
	struct tracer_thread *t = take_free();
	bool is_new = !t;

	if (is_new)
		t = make();
	if (t) {
		t->tid = (pid_t)syscall(SYS_gettid);
		t->announced = false;
		t->name[0] = '\0';
		t->index = atomic_fetch_add(&recorder.n_threads, 1) + 1;
		live_stack_begin(t->walk, (uint64_t)__builtin_frame_address(0));
		if (is_new)
			enlist(t);
	}
	errno = kept;
	return t;
}

bool tracer_thread_drain_self(void)
{
	if (atomic_load(&recorder.writer_runs))
		return false;
	tracer_writer_drain();
	return true;
}

void tracer_threads_reap(void)
{
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		bool empty = atomic_load(&t->head) == atomic_load(&t->tail);
		uint32_t state = atomic_load(&t->state);

		if (state == THREAD_LIVE && syscall(SYS_tgkill, recorder.pid, t->tid, 0) &&
		    errno == ESRCH)
			atomic_store(&t->state, THREAD_ENDED);
		else if (state == THREAD_ENDED && empty)
			tracer_writer_end_thread(t);
	}
}
