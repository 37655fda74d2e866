/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole perf.data files and pipes: made by hand, recorded ones, and those cut or damaged. */
#include "config.h"

#include "base/err.h"
#include "formats/perf_data.h"
#include "input/input.h"
#include "perf/file/perf_stream.h"
#include "profile/builder.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_perf.h"
#include "tests/support/perf_result.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Through a pipe: what cannot be read twice. */
static struct perf_result read_piped(const struct made *m)
{
	char path[32];
	int fd[2];
	pid_t child;

	cr_assert_eq(pipe(fd), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		for (size_t at = 0; at < m->bytes.n;) {
			ssize_t put = write(fd[1], m->bytes.at + at, m->bytes.n - at);

			if (put <= 0)
				_exit(1);
			at += (size_t)put;
		}
		_exit(0);
	}
	close(fd[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	return perf_result_of_path(path);
}

static void expect_text(struct perf_result *r, const char *want, const char *what)
{
	char *got = made_text_of(r->profile);

	cr_expect_eq(r->rc, 0, "%s: %s", what, err_text(&r->error));
	cr_expect_str_eq(got, want, "%s:\n%swanted:\n%s", what, got, want);
	free(got);
	perf_result_done(r);
}

static void put_sample(struct made *m, uint64_t time, uint64_t ip, uint64_t caller)
{
	struct made_sample s = { .misc = PERF_CPU_USER,
				 .ip = ip,
				 .pid = 1,
				 .tid = 1,
				 .time = time,
				 .period = 2,
				 .n_chain = 3,
				 .chain = { PERF_CTX_USER, ip, caller } };

	made_sample(m, &s);
}

/* A few records of one process, whose order in time is not that of the file. */
static void put_records(struct made *m)
{
	m->attr = made_clock_attr();
	made_comm(m, 1, 1, 0, "a");
	made_mmap(m, 1, 0, 0x1000, 0x1000, "/bin/a");
	put_sample(m, 10, 0x1010, 0x1021);
	put_sample(m, 30, 0x1011, 0x1021);
	made_mark(m, PERF_REC_FINISHED_ROUND);
	made_comm(m, 1, 1, 20, "b");
	put_sample(m, 40, 0x2000, 0x1021);
	made_mark(m, PERF_REC_FINISHED_ROUND);
}

static const char records_text[] = "cpu-clock 2 10 a;[/bin/a]+20;[/bin/a]+10\n"
				   "cpu-clock 2 30 b;[/bin/a]+20;[/bin/a]+11\n"
				   "cpu-clock 2 40 b;[/bin/a]+20;[[unknown]]+2000\n";

Test(perf_data, files_and_pipes_of_both_byte_orders)
{
	for (int i = 0; i < 8; i++) {
		struct made records = { .big = i & 1 }, m = { 0 };
		struct perf_result r;

		put_records(&records);
		if (i & 2)
			made_pipe(&m, &records);
		else
			made_file(&m, &records, records.bytes.n);
		r = i & 4 ? read_piped(&m) : perf_result_of_bytes(m.bytes.at, m.bytes.n);
		expect_text(&r, records_text,
			    i & 2   ? i & 4 ? "pipe, piped" : "pipe"
			    : i & 4 ? "file, piped"
				    : "file");
		made_done(&records);
		made_done(&m);
	}
}

/* Before Linux 3.6: another magic, which says nothing of the byte order. */
Test(perf_data, version_1)
{
	for (int big = 0; big < 2; big++) {
		struct made records = { .big = big }, m = { 0 };
		struct perf_result r;

		put_records(&records);
		made_file(&m, &records, records.bytes.n);
		memcpy(m.bytes.at, "PERFFILE", 8);
		r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
		expect_text(&r, records_text, "version 1");
		made_done(&records);
		made_done(&m);
	}
}

Test(perf_data, a_packed_file_is_unpacked)
{
	struct made records = { 0 }, m = { 0 };
	uint8_t packed[65536];
	uLongf n = sizeof(packed);
	z_stream z = { .next_out = packed, .avail_out = sizeof(packed) };
	struct perf_result r;

	put_records(&records);
	made_file(&m, &records, records.bytes.n);
	cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = m.bytes.at;
	z.avail_in = (uInt)m.bytes.n;
	cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	n = z.total_out;
	deflateEnd(&z);
	r = perf_result_of_bytes(packed, n);
	cr_expect_eq(strncmp(perf_result_fact(&r, "file", "copied"), "to a temporary file", 19), 0);
	expect_text(&r, records_text, "gzip");
	made_done(&records);
	made_done(&m);
}

/* How the records are packed: pieces of `every` bytes of one zstd stream. */
static void pack(struct made *to, const struct made *from, size_t every, uint32_t type, bool end)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	uint8_t out[65000];

	for (size_t at = 0; at < from->bytes.n; at += every) {
		size_t n = from->bytes.n - at < every ? from->bytes.n - at : every, begun;
		ZSTD_inBuffer in = { .src = from->bytes.at + at, .size = n };
		ZSTD_outBuffer piece = { .dst = out, .size = sizeof(out) };

		cr_assert_eq(ZSTD_compressStream2(z, &piece, &in,
						  end && at + n == from->bytes.n ? ZSTD_e_end
										 : ZSTD_e_flush),
			     0);
		begun = made_begin(to, type, 0);
		if (type == PERF_REC_COMPRESSED2)
			made_u64(to, piece.pos);
		made_bytes(to, out, piece.pos);
		if (type == PERF_REC_COMPRESSED2)
			made_bytes(to, "\xff\xff\xff\xff\xff\xff\xff", -piece.pos & 7);
		made_end(to, begun);
		/* Plain records stand between, also in the middle of a packed one. */
		made_mark(to, PERF_REC_FINISHED_ROUND);
	}
	ZSTD_freeCCtx(z);
}

Test(perf_data, packed_records_in_pieces_of_every_size)
{
	struct made records = { 0 };

	put_records(&records);
	for (size_t every = 1; every < records.bytes.n + 100; every += every < 70 ? 1 : 61) {
		for (int i = 0; i < 4; i++) {
			struct made packed = { .attr = records.attr }, m = { 0 };
			struct perf_result r;

			pack(&packed, &records, every,
			     i & 1 ? PERF_REC_COMPRESSED2 : PERF_REC_COMPRESSED, i & 2);
			made_file(&m, &packed, packed.bytes.n);
			r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
			expect_text(&r, records_text, "packed");
			made_done(&packed);
			made_done(&m);
		}
	}
	made_done(&records);
}

/* All records in one piece, block by block. */
static void pack_blocks(struct made *to, const struct made *from, uint32_t type)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	uint8_t out[65000];
	ZSTD_outBuffer piece = { .dst = out, .size = sizeof(out) };
	size_t begun = made_begin(to, type, 0);

