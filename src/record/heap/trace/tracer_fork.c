/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The second word of the page that is empty in children (recorder.on) holds the pid of a child that waits: so the child of a
 * raw fork, whose locks may be anybody's, does not, and the guest of a vfork is told from its host.
 */
#include "config.h"

#include "record/heap/trace/tracer_fork.h"

#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_forbidden.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <unistd.h>

#define FORK_MS 1000u

/* What pthread_atfork calls; by its own name, as that is missing in other libcs, and would keep us out there. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
		      void *library) __attribute__((weak));

/* Of the thread that forks, between begin and end; its child has the same. */
static __thread struct {
	bool wanted; /* the child is to be recorded */
	bool held;   /* this thread holds all our locks */
	bool known;  /* the child is to be told of as one that is not recorded */
} fork_now __attribute__((tls_model("initial-exec")));

static _Atomic uint32_t *waiting_pid(void)
{
	return &recorder.on[TRACER_ON_WAITS];
}

static bool is_waiting(void)
{
	return recorder.on && atomic_load(waiting_pid()) == (uint32_t)getpid();
}

bool tracer_fork_is_guest(void)
{
	uint32_t pid = recorder.on ? atomic_load(waiting_pid()) : 0;

	return pid && pid != (uint32_t)getpid();
}

void tracer_fork_look(void)
{
	fork_now.known = recorder.options.only_pid && !recorder.options.children &&
			 (tracer_is_on() || atomic_load(waiting_pid()));
}

void tracer_fork_leave_alone(void)
{
	/* One that may not open files tells nobody. */
	if (!fork_now.known || tracer_forbidden_own())
		return;
	atomic_store(waiting_pid(), (uint32_t)getpid());
	hooks_begin_anew();
}

/* Locks may be anybody's: none is taken. */
bool tracer_fork_was_left(void)
{
	if (recorder.options.children || !is_waiting())
		return false;
	atomic_store(waiting_pid(), 0);
	return true;
}

static bool hold_all(void)
{
	struct tracer_lock *locks[] = { &recorder.ending, &recorder.drain, &recorder.slow,
					&recorder.trie.lock };
	size_t n = sizeof(locks) / sizeof(locks[0]), i = 0;

	while (i < n && tracer_lock_within(locks[i], FORK_MS))
		i++;
	if (i == n && tracer_writer_hold())
		return true;
	while (i)
		tracer_unlock(locks[--i]);
	return false;
}

static void release_all(void)
{
	tracer_writer_release();
	tracer_unlock(&recorder.trie.lock);
	tracer_unlock(&recorder.slow);
	tracer_unlock(&recorder.drain);
	tracer_unlock(&recorder.ending);
}

static bool is_recorded(void)
{
	return (tracer_is_on() && getpid() == recorder.pid) || is_waiting();
}

/* So that what the child inherits is whole. Not where we are at work ourselves: a handler of signals forks. */
static void before_fork(void)
{
	fork_now.wanted = is_recorded();
	/* A waiting child may begin on another thread until its locks are held. */
	fork_now.held = fork_now.wanted && tracer_thread_is_idle() && hold_all();
}

static void after_fork(void)
{
	if (fork_now.held)
		release_all();
}

static void after_fork_in_child(void)
{
	after_fork();
	/* One that may not open files is not recorded. */
	if (!fork_now.wanted || tracer_forbidden_own())
		return;
	if (!fork_now.held) {
		tracer_log(&recorder.options, "not recorded",
			   "it was forked while the recorder of its parent was busy");
		return;
	}
	atomic_store(waiting_pid(), (uint32_t)getpid());
	hooks_begin_anew();
}

void tracer_fork_await(void)
{
	static bool awaited;

	if (!awaited && __register_atfork)
		awaited = __register_atfork(before_fork, after_fork, after_fork_in_child, NULL) ==
			  0;
}

/* The lock keeps forks of other threads away until what they would inherit is whole. */
bool tracer_fork_begin(void)
{
	if (!is_waiting())
		return false;
	if (!tracer_lock_within(&recorder.ending, FORK_MS)) {
		tracer_log(&recorder.options, "not recorded", "another thread of it forked");
		return false;
	}
	atomic_store(waiting_pid(), 0);
	return true;
}

void tracer_fork_begun(void)
{
	tracer_unlock(&recorder.ending);
}
