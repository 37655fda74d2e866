/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Filters are run here over the calls that the recorder makes. What another action than to allow it awaits is as
 * good as forbidden: handlers, tracers and errors are for calls of the program.
 */
#include "config.h"

#include "tracer_limits.h"

#include "seccomp_filter.h"
#include "tracer.h"
#include "tracer_facts.h"
#include "tracer_file.h"
#include "tracer_init.h"
#include "tracer_kept.h"
#include "tracer_loop.h"
#include "tracer_memory.h"
#include "tracer_thread.h"
#include "tracer_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#define SOME  0x7ffff7dd0000u /* an address */
#define NO_FD UINT64_C(0xffffffff)
#define FD    1000u

/* What the thread that writes has yet to tell: a bit for each. */
enum news { NEWS_STRICT, NEWS_FILTER, NEWS_COUNTER, NEWS_END, N_NEWS };
static _Atomic uint32_t untold;

struct call {
	int number;
	uint64_t argument[6];
};

/* What hooks may do, and what they run slowly; getpid first. */
static const struct call note_calls[] = {
	{ SYS_getpid, { 0 } },
	{ SYS_gettid, { 0 } },
	{ SYS_futex, { SOME, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1, SOME } },
	{ SYS_futex, { SOME, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX } },
	{ SYS_rt_sigprocmask, { SIG_SETMASK, SOME, SOME, 8 } },
	{ SYS_rt_sigprocmask, { (uint64_t)-1, SOME, 0, 8 } },
	{ SYS_mmap,
	  { 0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	    NO_FD } },
	{ SYS_munmap, { SOME, 1 << 20 } },
	{ SYS_madvise, { SOME, 1 << 20, MADV_DONTNEED } },
	{ SYS_prctl, { PR_GET_NAME, SOME } },
	{ SYS_prlimit64, { 0, RLIMIT_STACK, 0, SOME } },
	{ SYS_clock_gettime, { CLOCK_MONOTONIC, SOME } },
};

/* What whoever writes does beside that. */
static const struct call file_calls[] = {
	{ SYS_openat, { (uint64_t)AT_FDCWD, SOME, O_RDONLY | O_CLOEXEC } },
	{ SYS_openat,
	  { (uint64_t)AT_FDCWD, SOME, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644 } },
	{ SYS_openat,
	  { (uint64_t)AT_FDCWD, SOME, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644 } },
	{ SYS_read, { FD, SOME, 4096 } },
	{ SYS_write, { FD, SOME, 100 } },
	{ SYS_pread64, { FD, SOME, 4096, 0 } },
	{ SYS_pwrite64, { FD, SOME, 4096, 0 } },
	{ SYS_ftruncate, { FD, 4096 } },
	{ SYS_fcntl, { FD, F_DUPFD_CLOEXEC, FD } },
	{ SYS_close, { FD } },
	{ SYS_fstat, { FD, SOME } },
	{ SYS_newfstatat, { FD, SOME, SOME, AT_EMPTY_PATH } },
	{ SYS_newfstatat, { (uint64_t)AT_FDCWD, SOME, SOME, 0 } },
	{ SYS_readlinkat, { (uint64_t)AT_FDCWD, SOME, SOME, 4096 } },
	{ SYS_getcwd, { SOME, 4096 } },
	{ SYS_getrusage, { RUSAGE_SELF, SOME } },
	{ SYS_clock_gettime, { CLOCK_PROCESS_CPUTIME_ID, SOME } },
	{ SYS_tgkill, { 1, 1, 0 } },
	{ SYS_sched_yield, { 0 } },
	{ SYS_exit, { 0 } },
	{ SYS_exit_group, { 0 } },
#ifdef SYS_readlink
	{ SYS_readlink, { SOME, SOME, 4096 } },
	{ SYS_rename, { SOME, SOME } },
	{ SYS_unlink, { SOME } },
#endif
};

static const struct call share_calls[] = {
#ifdef SYS_vfork
	{ SYS_vfork, { 0 } },
#endif
	{ SYS_clone, { CLONE_VM | CLONE_VFORK | SIGCHLD } },
	{ SYS_clone3, { SOME, 88 } },
};

/* What it takes to begin a thread. */
static const struct call start_calls[] = {
	{ SYS_clone, { 0x3d0f00, SOME, SOME, SOME, SOME } },
	{ SYS_clone3, { SOME, 88 } },
	{ SYS_mmap, { 0, 256 << 10, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, NO_FD } },
	{ SYS_mprotect, { SOME, 256 << 10, PROT_READ | PROT_WRITE } },
	{ SYS_munmap, { SOME, 256 << 10 } },
	{ SYS_madvise, { SOME, 256 << 10, MADV_DONTNEED } },
	{ SYS_set_robust_list, { SOME, 24 } },
#ifdef SYS_rseq
	{ SYS_rseq, { SOME, 32, 0, SOME } },
#endif
	{ SYS_rt_sigprocmask, { SIG_SETMASK, SOME, 0, 8 } },
	{ SYS_prctl, { PR_SET_NAME, SOME } },
	{ SYS_gettid, { 0 } },
	{ SYS_exit, { 0 } },
};

