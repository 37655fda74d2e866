/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file is whole or not there. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/options/output.h"

static char dir[] = "/tmp/proftop-output-XXXXXX";

static void make_dir(void)
{
	cr_assert(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void remove_dir(void)
{
	unlink("x");
	unlink("link");
	unlink("new");
	cr_expect_eq(rmdir(dir), 0, "something was left behind");
}

TestSuite(output, .init = make_dir, .fini = remove_dir);

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert(f);
	fputs(text, f);
	fclose(f);
}

static void expect_content(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	cr_assert(f, "%s", path);
	cr_expect_leq(fread(got, 1, sizeof(got) - 1, f), sizeof(got));
	fclose(f);
	cr_expect_str_eq(got, text);
}

Test(output, appears_when_closed)
{
	struct err e = ERR_INIT;
	struct output o;

	cr_assert_eq(output_open(&o, "x", &e), 0);
	fputs("new", o.to);
	fflush(o.to);
	cr_expect_neq(access("x", F_OK), 0, "the file is there before it is complete");
	cr_assert_eq(output_close(&o, true, &e), 0);
	expect_content("x", "new");
}

Test(output, leaves_the_old_file_when_given_up)
{
	struct err e = ERR_INIT;
	struct output o;

	put("x", "old");
	cr_assert_eq(output_open(&o, "x", &e), 0);
	fputs("half", o.to);
	cr_assert_eq(output_close(&o, false, &e), 0);
	expect_content("x", "old");
}

Test(output, keeps_mode_and_link)
{
	struct err e = ERR_INIT;
	struct output o;
	struct stat st;

	put("x", "old");
	cr_assert_eq(chmod("x", 0640), 0);
	cr_assert_eq(symlink("x", "link"), 0);
	cr_assert_eq(output_open(&o, "link", &e), 0);
	fputs("new", o.to);
	cr_assert_eq(output_close(&o, true, &e), 0);
	expect_content("x", "new");
	cr_assert_eq(lstat("link", &st), 0);
	cr_expect(S_ISLNK(st.st_mode));
	cr_assert_eq(stat("x", &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
}

/* New files are as this user wants them; this process is of this test alone. */
Test(output, new_files_have_the_usual_mode)
{
	struct err e = ERR_INIT;
	struct output o;
	struct stat st;

	umask(027);
	cr_assert_eq(output_open(&o, "new", &e), 0);
	cr_assert_eq(output_close(&o, true, &e), 0);
	cr_assert_eq(stat("new", &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
}

Test(output, says_when_the_disk_is_full)
{
	struct err e = ERR_INIT;
	struct output o;

	cr_assert_eq(output_open(&o, "/dev/full", &e), 0);
	fputs("text", o.to);
	cr_expect_eq(output_close(&o, true, &e), -ENOSPC);
	cr_expect(strstr(err_text(&e), "/dev/full: could not be written whole"), "%s",
		  err_text(&e));
	err_clear(&e);
}

Test(output, refuses_what_is_no_place)
{
	static const char *const paths[] = { "/nonexistent/x", "." };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct err e = ERR_INIT;
		struct output o;

		cr_expect_lt(output_open(&o, paths[i], &e), 0);
		cr_expect(strstr(err_text(&e), paths[i]), "%s", err_text(&e));
		err_clear(&e);
		cr_expect_lt(output_check(paths[i], &e), 0);
		cr_expect(strstr(err_text(&e), paths[i]), "%s", err_text(&e));
		err_clear(&e);
	}
}

Test(output, checks_without_a_trace)
{
	struct err e = ERR_INIT;

	put("x", "old");
	cr_expect_eq(output_check("x", &e), 0);
	expect_content("x", "old");
	cr_expect_eq(output_check("y", &e), 0);
	cr_expect_neq(access("y", F_OK), 0);
	cr_expect_eq(output_check("/dev/full", &e), 0);
	cr_expect_eq(output_check("-", &e), 0);
	cr_expect_eq(output_check(NULL, &e), 0);
}
