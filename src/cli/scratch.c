/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Anybody may write to /tmp: nothing is touched but directories of this user, and no link is followed. */
#include "config.h"

#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

#define PARENT  "/tmp"
#define PREFIX  "proftop-record-"
#define YOUNG_S 60 /* who makes one locks it within that time */

static void empty(int fd)
{
	DIR *dir = fdopendir(dup(fd));
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			unlinkat(fd, d->d_name, 0);
	if (dir)
		closedir(dir);
}

/* Takes one away that is nobody's any more. */
static void look_at(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && time(NULL) - st.st_mtime > YOUNG_S &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		empty(fd);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(fd);
}

static void sweep(void)
{
	DIR *dir = opendir(PARENT);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (strncmp(d->d_name, PREFIX, sizeof(PREFIX) - 1) == 0)
			look_at(dirfd(dir), d->d_name);
	if (dir)
		closedir(dir);
}

bool scratch_make(struct scratch *s)
{
	sweep();
	strcpy(s->path, PARENT "/" PREFIX "XXXXXX");
	if (!mkdtemp(s->path)) {
		say("%s: %s", s->path, strerror(errno));
		*s->path = '\0';
		return false;
	}
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd >= 0)
		flock(s->fd, LOCK_EX | LOCK_NB);
	return true;
}

void scratch_remove(struct scratch *s)
{
	if (!*s->path)
		return;
	if (s->fd >= 0) {
		empty(s->fd);
		close(s->fd);
	}
	rmdir(s->path);
	*s->path = '\0';
}
