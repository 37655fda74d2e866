/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Legacy CPU profiles of pprof: words of all kinds, the profiler's own frames, and sums as pprof's. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "formats/format.h"
#include "input/input.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/read_rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Words as a machine of that size and order writes them, and text behind them. *n: the bytes. */
static uint8_t *write_words(const uint64_t *word, size_t n_words, unsigned size, bool big_endian,
			    const char *before, const char *behind, size_t *n)
{
	size_t n_before = strlen(before), n_behind = strlen(behind);
	uint8_t *bytes = xmalloc(n_before + n_words * size + n_behind + 1), *at = bytes + n_before;

	memcpy(bytes, before, n_before);
	for (size_t i = 0; i < n_words; i++)
		for (unsigned k = 0; k < size; k++)
			*at++ = (uint8_t)(word[i] >> 8 * (big_endian ? size - 1 - k : k));
	memcpy(at, behind, n_behind);
	*n = n_before + n_words * size + n_behind;
	return bytes;
}

static const struct {
	const char *what;
	uint64_t word[40];
	size_t n;
	const char *before, *behind;
	const char *event; /* NULL: the one that opens */
	const char *rows;
	const char *fact; /* a part of what info says, or NULL */
} files[] = {
	{ "no mappings: addresses are names, those of callers one less",
	  { 0, 3, 0, 10000, 0, 2, 2, 0x1000, 0x2005, 1, 1, 0x2000, 0, 1, 0 },
	  15,
	  "",
	  "",
	  NULL,
	  "0x1000:/20000000/20000000 0x2000:/10000000/10000000 0x2004:/0/20000000 ",
	  "addresses have no names" },
	{ "names before the profile",
	  { 0, 3, 0, 10000, 0, 2, 2, 0x1000, 0x2005, 1, 2, 0x1008, 0x2005, 1, 1, 0x2005, 0, 1, 0 },
	  19,
	  "--- symbol\nbinary=/bin/x\n0x0000000000001000 leaf\n0x0000000000001008 leaf\n"
	  "0x0000000000002005 main(int)\n---\n--- profile\n",
	  "",
	  "samples",
	  "leaf:x/3/3 main(int):x/1/4 ",
	  NULL },
	{ "google-pprof --raw: no last stack, and no period",
	  { 0, 3, 0, 1, 0, 4, 1, 0x1000 },
	  8,
	  "--- symbol\n0x1000 f\n---\n--- profile\n",
	  "",
	  NULL,
	  "f:/4/4 ",
	  "leaves it out" },
	{ "the handler's frame is in all stacks, a leaf is there twice",
	  { 0, 3, 0, 1, 0, 1, 4, 0x10, 0x99, 0x11, 0x21, 1, 3, 0x30, 0x99, 0x21, 0, 1, 0 },
	  19,
	  "",
	  "",
	  "samples",
	  "0x10:/1/1 0x20:/0/2 0x30:/1/1 ",
	  "2 of the profiler's signal handler" },
	{ "Java: numbers are named, no address is a caller's",
	  { 0, 3, 1, 10000, 0, 3, 2, 1, 2, 2, 1, 3, 0, 1, 0 },
	  15,
	  "",
	  "\n 0x1 a.B.run (B.java:12)\n 0x0000002 a.B.main (B.java:7)\n 0x3 GC\n",
	  "samples",
	  "GC:/2/2 a.B.main:B.java/0/3 a.B.run:B.java/3/3 ",
	  NULL },
	{ "more addresses than bytes: what was before is kept",
	  { 0, 3, 0, 1, 0, 4, 1, 0x10, 1, 0xffffffff, 0x20 },
	  11,
	  "",
	  "",
	  "samples",
	  "0x10:/4/4 ",
	  "ends within a stack" },
	{ "a stack without addresses",
	  { 0, 3, 0, 1, 0, 4, 1, 0x10, 5, 0, 0, 1, 0 },
	  13,
	  "",
	  "",
	  "samples",
	  "0x10:/4/4 ",
	  "without an address" },
};

