/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watches a live view on a pseudo terminal of 120x40.
 *
 * bench_live updates COMMAND…            feeds it folded lines, and prints "seen MEDIAN-MS MOST-MS", from a line to its
 *                                        name on the screen; "update MEDIAN-BYTES MOST-BYTES" of 40 rows that all change;
 *                                        "idle BYTES" of five seconds in which nothing comes
 * bench_live soak SECONDS N COMMAND…     feeds it N samples of 2,000 stacks over the time, or its own standard input when N is -,
 *                                        or none when N is 0 and it has something to show of itself all the time, and
 *                                        prints ten times "SECONDS FED KB RECORDER-KB CPU-S FRAMES LOST MOST BYTES
 *                                        MOST-BYTES LONGEST-GAP-MS SEEN-MS": the most memory since the last time;
 *                                        frames so far and those that were due and did not come; the most of them in
 *                                        a second; bytes so far and those of the largest; the longest time without one, and until what was fed then was on
 *                                        the screen. Fails when that did not come.
 * bench_live beside SECONDS COMMAND…     prints "CPU-S CPU-S CPU-S BYTES": its first seconds' cpu time, its recorder's included;
 *                                        what so many seconds after them took, without its recorder, and that alone; what
 *                                        they sent
 *
 * A frame is what comes without a pause of QUIET_MS. One is due when there is something new and the last one is FRAME_MS old; it is
 * lost when it has not begun SEEN_MS after what is new came, or LATE_MS after it was due, whichever is later; and so is another
 * one for each FRAME_MS that pass then.
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
#define FRAME_MS    250 /* live shows no more than four a second */
#define SEEN_MS     300
#define LATE_MS     100
#define SECOND_MS   950 /* less, as pauses between frames are not told to the millisecond */
#define SETTLE_MS   1500
#define IDLE_MS     5000
#define OPENING_MS  5000 /* symbols are read, the screen is filled */
#define PATIENCE_MS 60000
#define MARK_CELLS  12
#define N_MARKS     24 /* each of a letter of its own */
#define N_STACKS    2000
#define PASS_MOST   (1 << 20) /* bytes, before the screen is looked at again */
#define PACE_MOST   32        /* frames of a second that are told apart */

/* The program on its terminal. */
struct watched {
	pid_t pid;
	int screen, feed;         /* feed -1: it gets nothing from us */
	double last_ms;           /* when a byte came last */
	double gap_ms;            /* the longest time between two */
	size_t frame, most;       /* bytes of this frame; of the largest */
	size_t n_frames;          /* begun so far */
	double begun_ms;          /* the last one */
	double late_ms;           /* from then on the next one is lost; 0: there is nothing new */
	size_t n_lost;            /* that did not come */
	double recent[PACE_MOST]; /* when those before begun_ms began, the newest of them first */
	size_t most_a_second;     /* that began within one */
	size_t n_bytes;           /* that came so far */
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

/* From now on there is something that was not when the last frame began. */
static void note_new(struct watched *w)
{
	double seen = now_ms() + SEEN_MS, next = w->begun_ms + FRAME_MS + LATE_MS;

	if (w->late_ms == 0)
		w->late_ms = seen > next ? seen : next;
}

static void begin_frame(struct watched *w, double now)
{
	size_t n = 1;

	if (w->late_ms > 0 && now > w->late_ms)
		w->n_lost += 1 + (size_t)((now - w->late_ms) / FRAME_MS);
	w->late_ms = 0;
	memmove(w->recent + 1, w->recent, sizeof(w->recent) - sizeof(w->recent[0]));
	w->recent[0] = w->begun_ms;
	w->begun_ms = now;
	while (n <= PACE_MOST && w->recent[n - 1] > now - SECOND_MS)
		n++;
	if (n > w->most_a_second)
		w->most_a_second = n;
	w->n_frames++;
	w->frame = 0;
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
	if (now - w->last_ms > QUIET_MS)
		begin_frame(w, now);
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
	note_new(w);
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

/* Kilobytes that a process had in memory at most since this was asked last; 0: it is gone. */
static long most_kb(pid_t pid)
{
	char path[64], line[256];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && kb == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kb) != 1)
			kb = 0;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)pid);
	f = fopen(path, "w");
	if (f) {
		fputs("5\n", f); /* proc(5): forget the most so far */
		fclose(f);
	}
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

