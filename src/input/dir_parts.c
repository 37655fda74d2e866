/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The further files of a directory recording; see dir_parts.h. */
#include "config.h"

#include "input/dir_parts.h"

#include "base/err.h"
#include "input/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PARTS_MAX  65536u /* one for each cpu at most */
#define FIRST_HEAP "data.heap"

/* "data.N", N as perf writes it, or "data.N.heap", N from 2 on, or "data.heap". */
bool dir_parts_name(enum dir_parts_kind kind, const char *name, uint32_t *number)
{
	bool heap = kind == DIR_PARTS_HEAPS;
	unsigned long n = 1;
	char *end;

	if (!heap || strcmp(name, FIRST_HEAP) != 0) {
		if (strncmp(name, "data.", 5) != 0 || name[5] < '0' || name[5] > '9' ||
		    (name[5] == '0' && name[6] != '\0'))
			return false;
		errno = 0;
		n = strtoul(name + 5, &end, 10);
		if (errno != 0 || strcmp(end, heap ? ".heap" : "") != 0 || n >= UINT32_MAX ||
		    (heap && n < 2))
			return false;
	}
	if (number)
		*number = (uint32_t)n;
	return true;
}

static int by_number(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void dir_parts_find(struct dir_parts *p, enum dir_parts_kind kind, const char *dir)
{
	DIR *d = dir ? opendir(dir) : NULL;
	const struct dirent *entry;
	struct stat st;
	uint32_t number;

	p->kind = kind;
	if (!d)
		return;
	p->dir = xstrdup(dir);
	while ((entry = readdir(d)) && p->number.n < PARTS_MAX) {
		if (!dir_parts_name(kind, entry->d_name, &number) ||
		    fstatat(dirfd(d), entry->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode))
			continue;
		vec_push(&p->number, number);
		p->n_bytes += (uint64_t)st.st_size;
	}
	closedir(d);
	if (p->number.n > 0)
		qsort(p->number.at, p->number.n, sizeof(*p->number.at), by_number);
}

void dir_parts_done(struct dir_parts *p)
{
	free(p->dir);
	vec_done(&p->number);
}

char *dir_parts_path(const struct dir_parts *p, size_t i)
{
	unsigned number = (unsigned)p->number.at[i];

	if (p->kind == DIR_PARTS_RECORDS)
		return xasprintf("%s/data.%u", p->dir, number);
	if (number == 1)
		return xasprintf("%s/" FIRST_HEAP, p->dir);
	return xasprintf("%s/data.%u.heap", p->dir, number);
}

int dir_parts_open(const struct dir_parts *p, size_t i, struct input **out, struct err *e)
{
	char *path = dir_parts_path(p, i);
	int rc = input_open(path, out, e);

	free(path);
	return rc;
}
