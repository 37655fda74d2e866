/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "input/input.h"
#include "input/lines.h"
#include "input/whole_input.h"
#include "tests/support/others_rest.h"

#include <bzlib.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

struct blob {
	uint8_t *at;
	size_t n;
};

/* Text that packs, but not into nothing. */
static struct blob make_text(size_t n)
{
	struct blob b = { xmalloc(n + 32), 0 };
	uint32_t x = 12345;

	while (b.n < n) {
		x = x * 1664525 + 1013904223;
		b.n += (size_t)sprintf((char *)b.at + b.n, "main;f%u %u\n", x >> 24, x >> 28);
	}
	b.n = n;
	return b;
}

typedef struct blob pack_fn(const void *p, size_t n);

static struct blob pack_none(const void *p, size_t n)
{
	struct blob b = { xmalloc(n), n };

	memcpy(b.at, p, n);
	return b;
}

static struct blob pack_gzip(const void *p, size_t n)
{
	struct blob b = { xmalloc(n + 1000), 0 };
	z_stream z = { 0 };

	deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)n;
	z.next_out = b.at;
	z.avail_out = (uInt)(n + 1000);
	cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	b.n = z.total_out;
	deflateEnd(&z);
	return b;
}

static struct blob pack_zstd(const void *p, size_t n)
{
	struct blob b = { xmalloc(ZSTD_compressBound(n)), 0 };
	ZSTD_CCtx *c = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	b.n = ZSTD_compress2(c, b.at, ZSTD_compressBound(n), p, n);
	ZSTD_freeCCtx(c);
	return b;
}

static struct blob pack_xz(const void *p, size_t n)
{
	struct blob b = { xmalloc(n + 1000), 0 };

	cr_assert_eq(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, p, n, b.at, &b.n, n + 1000),
		     LZMA_OK);
	return b;
}

static struct blob pack_bzip2(const void *p, size_t n)
{
	unsigned size = (unsigned)n + (unsigned)n / 50 + 1000;
	struct blob b = { xmalloc(size), 0 };

	cr_assert_eq(BZ2_bzBuffToBuffCompress((char *)b.at, &size, (char *)(uintptr_t)p,
					      (unsigned)n, 9, 0, 0),
		     BZ_OK);
	b.n = size;
	return b;
}

static const struct {
	const char *name;
	pack_fn *pack;
} packings[] = {
	{ "", pack_none }, { "gzip", pack_gzip },   { "zstd", pack_zstd },
	{ "xz", pack_xz }, { "bzip2", pack_bzip2 },
};

#define N_PACKINGS (sizeof(packings) / sizeof(*packings))

/* Reads all, in pieces of at most `piece`; the last return value in *rc. */
static struct blob slurp(struct input *in, size_t piece, ssize_t *rc, struct err *e)
{
	VEC(uint8_t) out = { 0 };

	do {
		vec_reserve(&out, out.n + piece);
		*rc = input_read(in, out.at + out.n, piece, e);
		cr_assert_leq(*rc, (ssize_t)piece);
		out.n += *rc > 0 ? (size_t)*rc : 0;
	} while (*rc > 0);
	cr_assert_eq(input_offset(in), out.n);
	return (struct blob){ out.at, out.n };
}

static void assert_reads(struct input *in, const struct blob *want, size_t piece, const char *what)
{
	struct err e = ERR_INIT;
	ssize_t rc;
	struct blob got = slurp(in, piece, &rc, &e);

	cr_assert_eq(rc, 0, "%s: %s", what, err_text(&e));
	cr_assert_eq(got.n, want->n, "%s: %zu bytes", what, got.n);
	cr_assert(want->n == 0 || memcmp(got.at, want->at, want->n) == 0, "%s", what);
	cr_assert_eq(input_read(in, &rc, 1, &e), 0, "%s: the end stays", what);
	free(got.at);
}

static char *write_temp(const void *p, size_t n)
{
	char *path = xstrdup("/tmp/proftop-test-XXXXXX");
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, p, n), (ssize_t)n);
	close(fd);
	return path;
}

