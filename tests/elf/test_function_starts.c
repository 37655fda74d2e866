/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where functions begin by unwind tables, against the symbols of this program; and of files that are not what they were. */
#include "config.h"

#include "base/mem.h"
#include "elf/elf_file.h"
#include "elf/elf_symtab.h"
#include "elf/function_starts.h"
#include "elf/symtab.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANY 200

static struct elf_file *open_file(const char *path)
{
	struct elf_file *f;

	cr_assert_eq(elf_file_open(path, &f, NULL), 0);
	return f;
}

/* Is it code that a compiler made of a function, and no other symbol in its midst? */
static bool is_plain(const struct symtab *t, size_t i)
{
	const struct symbol *s = symtab_at(t, i);

	return s->kind == SYMBOL_CODE && s->end > s->start &&
	       (i + 1 == symtab_n(t) || symtab_at(t, i + 1)->start >= s->end);
}

Test(begins, are_where_symbols_are)
{
	struct elf_file *f = open_file("/proc/self/exe");
	struct symtab *t = elf_symtab_load(f, f, false);
	struct function_starts *b = function_starts_new(f);
	size_t n = 0;

	symtab_seal(t);
	cr_expect_eq(function_starts_bytes(b), 0, "read before it was asked for");
	for (size_t i = 0; i < symtab_n(t); i++) {
		const struct symbol *s = symtab_at(t, i);
		uint64_t begin, want;

		/* What is written by hand has no tables. */
		if (!is_plain(t, i) || !function_starts_find(b, s->end - 1, &begin))
			continue;
		n++;
		cr_assert(elf_file_address_of(f, s->start, &want));
		cr_expect_eq(begin, want, "%s", s->name);
		cr_expect(function_starts_find(b, s->start, &begin) && begin == want, "%s",
			  s->name);
	}
	cr_expect_gt(n, MANY);
	cr_expect_gt(function_starts_bytes(b), 0);
	function_starts_free(b);
	symtab_free(t);
	elf_file_close(f);
}

static void copy(const char *from, const char *to)
{
	char *command = xasprintf("cp %s %s", from, to);

	cr_assert_eq(system(command), 0);
	free(command);
}

/* Nothing is believed of another file than the one that was mapped. */
Test(begins, of_a_file_that_was_replaced_are_unknown)
{
	char self[4096] = { 0 }, dir[] = "/tmp/proftop-begins-XXXXXX";
	static const char *const others[] = { "/bin/sh", "/dev/null", NULL };
	uint64_t begin;

	cr_assert_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	cr_assert_not_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char *path = xasprintf("%s/x", dir);
		struct elf_file *f;
		struct function_starts *b;
		uint64_t entry;

		copy(self, path);
		f = open_file(path);
		b = function_starts_new(f);
		cr_assert(elf_file_offset_of(f, elf_file_entry(f), &entry));
		elf_file_close(f);
		unlink(path);
		if (others[i])
			copy(others[i], path);
		cr_expect_not(function_starts_find(b, entry, &begin));
		function_starts_free(b);
		unlink(path);
		free(path);
	}
	rmdir(dir);
}