Test(cpuprofile, what_files_say)
{
	for (size_t i = 0; i < N(files); i++)
		for (unsigned way = 0; way < 4; way++) {
			size_t n;
			uint8_t *bytes = write_words(files[i].word, files[i].n, way & 1 ? 4 : 8,
						     (way & 2) != 0, files[i].before,
						     files[i].behind, &n);
			struct err e = ERR_INIT;
			int rc;
			struct profile *p;
			char *rows;

			cr_expect_eq(probe_bytes(bytes, n), &format_cpuprofile, "%s",
				     files[i].what);
			p = read_bytes_as(&format_cpuprofile, bytes, n, &rc, &e);
			cr_assert_eq(rc, 0, "%s: %s", files[i].what, err_text(&e));
			rows = rows_of_event(p, files[i].event);
			cr_expect_str_eq(rows, files[i].rows, "%s: %s", files[i].what, rows);
			cr_expect(!files[i].fact || has_fact(p, files[i].fact), "%s",
				  files[i].what);
			free(rows);
			profile_free(p);
			free(bytes);
		}
}

Test(cpuprofile, cut_at_each_offset)
{
	for (size_t i = 0; i < N(files); i++) {
		size_t n;
		uint8_t *bytes = write_words(files[i].word, files[i].n, 8, false, files[i].before,
					     files[i].behind, &n);

		for (size_t cut = 0; cut < n; cut++) {
			struct err e = ERR_INIT;
			uint8_t *exact = xmalloc(cut + 1);
			struct profile *p;
			int rc;

			memcpy(exact, bytes, cut);
			p = read_bytes_as(&format_cpuprofile, exact, cut, &rc, &e);
			/* the raw one ends where its bytes do */
			if (rc == 0 && cut + strlen(files[i].behind) < n &&
			    (!files[i].before[0] || (n - cut) % 8))
				cr_expect(has_fact(p, "ends within a stack"), "%s, %zu bytes",
					  files[i].what, cut);
			else if (rc < 0)
				cr_expect(rc == -EBADMSG && strstr(err_text(&e), "x: "),
					  "%s, %zu bytes: %d %s", files[i].what, cut, rc,
					  err_text(&e));
			profile_free(p);
			err_clear(&e);
			free(exact);
		}
		free(bytes);
	}
}

Test(cpuprofile, hostile_bytes, .timeout = 300)
{
	for (size_t i = 0; i < N(files); i++) {
		size_t n;
		uint8_t *bytes = write_words(files[i].word, files[i].n, 4, true, files[i].before,
					     files[i].behind, &n);

		fuzz_vary(fuzz_cpuprofile, bytes, n, 400);
		free(bytes);
	}
}

/* As many samples of the same addresses as `pprof -top -addresses` says of its own test files. */
Test(cpuprofile, agrees_with_pprof)
{
	static const struct {
		const char *path, *part;
		int64_t total;
	} cases[] = {
		{ "/pprof/profile/testdata/gobench.cpu", "0x427ac9:/29/29 ", 305 },
		{ "/pprof/internal/driver/testdata/go.crc32.cpu", "0x415d0f:/0/211 ", 211 },
		{ "/pprof/profile/testdata/java.cpu", "VM:/2/2 ", 7 },
	};

	if (access(CORPUS "/pprof", R_OK) != 0)
		cr_skip("skipped: no corpus");
	for (size_t i = 0; i < N(cases); i++) {
		char *path = xasprintf("%s%s", CORPUS, cases[i].path), *rows;
		struct profile *p = read_path_as(&format_cpuprofile, path);

		rows = rows_of_event(p, "samples");
		cr_expect(strstr(rows, cases[i].part), "%s: %s", path, rows);
		cr_expect_eq(total_of_event(p, "samples"), cases[i].total, "%s", path);
		free(rows);
		profile_free(p);
		free(path);
	}
}
