/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that grow while they are read: nothing of them is missed, and their end is noticed. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/format.h"
#include "formats/perf_data.h"
#include "input/input.h"
#include "symbols/resolver.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Somebody who writes a file piece by piece. */
struct writer {
	char path[64];
	int fd;
	const uint8_t *at;
	size_t n, piece;
	uint64_t told_at, told; /* a number that is written there in the end; told 0: none */
};

static void open_file(struct writer *w)
{
	strcpy(w->path, "/tmp/proftop-follow-XXXXXX");
	w->fd = mkstemp(w->path);
	cr_assert_geq(w->fd, 0);
}

static int write_all(void *arg)
{
	struct writer *w = arg;
	const struct timespec nap = { .tv_nsec = 2000000 };

	for (size_t at = 0; at < w->n; at += w->piece) {
		size_t left = w->n - at, n = left < w->piece ? left : w->piece;

		if (write(w->fd, w->at + at, n) != (ssize_t)n)
			return -errno;
		nanosleep(&nap, NULL);
	}
	if (w->told && pwrite(w->fd, &w->told, 8, (off_t)w->told_at) != 8)
		return -errno;
	return close(w->fd);
}

Test(follow, a_file_is_read_as_it_grows, .timeout = 60)
{
	static uint8_t text[30000];
	struct writer w = { .at = text, .n = sizeof(text), .piece = 700 };
	uint8_t got[sizeof(text) + 1];
	struct input *in;
	struct task *t;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 7 + i / 256);
	open_file(&w);
	cr_assert_eq(input_open(w.path, &in, NULL), 0);
	input_follow(in, true);
	cr_expect(input_follows(in));
	t = task_start(write_all, &w, -1);
	cr_expect_eq(input_read_full(in, got, sizeof(got), NULL), (ssize_t)sizeof(text));
	cr_expect_arr_eq(got, text, sizeof(text));
	cr_assert_eq(task_join(t), 0);
	input_close(in);
	unlink(w.path);
}

Test(follow, waiting_for_a_file_is_cancelled, .timeout = 60)
{
	struct progress progress = { .cancel = true };
	struct writer w = { .n = 0 };
	struct input *in;
	char c;

	open_file(&w);
	cr_assert_eq(write(w.fd, "a", 1), 1);
	cr_assert_eq(input_open(w.path, &in, NULL), 0);
	input_follow(in, true);
	cr_expect_eq(input_read(in, &c, 1, NULL), 1);
	cr_expect_not(input_comes(in, 10), "somebody still writes it");
	input_watch(in, &progress);
	cr_expect_eq(input_read(in, &c, 1, NULL), -ECANCELED);
	input_close(in);
	close(w.fd);
	unlink(w.path);
}

/* A recording of so many samples as perf has it on the disk while it writes it, and what it writes behind. */
static void make_recording(struct made *m, size_t n_samples)
{
	static const char features[64] = "\x40\x02";
	struct made records = { .attr = made_clock_attr() };

	made_comm(&records, 1, 1, 0, "a");
	made_mmap(&records, 1, 0, 0x1000, 0x1000, "/bin/a");
	for (size_t i = 0; i < n_samples; i++) {
		struct made_sample s = { .misc = PERF_CPU_USER,
					 .ip = 0x1010 + i % 5,
					 .pid = 1,
					 .tid = 1,
					 .time = 10 * i,
					 .period = 2,
					 .n_chain = 3,
					 .chain = { PERF_CTX_USER, 0x1010 + i % 5, 0x1021 } };

		made_sample(&records, &s);
		if (i % 10 == 9)
			made_mark(&records, PERF_REC_FINISHED_ROUND);
	}
	made_file(m, &records, 0);
	made_bytes(m, features, sizeof(features));
	made_done(&records);
}

#define DATA_SIZE_AT 48 /* in the header of a file */

