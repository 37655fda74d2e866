/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ptrace(2). Calls are followed from system call to system call: the one that ends them is the rt_sigreturn of the code
 * that handlers return to, at which the thread is given its registers back. No signal is needed for that, so none of the
 * program's handlers and masks matters.
 */
#include "config.h"

#include "record/attach/tracee.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/try_in_child.h"
#include "record/attach/remote.h"
#include "record/attach/thread_state.h"

#define RED_ZONE     128u
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define WAIT_MS      20000u /* for the loader's locks */
#define STOP_MS      10000u /* until a thread stops */

struct tracee {
	struct remote *r;
	pid_t tid;
	struct thread_state state; /* when it was stopped */
	struct thread_ways ways;
	uint64_t room, n_room; /* memory for calls; 0: none yet */
	uint64_t result;       /* of the last system call made for us */
	bool called;           /* its registers are not its own */
	bool gone;             /* it ended, or was left to itself */
};

/* linux/ptrace.h and linux/rseq.h, which older systems lack. */
#define GET_RSEQ_CONFIGURATION 0x420f

struct rseq_place {
	uint64_t area; /* the thread's struct rseq; 0: it has none */
	uint32_t size, signature, flags, pad;
};

struct sequence {
	uint32_t version, flags;
	uint64_t begin, n, abort; /* code; n bytes */
};

const struct user_regs_struct *tracee_regs(const struct tracee *t)
{
	return &t->state.regs;
}

/* Waits for a stop or the end; at most ms milliseconds, 0: as long as it takes. False: it did not come. */
static bool wait_for(struct tracee *t, unsigned ms, int *status)
{
	const struct timespec nap = { .tv_nsec = 200000 };

	for (unsigned i = 0; ms == 0 || i < ms * 5; i++) {
		pid_t got = waitpid(t->tid, status, __WALL | (ms ? WNOHANG : 0));

		if (got == t->tid)
			return true;
		if (got < 0 && errno != EINTR) {
			*status = 0; /* as if it had ended */
			return true;
		}
		if (got == 0)
			nanosleep(&nap, NULL);
	}
	return false;
}

static bool set_mask(pid_t tid, uint64_t mask)
{
	return ptrace((enum __ptrace_request)PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) == 0;
}

static bool is_event(int status)
{
	return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

/* Until the stop that was asked for; signals that come before go to the thread. 0; -ESRCH: it ended; -EBUSY: not yet. */
static int interrupt(struct tracee *t, int *signal)
{
	int status;

	*signal = 0;
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL))
		return -ESRCH;
	for (;;) {
		if (!wait_for(t, STOP_MS, &status))
			return -EBUSY;
		if (!WIFSTOPPED(status))
			return -ESRCH;
		if (is_event(status))
			return 0;
		*signal = WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, t->tid, NULL, (void *)(intptr_t)*signal))
			return -ESRCH;
		*signal = 0;
	}
}

static int save(struct tracee *t)
{
	struct thread_state *s = &t->state;

	if (ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, t->tid, sizeof(s->mask), &s->mask))
		return -EIO;
	return thread_state_save(t->tid, s);
}

/* What the kernel tells of a thread that waits in a system call. */
static void look_at_call(struct tracee *t)
{
	struct thread_call *c = &t->state.before;
	char path[96];
	FILE *f;

	c->number = -1;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)remote_pid(t->r),
		 (int)t->tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld %" SCNx64 " %*s %*s %*s %*s %*s %" SCNx64 " %" SCNx64, &c->number,
			&c->first, &c->sp, &c->pc) != 4)
		c->number = -1;
	if (f)
		fclose(f);
}

/* Is a signal about to be delivered to the thread? */
static bool has_signal(const struct tracee *t)
{
	char path[96], line[128];
	uint64_t pending = 0, blocked = 0, v;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)remote_pid(t->r), (int)t->tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "SigPnd: %" SCNx64, &v) == 1 ||
		    sscanf(line, "ShdPnd: %" SCNx64, &v) == 1)
			pending |= v;
		else if (sscanf(line, "SigBlk: %" SCNx64, &v) == 1)
			blocked = v;
	}
	if (f)
		fclose(f);
	return pending & ~blocked;
}

