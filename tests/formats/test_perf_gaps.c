/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long samples of which only the ends are read: what comes out is as if all had been. */
#include "config.h"

#include "base/err.h"
#include "formats/perf_data.h"
#include "input/input.h"
#include "perf/abi/lazy_stack.h"
#include "perf/file/perf_stream.h"
#include "profile/builder.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define STACK_BYTES 16384u
#define STACK_AT    UINT64_C(0x7fff0000)
#define CODE_AT     UINT64_C(0x10000)
#define N_SAMPLES   300u

/* What the words of a stack are: a chain of frame pointers, so many bytes apart. */
struct shape {
	uint32_t n_frames, apart;
};

static uint64_t stack_word(const struct shape *s, uint32_t at)
{
	uint32_t frame = at / s->apart;

	if (at % s->apart == 0 && frame < s->n_frames)
		return STACK_AT + at + s->apart;
	if (at % s->apart == 8 && frame < s->n_frames)
		return CODE_AT + frame * 16 + s->n_frames;
	return 0;
}

/* x86-64, with its stack behind n_raw bytes of fields. */
static void put_stack(struct made *m, uint32_t i, uint32_t n_raw)
{
	struct shape shape = { 2 + i % 9, 400 * (1 + i % 6) };
	size_t at = made_begin(m, PERF_REC_SAMPLE, PERF_CPU_USER);

	made_u64(m, CODE_AT + i % 4);
	made_u64(m, UINT64_C(1) << 32 | 1);
	made_u64(m, i + 1);
	made_u32(m, n_raw + 4); /* the length and the bytes fill whole words */
	made_u32(m, 0);
	for (uint32_t j = 0; j < n_raw; j += 8)
		made_u64(m, UINT64_MAX);
	made_u64(m, 2);
	made_u64(m, STACK_AT);
	made_u64(m, STACK_AT);
	made_u64(m, CODE_AT + i % 4);
	made_u64(m, STACK_BYTES);
	for (uint32_t j = 0; j < STACK_BYTES; j += 8)
		made_u64(m, stack_word(&shape, j));
	made_u64(m, STACK_BYTES - i % 5 * 1024);
	made_end(m, at);
}

static struct perf_attr attr_of_stacks(void)
{
	return (struct perf_attr){
		.sample_type = PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_RAW |
			       PERF_S_REGS_USER | PERF_S_STACK_USER,
		.sample_regs_user = 1u << 6 | 1u << 7 | 1u << 8,
		.flags = PERF_ATTR_SAMPLE_ID_ALL,
	};
}

/* Long samples, with short records between some of them. */
static void put_records(struct made *m)
{
	m->attr = attr_of_stacks();
	made_comm(m, 1, 1, 0, "a");
	made_mmap(m, 1, 0, CODE_AT, 0x1000, "/nowhere/a");
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		put_stack(m, i, i % 3 * 2048);
		if (i % 7 == 0)
			made_mark(m, PERF_REC_FINISHED_ROUND);
		if (i % 20 == 0)
			made_comm(m, 1, 1, i + 1, i % 40 ? "b" : "c");
	}
}

static char *text_of(const struct made *m)
{
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct input *in = input_of_bytes(m->bytes.at, m->bytes.n, "x.data");
	capture_id c;
	char *text;

	builder_begin(p);
	c = build_capture(p, "x.data", "perf.data");
	builder_end(p);
	cr_assert_eq(format_perf_data.read(in, p, c, NULL, NULL, &e), 0, "%s", err_text(&e));
	text = made_text_of(p);
	input_close(in);
	profile_free(p);
	return text;
}

