/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ends a process or changes its code: everything noted so far is written before. Programs that go
 * around these functions lose what was noted in the last moments, nothing else.
 */
#include "config.h"

#include "real_calls.h"
#include "tracer.h"
#include "tracer_facts.h"
#include "tracer_init.h"
#include "tracer_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define HOOK     __attribute__((visibility("default"), noinline))
#define MAX_ARGS 4096u

HOOK int dlclose(void *handle)
{
	int ret = real_calls_ready() ? real.dlclose(handle) : -1;
	struct tracer_tls *tls = &tracer_tls;

	if (tracer_is_on() && tls->busy == TRACER_IDLE) {
		tls->busy = TRACER_INTERNAL;
		tracer_facts_modules();
		tls->busy = TRACER_IDLE;
	}
	return ret;
}

HOOK int execve(const char *path, char *const argv[], char *const env[])
{
	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	return real.execve(path, argv, env);
}

HOOK int execv(const char *path, char *const argv[])
{
	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	return real.execv(path, argv);
}

HOOK int execvp(const char *path, char *const argv[])
{
	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	return real.execvp(path, argv);
}

HOOK int execvpe(const char *path, char *const argv[], char *const env[])
{
	if (!real_calls_ready())
		return -1;
	tracer_exec(path);
	return real.execvpe(path, argv, env);
}

HOOK int fexecve(int fd, char *const argv[], char *const env[])
{
	if (!real_calls_ready())
		return -1;
	tracer_exec(NULL);
	return real.fexecve(fd, argv, env);
}

/* The arguments of execl and its like as an array; what follows them stays in *ap. */
static int gather(char **argv, const char *first, va_list *ap)
{
	unsigned n = 0;

	argv[n++] = (char *)(uintptr_t)first;
	while (argv[n - 1]) {
		if (n == MAX_ARGS) {
			errno = E2BIG;
			return -1;
		}
		argv[n++] = va_arg(*ap, char *);
	}
	return 0;
}

HOOK int execl(const char *path, const char *arg, ...)
{
	char *argv[MAX_ARGS];
	va_list ap;
	int ret;

	va_start(ap, arg);
	ret = gather(argv, arg, &ap);
	va_end(ap);
	return ret ? ret : execv(path, argv);
}

HOOK int execlp(const char *path, const char *arg, ...)
{
	char *argv[MAX_ARGS];
	va_list ap;
	int ret;

	va_start(ap, arg);
	ret = gather(argv, arg, &ap);
	va_end(ap);
	return ret ? ret : execvp(path, argv);
}

HOOK int execle(const char *path, const char *arg, ...)
{
	char *argv[MAX_ARGS];
	char *const *env = NULL;
	va_list ap;
	int ret;

	va_start(ap, arg);
	ret = gather(argv, arg, &ap);
	if (!ret)
		env = va_arg(ap, char *const *);
	va_end(ap);
	return ret ? ret : execve(path, argv, env);
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
