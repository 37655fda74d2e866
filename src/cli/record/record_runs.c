/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/record/record_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"

bool record_runs_number(const struct options *o, int usual, int *out)
{
	char *end;
	long n;

	*out = usual;
	if (!o->runs)
		return true;
	errno = 0;
	n = strtol(o->runs, &end, 10);
	if (errno || end == o->runs || *end || n < 1 || n > RECORD_RUNS_MOST) {
		message("--runs wants a number from 1 to %d, not \"%s\"", RECORD_RUNS_MOST,
			o->runs);
		return false;
	}
	*out = (int)n;
	return true;
}

/* What the recorder gets as we had it. */
struct as_it_was {
	sigset_t mask;
	struct sigaction child;
};

/* In the process that records: it ends here. */
static _Noreturn void be_recorder(const struct options *o, recorder_fn *run, bool quiet,
				  const struct as_it_was *was)
{
	int null = quiet ? open("/dev/null", O_RDWR) : -1;

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	sigaction(SIGCHLD, &was->child, NULL);
	sigprocmask(SIG_SETMASK, &was->mask, NULL);
	exit((int)run(o));
}

/* Waits for the recorder's end. Keys of the terminal reach it as they reach us; what is sent to us alone is passed on. */
static int stand_by(pid_t pid, const sigset_t *signals, bool *stopped)
{
	int status = 0;
	siginfo_t info;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
		int signal = sigwaitinfo(signals, &info);

		if (signal < 0 || signal == SIGCHLD)
			continue;
		*stopped = true;
		if (info.si_code <= 0)
			kill(pid, signal);
	}
	return status;
}

enum status record_runs_one(const struct options *o, recorder_fn *run, bool quiet, bool *stopped)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	struct as_it_was was;
	sigset_t signals;
	int status = 0;
	pid_t pid;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &was.mask);
	/* Whoever started us may not want to hear of children; we do. */
	sigaction(SIGCHLD, &usual, &was.child);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_recorder(o, run, quiet, &was);
	if (pid > 0)
		status = stand_by(pid, &signals, stopped);
	else
		message("no process can be started: %s", strerror(errno));
	sigaction(SIGCHLD, &was.child, NULL);
	sigprocmask(SIG_SETMASK, &was.mask, NULL);
	if (pid < 0)
		return STATUS_UNUSABLE;
	return (enum status)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* "x.data" as the file of a run, "x.2.data"; the caller frees. */
static char *path_of_run(const char *path, int number)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name)
		return xasprintf("%s.%d", path, number);
	return xasprintf("%.*s.%d%s", (int)(dot - path), path, number, dot);
}

/* Records one of several; without a path the recorder makes up a name for each. *stopped: no other is wanted. */
static enum status record_numbered(const struct options *o, recorder_fn *run, const char *path,
				   int number, bool *stopped)
{
	struct options one = *o;
	char *output = path ? path_of_run(path, number) : NULL;
	enum status status;

	one.output = output;
	one.runs = NULL;
	one.again = number > 1;
	status = record_runs_one(&one, run, false, stopped);
	/* The command's own status is no reason to end, but a recording that cannot be is. */
	*stopped |= status != STATUS_GOOD && output && access(output, F_OK) != 0;
	free(output);
	return status;
}

enum status record_runs(const struct options *o, recorder_fn *run, const char *usual)
{
	const char *path = o->output ? o->output : usual;
	enum status first = STATUS_GOOD;
	bool stopped = false;
	int n;

	if (!record_runs_number(o, 1, &n))
		return STATUS_USAGE;
	if (o->files.n == 0 || (path && strcmp(path, "-") == 0)) {
		message("--runs is for a command that is recorded to files: proftop record --runs 3 -o x.data -- COMMAND");
		return STATUS_USAGE;
	}
	for (int i = 1; i <= n && !stopped; i++) {
		enum status status = record_numbered(o, run, path, i, &stopped);

		first = first == STATUS_GOOD ? status : first;
	}
	if (!stopped && n > 1)
		message("these %d runs are one side of a comparison: proftop diff BEFORE… -- AFTER…",
			n);
	return first;
}