/* The same records from what cannot be read here and there, and so is read whole. */
static char *text_of_pipe(const struct made *records)
{
	struct made pipe = { .attr = records->attr };
	char name[] = "/tmp/proftop-gaps-XXXXXX", *text;
	struct err e = ERR_INIT;
	struct profile *p = profile_new();
	struct input *in;
	capture_id c;
	int fd = mkstemp(name);
	gzFile packed;

	made_pipe(&pipe, records);
	cr_assert_geq(fd, 0);
	packed = gzdopen(fd, "wb1");
	cr_assert_not_null(packed);
	cr_assert_eq(gzwrite(packed, pipe.bytes.at, (unsigned)pipe.bytes.n), (int)pipe.bytes.n);
	cr_assert_eq(gzclose(packed), Z_OK);
	cr_assert_eq(input_open(name, &in, &e), 0, "%s", err_text(&e));
	unlink(name);
	builder_begin(p);
	c = build_capture(p, "x.data", "perf.data");
	builder_end(p);
	cr_assert_eq(format_perf_data.read(in, p, c, NULL, NULL, &e), 0, "%s", err_text(&e));
	text = made_text_of(p);
	input_close(in);
	profile_free(p);
	made_done(&pipe);
	return text;
}

Test(perf_gaps, stacks_come_out_whole)
{
	struct made records = { 0 }, file = { 0 };
	char *got, *want;

	put_records(&records);
	file.attr = records.attr;
	made_file(&file, &records, records.bytes.n);
	got = text_of(&file);
	want = text_of_pipe(&records);
	cr_expect_str_eq(got, want);
	/* frames from far out */
	cr_expect_neq(strstr(got, ";[/nowhere/a]+99;[/nowhere/a]+89;"), NULL);
	free(got);
	free(want);
	made_done(&records);
	made_done(&file);
}

/* Goes through the windows of a file; what is in gaps must be what is in the file. */
static void check_gaps(const struct made *m, struct perf_stream *s, size_t *n_gaps,
		       size_t *n_samples)
{
	struct perf_records w;

	while (perf_stream_next(s, &w, NULL) > 0) {
		struct perf_record r;
		size_t next = 0;

		for (size_t at = 0; at < w.n_bytes; at += r.size) {
			uint64_t offset = w.offset + at;
			struct lazy_stack *g;

			perf_record_at(w.at + at, false, &r);
			g = lazy_stack_find(&w, offset, &next);
			*n_samples += r.type == PERF_REC_SAMPLE;
			*n_gaps += g != NULL;
			if (g) {
				memset(g->at, 0xaa, g->n);
				lazy_stack_fill(g);
			}
			cr_assert_eq(memcmp(r.at, m->bytes.at + offset, r.size), 0, "at %zu",
				     (size_t)offset);
		}
	}
}

static void check_stream(const struct made *records, bool skim)
{
	struct input *in = input_of_bytes(records->bytes.at, records->bytes.n, "x.data");
	struct perf_stream *s = perf_stream_new(in, 0, records->bytes.n, false, 0);
	size_t n_gaps = 0, n_samples = 0;

	perf_stream_leave_gaps(s, skim);
	check_gaps(records, s, &n_gaps, &n_samples);
	cr_expect_eq(n_samples, N_SAMPLES);
	cr_expect_gt(n_gaps, N_SAMPLES / 4);
	cr_expect_eq(perf_stream_stats(s)->end, PERF_END_CLEAN);
	perf_stream_free(s);
	input_close(in);
}

Test(perf_gaps, hold_what_the_file_holds)
{
	struct made records = { 0 };

	put_records(&records);
	check_stream(&records, false);
	check_stream(&records, true);
	made_done(&records);
}

/* The mapping comes in the same round as the samples, but after more windows than may wait. */
Test(perf_gaps, a_round_longer_than_all_windows_is_looked_through)
{
	struct made records = { .attr = attr_of_stacks() }, file = { .attr = records.attr };
	char *text;

	made_comm(&records, 1, 1, 0, "a");
	made_mmap(&records, 1, 0, 0, 0x1000, "/nowhere/first");
	for (uint32_t i = 0; records.bytes.n < (PERF_WINDOWS_MOST + 3) * PERF_WINDOW_BYTES; i++)
		put_stack(&records, i, 45056);
	made_mmap(&records, 1, 0, CODE_AT, 0x1000, "/nowhere/late");
	made_mark(&records, PERF_REC_FINISHED_ROUND);
	made_file(&file, &records, records.bytes.n);
	text = text_of(&file);
	cr_expect_neq(strstr(text, "[/nowhere/late]+"), NULL);
	cr_expect_eq(strstr(text, "unknown"), NULL);
	free(text);
	made_done(&records);
	made_done(&file);
}