Test(input, every_packing_from_memory_and_from_a_file)
{
	static const size_t pieces[] = { 1, 7, 4096, 1 << 20 };
	struct blob text = make_text(300000);

	for (size_t k = 0; k < N_PACKINGS; k++) {
		struct blob packed = packings[k].pack(text.at, text.n);
		char *path = write_temp(packed.at, packed.n);

		for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
			struct input *in = input_of_bytes(packed.at, packed.n, "memory");

			assert_reads(in, &text, pieces[i], packings[k].name);
			cr_assert_str_eq(input_packing(in), packings[k].name);
			cr_assert_eq(input_file_done(in), packed.n);
			input_close(in);
			cr_assert_eq(input_open(path, &in, NULL), 0);
			cr_assert_eq(input_file_bytes(in), packed.n);
			assert_reads(in, &text, pieces[i], packings[k].name);
			cr_assert_eq(input_seekable(in), k == 0);
			cr_assert_eq(input_file_done(in), packed.n);
			input_close(in);
		}
		unlink(path);
		free(path);
		free(packed.at);
	}
	free(text.at);
}

Test(input, members_one_after_another)
{
	struct blob text = make_text(1000);

	for (size_t k = 1; k < N_PACKINGS; k++) {
		struct blob a = packings[k].pack(text.at, 600);
		struct blob none = packings[k].pack(text.at, 0);
		struct blob b = packings[k].pack(text.at + 600, 400);
		uint8_t *all = xmalloc(a.n + none.n + b.n + 8);
		struct input *in;

		memcpy(all, a.at, a.n);
		memcpy(all + a.n, none.at, none.n);
		memcpy(all + a.n + none.n, b.at, b.n);
		in = input_of_bytes(all, a.n + none.n + b.n, "members");
		assert_reads(in, &text, 100, packings[k].name);
		input_close(in);
		free(a.at);
		free(none.at);
		free(b.at);
		free(all);
	}
	free(text.at);
}

Test(input, padding_and_frames_to_skip)
{
	struct blob text = make_text(100), gz = pack_gzip(text.at, text.n);
	struct blob zst = pack_zstd(text.at, text.n);
	uint8_t *padded = xcalloc(1, gz.n + 512), *skip = xmalloc(zst.n + 12);
	struct input *in;

	memcpy(padded, gz.at, gz.n);
	in = input_of_bytes(padded, gz.n + 512, "padded");
	assert_reads(in, &text, 100, "zeroes after gzip");
	input_close(in);
	memcpy(skip, "\x50\x2a\x4d\x18\4\0\0\0abcd", 12);
	memcpy(skip + 12, zst.at, zst.n);
	in = input_of_bytes(skip, zst.n + 12, "pzstd");
	assert_reads(in, &text, 100, "a frame to skip before zstd");
	input_close(in);
	free(padded);
	free(skip);
	free(text.at);
	free(gz.at);
	free(zst.at);
}

/* Cut anywhere: what comes is a beginning of the text, and then one sentence with the name. */
Test(input, cut_at_every_byte)
{
	struct blob text = make_text(3000);

	for (size_t k = 1; k < N_PACKINGS; k++) {
		struct blob packed = packings[k].pack(text.at, text.n);
		size_t most = 0;

		for (size_t n = 10; n < packed.n; n++) {
			struct err e = ERR_INIT;
			struct input *in = input_of_bytes(packed.at, n, "cut.file");
			ssize_t rc;
			struct blob got = slurp(in, 500, &rc, &e);

			cr_assert_eq(rc, -EBADMSG, "%s at %zu", packings[k].name, n);
			cr_assert(strstr(err_text(&e), "cut.file: "), "%s", err_text(&e));
			cr_assert_leq(got.n, text.n);
			cr_assert_eq(memcmp(got.at, text.at, got.n), 0);
			most = got.n > most ? got.n : most;
			err_clear(&e);
			cr_assert_eq(input_read(in, &rc, 1, &e), -EBADMSG, "the failure stays");
			err_clear(&e);
			input_close(in);
			free(got.at);
		}
		cr_assert_eq(most, text.n, "%s gives all that came before", packings[k].name);
		free(packed.at);
	}
	free(text.at);
}

