/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Of aarch64. Handlers return to code of the vdso by x30. Before a stop is seen, the kernel has set pc back to a system
 * call that it interrupted, and x0 to its first argument: unchanged registers make it again. The number of the call that a
 * thread is about to make is a set of registers of its own. At the stops of a system call the kernel keeps x7 for
 * itself: it says which of the two it is, and what is written there is lost.
 *
 * A thread with registers of SVE or SME that hold more than the usual ones is not called into: the kernel drops them at
 * system calls, so there are moments without.
 */
#include "config.h"

#include "record/attach/thread_state.h"

#include <asm/sigcontext.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>

#include "base/mem.h"
#include "record/attach/remote.h"

#define SYSCALL       0xd4000001u /* svc 0 */
#define SYSCALL_BYTES 4u
#define BRANCH_TYPE \
	0xc00u /* pstate: an indirect branch was just taken, which only some instructions allow */
#define CALL_END     1u /* in x7 */
#define LEAST_ERROR  (UINT64_MAX - 4095)
#define LR           30
#define NUMBER       8
#define FUNCTION_MAX 64u /* bytes of syscall(3) that are looked at */

/* linux/elf.h, which older systems lack. */
#define REGS_SYSTEM_CALL 0x404
#define REGS_SVE         0x405
#define REGS_SSVE        0x40b
#define REGS_ZA          0x40c

/* What REGS_SVE, REGS_SSVE and REGS_ZA begin with (struct user_sve_header). */
struct scalable {
	uint32_t size, max_size; /* bytes, with this */
	uint16_t vl, max_vl, flags, reserved;
};
#define SCALABLE_IN_USE 1u /* flags */

static bool get_set(pid_t tid, int set, void *to, size_t *n)
{
	struct iovec v = { to, *n };
	bool got = ptrace(PTRACE_GETREGSET, tid, set, &v) == 0;

	*n = v.iov_len;
	return got;
}

static bool give_set(pid_t tid, int set, const void *from, size_t n)
{
	struct iovec v = { (void *)(uintptr_t)from, n };

	return ptrace(PTRACE_SETREGSET, tid, set, &v) == 0;
}

bool thread_get_regs(pid_t tid, struct user_regs_struct *regs)
{
	size_t n = sizeof(*regs);

	return get_set(tid, NT_PRSTATUS, regs, &n) && n == sizeof(*regs);
}

bool thread_set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	const int none = -1;

	return give_set(tid, REGS_SYSTEM_CALL, &none, sizeof(none)) &&
	       give_set(tid, NT_PRSTATUS, regs, sizeof(*regs));
}

/* Has it registers that are more than those of NT_PRFPREG? */
static bool has_scalable(pid_t tid)
{
	static const int sets[] = { REGS_SVE, REGS_SSVE };
	struct scalable head = { 0 };
	size_t n;

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		n = sizeof(head);
		if (get_set(tid, sets[i], &head, &n) && n == sizeof(head) &&
		    (head.flags & SCALABLE_IN_USE))
			return true;
	}
	n = sizeof(head);
	return get_set(tid, REGS_ZA, &head, &n) && n == sizeof(head) && head.size > sizeof(head);
}

int thread_state_save(pid_t tid, struct thread_state *s)
{
	s->n_vector = sizeof(struct user_fpsimd_struct);
	if (!thread_get_regs(tid, &s->regs) || !get_set(tid, NT_PRFPREG, s->vector, &s->n_vector) ||
	    s->n_vector != sizeof(struct user_fpsimd_struct))
		return -EIO;
	return has_scalable(tid) ? -EAGAIN : 0;
}

void thread_state_give_vector(pid_t tid, const struct thread_state *s)
{
	give_set(tid, NT_PRFPREG, s->vector, s->n_vector);
}

/* What it was called with is only known from before: it is the same call if it was made from the same place. */
bool thread_state_redo_call(struct thread_state *s)
{
	const struct thread_call *before = &s->before;
	struct user_regs_struct *regs = &s->regs;

	if (!thread_would_notice(before->number) || (long)regs->regs[NUMBER] != before->number ||
	    regs->pc != before->pc || regs->sp != before->sp || (int64_t)regs->regs[0] != -EINTR)
		return false;
	regs->regs[0] = before->first;
	regs->pc -= SYSCALL_BYTES;
	return true;
}

struct user_regs_struct thread_state_plain(const struct thread_state *s)
{
	return s->regs;
}

/* For so long, and not until then: the kernel knows how much of it is left. */
static bool was_in_sleep(const struct thread_state *s)
{
	const struct user_regs_struct *regs = &s->regs;
	long number = s->before.number;

	return ((number == SYS_clock_nanosleep && !(regs->regs[1] & TIMER_ABSTIME)) ||
		number == SYS_nanosleep) &&
	       (long)regs->regs[NUMBER] == number && regs->sp == s->before.sp &&
	       regs->pc + SYSCALL_BYTES == s->before.pc;
}

