/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heap traces that are read while they grow, and those of which nothing stays that was read. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/heap_trace.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap.h"
#include "tests/support/made_heap.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_EVENTS 20000u

#define A(t, i, s, bytes) \
	{ \
		.op = HEAP_ALLOC, .time = t, .id = i, .stack = s, .size = bytes \
	}
#define F(t, i) \
	{ \
		.op = HEAP_FREE, .time = t, .id = i, .stack = 1 \
	}

/* A file that another thread reads while it grows. */
struct growing {
	bool scratch; /* what was read of it does not stay on disk */
	char path[64];
	FILE *file;
	struct profile *profile;
	struct progress progress;
	int rc;
};

static int follow_it(void *arg)
{
	struct growing *g = arg;
	struct read_options o = { .follow = true };
	struct err e = ERR_INIT;
	struct input *in = NULL;
	const uint8_t *peeked;
	capture_id c;
	size_t n;

	cr_assert_eq(input_open(g->path, &in, &e), 0);
	if (g->scratch)
		input_scratch(in);
	cr_assert_eq(input_peek(in, 8, &peeked, &n, &e), 0);
	builder_begin(g->profile);
	c = build_capture(g->profile, g->path, "heap");
	builder_end(g->profile);
	g->rc = format_heap_trace.read(in, g->profile, c, &o, &g->progress, &e);
	input_close(in);
	err_clear(&e);
	return 0;
}

/* Rounds of two threads, a second of time each; the other thread frees what was allocated a round before. */
static void tell_round(struct made_heap *h, uint32_t i)
{
	uint64_t t = 1000000 * (i + 1), id = 10 * i + 1;
	const struct heap_event first[] = { A(t, id, 1, 100), A(t + 10, id + 1, 2, 50) };
	const struct heap_event second[] = { F(t + 5, id > 10 ? id - 10 : 9999) };

	made_heap_events(h, 2, 1, second, id > 10);
	made_heap_events(h, 1, id, first, 2);
}

static void append(struct growing *g, const struct made_heap *h, size_t from)
{
	cr_assert_eq(fwrite(h->bytes.at + from, 1, h->bytes.n - from, g->file), h->bytes.n - from);
	cr_assert_eq(fflush(g->file), 0);
}

static void append_end(struct growing *g, struct made_heap *h)
{
	size_t from = h->bytes.n;

	made_heap_end(h);
	append(g, h, from);
}

/* Waits until the reader has shown so many allocations. */
static void wait_for(const struct growing *g, uint32_t n)
{
	struct heap_columns c;

	do {
		poll(NULL, 0, 5);
		profile_heap(g->profile, &c);
	} while (c.n_allocations < n);
}

/* What is there at each step is a beginning of the whole, and in the end it is the whole. */
Test(heap_grow, a_file_that_grows_is_followed)
{
	struct growing g = { .path = "/tmp/proftop-test-XXXXXX", .profile = profile_new() };
	struct heap_columns grown, whole;
	struct made_heap h;
	struct profile *at_once;
	struct task *reading;

	made_heap_init(&h);
	made_heap_begin(&h);
	tell_round(&h, 0);
	tell_round(&h, 1);
	g.file = fdopen(mkstemp(g.path), "w");
	append(&g, &h, 0);
	reading = task_start(follow_it, &g, -1);
	for (uint32_t i = 2; i < 6; i++) {
		size_t from = h.bytes.n;

		/* The last second may lack what other threads did. */
		wait_for(&g, 2 * (i - 1));
		profile_heap(g.profile, &grown);
		cr_expect_leq(grown.n_allocations, 2 * i);
		cr_expect(atomic_load(&g.progress.grows));
		cr_expect_neq(profile_heap_track(g.profile, (track_id){ 0 }).known_ns, TIME_NONE);
		tell_round(&h, i);
		/* A block that is not whole yet waits for its end. */
		h.bytes.n -= 5;
		append(&g, &h, from);
		h.bytes.n += 5;
		append(&g, &h, h.bytes.n - 5);
	}
	append_end(&g, &h);
	task_join(reading);
	cr_expect_eq(g.rc, 0);
	cr_expect_not(atomic_load(&g.progress.grows));
	cr_expect_eq(progress_behind_ms(&g.progress), 0);
	cr_expect_eq(profile_heap_track(g.profile, (track_id){ 0 }).known_ns, TIME_NONE);
	cr_expect_null(made_heap_fact(g.profile, "not finished"));
	at_once = made_heap_read(&h);
	profile_heap(g.profile, &grown);
	profile_heap(at_once, &whole);
	cr_expect_eq(grown.n_allocations, 12);
	cr_expect(made_heap_same(&grown, &whole));
	profile_free(at_once);
	profile_free(g.profile);
	made_heap_done(&h);
	fclose(g.file);
	unlink(g.path);
}