/* Random bytes, then a match that refers to before them; with a head of gzip. */
static struct blob pack_bad_match(const uint8_t *random, size_t n)
{
	struct blob b = { xmalloc(2 * n + 1000), 0 };
	z_stream z = { 0 };

	memcpy(b.at, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_FIXED);
	deflateSetDictionary(&z, random + n - 100, 100);
	z.next_in = (Bytef *)(uintptr_t)random;
	z.avail_in = (uInt)n;
	z.next_out = b.at + 10;
	z.avail_out = (uInt)(2 * n + 990);
	cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	b.n = 10 + z.total_out;
	deflateEnd(&z);
	return b;
}

/* Nothing is made up for the match, and no more than a longest one (258) is lost before it, in steps of any size. */
Test(input, a_match_of_nothing)
{
	static const size_t steps[] = { 1, 300, 1000, 100000 };
	struct blob random = { xmalloc(20000), 20000 }, packed;
	uint32_t x = 12345;

	for (size_t i = 0; i < random.n; i++) {
		x = x * 1664525 + 1013904223;
		random.at[i] =
			(uint8_t)(x >> 25); /* seven bits: else they would be stored as they are */
	}
	packed = pack_bad_match(random.at, random.n);
	for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++) {
		struct input *in = input_of_bytes(packed.at, packed.n, "bad.gz");
		struct err e = ERR_INIT;
		ssize_t rc;
		struct blob got = slurp(in, steps[k], &rc, &e);

		cr_expect_eq(rc, -EBADMSG);
		cr_expect(strstr(err_text(&e), "bad.gz: damaged gzip data"), "%s", err_text(&e));
		/* versions of zlib write the first bytes of the match as they are, or not */
		cr_expect(got.n < random.n && got.n >= random.n - 100 - 258, "%zu", got.n);
		cr_expect_eq(memcmp(got.at, random.at, got.n), 0);
		err_clear(&e);
		input_close(in);
		free(got.at);
	}
	free(random.at);
	free(packed.at);
}

/* Any byte changed: an end, good or bad, and never more than the text times what packing gives. */
Test(input, damaged_anywhere)
{
	struct blob text = make_text(3000);

	for (size_t k = 1; k < N_PACKINGS; k++) {
		struct blob packed = packings[k].pack(text.at, text.n);

		for (size_t i = 0; i < packed.n; i++) {
			struct input *in;
			struct blob got;
			ssize_t rc;

			packed.at[i] ^= 0x55;
			in = input_of_bytes(packed.at, packed.n, "damaged");
			got = slurp(in, 700, &rc, NULL);
			cr_assert_leq(rc, 0);
			packed.at[i] ^= 0x55;
			input_close(in);
			free(got.at);
		}
		free(packed.at);
	}
	free(text.at);
}

Test(input, peeking_takes_nothing)
{
	struct blob text = make_text(200000);

	for (size_t k = 0; k < N_PACKINGS; k++) {
		struct blob packed = packings[k].pack(text.at, text.n);
		struct input *in = input_of_bytes(packed.at, packed.n, "peek");
		uint8_t some[1000];
		const uint8_t *p;
		size_t n;

		cr_assert_eq(input_peek(in, 3, &p, &n, NULL), 0);
		cr_assert_geq(n, 3);
		cr_assert_eq(memcmp(p, text.at, n), 0);
		cr_assert_eq(input_read_full(in, some, 2, NULL), 2);
		cr_assert_eq(input_peek(in, 65536, &p, &n, NULL), 0);
		cr_assert_eq(n, 65536);
		cr_assert_eq(memcmp(p, text.at + 2, n), 0);
		cr_assert_eq(input_offset(in), 2);
		cr_assert_eq(input_read_full(in, some, sizeof(some), NULL), 1000);
		cr_assert_eq(memcmp(some, text.at + 2, sizeof(some)), 0);
		cr_assert_eq(input_offset(in), 1002);
		input_close(in);
		free(packed.at);
	}
	free(text.at);
}