struct user_regs_struct thread_state_last(const struct thread_state *s)
{
	struct user_regs_struct regs = s->regs;

	if (was_in_sleep(s))
		regs.regs[NUMBER] = SYS_restart_syscall;
	return regs;
}

bool thread_ways_find(struct remote *r, struct thread_ways *w)
{
	/* mov x8, 139; svc 0 */
	static const uint8_t restore[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	struct remote_module *libc = remote_glibc(r, GLIBC_LIBC);
	struct remote_module *vdso = remote_module_named(r, "[vdso]");
	uint32_t code[FUNCTION_MAX / 4];

	if (!libc || !vdso)
		return false;
	w->restorer = remote_find_bytes(r, vdso, restore, sizeof(restore));
	w->syscall = remote_symbol(r, libc, "syscall");
	w->called = 0;
	if (!w->restorer || !w->syscall || !remote_read(r, w->syscall, code, sizeof(code)))
		return false;
	for (size_t i = 0; i < FUNCTION_MAX / 4 && !w->called; i++)
		if (code[i] == SYSCALL)
			w->called = w->syscall + (i + 1) * SYSCALL_BYTES;
	return w->called != 0;
}

/* The kernel's frame: what it says of a signal, and the context. */
struct frame {
	siginfo_t info;
	ucontext_t context;
};

static struct fpsimd_context vector_of(const struct thread_state *s)
{
	struct fpsimd_context c = { .head = { FPSIMD_MAGIC, sizeof(c) } };
	struct user_fpsimd_struct v;

	memcpy(&v, s->vector, sizeof(v));
	c.fpsr = v.fpsr;
	c.fpcr = v.fpcr;
	memcpy(c.vregs, v.vregs, sizeof(c.vregs));
	return c;
}

uint8_t *thread_frame(const struct thread_state *s, const struct thread_ways *w, uint64_t top,
		      size_t *n, uint64_t *at, uint64_t *sp)
{
	struct user_regs_struct r = thread_state_plain(s);
	struct fpsimd_context vector = vector_of(s);
	struct frame *f = xcalloc(1, sizeof(*f));
	mcontext_t *m = &f->context.uc_mcontext;

	(void)w;
	memcpy(&f->context.uc_sigmask, &s->mask, sizeof(s->mask));
	memcpy(m->regs, r.regs, sizeof(m->regs));
	m->sp = r.sp;
	m->pc = r.pc;
	m->pstate = r.pstate;
	/* behind it are zeros, which end the list */
	memcpy(m->__reserved, &vector, sizeof(vector));
	*n = sizeof(*f);
	*sp = *at = (top - sizeof(*f)) & ~UINT64_C(15);
	return (uint8_t *)f;
}

void thread_enter(struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp,
		  uint64_t function, uint64_t a, uint64_t b)
{
	regs->pc = function;
	regs->sp = sp;
	regs->pstate &= ~(uint64_t)BRANCH_TYPE;
	regs->regs[LR] = w->restorer;
	regs->regs[0] = a;
	regs->regs[1] = b;
}

/* By syscall(3), which returns, unlike what is around the instruction elsewhere in libc. */
void thread_enter_kernel(struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp,
			 uint64_t number, const uint64_t argument[6])
{
	thread_enter(regs, w, sp, w->syscall, number, argument[0]);
	for (unsigned i = 1; i < 6; i++)
		regs->regs[i + 1] = argument[i];
}

/* Also where the call failed: what follows in syscall(3) would write errno, which is the program's. */
bool thread_returns(const struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp)
{
	uint64_t result;

	if (thread_kernel_called(regs, w, &result) && regs->sp == sp)
		return result >= LEAST_ERROR;
	return regs->regs[NUMBER] == SYS_rt_sigreturn && regs->sp == sp;
}

bool thread_kernel_called(const struct user_regs_struct *regs, const struct thread_ways *w,
			  uint64_t *result)
{
	if (regs->pc != w->called || regs->regs[7] != CALL_END)
		return false;
	*result = regs->regs[0];
	return true;
}

struct unwind_regs thread_unwind_regs(const struct user_regs_struct *u)
{
	struct unwind_regs r = { .known = 0 };

	for (unsigned i = 0; i <= ARM_LR; i++)
		unwind_reg_set(&r, i, u->regs[i]);
	unwind_reg_set(&r, ARM_SP, u->sp);
	unwind_reg_set(&r, ARM_PC, u->pc);
	return r;
}

uint64_t thread_pc(const struct user_regs_struct *regs)
{
	return regs->pc;
}

uint64_t thread_sp(const struct user_regs_struct *regs)
{
	return regs->sp;
}

bool thread_in_futex(const struct remote *r, const struct user_regs_struct *regs, int *operation)
{
	uint32_t code;

	*operation = (int)regs->regs[1];
	return regs->regs[NUMBER] == SYS_futex && remote_read(r, regs->pc, &code, sizeof(code)) &&
	       code == SYSCALL;
}
