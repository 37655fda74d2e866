/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings that we write are read back, at every moment of their writing. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "perf/abi/perf_put.h"
#include "perf/records/perf_events.h"
#include "profile/profile.h"
#include "record/cpu/perf_writer.h"
#include "record/cpu/perf_writer_head.h"
#include "tests/support/read_recording.h"

static char name[] = "proftop";
static char *const command[] = { name, NULL };

static const struct perf_attr attr = {
	.type = PERF_T_SOFTWARE,
	.sample_period = 1,
	.sample_type = PERF_S_IDENTIFIER | PERF_S_IP | PERF_S_TID | PERF_S_TIME,
	.flags = PERF_ATTR_SAMPLE_ID_ALL,
};

static void put_sample(struct perf_put *b, uint64_t i)
{
	size_t begun = perf_put_begin(b, PERF_REC_SAMPLE, PERF_CPU_USER);

	perf_put_u64(b, 77);
	perf_put_u64(b, 0x1000 + i * 7919);
	perf_put_u32(b, 5);
	perf_put_u32(b, 5);
	perf_put_u64(b, 1000 + i);
	perf_put_end(b, begun, NULL, NULL);
}

/* Samples that a reader finds in the file. */
static uint64_t count_samples(const char *path)
{
	struct profile *p = read_recording(path);
	struct profile_counts n;

	profile_counts_read(p, &n);
	profile_free(p);
	return n.n_samples;
}

/* A file that is being written. */
struct rig {
	char path[32];
	struct perf_events events;
	struct perf_writer_head head;
	struct perf_writer *file;
	uint64_t n; /* samples that it was given */
};

static void rig_begin(struct rig *r, int level, uint64_t max_bytes)
{
	struct err e = ERR_INIT;

	*r = (struct rig){ .path = "/tmp/proftop-data-XXXXXX" };
	r->head = (struct perf_writer_head){ .events = &r->events,
					     .command = command,
					     .zstd_level = level };
	close(mkstemp(r->path));
	perf_events_add_id(&r->events, perf_events_add(&r->events, &attr, "cpu-clock"), 77);
	cr_assert_eq(perf_writer_open(r->path, &r->head, max_bytes, &r->file, &e), 0, "%s",
		     err_text(&e));
}

static void rig_add(struct rig *r, uint64_t n)
{
	struct perf_put records = { 0 };

	for (uint64_t i = 0; i < n; i++)
		put_sample(&records, r->n++);
	perf_writer_add(r->file, records.at, records.n);
	vec_done(&records);
}

static void rig_end(struct rig *r)
{
	perf_writer_close(r->file);
	perf_events_done(&r->events);
	unlink(r->path);
}

static void write_and_read(int level)
{
	struct err e = ERR_INIT;
	struct rig r;

	rig_begin(&r, level, UINT64_MAX);
	for (int turn = 0; turn < 12; turn++) {
		/* More than fits into one packed record, and little. */
		rig_add(&r, turn % 3 ? 3 : 5000);
		cr_assert_eq(perf_writer_flush(r.file, &e), 0, "%s", err_text(&e));
		cr_expect_eq(count_samples(r.path), r.n, "level %d, after turn %d", level, turn);
	}
	cr_expect_not(perf_writer_is_full(r.file));
	rig_end(&r);
}

Test(data_file, can_be_read_at_any_time)
{
	write_and_read(0);
	write_and_read(1);
}

static uint64_t file_bytes(const char *path)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

/* Everything up to the limit is in the file, whatever was flushed when. */
static void fill(int level, uint64_t max_bytes)
{
	struct err e = ERR_INIT;
	uint64_t kept, bytes;
	struct rig r;

	rig_begin(&r, level, max_bytes);
	while (!perf_writer_is_full(r.file)) {
		rig_add(&r, 1 + r.n % 700);
		if (r.n % 3)
			cr_assert_eq(perf_writer_flush(r.file, &e), 0, "%s", err_text(&e));
	}
	rig_add(&r, 10);
	cr_assert_eq(perf_writer_flush(r.file, &e), 0, "%s", err_text(&e));
	kept = perf_writer_samples(r.file);
	bytes = file_bytes(r.path);
	cr_expect_eq(count_samples(r.path), kept, "level %d: %lu bytes", level, (long)max_bytes);
	cr_expect_eq(perf_writer_left_out(r.file), r.n - kept);
	cr_expect_eq(perf_writer_bytes(r.file), bytes);
	cr_expect_leq(bytes, max_bytes);
	/* A sample has 40 bytes; a piece of one has some more when it is packed. */
	cr_expect_geq(bytes + 100, max_bytes, "level %d: %lu of %lu bytes", level, (long)bytes,
		      (long)max_bytes);
	rig_end(&r);
}

Test(data_file, is_as_large_as_it_may_be)
{
	for (uint64_t max_bytes = 4000; max_bytes < 300000; max_bytes += max_bytes / 3 + 1)
		for (int level = 0; level < 3; level++)
			fill(level, max_bytes);
}

/* The disk is full as the system says it of a file that may not become larger. */
static void run_into(int level, uint64_t most, uint64_t each)
{
	const struct rlimit before = { RLIM_INFINITY, RLIM_INFINITY },
			    limit = { most, RLIM_INFINITY };
	struct err e = ERR_INIT;
	struct rig r;
	int rc = 0;

	rig_begin(&r, level, UINT64_MAX);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	while (rc == 0) {
		rig_add(&r, each);
		rc = perf_writer_flush(r.file, &e);
	}
	cr_expect_eq(rc, -EFBIG, "%s", err_text(&e));
	err_clear(&e);
	rig_add(&r, 5);
	cr_expect_eq(perf_writer_flush(r.file, &e), 0, "%s", err_text(&e));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	cr_expect_eq(count_samples(r.path), perf_writer_samples(r.file), "level %d, %lu bytes",
		     level, (long)most);
	cr_expect_eq(perf_writer_left_out(r.file), r.n - perf_writer_samples(r.file));
	cr_expect_leq(file_bytes(r.path), most);
	cr_expect_eq(file_bytes(r.path), perf_writer_bytes(r.file));
	/* Packed records go by the piece, of which there are three at least. */
	cr_expect_geq(file_bytes(r.path) + (level ? most / 2 : 100), most, "level %d: %lu of %lu",
		      level, (long)file_bytes(r.path), (long)most);
	rig_end(&r);
}

Test(data_file, keeps_what_the_disk_has_room_for)
{
	signal(SIGXFSZ, SIG_IGN);
	for (uint64_t each = 1000; each < 1000000; each *= 30) {
		run_into(0, 70000, each);
		run_into(1, 70000, each);
		run_into(0, 70001, each);
	}
}

Test(data_file, says_why_it_cannot_be)
{
	struct perf_events events = { 0 };
	struct perf_writer_head head = { .events = &events, .command = command };
	struct err e = ERR_INIT;
	struct perf_writer *f;

	perf_events_add(&events, &attr, "cpu-clock");
	cr_expect_lt(perf_writer_open("/nowhere/x.data", &head, UINT64_MAX, &f, &e), 0);
	cr_expect(strstr(err_text(&e), "/nowhere/x.data"));
	err_clear(&e);
	perf_events_done(&events);
}
