/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives of symbol files, whole, cut, and with names that lead elsewhere. */
#include "config.h"

#include "base/mem.h"
#include "perf/file/perf_archive.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "symbols/search/file_archive.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef01234567"

struct bytes_made {
	VEC(char) all;
};

static void put(struct bytes_made *m, const void *p, size_t n)
{
	vec_reserve(&m->all, m->all.n + n);
	memcpy(m->all.at + m->all.n, p, n);
	m->all.n += n;
}

static void member(struct bytes_made *m, const char *name, char type, const char *content, size_t n)
{
	char block[512] = { 0 };

	memcpy(block, name, strnlen(name, 100));
	snprintf(block + 124, 12, "%011lo", (unsigned long)n);
	block[156] = type;
	memcpy(block + 257,
	       "ustar\0"
	       "00",
	       8);
	put(m, block, sizeof(block));
	put(m, content, n);
	memset(block, 0, sizeof(block));
	put(m, block, (512 - n % 512) % 512);
}

static void end(struct bytes_made *m)
{
	static const char zeros[1024];

	put(m, zeros, sizeof(zeros));
}

/* One of each kind; what is to be found is its own name. */
static void put_all(struct bytes_made *m)
{
	char path[300], line[400];
	int n;

	member(m, ".build-id/01/23456789abcdef", '2', "", 0);
	member(m, "usr/lib/x.so/" ID "/elf", '0', "elf", 3);
	member(m, "[kernel.kallsyms]/" ID "/kallsyms", '0', "kallsyms", 8);
	member(m, "usr/lib/x.so/" ID "/probes", '0', "no", 2);
	member(m, "../../../etc/abcdef0123/elf", '0', "outside", 7);
	member(m, "/etc/passwd", '0', "root", 4);
	member(m, ".build-id/ab/cdef012345.debug", '0', "by build-id", 11);
	snprintf(path, sizeof(path), "%0150d/aaaaaaaaaa/elf", 0);
	member(m, "././@LongLink", 'L', path, strlen(path) + 1);
	member(m, path, '0', "gnu", 3);
	snprintf(path, sizeof(path), "%0150d/bbbbbbbbbb/elf", 0);
	/* A line of 100 bytes that is no path, then the path. */
	n = snprintf(line, sizeof(line), "100 comment=%087d\n%d path=%s\n", 0,
		     (int)strlen(path) + 10, path);
	member(m, "PaxHeaders/x", 'x', line, (size_t)n);
	member(m, path, '0', "pax", 3);
	end(m);
}

static const struct {
	const char *name, *content; /* NULL: it is not there */
} wanted[] = {
	{ ID "/elf", "elf" },
	{ ID "/kallsyms", "kallsyms" },
	{ ID "/probes", NULL },
	{ "abcdef0123/elf", "outside" },
	{ "abcdef012345/debug", "by build-id" },
	{ "aaaaaaaaaa/elf", "gnu" },
	{ "bbbbbbbbbb/elf", "pax" },
	{ "passwd", NULL },
};

static char *content_of(const char *path)
{
	char *text = xcalloc(1, 4096);
	FILE *f = path ? fopen(path, "r") : NULL;

	if (!f) {
		free(text);
		return NULL;
	}
	text[fread(text, 1, 4095, f)] = '\0';
	fclose(f);
	return text;
}

/* Looks all of it up in an archive of n bytes; returns how many were found. */
static size_t look_up(const char *path, const struct bytes_made *m, size_t n, bool whole)
{
	const struct resolver_options o = { .symbol_dirs = &path, .n_symbol_dirs = 1 };
	struct perf_archives a = { 0 };
	FILE *f = fopen(path, "w");
	size_t found = 0;

	cr_assert(f && fwrite(m->all.at, 1, n, f) == n && fclose(f) == 0);
	perf_archives_find(&a, "/nonexistent/perf.data", &o, NULL);
	cr_assert_eq(a.all.n, 1);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		char *got = content_of(file_archive_find(a.all.at[0], wanted[i].name));

		if (whole && wanted[i].content)
			cr_expect(got && !strcmp(got, wanted[i].content), "%s: %s", wanted[i].name,
				  got ? got : "(none)");
		if (!wanted[i].content)
			cr_expect_null(got, "%s", wanted[i].name);
		found += got != NULL;
		free(got);
	}
	if (whole)
		cr_expect_null(file_archive_trouble(a.all.at[0]), "%s",
			       file_archive_trouble(a.all.at[0]));
	else
		cr_expect_not_null(file_archive_trouble(a.all.at[0]), "cut at %zu", n);
	perf_archives_done(&a);
	return found;
}

Test(perf_archive, files_by_build_id)
{
	char dir[] = "/tmp/proftop-archive-XXXXXX", *path;
	struct bytes_made m = { 0 };
	size_t before = 0;

	cr_assert_not_null(mkdtemp(dir));
	path = xasprintf("%s/symbols.tar", dir);
	put_all(&m);
	cr_expect_eq(look_up(path, &m, m.all.n, true), 6);
	for (size_t cut = 0; cut < m.all.n - 1024; cut += 171) {
		size_t n = look_up(path, &m, cut, false);

		cr_expect_geq(n, before, "cut at %zu", cut);
		before = n;
	}
	unlink(path);
	rmdir(dir);
	free(path);
	vec_done(&m.all);
}

Test(perf_archive, sizes_that_cannot_be)
{
	static const char *const sizes[] = { "77777777777",
					     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
					     "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff" };
	char dir[] = "/tmp/proftop-archive-XXXXXX", *path;

	cr_assert_not_null(mkdtemp(dir));
	path = xasprintf("%s/symbols.tar", dir);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct bytes_made m = { 0 };

		member(&m, "x/" ID "/elf", '0', "elf", 3);
		memcpy(m.all.at + 124, sizes[i], 12);
		end(&m);
		look_up(path, &m, m.all.n, false);
		vec_done(&m.all);
	}
	unlink(path);
	rmdir(dir);
	free(path);
}

Test(perf_archive, the_one_beside_a_recording)
{
	static const struct resolver_options none;
	char dir[] = "/tmp/proftop-archive-XXXXXX", *path, *name;
	struct perf_archives a = { 0 };
	FILE *f;

	cr_assert_not_null(mkdtemp(dir));
	name = xasprintf("%s/perf.data", dir);
	path = xasprintf("%s.tar.gz", name);
	f = fopen(path, "w");
	cr_assert(f && fputs("damaged", f) >= 0 && fclose(f) == 0);
	perf_archives_find(&a, name, &none, NULL);
	cr_assert_eq(a.all.n, 1);
	cr_expect_null(file_archive_find(a.all.at[0], ID "/elf"));
	cr_expect_not_null(file_archive_trouble(a.all.at[0]));
	perf_archives_done(&a);
	unlink(path);
	rmdir(dir);
	free(path);
	free(name);
}
