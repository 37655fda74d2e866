/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command sees the standard streams, signals and environment that it would see without us, but for what the tracer needs. */
#include "config.h"

#include "record_heap.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap_launch.h"
#include "mem.h"
#include "options.h"
#include "record_place.h"
#include "record_traces.h"
#include "say.h"

#define NOT_EXECUTABLE 126 /* as shells say it */
#define NOT_FOUND      127

static _Noreturn void become(const struct options *o, const struct heap_launch *l)
{
	char **argv = xcalloc(o->files.n + 1, sizeof(*argv));

	for (size_t i = 0; i < o->files.n; i++)
		argv[i] = xstrdup(o->files.at[i]);
	heap_launch_environment(l);
	execvp(argv[0], argv);
	say("%s: %s", argv[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* Waits for the command's end, and passes on to it that it shall end. */
static int stand_by(pid_t pid, const sigset_t *signals)
{
	int status = -1, signal;
	bool told = false;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR))
		if (sigwait(signals, &signal) == 0 && signal == SIGTERM) {
			kill(pid, SIGTERM);
			told = true;
		}
	/* Said twice, it is not to keep us from telling of the trace. */
	if (told)
		sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	return status;
}

/* Runs the command to its end; the status of waitpid(2), or -1. */
static int run_command(const struct options *o, const struct heap_launch *l, pid_t *child)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };
	struct sigaction before[3];
	sigset_t signals, mask;
	int status = -1;
	pid_t pid;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	/* Whoever started us may not want to hear of children; we do. */
	sigaction(SIGCHLD, &usual, &before[2]);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		sigaction(SIGCHLD, &before[2], NULL);
		sigprocmask(SIG_SETMASK, &mask, NULL);
		become(o, l);
	}
	if (pid < 0)
		return -1;
	*child = pid;
	/* Keys that end the command leave us to tell of its trace. */
	sigaction(SIGINT, &ignore, &before[0]);
	sigaction(SIGQUIT, &ignore, &before[1]);
	status = stand_by(pid, &signals);
	sigaction(SIGINT, &before[0], NULL);
	sigaction(SIGQUIT, &before[1], NULL);
	sigaction(SIGCHLD, &before[2], NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return status;
}

enum status record_heap(const struct options *o, const char *output)
{
	struct heap_launch *l = heap_launch_new(o, output);
	pid_t pid = 0;
	int status;

	if (!l)
		return STATUS_USAGE;
	if (output)
		record_traces_make_way(output);
	if (output && !record_make_way(output)) {
		heap_launch_free(l);
		return STATUS_USAGE;
	}
	status = run_command(o, l, &pid);
	if (!heap_launch_say(l, pid) &&
	    !(WIFEXITED(status) && WEXITSTATUS(status) >= NOT_EXECUTABLE))
		say("nothing was recorded; %s", heap_launch_nothing);
	heap_launch_free(l);
	if (status == -1)
		return STATUS_USAGE;
	/* A command killed by a signal is told of as shells tell it. */
	return (enum status)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
