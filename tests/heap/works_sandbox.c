/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that forbid themselves calls of the kernel, or the processor's clock. */
#include "heap_works.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CALLS 16u

static FRAME void allocate(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		use(1 + i % 300);
}

/* So that malloc need not ask the kernel for more, and so that nobody writes a core file of it. */
static void prepare(void)
{
	struct rlimit none = { 0 };

	setrlimit(RLIMIT_CORE, &none);
	allocate(300);
	free(malloc(100000));
	free(realloc(malloc(10), 5000));
}

static void say(const char *what)
{
	if (write(STDOUT_FILENO, what, strlen(what)) < 0)
		_exit(99);
}

/* Frees of what others made, and what is made of it, as well. */
static void work_within(uint64_t n)
{
	void *p = malloc(10);

	allocate(n);
	p = realloc(p, 2000);
	free(p);
}

static void *strict_thread(void *arg)
{
	prepare();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return arg;
	work_within(*(uint64_t *)arg);
	say("within\n");
	syscall(SYS_exit, 0);
	return NULL;
}

/* One thread of several is in the strict mode. */
static int work_strict_thread(uint64_t n)
{
	pthread_t thread;
	void *bad;

	if (pthread_create(&thread, NULL, strict_thread, &n))
		return 1;
	pthread_join(thread, &bad);
	allocate(n);
	return bad != NULL;
}

static int enter_strict(void)
{
	prepare();
	fflush(stdout);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
}

static int work_strict(uint64_t n)
{
	if (enter_strict())
		return 1;
	work_within(n);
	say("within\n");
	syscall(SYS_exit, 7);
	return 2;
}

/* Ends by a call that is forbidden. */
static int work_strict_dies(uint64_t n)
{
	if (enter_strict())
		return 1;
	work_within(n);
	say("within\n");
	syscall(SYS_getppid);
	return 2;
}

/* A filter that has `listed` for these calls and `others` for all others. Through syscall(), where there are flags. */
static long load_filter(const int *calls, size_t n, uint32_t listed, uint32_t others,
			unsigned long flags)
{
	struct sock_filter at[2 * MOST_CALLS + 2];
	struct sock_fprog f = { .filter = at };

	at[f.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++) {
		at[f.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)calls[i], 0, 1);
		at[f.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
	}
	at[f.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, others);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return flags ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &f)
		     : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f);
}

/* As little as one can do with. */
static const int few[] = {
	SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_brk
};
#define N_FEW (sizeof(few) / sizeof(few[0]))

static int work_filter_few(uint64_t n)
{
	prepare();
	fflush(stdout);
	if (load_filter(few, N_FEW, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, 0))
		return 1;
	work_within(n);
	say("within\n");
	_exit(7);
}

static int work_filter_dies(uint64_t n)
{
	prepare();
	fflush(stdout);
	if (load_filter(few, N_FEW, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_THREAD, 0))
		return 1;
	work_within(n);
	say("within\n");
	syscall(SYS_getppid);
	return 2;
}

/* What the recorder has no use for is forbidden; a filter that is refused changes nothing. */
static int work_filter_others(uint64_t n)
{
	static const int calls[] = { SYS_socket, SYS_ptrace };

	allocate(n);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) != -1 ||
	    errno != EFAULT)
		return 1;
	if (load_filter(few, N_FEW, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, 1u << 20) != -1 ||
	    errno != EINVAL)
		return 2;
	allocate(n);
	if (load_filter(calls, 2, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW, 0))
		return 3;
	allocate(n);
	return 0;
}

/* No files may be opened any more, nor written to where one likes. */
static int work_filter_files(uint64_t n)
{
	static const int calls[] = { SYS_openat, SYS_pwrite64, SYS_newfstatat };

	allocate(n);
	if (load_filter(calls, 3, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW, 0))
		return 1;
	allocate(n);
	fflush(stdout);
	_exit(7);
}

/* As launchers of sandboxes do: a filter, and then another program. */
static int work_filter_exec(uint64_t n)
{
	static char *const command[] = { (char *)(uintptr_t) "true", NULL };

	allocate(n);
	if (load_filter(few, 0, SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW, 0))
		return 1;
	allocate(n);
	fflush(stdout);
	execv("/bin/true", command);
	return 2;
}

/* In a child of vfork: forbids itself something in one of several ways, and goes. */
static _Noreturn void forbid_and_go(int how)
{
	static const int calls[] = { SYS_getpid, SYS_gettid, SYS_futex, SYS_pwrite64 };
	static char *const command[] = { (char *)(uintptr_t) "true", NULL };
	long bad = 0;

	if (how == 0)
		bad = load_filter(few, N_FEW, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS, 0);
	else if (how == 1) /* all threads of its own */
		bad = load_filter(few, N_FEW, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS,
				  SECCOMP_FILTER_FLAG_TSYNC);
	else if (how == 2 && (bad = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)) == 0)
		syscall(SYS_exit, 0);
	else if (how == 3) /* refused */
		bad = load_filter(few, N_FEW, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS,
				  1u << 20) != -1;
	else if (how == 4 && (bad = load_filter(calls, 4, SECCOMP_RET_ERRNO | EPERM,
						SECCOMP_RET_ALLOW, 0)) == 0)
		bad = execv("/bin/true", command);
	_exit(bad != 0);
}

static FRAME int vfork_and_forbid(int how)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0)
		forbid_and_go(how);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* What a child of vfork forbids itself is forbidden to nobody else. */
static int work_vfork_filter(uint64_t n)
{
	for (int how = 0; how < 5; how++) {
		allocate(n);
		if (vfork_and_forbid(how))
			return 1 + how;
		allocate(n);
	}
	return 0;
}

static _Atomic int stop;

static void *until_stopped(void *arg)
{
	while (!stop)
		allocate(100);
	return arg;
}

static int work_filter_all(uint64_t n)
{
	static const int calls[] = { SYS_pwrite64, SYS_prlimit64 };
	pthread_t thread;

	allocate(n);
	if (pthread_create(&thread, NULL, until_stopped, NULL))
		return 1;
	if (load_filter(calls, 2, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW,
			SECCOMP_FILTER_FLAG_TSYNC))
		return 2;
	allocate(n);
	usleep(300000);
	stop = 1;
	pthread_join(thread, NULL);
	return 0;
}

#if defined(__x86_64__)
static void *some(void *arg)
{
	allocate(*(uint64_t *)arg);
	return NULL;
}

/* Nobody reads the counter from here on, children included. */
static int work_no_clock(uint64_t n)
{
	pthread_t thread;
	int status;
	pid_t pid;

	allocate(n);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 1;
	allocate(n);
	if (pthread_create(&thread, NULL, some, &n) || pthread_join(thread, NULL))
		return 2;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		allocate(n);
		_exit(5);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
		return 3;
	allocate(n);
	return 0;
}
#endif

const struct work sandbox_works[] = {
	{ "strict", work_strict },
	{ "strict-dies", work_strict_dies },
	{ "strict-thread", work_strict_thread },
	{ "filter-few", work_filter_few },
	{ "filter-dies", work_filter_dies },
	{ "filter-others", work_filter_others },
	{ "filter-files", work_filter_files },
	{ "filter-exec", work_filter_exec },
	{ "filter-all", work_filter_all },
	{ "vfork-filter", work_vfork_filter },
#if defined(__x86_64__)
	{ "no-clock", work_no_clock },
#endif
	{ NULL, NULL },
};