/* Grows pieces by pieces; returns the facts' worst and the number of samples. */
static uint64_t read_growing(struct made *m, size_t piece, uint64_t told, struct profile **out)
{
	struct writer w = { .at = m->bytes.at,
			    .n = m->bytes.n,
			    .piece = piece,
			    .told_at = DATA_SIZE_AT,
			    .told = told };
	struct read_options o = { .live = true };
	struct profile_counts counts;
	struct err e = ERR_INIT;
	struct input *in;
	struct task *t;
	capture_id c;

	open_file(&w);
	cr_assert_eq(input_open(w.path, &in, NULL), 0);
	input_follow(in, true);
	t = task_start(write_all, &w, -1);
	*out = profile_new();
	builder_begin(*out);
	c = build_capture(*out, "x.data", "perf.data");
	builder_end(*out);
	cr_expect_eq(format_perf_data.read(in, *out, c, &o, NULL, &e), 0, "%s", err_text(&e));
	cr_assert_eq(task_join(t), 0);
	input_close(in);
	unlink(w.path);
	err_clear(&e);
	profile_counts_read(*out, &counts);
	return counts.n_samples;
}

static bool has_loss(const struct profile *p)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++)
		if (profile_fact(p, i).kind == FACT_LOSS)
			return true;
	return false;
}

/* The file ends where the recorder says in the end, and what it wrote behind its records is none. */
Test(follow, a_recording_is_read_as_it_is_written, .timeout = 120)
{
	static const size_t pieces[] = { 61, 1000, SIZE_MAX / 2 };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct made m = { 0 };
		struct profile *p;
		uint64_t begin;

		make_recording(&m, 200);
		memcpy(&begin, m.bytes.at + DATA_SIZE_AT - 8, 8);
		cr_expect_eq(read_growing(&m, pieces[i], m.bytes.n - 64 - begin, &p), 200);
		cr_expect_not(has_loss(p), "pieces of %zu", pieces[i]);
		profile_free(p);
		made_done(&m);
	}
}

/* Somebody who records to a directory: the files of its parts get their records last of all. */
struct parts_writer {
	const struct profile *p; /* that it is read into */
	const struct made *m;
	uint64_t begin; /* of records in m; features are its last bytes */
	int head, part;
};

static bool waits_for_parts(const struct profile *p)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++)
		if (strcmp(profile_string(p, profile_fact(p, i).name, NULL), "parts") == 0)
			return true;
	return false;
}

static int write_parts(void *arg)
{
	const struct parts_writer *w = arg;
	const struct timespec nap = { .tv_nsec = 2000000 };
	const uint64_t size = PERF_RECORD_HEADER_BYTES;
	size_t n = w->m->bytes.n - 64 - w->begin;

	while (!waits_for_parts(w->p))
		nanosleep(&nap, NULL);
	if (write(w->part, w->m->bytes.at + w->begin, n) != (ssize_t)n ||
	    write(w->head, w->m->bytes.at + w->m->bytes.n - 64, 64) != 64 ||
	    pwrite(w->head, &size, 8, DATA_SIZE_AT) != 8)
		return -errno;
	return close(w->part) | close(w->head);
}

