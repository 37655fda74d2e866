/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings that we write are read back, at every moment of their writing. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data_file.h"
#include "data_head.h"
#include "err.h"
#include "mem.h"
#include "perf_events.h"
#include "perf_put.h"
#include "profile.h"
#include "read_recording.h"

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

static void write_and_read(int level)
{
	char path[] = "/tmp/proftop-data-XXXXXX";
	struct perf_events events = { 0 };
	struct data_head head = { .events = &events, .command = command, .zstd_level = level };
	struct err e = ERR_INIT;
	struct data_file *f;
	uint64_t n = 0;

	close(mkstemp(path));
	perf_events_add_id(&events, perf_events_add(&events, &attr, "cpu-clock"), 77);
	cr_assert_eq(data_file_open(path, &head, &f, &e), 0, "%s", err_text(&e));
	for (int turn = 0; turn < 12; turn++) {
		struct perf_put records = { 0 };

		/* More than fits into one packed record, and little. */
		for (int i = turn % 3 ? 3 : 5000; i > 0; i--)
			put_sample(&records, n++);
		data_file_add(f, records.at, records.n);
		vec_done(&records);
		cr_assert_eq(data_file_flush(f, &e), 0, "%s", err_text(&e));
		cr_expect_eq(count_samples(path), n, "level %d, after turn %d", level, turn);
	}
	data_file_close(f);
	cr_expect_eq(count_samples(path), n);
	perf_events_done(&events);
	unlink(path);
}

Test(data_file, can_be_read_at_any_time)
{
	write_and_read(0);
	write_and_read(1);
}

Test(data_file, says_why_it_cannot_be)
{
	struct perf_events events = { 0 };
	struct data_head head = { .events = &events, .command = command };
	struct err e = ERR_INIT;
	struct data_file *f;

	perf_events_add(&events, &attr, "cpu-clock");
	cr_expect_lt(data_file_open("/nowhere/x.data", &head, &f, &e), 0);
	cr_expect(strstr(err_text(&e), "/nowhere/x.data"));
	err_clear(&e);
	perf_events_done(&events);
}