/* What another thread unpacked is what the reader would have: all of a small file, the first part of a large one, and damage. */
Test(input, unpacked_ahead)
{
	static const size_t sizes[] = { 0, 1000, 300000, 17 << 20 };

	/* of the large one gzip is enough: the others take seconds to pack it */
	for (size_t k = 0; k < 3 * N_PACKINGS + 2; k++) {
		struct blob text = make_text(sizes[k / N_PACKINGS]);
		struct blob packed = packings[k % N_PACKINGS].pack(text.at, text.n);
		char *path = write_temp(packed.at, packed.n);
		struct whole_input whole;
		const uint8_t *p;
		struct input *in;
		size_t n;

		cr_assert_eq(input_open(path, &in, NULL), 0);
		input_ahead(in);
		cr_assert_eq(input_peek(in, 10, &p, &n, NULL), 0);
		cr_assert_leq(n, 65536, "no more than probes are to see");
		assert_reads(in, &text, 50000, packings[k % N_PACKINGS].name);
		input_close(in);

		cr_assert_eq(input_open(path, &in, NULL), 0);
		input_ahead(in);
		cr_assert_eq(whole_input_read(&whole, in, NULL, NULL), 0);
		cr_assert_eq(whole.n, text.n);
		cr_assert(text.n == 0 || memcmp(whole.bytes, text.at, text.n) == 0);
		whole_input_done(&whole);
		input_close(in);

		if (k % N_PACKINGS > 0 && text.n == 300000) {
			cr_assert_eq(truncate(path, (off_t)packed.n - 8), 0);
			cr_assert_eq(input_open(path, &in, NULL), 0);
			input_ahead(in);
			cr_assert_eq(whole_input_read(&whole, in, NULL, NULL), 0);
			cr_expect(whole.cut && strstr(whole.cut, "end too early"));
			whole_input_done(&whole);
			input_close(in);
		}
		/* nobody waits for it */
		cr_assert_eq(input_open(path, &in, NULL), 0);
		input_ahead(in);
		input_close(in);
		unlink(path);
		free(path);
		free(packed.at);
		free(text.at);
	}
}

/* Lines of a packed file, whose blocks another thread unpacks ahead, are those of the plain one, with those that span blocks. */
Test(input, lines_unpacked_ahead)
{
	enum { N_BYTES = 5 << 20 };
	struct blob text = { xmalloc(N_BYTES), N_BYTES };
	uint32_t seed = 1;

	for (size_t i = 0; i < text.n; i++) {
		seed = seed * 1664525 + 1013904223;
		text.at[i] = seed >> 16 & 15 ? (uint8_t)('a' + (seed >> 20) % 8) : '\n';
	}
	/* from one block into the next but one, longer than what is left before a block, and a NUL */
	memset(text.at + (1 << 20) + 5000, 'x', (1 << 20) + 100000);
	text.at[3 << 20] = '\0';
	for (size_t k = 1; k < 3; k++) {
		struct blob packed = packings[k].pack(text.at, text.n);

		for (int cut = 0; cut < 2; cut++) {
			struct input *in[2] = {
				input_of_bytes(text.at, text.n, "plain"),
				input_of_bytes(packed.at, packed.n - (cut ? 1000 : 0), "packed")
			};
			struct err e = ERR_INIT;
			struct lines l[2];
			bool ahead = false;
			int rc = 1;

			lines_init(&l[0], in[0]);
			lines_init(&l[1], in[1]);
			while (rc > 0) {
				const char *s[2];
				size_t n[2];

				rc = lines_fill(&l[1], &e);
				ahead |= l[1].ahead.task != NULL;
				while (lines_next(&l[1], &s[1], &n[1])) {
					while (!lines_next(&l[0], &s[0], &n[0]))
						cr_assert_eq(lines_fill(&l[0], NULL), 1);
					/* the last line of what was cut is, too */
					cr_assert(n[0] == n[1] || (cut && rc < 0));
					cr_assert_eq(memcmp(s[0], s[1], n[1]), 0);
				}
			}
			cr_expect(ahead);
			cr_expect_eq(rc, cut ? -EBADMSG : 0);
			cr_expect_eq(e.code, rc);
			cr_expect(cut ? l[1].offset < text.n : l[1].offset == text.n);
			cr_expect(cut || l[1].n >= l[0].n);
			err_clear(&e);
			lines_done(&l[0]);
			lines_done(&l[1]);
			input_close(in[0]);
			input_close(in[1]);
		}
		free(packed.at);
	}
	free(text.at);
}