	for (size_t at = 0, n; at < from->bytes.n; at += n) {
		n = from->bytes.n - at < 40 ? from->bytes.n - at : 40;
		ZSTD_inBuffer in = { .src = from->bytes.at + at, .size = n };

		cr_assert_eq(ZSTD_compressStream2(z, &piece, &in, ZSTD_e_flush), 0);
	}
	if (type == PERF_REC_COMPRESSED2)
		made_u64(to, piece.pos);
	made_bytes(to, out, piece.pos);
	made_end(to, begun);
	ZSTD_freeCCtx(z);
}

/* Of a recorder that was killed, say. before: something stands before the piece. */
static void cut_piece_everywhere(uint32_t type, bool before)
{
	struct made records = { 0 }, packed = { 0 };
	uint64_t most = 0;
	size_t n_counts = 0;

	put_records(&records);
	packed.attr = records.attr;
	if (before)
		made_mark(&packed, PERF_REC_FINISHED_ROUND);
	pack_blocks(&packed, &records, type);
	for (size_t n = 1; n <= packed.bytes.n; n++) {
		struct made m = { 0 };
		struct perf_result r;
		uint64_t now;

		made_file(&m, &packed, packed.bytes.n);
		r = perf_result_of_bytes(m.bytes.at, m.bytes.n - packed.bytes.n + n);
		now = perf_result_samples(&r);
		cr_expect_eq(strcmp(perf_result_fact(&r, "losses", "compressed"), "(none)"), 0);
		cr_expect(n == packed.bytes.n || n <= 8 || perf_result_tells_loss(&r));
		cr_expect_geq(now, most);
		n_counts += now > most;
		most = now;
		perf_result_done(&r);
		made_done(&m);
	}
	cr_expect_eq(most, 3);
	cr_expect_eq(n_counts, 3);
	made_done(&records);
	made_done(&packed);
}

