/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beginning and end of a recording, and the way into the slow path. */
#include "config.h"

#include "tracer.h"

#include "address_ids.h"
#include "code_hooks.h"
#include "heap_records.h"
#include "tracer_attach.h"
#include "tracer_facts.h"
#include "tracer_file.h"
#include "tracer_init.h"
#include "tracer_loop.h"
#include "tracer_memory.h"
#include "tracer_switch.h"
#include "tracer_thread.h"
#include "tracer_throttle.h"
#include "tracer_writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOW_STACK_BYTES (512u << 10)
#define END_STACK_BYTES  (512u << 10)
#define END_MS           5000u
#define SLOW_LOCK_MS     500u
#define ON_BYTES         4096u
#define FORK_MS          1000u
#define QUIET_TRIES      1000u
#define QUIET_US         1000u
#define MOST_TURNS       30000000u /* a second or more, at 40 to 140 cycles each */

/* What pthread_atfork calls; by its own name, as that is missing in other libcs, and would keep us out there. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
		      void *library) __attribute__((weak));

struct recorder recorder __attribute__((visibility("hidden")));

/* Calls fn(arg) on another stack, whose upper end is `top`. */
static void call_on(void *top, void (*fn)(void *), void *arg)
{
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[fn]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg), [top] "+S"(top), [fn] "+d"(fn)
			 :
			 : "rbx", "rax", "rcx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0",
			   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
	register void *x0 __asm__("x0") = arg;

	/* x19 is kept by whom is called. */
	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[fn]\n\t"
			 "mov sp, x19"
			 : "+r"(x0)
			 : [top] "r"(top), [fn] "r"(fn)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "memory",
			   "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
			   "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
			   "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
			   "v31");
#endif
}

bool tracer_run_slow(void (*fn)(void *arg), void *arg)
{
	uint64_t blocked = tracer_signals_block();
	int kept = errno;
	bool got = tracer_lock_within(&recorder.slow, SLOW_LOCK_MS);

	if (got) {
		recorder.modules.no_files = tracer_tls.limits != 0;
		call_on(recorder.slow_stack + SLOW_STACK_BYTES, fn, arg);
		tracer_unlock(&recorder.slow);
	}
	tracer_signals_restore(blocked);
	errno = kept;
	return got;
}

void tracer_stop(const char *why)
{
	/* Before threads go on: one of them may end the process, which waits for nobody then. */
	if (why)
		tracer_log(&recorder.options, "recording stopped", why);
	atomic_store(recorder.on, 0);
	atomic_fetch_add(&recorder.room_word, 1);
	tracer_wake(&recorder.room_word);
	if (why)
		tracer_attach_tell_why(why);
}

/* For kernels that cannot empty a page in children. */
static void stop_in_child(void)
{
	atomic_store(recorder.on, 0);
}

static bool make_switch(void)
{
	if (recorder.on)
		return true;
	recorder.on = tracer_map(ON_BYTES);
	if (!recorder.on)
		return false;
	return madvise((void *)recorder.on, ON_BYTES, MADV_WIPEONFORK) == 0 ||
	       (__register_atfork && __register_atfork(NULL, NULL, stop_in_child, NULL) == 0);
}

/* Between the begin of a fork and its end: are all our locks held by the thread that forks? */
static bool fork_held;
static bool is_child; /* of a fork, and its recording has not begun */

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

/* So that what the child inherits is whole. Not where we are at work ourselves: a handler of signals forks. */
static void before_fork(void)
{
	fork_held = tracer_is_on() && getpid() == recorder.pid && tracer_thread_is_idle() &&
		    hold_all();
}

static void after_fork(void)
{
	if (fork_held)
		release_all();
	fork_held = false;
}

/* Its recording begins when it allocates: most children become another program before. */
static void after_fork_in_child(void)
{
	/* One that may not open files is not recorded. */
	is_child = fork_held && !tracer_limits_own();
	after_fork();
	if (is_child)
		hooks_begin_anew();
}

static void await_forks(void)
{
	static bool awaited;

	if (!awaited && recorder.options.children && __register_atfork)
		awaited = __register_atfork(before_fork, after_fork, after_fork_in_child, NULL) ==
			  0;
}

