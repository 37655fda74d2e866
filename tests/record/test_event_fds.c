/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More files than one table should have: all are asked, in their order, and closed in the end. Pipes stand for events. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

#include "record/cpu/event_fds.h"

#define MOST 7

struct seen {
	int fail_at; /* which one fails; -1: none */
	int n;
	uint64_t sum; /* of what is read */
};

static int read_one(int fd, void *arg)
{
	struct seen *s = arg;
	uint8_t c;

	if (s->n == s->fail_at)
		return -EIO;
	s->n++;
	if (read(fd, &c, 1) == 1)
		s->sum += c;
	return 0;
}

/* How many of the process's table are open. */
static int count_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Adds the ends to read of n pipes, which have a byte each; the others are in writers. Returns the sum of bytes. */
static uint64_t add(struct event_fds *f, int *writers, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++) {
		uint8_t c = (uint8_t)(i + 1);
		int ends[2];

		cr_assert_eq(event_fds_make_room(f), 0);
		cr_assert_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
		cr_assert_eq(write(ends[1], &c, 1), 1);
		event_fds_add(f, ends[0]);
		writers[i] = ends[1];
		sum += c;
	}
	return sum;
}

/* Does nobody have the other end any more? */
static bool is_alone(int writer)
{
	struct pollfd p = { .fd = writer };

	return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

static void try(int n)
{
	struct event_fds *f = event_fds_new(MOST);
	struct seen all = { .fail_at = -1 }, some = { .fail_at = n - 1 };
	int before = count_open(), writers[64];
	uint64_t sum = add(f, writers, n);

	cr_expect_leq(count_open() - before - n, MOST, "of %d", n);
	cr_expect_eq(event_fds_count(f), (size_t)n);
	cr_expect_eq(event_fds_each(f, read_one, &all), 0);
	cr_expect_eq(all.n, n);
	cr_expect_eq(all.sum, sum, "%d: %ju instead of %ju", n, (uintmax_t)all.sum, (uintmax_t)sum);
	if (n > 0)
		cr_expect_eq(event_fds_each(f, read_one, &some), -EIO);
	for (int i = 0; i < n; i++)
		cr_expect_not(is_alone(writers[i]), "%d of %d", i, n);
	event_fds_free(f);
	for (int i = 0; i < n; i++) {
		cr_expect(is_alone(writers[i]), "%d of %d", i, n);
		close(writers[i]);
	}
	cr_expect_eq(count_open(), before);
}

Test(event_files, all_are_asked_wherever_they_are)
{
	static const int ns[] = { 0, 1, MOST, MOST + 1, 2 * MOST, 64 };

	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		try(ns[i]);
}

/* The first descriptor of all is one of those that are kept. */
Test(event_files, a_table_may_begin_with_an_event)
{
	struct event_fds *f = event_fds_new(1);
	struct seen all = { .fail_at = -1 };
	uint8_t c = 9;
	int ends[2];

	cr_assert_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	cr_assert_eq(write(ends[1], &c, 1), 1);
	cr_assert_eq(dup2(ends[0], 0), 0);
	close(ends[0]);
	event_fds_add(f, 0);
	cr_assert_eq(event_fds_make_room(f), 0);
	cr_expect_lt(fcntl(0, F_GETFD), 0);
	cr_expect_eq(event_fds_each(f, read_one, &all), 0);
	cr_expect_eq(all.sum, 9);
	event_fds_free(f);
	cr_expect(is_alone(ends[1]));
	close(ends[1]);
}
