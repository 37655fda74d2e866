/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/diff/history_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/options/message.h"
#include "query/diff/run_history.h"

#define SUFFIX     ".run"
#define NAME_BYTES 21 /* of 16 digits, the suffix and the end */
/* More names than this are looked at in no directory. */
#define MOST_NAMES 65536

struct name {
	char text[NAME_BYTES];
};

struct names {
	VEC(struct name) all; /* oldest first */
};

static bool is_run(const char *name)
{
	return strlen(name) == NAME_BYTES - 1 && strspn(name, "0123456789abcdef") == 16 &&
	       strcmp(name + 16, SUFFIX) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* The names of runs; a directory that is not there has none. */
static int list(int at, const char *dir, struct names *out, struct err *e)
{
	DIR *d = fdopendir(at);
	struct dirent *entry;

	if (!d) {
		int rc = -errno;

		close(at);
		return err_set(e, rc, "%s: %s", dir, strerror(-rc));
	}
	for (uint32_t i = 0; i < MOST_NAMES && (entry = readdir(d)); i++) {
		struct name name;

		if (!is_run(entry->d_name))
			continue;
		memcpy(name.text, entry->d_name, NAME_BYTES);
		vec_push(&out->all, name);
	}
	closedir(d);
	if (out->all.n)
		qsort(out->all.at, out->all.n, sizeof(*out->all.at), by_name);
	return 0;
}

static int open_dir(const char *dir)
{
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The bytes of a plain file, at most one more than a run may have; the caller frees. NULL: errno says why. */
static char *bytes_of(int at, const char *name, size_t *n)
{
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *bytes;
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	bytes = xmalloc(HISTORY_MOST_BYTES + 1);
	*n = 0;
	while (*n <= HISTORY_MOST_BYTES &&
	       (got = read(fd, bytes + *n, HISTORY_MOST_BYTES + 1 - *n)) > 0)
		*n += (size_t)got;
	close(fd);
	return bytes;
}

/* False: it is left out, which is said of the first. */
static bool read_one(int at, const char *dir, const char *name, bool say, struct run_history *out)
{
	char *path = xasprintf("%s/%s", dir, name), *bytes;
	struct err e = ERR_INIT;
	struct noted_run run;
	size_t n = 0;
	bool good;

	bytes = bytes_of(at, name, &n);
	if (!bytes)
		err_set(&e, -EIO, "%s: %s", path,
			errno == EINVAL ? "no plain file" : strerror(errno));
	else if (!run_history_read(bytes, n, path, &run, &e))
		vec_push(&out->run, run);
	good = !e.text;
	if (!good && say)
		message("left out of the history: %s", err_text(&e));
	err_clear(&e);
	free(bytes);
	free(path);
	return good;
}

int history_dir_read(const char *dir, struct run_history *out, struct err *e)
{
	struct names names = { 0 };
	int at = open_dir(dir), second, rc;
	size_t from, n_bad = 0;

	*out = (struct run_history){ 0 };
	if (at < 0 && errno == ENOENT)
		return 0;
	second = at < 0 ? -1 : dup(at);
	if (second < 0) {
		rc = -errno;
		if (at >= 0)
			close(at);
		return err_set(e, rc, "%s: %s", dir, strerror(-rc));
	}
	rc = list(second, dir, &names, e);
	from = names.all.n > HISTORY_DIR_MOST ? names.all.n - HISTORY_DIR_MOST : 0;
	for (size_t i = from; i < names.all.n && !rc; i++)
		n_bad += !read_one(at, dir, names.all.at[i].text, n_bad == 0, out);
	if (n_bad > 1)
		message("left out of the history: %zu more files of %s", n_bad - 1, dir);
	close(at);
	vec_done(&names.all);
	return rc;
}

/* Writes a file that is there whole or not at all. */
static int put(int at, const char *dir, const char *name, const char *text, struct err *e)
{
	char *part = xasprintf(".%s.%ld", name, (long)getpid());
	int fd = openat(at, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), rc = 0;
	size_t left = strlen(text);

	if (fd < 0)
		rc = -errno;
	while (!rc && left > 0) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			rc = -errno;
		else if (n > 0) {
			text += n;
			left -= (size_t)n;
		}
	}
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc && renameat(at, part, at, name))
		rc = -errno;
	if (rc && fd >= 0)
		unlinkat(at, part, 0);
	free(part);
	return rc ? err_set(e, rc, "%s/%s: %s", dir, name, strerror(-rc)) : 0;
}

static bool is_known(const struct run_history *known, const struct noted_run *r)
{
	for (size_t i = 0; i < known->run.n; i++)
		if (run_history_same(&known->run.at[i], r))
			return true;
	return false;
}

/* Notes what is not known. Runs are noted at different times, so that they stay in order. */
static int add_all(int at, const char *dir, const struct run_history *known,
		   struct run_history *runs, uint32_t *n_added, struct err *e)
{
	struct timespec now;
	int64_t ns;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	for (size_t i = 0; i < runs->run.n && !rc; i++) {
		struct noted_run *r = &runs->run.at[i];
		char name[NAME_BYTES], *text;

		/* What is exact has no functions here. Two of these runs may be one. */
		if (r->function.n == 0 || is_known(known, r) ||
		    is_known(&(struct run_history){ .run = { runs->run.at, i, i } }, r))
			continue;
		r->noted_ns = ns++;
		snprintf(name, sizeof(name), "%016" PRIx64 SUFFIX, (uint64_t)r->noted_ns);
		text = run_history_write(r);
		rc = put(at, dir, name, text, e);
		free(text);
		*n_added += !rc;
	}
	return rc;
}

static void drop_oldest(int at, const char *dir)
{
	struct names names = { 0 };
	int second = dup(at);

	if (second < 0)
		return;
	lseek(second, 0, SEEK_SET);
	if (!list(second, dir, &names, NULL))
		for (size_t i = 0; i + HISTORY_DIR_MOST < names.all.n; i++)
			unlinkat(at, names.all.at[i].text, 0);
	vec_done(&names.all);
}

int history_dir_add(const char *dir, const struct run_history *known, const struct analysis *a,
		    uint32_t *n_added, struct err *e)
{
	struct run_history runs = { 0 };
	int at, rc;

	*n_added = 0;
	if (mkdir(dir, 0777) && errno != EEXIST)
		return err_set(e, -errno, "%s cannot be made: %s", dir, strerror(errno));
	at = open_dir(dir);
	if (at < 0)
		return err_set(e, -errno, "%s: %s", dir, strerror(errno));
	run_history_take(a, &runs);
	rc = add_all(at, dir, known, &runs, n_added, e);
	if (*n_added)
		drop_oldest(at, dir);
	run_history_done(&runs);
	close(at);
	return rc;
}
