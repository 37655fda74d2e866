/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Anybody may write to /tmp: nothing is touched but directories of this user, and no link is followed. */
#include "config.h"

#include "cli/options/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define YOUNG_S    60 /* who makes one locks it within that time */
#define DEPTH_MOST 3  /* of directories in it */

static int open_directory(int parent, const char *name)
{
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void empty(int fd, int depth)
{
	DIR *dir = fdopendir(dup(fd));
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		int below;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
		    unlinkat(fd, d->d_name, 0) == 0 || depth == DEPTH_MOST)
			continue;
		below = open_directory(fd, d->d_name);
		if (below < 0)
			continue;
		empty(below, depth + 1);
		close(below);
		unlinkat(fd, d->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

/* Takes one away that is nobody's any more. */
static void look_at(int parent, const char *name)
{
	int fd = open_directory(parent, name);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && time(NULL) - st.st_mtime > YOUNG_S &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		empty(fd, 0);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(fd);
}

/* As mkdtemp() names them: what else begins so is somebody's own. */
static bool is_ours(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 && strlen(name) == n + 6;
}

static void sweep(const char *parent, const char *prefix)
{
	DIR *dir = opendir(parent);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (is_ours(d->d_name, prefix))
			look_at(dirfd(dir), d->d_name);
	if (dir)
		closedir(dir);
}

int scratch_make(struct scratch *s, const char *parent, const char *prefix, struct err *e)
{
	int why;

	sweep(parent, prefix);
	s->fd = -1;
	s->path = xasprintf("%s/%sXXXXXX", parent, prefix);
	if (!mkdtemp(s->path)) {
		why = errno;
		free(s->path);
		s->path = NULL;
		return err_set(e, -why, "no place for a recording in %s: %s", parent,
			       strerror(why));
	}
	s->fd = open_directory(AT_FDCWD, s->path);
	if (s->fd >= 0)
		flock(s->fd, LOCK_EX | LOCK_NB);
	return 0;
}

void scratch_remove(struct scratch *s)
{
	if (!s->path)
		return;
	if (s->fd >= 0) {
		empty(s->fd, 0);
		close(s->fd);
	}
	rmdir(s->path);
	free(s->path);
	s->path = NULL;
}