/* The head says that its reader takes out of it what was read. */
static void make_spent(struct made_heap *h)
{
	struct heap_file_header head;

	cr_assert_eq(heap_take_file_header(h->bytes.at, h->bytes.n, &head), HEAP_OK);
	head.spent = 1;
	heap_put_file_header(h->bytes.at, &head);
}

/* A second of two threads, in large blocks; of each two allocations one is freed in the next one. */
static void tell_second(struct made_heap *h, uint32_t i, struct heap_event *e)
{
	uint64_t t = 1000000 * (i + 1), first = (uint64_t)i * SECOND_EVENTS + 1;

	for (uint32_t k = 0; k < SECOND_EVENTS; k++)
		e[k] = (struct heap_event)A(t + k, first + k, 1 + k % 3, k * 7919 % 100000);
	made_heap_events(h, 1, first, e, SECOND_EVENTS);
	for (uint32_t k = 0; i > 0 && k < SECOND_EVENTS; k += 2)
		e[k / 2] = (struct heap_event)F(t + k, first - SECOND_EVENTS + k);
	made_heap_events(h, 2, 1, e, i > 0 ? SECOND_EVENTS / 2 : 0);
}

/* Nobody else can read it any more, and is told so; false: the file system knows no holes. */
static bool others_are_told(struct growing *g)
{
	struct read_options o = { 0 };
	struct err err = ERR_INIT;
	const uint8_t *peeked;
	struct input *in;
	bool hole;
	size_t n;

	cr_assert_eq(input_open(g->path, &in, NULL), 0);
	cr_assert_eq(input_peek(in, 8, &peeked, &n, NULL), 0);
	hole = input_has_hole(in);
	if (hole) {
		cr_expect_eq(
			format_heap_trace.read(in, g->profile, (capture_id){ 0 }, &o, NULL, &err),
			-EBADMSG);
		cr_expect_not_null(strstr(err_text(&err), "live view"), "%s", err_text(&err));
	}
	input_close(in);
	err_clear(&err);
	return hole;
}

/* A trace that goes with its reader takes little of the disk, and what is read of it is all that there was. */
Test(heap_grow, what_was_read_is_given_back, .timeout = 120)
{
	struct growing g = { .scratch = true,
			     .path = "/tmp/proftop-test-XXXXXX",
			     .profile = profile_new() };
	struct heap_event *e = xcalloc(SECOND_EVENTS, sizeof(*e));
	struct heap_columns grown, whole;
	struct profile *at_once;
	struct made_heap h;
	struct task *reading;
	bool hole;

	made_heap_init(&h);
	make_spent(&h);
	made_heap_begin(&h);
	tell_second(&h, 0, e);
	g.file = fdopen(mkstemp(g.path), "w");
	append(&g, &h, 0);
	reading = task_start(follow_it, &g, -1);
	for (uint32_t i = 1; i < 40; i++) {
		size_t from = h.bytes.n;

		tell_second(&h, i, e);
		append(&g, &h, from);
		if (i % 8 == 0)
			wait_for(&g, (i - 1) * SECOND_EVENTS);
	}
	append_end(&g, &h);
	task_join(reading);
	at_once = made_heap_read(&h);
	profile_heap(g.profile, &grown);
	profile_heap(at_once, &whole);
	cr_expect_eq(grown.n_allocations, 40 * SECOND_EVENTS);
	cr_expect(made_heap_same(&grown, &whole));
	hole = others_are_told(&g);
	profile_free(at_once);
	profile_free(g.profile);
	made_heap_done(&h);
	fclose(g.file);
	unlink(g.path);
	free(e);
	if (!hole)
		cr_skip_test("the file system knows no holes");
}

