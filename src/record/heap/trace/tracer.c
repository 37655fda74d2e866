/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Beginning and end of a recording, and the way into the slow path. */
#include "config.h"

#include "record/heap/trace/tracer.h"

#include "heaptrace/heap_records.h"
#include "record/heap/patch/patch_allocators.h"
#include "record/heap/trace/live_blocks.h"
#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/tracer_attach.h"
#include "record/heap/trace/tracer_facts.h"
#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_fork.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_loop.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_switch.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_throttle.h"
#include "record/heap/trace/tracer_writer.h"

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
	bool are_held = tracer_tls.holds_signals, got;
	uint64_t blocked = are_held ? 0 : tracer_signals_block();
	int kept = errno;

	got = tracer_lock_within(&recorder.slow, SLOW_LOCK_MS);
	if (got) {
		recorder.modules.no_files = tracer_tls.limits != 0;
		call_on(recorder.slow_stack + SLOW_STACK_BYTES, fn, arg);
		tracer_unlock(&recorder.slow);
	}
	if (!are_held)
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
	shared_memory_state(KEPT_FINISHED);
	atomic_fetch_add(&recorder.room_word, 1);
	tracer_wake(&recorder.room_word);
	if (why)
		tracer_attach_tell_why(why);
}

static _Atomic bool gave_up_untold;

void tracer_came_back(void)
{
	if (!atomic_exchange(&gave_up_untold, false))
		return;
	tracer_writer_gave_up();
	tracer_log(&recorder.options, "recording stopped", heap_stop_text(HEAP_STOP_STUCK));
}

void tracer_give_up(bool is_gone)
{
	const char *why = heap_stop_text(HEAP_STOP_STUCK);

	if (!atomic_exchange(recorder.on, 0))
		return;
	atomic_fetch_add(&recorder.room_word, 1);
	tracer_wake(&recorder.room_word);
	/* What might wait for the same disk is left to the thread, if it ever comes back. */
	if (is_gone)
		tracer_writer_gave_up();
	if (is_gone || !tracer_log_is_beside(tracer_writer_device()))
		tracer_log(&recorder.options, "recording stopped", why);
	else
		atomic_store(&gave_up_untold, true);
	tracer_attach_tell_why(why);
}

/* Of the thread that forks. Its state lies in memory that its child shares, where it notes events while the child asks. */
static __thread bool forks_idle __attribute__((tls_model("initial-exec")));

static void look_before_fork(void)
{
	forks_idle = tracer_thread_is_idle();
	tracer_fork_look();
}

/*
 * The page is empty there, but for kernels that cannot do that. What outlives us is the parent's. But a child that was forked by
 * a handler of signals may come back into a note, or to where one begins: it finds a copy at the same addresses.
 */
static void stop_in_child(void)
{
	atomic_store(recorder.on, 0);
	atomic_store(&recorder.on[TRACER_ON_WAITS], 0);
	if (recorder.box) {
		shared_memory_copy(tracer_threads_ring);
		if (forks_idle)
			tracer_threads_forked();
	}
	if (forks_idle)
		tracer_fork_leave_alone();
}

static bool make_switch(void)
{
	bool wiped, told;

	if (recorder.on)
		return true;
	recorder.on = tracer_map(ON_BYTES);
	if (!recorder.on)
		return false;
	wiped = madvise((void *)recorder.on, ON_BYTES, MADV_WIPEONFORK) == 0;
	told = __register_atfork &&
	       __register_atfork(look_before_fork, NULL, stop_in_child, NULL) == 0;
	return wiped || told;
}

/* What outlives us, if that can be had. */
static bool make_box(void)
{
	struct pending_state *box;

	if (recorder.box)
		return true;
	shared_memory_begin();
	box = shared_memory_map(sizeof(*box));
	if (!box)
		return false;
	box->record_memory = shared_memory_map(BOX_RECORD_QUEUE * BOX_RECORD_BYTES);
	box->layout = box_layout();
	box->next_chunk = 1;
	recorder.trie.told_chunk = box->chunk;
	recorder.trie.told_nodes = &box->n_nodes;
	if (box->record_memory)
		recorder.box = box;
	return recorder.box != NULL;
}

static bool make_memory(void)
{
	if (recorder.slow_stack)
		return true;
	if (!make_box() || !tracer_memory_init() || !live_modules_init(&recorder.modules) ||
	    !stack_trie_init(&recorder.trie) || !stack_cache_init(&recorder.stacks))
		return false;
	recorder.ids = tracer_map(ID_SLOTS * sizeof(*recorder.ids));
	recorder.evicted = tracer_map(EVICTED_BYTES);
	recorder.slow_stack = tracer_map(SLOW_STACK_BYTES);
	recorder.end_stack = tracer_map(END_STACK_BYTES);
	return recorder.ids && recorder.evicted && recorder.slow_stack && recorder.end_stack;
}

