/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_decompress.h"
#include "elf/elf_file.h"
#include "elf/elf_symtab.h"
#include "elf/symtab.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char self[] = "/proc/self/exe";

static uint8_t *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	uint8_t *p;

	cr_assert_not_null(f, "%s", path);
	cr_assert_eq(fstat(fileno(f), &st), 0);
	p = xmalloc((size_t)st.st_size);
	*n = fread(p, 1, (size_t)st.st_size, f);
	fclose(f);
	return p;
}

/* Everything that naming does with a file. */
static size_t use(const struct elf_file *f)
{
	struct symtab *t;
	uint64_t offset = 0, value;
	uint32_t crc;
	size_t n;

	free(elf_file_debuglink(f, &crc));
	elf_file_offset_of(f, 0x1000, &offset);
	elf_file_address_of(f, 0x1000, &offset);
	t = elf_symtab_load(f, f, false);
	symtab_seal(t);
	for (uint64_t at = 0; at < 0x10000; at += 64)
		symtab_find(t, at);
	n = symtab_n(t);
	symtab_free(t);
	t = elf_symtab_load_module(f);
	symtab_free(t);
	t = elf_symtab_load_kernel(f, "main", &value);
	symtab_free(t);
	return n;
}

Test(elf_file, reads_this_program)
{
	struct elf_file *f;
	struct err e = ERR_INIT;
	const struct elf_section *s;
	uint64_t offset, address;
	size_t n = 0;

	cr_assert_eq(elf_file_open(self, &f, &e), 0, "%s", err_text(&e));
	s = elf_file_section(f, ".text");
	cr_assert_not_null(s);
	cr_assert_eq(elf_file_section_at(f, s->index), s);
	cr_assert(elf_file_offset_of(f, s->address, &offset));
	cr_assert_eq(offset, s->offset);
	cr_assert(elf_file_address_of(f, s->offset, &address));
	cr_assert_eq(address, s->address);
	free(elf_file_read_section(f, s, &n));
	cr_assert_eq(n, s->size);
	cr_assert_null(elf_file_read(f, UINT64_MAX - 4, 8));
	cr_assert_null(elf_file_read(f, 0, UINT64_MAX));
	cr_assert_null(elf_file_section(f, ".no such"));
	cr_assert_null(elf_file_section_at(f, UINT32_MAX));
	cr_assert_gt(use(f), 50);
	elf_file_close(f);
}

Test(elf_file, what_is_no_elf_file)
{
	static const char *const paths[] = { "/dev/null", "/proc/self/status", "/tmp",
					     "/etc/passwd" };
	struct elf_file *f = NULL;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct err e = ERR_INIT;

		cr_expect_eq(elf_file_open(paths[i], &f, &e), -ENOEXEC, "%s", paths[i]);
		cr_expect_not_null(strstr(err_text(&e), paths[i]));
		err_clear(&e);
	}
	cr_expect_eq(elf_file_open("/no/such/file", &f, NULL), -ENOENT);
}

Test(elf_file, a_file_that_shrinks_while_open)
{
	char path[] = "/tmp/proftop-elf-XXXXXX";
	int fd = mkstemp(path);
	size_t n;
	uint8_t *bytes = slurp("/bin/true", &n);
	struct elf_file *f;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	cr_assert_eq(elf_file_open(path, &f, NULL), 0);
	cr_assert_eq(ftruncate(fd, 100), 0);
	use(f);
	elf_file_close(f);
	close(fd);
	unlink(path);
	free(bytes);
}

static void try(const uint8_t *bytes, size_t n)
{
	struct elf_file *f;
	uint8_t *copy = xmalloc(n + 1);

	memcpy(copy, bytes, n);
	if (elf_file_of_bytes(copy, n, "damaged", &f, NULL) == 0) {
		use(f);
		elf_file_close(f);
	}
}

Test(elf_file, damaged_in_every_way, .timeout = 120)
{
	size_t n, headers;
	uint8_t *bytes = slurp("/bin/true", &n);
	uint32_t state = 11;
	const Elf64_Ehdr *h = (const void *)bytes;

	cr_assert_gt(n, sizeof(*h));
	headers = (size_t)h->e_shoff;
	cr_assert_lt(headers, n);
	for (size_t cut = 0; cut < n; cut += 331)
		try(bytes, cut);
	for (int i = 0; i < 3000; i++) {
		size_t at, len = 1 + (size_t)i % 8;
		uint8_t kept[8];

		state = state * 1664525u + 1013904223u;
		/* Mostly where it hurts: the headers at both ends, and the symbols. */
		at = i % 3 == 0   ? (state >> 8) % 64
		     : i % 3 == 1 ? headers + (state >> 8) % (n - headers - 8)
				  : (state >> 8) % 8192;
		memcpy(kept, bytes + at, len);
		memset(bytes + at, i % 2 ? 0xff : (int)(state >> 24), len);
		try(bytes, n);
		memcpy(bytes + at, kept, len);
	}
	free(bytes);
}

Test(elf_file, packed)
{
	char path[] = "/tmp/proftop-elfgz-XXXXXX";
	int fd = mkstemp(path);
	size_t n;
	uint8_t *bytes = slurp("/bin/true", &n);
	struct elf_file *plain, *packed;
	gzFile gz;

	cr_assert_geq(fd, 0);
	gz = gzdopen(fd, "wb");
	cr_assert_eq(gzwrite(gz, bytes, (unsigned)n), (int)n);
	gzclose(gz);
	cr_assert_eq(elf_file_open("/bin/true", &plain, NULL), 0);
	cr_assert_eq(elf_file_open(path, &packed, NULL), 0);
	cr_assert(build_id_equal(elf_file_build_id(plain), elf_file_build_id(packed)));
	cr_assert_eq(use(plain), use(packed));
	elf_file_close(plain);
	elf_file_close(packed);
	unlink(path);
	free(bytes);
}

Test(packed, is_bounded)
{
	size_t n = 1 << 20, n_out = 0;
	uint8_t *zeros = xcalloc(1, n), *out = xmalloc(n);
	uLongf n_gz;
	z_stream s = { .zalloc = NULL };
	void *p;

	cr_assert_eq(deflateInit2(&s, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
	s.next_in = zeros;
	s.avail_in = (uInt)n;
	s.next_out = out;
	s.avail_out = (uInt)n;
	cr_assert_eq(deflate(&s, Z_FINISH), Z_STREAM_END);
	n_gz = s.total_out;
	deflateEnd(&s);
	p = elf_decompress_open(out, n_gz, n, &n_out);
	cr_assert_not_null(p);
	cr_assert_eq(n_out, n);
	free(p);
	cr_assert_null(elf_decompress_open(out, n_gz, n - 1, &n_out), "larger than allowed");
	cr_assert_null(elf_decompress_open(out, n_gz - 9, n, &n_out), "cut");
	cr_assert_null(elf_decompress_open("\xfd"
					   "7zXZ\0\0\4",
					   8, n, &n_out),
		       "cut xz");
	cr_assert_null(elf_decompress_open("\x28\xb5\x2f\xfd\0", 5, n, &n_out), "cut zstd");
	cr_assert_null(elf_decompress_open("abc", 3, n, &n_out));
	free(zeros);
	free(out);
}