static bool allows(const struct sock_fprog *f, const struct call *c)
{
	struct seccomp_data data = {
		.nr = c->number,
		.arch = ARCH,
		/* As a filter sees it: of what libc it comes is not known here. */
		.instruction_pointer = (uint64_t)(uintptr_t)allows,
	};

	memcpy(data.args, c->argument, sizeof(c->argument));
	return seccomp_filter_allows(f->filter, f->len, &data);
}

/* May it make a process that has our memory? */
static bool may_share(const struct sock_fprog *f)
{
	for (size_t i = 0; i < sizeof(share_calls) / sizeof(share_calls[0]); i++)
		if (allows(f, &share_calls[i]))
			return true;
	return false;
}

static uint32_t limits_of(const struct sock_fprog *f)
{
	uint32_t limits = 0;

	if (!allows(f, &note_calls[0]) && may_share(f))
		limits |= LIMIT_PID;
	for (size_t i = 0; i < sizeof(note_calls) / sizeof(note_calls[0]); i++)
		if (!allows(f, &note_calls[i]))
			limits |= LIMIT_NOTES | LIMIT_FILES;
	for (size_t i = 0; i < sizeof(file_calls) / sizeof(file_calls[0]); i++)
		if (!allows(f, &file_calls[i]))
			limits |= LIMIT_FILES;
	return limits;
}

/* May it begin a thread? One that ends for a while is not begun again, or that could end the process. */
static bool may_start(const struct sock_fprog *f)
{
	for (size_t i = 0; i < sizeof(start_calls) / sizeof(start_calls[0]); i++)
		if (!allows(f, &start_calls[i]))
			return false;
	return true;
}

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
		"a thread, and those that begin later, are not recorded from here on: a filter of seccomp forbids calls of the kernel that recording needs",
	[NEWS_COUNTER] =
		"a thread is not recorded: it had forbidden itself to read the processor's clock (PR_SET_TSC) before the recording began",
	[NEWS_END] =
		"the recording ends here: a filter of seccomp forbids all threads calls of the kernel that it needs",
};

/* In the trace and in the log. */
static void tell(enum news what)
{
	struct heap_record r = { .type = HEAP_REC_NOTE };

	r.text[0] = (struct heap_text){ (const uint8_t *)news[what], strlen(news[what]) };
	tracer_writer_record(&r);
	tracer_log(&recorder.options, news[what], NULL);
}

void tracer_limits_tell(void)
{
	uint32_t to_tell = atomic_exchange(&untold, 0);

	for (enum news i = 0; i < N_NEWS; i++)
		if (to_tell >> i & 1)
			tell(i);
}

void tracer_limits_no_counter(void)
{
	atomic_fetch_or(&untold, 1u << NEWS_COUNTER);
}

uint32_t tracer_limits_own(void)
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

/* A child of vfork(2) has our memory, but is not us; one that may not ask who it is was told from us before. */
static bool is_guest(void)
{
	return atomic_load(&tracer_tls.guest.is_there) ||
	       (!(tracer_tls.limits & (LIMIT_NOTES | LIMIT_PID)) && getpid() != recorder.pid);
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

static struct tracer_limits now(void)
{
	uint32_t limits = tracer_limits_own();

	return (struct tracer_limits){
		limits, atomic_load(&recorder.limits), tracer_tls.busy,
		0,      tracer_is_on() && is_guest(),  atomic_load(&recorder.no_start)
	};
}

struct tracer_limits tracer_limits_strict(void)
{
	struct tracer_limits was = now();
	int kept = errno;

	tracer_kept_freeze();
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

struct tracer_limits tracer_limits_filter(const struct sock_fprog *filter, bool everyone)
{
	struct tracer_limits was = now();
	uint32_t limits = 0;
	int kept = errno;

	tracer_kept_freeze();
	if (!tracer_is_on())
		return was;
	if (was.is_guest) {
		if (is_readable(filter) && (limits = limits_of(filter)))
			limit_guest(limits);
		errno = kept;
		return was;
	}
	/* One that is limited has no say in who writes. */
	if (everyone && was.limits)
		tracer_end();
	else if (is_readable(filter)) {
		if (tracer_thread_is_idle())
			limits = limits_of(filter);
		if (!may_start(filter))
			atomic_store(&recorder.no_start, true);
	}
	if (everyone && limits) {
		end_for_all();
	} else if (limits) {
		/* Whoever begins later may be of its making. */
		atomic_fetch_or(&recorder.limits, limits);
		was.news = limits & LIMIT_NOTES ? 1u << NEWS_FILTER : 0;
		limit(limits);
	}
	errno = kept;
	return was;
}

void tracer_limits_came(const struct tracer_limits *was, bool came)
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
