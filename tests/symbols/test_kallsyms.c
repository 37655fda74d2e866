/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "symbols/jit/jit_map.h"
#include "symbols/kallsyms.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t local_one\n"
			   "ffffffff81000180 r read_only\n"
			   "ffffffff81000200 W weak_one\n"
			   "not a line\n"
			   "ffffffff8100030 \n"
			   "ffffffff81000300 T last_of_kernel\n"
			   "ffffffffc0001000 t nft_do_chain\t[nf_tables]\n"
			   "ffffffffc0001100 t nft_trace\t[nf_tables]\n"
			   "ffffffffc0101000 t ext4_read\t[ext4]";

static const struct {
	uint64_t address;
	const char *name, *module; /* name NULL: none */
} rows[] = {
	{ 0x10, NULL, NULL },
	{ 0xffffffff81000000, "_text", NULL }, /* the last of several */
	{ 0xffffffff810001ff, "local_one", NULL },
	{ 0xffffffff81000200, "weak_one", NULL },
	{ 0xffffffff81000301, "last_of_kernel", NULL },
	{ 0xffffffff81001fff, "last_of_kernel", NULL },
	{ 0xffffffff81002000, NULL, NULL }, /* not up to the first module */
	{ 0xffffffffc0001010, "nft_do_chain", "nf_tables" },
	{ 0xffffffffc0002fff, "nft_trace", "nf_tables" },
	{ 0xffffffffc0003000, NULL, NULL },
	{ 0xffffffffc0101004, "ext4_read", "ext4" },
};

static void check(struct kallsyms *k, size_t n_before, const char *how)
{
	uint64_t value = 0;

	cr_assert_not(kallsyms_hidden(k), "%s", how);
	cr_expect_eq(kallsyms_n(k), 9 + n_before, "%s", how);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct kallsym *s = kallsyms_find(k, rows[i].address);

		cr_expect_eq(s == NULL, rows[i].name == NULL, "%s: %lx", how,
			     (long)rows[i].address);
		if (!s || !rows[i].name)
			continue;
		cr_expect_str_eq(s->name, rows[i].name, "%s: %lx: %s", how, (long)rows[i].address,
				 s->name);
		cr_expect_eq(s->module == NULL, rows[i].module == NULL);
		if (s->module && rows[i].module)
			cr_expect_str_eq(s->module, rows[i].module);
		cr_expect_eq(kallsyms_find(k, s->start), s, "each symbol is made once");
	}
	cr_expect(kallsyms_value(k, "_stext", &value));
	cr_expect_eq(value, 0xffffffff81000000);
	cr_expect_not(kallsyms_value(k, "nft_trace", &value), "a module's symbol is no reference");
	kallsyms_free(k);
}

/* A file of the text, behind n symbols of names of many lengths. */
static int make_file(char *name, size_t n)
{
	int fd = mkstemp(name);
	FILE *f = fd < 0 ? NULL : fdopen(dup(fd), "w");

	cr_assert_not_null(f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%016zx T before_%0*zu\n", 0x1000 + 16 * i, (int)(i % 40), i);
	fputs(text, f);
	cr_assert_eq(fclose(f), 0);
	return fd;
}

Test(kallsyms, lines)
{
	static const size_t n_before[] = { 0, 20000 }; /* within what is read at once, and beyond */
	struct kallsyms *k;

	check(kallsyms_of_text(xstrndup(text, strlen(text)), strlen(text)), 0, "text");
	for (size_t i = 0; i < 2; i++) {
		char name[] = "/tmp/proftop-kallsyms-XXXXXX";

		close(make_file(name, n_before[i]));
		cr_assert_eq(kallsyms_load(name, &k, NULL), 0);
		for (size_t at = 0; at < n_before[i]; at++) {
			const struct kallsym *is = kallsyms_find(k, 0x1001 + 16 * at);

			cr_assert_not_null(is, "%zu", at);
			cr_assert_eq(strtoul(is->name + strlen("before_"), NULL, 10), at);
		}
		check(k, n_before[i], "file");
		unlink(name);
	}
}

/* Lines are read again: what is no more what it was names nothing. */
Test(kallsyms, of_a_file_that_changes)
{
	char name[] = "/tmp/proftop-kallsyms-XXXXXX";
	int fd = make_file(name, 0);
	const char *other = strstr(text, "ffffffff81000100") + 14;
	struct kallsyms *k;

	cr_assert_eq(kallsyms_load(name, &k, NULL), 0);
	cr_assert_eq(pwrite(fd, "77", 2, other - text), 2);
	cr_expect_null(kallsyms_find(k, 0xffffffff81000100));
	cr_expect_not_null(kallsyms_find(k, 0xffffffff81000200));
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_expect_null(kallsyms_find(k, 0xffffffff81000301));
	kallsyms_free(k);
	close(fd);
	unlink(name);
}

static const struct {
	const char *text;
	size_t n;
	bool hidden;
} odd[] = {
	{ "0000000000000000 T _text\n0000000000000000 t b\n", 2, true },
	{ "", 0, false },
	{ "\n\n \n0\n0 T\n0 T \n0 T x", 1, true },
	{ "00000000000000001 T seventeen\n1 T\ttab\n1 T a\t\n1 T b\t[\n", 2, false },
};

Test(kallsyms, odd_ones)
{
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct kallsyms *k = kallsyms_of_text(xstrdup(odd[i].text), strlen(odd[i].text));

		cr_expect_eq(kallsyms_n(k), odd[i].n, "%zu: %zu", i, kallsyms_n(k));
		cr_expect_eq(kallsyms_hidden(k), odd[i].hidden, "%zu", i);
		kallsyms_find(k, 1);
		kallsyms_free(k);
	}
}