Test(perf_data, a_packed_piece_that_is_cut_gives_what_is_there)
{
	cut_piece_everywhere(PERF_REC_COMPRESSED, false);
	cut_piece_everywhere(PERF_REC_COMPRESSED, true);
	cut_piece_everywhere(PERF_REC_COMPRESSED2, true);
}

Test(perf_data, a_packed_piece_that_is_damaged_costs_only_itself)
{
	struct made one = { 0 }, two = { 0 }, packed = { 0 }, m = { 0 };
	struct perf_result r;
	size_t second;

	put_records(&one);
	two.attr = one.attr;
	put_sample(&two, 50, 0x1010, 0x1021);
	packed.attr = one.attr;
	pack(&packed, &one, 4096, PERF_REC_COMPRESSED, true);
	second = packed.bytes.n;
	pack(&packed, &one, 4096, PERF_REC_COMPRESSED, true);
	memset(packed.bytes.at + second + 8, 0x55, 20);
	pack(&packed, &two, 4096, PERF_REC_COMPRESSED, true);
	made_file(&m, &packed, packed.bytes.n);
	r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
	cr_expect_eq(perf_result_samples(&r), 4);
	cr_expect_neq(strcmp(perf_result_fact(&r, "losses", "compressed"), "(none)"), 0);
	perf_result_done(&r);
	made_done(&one);
	made_done(&two);
	made_done(&packed);
	made_done(&m);
}

/* Each piece in turn says that it is the first of a block of 100,000 bytes, which never come. */
Test(perf_data, a_packed_block_that_does_not_end_is_said)
{
	static const uint32_t head = 100000u << 3;
	struct made records = { 0 }, packed = { 0 };
	size_t n_pieces = 0;

	put_records(&records);
	packed.attr = records.attr;
	pack(&packed, &records, 64, PERF_REC_COMPRESSED, false);
	for (size_t at = 0, size; at < packed.bytes.n; at += size) {
		const uint8_t *b = packed.bytes.at + at;
		struct made m = { 0 };
		struct perf_result r;

		size = (size_t)(b[6] | b[7] << 8);
		/* The first one has a header of the frame before it. */
		if (b[0] != PERF_REC_COMPRESSED || n_pieces++ == 0)
			continue;
		made_file(&m, &packed, packed.bytes.n);
		memcpy(m.bytes.at + (m.bytes.n - packed.bytes.n) + at + 8, &head, 3);
		r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
		cr_expect_neq(strcmp(perf_result_fact(&r, "losses", "compressed"), "(none)"), 0,
			      "piece %zu", n_pieces);
		perf_result_done(&r);
		made_done(&m);
	}
	cr_expect_gt(n_pieces, 3);
	made_done(&records);
	made_done(&packed);
}

