/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/golden.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1 << 20)

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	size_t n;

	cr_assert_not_null(f, "%s", path);
	text = xcalloc(1, MOST_BYTES);
	n = fread(text, 1, MOST_BYTES - 1, f);
	cr_assert_lt(n, MOST_BYTES - 1);
	fclose(f);
	return text;
}

/* Where the first lines end, which is where the dashes begin. */
static char *dashes(char *text, const char *path)
{
	char *at = text;

	while (strncmp(at, "---\n", 4) != 0) {
		at = strchr(at, '\n');
		cr_assert_not_null(at, "%s: no dashes", path);
		at++;
	}
	return at;
}

static void check_file(const char *path, char *(*play)(const char *, const char *, void *),
		       void *arg)
{
	const char *make = getenv("PROFTOP_MAKE_SCREENS");
	char *text = read_all(path), *seen = dashes(text, path), *out;
	FILE *f;

	*seen = '\0';
	seen += 4;
	out = play(path, text, arg);
	if (!make || !*make) {
		cr_expect_str_eq(seen, out, "%s: got\n%s", path, out);
	} else if (strcmp(seen, out) != 0) {
		f = fopen(path, "w");
		cr_assert_not_null(f);
		fprintf(f, "%s---\n%s", text, out);
		cr_assert_eq(fclose(f), 0);
	}
	free(text);
	free(out);
}

unsigned golden_files(const char *dir,
		      char *(*play)(const char *path, const char *script, void *arg), void *arg)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	unsigned n = 0;

	cr_assert_not_null(d, "%s", dir);
	while ((entry = readdir(d))) {
		const char *dot = strrchr(entry->d_name, '.');
		char *path;

		if (!dot || strcmp(dot, ".txt") != 0)
			continue;
		path = xasprintf("%s/%s", dir, entry->d_name);
		check_file(path, play, arg);
		free(path);
		n++;
	}
	closedir(d);
	return n;
}

bool golden_line(const char **script, char *line, size_t size, char **value)
{
	size_t n = strcspn(*script, "\n");

	if (n == 0)
		return false;
	cr_assert_lt(n, size);
	memcpy(line, *script, n);
	line[n] = '\0';
	*script += n + ((*script)[n] == '\n');
	*value = line + strcspn(line, " ");
	if (**value)
		*(*value)++ = '\0';
	return true;
}