/* A call that ended for no reason but us is to be made again. */
static bool undo_interruption(struct tracee *t)
{
	struct thread_state changed = t->state;

	if (!thread_state_redo_call(&changed) || has_signal(t))
		return true;
	t->state = changed;
	return thread_set_regs(t->tid, &t->state.regs);
}

/* Who may read its memory may stop it, but for what is not of this thread. */
static int refused(pid_t tid, int why, struct err *e)
{
	return err_set(
		e, -why,
		"thread %d cannot be stopped: %s, as where a seccomp filter or a security module forbids ptrace, or a debugger came first; attach from outside of the container; or start it under the recorder: --heap -- COMMAND",
		(int)tid, strerror(why));
}

/* Waits to be looked into, for no longer than there is somebody who would. */
static void wait_as_child_of(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static int try_child(void)
{
	long here, there = 1;
	struct iovec to = { &here, sizeof(here) }, from = { &there, sizeof(there) };
	pid_t parent = getpid(), child = fork();
	int rc;

	if (child == 0)
		wait_as_child_of(parent);
	if (child < 0)
		return -errno;
	rc = ptrace(PTRACE_SEIZE, child, NULL, NULL) ? -errno : 0;
	if (rc == 0 && process_vm_readv(child, &to, 1, &from, 1, 0) != (ssize_t)sizeof(there))
		rc = -errno;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return rc;
}

static void try_to_trace(void *result)
{
	*(int *)result = try_child();
}

int tracee_trial(void)
{
	int tried, rc = try_in_child_run(try_to_trace, &tried, sizeof(tried));

	return rc ? rc : tried;
}

int tracee_stop(struct remote *r, pid_t tid, struct tracee **out, struct err *e)
{
	struct tracee *t;
	int signal, ret;

	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD))
		return errno == ESRCH ? -EAGAIN : refused(tid, errno, e);
	t = xcalloc(1, sizeof(*t));
	t->r = r;
	t->tid = tid;
	look_at_call(t);
	ret = interrupt(t, &signal);
	if (ret) {
		t->gone = true;
		tracee_release(t);
		/* It is still to be stopped, and will not be when this process is gone. */
		return ret == -EBUSY
			       ? err_set(e, ret,
					 "thread %d waits where the kernel does not interrupt it (for a disk, or in a vfork): try again",
					 (int)tid)
			       : -EAGAIN;
	}
	ret = save(t);
	if (ret == 0 && !undo_interruption(t))
		ret = -EIO;
	if (ret) {
		tracee_release(t);
		if (ret == -EAGAIN)
			return ret;
		return err_set(e, -EIO, "the registers of thread %d cannot be read", (int)tid);
	}
	*out = t;
	return 0;
}

bool tracee_in_sequence(const struct tracee *t)
{
	struct rseq_place place = { 0 };
	struct sequence s;
	uint64_t at = 0;

	if (ptrace((enum __ptrace_request)GET_RSEQ_CONFIGURATION, t->tid, sizeof(place), &place) <
		    0 ||
	    !place.area || !remote_read(t->r, place.area + 8, &at, sizeof(at)) || !at)
		return false;
	return !remote_read(t->r, at, &s, sizeof(s)) || thread_pc(&t->state.regs) - s.begin < s.n;
}

/* Writes a frame that ends below `top`. *sp: the stack pointer of a function that returns into it. */
static bool write_frame(const struct tracee *t, uint64_t top, uint64_t *sp)
{
	uint64_t at;
	size_t n;
	uint8_t *bytes = thread_frame(&t->state, &t->ways, top, &n, &at, sp);
	bool done = remote_write(t->r, at, bytes, n);

	free(bytes);
	return done;
}

/* The thread was left in the middle of a call: it ends it by itself. */
static int leave_alone(struct tracee *t, struct err *e)
{
	int signal;

	if (interrupt(t, &signal) == 0)
		ptrace(PTRACE_DETACH, t->tid, NULL, NULL);
	t->gone = true;
	return err_set(e, -ETIMEDOUT,
		       "the process did not get the loader's lock or the allocator's within %u s",
		       WAIT_MS / 1000);
}

static int ended(struct tracee *t, struct err *e)
{
	t->gone = true;
	return err_set(e, -ESRCH, "the process ended meanwhile");
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP || signal == SIGSYS || signal == SIGABRT;
}