/* 1 GiB of zeros in some kilobytes: given up at once, as a record of no size. */
Test(perf_data, a_bomb_is_not_unpacked_whole, .timeout = 5)
{
	struct made packed = { .attr = made_clock_attr() }, m = { 0 };
	ZSTD_CCtx *z = ZSTD_createCCtx();
	static uint8_t zeros[1 << 20], out[60000];
	ZSTD_outBuffer piece = { .dst = out, .size = sizeof(out) };
	struct perf_result r;
	size_t begun;

	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
	for (int i = 0; i < 1024 && piece.pos < sizeof(out) - 1000; i++) {
		ZSTD_inBuffer in = { .src = zeros, .size = sizeof(zeros) };

		while (in.pos < in.size && piece.pos < sizeof(out) - 100)
			ZSTD_compressStream2(z, &piece, &in, ZSTD_e_continue);
	}
	ZSTD_freeCCtx(z);
	put_sample(&packed, 1, 2, 3);
	begun = made_begin(&packed, PERF_REC_COMPRESSED, 0);
	made_bytes(&packed, out, piece.pos);
	made_end(&packed, begun);
	put_sample(&packed, 2, 2, 3);
	made_file(&m, &packed, packed.bytes.n);
	r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
	cr_expect_eq(perf_result_samples(&r), 2);
	cr_expect_neq(strcmp(perf_result_fact(&r, "losses", "compressed"), "(none)"), 0);
	perf_result_done(&r);
	made_done(&packed);
	made_done(&m);
}

Test(perf_data, payloads_behind_records_are_stepped_over)
{
	for (int i = 0; i < 4; i++) {
		struct made records = { .attr = made_clock_attr() }, m = { 0 };
		uint64_t size = i & 1 ? 100 : 10 << 20;
		struct perf_result r;
		size_t at;

		put_sample(&records, 1, 0x10, 0x20);
		at = made_begin(&records, PERF_REC_AUXTRACE, 0);
		made_u64(&records, size);
		for (int k = 0; k < 4; k++)
			made_u64(&records, 0);
		made_end(&records, at);
		for (uint64_t k = 0; k < size; k += 4)
			made_u32(&records, 0x09090909); /* would look like samples */
		put_sample(&records, 2, 0x10, 0x20);
		at = made_begin(&records, PERF_REC_HEADER_TRACING_DATA, 0);
		made_u32(&records, 13);
		made_end(&records, at);
		made_bytes(&records, "0123456789abcdef", 16);
		put_sample(&records, 3, 0x10, 0x20);
		if (i & 2)
			made_pipe(&m, &records);
		else
			made_file(&m, &records, records.bytes.n);
		r = i & 2 ? read_piped(&m) : perf_result_of_bytes(m.bytes.at, m.bytes.n);
		cr_expect_eq(r.rc, 0, "%s", err_text(&r.error));
		cr_expect_eq(perf_result_samples(&r), 3, "case %d", i);
		cr_expect_str_eq(perf_result_fact(&r, "records", "SAMPLE"), "3");
		perf_result_done(&r);
		made_done(&records);
		made_done(&m);
	}
}

Test(perf_data, what_ends_the_records_is_said)
{
	static const struct {
		const char *what, *tail, *fact, *text;
		size_t n;
	} cases[] = {
		{ "nothing", "", "cut", "(none)", 0 },
		{ "half a record", "\x09\0\0\0\0\0\x28\0\0\0", "cut",
		  "the last record, at offset 672, is not whole", 10 },
		{ "half a header", "\x09\0\0", "cut",
		  "the last record, at offset 672, is not whole", 3 },
		{ "text", "[ perf record: Woken up 1 times to write data ]\n", "text",
		  "the records end at offset 672; what follows is text that a program wrote there",
		  48 },
		{ "a record of no size", "\x09\0\0\0\0\0\0\0\0\0\0\0", "damaged",
		  "the record at offset 672 has an impossible size; it and the 12 B behind it "
		  "were not read",
		  12 },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct made records = { 0 }, m = { 0 };
		const char *what = cases[i / 2].what;
		struct perf_result r;

		put_records(&records);
		made_bytes(&records, cases[i / 2].tail, cases[i / 2].n);
		/* The size that a killed recorder leaves, or the true one. */
		made_file(&m, &records, i % 2 ? 0 : records.bytes.n);
		r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
		cr_expect_str_eq(perf_result_fact(&r, "losses", cases[i / 2].fact),
				 cases[i / 2].text, "%s: %s",
				 perf_result_fact(&r, "losses", cases[i / 2].fact), what);
		cr_expect_eq(strcmp(perf_result_fact(&r, "losses", "not finished"), "(none)") != 0,
			     i % 2);
		expect_text(&r, records_text, what);
		made_done(&records);
		made_done(&m);
	}
}

