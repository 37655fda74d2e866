/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The directory of indexes; see index_cache.h. All is done below its descriptor, so that no link leads elsewhere. */
#include "config.h"

#include "cli/load/index_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/mem.h"

#define MOST_BYTES    (UINT64_C(2) << 30)
#define SHARE_OF_FREE 20
#define FILE_END      ".index"
#define TEMPORARY_END ".new"
/* What is younger may still be written. */
#define YOUNG_S       3600
/* Files of the directory that are looked at. */
#define MOST_FILES    65536

struct cached {
	char *name; /* owned */
	uint64_t n_bytes;
	struct timespec used;
};

typedef VEC(struct cached) cached_files;

/* Is it of this user, and does nobody else write to it? */
static bool is_own(const struct stat *st)
{
	return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A directory of another one, which is made where it is missing; -1. */
static int enter(int parent, const char *name)
{
	if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
		return -1;
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Where caches are: what is above proftop's own may well be a link. */
static int open_caches(void)
{
	static const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path;
	int fd;

	if (base && base[0] == '/') {
		mkdir(base, 0700);
		return open(base, flags);
	}
	if (!home || home[0] != '/')
		return -1;
	path = xasprintf("%s/.cache", home);
	mkdir(path, 0700);
	fd = open(path, flags);
	free(path);
	return fd;
}

int index_cache_open(void)
{
	int caches = open_caches(), dir = caches < 0 ? -1 : enter(caches, "proftop");
	struct stat st;

	if (caches >= 0)
		close(caches);
	if (dir >= 0 && (fstat(dir, &st) != 0 || !is_own(&st))) {
		close(dir);
		dir = -1;
	}
	return dir;
}

int index_cache_find(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_own(&st))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void index_cache_remove(int dir, const char *name)
{
	unlinkat(dir, name, 0);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && strcmp(name + n - m, end) == 0;
}

/* What was begun by one that was killed goes. */
static void remove_old(int dir, const char *name, const struct stat *st)
{
	if (ends_with(name, TEMPORARY_END) && time(NULL) - st->st_mtim.tv_sec > YOUNG_S)
		unlinkat(dir, name, 0);
}

static void list(int dir, cached_files *out)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;

	while (d && out->n < MOST_FILES && (e = readdir(d))) {
		struct stat st;

		if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (ends_with(e->d_name, FILE_END))
			vec_push(out, ((struct cached){ xstrdup(e->d_name), (uint64_t)st.st_size,
							st.st_mtim }));
		else
			remove_old(dir, e->d_name, &st);
	}
	if (d)
		closedir(d);
	else if (again >= 0)
		close(again);
}

static void cached_done(cached_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->at[i].name);
	vec_done(files);
}

static uint64_t sum_of(const cached_files *files)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < files->n; i++)
		sum += files->at[i].n_bytes;
	return sum;
}

static uint64_t most_beside(int dir, uint64_t have)
{
	struct statvfs v;
	uint64_t share;

	if (fstatvfs(dir, &v) != 0)
		return 0;
	share = ((uint64_t)v.f_bavail * v.f_frsize + have) / SHARE_OF_FREE;
	return share < MOST_BYTES ? share : MOST_BYTES;
}

uint64_t index_cache_most(int dir)
{
	cached_files files = { 0 };
	uint64_t most;

	list(dir, &files);
	most = most_beside(dir, sum_of(&files));
	cached_done(&files);
	return most;
}

static int newest_first(const void *x, const void *y)
{
	const struct cached *a = x, *b = y;

	return COMPARE(b->used.tv_sec, a->used.tv_sec) ?: COMPARE(b->used.tv_nsec, a->used.tv_nsec);
}

static void trim(int dir)
{
	cached_files files = { 0 };
	uint64_t sum = 0, most;

	list(dir, &files);
	most = most_beside(dir, sum_of(&files));
	if (files.n > 0)
		qsort(files.at, files.n, sizeof(*files.at), newest_first);
	for (size_t i = 0; i < files.n; i++) {
		sum += files.at[i].n_bytes;
		if (sum > most)
			unlinkat(dir, files.at[i].name, 0);
	}
	cached_done(&files);
}

FILE *index_cache_begin(int dir, const char *name, char **temporary)
{
	static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char *path = xasprintf("%s.%ld" TEMPORARY_END, name, (long)getpid());
	int fd = openat(dir, path, flags, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "we");

	if (f) {
		*temporary = path;
		return f;
	}
	if (fd >= 0) {
		close(fd);
		unlinkat(dir, path, 0);
	}
	free(path);
	return NULL;
}

void index_cache_end(int dir, const char *name, FILE *f, char *temporary, bool keep)
{
	keep = fclose(f) == 0 && keep;
	if (!keep || renameat(dir, temporary, dir, name) != 0)
		unlinkat(dir, temporary, 0);
	free(temporary);
	if (keep)
		trim(dir);
}
