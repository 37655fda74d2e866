/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ends a process or changes its code: everything noted so far is written before. Programs that go
 * around these functions lose what was noted in the last moments, nothing else.
 */
#include "config.h"

#include "record/heap/hooks/real_calls.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_facts.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_loop.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default"), noinline))

HOOK int dlclose(void *handle)
{
	int ret = real_calls_ready() ? real.dlclose(handle) : -1;

	if (tracer_is_on() && tracer_thread_is_idle()) {
		struct tracer_internal was = tracer_thread_internal(TRACER_INTERNAL);

		tracer_facts_modules();
		tracer_thread_resume(&was);
	}
	return ret;
}

/* What a process with more than one thread may not do is done without ours. */
HOOK int unshare(int flags)
{
	struct loop_pause p;
	int ret;

	if (!real_calls_ready() || !real.unshare)
		return (int)syscall(SYS_unshare, flags);
	p = tracer_loop_pause();
	ret = real.unshare(flags);
	tracer_loop_go_on(&p);
	return ret;
}

HOOK int setns(int fd, int type)
{
	struct loop_pause p;
	int ret;

	if (!real_calls_ready() || !real.setns)
		return (int)syscall(SYS_setns, fd, type);
	p = tracer_loop_pause();
	ret = real.setns(fd, type);
	tracer_loop_go_on(&p);
	return ret;
}

HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	int ret;

	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	ret = real.execve(path, argv, env);
	tracer_exec_failed();
	return ret;
}

HOOK int execv(const char *path, char *const argv[])
{
	int ret;

	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	ret = real.execv(path, argv);
	tracer_exec_failed();
	return ret;
}

HOOK int execvp(const char *path, char *const argv[])
{
	int ret;

	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	ret = real.execvp(path, argv);
	tracer_exec_failed();
	return ret;
}

HOOK int execvpe(const char *path, char *const argv[], char *const env[])
{
	int ret;

	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	ret = real.execvpe(path, argv, env);
	tracer_exec_failed();
	return ret;
}

HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	int ret;

	if (!real_calls_ready())
		return -1;
	tracer_exec(NULL);
	ret = real.fexecve(fd, argv, env);
	tracer_exec_failed();
	return ret;
}

/* The arguments of execl and its like with the NULL at their end: how many. */
static size_t count(const char *first, va_list *ap)
{
	size_t n = 1;

	for (const char *arg = first; arg; n++)
		arg = va_arg(*ap, const char *);
	return n;
}

/* The same as an array; what follows them stays in *ap. */
static void gather(char **argv, size_t n, const char *first, va_list *ap)
{
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i < n; i++)
		argv[i] = va_arg(*ap, char *);
}

/* They lie on the stack, as the child of a vfork must not allocate; no more than there are, as it may be a small one. */
#define GATHER(argv, first, ap) \
	do { \
		size_t n_; \
		va_start(ap, first); \
		n_ = count(first, &(ap)); \
		va_end(ap); \
		(argv) = __builtin_alloca(n_ * sizeof(*(argv))); \
		va_start(ap, first); \
		gather(argv, n_, first, &(ap)); \
	} while (0)

HOOK int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list ap;

	GATHER(argv, arg, ap);
	va_end(ap);
	return execv(path, argv);
}

HOOK int execlp(const char *path, const char *arg, ...)
{
	char **argv;
	va_list ap;

	GATHER(argv, arg, ap);
	va_end(ap);
	return execvp(path, argv);
}

HOOK int execle(const char *path, const char *arg, ...)
{
	char **argv;
	char *const *env;
	va_list ap;

	GATHER(argv, arg, ap);
	env = va_arg(ap, char *const *);
	va_end(ap);
	return execve(path, argv, env);
}

HOOK _Noreturn void _exit(int status)
{
	tracer_end();
	if (real_calls_ready())
		real._exit(status);
	__builtin_trap();
}

HOOK _Noreturn void _Exit(int status)
{
	tracer_end();
	if (real_calls_ready())
		real._Exit(status);
	__builtin_trap();
}

HOOK _Noreturn void quick_exit(int status)
{
	tracer_end();
	if (real_calls_ready())
		real.quick_exit(status);
	__builtin_trap();
}

HOOK _Noreturn void abort(void)
{
	tracer_flush();
	if (real_calls_ready())
		real.abort();
	__builtin_trap();
}
