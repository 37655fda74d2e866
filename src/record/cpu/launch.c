/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process waits at one pipe for a byte, and tells at another why it could not become the command; that one
 * closes by itself when it could.
 */
#include "config.h"

#include "record/cpu/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

struct launch {
	pid_t pid;
	char *name;
	int gate; /* written to when it may go; -1: it went */
	int fate; /* read: errno of a failed exec */
};

static ssize_t read_again(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static _Noreturn void wait_and_become(char *const *argv, void (*ready)(void *arg), void *arg,
				      int gate, int fate)
{
	char go;
	int why;

	if (read_again(gate, &go, 1) != 1)
		_exit(0);
	if (ready)
		ready(arg);
	execvp(argv[0], argv);
	why = errno;
	if (write(fate, &why, sizeof(why)) < 0)
		_exit(1);
	_exit(why == ENOENT ? 127 : 126);
}

int launch_prepare(char *const *argv, void (*ready)(void *arg), void *arg, struct launch **out,
		   struct err *e)
{
	int gate[2] = { -1, -1 }, fate[2] = { -1, -1 };
	struct launch *l;
	pid_t pid = -1;

	if (pipe2(gate, O_CLOEXEC) == 0 && pipe2(fate, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0) {
		close(gate[1]);
		close(fate[0]);
		wait_and_become(argv, ready, arg, gate[0], fate[1]);
	}
	if (pid < 0) {
		int why = -errno;

		for (int i = 0; i < 2; i++) {
			close(gate[i]);
			close(fate[i]);
		}
		return err_set(e, why, "%s cannot be started: %s", argv[0], strerror(-why));
	}
	close(gate[0]);
	close(fate[1]);
	l = xcalloc(1, sizeof(*l));
	*l = (struct launch){ pid, xstrdup(argv[0]), gate[1], fate[0] };
	*out = l;
	return 0;
}

void launch_free(struct launch *l)
{
	if (!l)
		return;
	close(l->fate);
	if (l->gate >= 0) {
		close(l->gate);
		waitpid(l->pid, NULL, 0);
	}
	free(l->name);
	free(l);
}

pid_t launch_pid(const struct launch *l)
{
	return l->pid;
}

int launch_go(struct launch *l, struct err *e)
{
	int why = 0;
	ssize_t n = write(l->gate, "", 1);

	close(l->gate);
	l->gate = -1;
	if (n == 1 && read_again(l->fate, &why, sizeof(why)) != sizeof(why))
		return 0;
	if (n != 1)
		why = ECHILD;
	waitpid(l->pid, NULL, 0);
	return err_set(e, -why, "%s: %s", l->name, strerror(why));
}
