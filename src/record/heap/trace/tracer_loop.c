/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "record/heap/trace/tracer_loop.h"

#include "record/heap/trace/kernel_stat.h"
#include "record/heap/trace/tracer_attach.h"
#include "record/heap/trace/tracer_facts.h"
#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_forbidden.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVERY_MS 200u
#define REAP_MS  5u
#define ASKED_MS 10u /* whoever asks cannot wake us */
#define END_MS   2000u
#define STEP_MS  10u
#define YIELDS   100u

/*
 * In the first seconds memory use is read more often than once a second: by this part of the time since the beginning. Else a program of
 * half a second had no reading near its peak.
 */
#define EARLY_LEAST_US UINT64_C(20000)
#define EARLY_MOST_US  UINT64_C(1000000)
#define EARLY_PART     8
#define LOOK_NS        UINT64_C(2000000000)
#define STUCK_NS       UINT64_C(10000000000)

enum loop_state { LOOP_RUNS, LOOP_QUITS, LOOP_ENDED };

/* Of the thread itself, and of who starts and ends it. */
static struct {
	uint64_t facts_us;  /* when usage and names were last looked at */
	uint64_t early_us;  /* when memory use is read next in the first seconds */
	uint64_t reaped_us; /* when ended threads were last looked for on demand */
	_Atomic pid_t tid;
	_Atomic uint32_t state; /* enum loop_state */
	pthread_t thread;       /* while recorder.writer_runs */
	sigset_t mask;          /* of the signals that the program had blocked when it was made */
} loop;

static uint64_t now_us(void)
{
	return (tracer_monotonic_ns() - recorder.clock.start_ns) / 1000;
}

/* Whoever ends the process tells of threads, too, with that lock. */
static void reap(void)
{
	if (!tracer_lock(&recorder.drain))
		return;
	tracer_threads_reap();
	tracer_unlock(&recorder.drain);
}

static void tell_names(void)
{
	if (!tracer_lock(&recorder.drain))
		return;
	tracer_facts_names();
	tracer_unlock(&recorder.drain);
}

static void look_around(void)
{
	uint64_t now = now_us();

	if (now - loop.facts_us < 1000000)
		return;
	loop.facts_us = now;
	tracer_facts_usage(true);
	tell_names();
	tracer_facts_modules();
	reap();
}

