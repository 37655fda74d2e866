/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap_users CALLS [THREADS] [thread]: changes its user, groups and capabilities by one call for each letter, beside so many
 * threads that allocate; in the main thread, or in another. Says what each call gave and what came of it. Begins with the first
 * line of its input.
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY       65534u
#define MOST_THREADS 8u

int capset(struct __user_cap_header_struct *header, const struct __user_cap_data_struct *data);

static _Atomic bool stop;

static void allocate(void)
{
	for (unsigned i = 0; i < 20000; i++) {
		void *p = malloc(30 + i % 50);

		__asm__ volatile("" : : "r"(p) : "memory");
		free(p);
	}
}

static void *keep_on(void *arg)
{
	while (!atomic_load(&stop))
		allocate();
	return arg;
}

/* Keeps these capabilities, of the first 32. */
static int keep(uint32_t which, bool raw)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { { 0 }, { 0 } };

	if (syscall(SYS_capget, &h, d))
		return -1;
	d[0].effective &= which;
	d[0].permitted &= which;
	d[0].inheritable = d[1].effective = d[1].permitted = d[1].inheritable = 0;
	return raw ? (int)syscall(SYS_capset, &h, d) : capset(&h, d);
}

static int call(char letter)
{
	static const gid_t groups[] = { NOBODY };
	const uint32_t ids = 1u << CAP_SETUID | 1u << CAP_SETGID;

	switch (letter) {
	case 'u':
		return setuid(NOBODY);
	case 'g':
		return setgid(NOBODY);
	case 'U':
		return seteuid(NOBODY);
	case 'G':
		return setegid(NOBODY);
	case '0':
		return seteuid(0);
	case 'r':
		return setreuid(NOBODY, NOBODY);
	case 'e':
		return setregid(NOBODY, NOBODY);
	case 'R':
		return setresuid(NOBODY, NOBODY, NOBODY);
	case 'E':
		return setresgid(NOBODY, NOBODY, NOBODY);
	case 's':
		return setgroups(1, groups);
	case 'S':
		return setgroups(0, NULL);
	case 'i':
		return initgroups("nobody", NOBODY);
	case 'f':
		return setfsuid(NOBODY);
	case 'c':
		return keep(ids, false);
	case 'C':
		return keep(0, false);
	case 'x':
		return keep(0, true);
	case 'k':
		return prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	case 'K':
		return (int)syscall(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);
	case 'b':
		return prctl(PR_SET_SECUREBITS, 1 << 0 | 1 << 2, 0, 0, 0);
	case 'd':
		return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
	case 'a':
		return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	case 'y':
		return (int)syscall(SYS_setresuid, -1, NOBODY, -1);
	case 'z':
		return (int)syscall(SYS_setgroups, 0, NULL);
	}
	return -2;
}

static void *make_calls(void *arg)
{
	for (const char *c = arg; *c; c++) {
		int got, why;

		errno = 0;
		got = call(*c);
		why = errno;
		printf("%c %d %d: user %u %u, group %u %u, %d others\n", *c, got, why, getuid(),
		       geteuid(), getgid(), getegid(), getgroups(0, NULL));
		fflush(stdout);
		allocate();
	}
	return arg;
}

/* What the main thread may do now. */
static void tell_status(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "Uid", 3) == 0 ||
		    strncmp(line, "Gid", 3) == 0)
			fputs(line, stdout);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	pthread_t threads[MOST_THREADS], caller;

	if (argc < 2 || n > MOST_THREADS)
		return 2;
	allocate();
	if (getchar() == EOF)
		return 2;
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, keep_on, NULL))
			return 2;
	if (argc <= 3)
		make_calls(argv[1]);
	else if (pthread_create(&caller, NULL, make_calls, argv[1]) || pthread_join(caller, NULL))
		return 2;
	atomic_store(&stop, true);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	tell_status();
	return 7;
}