static bool make_memory(void)
{
	if (recorder.slow_stack)
		return true;
	if (!tracer_memory_init() || !live_modules_init(&recorder.modules) ||
	    !stack_trie_init(&recorder.trie) || !stack_cache_init(&recorder.stacks))
		return false;
	recorder.ids = tracer_map(ID_SLOTS * sizeof(*recorder.ids));
	recorder.evicted = tracer_map(EVICTED_BYTES);
	recorder.slow_stack = tracer_map(SLOW_STACK_BYTES);
	recorder.end_stack = tracer_map(END_STACK_BYTES);
	return recorder.ids && recorder.evicted && recorder.slow_stack && recorder.end_stack;
}

/* The writer tells of it. */
static void toggle(int number)
{
	(void)number;
	tracer_switch_over();
}

/* Only when it was asked for, and nobody else handles it. */
static void await_toggle(uint32_t number)
{
	struct sigaction act = { .sa_handler = toggle, .sa_flags = SA_RESTART }, had;

	if (number && sigaction((int)number, NULL, &had) == 0 && had.sa_handler == SIG_DFL)
		sigaction((int)number, &act, NULL);
}

/* "PROGRAM writes: PATH": proftop record tells its user that. */
static void log_begun(void)
{
	static const char writes[] = " writes";
	char what[TRACER_MAX_PATH + sizeof(writes)];

	tracer_options_program(what);
	memcpy(what + strlen(what), writes, sizeof(writes));
	tracer_log_info(&recorder.options, what, tracer_writer_path());
	if (recorder.options.size_raised)
		tracer_log(&recorder.options, "PROFTOP_MAX_SIZE",
			   recorder.options.keep_newest
				   ? "400k, the least that the newest events can be kept in"
				   : "256k, the least that a trace can be");
}

/* "PROGRAM is left alone": a program that the recorded process ran. */
static void log_left_alone(void)
{
	static const char is[] = " is left alone";
	char what[TRACER_MAX_PATH + sizeof(is)];

	tracer_options_program(what);
	memcpy(what + strlen(what), is, sizeof(is));
	tracer_log_if_there(&recorder.options, what);
}

/* NULL: events are recorded from now on. Else why not; "" when that is what was asked for. */
static const char *begin(const char *settings)
{
	const char *why = "no memory";

	recorder.pid = getpid();
	if (!tracer_options_read(&recorder.options, settings))
		return "the path of the trace is too long";
	if (recorder.options.disabled)
		return "";
	if (recorder.options.only_pid && recorder.options.only_pid != (uint32_t)recorder.pid) {
		log_left_alone();
		return "";
	}
	recorder.modules.changed = tracer_facts_module;
	if (!recorder.next_chunk) {
		recorder.next_chunk = 1;
		atomic_store(&recorder.alone, true);
	}
	tracer_clock_init(&recorder.clock);
	/* A unit of 16 ns or so: 32 bits of them are enough between two looks. */
	recorder.tick_shift = recorder.clock.counter ? TRACER_COUNTER_SHIFT : 4;
	tracer_throttle_begin();
	if (!make_memory() || !make_switch() || !tracer_writer_init(&why))
		return why;
	tracer_switch_begin(recorder.options.paused);
	await_toggle(recorder.options.toggle_signal);
	await_forks();
	if (settings)
		code_hooks_look();
	code_hooks_tell();
	tracer_facts_odd();
	tracer_attach_tell(tracer_writer_path());
	atomic_store(recorder.on, 1);
	log_begun();
	return NULL;
}

struct ending {
	void (*fn)(const char *path);
	const char *path;
};

static void call_ending(void *arg)
{
	const struct ending *e = arg;

	e->fn(e->path);
}

/* What a thread that may not write wants of the one that does; whoever sees ASK_NONE may begin to ask. */
enum ask { ASK_NONE, ASK_BEGUN, ASK_MADE };
static struct {
	struct ending what;
	_Atomic uint32_t state; /* enum ask */
} asked;

/* In the child of a fork: nothing of the parent's blocks is known, their frees are nothing. */
static const char *begin_child(void)
{
	const char *why;

	is_child = false;
	atomic_store(&recorder.n_checked, 0);
	atomic_store(&recorder.n_wrong, 0);
	atomic_store(&recorder.limits, 0);
	atomic_store(&recorder.any_limits, false);
	atomic_store(&asked.state, ASK_NONE);
	tracer_writer_forget();
	tracer_threads_forked();
	madvise((void *)recorder.ids, ID_SLOTS * sizeof(*recorder.ids), MADV_DONTNEED);
	madvise((void *)recorder.evicted, EVICTED_BYTES, MADV_DONTNEED);
	why = tracer_begin_again(NULL);
	if (!why)
		tracer_loop_start();
	return why;
}

