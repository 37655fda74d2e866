/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A directory recording has a file data, and beside it only what belongs to one; other directories are left alone. */
#include "config.h"

#include "cli/record/output_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/options/message.h"
#include "input/dir_parts.h"

struct record_move {
	char *path, *old; /* from where to where; owned */
	char *aside;      /* where what was there is until all is known; NULL: nothing was; owned */
};

static void drop(struct record_move *m)
{
	free(m->path);
	free(m->old);
	free(m->aside);
}

char *output_path_absolute(const char *path)
{
	char directory[PATH_MAX];

	if (*path == '/' || !getcwd(directory, sizeof(directory)))
		return xstrdup(path);
	return xasprintf("%s/%s", directory, path);
}

static bool is_part(int dir, const char *name)
{
	struct stat st;

	return (strcmp(name, "data") == 0 || dir_parts_name(DIR_PARTS_RECORDS, name, NULL) ||
		dir_parts_name(DIR_PARTS_HEAPS, name, NULL)) &&
	       fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* The directory, open, if it is a recording; the caller closes. */
static DIR *open_recording(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	bool good = d && is_part(fd, "data");

	while (good && (entry = readdir(d)))
		good = is_dots(entry->d_name) || is_part(fd, entry->d_name);
	if (good) {
		rewinddir(d);
		return d;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return NULL;
}

bool output_path_remove(const char *directory)
{
	DIR *d = open_recording(directory);
	const struct dirent *entry;

	if (!d)
		return false;
	while ((entry = readdir(d)))
		if (!is_dots(entry->d_name))
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	return rmdir(directory) == 0;
}

/* Is it what a recording may take the place of: a file, or a recording that is a directory? */
static bool is_replaceable(const char *path, const struct stat *st)
{
	DIR *d = S_ISDIR(st->st_mode) ? open_recording(path) : NULL;

	if (d)
		closedir(d);
	return d || S_ISREG(st->st_mode);
}

static void say_stuck(const char *path)
{
	message("%s is there already and cannot be moved out of the way", path);
}

/* What there is of path before its last component, or before the one with the first percent sign; the caller frees. */
static char *known_directory(const char *path)
{
	size_t n = strcspn(path, "%");

	while (n > 0 && path[n - 1] != '/')
		n--;
	return n > 0 ? xstrndup(path, n) : xstrdup(".");
}

/* A file of one page is made and goes again: so a full disk, and one where nobody may write, are found as well. 0 or errno. */
static int try_out(const char *directory)
{
	char *trial = xasprintf("%s/.proftop-XXXXXX", directory);
	uint8_t page[4096] = { 0 };
	int fd = mkostemp(trial, O_CLOEXEC), why = fd < 0 ? errno : 0;
	ssize_t n;

	if (fd >= 0) {
		unlink(trial);
		n = write(fd, page, sizeof(page));
		if (n != (ssize_t)sizeof(page))
			why = n < 0 ? errno : ENOSPC;
		close(fd);
	}
	free(trial);
	return why;
}

bool output_path_check(const char *path)
{
	struct stat st;
	char *directory = known_directory(path ? path : "");
	bool stuck = path && !strchr(path, '%') && lstat(path, &st) == 0 &&
		     !is_replaceable(path, &st);
	int why = stuck ? EEXIST : try_out(directory);

	if (stuck)
		say_stuck(path);
	else if (why == ENOENT && access(directory, F_OK) != 0)
		message("%s: there is no directory %s", path ? path : "a recording", directory);
	else if (why)
		message("%s: nothing can be written to %s: %s", path ? path : "a recording",
			directory, strerror(why));
	free(directory);
	return why == 0;
}

/* Makes something for rename(2) to replace by what is at old: a file, or a directory for a directory recording. */
static bool make_like(char *template, const char *old, const struct stat *st)
{
	int fd;

	if (S_ISDIR(st->st_mode))
		return is_replaceable(old, st) && mkdtemp(template);
	fd = mkostemp(template, O_CLOEXEC);
	return fd >= 0 && close(fd) == 0;
}

/* Moves what is there to a name that nothing had; NULL: there is nothing, or it stays. The caller frees. */
static char *put_aside(const char *old)
{
	char *aside = xasprintf("%s.XXXXXX", old);
	struct stat st;

	if (lstat(old, &st) == 0 && make_like(aside, old, &st)) {
		if (rename(old, aside) == 0)
			return aside;
		remove(aside);
	}
	free(aside);
	return NULL;
}

static void remove_aside(const char *aside)
{
	if (!output_path_remove(aside))
		unlink(aside);
}

bool output_path_move(struct output_path *p, const char *path)
{
	struct record_move m = { .path = xstrdup(path), .old = xasprintf("%s.old", path) };

	/* A recording that is refused yet is not to cost what was kept before. */
	m.aside = put_aside(m.old);
	if (rename(m.path, m.old) == 0) {
		vec_push(p, m);
		return true;
	}
	if (m.aside)
		(void)!rename(m.aside, m.old);
	drop(&m);
	return false;
}

bool output_path_clear(struct output_path *p, const char *path)
{
	struct stat st;

	if (strchr(path, '%') || lstat(path, &st))
		return true;
	if (is_replaceable(path, &st) && output_path_move(p, path))
		return true;
	say_stuck(path);
	return false;
}

static void done(struct output_path *p)
{
	for (size_t i = 0; i < p->n; i++)
		drop(&p->at[i]);
	vec_done(p);
}

void output_path_keep(struct output_path *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].aside)
			remove_aside(p->at[i].aside);
	done(p);
}

void output_path_undo(struct output_path *p)
{
	for (size_t i = p->n; i-- > 0;) {
		const struct record_move *m = &p->at[i];

		/* What came to be there meanwhile stays. */
		if (access(m->path, F_OK) == 0 || rename(m->old, m->path) != 0) {
			if (m->aside)
				remove_aside(m->aside);
		} else if (m->aside) {
			(void)!rename(m->aside, m->old);
		}
	}
	done(p);
}