/* What was a long sample a moment ago is the end of the file now. */
Test(perf_gaps, of_a_file_that_shrinks_are_zeros)
{
	struct made records = { 0 };
	char name[] = "/tmp/proftop-gaps-XXXXXX";
	int fd = mkstemp(name);
	struct err e = ERR_INIT;
	struct perf_records w;
	struct perf_stream *s;
	struct lazy_stack *g;
	struct input *in;
	size_t n;

	put_records(&records);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, records.bytes.at, records.bytes.n), (ssize_t)records.bytes.n);
	cr_assert_eq(input_open(name, &in, &e), 0, "%s", err_text(&e));
	s = perf_stream_new(in, 0, records.bytes.n, false, 0);
	perf_stream_leave_gaps(s, false);
	do {
		cr_assert_eq(perf_stream_next(s, &w, &e), 1);
	} while (w.n_gaps == 0);
	g = &w.gaps[w.n_gaps - 1];
	cr_assert_eq(ftruncate(fd, (off_t)(g->offset + 1000)), 0);
	n = g->n;
	cr_assert_gt(n, 1000u);
	memset(g->at, 1, n);
	lazy_stack_fill(g);
	cr_expect_eq(memcmp(g->at, records.bytes.at + g->offset, 1000), 0);
	for (size_t i = 1000; i < n; i++)
		cr_assert_eq(g->at[i], 0);
	while (perf_stream_next(s, &w, &e) > 0)
		;
	cr_expect_eq(perf_stream_stats(s)->end, PERF_END_CUT);
	perf_stream_free(s);
	input_close(in);
	close(fd);
	unlink(name);
	err_clear(&e);
	made_done(&records);
}

static void fill_gaps(const struct perf_records *w)
{
	for (size_t i = 0; i < w->n_gaps; i++)
		lazy_stack_fill(&w->gaps[i]);
}

/* Walks that get to the gaps make heads longer, but only those to the gaps behind heads of that length. */
Test(perf_gaps, late_fills_say_nothing_of_longer_heads)
{
	struct made records = { .attr = attr_of_stacks() };
	struct perf_records w[7]; /* the first is read whole */
	struct perf_stream *s;
	struct input *in;

	for (uint32_t i = 0; i < 500; i++)
		put_stack(&records, i, 0);
	in = input_of_bytes(records.bytes.at, records.bytes.n, "x.data");
	s = perf_stream_new(in, 0, records.bytes.n, false, 0);
	perf_stream_leave_gaps(s, false);
	perf_stream_keep(s, 7);
	for (size_t i = 0; i < 7; i++) {
		cr_assert_eq(perf_stream_next(s, &w[i], NULL), 1);
		if (i == 2 || i == 3)
			fill_gaps(&w[i - 1]);
	}
	cr_expect_lt(w[1].gaps[1].offset - w[1].gaps[1].record, 4096u);
	for (size_t i = 4; i < 7; i++) {
		const struct lazy_stack *g = &w[i].gaps[w[i].n_gaps - 1];

		cr_expect_geq(g->offset - g->record, 4096u, "window %zu", i);
		cr_expect_lt(g->offset - g->record, 8192u, "window %zu", i);
	}
	perf_stream_free(s);
	input_close(in);
	made_done(&records);
}

/* Windows that are kept hold what they held, however many more are read. */
Test(perf_gaps, windows_are_kept_as_long_as_asked_for)
{
	struct made records = { 0 };
	struct perf_records kept[5];
	struct perf_stream *s;
	struct input *in;
	size_t n = 0;

	put_records(&records);
	in = input_of_bytes(records.bytes.at, records.bytes.n, "x.data");
	s = perf_stream_new(in, 0, records.bytes.n, false, 0);
	perf_stream_keep(s, 4);
	while (perf_stream_next(s, &kept[n % 5], NULL) > 0) {
		n++;
		for (size_t i = n < 5 ? 0 : n - 5; i < n; i++) {
			const struct perf_records *w = &kept[i % 5];

			cr_assert_eq(memcmp(w->at, records.bytes.at + w->offset, w->n_bytes), 0,
				     "window %zu of %zu", i, n);
		}
	}
	cr_expect_gt(n, 5u);
	perf_stream_free(s);
	input_close(in);
	made_done(&records);
}
