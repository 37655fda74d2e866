/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ctrl-C reaches the command by the terminal, and its end ends the recording; a second one ends it at once. What a limit of
 * bytes ends is the recording: the command goes on. What a limit of time ends is both, in that order, so that what the command
 * does to end is not in the recording.
 */
#include "config.h"

#include "cli/record/record_end.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/process.h"
#include "cli/options/message.h"
#include "record/cpu/launch.h"

uint64_t record_end_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool any_there(const struct record_end *e)
{
	for (size_t i = 0; i < e->n_pids; i++)
		if (!process_has_ended(e->pids[i]))
			return true;
	for (size_t i = 0; i < e->n_tids; i++)
		if (!thread_has_ended(e->tids[i]))
			return true;
	return false;
}

/* Processes that have ended are no reason any more not to wait. */
static void forget_ended(struct record_end *e)
{
	for (size_t i = 0; i < e->watched.n;) {
		struct pollfd p = { .fd = e->watched.at[i], .events = POLLIN };

		if (p.fd == e->signals || poll(&p, 1, 0) <= 0) {
			i++;
			continue;
		}
		close(p.fd);
		e->watched.at[i] = e->watched.at[--e->watched.n];
	}
}

/* Takes note of signals: the command's end, or that we shall end. */
static void read_signals(struct record_end *e)
{
	struct signalfd_siginfo info;

	while (e->signals >= 0 && read(e->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* What comes from the terminal reaches the command, too; what is meant for us is passed on. */
		if (e->launch && !e->told && e->status == -1) {
			if (info.ssi_code != SI_KERNEL)
				kill(launch_pid(e->launch), (int)info.ssi_signo);
			e->told = true;
			continue;
		}
		e->end_ms = 0;
	}
	if (e->launch && e->status == -1)
		waitpid(launch_pid(e->launch), &e->status, WNOHANG);
}

/* Signals become readable; so do processes when they end. */
void record_end_watch(struct record_end *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	e->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (e->signals >= 0)
		vec_push(&e->watched, e->signals);
	for (size_t i = 0; i < e->n_pids && (!e->launch || e->timed); i++) {
		int fd = (int)syscall(SYS_pidfd_open, e->pids[i], 0);

		if (fd >= 0)
			vec_push(&e->watched, fd);
	}
}

void record_end_after(struct record_end *e, uint64_t ms)
{
	e->end_ms = ms ? record_end_now_ms() + ms : UINT64_MAX;
}

bool record_end_is_over(struct record_end *e)
{
	read_signals(e);
	if (record_end_now_ms() >= e->end_ms)
		return true;
	if (e->launch && (e->status != -1 || !e->timed))
		return e->status != -1;
	forget_ended(e);
	return e->n_pids + e->n_tids > 0 && !any_there(e);
}

bool record_end_timed_out(const struct record_end *e)
{
	return e->status == -1 && e->end_ms > 0 && e->end_ms != UINT64_MAX &&
	       record_end_now_ms() >= e->end_ms;
}

void record_end_say_waits(int pid)
{
	message("the command (pid %d) does not end by SIGTERM; Ctrl-C twice leaves it running",
		pid);
}

void record_end_command(struct record_end *e, bool asked)
{
	struct pollfd p = { .fd = e->signals, .events = POLLIN };
	bool said = !asked;

	if (e->status != -1)
		return;
	if (asked)
		kill(launch_pid(e->launch), SIGTERM);
	e->end_ms = UINT64_MAX;
	for (;;) {
		read_signals(e);
		if (e->status != -1 || e->end_ms == 0)
			return;
		if (poll(&p, 1, said ? -1 : RECORD_END_GRACE_MS) != 0 || said)
			continue;
		record_end_say_waits(launch_pid(e->launch));
		said = true;
	}
}

enum status record_end_status(int status, bool timed_out)
{
	if (status == -1)
		return STATUS_GOOD;
	if (WIFEXITED(status))
		return (enum status)WEXITSTATUS(status);
	if (timed_out && WTERMSIG(status) == SIGTERM)
		return STATUS_GOOD;
	return (enum status)(128 + WTERMSIG(status));
}

void record_end_done(struct record_end *e)
{
	for (size_t i = 0; i < e->watched.n; i++)
		close(e->watched.at[i]);
	vec_done(&e->watched);
}