static int open_part(const char *dir, const char *name, char **path)
{
	int fd;

	*path = xasprintf("%s/%s", dir, name);
	fd = open(*path, O_WRONLY | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	return fd;
}

/* perf record --threads: what is in its files is read when it has ended, and all of it. */
Test(follow, the_parts_of_a_directory_are_waited_for, .timeout = 60)
{
	char dir[] = "/tmp/proftop-follow-XXXXXX", *path[2];
	struct made m = { 0 }, mark = { 0 };
	struct parts_writer w = { .m = &m };
	struct read_options o = { .live = true };
	struct profile_counts counts;
	struct profile *p = profile_new();
	struct input *in;
	struct task *t;
	capture_id c;

	make_recording(&m, 200);
	made_mark(&mark, PERF_REC_FINISHED_ROUND);
	memcpy(&w.begin, m.bytes.at + DATA_SIZE_AT - 8, 8);
	cr_assert_not_null(mkdtemp(dir));
	w.p = p;
	w.head = open_part(dir, "data", &path[0]);
	w.part = open_part(dir, "data.0", &path[1]);
	cr_assert_eq(write(w.head, m.bytes.at, w.begin), (ssize_t)w.begin);
	cr_assert_eq(write(w.head, mark.bytes.at, mark.bytes.n), (ssize_t)mark.bytes.n);
	cr_assert_eq(input_open(dir, &in, NULL), 0);
	input_follow(in, true);
	t = task_start(write_parts, &w, -1);
	builder_begin(p);
	c = build_capture(p, "x.data", "perf.data");
	builder_end(p);
	cr_expect_eq(format_perf_data.read(in, p, c, &o, NULL, NULL), 0);
	cr_assert_eq(task_join(t), 0);
	profile_counts_read(p, &counts);
	cr_expect_eq(counts.n_samples, 200);
	cr_expect_not(has_loss(p));
	input_close(in);
	for (size_t i = 0; i < 2; i++) {
		unlink(path[i]);
		free(path[i]);
	}
	rmdir(dir);
	profile_free(p);
	made_done(&m);
	made_done(&mark);
}

/* What a thread reads. */
struct reading {
	struct input *in;
	struct profile *profile;
	capture_id capture;
};

static int read_all(void *arg)
{
	struct reading *r = arg;
	static const struct resolver_options here = { .same_machine = true };
	struct read_options o = { .resolve = &here };

	return format_perf_data.read(r->in, r->profile, r->capture, &o, NULL, NULL);
}

static bool has_function(const struct profile *p, const char *name)
{
	struct profile_counts c;

	profile_counts_read(p, &c);
	for (uint32_t i = 0; i < c.n_functions; i++)
		if (strcmp(profile_string(p, profile_function(p, (function_id){ i })->name, NULL),
			   name) == 0)
			return true;
	return false;
}

/* The end of a pipe may be hours away: somebody looks at what has come. */
Test(follow, functions_have_names_before_a_pipe_ends, .timeout = 60)
{
	char path[] = "/tmp/proftop-fifo-XXXXXX";
	struct reading r = { .profile = profile_new() };
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct made m = { 0 };
	struct task *t;
	int fd;

	cr_assert(made_pipe_of_us(&m, (const void *)(uintptr_t)&made_pipe_of_us));
	close(mkstemp(path));
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC); /* a writer that stays */
	cr_assert_eq(input_open(path, &r.in, NULL), 0);
	builder_begin(r.profile);
	r.capture = build_capture(r.profile, "x.data", "perf.data");
	builder_end(r.profile);
	t = task_start(read_all, &r, -1);
	cr_assert_eq(write(fd, m.bytes.at, m.bytes.n), (ssize_t)m.bytes.n);
	while (!has_function(r.profile, "made_pipe_of_us"))
		nanosleep(&nap, NULL);
	close(fd);
	cr_expect_eq(task_join(t), 0);
	input_close(r.in);
	profile_free(r.profile);
	made_done(&m);
	unlink(path);
}

/* A recorder that is killed never says where its records end. */
Test(follow, a_recorder_that_is_killed, .timeout = 120)
{
	struct made m = { 0 };
	struct profile *p;

	make_recording(&m, 50);
	m.bytes.n -= 64 + 30; /* within the last record but one */
	cr_expect_eq(read_growing(&m, 500, 0, &p), 49);
	cr_expect(has_loss(p), "that is to be told");
	profile_free(p);
	made_done(&m);
}

