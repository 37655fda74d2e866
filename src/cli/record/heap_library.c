/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The library is looked for beside this program (in a build directory), in ../lib/proftop, and where it was installed. The one
 * file that is copied to other machines has the library in itself, and writes it to a directory from which code may be run: /tmp
 * is often mounted noexec on servers.
 */
#include "config.h"

#include "cli/record/heap_library.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/tmpfile.h"
#include "cli/options/message.h"
#include "input/decompress.h"

#define LIBRARY "libproftop-heap.so"

#if defined(ONE_FILE) && defined(HAVE_TRACER)
/* heap_library_inside.c */
extern const unsigned char heap_library_begin[], heap_library_end[];

/* May a program map code from that file? */
static bool may_run(int fd)
{
	void *at = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		return false;
	munmap(at, 1);
	return true;
}

/* Unpacks the library into a file: 0 or -errno. */
static int unpack_to(int fd)
{
	uint8_t room[16384];
	struct unpack_io io = { .in = heap_library_begin,
				.n_in = (size_t)(heap_library_end - heap_library_begin),
				.last = true };
	const struct decompress *d = decompress_of(io.in, io.n_in);
	void *state = d ? d->start() : NULL;
	enum unpack_state went = UNPACK_INSIDE;
	int ret = state ? 0 : -ENOMEM;

	while (ret == 0 && went == UNPACK_INSIDE) {
		io.out = room;
		io.n_out = sizeof(room);
		went = d->step(state, &io);
		ret = tmpfile_write(fd, room, sizeof(room) - io.n_out);
		if (went == UNPACK_DAMAGED || went == UNPACK_TOO_LARGE)
			ret = -ENOMEM;
	}
	if (state)
		d->stop(state);
	return ret;
}

/* Writes the file for any user, as recorded programs may change theirs. False with errno: not here. */
static bool write_library(const struct scratch *s, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), ret;

	ret = fd < 0 ? -errno : unpack_to(fd);
	if (ret == 0 && (fchmod(fd, 0755) || chmod(s->path, 0711)))
		ret = -errno;
	if (ret == 0 && !may_run(fd))
		ret = -EACCES;
	if (fd >= 0)
		close(fd);
	errno = -ret;
	return ret == 0;
}

/* May nobody but root and us put something else in the place of what is below it? */
static bool is_safe(const char *directory)
{
	struct stat st;

	if (stat(directory, &st) || !S_ISDIR(st.st_mode) ||
	    (st.st_uid != 0 && st.st_uid != geteuid()))
		return false;
	return !(st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_mode & S_ISVTX;
}

/* The loader takes blanks and colons in LD_PRELOAD as separators, and a dollar as the start of a variable. */
static bool write_below(struct heap_library *l, const char *directory, struct err *e)
{
	if (!directory || directory[0] != '/' || strpbrk(directory, " :$"))
		return false;
	err_clear(e);
	if (!is_safe(directory)) {
		err_set(e, -EPERM, "%s: other users may replace what is there", directory);
		return false;
	}
	if (scratch_make(&l->scratch, directory, "proftop-library-", e))
		return false;
	l->path = xasprintf("%s/" LIBRARY, l->scratch.path);
	if (write_library(&l->scratch, l->path))
		return true;
	err_set(e, -errno, "%s: %s", directory,
		errno == EACCES ? "code may not be run from there (mounted noexec?)"
				: strerror(errno));
	free(l->path);
	l->path = NULL;
	scratch_remove(&l->scratch);
	return false;
}

static bool take_inside(struct heap_library *l)
{
	const char *const places[] = { getenv("TMPDIR"), "/tmp",
				       "/var/tmp",       getenv("XDG_RUNTIME_DIR"),
				       "/dev/shm",       "/run",
				       getenv("HOME"),   getenv("PWD") };
	struct err e = ERR_INIT;
	bool done = false;

	for (size_t i = 0; !done && i < sizeof(places) / sizeof(places[0]); i++)
		done = write_below(l, places[i], &e);
	if (!done)
		message("the heap tracer finds no directory to be run from; TMPDIR=DIRECTORY names one. The last one tried: %s",
			e.code ? err_text(&e) : "none");
	err_clear(&e);
	return done;
}

/* Is the library named in that file of a process, whose parts end in `end`? */
static bool names_library(const char *pid, const char *file, int end, const char *path)
{
	char *name = xasprintf("/proc/%s/%s", pid, file), *line = NULL;
	FILE *f = fopen(name, "re");
	size_t room = 0;
	bool found = false;

	while (f && !found && getdelim(&line, &room, end, f) > 0)
		found = strstr(line, path) != NULL;
	if (f)
		fclose(f);
	free(line);
	free(name);
	return found;
}

/* A process with that library, or one that loads it as soon as it has begun a program; 0: none that can be seen. */
static int user_of(const char *path)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int pid = 0;

	while (proc && pid == 0 && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]) &&
		    (names_library(d->d_name, "maps", '\n', path) ||
		     names_library(d->d_name, "environ", '\0', path)))
			pid = atoi(d->d_name);
	if (proc)
		closedir(proc);
	return pid;
}

void heap_library_release(struct heap_library *l)
{
	int pid = l->path ? user_of(l->path) : 0;

	if (pid) {
		message("process %d still runs with the heap tracer: %s stays until proftop records again",
			pid, l->scratch.path);
		close(l->scratch.fd);
		free(l->scratch.path);
		l->scratch.path = NULL;
	}
	scratch_remove(&l->scratch);
	free(l->path);
	l->path = NULL;
}
#else
/* The directory of this program's file with a '/' at its end; the caller frees. */
static char *own_directory(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	while (n > 0 && path[n - 1] != '/')
		n--;
	return xstrndup(path, n > 0 ? (size_t)n : 0);
}

static bool take_installed(struct heap_library *l)
{
	char *directory = own_directory();
	char *places[] = { xasprintf("%s" LIBRARY, directory),
			   xasprintf("%s../lib/proftop/" LIBRARY, directory),
			   xstrdup(PKGLIBDIR "/" LIBRARY) };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!l->path && access(places[i], R_OK) == 0)
			l->path = places[i];
		else
			free(places[i]);
	}
	free(directory);
	if (!l->path)
		message("the heap tracer %s is neither beside this program nor in %s", LIBRARY,
			PKGLIBDIR);
	return l->path != NULL;
}

void heap_library_release(struct heap_library *l)
{
	free(l->path);
	l->path = NULL;
}
#endif

bool heap_library_take(struct heap_library *l)
{
	*l = (struct heap_library){ .scratch = { .fd = -1 } };
#if defined(ONE_FILE) && defined(HAVE_TRACER)
	return take_inside(l);
#else
	return take_installed(l);
#endif
}