void tracer_begin(void)
{
	int kept = errno;
	struct tracer_internal was = tracer_thread_internal(TRACER_POOL);
	const char *why;

	why = is_child ? begin_child() : begin(NULL);
	if (why && *why)
		tracer_log(&recorder.options, "not recorded", why);
	tracer_thread_resume(&was);
	errno = kept;
}

/* Waits until no thread is within a note of the last recording. */
static bool are_quiet(void)
{
	for (unsigned i = 0; i < QUIET_TRIES; i++) {
		if (!tracer_threads_note())
			return true;
		usleep(QUIET_US);
	}
	return false;
}

const char *tracer_begin_again(const char *settings)
{
	const char *why;

	if (recorder.on) {
		if (!are_quiet())
			return "a thread of it is still busy with the last recording";
		/* What was loaded or unloaded since then: rules are found anew. */
		tracer_facts_modules();
		atomic_fetch_add(&recorder.rules_epoch, 1);
		tracer_threads_renew();
	}
	why = begin(settings);
	if (!why)
		tracer_facts_all_modules();
	return why && !*why ? "its settings say that it is not to be recorded" : why;
}

void tracer_rest(void)
{
	if (!recorder.ids || !are_quiet())
		return;
	madvise((void *)recorder.ids, ID_SLOTS * sizeof(*recorder.ids), MADV_DONTNEED);
	madvise((void *)recorder.evicted, EVICTED_BYTES, MADV_DONTNEED);
	stack_cache_empty(&recorder.stacks);
	tracer_threads_rest();
}

void tracer_begin_writing(void)
{
	int kept = errno;

	if (tracer_is_on())
		tracer_loop_start();
	errno = kept;
}

static void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

/*
 * Has the thread that writes run fn, and waits for that without a call of the kernel, as whoever asks may not make any;
 * for a second or more, not for ever. The child of a vfork, which is not us, must not: where that cannot be told nothing
 * is written.
 */
static void ask(void (*fn)(const char *), const char *path)
{
	uint32_t none = ASK_NONE, limits = tracer_tls.limits;

	if (atomic_load(&tracer_tls.guest.is_there) || (limits & LIMIT_PID) ||
	    (!(limits & LIMIT_NOTES) && getpid() != recorder.pid))
		return;
	if (atomic_compare_exchange_strong(&asked.state, &none, ASK_BEGUN)) {
		asked.what = (struct ending){ fn, path };
		atomic_store(&asked.state, ASK_MADE);
	}
	for (unsigned i = 0; i < MOST_TURNS && atomic_load(&asked.state) != ASK_NONE &&
			     atomic_load(&recorder.writer_runs);
	     i++)
		relax();
}

void tracer_answer(void)
{
	if (atomic_load(&asked.state) != ASK_MADE)
		return;
	if (tracer_lock_within(&recorder.ending, END_MS)) {
		call_on(recorder.end_stack + END_STACK_BYTES, call_ending, &asked.what);
		tracer_unlock(&recorder.ending);
	}
	atomic_store(&asked.state, ASK_NONE);
}

/*
 * Runs fn as the recorder's own doing, if this process is the one that is recorded: on a stack of our own, as handlers
 * of crashes and coroutines have small ones, and where a cancelled thread does not end.
 */
static void run_internal(void (*fn)(const char *), const char *path)
{
	struct ending e = { fn, path };
	struct tracer_internal was;
	int kept = errno, state;

	if (tracer_limits_own()) {
		if (tracer_is_on())
			ask(fn, path);
		errno = kept;
		return;
	}
	/* The child of a vfork has our memory, but is not us. */
	if (tracer_is_on() && getpid() == recorder.pid) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		was = tracer_thread_internal(TRACER_INTERNAL);
		if (tracer_lock_within(&recorder.ending, END_MS)) {
			call_on(recorder.end_stack + END_STACK_BYTES, call_ending, &e);
			tracer_unlock(&recorder.ending);
		}
		tracer_thread_resume(&was);
		pthread_setcancelstate(state, NULL);
	}
	errno = kept;
}

static void finish(const char *path)
{
	(void)path;
	tracer_writer_finish(HEAP_STOP_EXIT);
}

static void flush(const char *path)
{
	(void)path;
	tracer_writer_flush();
}

void tracer_flush(void)
{
	run_internal(flush, NULL);
}

void tracer_end(void)
{
	run_internal(finish, NULL);
}

void tracer_exec(const char *path)
{
	run_internal(tracer_writer_exec, path);
}