/* A file that ends anywhere gives every sample that is whole, or a sentence with its name. */
static void cut_everywhere(const uint8_t *bytes, size_t n, size_t every)
{
	uint64_t before = 0;

	for (size_t cut = 0; cut < n; cut += every) {
		uint8_t *exact = xmalloc(cut + 1);
		struct perf_result r;

		memcpy(exact, bytes, cut);
		r = perf_result_of_bytes(exact, cut);
		if (r.rc < 0) {
			cr_expect_eq(strncmp(err_text(&r.error), "x.data: ", 8), 0, "%s",
				     err_text(&r.error));
			cr_expect_eq(before, 0, "cut at %zu: %s", cut, err_text(&r.error));
		}
		cr_expect_geq(perf_result_samples(&r), before, "cut at %zu", cut);
		before = perf_result_samples(&r);
		free(exact);
		perf_result_done(&r);
	}
}

static uint8_t *slurp(const char *path, size_t *n)
{
	FILE *from = fopen(path, "rb");
	uint8_t *bytes;

	cr_assert_not_null(from, "%s", path);
	fseek(from, 0, SEEK_END);
	*n = (size_t)ftell(from);
	rewind(from);
	bytes = xmalloc(*n + 1);
	cr_assert_eq(fread(bytes, 1, *n, from), *n);
	fclose(from);
	return bytes;
}

