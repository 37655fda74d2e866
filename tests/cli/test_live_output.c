/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command writes beside a live view is bounded on disk whenever it writes, and printed at the end. */
#include "config.h"

#include "cli/live/live_output.h"
#include "tests/support/others_rest.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES     20000
#define LINE_TEXT "one of many lines, as long as the others\n"
#define KEPT \
	(128 \
	 << 10) /* bytes on disk: the first part, the last one, and what was written since it was looked at */

static off_t on_disk(const struct live_output *o)
{
	struct stat st;

	cr_assert_eq(fstat(live_output_fd(o), &st), 0);
	return st.st_blocks * 512;
}

static void write_much(const struct live_output *o)
{
	for (int i = 0; i < LINES; i++)
		cr_assert_gt(write(live_output_fd(o), LINE_TEXT, strlen(LINE_TEXT)), 0);
}

Test(live_output, drops_the_middle_whenever_it_is_written, .timeout = 60)
{
	struct live_output *o = live_output_new("output", NULL);
	off_t most = 2 * LINES * (off_t)strlen(LINE_TEXT);
	char *text = NULL;
	size_t n = 0;
	FILE *out;

	cr_assert_not_null(o);
	live_output_bound(o);
	/* The second time whoever drops has slept before. */
	for (int i = 0; i < 2; i++) {
		write_much(o);
		for (int tries = 0; tries < 500 && on_disk(o) > KEPT; tries++)
			poll(NULL, 0, 20);
		if (on_disk(o) >= most / 2)
			cr_skip_test("this file system knows no holes");
		cr_assert_leq(on_disk(o), KEPT);
	}
	out = open_memstream(&text, &n);
	live_output_print(o, out, NULL);
	fclose(out);
	live_output_free(o);
	cr_assert_gt(n, 60 << 10);
	cr_assert_leq(n, 64 << 10);
	for (size_t at = 0; at < n; at += strlen(LINE_TEXT))
		cr_assert_eq(memcmp(text + at, LINE_TEXT, strlen(LINE_TEXT)), 0);
	free(text);
}

Test(live_output, comes_to_rest_while_nothing_is_written, .timeout = 60)
{
	struct live_output *o = live_output_new("output", NULL);

	cr_assert_not_null(o);
	live_output_bound(o);
	cr_assert(others_rest());
	live_output_free(o);
}
