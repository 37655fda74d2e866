/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of x86_64. Handlers return to code of libc; a system call has its number in a register that ptrace(2) makes up. */
#include "config.h"

#include "record/attach/thread_state.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "base/mem.h"
#include "record/attach/remote.h"

#define SYSCALL_BYTES 2u
#define DIRECTION     0x400u /* flags: string operations go downward */

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

bool thread_get_regs(pid_t tid, struct user_regs_struct *regs)
{
	struct iovec v = { regs, sizeof(*regs) };

	return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

bool thread_set_regs(pid_t tid, const struct user_regs_struct *regs)
{
	struct iovec v = { (void *)(uintptr_t)regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &v) == 0;
}

int thread_state_save(pid_t tid, struct thread_state *s)
{
	struct iovec v = { s->vector, sizeof(s->vector) };

	if (!thread_get_regs(tid, &s->regs) || ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &v))
		return -EIO;
	s->n_vector = v.iov_len;
	return v.iov_len > XSAVE_SW_BYTES + 48 && v.iov_len < sizeof(s->vector) ? 0 : -EIO;
}

void thread_state_give_vector(pid_t tid, const struct thread_state *s)
{
	struct iovec v = { (void *)(uintptr_t)s->vector, s->n_vector };

	ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &v);
}

bool thread_state_redo_call(struct thread_state *s)
{
	struct user_regs_struct *regs = &s->regs;

	if (!thread_would_notice((long)regs->orig_rax) || (int64_t)regs->rax != -EINTR)
		return false;
	regs->rax = regs->orig_rax;
	regs->rip -= SYSCALL_BYTES;
	regs->orig_rax = UINT64_MAX;
	return true;
}

struct user_regs_struct thread_state_plain(const struct thread_state *s)
{
	struct user_regs_struct regs = s->regs;

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

/* On its way out of the kernel, where a system call that we interrupted is begun again. */
struct user_regs_struct thread_state_last(const struct thread_state *s)
{
	return s->regs;
}

bool thread_ways_find(struct remote *r, struct thread_ways *w)
{
	static const uint8_t call_and_return[] = { 0x0f, 0x05, 0xc3 };
	static const uint8_t restore[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	struct remote_module *libc = remote_glibc(r, GLIBC_LIBC);

	if (!libc)
		return false;
	w->syscall = remote_find_bytes(r, libc, call_and_return, sizeof(call_and_return));
	w->called = w->syscall + SYSCALL_BYTES;
	w->restorer = remote_find_bytes(r, libc, restore, sizeof(restore));
	return w->syscall && w->restorer;
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
static void seal_xstate(const struct thread_state *s, uint8_t *to)
{
	uint64_t features;

	memcpy(to, s->vector, s->n_vector);
	memcpy(&features, s->vector + XSAVE_SW_BYTES, sizeof(features));
	memset(to + XSAVE_SW_BYTES, 0, 48);
	put_u32(to + XSAVE_SW_BYTES, FP_XSTATE_MAGIC1);
	put_u32(to + XSAVE_SW_BYTES + 4, (uint32_t)s->n_vector + 4);
	put_u64(to + XSAVE_SW_BYTES + 8, features);
	put_u32(to + XSAVE_SW_BYTES + 16, (uint32_t)s->n_vector);
	put_u32(to + s->n_vector, FP_XSTATE_MAGIC2);
}

static ucontext_t context_of(const struct thread_state *s, uint64_t xstate)
{
	struct user_regs_struct r = thread_state_plain(s);
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
	memcpy(&c.uc_sigmask, &s->mask, sizeof(s->mask));
	return c;
}

/* A return address, as if the handler had been called, with the stack aligned as the ABI wants it there; and the frame. */
uint8_t *thread_frame(const struct thread_state *s, const struct thread_ways *w, uint64_t top,
		      size_t *n, uint64_t *at, uint64_t *sp)
{
	uint64_t xstate = (top - s->n_vector - 8) & ~UINT64_C(63);
	ucontext_t c = context_of(s, xstate);
	uint8_t *bytes;

	*sp = *at = ((xstate - sizeof(ucontext_t)) & ~UINT64_C(15)) - 8;
	*n = (size_t)(xstate + s->n_vector + 4 - *at);
	bytes = xcalloc(1, *n);
	put_u64(bytes, w->restorer);
	memcpy(bytes + 8, &c, sizeof(c));
	seal_xstate(s, bytes + (xstate - *at));
	return bytes;
}

static void begin(struct user_regs_struct *regs, uint64_t sp, uint64_t pc)
{
	regs->rip = pc;
	regs->rsp = sp;
	regs->eflags &= ~(uint64_t)DIRECTION;
	regs->orig_rax = UINT64_MAX;
}

void thread_enter(struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp,
		  uint64_t function, uint64_t a, uint64_t b)
{
	(void)w;
	begin(regs, sp, function);
	regs->rdi = a;
	regs->rsi = b;
	regs->rax = 0;
}

void thread_enter_kernel(struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp,
			 uint64_t number, const uint64_t argument[6])
{
	begin(regs, sp, w->syscall);
	regs->rax = number;
	regs->rdi = argument[0];
	regs->rsi = argument[1];
	regs->rdx = argument[2];
	regs->r10 = argument[3];
	regs->r8 = argument[4];
	regs->r9 = argument[5];
}

bool thread_returns(const struct user_regs_struct *regs, const struct thread_ways *w, uint64_t sp)
{
	(void)w;
	return regs->orig_rax == SYS_rt_sigreturn && regs->rsp == sp + 8;
}

bool thread_kernel_called(const struct user_regs_struct *regs, const struct thread_ways *w,
			  uint64_t *result)
{
	if (regs->rip != w->called || (int64_t)regs->rax == -ENOSYS)
		return false;
	*result = regs->rax;
	return true;
}

struct unwind_regs thread_unwind_regs(const struct user_regs_struct *u)
{
	struct unwind_regs r = { .known = 0 };
	const uint64_t by_number[] = { u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi,
				       u->rbp, u->rsp, u->r8,  u->r9,  u->r10, u->r11,
				       u->r12, u->r13, u->r14, u->r15, u->rip };

	for (unsigned i = 0; i < sizeof(by_number) / sizeof(by_number[0]); i++)
		unwind_reg_set(&r, i, by_number[i]);
	return r;
}

uint64_t thread_pc(const struct user_regs_struct *regs)
{
	return regs->rip;
}

uint64_t thread_sp(const struct user_regs_struct *regs)
{
	return regs->rsp;
}

bool thread_in_futex(const struct remote *r, const struct user_regs_struct *regs, int *operation)
{
	(void)r;
	*operation = (int)regs->rsi;
	return regs->orig_rax == SYS_futex;
}
