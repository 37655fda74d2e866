/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tracer_loop.h"

#include "tracer_attach.h"
#include "tracer_facts.h"
#include "tracer_init.h"
#include "tracer_thread.h"
#include "tracer_writer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVERY_MS 200u
#define REAP_MS  5u
#define ASKED_MS 10u /* whoever asks cannot wake us */

/* Of the thread itself, and of who starts and ends it. */
static struct {
	uint64_t facts_us;  /* when usage and names were last looked at */
	uint64_t reaped_us; /* when ended threads were last looked for on demand */
	_Atomic pid_t tid;
	pthread_t thread; /* while recorder.writer_runs */
	sigset_t mask;    /* of the signals that the program had blocked when it was made */
} loop;

static uint64_t now_us(void)
{
	return (tracer_monotonic_ns() - recorder.clock.start_ns) / 1000;
}

/* Whoever ends the process tells of threads, too, with that lock. */
static void reap(void)
{
	tracer_lock(&recorder.drain);
	tracer_threads_reap();
	tracer_unlock(&recorder.drain);
}

static void tell_names(void)
{
	tracer_lock(&recorder.drain);
	tracer_facts_names();
	tracer_unlock(&recorder.drain);
}

static void look_around(void)
{
	uint64_t now = now_us();

	if (now - loop.facts_us < 1000000)
		return;
	loop.facts_us = now;
	tracer_facts_usage();
	tell_names();
	tracer_facts_modules();
	reap();
}

/* Lets ended threads go soon when others begin, but not at each of them: it is a call for each thread. */
static uint32_t reap_soon(void)
{
	uint64_t now = now_us();

	if (!atomic_load(&recorder.reap))
		return EVERY_MS;
	if (now - loop.reaped_us < REAP_MS * 1000)
		return REAP_MS;
	loop.reaped_us = now;
	atomic_store(&recorder.reap, false);
	reap();
	return EVERY_MS;
}

/*
 * All threads of the program have ended, the main one by pthread_exit: without us the last of them would have done this. Where
 * it ended by a system call of its own, with a status, that is the process's; which newer kernels take from its last thread.
 */
static _Noreturn void end_process(const sigset_t *mask, int status)
{
	sigset_t one;

	tracer_tls.busy = TRACER_IDLE;
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	if (WIFSIGNALED(status)) {
		/* A filter of seccomp ended it: a process with one thread ends by that signal. */
		tracer_end();
		signal(WTERMSIG(status), SIG_DFL);
		sigemptyset(&one);
		sigaddset(&one, WTERMSIG(status));
		pthread_sigmask(SIG_UNBLOCK, &one, NULL);
		raise(WTERMSIG(status));
	}
	if (status != 0) {
		tracer_end();
		syscall(SYS_exit, WEXITSTATUS(status));
	}
	exit(0);
}

static void *write_on(void *arg)
{
	sigset_t *mask = arg;
	int status;

	tracer_tls.busy = TRACER_POOL;
	/* Where the CPU is sampled, too, our work is told from the program's. */
	prctl(PR_SET_NAME, "proftop-heap");
	atomic_store(&loop.tid, (pid_t)syscall(SYS_gettid));
	while (tracer_is_on() && !atomic_load(&recorder.quit)) {
		uint32_t word = atomic_load(&recorder.writer_word), wait;

		tracer_writer_drain();
		look_around();
		wait = tracer_writer_throttle(reap_soon());
		if (tracer_facts_alone(&status))
			end_process(mask, status);
		tracer_attach_look();
		tracer_answer();
		if (atomic_load(&recorder.any_limits) && wait > ASKED_MS)
			wait = ASKED_MS;
		tracer_sleep_on(&recorder.writer_word, word, wait);
	}
	if (tracer_is_on())
		return NULL; /* for a while */
	tracer_attach_leave();
	if (atomic_exchange(&recorder.writer_runs, false))
		pthread_detach(pthread_self());
	return NULL;
}

bool tracer_loop_start(void)
{
	uint32_t busy = tracer_tls.busy;
	pthread_attr_t attr;
	bool runs = false;
	sigset_t all;

	atomic_store(&recorder.writer_runs, true); /* false again when it ends */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &loop.mask);
	tracer_tls.busy = TRACER_POOL;
	if (pthread_attr_init(&attr) == 0) {
		pthread_attr_setstacksize(&attr, 256 << 10);
		runs = pthread_create(&loop.thread, &attr, write_on, &loop.mask) == 0;
		pthread_attr_destroy(&attr);
	}
	if (!runs)
		atomic_store(&recorder.writer_runs, false);
	tracer_tls.busy = busy;
	pthread_sigmask(SIG_SETMASK, &loop.mask, NULL);
	return runs;
}

bool tracer_loop_pause(void)
{
	uint32_t busy = tracer_tls.busy;
	sigset_t all, mask;

	if (!tracer_is_on() || getpid() != recorder.pid ||
	    !atomic_exchange(&recorder.writer_runs, false))
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	tracer_tls.busy = TRACER_POOL;
	atomic_store(&recorder.quit, true);
	atomic_fetch_add(&recorder.writer_word, 1);
	tracer_wake(&recorder.writer_word);
	pthread_join(loop.thread, NULL);
	/* It is done with, but the kernel may still count it. */
	while (syscall(SYS_tgkill, recorder.pid, atomic_load(&loop.tid), 0) == 0)
		sched_yield();
	atomic_store(&recorder.quit, false);
	tracer_tls.busy = busy;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return true;
}
