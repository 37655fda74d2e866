/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watches a live view on a pseudo terminal of 120x40.
 *
 * bench_live updates COMMAND…            feeds it folded lines, and prints "seen MEDIAN-MS MOST-MS", from a line to its
 *                                        name on the screen; "update MEDIAN-BYTES MOST-BYTES" of 40 rows that all change;
 *                                        "idle BYTES" of five seconds in which nothing comes
 * bench_live soak SECONDS N COMMAND…     feeds it N samples of 2,000 stacks over the time, or none when N is 0, and
 *                                        prints ten times "SECONDS FED RSS-KB RECORDER-KB CPU-S FRAMES LONGEST-GAP-MS SEEN-MS":
 *                                        the time without a frame, and until what was fed then was on the screen.
 *                                        Fails when that did not come.
 * bench_live beside SECONDS COMMAND…     prints "CPU-S CPU-S BYTES": its first seconds' cpu time, its recorder's included;
 *                                        what so many seconds after them took, and what they sent
 *
 * A frame is what comes without a pause of QUIET_MS.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET_MS    60
#define SETTLE_MS   1500
#define IDLE_MS     5000
#define OPENING_MS  5000 /* symbols are read, the screen is filled */
#define PATIENCE_MS 60000
#define MARK_CELLS  12
#define N_MARKS     24 /* each of a letter of its own */
#define N_STACKS    2000

/* The program on its terminal. */
struct watched {
	pid_t pid;
	int screen, feed;   /* feed -1: it gets nothing from us */
	double last_ms;     /* when a byte came last */
	double gap_ms;      /* the longest time between two */
	size_t frame, most; /* bytes of this frame; of the largest */
	size_t n_frames;    /* begun so far */
	size_t n_bytes;     /* that came so far */
	char mark[MARK_CELLS + 1];
	size_t matched; /* bytes of mark that came one after the other */
	bool seen;      /* all of them */
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void start(struct watched *w, char *const *argv, bool fed)
{
	struct winsize size = { .ws_row = 40, .ws_col = 120 };
	int way[2] = { -1, -1 };

	if (fed && pipe(way))
		exit(EXIT_FAILURE);
	*w = (struct watched){ .feed = way[1] };
	w->pid = forkpty(&w->screen, NULL, NULL, &size);
	if (w->pid == 0) {
		setenv("TERM", "xterm-256color", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		if (fed) {
			dup2(way[0], STDIN_FILENO);
			close(way[0]);
			close(way[1]);
		}
		execvp(argv[0], argv);
		_exit(127);
	}
	if (w->pid < 0)
		exit(EXIT_FAILURE);
	if (fed)
		close(way[0]);
	w->last_ms = now_ms();
}

static void look_for_mark(struct watched *w, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n && !w->seen; i++) {
		w->matched = bytes[i] == w->mark[w->matched] ? w->matched + 1 : 0;
		w->seen = w->matched == MARK_CELLS;
	}
}

/* Takes what comes within ms; false when nothing did. */
static bool take(struct watched *w, int ms)
{
	static char bytes[1 << 16];
	struct pollfd p = { .fd = w->screen, .events = POLLIN };
	ssize_t got;
	double now;

	if (poll(&p, 1, ms) <= 0)
		return false;
	got = read(w->screen, bytes, sizeof(bytes));
	if (got <= 0)
		return false;
	now = now_ms();
	if (now - w->last_ms > w->gap_ms)
		w->gap_ms = now - w->last_ms;
	if (now - w->last_ms > QUIET_MS) {
		w->n_frames++;
		w->frame = 0;
	}
	w->last_ms = now;
	w->n_bytes += (size_t)got;
	w->frame += (size_t)got;
	if (w->frame > w->most)
		w->most = w->frame;
	look_for_mark(w, bytes, (size_t)got);
	return true;
}

static void take_for(struct watched *w, double ms)
{
	double end = now_ms() + ms;

	for (double left = ms; left > 0; left = end - now_ms())
		take(w, (int)left + 1);
}

static void put(struct watched *w, const char *text, size_t n)
{
	while (n > 0) {
		struct pollfd p = { .fd = w->feed, .events = POLLOUT };
		ssize_t k;

		/* It may wait for its terminal while we would wait for it. */
		take(w, 0);
		if (poll(&p, 1, 1) <= 0)
			continue;
		k = write(w->feed, text, n < 4096 ? n : 4096);
		if (k < 0)
			exit(EXIT_FAILURE);
		text += k;
		n -= (size_t)k;
	}
}

/* A function that weighs more than all before; ms until its name came, -1: never. */
static double mark(struct watched *w, int i, long weight)
{
	double begin = now_ms();
	char line[64];

	memset(w->mark, 'a' + i % N_MARKS, MARK_CELLS);
	w->matched = 0;
	w->seen = false;
	put(w, line, (size_t)snprintf(line, sizeof(line), "main;%s %ld\n", w->mark, weight));
	while (!w->seen && now_ms() - begin < PATIENCE_MS)
		take(w, 20);
	return w->seen ? now_ms() - begin : -1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void put_rows(struct watched *w, int round)
{
	char text[40 * 32], *at = text;

	for (int i = 0; i < 40; i++)
		at += sprintf(at, "main;function_%02d %d\n", i, 1000 + i * 37 * round % 501);
	put(w, text, (size_t)(at - text));
}

static bool watch_updates(struct watched *w)
{
	double ms[N_MARKS], bytes[N_MARKS];

	put_rows(w, 1);
	take_for(w, SETTLE_MS);
	for (int i = 0; i < N_MARKS; i++) {
		w->most = 0;
		put_rows(w, i + 2);
		take_for(w, SETTLE_MS / 2 + 31 * i % 250);
		bytes[i] = (double)w->most;
	}
	for (int i = 0; i < N_MARKS; i++) {
		ms[i] = mark(w, i, 100000L * (i + 2));
		if (ms[i] < 0)
			return false;
		take_for(w, SETTLE_MS / 2 + 31 * i % 250);
	}
	/* The rate falls to 0 first. */
	take_for(w, IDLE_MS);
	w->n_bytes = 0;
	take_for(w, IDLE_MS);
	qsort(ms, N_MARKS, sizeof(ms[0]), by_value);
	qsort(bytes, N_MARKS, sizeof(bytes[0]), by_value);
	printf("seen %.0f %.0f\nupdate %.0f %.0f\nidle %zu\n", ms[N_MARKS / 2], ms[N_MARKS - 1],
	       bytes[N_MARKS / 2], bytes[N_MARKS - 1], w->n_bytes);
	return true;
}

/* Kilobytes that a process has in memory; 0: it is gone. */
static long rss_kb(pid_t pid)
{
	char path[64], line[256];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && kb == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kb) != 1)
			kb = 0;
	if (f)
		fclose(f);
	return kb;
}

