/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is lost of a perf.data is said: where memory runs out, and where bits are not what they were. */
#include "config.h"

#include "base/mem.h"
#include "base/system_limits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/limits_work.h"
#include "tests/support/made_perf.h"
#include "tests/support/perf_result.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

/* Of one process; the name of each is another one when names is so. */
static void put_many(struct made *m, uint32_t n, bool names)
{
	m->attr = made_clock_attr();
	made_comm(m, 1, 1, 0, "a");
	made_mmap(m, 1, 0, 0x1000, 0x1000, "/bin/a");
	for (uint32_t i = 0; i < n; i++) {
		struct made_sample s = { .misc = PERF_CPU_USER,
					 .ip = 0x1010 + i % 64,
					 .pid = 1,
					 .tid = 1,
					 .time = 10 + i,
					 .period = 2,
					 .n_chain = 2,
					 .chain = { PERF_CTX_USER, 0x1010 + i % 64 } };

		if (names) {
			char name[160];

			snprintf(name, sizeof(name), "/lib/%0150u", i);
			made_mmap(m, 1, s.time, 0x100000 + (uint64_t)i * 0x1000, 0x1000, name);
			s.ip = s.chain[1] = 0x100010 + (uint64_t)i * 0x1000;
		}
		made_sample(m, &s);
	}
}

/* From now on there is room for so many bytes more than there are by now. */
static void limit_memory(rlim_t more)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;
	struct rlimit limit;

	cr_assert(f && fscanf(f, "%llu", &pages) == 1 && fclose(f) == 0);
	cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

/* What fits is kept, up to a byte that is said, whichever table is the one that is full. */
Test(perf_losses, memory_that_runs_out_is_said, .disabled = !LIMITS_WORK, .timeout = 60)
{
	for (int names = 0; names < 2; names++) {
		uint32_t n = names ? 60000 : 600000;
		struct made records = { 0 }, m = { 0 };
		struct rlimit was;
		struct perf_result r;
		const char *text;

		put_many(&records, n, names);
		made_file(&m, &records, records.bytes.n);
		made_done(&records);
		cr_assert_eq(getrlimit(RLIMIT_AS, &was), 0);
		limit_memory((rlim_t)200 << 20);
		system_limits_settle_malloc();
		r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
		cr_assert_eq(setrlimit(RLIMIT_AS, &was), 0);
		text = perf_result_fact(&r, "losses", "rest of the file");
		cr_expect_eq(r.rc, 0, "%s", err_text(&r.error));
		cr_expect_gt(perf_result_samples(&r), 1000u);
		cr_expect_lt(perf_result_samples(&r), n);
		cr_expect_eq(strncmp(text, "does not fit into memory; read up to byte ", 42), 0,
			     "names %d: %s", names, text);
		perf_result_done(&r);
		made_done(&m);
	}
}

/* A program, what it has mapped, and three samples, each of a chain of its own length. */
static void put_few(struct made *m)
{
	m->attr = made_clock_attr();
	made_comm(m, 1, 1, 0, "a");
	made_mmap(m, 1, 0, 0x1000, 0x1000, "/bin/a");
	for (uint32_t i = 0; i < 3; i++)
		made_sample(m, &(struct made_sample){ .misc = PERF_CPU_USER,
						      .ip = 0x1010 + i,
						      .pid = 1,
						      .tid = 1,
						      .time = 10 + i,
						      .period = 2,
						      .n_chain = 4 + i,
						      .chain = { PERF_CTX_USER, 0x1010 + i, 0x1020,
								 0x1030, 0x1040, 0x1050 } });
	made_mark(m, PERF_REC_FINISHED_ROUND);
}

/* Samples do not go without a word, whichever bit turns of these bytes of m. */
static void turn_bits(struct made *m, size_t from, size_t n, const char *what)
{
	for (size_t bit = 8 * from; bit < 8 * (from + n); bit++) {
		struct perf_result r;

		m->bytes.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
		r = perf_result_of_bytes(m->bytes.at, m->bytes.n);
		cr_expect(r.rc < 0 || perf_result_samples(&r) == 3 || perf_result_tells_loss(&r),
			  "%s: bit %zu of byte %zu from %zu", what, bit % 8, bit / 8 - from, from);
		perf_result_done(&r);
		m->bytes.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* Of the heads of all records, and of all of the second sample. */
Test(perf_losses, turned_bits_that_cost_samples_are_said, .timeout = 120)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct made records = { .big = pipe }, m = { 0 };
		struct perf_record r;
		unsigned n_samples = 0;

		put_few(&records);
		if (pipe)
			made_pipe(&m, &records);
		else
			made_file(&m, &records, records.bytes.n);
		/* Nothing stands behind them. */
		for (size_t at = m.bytes.n - records.bytes.n; at < m.bytes.n; at += r.size) {
			perf_record_at(m.bytes.at + at, made_swaps(&records), &r);
			n_samples += r.type == PERF_REC_SAMPLE;
			turn_bits(&m, at,
				  r.type == PERF_REC_SAMPLE && n_samples == 2
					  ? r.size
					  : PERF_RECORD_HEADER_BYTES,
				  pipe ? "pipe of big-endian numbers" : "file");
		}
		cr_expect_eq(n_samples, 3);
		made_done(&records);
		made_done(&m);
	}
}

