/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job control and children; see jobs.h. */
#include "config.h"

#include "tui/term/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int watched[] = { SIGWINCH, SIGTERM, SIGCONT, SIGHUP, SIGINT, SIGTSTP, SIGQUIT };
/* What the keyboard sends to all of a job. */
static const int typed[] = { SIGINT, SIGQUIT, SIGTSTP, SIGCONT };

static void fill(sigset_t *set, const int *signals, size_t n)
{
	sigemptyset(set);
	for (size_t i = 0; i < n; i++)
		sigaddset(set, signals[i]);
}

/* Drops what is pending of a set. */
static void forget(const sigset_t *set)
{
	struct timespec none = { 0, 0 };

	while (sigtimedwait(set, NULL, &none) > 0)
		;
}

int jobs_watch(sigset_t *before)
{
	sigset_t set;
	int fd;

	fill(&set, watched, sizeof(watched) / sizeof(watched[0]));
	pthread_sigmask(SIG_BLOCK, &set, before);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void jobs_stop(void)
{
	static const int stop[] = { SIGTSTP }, go_on[] = { SIGCONT };
	sigset_t set;

	fill(&set, stop, 1);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	/* that we go on is known already */
	fill(&set, go_on, 1);
	forget(&set);
}

void jobs_die(int signal_number)
{
	sigset_t set;

	fill(&set, &signal_number, 1);
	raise(signal_number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* In the child: everything as it was before us. */
static void become(char *const argv[], int in_fd, int out_fd, const sigset_t *mask)
{
	signal(SIGPIPE, SIG_DFL);
	if (in_fd != STDIN_FILENO)
		dup2(in_fd, STDIN_FILENO);
	if (out_fd != STDOUT_FILENO) {
		dup2(out_fd, STDOUT_FILENO);
		dup2(out_fd, STDERR_FILENO);
	}
	pthread_sigmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	_exit(127);
}

/* Waits for a child that may be stopped from the keyboard, and stops with it. */
static int wait_for(pid_t pid)
{
	int status;

	for (;;) {
		if (waitpid(pid, &status, WUNTRACED) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (!WIFSTOPPED(status))
			break;
		jobs_stop();
		kill(pid, SIGCONT);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

int jobs_run(char *const argv[], int in_fd, int out_fd, const sigset_t *mask)
{
	sigset_t keys;
	pid_t pid = fork();
	int ret;

	if (pid == 0)
		become(argv, in_fd, out_fd, mask);
	ret = pid < 0 ? -errno : wait_for(pid);
	fill(&keys, typed, sizeof(typed) / sizeof(typed[0]));
	forget(&keys);
	return ret;
}

int jobs_feed(const char *command, const char *text, const sigset_t *mask)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	int in_fd = memfd_create("proftop-copy", MFD_CLOEXEC);
	int out_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);
	int ret = -EIO;

	if (in_fd >= 0 && out_fd >= 0 && write(in_fd, text, n) == (ssize_t)n &&
	    lseek(in_fd, 0, SEEK_SET) == 0)
		ret = jobs_run(argv, in_fd, out_fd, mask);
	if (in_fd >= 0)
		close(in_fd);
	if (out_fd >= 0)
		close(out_fd);
	return ret;
}