/* Its recorder, which is its first child; 0: none. */
static pid_t recorder_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f)
		fclose(f);
	return child;
}

static double cpu_s(pid_t pid)
{
	struct timespec t = { 0, 0 };
	clockid_t clock;

	if (pid && clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* As many samples, one a line. */
static void put_samples(struct watched *w, long n, uint32_t *seed)
{
	char text[8192], *at = text;

	for (long i = 0; i < n; i++) {
		uint32_t stack = (*seed = *seed * 1664525u + 1013904223u) >> 8;

		stack %= N_STACKS;
		at += sprintf(at, "main;serve_%u;handle_%u;work_%u 1\n", stack % 7, stack % 50,
			      stack);
		if (at - text > (ptrdiff_t)sizeof(text) - 128 || i == n - 1) {
			put(w, text, (size_t)(at - text));
			at = text;
		}
	}
}

static bool soak(struct watched *w, int seconds, long n)
{
	double begin = now_ms(), end_ms = seconds * 1e3, next_ms = end_ms / 10, now;
	uint32_t seed = 1;
	long fed = 0, weight = 0;
	int i = 0;

	for (bool last = false; !last;) {
		double seen = 0;
		long due;

		now = now_ms() - begin;
		last = now >= end_ms;
		due = n > 0 ? (long)((double)n * (last ? end_ms : now) / end_ms) - fed : 0;

		put_samples(w, due, &seed);
		fed += due;
		take_for(w, 20);
		if (now < next_ms && !last)
			continue;
		if (n > 0)
			seen = mark(w, i++, weight = 2 * weight + fed);
		printf("%.0f %ld %ld %ld %.1f %zu %.0f %.0f\n", now / 1e3, fed, rss_kb(w->pid),
		       rss_kb(recorder_of(w->pid)), cpu_s(w->pid) + cpu_s(recorder_of(w->pid)),
		       w->n_frames, w->gap_ms, seen);
		fflush(stdout);
		if (seen < 0 || kill(w->pid, 0))
			return false;
		next_ms += end_ms / 10;
		w->gap_ms = 0;
	}
	return true;
}

/* For tools beside each other, which find samples by themselves. */
static bool watch_beside(struct watched *w, int seconds)
{
	double opening, cpu;
	size_t bytes;

	take_for(w, OPENING_MS);
	opening = cpu_s(w->pid) + cpu_s(recorder_of(w->pid));
	bytes = w->n_bytes;
	take_for(w, seconds * 1e3);
	cpu = cpu_s(w->pid) + cpu_s(recorder_of(w->pid));
	printf("%.3f %.3f %zu\n", opening, cpu - opening, w->n_bytes - bytes);
	fflush(stdout);
	return kill(w->pid, 0) == 0;
}

int main(int argc, char **argv)
{
	bool updates = argc > 2 && strcmp(argv[1], "updates") == 0, good;
	bool beside = argc > 3 && strcmp(argv[1], "beside") == 0;
	struct watched w;

	if (!updates && !beside && (argc < 5 || strcmp(argv[1], "soak") != 0))
		return EXIT_FAILURE;
	signal(SIGPIPE, SIG_IGN);
	start(&w, argv + (updates ? 2 : beside ? 3 : 4), updates || (!beside && atol(argv[3]) > 0));
	good = updates  ? watch_updates(&w)
	       : beside ? watch_beside(&w, atoi(argv[2]))
			: soak(&w, atoi(argv[2]), atol(argv[3]));
	if (write(w.screen, "Q", 1) == 1)
		take_for(&w, SETTLE_MS);
	kill(w.pid, SIGTERM);
	take_for(&w, SETTLE_MS);
	kill(w.pid, SIGKILL);
	waitpid(w.pid, NULL, 0);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