/* A sample whose size goes on over the next one. */
Test(perf_losses, a_sample_that_swallows_another_is_said)
{
	struct made records = { 0 }, m = { 0 };
	struct perf_result r;
	size_t second = 0;

	records.attr = made_clock_attr();
	made_comm(&records, 1, 1, 0, "a");
	for (uint32_t i = 0; i < 3; i++) {
		second = i == 1 ? records.bytes.n : second;
		made_sample(&records, &(struct made_sample){ .misc = PERF_CPU_USER,
							     .ip = 0x1010,
							     .pid = 1,
							     .tid = 1,
							     .time = 10 + i,
							     .period = 2,
							     .n_chain = 2,
							     .chain = { PERF_CTX_USER, 0x1010 } });
	}
	records.bytes.at[second + 6] = (uint8_t)(records.bytes.n - second);
	made_file(&m, &records, records.bytes.n);
	r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
	cr_expect_eq(perf_result_samples(&r), 2);
	cr_expect_str_eq(perf_result_fact(&r, "losses", "records damaged"),
			 "1 record not as long as its kind is; there may have been samples there");
	perf_result_done(&r);
	made_done(&records);
	made_done(&m);
}

/* A record that says so many were lost. */
static void put_lost(struct made *m, uint32_t type, uint64_t n, uint64_t time)
{
	size_t at = made_begin(m, type, 0);

	if (type == PERF_REC_LOST)
		made_u64(m, 1); /* the event's id */
	made_u64(m, n);
	made_trailer(m, 1, 1, time);
	made_end(m, at);
}

static const struct {
	const char *what;
	struct {
		uint32_t type;
		uint64_t n, time;
	} records[4];
	const char *says;
} lost_cases[] = {
	{ "as it comes", { { PERF_REC_LOST, 20, 11 }, { PERF_REC_LOST, 9, 12 } }, "29 events " },
	{ "and once more at the end",
	  { { PERF_REC_LOST, 29, 11 },
	    { PERF_REC_LOST_SAMPLES, 20, 0 },
	    { PERF_REC_LOST_SAMPLES, 9, 0 } },
	  "29 events " },
	{ "with what was lost last",
	  { { PERF_REC_LOST, 20, 11 }, { PERF_REC_LOST_SAMPLES, 29, 0 } },
	  "29 events " },
	{ "and others by counters that write ahead",
	  { { PERF_REC_LOST, 20, 11 }, { PERF_REC_LOST_SAMPLES, 9, 12 } },
	  "29 events " },
	{ "as more than 63 bits hold",
	  { { PERF_REC_LOST, INT64_MAX, 11 }, { PERF_REC_LOST, 9, 12 } },
	  "at least 9,223,372,036,854,775,807 events " },
	{ "as more than 64 bits hold",
	  { { PERF_REC_LOST, UINT64_MAX, 11 }, { PERF_REC_LOST, 9, 12 } },
	  "at least 9,223,372,036,854,775,807 events " },
};

/* However often it is said, what was lost is counted once, and told once. */
Test(perf_losses, events_are_lost_once)
{
	for (size_t i = 0; i < sizeof(lost_cases) / sizeof(lost_cases[0]); i++) {
		struct made records = { 0 }, m = { 0 };
		struct perf_result r;
		const char *text;

		put_few(&records);
		for (size_t k = 0; k < 4 && lost_cases[i].records[k].type; k++)
			put_lost(&records, lost_cases[i].records[k].type,
				 lost_cases[i].records[k].n, lost_cases[i].records[k].time);
		made_file(&m, &records, records.bytes.n);
		r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
		text = perf_result_fact(&r, "losses", "lost");
		cr_expect(text && strncmp(text, lost_cases[i].says, strlen(lost_cases[i].says)) ==
					  0,
			  "%s: %s", lost_cases[i].what, text);
		text = perf_result_fact(&r, "losses", "lost samples");
		cr_expect_str_eq(text, "(none)", "%s: %s", lost_cases[i].what, text);
		perf_result_done(&r);
		made_done(&records);
		made_done(&m);
	}
}

#define RECORDED_MOST ((size_t)1 << 20)

