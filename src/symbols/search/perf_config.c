/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Config files of perf: "[section]" and "key = value" lines; see perf_config.h. */
#include "config.h"

#include "symbols/search/perf_config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/consulted_files.h"
#include "base/mem.h"

#define SYSTEM_PATH "/etc/perfconfig"
#define BYTES_MAX   65536 /* of a file */
#define BLANKS      " \t\r"

/* [s, s + *n) without blanks around it. */
static const char *trim(const char *s, size_t *n)
{
	while (*n > 0 && strchr(BLANKS, s[*n - 1]))
		--*n;
	while (*n > 0 && strchr(BLANKS, *s)) {
		s++;
		--*n;
	}
	return s;
}

static bool is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(s, word, n) == 0;
}

/* A value without quotes and what is said about it, with ~/ for the home. */
static char *value_of(const char *s, size_t n, const char *home)
{
	bool quoted = n > 0 && *s == '"';
	const char *end = s + n;

	s += quoted;
	n = (size_t)(end - s);
	for (size_t i = 0; i < n; i++)
		if (quoted ? s[i] == '"' : strchr("#;", s[i]) != NULL)
			n = i;
	s = trim(s, &n);
	if (n > 1 && s[0] == '~' && s[1] == '/' && home)
		return xasprintf("%s%.*s", home, (int)n - 1, s + 1);
	return n > 0 ? xstrndup(s, n) : NULL;
}

/* buildid.dir in a line; wanted says whether its section is [buildid]. NULL: another line. */
static char *take_line(const char *s, size_t n, bool *wanted, const char *home)
{
	const char *equals, *key;
	size_t key_n;

	s = trim(s, &n);
	if (n > 0 && *s == '[') {
		const char *end = memchr(s, ']', n);
		size_t name_n = end ? (size_t)(end - s) - 1 : 0;
		const char *name = trim(s + 1, &name_n);

		*wanted = is(name, name_n, "buildid");
		return NULL;
	}
	equals = *wanted ? memchr(s, '=', n) : NULL;
	if (!equals)
		return NULL;
	key_n = (size_t)(equals - s);
	key = trim(s, &key_n);
	if (!is(key, key_n, "dir"))
		return NULL;
	n -= (size_t)(equals + 1 - s);
	s = trim(equals + 1, &n);
	return value_of(s, n, home);
}

/* What a file says last; before where it says nothing. */
static char *take_file(const char *path, const char *home, struct consulted_files *c, char *before)
{
	bool wanted = false;
	char *bytes;
	size_t n;
	FILE *f;

	consulted_files_note(c, path);
	f = fopen(path, "re");
	bytes = f ? xmalloc(BYTES_MAX) : NULL;
	n = f ? fread(bytes, 1, BYTES_MAX, f) : 0;

	for (size_t at = 0; at < n;) {
		const char *end = memchr(bytes + at, '\n', n - at);
		size_t line_n = end ? (size_t)(end - bytes) - at : n - at;
		char *found = take_line(bytes + at, line_n, &wanted, home);

		if (found) {
			free(before);
			before = found;
		}
		at += line_n + 1;
	}
	free(bytes);
	if (f)
		fclose(f);
	return before;
}

char *perf_config_buildid_dir(const char *home, struct consulted_files *c)
{
	const char *only = getenv("PERF_CONFIG");
	char *dir = take_file(only ? only : SYSTEM_PATH, home, c, NULL), *own;

	if (!only && home) {
		own = xasprintf("%s/.perfconfig", home);
		dir = take_file(own, home, c, dir);
		free(own);
	}
	if (!dir && home)
		dir = xasprintf("%s/.debug", home);
	return dir;
}