/* Runs it to the end of the call whose frame is at sp. */
static int run_call(struct tracee *t, uint64_t sp, struct err *e)
{
	int status = 0, signal = 0;
	struct user_regs_struct regs;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, t->tid, NULL, (void *)(intptr_t)signal))
			return ended(t, e);
		if (!wait_for(t, WAIT_MS, &status))
			return leave_alone(t, e);
		if (!WIFSTOPPED(status))
			return ended(t, e);
		signal = is_event(status) || WSTOPSIG(status) == SYSCALL_STOP ? 0
									      : WSTOPSIG(status);
		if (is_fault(signal))
			return err_set(e, -EFAULT,
				       "a call in the process ended with signal %d (%s)", signal,
				       strsignal(signal));
		if (WSTOPSIG(status) != SYSCALL_STOP || !thread_get_regs(t->tid, &regs))
			continue;
		thread_kernel_called(&regs, &t->ways, &t->result);
		if (thread_returns(&regs, &t->ways, sp))
			return 0;
	}
}

/* What is called: a function of the process, or the kernel. */
struct callee {
	uint64_t function; /* 0: the kernel, with `number` */
	uint64_t number;
	uint64_t argument[6];
};

/* Calls with the frame below top. -EAGAIN: there is no memory there; nothing happened. */
static int call_below(struct tracee *t, uint64_t top, const struct callee *c, struct err *e)
{
	struct user_regs_struct regs = t->state.regs;
	uint64_t sp;

	if (!write_frame(t, top, &sp))
		return -EAGAIN;
	if (c->function)
		thread_enter(&regs, &t->ways, sp, c->function, c->argument[0], c->argument[1]);
	else
		thread_enter_kernel(&regs, &t->ways, sp, c->number, c->argument);
	if (!set_mask(t->tid, UINT64_MAX) || !thread_set_regs(t->tid, &regs))
		return ended(t, e);
	t->called = true;
	return run_call(t, sp, e);
}

static int call_kernel(struct tracee *t, const struct callee *c, struct err *e)
{
	return call_below(t, thread_sp(&t->state.regs) - RED_ZONE, c, e);
}

int tracee_make_room(struct tracee *t, uint64_t n, uint64_t *room, struct err *e)
{
	const struct callee map = { .number = SYS_mmap,
				    .argument = { 0, n, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0 } };
	int ret;

	if (!thread_ways_find(t->r, &t->ways))
		return err_set(e, -ENOEXEC, "its C library is none that proftop knows");
	ret = call_kernel(t, &map, e);
	if (ret)
		return ret;
	if (t->result > UINT64_MAX - 4096)
		return err_set(e, -ENOMEM, "the process may not have more memory");
	t->room = t->result;
	t->n_room = n;
	*room = t->room;
	return 0;
}

int tracee_call(struct tracee *t, uint64_t function, uint64_t a, uint64_t b, struct err *e)
{
	const struct callee c = { .function = function, .argument = { a, b } };
	int ret = call_below(t, t->room + t->n_room, &c, e);

	return ret == -EAGAIN ? err_set(e, -EFAULT, "memory of the process cannot be written")
			      : ret;
}

/* Gives the registers back; the thread stays stopped. *signal: what it is to get when it goes on. */
static bool restore(struct tracee *t, int *signal)
{
	struct user_regs_struct plain = thread_state_plain(&t->state);
	struct user_regs_struct last = thread_state_last(&t->state);
	int status;

	thread_state_give_vector(t->tid, &t->state);
	if (!set_mask(t->tid, t->state.mask) || !thread_set_regs(t->tid, &plain))
		return false;
	/* On its way out of the kernel, where a system call that we interrupted is begun again. */
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) || ptrace(PTRACE_CONT, t->tid, NULL, NULL))
		return false;
	wait_for(t, 0, &status);
	if (!WIFSTOPPED(status))
		return false;
	*signal = is_event(status) ? 0 : WSTOPSIG(status);
	return thread_set_regs(t->tid, &last);
}

void tracee_release(struct tracee *t)
{
	struct err ignored = ERR_INIT;
	int signal = 0;

	if (!t->gone && t->room) {
		const struct callee unmap = { .number = SYS_munmap,
					      .argument = { t->room, t->n_room } };

		call_kernel(t, &unmap, &ignored);
	}
	err_clear(&ignored);
	if (!t->gone && t->called && !restore(t, &signal))
		t->gone = true;
	if (!t->gone)
		ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)signal);
	free(t);
}
