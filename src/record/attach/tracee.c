/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ptrace(2), x86_64. Calls are followed from system call to system call: the one that ends them is the
 * rt_sigreturn of libc's own code for returning from handlers, at which the thread is given its registers back.
 * No signal is needed for that, so none of the program's handlers and masks matters.
 */
#include "config.h"

#include "record/attach/tracee.h"

#include <elf.h>
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
#include <ucontext.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/try_in_child.h"
#include "record/attach/remote.h"

#define XSTATE_BYTES  16384u
#define RED_ZONE      128u
#define SYSCALL_BYTES 2u
#define SYSCALL_STOP  (SIGTRAP | 0x80)
#define DIRECTION     0x400u /* flags: string operations go downward */
#define WAIT_MS       20000u /* for the loader's locks */
#define STOP_MS       10000u /* until a thread stops */

/* What the kernel returns within: the call is to be made again (linux/errno.h, which programs never see). */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

/* Of the state of vector registers, as XSAVE writes it and as signal frames have it. */
#define XSAVE_SW_BYTES    464u
#define UC_FP_XSTATE      1u
#define UC_SIGCONTEXT_SS  2u
#define UC_STRICT_RESTORE 4u

struct tracee {
	struct remote *r;
	pid_t tid;
	struct user_regs_struct regs; /* when it was stopped */
	uint64_t mask;                /* of signals, then */
	uint8_t xstate[XSTATE_BYTES]; /* of its vector registers, then */
	size_t n_xstate;              /* bytes */
	uint64_t syscall;             /* where libc has a system call with a return behind it */
	uint64_t restorer;            /* where libc returns from signal handlers */
	uint64_t room, n_room;        /* memory for calls; 0: none yet */
	uint64_t result;              /* of the last system call made for us */
	bool called;                  /* its registers are not its own */
	bool gone;                    /* it ended, or was left to itself */
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
	return &t->regs;
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

static bool get_regs(pid_t tid, struct user_regs_struct *regs)
{
	struct iovec v = { regs, sizeof(*regs) };

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

static bool set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	struct iovec v = { (void *)(uintptr_t)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &v) == 0;
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

static bool save(struct tracee *t)
{
	struct iovec v = { t->xstate, sizeof(t->xstate) };

	if (!get_regs(t->tid, &t->regs) ||
	    ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, t->tid, sizeof(t->mask), &t->mask) ||
	    ptrace(PTRACE_GETREGSET, t->tid, NT_X86_XSTATE, &v))
		return false;
	t->n_xstate = v.iov_len;
	return v.iov_len > XSAVE_SW_BYTES + 48 && v.iov_len < sizeof(t->xstate);
}

/* Finds in libc what calls need. */
static bool find_ways(struct tracee *t)
{
	static const uint8_t call_and_return[] = { 0x0f, 0x05, 0xc3 };
	static const uint8_t restore[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	struct remote_module *libc = remote_glibc(t->r, GLIBC_LIBC);

	if (!libc)
		return false;
	t->syscall = remote_find_bytes(t->r, libc, call_and_return, sizeof(call_and_return));
	t->restorer = remote_find_bytes(t->r, libc, restore, sizeof(restore));
	return t->syscall && t->restorer;
}

bool tracee_would_notice(long number)
{
	switch (number) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_io_getevents:
		return true;
	default:
		return false;
	}
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
	struct user_regs_struct *regs = &t->regs;

	if (!tracee_would_notice((long)regs->orig_rax) || (int64_t)regs->rax != -EINTR ||
	    has_signal(t))
		return true;
	regs->rax = regs->orig_rax;
	regs->rip -= SYSCALL_BYTES;
	regs->orig_rax = UINT64_MAX;
	return set_regs(t->tid, regs);
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
	if (!save(t) || !undo_interruption(t)) {
		tracee_release(t);
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
	return !remote_read(t->r, at, &s, sizeof(s)) || t->regs.rip - s.begin < s.n;
}

/* The registers with which the thread goes on when nobody is there to let the kernel do it. */
static struct user_regs_struct plain_regs(const struct tracee *t)
{
	struct user_regs_struct regs = t->regs;

	if ((int64_t)regs.orig_rax >= 0) {
		switch (-(int64_t)regs.rax) {
		case ERESTARTSYS:
		case ERESTARTNOINTR:
		case ERESTARTNOHAND:
		case ERESTART_RESTARTBLOCK: /* with its whole time once more */
			regs.rax = regs.orig_rax;
			regs.rip -= SYSCALL_BYTES;
			break;
		}
	}
	regs.orig_rax = UINT64_MAX;
	return regs;
}

static void put_u32(uint8_t *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
}

static void put_u64(uint8_t *at, uint64_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* What tells the kernel that the state in a frame is more than the first 512 bytes. */
static void seal_xstate(const struct tracee *t, uint8_t *to)
{
	uint64_t features;

	memcpy(to, t->xstate, t->n_xstate);
	memcpy(&features, t->xstate + XSAVE_SW_BYTES, sizeof(features));
	memset(to + XSAVE_SW_BYTES, 0, 48);
	put_u32(to + XSAVE_SW_BYTES, FP_XSTATE_MAGIC1);
	put_u32(to + XSAVE_SW_BYTES + 4, (uint32_t)t->n_xstate + 4);
	put_u64(to + XSAVE_SW_BYTES + 8, features);
	put_u32(to + XSAVE_SW_BYTES + 16, (uint32_t)t->n_xstate);
	put_u32(to + t->n_xstate, FP_XSTATE_MAGIC2);
}

static ucontext_t context_of(const struct tracee *t, uint64_t xstate)
{
	struct user_regs_struct r = plain_regs(t);
	ucontext_t c = { .uc_flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE };
	greg_t *g = c.uc_mcontext.gregs;
	const struct {
		int index;
		uint64_t value;
	} all[] = { { REG_R8, r.r8 },   { REG_R9, r.r9 },   { REG_R10, r.r10 },
		    { REG_R11, r.r11 }, { REG_R12, r.r12 }, { REG_R13, r.r13 },
		    { REG_R14, r.r14 }, { REG_R15, r.r15 }, { REG_RDI, r.rdi },
		    { REG_RSI, r.rsi }, { REG_RBP, r.rbp }, { REG_RBX, r.rbx },
		    { REG_RDX, r.rdx }, { REG_RAX, r.rax }, { REG_RCX, r.rcx },
		    { REG_RSP, r.rsp }, { REG_RIP, r.rip }, { REG_EFL, r.eflags } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		g[all[i].index] = (greg_t)all[i].value;
	g[REG_CSGSFS] = (greg_t)((r.cs & 0xffff) | (r.gs & 0xffff) << 16 | (r.fs & 0xffff) << 32 |
				 r.ss << 48);
	c.uc_mcontext.fpregs = (fpregset_t)(uintptr_t)xstate;
	memcpy(&c.uc_sigmask, &t->mask, sizeof(t->mask));
	return c;
}

/*
 * Writes a frame that ends below `top`. *sp: where a function that returns into it finds its return address, with
 * the stack aligned as the ABI wants it there.
 */
static bool write_frame(const struct tracee *t, uint64_t top, uint64_t *sp)
{
	uint64_t xstate = (top - t->n_xstate - 8) & ~UINT64_C(63);
	uint64_t at = ((xstate - sizeof(ucontext_t)) & ~UINT64_C(15)) - 8;
	size_t n = (size_t)(xstate + t->n_xstate + 4 - at);
	ucontext_t c = context_of(t, xstate);
	uint8_t *bytes = xcalloc(1, n);
	bool done;

	put_u64(bytes, t->restorer);
	memcpy(bytes + 8, &c, sizeof(c));
	seal_xstate(t, bytes + (xstate - at));
	done = remote_write(t->r, at, bytes, n);
	free(bytes);
	*sp = at;
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
		if (WSTOPSIG(status) != SYSCALL_STOP || !get_regs(t->tid, &regs))
			continue;
		if (regs.orig_rax == SYS_rt_sigreturn && regs.rsp == sp + 8)
			return 0;
		if (regs.rip == t->syscall + SYSCALL_BYTES && (int64_t)regs.rax != -ENOSYS)
			t->result = regs.rax;
	}
}

/* Calls with the frame below top. -EAGAIN: there is no memory there; nothing happened. */
static int call_below(struct tracee *t, uint64_t top, const struct user_regs_struct *with,
		      struct err *e)
{
	struct user_regs_struct regs = *with;
	uint64_t sp;

	if (!write_frame(t, top, &sp))
		return -EAGAIN;
	regs.rsp = sp;
	regs.eflags &= ~(uint64_t)DIRECTION;
	regs.orig_rax = UINT64_MAX;
	if (!set_mask(t->tid, UINT64_MAX) || !set_regs(t->tid, &regs))
		return ended(t, e);
	t->called = true;
	return run_call(t, sp, e);
}

static int call_kernel(struct tracee *t, uint64_t number, const uint64_t argument[6], struct err *e)
{
	struct user_regs_struct regs = t->regs;

	regs.rip = t->syscall;
	regs.rax = number;
	regs.rdi = argument[0];
	regs.rsi = argument[1];
	regs.rdx = argument[2];
	regs.r10 = argument[3];
	regs.r8 = argument[4];
	regs.r9 = argument[5];
	return call_below(t, t->regs.rsp - RED_ZONE, &regs, e);
}

int tracee_make_room(struct tracee *t, uint64_t n, uint64_t *room, struct err *e)
{
	const uint64_t argument[6] = {
		0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0
	};
	int ret;

	if (!find_ways(t))
		return err_set(e, -ENOEXEC, "its C library is none that proftop knows");
	ret = call_kernel(t, SYS_mmap, argument, e);
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
	struct user_regs_struct regs = t->regs;
	int ret;

	regs.rip = function;
	regs.rdi = a;
	regs.rsi = b;
	regs.rax = 0;
	ret = call_below(t, t->room + t->n_room, &regs, e);
	return ret == -EAGAIN ? err_set(e, -EFAULT, "memory of the process cannot be written")
			      : ret;
}

/* Gives the registers back; the thread stays stopped. *signal: what it is to get when it goes on. */
static bool restore(struct tracee *t, int *signal)
{
	struct user_regs_struct plain = plain_regs(t);
	struct iovec v = { t->xstate, t->n_xstate };
	int status;

	ptrace(PTRACE_SETREGSET, t->tid, NT_X86_XSTATE, &v);
	if (!set_mask(t->tid, t->mask) || !set_regs(t->tid, &plain))
		return false;
	/* On its way out of the kernel, where a system call that we interrupted is begun again. */
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) || ptrace(PTRACE_CONT, t->tid, NULL, NULL))
		return false;
	wait_for(t, 0, &status);
	if (!WIFSTOPPED(status))
		return false;
	*signal = is_event(status) ? 0 : WSTOPSIG(status);
	return set_regs(t->tid, &t->regs);
}

void tracee_release(struct tracee *t)
{
	struct err ignored = ERR_INIT;
	int signal = 0;

	if (!t->gone && t->room) {
		const uint64_t argument[6] = { t->room, t->n_room };

		call_kernel(t, SYS_munmap, argument, &ignored);
	}
	err_clear(&ignored);
	if (!t->gone && t->called && !restore(t, &signal))
		t->gone = true;
	if (!t->gone)
		ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)signal);
	free(t);
}