/* A recording and zeroes behind it, packed by zstd as far as these can be. */
static uint8_t *pack_with_zeroes(const uint8_t *head, size_t n_head, size_t n_zeroes, size_t *n)
{
	static const uint8_t zeroes[1 << 20];
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t cap = n_head + n_zeroes / 1000 + (1 << 20), left = n_zeroes;
	uint8_t *packed = xmalloc(cap);
	ZSTD_outBuffer out = { packed, cap, 0 };
	ZSTD_inBuffer in = { head, n_head, 0 };

	ZSTD_compressStream2(z, &out, &in, ZSTD_e_continue);
	while (left > 0) {
		in = (ZSTD_inBuffer){ zeroes, left < sizeof(zeroes) ? left : sizeof(zeroes), 0 };
		left -= in.size;
		cr_assert_not(ZSTD_isError(ZSTD_compressStream2(
			z, &out, &in, left > 0 ? ZSTD_e_continue : ZSTD_e_end)));
	}
	ZSTD_freeCCtx(z);
	*n = out.pos;
	return packed;
}

/* Packed data that would fill the disk are refused after 256 MB. */
Test(perf_losses, packed_beyond_all_measure, .timeout = 60)
{
	size_t n, n_packed;
	uint8_t *bytes = xmalloc(RECORDED_MOST);
	FILE *from = fopen(TEST_DATA "/perf_data/truth_z.data", "rb");
	struct perf_result r;
	uint8_t *packed;

	cr_assert_not_null(from);
	n = fread(bytes, 1, RECORDED_MOST, from);
	fclose(from);
	packed = pack_with_zeroes(bytes, n, (size_t)400 << 20, &n_packed);
	r = perf_result_of_bytes(packed, n_packed);
	cr_expect_eq(r.rc, -EFBIG, "%d", r.rc);
	cr_expect(strstr(err_text(&r.error),
			 "of zstd data become more than 269 MB, as no recording does"),
		  "%s", err_text(&r.error));
	perf_result_done(&r);
	free(packed);
	packed = pack_with_zeroes(bytes, n, 1 << 20, &n_packed);
	r = perf_result_of_bytes(packed, n_packed);
	cr_expect_eq(r.rc, 0, "%s", err_text(&r.error));
	cr_expect_eq(perf_result_samples(&r), 1001);
	perf_result_done(&r);
	free(packed);
	free(bytes);
}

/* What is wrong with a packed recording is said of the file, not of the copy that was made of it. */
Test(perf_losses, packed_and_cut)
{
	size_t n, n_packed;
	uint8_t *bytes = xmalloc(RECORDED_MOST), *packed;
	FILE *from = fopen(TEST_DATA "/perf_data/truth_z.data", "rb");
	struct perf_result r;

	cr_assert_not_null(from);
	n = fread(bytes, 1, RECORDED_MOST, from);
	fclose(from);
	cr_assert_gt(n, 400);
	packed = pack_with_zeroes(bytes, 400, 0, &n_packed);
	r = perf_result_of_bytes(packed, n_packed);
	cr_expect_lt(r.rc, 0);
	cr_expect_neq(strncmp(err_text(&r.error), "/proc/", 6), 0, "%s", err_text(&r.error));
	perf_result_done(&r);
	free(packed);
	free(bytes);
}

/* What fuzzing broke the reader with: sums beyond 63 bits, and an offset of no pointer; sanitizers see both. */
static const struct {
	const char *name;
	uint64_t n_samples;
	const char *group, *label, *says;
} found[] = {
	{ "perf_data-facts-overflow.bin", 444, "events", "wall",
	  "cpu-clock:pppH + offcpu, in total 2544325 h 42 m" },
	{ "perf_data-facts-overflow-2.bin", 652, "events", "wall",
	  "cpu-clock:pppH + offcpu, in total 1482630 h 20 m" },
	{ "perf_data-null-offset.bin", 173, "stacks", "no address",
	  "173 samples recorded without an address" },
};

Test(perf_losses, what_fuzzing_found, .timeout = 60)
{
	uint8_t *bytes = xmalloc(RECORDED_MOST);
	size_t n_there = 0;

	for (size_t i = 0; i < sizeof(found) / sizeof(*found); i++) {
		char *path = xasprintf("%s/fuzz-found/%s", CORPUS, found[i].name);
		FILE *from = fopen(path, "rb");
		struct perf_result r;
		size_t n;

		free(path);
		if (!from)
			continue;
		n_there++;
		n = fread(bytes, 1, RECORDED_MOST, from);
		fclose(from);
		fuzz_perf_data(bytes, n);
		r = perf_result_of_bytes(bytes, n);
		cr_expect_eq(r.rc, 0, "%s: %s", found[i].name, err_text(&r.error));
		cr_expect_eq(perf_result_samples(&r), found[i].n_samples, "%s: %" PRIu64,
			     found[i].name, perf_result_samples(&r));
		cr_expect_str_eq(perf_result_fact(&r, found[i].group, found[i].label),
				 found[i].says, "%s", found[i].name);
		perf_result_done(&r);
	}
	free(bytes);
	if (n_there == 0)
		cr_skip("skipped: no corpus");
}
