/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The further files of a directory recording; see perf_parts.h. */
#include "config.h"

#include "perf_parts.h"

#include "err.h"
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PARTS_MAX 65536u /* one for each cpu at most */

/* "data.N", N as perf writes it. */
static bool is_part(const char *name, uint32_t *number)
{
	char *end;
	unsigned long n;

	if (strncmp(name, "data.", 5) != 0 || name[5] < '0' || name[5] > '9' ||
	    (name[5] == '0' && name[6] != '\0'))
		return false;
	errno = 0;
	n = strtoul(name + 5, &end, 10);
	if (errno != 0 || *end != '\0' || n >= UINT32_MAX)
		return false;
	*number = (uint32_t)n;
	return true;
}

static int by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void perf_parts_find(struct perf_parts *p, const char *dir)
{
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *entry;
	struct stat st;
	uint32_t number;

	if (!d)
		return;
	p->dir = xstrdup(dir);
	while ((entry = readdir(d)) && p->number.n < PARTS_MAX) {
		if (!is_part(entry->d_name, &number) ||
		    fstatat(dirfd(d), entry->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
			continue;
		vec_push(&p->number, number);
		p->n_bytes += (uint64_t)st.st_size;
	}
	closedir(d);
	if (p->number.n > 0)
		qsort(p->number.at, p->number.n, sizeof(*p->number.at), by_number);
}

void perf_parts_done(struct perf_parts *p)
{
	free(p->dir);
	vec_done(&p->number);
}

int perf_parts_open(const struct perf_parts *p, size_t i, struct input **out, struct err *e)
{
	char *path = xasprintf("%s/data.%u", p->dir, (unsigned)p->number.at[i]);
	int rc = input_open(path, out, e);

	free(path);
	return rc;
}
