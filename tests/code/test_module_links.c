/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What relocations say of code that is not linked. It is assembled here; skipped without an assembler for x86_64. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "code/module_links.h"
#include "elf/elf_file.h"
#include "elf/elf_relocate.h"

static const char source[] = ".text\n"
			     "call outside\n"            /* 0, 5 bytes */
			     "lea text+4(%rip), %rax\n"  /* 5, 7 bytes */
			     "mov there+8(%rip), %eax\n" /* 12, 6 bytes */
			     "nop\n"                     /* 18 */
			     "mov $text, %rax\n"         /* 19, 7 bytes */
			     ".section .rodata\n"
			     ".long 1\n"
			     "text: .long 2, 3\n";

static const struct {
	uint64_t at;
	size_t n;
	const char *is; /* NULL: nothing */
} cases[] = { { 0, 5, "outside" },   { 5, 7, ".rodata+0x8" },     { 12, 6, "there+0x8" },
	      { 18, 1, NULL },       { 19, 7, ".rodata+0x4" },    { 0, 1, NULL },
	      { 1000000, 16, NULL }, { UINT64_MAX / 2, 16, NULL } };

Test(module_links, names_what_is_filled_in)
{
	char path[] = "/tmp/proftop-links-XXXXXX";
	int fd = mkstemp(path);
	char *command = xasprintf("test $(uname -m) = x86_64 && as -o %s - 2>/dev/null", path);
	FILE *as = popen(command, "w");
	struct elf_file *f = NULL;
	struct module_links *l;
	uint64_t base;

	free(command);
	close(fd);
	if (!as || fputs(source, as) < 0 || pclose(as) != 0) {
		unlink(path);
		cr_skip_test("no assembler for x86_64");
		return;
	}
	cr_assert_eq(elf_file_open(path, &f, NULL), 0);
	base = elf_relocate_base(f, elf_file_section(f, ".text"));
	l = module_links_new(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = module_links_name(l, base + cases[i].at, cases[i].n);

		cr_expect(cases[i].is && name ? strcmp(name, cases[i].is) == 0
					      : !cases[i].is && !name,
			  "case %zu: %s", i, name ? name : "nothing");
		free(name);
	}
	module_links_free(l);
	elf_file_close(f);
	unlink(path);
}
