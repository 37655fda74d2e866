/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a filter allows is not looked into: it is a program, and whatever it makes of a call of ours would happen to the program
 * that is recorded. A thread that has one is left alone from then on.
 */
#include "config.h"

#include "record/heap/trace/tracer_forbidden.h"

#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_facts.h"
#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_loop.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <errno.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nothing is known of what a filter lets pass. */
#define LIMITS_OF_FILTER (LIMIT_NOTES | LIMIT_FILES)

/* The writer goes within so many turns, which take a second or more. */
#define MOST_TURNS 100000000u

/* What the thread that writes has yet to tell: a bit for each. */
enum news { NEWS_STRICT, NEWS_FILTER, NEWS_COUNTER, NEWS_END, N_NEWS };
static _Atomic uint32_t untold;

/* Is all of it in memory? The kernel may refuse it for that. */
static bool is_readable(const struct sock_fprog *f)
{
	if (!tracer_readable(f, sizeof(*f)))
		return false;
	return f->len <= BPF_MAXINSNS && tracer_readable(f->filter, f->len * sizeof(*f->filter));
}

static const char *const news[N_NEWS] = {
	[NEWS_STRICT] =
		"a thread is not recorded from here on: it entered the strict mode of seccomp",
	[NEWS_FILTER] =
		"a thread, and those that begin later, are not recorded from here on: it loaded a filter of seccomp, which may forbid calls of the kernel that recording needs",
	[NEWS_COUNTER] =
		"a thread is not recorded: it had forbidden itself to read the processor's clock (PR_SET_TSC) before the recording began",
	[NEWS_END] =
		"the recording ends here: a filter of seccomp for all threads was loaded, which may forbid calls of the kernel that it needs",
};

/* In the trace and in the log. */
static void tell(enum news what)
{
	struct heap_record r = { .type = HEAP_REC_NOTE };

	r.text[0] = (struct heap_text){ (const uint8_t *)news[what], strlen(news[what]) };
	tracer_writer_record(&r);
	tracer_log(&recorder.options, news[what], NULL);
}

void tracer_forbidden_tell(void)
{
	uint32_t to_tell = atomic_exchange(&untold, 0);

	for (enum news i = 0; i < N_NEWS; i++)
		if (to_tell >> i & 1)
			tell(i);
}

void tracer_forbidden_no_counter(void)
{
	atomic_fetch_or(&untold, 1u << NEWS_COUNTER);
}

uint32_t tracer_forbidden_own(void)
{
	struct tracer_tls *tls = &tracer_tls;

	if (tls->guest.limited && !atomic_load(&tls->guest.is_there)) {
		tls->guest.limited = false;
		tls->limits = tls->guest.limits;
		if (tls->busy == TRACER_SILENT && !(tls->limits & LIMIT_NOTES))
			tls->busy = TRACER_IDLE;
	}
	return tls->limits;
}

/* A child of vfork(2) has our memory, but is not us; of one that may not ask who it is that is not known. */
static bool is_guest(void)
{
	return atomic_load(&tracer_tls.guest.is_there) ||
	       (!(tracer_tls.limits & LIMIT_NOTES) && getpid() != recorder.pid);
}

/* Only the child is limited, and nothing is written for it. When it leaves our memory the kernel says so (exit(2), exec). */
static void limit_guest(uint32_t limits)
{
	struct tracer_tls *tls = &tracer_tls;

	if (!tls->guest.limited)
		tls->guest.limits = tls->limits;
	atomic_store(&tls->guest.is_there, 1);
	tls->guest.limited = true;
	syscall(SYS_set_tid_address, &tls->guest.is_there);
	tls->limits |= limits;
	if (limits & LIMIT_NOTES)
		tls->busy = TRACER_SILENT;
}

/* What the thread does before it may no longer: all that it noted is written. */
static void limit(uint32_t limits)
{
	struct tracer_tls *tls = &tracer_tls;

	/* Modules that have no name yet get it while they can. */
	tracer_facts_modules();
	tracer_flush();
	atomic_store(&recorder.any_limits, true);
	tls->limits |= limits;
	if (limits & LIMIT_NOTES)
		tls->busy = TRACER_SILENT;
}

static struct tracer_forbidden now(void)
{
	uint32_t limits = tracer_forbidden_own();

	return (struct tracer_forbidden){
		limits, atomic_load(&recorder.limits), tracer_tls.busy,
		0,      tracer_is_on() && is_guest(),  atomic_load(&recorder.no_start)
	};
}

struct tracer_forbidden tracer_forbidden_strict(void)
{
	struct tracer_forbidden was = now();
	int kept = errno;

	shared_memory_freeze();
	if (was.is_guest) {
		limit_guest(LIMIT_NOTES | LIMIT_FILES);
	} else if (tracer_is_on() && tracer_thread_is_idle() && !was.limits) {
		was.news = 1u << NEWS_STRICT;
		limit(LIMIT_NOTES | LIMIT_FILES);
	}
	errno = kept;
	return was;
}

/* All threads are, that which writes too, which then cannot: the recording ends here. */
static void end_for_all(void)
{
	atomic_fetch_or(&untold, 1u << NEWS_END);
	tracer_loop_end();
	tracer_end();
}

/* The same by a thread that has a filter already: it may not call the kernel, and asks the writer, which then goes. */
static void end_by_writer(void)
{
	tracer_end();
	for (unsigned i = 0; i < MOST_TURNS && atomic_load(&recorder.writer_runs); i++)
		atomic_thread_fence(memory_order_seq_cst);
}

struct tracer_forbidden tracer_forbidden_filter(const struct sock_fprog *filter, bool everyone)
{
	struct tracer_forbidden was = now();
	int kept = errno;

	shared_memory_freeze();
	if (!tracer_is_on() || !is_readable(filter)) {
		errno = kept;
		return was;
	}
	if (was.is_guest) {
		limit_guest(LIMITS_OF_FILTER);
	} else if (everyone && was.limits) {
		end_by_writer();
	} else if (everyone && tracer_thread_is_idle()) {
		end_for_all();
	} else if (tracer_thread_is_idle()) {
		/* Whoever begins later may be of its making, and a thread of ours would be, too. */
		atomic_fetch_or(&recorder.limits, LIMITS_OF_FILTER);
		atomic_store(&recorder.no_start, true);
		was.news = was.limits ? 0 : 1u << NEWS_FILTER;
		limit(LIMITS_OF_FILTER);
	}
	errno = kept;
	return was;
}

void tracer_forbidden_came(const struct tracer_forbidden *was, bool came)
{
	if (came) {
		atomic_fetch_or(&untold, was->news);
		return;
	}
	tracer_tls.limits = was->limits;
	tracer_tls.busy = was->busy;
	if (was->is_guest)
		return;
	atomic_store(&recorder.limits, was->recorder_limits);
	atomic_store(&recorder.no_start, was->no_start);
}
