/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plain writes; a block that could not be written whole is cut off again. */
#include "config.h"

#include "record/heap/trace/tracer_file.h"

#include "record/heap/trace/kernel_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_NAMES 10000u

/* To a number that programs which close all that they might have inherited reach last. */
static int hide(int fd)
{
	struct rlimit limit;
	int least = 1000, high;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= 1100)
		least = limit.rlim_cur > 64 ? (int)limit.rlim_cur - 32 : 3;
	high = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* A new file at f->path. */
static int create(struct tracer_file *f)
{
	struct stat st;

	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (f->fd < 0)
		return -errno;
	f->fd = hide(f->fd);
	if (kernel_fstat(f->fd, &st))
		return -errno;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	return 0;
}

int tracer_file_make(struct tracer_file *f, const struct tracer_options *o)
{
	int ret = -EEXIST;

	f->fd = -1;
	for (unsigned n = 1; ret == -EEXIST && n < MAX_NAMES; n++) {
		if (!tracer_options_name(o, n, f->path))
			return -ENAMETOOLONG;
		ret = create(f);
	}
	return ret;
}

static bool is_ours(const struct tracer_file *f, int fd)
{
	struct stat st;

	return fd >= 0 && kernel_fstat(fd, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino;
}

/* The program closed our descriptor; the file may still be there. */
static int open_again(struct tracer_file *f)
{
	int fd = open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	if (!is_ours(f, fd)) {
		close(fd);
		return -ESTALE;
	}
	f->fd = hide(fd);
	return 0;
}

int tracer_file_write(struct tracer_file *f, const void *p, size_t n)
{
	const char *at = p;
	size_t left = n;
	int ret = 0;

	if (!is_ours(f, f->fd))
		ret = open_again(f);
	while (!ret && left) {
		ssize_t done = pwrite(f->fd, at, left, (off_t)(f->n_bytes + n - left));

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			ret = done < 0 ? -errno : -ENOSPC;
			break;
		}
		at += done;
		left -= (size_t)done;
	}
	if (ret && left < n && ftruncate(f->fd, (off_t)f->n_bytes))
		return ret; /* readers stop at a block that is cut */
	if (!ret)
		f->n_bytes += n;
	return ret;
}

uint64_t tracer_file_room(const struct tracer_file *f)
{
	struct stat st;
	uint64_t room;

	if (kernel_fstat(f->fd, &st) || st.st_dev != f->dev || st.st_ino != f->ino)
		return f->n_bytes;
	room = (uint64_t)st.st_blocks * 512;
	return room < f->n_bytes ? room : f->n_bytes;
}

int tracer_file_write_head(struct tracer_file *f, const void *p, size_t n)
{
	int ret = is_ours(f, f->fd) ? 0 : open_again(f);

	if (!ret && pwrite(f->fd, p, n, 0) != (ssize_t)n)
		ret = -EIO;
	return ret;
}

int tracer_file_read(struct tracer_file *f, void *p, size_t n, uint64_t at)
{
	char *to = p;
	int ret = is_ours(f, f->fd) ? 0 : open_again(f);

	while (!ret && n) {
		ssize_t done = pread(f->fd, to, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		to += done;
		at += (uint64_t)done;
		n -= (size_t)done;
	}
	return ret;
}

int tracer_file_begin_again(const struct tracer_file *f, struct tracer_file *to)
{
	char suffix[] = ".new\0";
	size_t n = strlen(f->path);
	int ret = -EEXIST;

	to->n_bytes = 0;
	to->fd = -1;
	if (n + sizeof(suffix) > sizeof(to->path))
		return -ENAMETOOLONG;
	memcpy(to->path, f->path, n);
	/* There may be one that somebody who was killed left behind. */
	for (char more = 0; ret == -EEXIST && more <= '9'; more = more ? (char)(more + 1) : '1') {
		suffix[sizeof(suffix) - 2] = more;
		memcpy(to->path + n, suffix, sizeof(suffix));
		ret = create(to);
	}
	return ret;
}

void tracer_file_give_up(struct tracer_file *to)
{
	struct stat st;

	if (kernel_lstat(to->path, &st) == 0 && st.st_dev == to->dev && st.st_ino == to->ino)
		unlink(to->path);
	tracer_file_close(to);
}

int tracer_file_replace(struct tracer_file *f, struct tracer_file *by)
{
	struct stat st;
	int ret;

	/* Somebody moved it: then its place is not ours any more. */
	if (kernel_lstat(f->path, &st))
		ret = -errno;
	else if (st.st_dev != f->dev || st.st_ino != f->ino)
		ret = -ESTALE;
	else
		ret = rename(by->path, f->path) ? -errno : 0;
	if (ret) {
		tracer_file_give_up(by);
		return ret;
	}
	tracer_file_close(f);
	f->fd = by->fd;
	f->dev = by->dev;
	f->ino = by->ino;
	f->n_bytes = by->n_bytes;
	return 0;
}

void tracer_file_close(struct tracer_file *f)
{
	if (is_ours(f, f->fd))
		close(f->fd);
	f->fd = -1;
}

/* The log's file; or standard error, while that is what it was at the beginning, by a number of its own. -1: there is none. */
static int open_log(const struct tracer_options *o, int create)
{
	struct stat s;

	if (*o->log)
		return open(o->log, O_WRONLY | create | O_APPEND | O_CLOEXEC, 0644);
	if (!o->error_inode || kernel_fstat(STDERR_FILENO, &s) != 0 ||
	    s.st_dev != o->error_device || s.st_ino != o->error_inode)
		return -1;
	return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
}

static _Atomic dev_t log_device; /* of the last line */

bool tracer_log_is_beside(dev_t device)
{
	return atomic_load(&log_device) == device;
}

static void log_line(const struct tracer_options *o, const char *what, const char *why, int create)
{
	char pid[24] = { 0 };
	size_t i = sizeof(pid) - 1;
	struct iovec part[] = {
		{ (void *)(uintptr_t) "proftop: ", 9 },
		{ NULL, 0 },
		{ (void *)(uintptr_t) ": ", 2 },
		{ (void *)(uintptr_t)what, strlen(what) },
		{ (void *)(uintptr_t) ": ", why ? 2 : 0 },
		{ (void *)(uintptr_t)why, why ? strlen(why) : 0 },
		{ (void *)(uintptr_t) "\n", 1 },
	};
	struct stat st;
	int kept = errno, fd;

	if (!*o->log && !o->error_inode)
		return;
	for (unsigned v = (unsigned)getpid(); v || i == sizeof(pid) - 1; v /= 10)
		pid[--i] = (char)('0' + v % 10);
	part[1] = (struct iovec){ pid + i, sizeof(pid) - 1 - i };
	fd = open_log(o, create);
	if (fd >= 0) {
		if (kernel_fstat(fd, &st) == 0)
			atomic_store(&log_device, st.st_dev);
		if (writev(fd, part, sizeof(part) / sizeof(*part)) < 0)
			errno = kept; /* there is nobody else to tell */
		close(fd);
	}
	errno = kept;
}

void tracer_log(const struct tracer_options *o, const char *what, const char *why)
{
	if (o->level >= TRACER_WARN)
		log_line(o, what, why, O_CREAT);
}

void tracer_log_info(const struct tracer_options *o, const char *what, const char *why)
{
	if (o->level >= TRACER_INFO)
		log_line(o, what, why, O_CREAT);
}

void tracer_log_if_there(const struct tracer_options *o, const char *what)
{
	if (o->level >= TRACER_INFO)
		log_line(o, what, NULL, 0);
}
