/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What perf's config files say of its cache. */
#include "config.h"

#include "base/mem.h"
#include "symbols/search/perf_config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *what, *text, *dir; /* "~" is the home */
} files[] = {
	{ "none", "", "~/.debug" },
	{ "a path", "[buildid]\n\tdir = /var/cache/perf\n", "/var/cache/perf" },
	{ "of the home", "[buildid]\ndir=~/cache", "~/cache" },
	{ "another section", "[report]\ndir = /no\n", "~/.debug" },
	{ "a section left", "[buildid]\n[buildid-x]\ndir = /no\n", "~/.debug" },
	{ "another key", "[buildid]\ndirectory = /no\n", "~/.debug" },
	{ "the last counts", "[buildid]\ndir = /a\n[x]\n[BuildID]\n DIR =  /b c \n", "/b c" },
	{ "quotes", "[ buildid ]\ndir = \"/a # b\" ; said\n", "/a # b" },
	{ "remarks", "# [buildid]\n[buildid] # yes\n; dir = /no\ndir = /a # b\r\n", "/a" },
	{ "no value", "[buildid]\ndir =\ndir\n=\n[\n]\n", "~/.debug" },
	{ "no end", "[buildid]\ndir = \"/a", "/a" },
};

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

Test(perf_config, files)
{
	char home[] = "/tmp/proftop-test-XXXXXX", *path, *other;

	cr_assert_not_null(mkdtemp(home));
	path = xasprintf("%s/.perfconfig", home);
	other = xasprintf("%s/other", home);
	unsetenv("PERF_CONFIG");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		bool ours = files[i].dir[0] == '~';
		char *want = xasprintf("%s%s", ours ? home : "", files[i].dir + ours), *got;

		write_file(path, files[i].text);
		/* What the system's file says, if there is one, is said over by the last word. */
		got = perf_config_buildid_dir(home, NULL);
		if (!ours || access("/etc/perfconfig", F_OK) != 0)
			cr_expect_str_eq(got, want, "%s: %s", files[i].what, got);
		free(got);
		free(want);
	}
	write_file(other, "[buildid]\ndir = /other\n");
	setenv("PERF_CONFIG", other, 1);
	for (int i = 0; i < 2; i++) {
		char *got = perf_config_buildid_dir(i ? home : NULL, NULL);

		cr_expect_str_eq(got, "/other");
		free(got);
	}
	unlink(other);
	cr_expect_null(perf_config_buildid_dir(NULL, NULL));
	unlink(path);
	rmdir(home);
	free(path);
	free(other);
}
