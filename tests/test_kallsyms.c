/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "jit_map.h"
#include "kallsyms.h"
#include "mem.h"
#include "symtab.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
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

Test(kallsyms, lines)
{
	struct kallsyms k;
	uint64_t value = 0;

	kallsyms_of_text(xstrdup(text), strlen(text), &k);
	cr_assert_not(k.hidden);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct symbol *s = symtab_find(k.symbols, rows[i].address);

		cr_expect_eq(s == NULL, rows[i].name == NULL, "%lx", (long)rows[i].address);
		if (!s || !rows[i].name)
			continue;
		cr_expect_str_eq(s->name, rows[i].name, "%lx: %s", (long)rows[i].address, s->name);
		cr_expect_eq(s->module == NULL, rows[i].module == NULL);
		if (s->module && rows[i].module)
			cr_expect_str_eq(s->module, rows[i].module);
	}
	cr_expect(kallsyms_value(&k, "_stext", &value));
	cr_expect_eq(value, 0xffffffff81000000);
	cr_expect_not(kallsyms_value(&k, "nft_trace", &value), "a module's symbol is no reference");
	kallsyms_done(&k);
}

Test(kallsyms, hidden_by_kptr_restrict)
{
	static const char zeros[] = "0000000000000000 T _text\n0000000000000000 t b\n";
	struct kallsyms k;

	kallsyms_of_text(xstrdup(zeros), strlen(zeros), &k);
	cr_assert(k.hidden);
	kallsyms_done(&k);
	kallsyms_of_text(xstrdup(""), 0, &k);
	cr_assert_not(k.hidden);
	cr_assert_eq(symtab_n(k.symbols), 0);
	kallsyms_done(&k);
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
