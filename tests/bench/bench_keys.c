/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Types at a program on a pseudo terminal of 120x40 and prints, for each key, "WHAT MEDIAN-MS P99-MS
 * MEDIAN-BYTES MOST-BYTES MEDIAN-CPU-MS": from the key to the last byte that it makes the program send, how many
 * those are, and what the program computed for it, in all of its threads, which a busy machine does not change.
 * The time ends when nothing came for a while, and is that of the last byte before. The terminal is $TERM, or
 * xterm-256color where that is none.
 *
 * bench_keys COMMAND…       in a profile
 * bench_keys -c COMMAND…    in a comparison
 * bench_keys -h COMMAND…    in a heap trace of bench_hold
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET_MS   40   /* a frame is over when nothing came for so long */
#define WORKING_MS 2000 /* the same where all is computed anew */
#define HEAP_MS    3000 /* the same of a long heap trace; on a busy machine it may take longer */
#define SETTLE_MS  1500 /* loading is over when nothing came for so long */
#define PATIENCE_S 60   /* for all of it */

/* What is typed once to get there, then n times to be measured. */
struct typed {
	const char *what, *before, *key, *undo; /* undo is typed after each, unmeasured */
	int n;
};

static const struct typed in_profiles[] = {
	{ "down-in-top", "1g", "j", "", 100 },
	{ "page-down-in-top", "1g", " ", "", 20 },
	{ "down-in-tree", "2*g", "j", "", 100 },
	{ "page-down-in-tree", "g", " ", "", 50 },
	{ "down-in-callers", "3g", "j", "", 100 },
	{ "page-down-in-callers", "g*g", " ", "", 50 },
	{ "down-in-butterfly", "1gb", "j", "", 30 },
	{ "page-down-in-butterfly", "g", " ", "", 10 },
	{ "down-in-threads", "6g", "j", "", 30 },
	{ "page-down-in-threads", "g", " ", "", 10 },
	{ "down-in-flame", "5", "j", "", 20 },
	{ "right-in-flame", "kkkkkkkkkkkkkkkkjjjj", "l", "", 20 },
	{ "zoom-in-flame", "5\033\033hhhhhh", "\r", "\033", 10 },
	{ "zoom-deeper-in-flame", "jjj", "\r", "\033", 10 },
	{ "zoom-right-in-flame", "l", "\r", "\033", 10 },
	{ "another-view", "1", "\t", "", 14 },
	{ NULL, NULL, NULL, NULL, 0 },
};

/* What changes the numbers of all rows. */
static const struct typed in_comparisons[] = {
	{ "normalisation-in-top", "1g", "=", "", 12 },
	{ "normalisation-in-tree", "2*g", "=", "", 12 },
	{ "normalisation-in-flame", "5", "=", "", 12 },
	{ "size-in-flame", "", "d", "", 12 },
	{ "metric-in-top", "1g", "m", "", 12 },
	{ "group-in-top", "", "o", "", 8 },
	{ "filter-in-top", "", "&fn:Request\r", "&\177\r", 6 },
	{ "metric-of-filtered-top", "&fn:Request\r", "m", "", 12 },
	{ NULL, NULL, NULL, NULL, 0 },
};

/* The cursor through time, and what all blocks are looked at for. */
static const struct typed in_heaps[] = {
	{ "cursor-in-memory", "9g", "h", "", 10 },
	{ "tree-at-another-time", "", "h2", "9", 5 },
	{ "metric-in-tree", "2", "m", "", 5 },
	{ "filter-in-tree", "9L2", "&fn:pass\r", "&\177\r", 3 },
	{ "time-range-in-tree", "", "&time:2,5\r", "&\177\r", 3 },
	{ "lifetimes-in-tree", "", "&lifetime:0.1,\r", "&\177\r", 3 },
	{ "filter-in-memory", "9p", "&fn:pass\r", "&\177\r", 3 },
	{ "time-range-in-memory", "", "&time:2,5\r", "&\177\r", 3 },
	{ NULL, NULL, NULL, NULL, 0 },
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* What a process has computed so far. */
static double cpu_ms(pid_t pid)
{
	struct timespec t = { 0, 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Reads until nothing came for quiet_ms. Returns the bytes; *last_ms is when the last one came. */
static size_t drain(int fd, int quiet_ms, double *last_ms)
{
	static char bytes[1 << 16];
	double end = now_ms() + PATIENCE_S * 1e3;
	size_t n = 0;

	while (now_ms() < end) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, quiet_ms) <= 0)
			break;
		got = read(fd, bytes, sizeof(bytes));
		if (got <= 0)
			break;
		*last_ms = now_ms();
		n += (size_t)got;
	}
	return n;
}

static bool type(int fd, const char *keys)
{
	size_t n = strlen(keys);

	return write(fd, keys, n) == (ssize_t)n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Keys that change nothing, as at the end of a list, are not counted. */
static bool measure(int fd, pid_t pid, const struct typed *c, int quiet_ms)
{
	double ms[100], bytes[100], cpu[100], last;
	int n = 0;

	if (!type(fd, c->before))
		return false;
	drain(fd, SETTLE_MS, &last);
	for (int i = 0; i < c->n; i++) {
		double begin = now_ms();

		cpu[n] = -cpu_ms(pid);
		last = begin;
		if (!type(fd, c->key))
			return false;
		bytes[n] = (double)drain(fd, quiet_ms, &last);
		ms[n] = last - begin;
		cpu[n] += cpu_ms(pid);
		n += bytes[n] > 0;
		if (!type(fd, c->undo))
			return false;
		drain(fd, *c->undo ? SETTLE_MS : 0, &last);
	}
	if (n == 0)
		return true;
	qsort(ms, (size_t)n, sizeof(ms[0]), by_value);
	qsort(bytes, (size_t)n, sizeof(bytes[0]), by_value);
	qsort(cpu, (size_t)n, sizeof(cpu[0]), by_value);
	printf("%s %.2f %.2f %.0f %.0f %.2f\n", c->what, ms[n / 2], ms[n * 99 / 100], bytes[n / 2],
	       bytes[n - 1], cpu[n / 2]);
	return true;
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 40, .ws_col = 120 };
	const struct typed *cases = in_profiles;
	int quiet_ms = QUIET_MS, fd;
	bool good = true;
	double last;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "-c") == 0) {
		cases = in_comparisons;
		quiet_ms = WORKING_MS;
	} else if (argc > 1 && strcmp(argv[1], "-h") == 0) {
		cases = in_heaps;
		quiet_ms = HEAP_MS;
	}
	if (cases != in_profiles) {
		argc--;
		argv++;
	}
	if (argc < 2)
		return EXIT_FAILURE;
	pid = forkpty(&fd, NULL, NULL, &size);
	if (pid == 0) {
		if (!getenv("TERM") || strcmp(getenv("TERM"), "dumb") == 0)
			setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0)
		return EXIT_FAILURE;
	drain(fd, SETTLE_MS, &last);
	for (const struct typed *c = cases; c->what && good; c++)
		good = measure(fd, pid, c, quiet_ms);
	type(fd, "Q");
	drain(fd, QUIET_MS, &last);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