Test(perf_data, files_cut_everywhere, .timeout = 60)
{
	static const struct {
		const char *path;
		size_t every;
	} cases[] = {
		{ TEST_DATA "/perf_data/killed_sigkill.data", 1 },
		{ TEST_DATA "/perf_data/ev_bp_mem.data", 7 },
		{ TEST_DATA "/perf_data/truth_z.data", 37 },
		{ TEST_DATA "/perf_data/cut_pipe.data", 37 },
		{ TEST_DATA "/perf_data/opt_k_monotonic.be.data", 37 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n;
		uint8_t *bytes = slurp(cases[i].path, &n);

		cut_everywhere(bytes, n, cases[i].every);
		free(bytes);
	}
}

Test(perf_data, recorded_files)
{
	static const struct {
		const char *path, *event;
		uint64_t n;
		const char *mode, *command;
	} cases[] = {
		{ "killed_sigkill.data", "cpu-clock:pppH", 3, "file, little-endian", "(none)" },
		{ "ev_bp_mem.data", "mem:0x0000000000404030", 9, "file, little-endian", NULL },
		{ "truth_z.data", "cpu-clock:pppH", 1001, "file, little-endian", NULL },
		{ "cut_pipe.data", "cpu-clock:pppH", 108, "pipe, little-endian", NULL },
		{ "opt_k_monotonic.be.data", "cpu-clock:pppH", 149, "file, big-endian", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *path = xasprintf("%s/perf_data/%s", TEST_DATA, cases[i].path);
		struct perf_result r = perf_result_of_path(path);

		cr_expect_eq(r.rc, 0, "%s", err_text(&r.error));
		cr_expect_eq(perf_result_samples(&r), cases[i].n, "%s", path);
		cr_assert_gt(perf_result_samples(&r), 0);
		cr_expect_str_eq(profile_string(r.profile,
						profile_event(r.profile, (event_id){ 0 })->name,
						NULL),
				 cases[i].event);
		cr_expect_str_eq(perf_result_fact(&r, "file", "mode"), cases[i].mode);
		if (cases[i].command)
			cr_expect_str_eq(perf_result_fact(&r, "file", "command"), cases[i].command);
		else
			cr_expect_not_null(
				strstr(perf_result_fact(&r, "file", "command"), "perf record"));
		free(path);
		perf_result_done(&r);
	}
}

Test(perf_data, what_is_refused)
{
	static const struct {
		const char *bytes;
		size_t n;
		int rc;
		const char *sentence;
	} cases[] = {
		{ "PERFFILE\x68\0\0\0\0\0\0\0", 16, -EBADMSG,
		  "x.data: ends inside its header, after 16 bytes" },
		{ "PERFILE2", 8, -EBADMSG, "x.data: ends inside its header, after 8 bytes" },
		{ "PERFILE2\x10\0\0\0\0\0\0\0", 16, -EBADMSG,
		  "x.data: describes no event and holds no sample" },
		{ "PERFILE2\x68\0\0\0\0\0\0\0", 16, -EBADMSG,
		  "x.data: ends inside its header, after 16 bytes" },
		{ "PERFILE2\x10\0\0\0\0\0\0\0\x09\0\0\0\0\0\x08\0", 24, -EBADMSG,
		  "x.data: holds samples of events that it does not describe" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_result r = perf_result_of_bytes(cases[i].bytes, cases[i].n);

		cr_expect_eq(r.rc, cases[i].rc);
		cr_expect_str_eq(err_text(&r.error), cases[i].sentence);
		perf_result_done(&r);
	}
}

/* Mappings and names that perf wrote last (--tail-synthesize), behind more than a window of samples. */
Test(perf_data, what_is_told_late_is_looked_for)
{
	struct made records = { .attr = made_clock_attr() }, m = { 0 };
	struct perf_result r;
	char *text;

	while (records.bytes.n < 3 * PERF_WINDOW_BYTES)
		put_sample(&records, records.bytes.n, 0x1010, 0x1021);
	made_mark(&records, PERF_REC_FINISHED_ROUND);
	made_comm(&records, 1, 1, 0, "late");
	made_mmap(&records, 1, 0, 0x1000, 0x1000, "/bin/late");
	made_file(&m, &records, records.bytes.n);
	r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
	cr_assert_eq(r.rc, 0);
	text = made_text_of(r.profile);
	cr_expect_null(strstr(text, "unknown"));
	cr_expect_null(strstr(text, " :1;"));
	free(text);
	perf_result_done(&r);
	made_done(&records);
	made_done(&m);
}

/* A round of buffers so long that the other cpu's mapping comes two windows after the sample. */
Test(perf_data, rounds_longer_than_a_window)
{
	struct made records = { .attr = made_clock_attr() }, m = { 0 };
	struct perf_result r;
	char *text;

	made_comm(&records, 1, 1, 0, "a");
	made_mmap(&records, 1, 0, 0x8000, 0x1000, "/bin/first");
	while (records.bytes.n < 3 * PERF_WINDOW_BYTES)
		put_sample(&records, 10 + records.bytes.n, 0x1010, 0x1021);
	made_mmap(&records, 1, 5, 0x1000, 0x1000, "/lib/opened");
	made_mark(&records, PERF_REC_FINISHED_ROUND);
	made_file(&m, &records, records.bytes.n);
	r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
	cr_assert_eq(r.rc, 0);
	text = made_text_of(r.profile);
	cr_expect_null(strstr(text, "unknown"));
	cr_expect_str_eq(perf_result_fact(&r, "records", "MMAP"), "2");
	free(text);
	perf_result_done(&r);
	made_done(&records);
	made_done(&m);
}

Test(perf_data, variations_of_recorded_files, .timeout = 120)
{
	glob_t found;

	cr_assert_eq(glob(TEST_DATA "/perf_data/*.data", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t n;
		uint8_t *bytes = slurp(found.gl_pathv[i], &n);

		fuzz_vary(fuzz_perf_data, bytes, n, 150);
		free(bytes);
	}
	globfree(&found);
}

static void write_file(const char *dir, const char *name, const void *bytes, size_t n)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	cr_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "%s", path);
	free(path);
}

/* Each cpu has a file: what one tells is of what another sampled, earlier in the order of the files. */
Test(perf_data, directories_are_read_file_by_file)
{
	static const char want[] = "cpu-clock 2 10 a;[/bin/a]+1f;[/bin/a]+10\n"
				   "cpu-clock 2 20 b;[/bin/a]+2f;[/bin/a]+10\n"
				   "cpu-clock 2 30 b;[/bin/a]+3f;[/bin/a]+10\n";
	static const char *const names[] = { "data", "data.0", "data.2", "data.10", "data.x" };
	struct made head = { .attr = made_clock_attr() }, file = { 0 }, part[4];
	char dir[] = "/tmp/proftop-test-XXXXXX", *path;
	struct perf_result r;

	cr_assert_not_null(mkdtemp(dir));
	for (size_t i = 0; i < 4; i++)
		part[i] = (struct made){ .attr = made_clock_attr() };
	made_comm(&head, 1, 1, 0, "a");
	made_mark(&head, PERF_REC_FINISHED_INIT);
	made_file(&file, &head, head.bytes.n);
	put_sample(&part[0], 30, 0x1010, 0x1040);
	put_sample(&part[0], 20, 0x1010, 0x1030);
	put_sample(&part[1], 10, 0x1010, 0x1020);
	made_mmap(&part[2], 1, 5, 0x1000, 0x1000, "/bin/a");
	made_comm(&part[2], 1, 1, 15, "b");
	put_sample(&part[3], 40, 0x1010, 0x1020); /* of a file that is no part */
	write_file(dir, names[0], file.bytes.at, file.bytes.n);
	for (size_t i = 0; i < 4; i++)
		write_file(dir, names[i + 1], part[i].bytes.at, part[i].bytes.n);
	r = perf_result_of_path(dir);
	cr_expect_str_eq(perf_result_fact(&r, "file", "mode"),
			 "directory of 4 files with records, little-endian");
	expect_text(&r, want, "a directory");
	/* A part that ends inside a record: what came before it counts. */
	write_file(dir, names[2], part[0].bytes.at, part[0].bytes.n - 8);
	r = perf_result_of_path(dir);
	cr_expect_eq(perf_result_samples(&r), 3);
	cr_expect_neq(strstr(perf_result_fact(&r, "losses", "cut"), "is not whole"), NULL);
	perf_result_done(&r);
	for (size_t i = 0; i < 5; i++) {
		path = xasprintf("%s/%s", dir, names[i]);
		unlink(path);
		free(path);
	}
	rmdir(dir);
	made_done(&head);
	made_done(&file);
	for (size_t i = 0; i < 4; i++)
		made_done(&part[i]);
}

/* perf record --kcore: the kernel's symbols of the time lie beside the records. */
Test(perf_data, kernel_symbols_of_a_directory)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\n"
				       "ffffffff81000100 T only_in_this_file\n"
				       "ffffffff81000200 t another\n";
	struct made records = { .attr = made_clock_attr() }, file = { 0 };
	struct made_sample s = { .misc = PERF_CPU_KERNEL, .pid = 1, .tid = 1, .time = 10 };
	char dir[] = "/tmp/proftop-test-XXXXXX", *kcore, *path;
	struct perf_result r;
	size_t begun;

	cr_assert_not_null(mkdtemp(dir));
	begun = made_begin(&records, PERF_REC_MMAP, PERF_CPU_KERNEL);
	made_u32(&records, UINT32_MAX); /* no process */
	made_u32(&records, 0);
	made_u64(&records, UINT64_C(0xffffffff81000000));
	made_u64(&records, 1 << 20);
	made_u64(&records, UINT64_C(0xffffffff81000000));
	made_text(&records, "[kernel.kallsyms]_text");
	made_trailer(&records, -1, 0, 0);
	made_end(&records, begun);
	made_comm(&records, 1, 1, 0, "a");
	s.ip = UINT64_C(0xffffffff81000108);
	s.period = 2;
	s.n_chain = 2;
	s.chain[0] = PERF_CTX_KERNEL;
	s.chain[1] = s.ip;
	made_sample(&records, &s);
	made_file(&file, &records, records.bytes.n);
	write_file(dir, "data", file.bytes.at, file.bytes.n);
	kcore = xasprintf("%s/kcore_dir", dir);
	cr_assert_eq(mkdir(kcore, 0700), 0);
	write_file(kcore, "kallsyms", kallsyms, sizeof(kallsyms) - 1);
	r = perf_result_of_path(dir);
	expect_text(&r, "cpu-clock 2 10 a;only_in_this_file\n", "a directory with kcore_dir");
	path = xasprintf("%s/kallsyms", kcore);
	unlink(path);
	free(path);
	rmdir(kcore);
	path = xasprintf("%s/data", dir);
	unlink(path);
	free(path);
	free(kcore);
	rmdir(dir);
	made_done(&records);
	made_done(&file);
}

#define ROUND_SAMPLES 1000u
#define FILLING_BYTES 60000u
#define UNKNOWN_TYPE  63u

/* More of what nobody knows than windows may wait. */
static void put_filling(struct made *m, uint32_t n_windows)
{
	static const char filling[FILLING_BYTES] = { 0 };

	for (size_t n = 0; n < n_windows * PERF_WINDOW_BYTES; n += FILLING_BYTES) {
		size_t begun = made_begin(m, UNKNOWN_TYPE, 0);

		vec_reserve(&m->bytes, m->bytes.n + FILLING_BYTES);
		memcpy(m->bytes.at + m->bytes.n, filling, FILLING_BYTES);
		m->bytes.n += FILLING_BYTES;
		made_end(m, begun);
	}
}

/* What a round says may be older than what was sampled in the round before, windows ago. n_rounds is even. */
static void check_rounds(uint32_t n_windows, uint32_t n_rounds)
{
	struct made records = { .attr = made_clock_attr() }, file = { 0 };
	struct perf_result r;
	size_t n_late = 0;
	char *text;

	made_comm(&records, 1, 1, 0, "a");
	made_mmap(&records, 1, 0, 0x1000, 0x1000, "/bin/a");
	for (uint32_t round = 0; round < n_rounds; round++) {
		if (round > 0)
			made_mmap(&records, 1, (round - 1) * ROUND_SAMPLES + ROUND_SAMPLES / 3,
				  0x1000, 0x1000, round % 2 ? "/bin/b" : "/bin/a");
		for (uint32_t i = 0; i < ROUND_SAMPLES; i++)
			put_sample(&records, round * ROUND_SAMPLES + i + 1, 0x1010, 0x1020);
		put_filling(&records, n_windows);
		made_mark(&records, PERF_REC_FINISHED_ROUND);
	}
	file.attr = records.attr;
	made_file(&file, &records, records.bytes.n);
	r = perf_result_of_bytes(file.bytes.at, file.bytes.n);
	cr_expect_eq(perf_result_samples(&r), n_rounds * ROUND_SAMPLES);
	text = made_text_of(r.profile);
	for (const char *at = text; (at = strstr(at, "[/bin/a]+10\n")); at++)
		n_late++;
	/* Until the first change, and then from every second one on to the next. */
	cr_expect_eq(n_late, ROUND_SAMPLES / 3 - 1 + (n_rounds - 2) / 2 * ROUND_SAMPLES,
		     "%u windows: %zu", n_windows, n_late);
	free(text);
	perf_result_done(&r);
	made_done(&records);
	made_done(&file);
}

Test(perf_data, of_the_next_round_all_is_told_before_a_sample_is_read)
{
	check_rounds(0, 4);
	check_rounds(1, 4);
	check_rounds(9, 4);
	check_rounds(17, 4);
	check_rounds(17, 6);
}