/* Nobody's clock gets to its first event while a test runs: what is known is what was read. */
static void make_future(struct made_heap *h)
{
	struct heap_file_header head;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	cr_assert_eq(heap_take_file_header(h->bytes.at, h->bytes.n, &head), HEAP_OK);
	head.start_mono = ((uint64_t)now.tv_sec + 3600) * 1000000000;
	heap_put_file_header(h->bytes.at, &head);
}

/* No allocation that is shown is later than what is known, also while the rest of a trace is read that nobody writes any more. */
Test(heap_grow, what_is_known_goes_on_to_the_end, .timeout = 120)
{
	struct growing g = { .path = "/tmp/proftop-test-XXXXXX", .profile = profile_new() };
	struct heap_event *e = xcalloc(SECOND_EVENTS, sizeof(*e));
	struct profile_counts counts;
	struct heap_columns c;
	struct heap_track t;
	struct made_heap h;
	struct task *reading;
	size_t from;

	made_heap_init(&h);
	make_future(&h);
	made_heap_begin(&h);
	tell_second(&h, 0, e);
	tell_second(&h, 1, e);
	g.file = fdopen(mkstemp(g.path), "w");
	append(&g, &h, 0);
	reading = task_start(follow_it, &g, -1);
	wait_for(&g, 1);
	from = h.bytes.n;
	for (uint32_t i = 2; i < 40; i++)
		tell_second(&h, i, e);
	made_heap_end(&h);
	append(&g, &h, from);
	do {
		profile_counts_read(g.profile, &counts);
		profile_heap_of(g.profile, &counts, &c);
		t = profile_heap_track_of(g.profile, &counts, (track_id){ 0 });
		if (t.known_ns != TIME_NONE && c.n_allocations > 0)
			cr_assert_geq(
				t.known_ns,
				heap_track_time(&t, allocation_begin(&c, c.n_allocations - 1)));
		poll(NULL, 0, 1);
	} while (t.known_ns != TIME_NONE);
	task_join(reading);
	cr_expect_eq(g.rc, 0);
	cr_expect_eq(c.n_allocations, 40 * SECOND_EVENTS);
	profile_free(g.profile);
	made_heap_done(&h);
	fclose(g.file);
	unlink(g.path);
	free(e);
}

/* A heap to which nothing happens is a new version once a second, as its time goes on, and no more: each is analysed. */
Test(heap_grow, what_is_idle_is_seldom_published)
{
	struct growing g = { .path = "/tmp/proftop-test-XXXXXX", .profile = profile_new() };
	struct profile_counts first, last;
	struct made_heap h;
	struct task *reading;
	struct timespec begin, end;
	uint32_t seconds;

	made_heap_init(&h);
	made_heap_begin(&h);
	tell_round(&h, 0);
	tell_round(&h, 1);
	g.file = fdopen(mkstemp(g.path), "w");
	append(&g, &h, 0);
	reading = task_start(follow_it, &g, -1);
	wait_for(&g, 2);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	profile_counts_read(g.profile, &first);
	poll(NULL, 0, 1500);
	profile_counts_read(g.profile, &last);
	clock_gettime(CLOCK_MONOTONIC, &end);
	/* A slow machine makes fewer; what was read last is told, and names of it are. */
	seconds = (uint32_t)(end.tv_sec - begin.tv_sec) + 1;
	cr_expect_leq(last.version - first.version, seconds + 6);
	append_end(&g, &h);
	task_join(reading);
	profile_free(g.profile);
	made_heap_done(&h);
	fclose(g.file);
	unlink(g.path);
}