Test(input, pread_and_changes_of_plain_files)
{
	struct blob text = make_text(100000);
	char *path = write_temp(text.at, text.n);
	const uint8_t *p;
	uint8_t some[64], *rest;
	struct input *in;
	size_t n;

	cr_assert_eq(input_open(path, &in, NULL), 0);
	cr_assert_eq(input_peek(in, 10, &p, &n, NULL), 0);
	cr_assert(input_seekable(in));
	cr_assert_eq(input_pread(in, some, 64, 99980, NULL), 20, "as much as there is");
	cr_assert_eq(memcmp(some, text.at + 99980, 20), 0);
	cr_assert_eq(input_pread(in, some, 64, UINT64_MAX - 3, NULL), 0);
	cr_assert_eq(input_read_full(in, some, 64, NULL), 64);
	cr_assert_eq(memcmp(some, text.at, 64), 0);
	cr_assert_eq(input_offset(in), 64);
	rest = malloc(text.n);
	cr_assert_eq(input_read_full(in, rest, 69936, NULL), 69936);
	cr_assert_eq(truncate(path, 70010), 0);
	cr_assert_eq(input_read_full(in, some, 64, NULL), 10, "a file that shrank ends early");
	cr_assert_eq(input_file_bytes(in), 70010);
	cr_assert_eq(truncate(path, 70011), 0);
	cr_assert_eq(input_read_full(in, some, 64, NULL), 1, "a file that grew goes on");
	free(rest);
	input_close(in);
	unlink(path);
	free(path);
	free(text.at);
}

/* How much of a file is on disk, in bytes. */
static uint64_t on_disk(const char *path)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* What was read of a recording of our own is given back, its head and the rest are as they were; nothing of others is. */
Test(input, what_was_read_of_a_scratch_file)
{
	const uint64_t size = UINT64_C(4) << 20, spent = size - 100000;
	struct blob text = make_text(size);
	uint8_t some[64];

	for (int scratch = 0; scratch < 2; scratch++) {
		char *path = write_temp(text.at, text.n);
		struct input *in;

		cr_assert_eq(input_open(path, &in, NULL), 0);
		if (scratch)
			input_scratch(in);
		input_spend(in, size / 2);
		input_spend(in, spent);
		if (scratch && on_disk(path) == size)
			cr_skip_test("the file system knows no holes");
		cr_expect_eq(input_has_hole(in), scratch == 1);
		cr_expect(scratch ? on_disk(path) < size / 4 : on_disk(path) >= size);
		cr_expect_eq(input_file_bytes(in), size);
		cr_expect_eq(input_pread(in, some, 64, 65536 - 64, NULL), 64);
		cr_expect_eq(memcmp(some, text.at + 65536 - 64, 64), 0);
		cr_expect_eq(input_pread(in, some, 64, spent, NULL), 64);
		cr_expect_eq(memcmp(some, text.at + spent, 64), 0);
		input_close(in);
		unlink(path);
		free(path);
	}
	free(text.at);
}

Test(input, what_cannot_be_opened_is_a_sentence)
{
	static const struct {
		const char *path, *text;
		int rc;
	} cases[] = {
		{ "/sys", "/sys: is a directory without a recording (data); name a profile in it",
		  -EISDIR },
		{ "/nonexistent/x", "/nonexistent/x: cannot open it: No such file or directory",
		  -ENOENT },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err e = ERR_INIT;
		struct input *in = NULL;

		cr_assert_eq(input_open(cases[i].path, &in, &e), cases[i].rc);
		cr_assert_str_eq(err_text(&e), cases[i].text);
		cr_assert_null(in);
		err_clear(&e);
	}
}

