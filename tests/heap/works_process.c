/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that make others, and such as leave for another world. */
#include "heap_works.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int status_of(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									       : -1;
}

/* Forked and spawned in turns. */
static int work_children(uint64_t n)
{
	char *argv[] = { (char *)(uintptr_t) "true", NULL };
	int bad = 0;

	for (uint64_t i = 0; i < n; i++) {
		pid_t pid;

		use(20);
		if (i % 2) {
			if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
				return 1;
			bad |= status_of(pid);
			continue;
		}
		pid = fork();
		if (pid == 0) {
			use(30);
			execv("/bin/true", argv);
			_exit(9);
		}
		bad |= status_of(pid);
	}
	return bad;
}

/* What only processes with one thread may do. */
static int work_unshare(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		use(20);
	printf("unshare: %s\n", unshare(CLONE_NEWUSER) ? strerror(errno) : "done");
	for (uint64_t i = 0; i < n; i++)
		use(20);
	return 0;
}

const struct work process_works[] = {
	{ "children", work_children },
	{ "unshare", work_unshare },
	{ NULL, NULL },
};
