/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command sees the standard streams, signals and environment that it would see without us, but for what the tracer needs. */
#include "config.h"

#include "cli/record/record_heap.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/heap_launch.h"
#include "cli/record/live_command.h"
#include "cli/record/output_path.h"
#include "cli/record/record_end.h"
#include "cli/record/record_job.h"
#include "cli/record/record_running.h"
#include "cli/record/record_traces.h"
#include "record/cpu/launch.h"

/* What the command gets back as we got it. */
struct before {
	const struct heap_launch *heap; /* and what it needs */
	struct sigaction child;         /* SIGCHLD */
	sigset_t mask;                  /* blocked signals */
};

/* In the process that becomes the command. */
static void ready(void *arg)
{
	const struct before *b = arg;

	sigaction(SIGCHLD, &b->child, NULL);
	sigprocmask(SIG_SETMASK, &b->mask, NULL);
	heap_launch_environment(b->heap);
}

/* Starts the command; NULL with *status as shells say it, and it is told why. */
static struct launch *start(const struct options *o, struct before *b, int *status)
{
	char **argv = xcalloc(o->files.n + 1, sizeof(*argv));
	struct launch *l = NULL;
	struct err e = ERR_INIT;
	int rc;

	for (size_t i = 0; i < o->files.n; i++)
		argv[i] = xstrdup(o->files.at[i]);
	rc = launch_prepare(argv, ready, b, &l, &e);
	if (rc == 0)
		rc = launch_go(l, &e);
	if (rc) {
		*status = (int)message_error(&e,
					     rc == -ENOENT ? (enum status)127 : (enum status)126);
		launch_free(l);
		l = NULL;
	}
	for (size_t i = 0; i < o->files.n; i++)
		free(argv[i]);
	free(argv);
	return l;
}

/* Waits for a signal of these; 0: the time (by the clock of record_end_now_ms(), UINT64_MAX: none) came first. */
static int await_signal(const sigset_t *signals, uint64_t end_ms)
{
	struct timespec left = { 0 };
	uint64_t now = record_end_now_ms(), ms = end_ms > now ? end_ms - now : 0;
	int signal;

	if (end_ms == UINT64_MAX)
		return sigwait(signals, &signal) == 0 ? signal : -1;
	left.tv_sec = (time_t)(ms / 1000);
	left.tv_nsec = (long)(ms % 1000 * 1000000);
	signal = sigtimedwait(signals, NULL, &left);
	return signal < 0 && errno == EAGAIN ? 0 : signal;
}

/* The time is up: the command's trace ends, and then it is asked to end. Ctrl-C is for us now, too. */
static void end_command(pid_t pid, sigset_t *signals)
{
	heap_launch_end(pid);
	sigaddset(signals, SIGINT);
	sigprocmask(SIG_BLOCK, signals, NULL);
	kill(pid, SIGTERM);
}

/*
 * Waits for the command's end, and passes on to it that it shall end. When the time is up, its trace ends, and then it
 * is asked to; who wants to wait no longer for that, by Ctrl-C twice, has us leave it, with the status -1.
 */
static int stand_by(pid_t pid, sigset_t *signals, uint64_t ms, bool *timed_out)
{
	uint64_t end_ms = ms ? record_end_now_ms() + ms : UINT64_MAX;
	unsigned n_interrupts = 0;
	int status = -1, signal;
	bool told = false;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
		signal = await_signal(signals, end_ms);
		if (signal == 0 && *timed_out) {
			record_end_say_waits(pid);
			end_ms = UINT64_MAX;
		} else if (signal == 0) {
			*timed_out = told = true;
			end_command(pid, signals);
			end_ms = record_end_now_ms() + RECORD_END_GRACE_MS;
		} else if (signal == SIGTERM) {
			kill(pid, SIGTERM);
			told = true;
		} else if (signal == SIGINT && ++n_interrupts == 2) {
			break;
		}
	}
	/* Said twice, it is not to keep us from telling of the trace. What is said already is forgotten by that. */
	if (told)
		sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	return ended == pid ? status : -1;
}

/* Runs the command to its end. False: it could not be started, *status says it; else it is that of waitpid(2). */
static bool run_command(const struct record_job *j, const struct heap_launch *heap, uint64_t ms,
			struct output_path *place, pid_t *pid, int *status, bool *timed_out)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };
	struct before b = { .heap = heap };
	struct sigaction before[2];
	struct launch *l;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &b.mask);
	/* Whoever started us may not want to hear of children; we do. */
	sigaction(SIGCHLD, &usual, &b.child);
	l = start(j->o, &b, status);
	if (l) {
		output_path_keep(place);
		*pid = launch_pid(l);
		live_command_began(j->command, *pid);
		/* Keys that end the command leave us to tell of its trace. */
		sigaction(SIGINT, &ignore, &before[0]);
		sigaction(SIGQUIT, &ignore, &before[1]);
		*status = stand_by(*pid, &signals, ms, timed_out);
		live_command_ended(j->command, *status);
		sigaction(SIGINT, &before[0], NULL);
		sigaction(SIGQUIT, &before[1], NULL);
	} else {
		output_path_undo(place);
	}
	sigaction(SIGCHLD, &b.child, NULL);
	sigprocmask(SIG_SETMASK, &b.mask, NULL);
	launch_free(l);
	return l != NULL;
}

enum status record_heap(const struct record_job *j, const char *output)
{
	struct output_path place = { 0 };
	int status = STATUS_USAGE;
	bool ran = false, timed_out = false;
	struct heap_launch *l;
	pid_t pid = 0;
	uint64_t ms;

	if (!record_duration(j->o, &ms))
		return STATUS_USAGE;
	l = heap_launch_new(j, output);
	if (l && record_traces_clear(&place, output))
		ran = run_command(j, l, ms, &place, &pid, &status, &timed_out);
	if (ran && !heap_launch_say(l, pid, status))
		heap_launch_say_nothing(l, "nothing", status);
	heap_launch_free(l);
	if (!ran)
		return (enum status)status;
	return record_end_status(status, timed_out);
}
