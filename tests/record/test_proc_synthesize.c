/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the kernel's code begins, as its list of symbols says. */
#include "config.h"

#include "record/cpu/proc_synthesize.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

Test(proc_synthesize, the_kernel_begins_at_one_of_two_symbols)
{
	static const struct {
		const char *kallsyms;
		uint64_t address;
		const char *name;
	} cases[] = {
		/* x86_64 */
		{ "ffffffff9c000000 T startup_64\nffffffff9c000000 T _stext\nffffffff9c000000 T _text\n"
		  "ffffffff9c000040 T secondary_startup_64\n",
		  0xffffffff9c000000, "_text" },
		/* arm64, Linux 6.1 */
		{ "ffffd281f8610000 t gic_handle_irq\nffffd281f8610000 T _stext\n"
		  "ffffd281f8610000 T __irqentry_text_start\nffffd281f8610090 t gic_handle_irq\n",
		  0xffffd281f8610000, "_stext" },
		/* The one that perf looks for first, wherever it stands. */
		{ "ffff800008010000 T _stext\nffff800008000000 T _text\n", 0xffff800008000000,
		  "_text" },
		/* hidden */
		{ "0000000000000000 T _stext\n0000000000000000 T _text\n", 0, "_stext" },
		{ "", 0, "_stext" },
	};
	const char *name;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/proftop-kallsyms.%d", (int)getpid());
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *f = fopen(path, "w");

		cr_assert(f && fputs(cases[i].kallsyms, f) >= 0);
		fclose(f);
		cr_expect_eq(proc_synthesize_text(path, &name), cases[i].address, "case %zu", i);
		cr_expect_str_eq(name, cases[i].name, "case %zu", i);
	}
	unlink(path);
	cr_expect_eq(proc_synthesize_text(path, &name), 0);
}
