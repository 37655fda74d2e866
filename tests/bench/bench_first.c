/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a program on a pseudo terminal of 120x40 some times and prints "SECONDS": the median time from the
 * start to the moment when all of a text has come, which is one that only rows have. Each is ended then.
 *
 * bench_first RUNS TEXT COMMAND…
 */
#include "config.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX   100
#define PATIENCE_S 60
#define SEEN_BYTES ((size_t)1 << 20) /* more than a first screen has */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* When text has come from fd; -1 when it does not. */
static double wait_text(int fd, const char *text)
{
	double end = now() + PATIENCE_S;
	char *seen = calloc(1, SEEN_BYTES + 1);
	size_t n = 0;
	bool found = false;

	while (seen && !found && now() < end && n < SEEN_BYTES) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, 100) <= 0)
			continue;
		got = read(fd, seen + n, SEEN_BYTES - n);
		if (got <= 0)
			break;
		n += (size_t)got;
		found = memmem(seen, n, text, strlen(text)) != NULL;
	}
	free(seen);
	return found ? now() : -1;
}

static double run(const char *text, char **command)
{
	const struct winsize size = { .ws_row = 40, .ws_col = 120 };
	double begin = now(), end;
	int fd;
	pid_t pid = forkpty(&fd, NULL, NULL, &size);

	if (pid < 0)
		return -1;
	if (pid == 0) {
		setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		execvp(command[0], command);
		_exit(127);
	}
	end = wait_text(fd, text);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	return end < 0 ? -1 : end - begin;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[1]) : 0;
	double seconds[RUNS_MAX];

	if (n < 1 || n > RUNS_MAX)
		return EXIT_FAILURE;
	for (int i = 0; i < n; i++) {
		seconds[i] = run(argv[2], argv + 3);
		if (seconds[i] < 0)
			return EXIT_FAILURE;
	}
	qsort(seconds, (size_t)n, sizeof(seconds[0]), by_value);
	printf("%.4f\n", seconds[n / 2]);
	return EXIT_SUCCESS;
}
