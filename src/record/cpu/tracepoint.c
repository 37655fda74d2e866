/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each is a directory, events/SYSTEM/NAME, with its number in the file id. */
#include "config.h"

#include "record/cpu/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"

const char *tracepoint_directory(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		/* Directories may be open where files are not. */
		char *file = xasprintf("%s/events/header_page", places[i]);
		bool good = access(file, R_OK) == 0;

		free(file);
		if (good)
			return places[i];
	}
	return NULL;
}

const char *tracepoint_why_none(void)
{
	if (access("/sys/kernel/tracing/events", F_OK) == 0 || errno == EACCES)
		return "tracefs is root's; mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing as root lets that "
		       "group see which events there are, and what root traces there";
	return "tracefs is not mounted; mount -t tracefs nodev /sys/kernel/tracing as root makes it known which "
	       "events there are, to root alone";
}

static int no_tracing(const char *text, size_t n, struct err *e)
{
	return err_set(e, -EACCES, "%.*s: %s", (int)n, text, tracepoint_why_none());
}

/* The file with the number, or a pattern of such. The caller frees; NULL: it would lead elsewhere. */
static char *id_path(const char *tracing, const char *text, size_t n)
{
	const char *colon = memchr(text, ':', n);
	size_t system = (size_t)(colon - text);

	if (memchr(text, '/', n) || memchr(colon + 1, ':', n - system - 1) || text[0] == '.' ||
	    colon[1] == '.')
		return NULL;
	return xasprintf("%s/events/%.*s/%.*s/id", tracing, (int)system, text,
			 (int)(n - system - 1), colon + 1);
}

int tracepoint_find(const char *tracing, const char *text, size_t n, uint64_t *id, struct err *e)
{
	char *path, digits[32] = "";
	ssize_t got = -1;
	int fd;

	if (!tracing)
		return no_tracing(text, n, e);
	path = id_path(tracing, text, n);
	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	free(path);
	if (fd >= 0) {
		got = read(fd, digits, sizeof(digits) - 1);
		close(fd);
	}
	if (got <= 0)
		return err_set(e, -ENOENT, "the kernel has no tracepoint %.*s", (int)n, text);
	*id = strtoull(digits, NULL, 10);
	return 0;
}

bool tracepoint_is_pattern(const char *text, size_t n)
{
	return memchr(text, '*', n) || memchr(text, '?', n) || memchr(text, '[', n);
}

/* SYSTEM:NAME of …/SYSTEM/NAME/id. The caller frees. */
static char *name_of(const char *path)
{
	const char *end = strrchr(path, '/'), *name = memrchr(path, '/', (size_t)(end - path));
	const char *system = memrchr(path, '/', (size_t)(name - path));

	return xasprintf("%.*s:%.*s", (int)(name - system - 1), system + 1, (int)(end - name - 1),
			 name + 1);
}

static int64_t count_all(const char *tracing)
{
	char *pattern = xasprintf("%s/events/*/*/id", tracing);
	glob_t found = { 0 };
	int64_t n = glob(pattern, 0, NULL, &found) == 0 ? (int64_t)found.gl_pathc : 0;

	globfree(&found);
	free(pattern);
	return n;
}

int tracepoint_match(const char *tracing, const char *text, size_t n, struct tracepoint_names *out,
		     struct err *e)
{
	char *pattern, all[FMT_SIZE];
	glob_t found = { 0 };
	int rc = 0;

	if (!tracing)
		return no_tracing(text, n, e);
	pattern = id_path(tracing, text, n);
	if (!pattern || glob(pattern, 0, NULL, &found) != 0 || found.gl_pathc == 0)
		rc = err_set(e, -ENOENT, "%.*s matches none of the kernel's %s tracepoints", (int)n,
			     text, fmt_count(all, count_all(tracing)));
	for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
		vec_push(out, name_of(found.gl_pathv[i]));
	globfree(&found);
	free(pattern);
	return rc;
}

void tracepoint_names_done(struct tracepoint_names *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->at[i]);
	vec_done(t);
}
