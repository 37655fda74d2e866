/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that make others, and such as leave for another world. */
#include "heap_works.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The child of a fork, until nobody holds the other end of the pipe. */
static _Noreturn void outlive(const int pipe_ends[2])
{
	char c;

	close(pipe_ends[1]);
	while (read(pipe_ends[0], &c, 1) < 0 && errno == EINTR)
		;
	for (unsigned i = 0; i < 30; i++)
		use(20);
	exit(0);
}

/* Children that are there for longer than we are. */
static int work_orphans(uint64_t n)
{
	int pipe_ends[2];

	if (pipe(pipe_ends))
		return 1;
	for (uint64_t i = 0; i < n; i++) {
		pid_t pid;

		use(20);
		pid = fork();
		if (pid < 0)
			return 1;
		if (pid == 0)
			outlive(pipe_ends);
	}
	return 0;
}

const struct work process_works[] = {
	{ "children", work_children },
	{ "orphans", work_orphans },
	{ "unshare", work_unshare },
	{ NULL, NULL },
};
