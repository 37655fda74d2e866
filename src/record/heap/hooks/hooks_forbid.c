/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls by which programs forbid themselves what the recorder needs, noticed before they come into force: prctl(), and
 * syscall(), by which libraries load filters of seccomp. Programs that call the kernel by instructions of their own are not.
 */
#include "config.h"

#include "record/heap/hooks/hooks_forbid.h"

#include "record/heap/hooks/hooks_users.h"
#include "record/heap/hooks/real_calls.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_forbidden.h"
#include "record/heap/trace/tracer_loop.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define HOOK __attribute__((visibility("default"), noinline))

/* What syscall() leads to; before the real one is known, to the kernel. */
void hooks_kernel_call(void) __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void *hooks_real_syscall =
	(void *)(uintptr_t)hooks_kernel_call;

/* For the code below. */
long hooks_failed_call(long result) __attribute__((visibility("hidden")));
long hooks_failed_call(long result)
{
	errno = (int)-result;
	return -1;
}

void hooks_forbid_ready(void)
{
	if (real_calls_ready() && real.syscall)
		hooks_real_syscall = *(void **)&real.syscall;
}

typedef long call_fn(long, ...);

static long pass_on(long number, const uint64_t a[6])
{
	call_fn *call = (call_fn *)(uintptr_t)hooks_real_syscall;

	return call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* seccomp(2): operation, flags, what it is given. */
static long call_seccomp(long number, const uint64_t a[6])
{
	struct tracer_forbidden was;
	long ret;

	if (a[0] == SECCOMP_SET_MODE_STRICT)
		was = tracer_forbidden_strict();
	else if (a[0] == SECCOMP_SET_MODE_FILTER)
		was = tracer_forbidden_filter((const struct sock_fprog *)a[2],
					      a[1] & SECCOMP_FILTER_FLAG_TSYNC);
	else
		return pass_on(number, a);
	ret = pass_on(number, a);
	/* With TSYNC a thread that could not take it is named. */
	tracer_forbidden_came(&was, ret == 0 || (ret > 0 && !(a[1] & SECCOMP_FILTER_FLAG_TSYNC)));
	return ret;
}

static long call_prctl(long number, const uint64_t a[6])
{
	struct tracer_forbidden was;
	struct loop_pause p;
	long ret;

	if (a[0] == PR_SET_TSC && a[1] == PR_TSC_SIGSEGV && tracer_is_on())
		tracer_clock_leave_counter(&recorder.clock);
	if (hooks_users_changes((int)a[0])) {
		p = tracer_loop_pause_alone();
		ret = pass_on(number, a);
		tracer_loop_go_on(&p);
		return ret;
	}
	if (a[0] != PR_SET_SECCOMP)
		return pass_on(number, a);
	was = a[1] == SECCOMP_MODE_STRICT
		      ? tracer_forbidden_strict()
		      : tracer_forbidden_filter((const struct sock_fprog *)a[2], false);
	ret = pass_on(number, a);
	tracer_forbidden_came(&was, ret == 0);
	return ret;
}

static long call_capset(long number, const uint64_t a[6])
{
	struct loop_pause p = tracer_loop_pause_alone();
	long ret = pass_on(number, a);

	tracer_loop_go_on(&p);
	return ret;
}

/* As syscall() is called. */
long hooks_call_kernel(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
		       uint64_t f) __attribute__((visibility("hidden")));
long hooks_call_kernel(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
		       uint64_t f)
{
	const uint64_t all[6] = { a, b, c, d, e, f };

	if (number == SYS_capset)
		return call_capset(number, all);
	return number == SYS_seccomp ? call_seccomp(number, all) : call_prctl(number, all);
}

HOOK int prctl(int option, ...)
{
	uint64_t all[6] = { (uint64_t)option };
	va_list ap;

	va_start(ap, option);
	for (unsigned i = 1; i < 5; i++)
		all[i] = va_arg(ap, unsigned long);
	va_end(ap);
	return (int)call_prctl(SYS_prctl, all);
}

/* syscall() itself has no frame: what is called by it may return twice, or on another stack. */
#if defined(__x86_64__)
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157 && SYS_capset == 126, "as the code compares");
__asm__("\t.text\n"
	"\t.globl syscall\n"
	"\t.type syscall,@function\n"
	"syscall:\n"
	"\t.cfi_startproc\n"
	"\tendbr64\n"
	"\tcmpq $317, %rdi\n"
	"\tje hooks_call_kernel\n"
	"\tcmpq $157, %rdi\n"
	"\tje hooks_call_kernel\n"
	"\tcmpq $126, %rdi\n"
	"\tje hooks_call_kernel\n"
	"\tjmpq *hooks_real_syscall(%rip)\n"
	"\t.cfi_endproc\n"
	"\t.size syscall, .-syscall\n"
	"\t.hidden hooks_kernel_call\n"
	"\t.globl hooks_kernel_call\n"
	"\t.type hooks_kernel_call,@function\n"
	"hooks_kernel_call:\n"
	"\t.cfi_startproc\n"
	"\tendbr64\n"
	"\tmovq %rdi, %rax\n"
	"\tmovq %rsi, %rdi\n"
	"\tmovq %rdx, %rsi\n"
	"\tmovq %rcx, %rdx\n"
	"\tmovq %r8, %r10\n"
	"\tmovq %r9, %r8\n"
	"\tmovq 8(%rsp), %r9\n"
	"\tsyscall\n"
	"\tcmpq $-4095, %rax\n"
	"\tjae 1f\n"
	"\tret\n"
	"1:\tmovq %rax, %rdi\n"
	"\tjmp hooks_failed_call\n"
	"\t.cfi_endproc\n"
	"\t.size hooks_kernel_call, .-hooks_kernel_call\n");
#elif defined(__aarch64__)
_Static_assert(SYS_seccomp == 277 && SYS_prctl == 167 && SYS_capset == 91, "as the code compares");
__asm__("\t.text\n"
	"\t.globl syscall\n"
	"\t.type syscall,%function\n"
	"syscall:\n"
	"\t.cfi_startproc\n"
	"\tcmp x0, #277\n"
	"\tb.eq hooks_call_kernel\n"
	"\tcmp x0, #167\n"
	"\tb.eq hooks_call_kernel\n"
	"\tcmp x0, #91\n"
	"\tb.eq hooks_call_kernel\n"
	"\tadrp x16, hooks_real_syscall\n"
	"\tldr x16, [x16, :lo12:hooks_real_syscall]\n"
	"\tbr x16\n"
	"\t.cfi_endproc\n"
	"\t.size syscall, .-syscall\n"
	"\t.hidden hooks_kernel_call\n"
	"\t.globl hooks_kernel_call\n"
	"\t.type hooks_kernel_call,%function\n"
	"hooks_kernel_call:\n"
	"\t.cfi_startproc\n"
	"\tmov x8, x0\n"
	"\tmov x0, x1\n"
	"\tmov x1, x2\n"
	"\tmov x2, x3\n"
	"\tmov x3, x4\n"
	"\tmov x4, x5\n"
	"\tmov x5, x6\n"
	"\tsvc #0\n"
	"\tcmn x0, #4095\n"
	"\tb.cs hooks_failed_call\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	"\t.size hooks_kernel_call, .-hooks_kernel_call\n");
#endif
