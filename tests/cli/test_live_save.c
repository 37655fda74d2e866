/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison within a live recording is saved as: its samples, and how to compare the same of them. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "cli/load/live_save.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/diff/comparison.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/proftop-live-save-XXXXXX";

static void enter(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void leave(void)
{
	cr_assert_eq(chdir("/"), 0);
	rmdir(dir);
}

/* Ten samples, one a second from 100 s on; that of second 100 is of another function. */
static struct profile *ten_seconds(void)
{
	char text[1024] = "";
	size_t n = 0;

	for (int i = 0; i < 10; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s 1000000 event=ns:cpu-clock t=%d000000000\n",
				      i ? "work" : "begin", 100 + i);
	return made_profile(text);
}

/* Saves what a filter lets pass of the comparison of two stretches; what is said, and how many samples the file has. */
static void expect_saved(const char *filter, const char *asks, int n_samples)
{
	struct profile *p = ten_seconds();
	struct comparison_choice choice = { .event = "cpu-clock",
					    .metric = "",
					    .normalise = NORMALISE_TIME };
	struct comparison sides = { 0 };
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	char *said, *path, line[256];
	int n = 0;
	FILE *f;

	made_lens(&lens, p, filter);
	comparison_add(&sides, SIDE_BEFORE, "time:2,5.5", NULL);
	comparison_add(&sides, SIDE_AFTER, "time:5.5,", NULL);
	sides.name[SIDE_BEFORE] = xstrdup("before");
	sides.name[SIDE_AFTER] = xstrdup("since");
	cr_assert_eq(comparison_lens(&sides, p, &choice, &lens, &e), 0, "%s", err_text(&e));
	a = made_analysis(p, &lens);
	cr_assert_eq(live_save(a, &said, &e), 0, "%s", err_text(&e));
	path = strstr(said, "proftop-live-");
	cr_assert_not_null(path);
	cr_expect_eq(strncmp(said, asks, strlen(asks)), 0, "%s", said);
	cr_expect_eq((size_t)(path - said), strlen(asks), "%s", said);
	f = fopen(path, "r");
	cr_assert_not_null(f, "%s", path);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "cpu-clock:") != NULL;
	fclose(f);
	cr_expect_eq(n, n_samples, "%d", n);
	unlink(path);
	free(said);
	analysis_free(a);
	lens_done(&lens);
	comparison_done(&sides);
	profile_free(p);
}

Test(live_save, of_a_comparison_says_its_sides, .init = enter, .fini = leave)
{
	expect_saved(
		"",
		"saved: proftop diff --normalise time --a time:2,5.5 --b time:5.5, --event cpu-clock ",
		10);
}

/* Times of the file count from its first sample. */
Test(live_save, of_what_passes_a_filter_begins_with_it, .init = enter, .fini = leave)
{
	expect_saved(
		"!fn:begin",
		"saved: proftop diff --normalise time --a time:1,4.5 --b time:4.5, --event cpu-clock ",
		9);
}

/* A file of nothing would be one that cannot be opened. */
Test(live_save, of_nothing_leaves_no_file, .init = enter, .fini = leave)
{
	struct profile *p = ten_seconds();
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	char *said = NULL;

	made_lens(&lens, p, "fn:nowhere");
	a = made_analysis(p, &lens);
	cr_expect_eq(live_save(a, &said, &e), -ENODATA);
	cr_expect_not_null(strstr(err_text(&e), ": there is nothing yet that could be saved"), "%s",
			   err_text(&e));
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
	err_clear(&e);
	cr_expect_eq(chdir("/"), 0);
	cr_expect_eq(rmdir(dir), 0, "something is left in %s", dir);
}