/* A directory of another tool, by a file that it always has. */
Test(input, a_directory_of_instruments_is_named)
{
	char dir[] = "/tmp/proftop-test-XXXXXX";
	struct err e = ERR_INIT;
	struct input *in = NULL;
	char *member;

	cr_assert(mkdtemp(dir));
	member = xasprintf("%s/form.template", dir);
	close(open(member, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	cr_expect_eq(input_open(dir, &in, &e), -EISDIR);
	cr_expect(strstr(err_text(&e), ": not supported: a trace of Instruments; xctrace export "),
		  "%s", err_text(&e));
	err_clear(&e);
	unlink(member);
	rmdir(dir);
	free(member);
}

/* Standard input as a pipe, fed in drops. */

struct feed {
	int fd;
	struct blob packed;
};

static int feed(void *arg)
{
	struct feed *f = arg;
	size_t step = 1;

	for (size_t at = 0; at < f->packed.n; at += step, step = step * 3 % 1009 + 1) {
		size_t n = f->packed.n - at < step ? f->packed.n - at : step;

		if (write(f->fd, f->packed.at + at, n) != (ssize_t)n)
			return -errno;
	}
	return close(f->fd);
}

Test(input, pipes)
{
	struct blob text = make_text(50000);

	for (size_t k = 0; k < N_PACKINGS; k++) {
		struct blob packed = packings[k].pack(text.at, text.n);
		const uint8_t *p;
		struct input *in;
		struct task *t;
		struct feed f;
		int fds[2];
		size_t n;

		cr_assert_eq(pipe(fds), 0);
		cr_assert_geq(dup2(fds[0], STDIN_FILENO), 0);
		close(fds[0]);
		f = (struct feed){ fds[1], packed };
		t = task_start(feed, &f, -1);
		cr_assert_eq(input_open("-", &in, NULL), 0);
		cr_assert_str_eq(input_name(in), "standard input");
		cr_assert_eq(input_peek(in, 1, &p, &n, NULL), 0);
		cr_assert_geq(n, 1);
		cr_assert_not(input_seekable(in));
		cr_assert_eq(input_file_bytes(in), 0);
		assert_reads(in, &text, 4096, packings[k].name);
		input_close(in);
		cr_assert_eq(task_join(t), 0);
		free(packed.at);
	}
	free(text.at);
}

Test(input, standard_input_that_is_a_file_begins_where_it_stands)
{
	char *path = write_temp("0123456789", 10);
	int fd = open(path, O_RDONLY);
	uint8_t some[16];
	struct input *in;

	cr_assert_eq(lseek(fd, 4, SEEK_SET), 4);
	cr_assert_geq(dup2(fd, STDIN_FILENO), 0);
	cr_assert_eq(input_open("-", &in, NULL), 0);
	cr_assert_eq(input_file_bytes(in), 6);
	cr_assert_eq(input_read_full(in, some, 16, NULL), 6);
	cr_assert_eq(memcmp(some, "456789", 6), 0);
	cr_assert(input_seekable(in));
	cr_assert_eq(input_pread(in, some, 2, 1, NULL), 2);
	cr_assert_eq(memcmp(some, "56", 2), 0);
	input_close(in);
	close(fd);
	unlink(path);
	free(path);
}

/* A file that asks for a window of 2 GiB is refused before it gets one. */
Test(input, too_large_a_window)
{
	static const uint8_t zst[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0, 'x' };
	struct input *in = input_of_bytes(zst, sizeof(zst), "big.zst");
	struct err e = ERR_INIT;
	uint8_t some[8];

	cr_assert_eq(input_read(in, some, 8, &e), -EFBIG);
	cr_assert(strstr(err_text(&e), "big.zst: needs too much memory"), "%s", err_text(&e));
	err_clear(&e);
	input_close(in);
}

static int read_once(void *in)
{
	char c;

	return (int)input_read(in, &c, 1, NULL);
}

/* Whoever waits for a pipe is told, and need not look. */
Test(input, rests_until_it_is_cancelled, .timeout = 60)
{
	struct progress p = { .wake_fd = eventfd(0, EFD_CLOEXEC) };
	struct input *in;
	struct task *t;
	int ends[2];
	char path[32];

	cr_assert_eq(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	cr_assert_eq(input_open(path, &in, NULL), 0);
	input_watch(in, &p);
	t = task_start(read_once, in, -1);
	cr_assert(others_rest());
	cr_assert_not(task_finished(t));
	progress_cancel(&p);
	cr_assert_eq(task_join(t), -ECANCELED);
	input_close(in);
	close(p.wake_fd);
	close(ends[0]);
	close(ends[1]);
}