/* As before the first event of a recording: no block is known. */
static void forget_blocks(void)
{
	madvise((void *)recorder.ids, ID_SLOTS * sizeof(*recorder.ids), MADV_DONTNEED);
	madvise((void *)recorder.evicted, EVICTED_BYTES, MADV_DONTNEED);
	if (recorder.known)
		madvise((void *)recorder.known, 1u << KNOWN_BITS, MADV_DONTNEED);
}

/* Where not all are recorded, now or later, what is known is counted from the first one on. */
static bool make_counters(void)
{
	static _Atomic uint8_t *known;
	bool some = recorder.options.sample_bytes || recorder.options.most_share > 0;

	if (some && !known)
		known = tracer_map(1u << KNOWN_BITS);
	recorder.known = some ? known : NULL;
	return !some || known;
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

#define LEFT_FORK " forked and"

/* "PROGRAM is left alone": a program that the recorded process ran; or "PROGRAM forked and is left alone". */
static void log_left_alone(const char *how)
{
	static const char is[] = " is left alone";
	char what[TRACER_MAX_PATH + sizeof(LEFT_FORK) + sizeof(is)];
	size_t n;

	tracer_options_program(what);
	n = strlen(what);
	memcpy(what + n, how, strlen(how));
	memcpy(what + n + strlen(how), is, sizeof(is));
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
		log_left_alone("");
		return "";
	}
	recorder.modules.changed = tracer_facts_module;
	tracer_clock_init(&recorder.clock);
	/* A unit of 16 ns or so: 32 bits of them are enough between two looks. */
	recorder.tick_shift = recorder.clock.counter ? TRACER_COUNTER_SHIFT : 4;
	tracer_throttle_begin();
	/* Before the first recording. */
	if (!recorder.box)
		atomic_store(&recorder.alone, true);
	if (!make_memory() || !make_counters() || !make_switch() || !tracer_writer_init(&why))
		return why;
	tracer_switch_begin(recorder.options.paused);
	await_toggle(recorder.options.toggle_signal);
	if (recorder.options.children)
		tracer_fork_await();
	if (settings)
		patch_allocators_look();
	patch_allocators_tell();
	tracer_facts_odd();
	tracer_facts_crowded();
	tracer_attach_tell(tracer_writer_path(), patch_allocators_unseen());
	atomic_store(recorder.on, 1);
	log_begun();
	return NULL;
}

static void log_left_fork(void *arg)
{
	(void)arg;
	log_left_alone(LEFT_FORK);
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

	/* The program's stack may be a small one. */
	if (tracer_fork_was_left())
		call_on(recorder.end_stack + END_STACK_BYTES, log_left_fork, NULL);
	if (!tracer_fork_begin())
		return NULL;
	atomic_store(&recorder.n_checked, 0);
	atomic_store(&recorder.n_wrong, 0);
	atomic_store(&recorder.limits, 0);
	atomic_store(&recorder.any_limits, false);
	atomic_store(&asked.state, ASK_NONE);
	tracer_writer_forget();
	recorder.box = NULL;
	stack_cache_empty(&recorder.stacks);
	stack_trie_forget(&recorder.trie);
	forget_blocks();
	why = make_box() ? tracer_begin_again(NULL) : "no memory";
	if (!why)
		tracer_loop_start();
	tracer_fork_begun();
	return why;
}

void tracer_begin(void)
{
	int kept = errno;
	struct tracer_internal was = tracer_thread_internal(TRACER_POOL);
	const char *why;

	why = recorder.on ? begin_child() : begin(NULL);
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
	forget_blocks();
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
 * for a second or more, not for ever. The child of a vfork, which is not us, must not.
 */
static void ask(void (*fn)(const char *), const char *path)
{
	uint32_t none = ASK_NONE;

	if (atomic_load(&tracer_tls.guest.is_there))
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

	if (tracer_forbidden_own()) {
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
	if (!tracer_is_on())
		shared_memory_remove();
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
	/*
	 * A thread that may not ask who it is may be the child of a vfork, for which the recording does not end. What there is to
	 * tell of it is told.
	 */
	if (tracer_forbidden_own()) {
		tracer_flush();
		return;
	}
	run_internal(tracer_writer_exec, path);
}

void tracer_exec_failed(void)
{
	if (!tracer_is_on() || !atomic_load(&recorder.box->becomes))
		return;
	atomic_store(&recorder.box->becomes, false);
	shared_memory_state(KEPT_IN_USE);
}