/* A recorder that says at any time where its records end, and has other things behind them until more come. */
static int write_in_turns(void *arg)
{
	static const char features[64] = "\x40\x02";
	struct writer *w = arg;
	const struct timespec nap = { .tv_nsec = 60000000 };
	uint64_t begin, size;

	memcpy(&begin, w->at + DATA_SIZE_AT - 8, 8);
	for (size_t n = begin + w->piece; n <= w->n; n += w->piece) {
		size = n - begin;
		if (pwrite(w->fd, w->at + begin, size, (off_t)begin) != (ssize_t)size ||
		    pwrite(w->fd, features, 64, (off_t)n) != 64 ||
		    pwrite(w->fd, &size, 8, DATA_SIZE_AT) != 8)
			return -errno;
		nanosleep(&nap, NULL);
		size = 0;
		if (n + w->piece <= w->n && pwrite(w->fd, &size, 8, DATA_SIZE_AT) != 8)
			return -errno;
	}
	return close(w->fd);
}

Test(follow, a_recording_that_can_be_opened_at_any_time, .timeout = 120)
{
	struct made m = { 0 };
	struct read_options o = { .live = true };
	struct profile_counts counts;
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct writer w;
	struct input *in;
	struct task *t;
	uint64_t begin;
	capture_id c;

	make_recording(&m, 200);
	memcpy(&begin, m.bytes.at + DATA_SIZE_AT - 8, 8);
	w = (struct writer){ .at = m.bytes.at, .n = m.bytes.n - 64 };
	w.piece = (w.n - begin) / 8 / 8 * 8;
	w.n = begin + 8 * w.piece; /* the last record may be cut */
	open_file(&w);
	/* without a record, but with what stands behind them */
	cr_assert_eq(write(w.fd, w.at, begin), (ssize_t)begin);
	cr_assert_eq(write(w.fd, m.bytes.at + m.bytes.n - 64, 64), 64);
	cr_assert_eq(input_open(w.path, &in, NULL), 0);
	input_follow(in, true);
	t = task_start(write_in_turns, &w, -1);
	builder_begin(p);
	c = build_capture(p, "x.data", "perf.data");
	builder_end(p);
	cr_expect_eq(format_perf_data.read(in, p, c, &o, NULL, &e), 0, "%s", err_text(&e));
	cr_assert_eq(task_join(t), 0);
	profile_counts_read(p, &counts);
	cr_expect_geq(counts.n_samples, 198);
	cr_expect_leq(counts.n_samples, 200);
	input_close(in);
	unlink(w.path);
	err_clear(&e);
	profile_free(p);
	made_done(&m);
}

/* Where the clock was set, files were written to in the future, or long ago: only that it changes counts then. */
Test(follow, quiet_whatever_the_clock_says, .timeout = 60)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int64_t hour_ms = INT64_C(3600000), quiet;
	struct timespec times[2];
	struct err e = ERR_INIT;
	struct writer w = { 0 };
	struct input *in;

	open_file(&w);
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[1] = times[0];
	times[1].tv_sec -= 3600;
	cr_assert_eq(futimens(w.fd, times), 0);
	cr_assert_eq(input_open(w.path, &in, &e), 0);
	cr_expect_geq(input_quiet_ms(in), hour_ms);
	/* The clock is set back by two hours; there is a write. */
	times[1].tv_sec -= 3600;
	cr_assert_eq(futimens(w.fd, times), 0);
	cr_expect_lt(input_quiet_ms(in), hour_ms);
	/* Forward by four. */
	times[1].tv_sec += 4 * 3600;
	cr_assert_eq(futimens(w.fd, times), 0);
	quiet = input_quiet_ms(in);
	cr_expect_geq(quiet, 0);
	cr_expect_lt(quiet, hour_ms);
	while (input_quiet_ms(in) <= quiet)
		nanosleep(&nap, NULL);
	input_close(in);
	/* Whoever comes now, with a clock that was set back. */
	cr_assert_eq(input_open(w.path, &in, &e), 0);
	cr_expect_geq(input_quiet_ms(in), 0);
	while (input_quiet_ms(in) <= 0)
		nanosleep(&nap, NULL);
	input_close(in);
	close(w.fd);
	unlink(w.path);
}
