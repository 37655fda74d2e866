/* SPDX-License-Identifier: GPL-3.0-or-later */
/* doc/keys.md says what the table of actions says. UPDATE_DOCS=1 rewrites it in the source tree. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/contract/keymap.h"

Test(keys_doc, is_current)
{
	const char *srcdir = getenv("srcdir");
	char path[4096], *want = NULL, *got;
	size_t n;
	FILE *f = open_memstream(&want, &n);

	keymap_write_markdown(f);
	fclose(f);
	cr_assert_gt(n, 0);
	snprintf(path, sizeof(path), "%s/doc/keys.md", srcdir ? srcdir : ".");
	if (getenv("UPDATE_DOCS")) {
		f = fopen(path, "w");
		cr_assert(f);
		cr_assert_eq(fwrite(want, 1, n, f), n);
		fclose(f);
	}
	got = calloc(1, n + 2);
	f = fopen(path, "r");
	cr_assert(f, "%s cannot be read", path);
	cr_expect_eq(fread(got, 1, n + 1, f), n, "%s is not current: UPDATE_DOCS=1 make check",
		     path);
	fclose(f);
	cr_expect(!strcmp(got, want), "%s is not current: UPDATE_DOCS=1 make check", path);
	free(got);
	free(want);
}