/* Sixteen digits are read side by side: every character in each of their places, against one after the other. */
Test(kallsyms, every_character_of_an_address)
{
	for (int c = 1; c < 256; c++) {
		for (size_t at = 0; at < 16 && c != '\n'; at++) {
			char line[] = "0123456789ABCDEF T x", digit[] = { (char)c, '\0' };
			uint64_t want;
			struct kallsyms *k;
			const struct kallsym *is;

			line[at] = (char)c;
			want = strtoull(line, NULL, 16);
			k = kallsyms_of_text(xstrdup(line), strlen(line));
			is = kallsyms_find(k, want);
			if (strspn(digit, "0123456789abcdefABCDEF") == 1)
				cr_expect(is && is->start == want, "%s", line);
			else
				cr_expect_eq(kallsyms_n(k), 0, "%s", line);
			kallsyms_free(k);
		}
	}
}

/* Modules are listed in the order in which they were loaded. */
Test(kallsyms, modules_are_in_no_order)
{
	static const char modules[] = "ffffffff81000000 T _text\n"
				      "ffffffff81001000 T core\n"
				      "ffffffffc0200000 t b_two\t[b]\n"
				      "ffffffffc0200000 t b_too\t[b]\n"
				      "ffffffffc0100000 t a_one\t[a]\n"
				      "ffffffffc0200100 t b_three\t[b]\n";
	static const struct {
		uint64_t address;
		const char *name;
	} want[] = {
		{ 0xffffffff81000fff, "_text" }, { 0xffffffff81001000, "core" },
		{ 0xffffffffc0100010, "a_one" }, { 0xffffffffc0200000, "b_too" },
		{ 0xffffffffc02000ff, "b_too" }, { 0xffffffffc0200100, "b_three" },
	};
	struct kallsyms *k = kallsyms_of_text(xstrdup(modules), sizeof(modules) - 1);

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct kallsym *s = kallsyms_find(k, want[i].address);

		cr_assert_not_null(s);
		cr_expect_str_eq(s->name, want[i].name);
	}
	kallsyms_free(k);
}

static const char jit_text[] = "7f0000001000 100 LazyCompile:~foo bar.js:1\n"
			       "0x7f0000002000 0x10 hex_prefix\r\n"
			       "7f0000001080 10 written later\n"
			       "7f0000003000 0 no size\n"
			       "zz 10 not hex\n"
			       "7f0000004000 10 \n"
			       "-1 10 negative\n"
			       "fffffffffffffff0 100 to the end\n"
			       "7f0000005000 20 last without newline";

static const struct {
	uint64_t address;
	const char *name;
} jit_rows[] = {
	{ 0x7f0000001000, "LazyCompile:~foo bar.js:1" },
	{ 0x7f000000107f, "LazyCompile:~foo bar.js:1" },
	{ 0x7f0000001080, "written later" },
	{ 0x7f000000108f, "written later" },
	{ 0x7f0000001090, "LazyCompile:~foo bar.js:1" },
	{ 0x7f0000001100, NULL },
	{ 0x7f0000002008, "hex_prefix" },
	{ 0x7f0000003000, NULL },
	{ 0x7f0000004000, NULL },
	{ 0xfffffffffffffff8, "to the end" },
	{ 0x7f000000501f, "last without newline" },
};

Test(jit_map, lines)
{
	struct jit_map *m = jit_map_of_text(xstrdup(jit_text), strlen(jit_text));

	for (size_t i = 0; i < sizeof(jit_rows) / sizeof(*jit_rows); i++) {
		const char *name = jit_map_find(m, jit_rows[i].address);

		cr_expect_eq(name == NULL, jit_rows[i].name == NULL, "row %zu", i);
		if (name && jit_rows[i].name)
			cr_expect_str_eq(name, jit_rows[i].name);
	}
	cr_assert_eq(jit_map_n(m), 5);
	jit_map_free(m);
}

Test(jit_map, of_another_user_is_refused)
{
	char path[] = "/tmp/proftop-jit-XXXXXX";
	int fd = mkstemp(path);
	struct jit_map *m = NULL;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, jit_text, sizeof(jit_text) - 1), sizeof(jit_text) - 1);
	close(fd);
	cr_assert_eq(jit_map_load(path, &m, NULL), 0);
	jit_map_free(m);
	if (chown(path, 4711, 4711) == 0)
		cr_assert_eq(jit_map_load(path, &m, NULL), -EPERM);
	else
		cr_log_info("skipped: only root can give files away");
	unlink(path);
	cr_assert_eq(jit_map_load(path, &m, NULL), -ENOENT);
}