/* What somebody else writes to us, as far as it is there; how many bytes that was. */
static size_t pass_on(struct watched *w)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	static char bytes[1 << 16];
	size_t n = 0;
	ssize_t got;

	while (n < PASS_MOST && poll(&p, 1, 0) > 0 &&
	       (got = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0) {
		put(w, bytes, (size_t)got);
		n += (size_t)got;
	}
	return n;
}

/* Of n samples over end_ms those that are due now; how many. n -1: what comes; 0: it finds them by itself. */
static long feed(struct watched *w, long n, long fed, double part, uint32_t *seed)
{
	long due = n > 0 ? (long)((double)n * part) - fed : 0;

	put_samples(w, due, seed);
	if (n < 0 ? pass_on(w) > 0 : n == 0 || due > 0)
		note_new(w);
	return due;
}

static void tell(const struct watched *w, double now, long fed, double seen)
{
	pid_t recorder = recorder_of(w->pid);

	printf("%.0f %ld %ld %ld %.1f %zu %zu %zu %zu %zu %.0f %.0f\n", now / 1e3, fed,
	       most_kb(w->pid), most_kb(recorder), cpu_s(w->pid) + cpu_s(recorder), w->n_frames,
	       w->n_lost, w->most_a_second, w->n_bytes, w->most, w->gap_ms, seen);
	fflush(stdout);
}

static bool soak(struct watched *w, int seconds, long n)
{
	double begin = now_ms(), end_ms = seconds * 1e3, next_ms = end_ms / 10, now;
	uint32_t seed = 1;
	long fed = 0, weight = 0;
	bool opened = false;
	int i = 0;

	for (bool last = false; !last;) {
		double seen = 0;

		now = now_ms() - begin;
		last = now >= end_ms;
		fed += feed(w, n, fed, last ? 1 : now / end_ms, &seed);
		take_for(w, 20);
		/* Until it has read symbols and filled the screen there is nothing to be due. */
		if (!opened && now > OPENING_MS) {
			opened = true;
			w->n_lost = w->most_a_second = w->most = 0;
			w->gap_ms = 0;
		}
		if (now < next_ms && !last)
			continue;
		if (n > 0)
			seen = mark(w, i++, weight = 2 * weight + fed);
		tell(w, now, fed, seen);
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
	double own, recorder;
	size_t bytes;

	take_for(w, OPENING_MS);
	own = cpu_s(w->pid);
	recorder = cpu_s(recorder_of(w->pid));
	bytes = w->n_bytes;
	take_for(w, seconds * 1e3);
	printf("%.3f %.3f %.3f %zu\n", own + recorder, cpu_s(w->pid) - own,
	       cpu_s(recorder_of(w->pid)) - recorder, w->n_bytes - bytes);
	fflush(stdout);
	return kill(w->pid, 0) == 0;
}

int main(int argc, char **argv)
{
	bool updates = argc > 2 && strcmp(argv[1], "updates") == 0, good;
	bool beside = argc > 3 && strcmp(argv[1], "beside") == 0;
	struct watched w;

	long n;

	if (!updates && !beside && (argc < 5 || strcmp(argv[1], "soak") != 0))
		return EXIT_FAILURE;
	signal(SIGPIPE, SIG_IGN);
	n = updates || beside ? 0 : strcmp(argv[3], "-") == 0 ? -1 : atol(argv[3]);
	start(&w, argv + (updates ? 2 : beside ? 3 : 4), updates || n != 0);
	good = updates  ? watch_updates(&w)
	       : beside ? watch_beside(&w, atoi(argv[2]))
			: soak(&w, atoi(argv[2]), n);
	if (write(w.screen, "Q", 1) == 1)
		take_for(&w, SETTLE_MS);
	kill(w.pid, SIGTERM);
	take_for(&w, SETTLE_MS);
	kill(w.pid, SIGKILL);
	waitpid(w.pid, NULL, 0);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
