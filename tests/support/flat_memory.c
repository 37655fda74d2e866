/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/flat_memory.h"

#include "tests/support/limits_work.h"

#include <criterion/criterion.h>
#include <stdio.h>

uint64_t flat_most_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[256];

	cr_assert_not_null(f);
	while (kb == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu", &kb) != 1)
			kb = 0;
	fclose(f);
	/* Where that may not be written, it is the most ever: nothing then looks smaller than it is. */
	f = fopen("/proc/self/clear_refs", "w");
	if (f) {
		fputs("5\n", f);
		fclose(f);
	}
	return kb * 1024;
}

void flat_expect(uint64_t before, uint64_t after, unsigned part, const char *what)
{
	/* Sanitizers keep for a while what was given back. */
	if (!LIMITS_WORK)
		return;
	cr_expect_leq(after, before + before / part + (1u << 20), "%s: %lu, then %lu bytes", what,
		      (unsigned long)before, (unsigned long)after);
}
