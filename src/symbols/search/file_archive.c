/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that came packed together; see file_archive.h. */
#include "config.h"

#include "symbols/search/file_archive.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/tmpfile.h"

#define FILES_MAX 65536u
#define PIECE     ((size_t)1 << 18)

struct member {
	char *name;      /* owned */
	uint64_t offset; /* in the common file */
	uint64_t size;
	char *path; /* of its own file; NULL: not wanted yet; owned */
	int fd;     /* of that file; -1 */
};

struct file_archive {
	pthread_mutex_t lock;    /* guards all that follows */
	char *path;              /* of the pack; owned */
	file_archive_fill *fill; /* NULL once it was called */
	void *arg;               /* for fill */
	int fd;                  /* the common file; -1: none yet */
	uint64_t size;           /* of it */
	VEC(struct member) member;
	struct err trouble; /* see file_archive_trouble() */
};

struct file_archive *file_archive_new(const char *path, file_archive_fill *fill, void *arg)
{
	struct file_archive *a = xcalloc(1, sizeof(*a));

	pthread_mutex_init(&a->lock, NULL);
	a->path = xstrdup(path);
	a->fill = fill;
	a->arg = arg;
	a->fd = -1;
	return a;
}

void file_archive_free(struct file_archive *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->member.n; i++) {
		free(a->member.at[i].name);
		free(a->member.at[i].path);
		if (a->member.at[i].fd >= 0)
			close(a->member.at[i].fd);
	}
	vec_done(&a->member);
	if (a->fd >= 0)
		close(a->fd);
	err_clear(&a->trouble);
	pthread_mutex_destroy(&a->lock);
	free(a->path);
	free(a);
}

int file_archive_begin(struct file_archive *a, const char *name, struct err *e)
{
	struct member m = { .offset = a->size, .fd = -1 };

	if (a->member.n >= FILES_MAX)
		return err_set(e, -EFBIG, "%s holds more than %u files", a->path, FILES_MAX);
	if (a->fd < 0)
		a->fd = tmpfile_open(a->path, e);
	if (a->fd < 0)
		return a->fd;
	m.name = xstrdup(name);
	vec_push(&a->member, m);
	return 0;
}

int file_archive_put(struct file_archive *a, const void *bytes, size_t n, struct err *e)
{
	int rc = tmpfile_write(a->fd, bytes, n);

	if (rc < 0)
		return err_set(e, rc, "%s: cannot be unpacked to a temporary file: %s", a->path,
			       strerror(-rc));
	a->size += n;
	a->member.at[a->member.n - 1].size += n;
	return 0;
}

/* Copies a member to a file of its own. */
static int copy(const struct file_archive *a, const struct member *m, int to)
{
	char *piece = xmalloc(PIECE);
	uint64_t done = 0;
	int rc = 0;

	while (done < m->size && rc == 0) {
		size_t want = m->size - done < PIECE ? (size_t)(m->size - done) : PIECE;
		ssize_t got = pread(a->fd, piece, want, (off_t)(m->offset + done));

		if (got == 0 || (got < 0 && errno != EINTR))
			rc = -EIO;
		if (got > 0) {
			rc = tmpfile_write(to, piece, (size_t)got);
			done += (uint64_t)got;
		}
	}
	free(piece);
	return rc;
}

static void give_out(struct file_archive *a, struct member *m)
{
	int fd = tmpfile_open(a->path, a->trouble.code ? NULL : &a->trouble);

	if (fd < 0)
		return;
	if (copy(a, m, fd) < 0) {
		close(fd);
		return;
	}
	m->fd = fd;
	m->path = xasprintf("/proc/self/fd/%d", fd);
}

const char *file_archive_find(struct file_archive *a, const char *name)
{
	const char *path = NULL;
	file_archive_fill *fill;

	pthread_mutex_lock(&a->lock);
	fill = a->fill;
	a->fill = NULL;
	if (fill)
		fill(a, a->arg, &a->trouble);
	for (size_t i = 0; i < a->member.n && !path; i++) {
		if (strcmp(a->member.at[i].name, name) != 0)
			continue;
		if (!a->member.at[i].path)
			give_out(a, &a->member.at[i]);
		path = a->member.at[i].path;
	}
	pthread_mutex_unlock(&a->lock);
	return path;
}

const char *file_archive_path(const struct file_archive *a)
{
	return a->path;
}

size_t file_archive_n(struct file_archive *a)
{
	size_t n;

	pthread_mutex_lock(&a->lock);
	n = a->member.n;
	pthread_mutex_unlock(&a->lock);
	return n;
}

const char *file_archive_trouble(struct file_archive *a)
{
	const char *text;

	pthread_mutex_lock(&a->lock);
	text = a->trouble.code ? err_text(&a->trouble) : NULL;
	pthread_mutex_unlock(&a->lock);
	return text;
}