/* Returns the time to the next early reading, if there is one before EVERY_MS. */
static uint32_t look_early(void)
{
	uint64_t now = now_us(), wait = now / EARLY_PART;

	if (wait >= EARLY_MOST_US)
		return EVERY_MS;
	/* A forked process counts its time anew. */
	if (now >= loop.early_us || loop.early_us - now > EARLY_MOST_US) {
		loop.early_us = now + (wait > EARLY_LEAST_US ? wait : EARLY_LEAST_US);
		tracer_facts_usage(false);
	}
	wait = (loop.early_us - now) / 1000 + 1;
	return wait < EVERY_MS ? (uint32_t)wait : EVERY_MS;
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

/* Is it to end for a while? Then whoever waits for that knows that it does. */
static bool quits(void)
{
	uint32_t asked = LOOP_QUITS;

	if (!atomic_compare_exchange_strong(&loop.state, &asked, LOOP_ENDED))
		return false;
	tracer_wake(&loop.state);
	return true;
}

static void *write_on(void *arg)
{
	sigset_t *mask = arg;
	int status;

	tracer_tls.busy = TRACER_POOL;
	/* Where the CPU is sampled, too, our work is told from the program's. */
	prctl(PR_SET_NAME, "proftop-heap");
	atomic_store(&loop.tid, (pid_t)syscall(SYS_gettid));
	while (tracer_is_on()) {
		uint32_t word = atomic_load(&recorder.writer_word), wait, early;

		if (quits())
			return NULL;
		atomic_fetch_add_explicit(&recorder.writer_beat, 1, memory_order_relaxed);
		tracer_writer_drain();
		look_around();
		early = look_early();
		wait = tracer_writer_throttle(reap_soon());
		wait = wait < early ? wait : early;
		if (tracer_facts_alone(&status))
			end_process(mask, status);
		tracer_attach_look();
		tracer_answer();
		if (atomic_load(&recorder.any_limits) && wait > ASKED_MS)
			wait = ASKED_MS;
		tracer_sleep_on(&recorder.writer_word, word, wait);
	}
	tracer_came_back();
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

	if (atomic_load(&recorder.no_start))
		return false;
	atomic_store(&loop.tid, 0);
	atomic_store(&loop.state, LOOP_RUNS);
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

/* The thread is no more, by no doing of ours: who fills rings empties them from now on, if it left all in order. */
static void take_over(void)
{
	static const char text[] =
		"the recorder's thread was ended by somebody: the program's own threads write from here on";
	struct heap_record r = { .type = HEAP_REC_NOTE };
	struct tracer_internal was = tracer_thread_internal(TRACER_POOL);

	if (!tracer_lock_within(&recorder.drain, END_MS)) {
		tracer_give_up(true);
	} else {
		bool runs = atomic_exchange(&recorder.writer_runs, false);

		tracer_unlock(&recorder.drain);
		r.text[0] = (struct heap_text){ (const uint8_t *)text, sizeof(text) - 1 };
		if (runs) {
			tracer_writer_record(&r);
			tracer_log(&recorder.options, text, NULL);
		}
	}
	tracer_thread_resume(&was);
}

void tracer_loop_await(struct loop_watch *w, uint32_t word, uint32_t ms)
{
	uint32_t beat = atomic_load(&recorder.writer_beat);
	pid_t tid = atomic_load(&loop.tid);
	int kept = errno;

	atomic_fetch_add_explicit(&recorder.writer_word, 1, memory_order_relaxed);
	tracer_wake(&recorder.writer_word);
	if (beat != w->beat)
		w->waited_ns = w->looked_ns = 0;
	w->beat = beat;
	/* Signals end a turn, and so does room in other rings: a busy program has any number of these a second. */
	w->waited_ns += tracer_sleep_some(&recorder.room_word, word, ms);
	if (w->waited_ns > STUCK_NS) {
		tracer_give_up(false);
	} else if (w->waited_ns - w->looked_ns >= LOOK_NS) {
		w->looked_ns = w->waited_ns;
		if (tid && syscall(SYS_tgkill, recorder.pid, tid, 0) && errno == ESRCH)
			take_over();
	}
	errno = kept;
}

/* Waits until the thread that writes sees that it is to end. False: it is held up, and goes on. */
static bool await_end(void)
{
	uint32_t asked = LOOP_QUITS;

	atomic_store(&loop.state, LOOP_QUITS);
	atomic_fetch_add(&recorder.writer_word, 1);
	tracer_wake(&recorder.writer_word);
	for (uint32_t waited = 0; waited < END_MS && atomic_load(&loop.state) == LOOP_QUITS;
	     waited += STEP_MS)
		tracer_sleep_on(&loop.state, LOOP_QUITS, STEP_MS);
	return !atomic_compare_exchange_strong(&loop.state, &asked, LOOP_RUNS);
}

/* It is done with, but the kernel may still count it. */
static void await_gone(void)
{
	_Atomic uint32_t nobody = 0;

	for (uint32_t i = 0; i < YIELDS + END_MS; i++) {
		if (syscall(SYS_tgkill, recorder.pid, atomic_load(&loop.tid), 0)) {
			pthread_join(loop.thread, NULL);
			return;
		}
		if (i < YIELDS)
			sched_yield();
		else
			tracer_sleep_on(&nobody, 0, 1);
	}
	pthread_detach(loop.thread);
}

bool tracer_loop_end(void)
{
	struct tracer_internal was;
	bool ended;

	if (!tracer_is_on() || getpid() != recorder.pid ||
	    !atomic_exchange(&recorder.writer_runs, false))
		return false;
	was = tracer_thread_internal(TRACER_POOL);
	ended = await_end();
	if (ended)
		await_gone();
	else
		atomic_store(&recorder.writer_runs, true);
	tracer_thread_resume(&was);
	return ended;
}

struct loop_pause tracer_loop_pause(void)
{
	struct loop_pause p = { 0 };
	int kept = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &p.cancelable);
	if (tracer_is_on() && !tracer_forbidden_own() && tracer_thread_is_idle())
		p.paused = tracer_loop_end();
	errno = kept;
	return p;
}

struct loop_pause tracer_loop_pause_alone(void)
{
	struct loop_pause p = { 0 };
	struct stat st;
	int kept = errno;

	/* Two links of the directory's own, the caller, and our thread. */
	if (tracer_is_on() && kernel_stat("/proc/self/task", &st) == 0 && st.st_nlink == 4)
		return tracer_loop_pause();
	errno = kept;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &p.cancelable);
	return p;
}

void tracer_loop_go_on(const struct loop_pause *p)
{
	int state;

	if (p->paused)
		tracer_begin_writing();
	pthread_setcancelstate(p->cancelable, &state);
}
