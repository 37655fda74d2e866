/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that came packed together; see attic.h. */
#include "config.h"

#include "attic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "mem.h"
#include "unnamed.h"

#define FILES_MAX 65536u
#define PIECE     ((size_t)1 << 18)

struct member {
	char *name;      /* owned */
	uint64_t offset; /* in the common file */
	uint64_t size;
	char *path; /* of its own file; NULL: not wanted yet; owned */
	int fd;     /* of that file; -1 */
};

struct attic {
	pthread_mutex_t lock; /* guards all that follows */
	char *path;           /* of the pack; owned */
	attic_fill *fill;     /* NULL once it was called */
	void *arg;            /* for fill */
	int fd;               /* the common file; -1: none yet */
	uint64_t size;        /* of it */
	VEC(struct member) member;
	struct err trouble; /* see attic_trouble() */
};

struct attic *attic_new(const char *path, attic_fill *fill, void *arg)
{
	struct attic *a = xcalloc(1, sizeof(*a));

	pthread_mutex_init(&a->lock, NULL);
	a->path = xstrdup(path);
	a->fill = fill;
	a->arg = arg;
	a->fd = -1;
	return a;
}

void attic_free(struct attic *a)
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

int attic_begin(struct attic *a, const char *name, struct err *e)
{
	struct member m = { .offset = a->size, .fd = -1 };

	if (a->member.n >= FILES_MAX)
		return err_set(e, -EFBIG, "%s holds more than %u files", a->path, FILES_MAX);
	if (a->fd < 0)
		a->fd = unnamed_open(a->path, e);
	if (a->fd < 0)
		return a->fd;
	m.name = xstrdup(name);
	vec_push(&a->member, m);
	return 0;
}

int attic_put(struct attic *a, const void *bytes, size_t n, struct err *e)
{
	int rc = unnamed_write(a->fd, bytes, n);

	if (rc < 0)
		return err_set(e, rc, "%s: cannot be unpacked to a temporary file: %s", a->path,
			       strerror(-rc));
	a->size += n;
	a->member.at[a->member.n - 1].size += n;
	return 0;
}

/* Copies a member to a file of its own. */
static int copy(const struct attic *a, const struct member *m, int to)
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
			rc = unnamed_write(to, piece, (size_t)got);
			done += (uint64_t)got;
		}
	}
	free(piece);
	return rc;
}

static void give_out(struct attic *a, struct member *m)
{
	int fd = unnamed_open(a->path, a->trouble.code ? NULL : &a->trouble);

	if (fd < 0)
		return;
	if (copy(a, m, fd) < 0) {
		close(fd);
		return;
	}
	m->fd = fd;
	m->path = xasprintf("/proc/self/fd/%d", fd);
}

const char *attic_find(struct attic *a, const char *name)
{
	const char *path = NULL;
	attic_fill *fill;

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

const char *attic_path(const struct attic *a)
{
	return a->path;
}

size_t attic_n(struct attic *a)
{
	size_t n;

	pthread_mutex_lock(&a->lock);
	n = a->member.n;
	pthread_mutex_unlock(&a->lock);
	return n;
}

const char *attic_trouble(struct attic *a)
{
	const char *text;

	pthread_mutex_lock(&a->lock);
	text = a->trouble.code ? err_text(&a->trouble) : NULL;
	pthread_mutex_unlock(&a->lock);
	return text;
}
