/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files were looked for, and how they were; see consulted_files.h. */
#include "config.h"

#include "base/consulted_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

/* More are not noted: a recording names as many as it likes. */
#define MOST_FILES 65536
#define MOST_TEXT  ((size_t)16 << 20)
/* What files of /proc and /sys say, from the beginning. */
#define SAID_BYTES ((size_t)64 << 10)

struct consulted {
	char *path;     /* owned */
	uint64_t state; /* see state_of() */
};

struct consulted_files {
	pthread_mutex_t lock;
	VEC(struct consulted) all;
	struct map by_path;
	size_t n_text; /* bytes of paths */
	bool doubtful;
};

/* A path of a running process leads to other file systems, where files have times. */
static bool is_told(const char *path)
{
	static const char proc[] = "/proc/";
	const char *next = path + strlen(proc);

	if (strncmp(path, "/sys/", 5) == 0)
		return true;
	return strncmp(path, proc, strlen(proc)) == 0 && (*next < '0' || *next > '9');
}

/* Names of kernel modules without how often each is used just now. */
static size_t without_uses(char *text, size_t n)
{
	size_t to = 0;
	bool name = true;

	for (size_t i = 0; i < n; i++) {
		name = name && text[i] != ' ';
		if (name || text[i] == '\n')
			text[to++] = text[i];
		name = name || text[i] == '\n';
	}
	return to;
}

static uint64_t state_of_told(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = xmalloc(SAID_BYTES);
	size_t n = 0;
	ssize_t got = fd < 0 ? 0 : 1;
	uint64_t state;

	while (got > 0 && n < SAID_BYTES) {
		got = read(fd, text + n, SAID_BYTES - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (strcmp(path, "/proc/modules") == 0)
		n = without_uses(text, n);
	state = hash_bytes(text, n);
	free(text);
	if (fd < 0)
		return 0;
	close(fd);
	return state | 1;
}

/* How a file is; 0: it is not there. */
static uint64_t state_of(const char *path)
{
	struct stat st;
	uint64_t about[6];

	if (is_told(path))
		return state_of_told(path);
	if (stat(path, &st) != 0)
		return 0;
	about[0] = st.st_dev;
	about[1] = st.st_ino;
	about[2] = (uint64_t)st.st_size;
	about[3] = (uint64_t)st.st_mtim.tv_sec;
	about[4] = (uint64_t)st.st_mtim.tv_nsec;
	about[5] = st.st_mode;
	/* others come and go in a directory, which is looked for to be there only */
	if (S_ISDIR(st.st_mode))
		about[2] = about[3] = about[4] = 0;
	return hash_bytes(about, sizeof(about)) | 1;
}

struct consulted_files *consulted_files_new(void)
{
	struct consulted_files *c = xcalloc(1, sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void consulted_files_free(struct consulted_files *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->all.n; i++)
		free(c->all.at[i].path);
	vec_done(&c->all);
	map_done(&c->by_path);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static bool same_path(const void *things, uint32_t value, const void *key)
{
	return strcmp(((const struct consulted *)things)[value].path, key) == 0;
}

void consulted_files_note(struct consulted_files *c, const char *path)
{
	size_t n = strlen(path);
	uint64_t hash = hash_bytes(path, n);

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	if (map_find(&c->by_path, hash, same_path, c->all.at, path) != MAP_NONE) {
		/* how it was at first is what counts */
	} else if (c->all.n >= MOST_FILES || c->n_text + n > MOST_TEXT) {
		c->doubtful = true;
	} else {
		map_add(&c->by_path, hash, (uint32_t)c->all.n);
		vec_push(&c->all, ((struct consulted){ xstrdup(path), state_of(path) }));
		c->n_text += n;
	}
	pthread_mutex_unlock(&c->lock);
}

void consulted_files_doubt(struct consulted_files *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->doubtful = true;
	pthread_mutex_unlock(&c->lock);
}

bool consulted_files_put(struct consulted_files *c, pack_bytes *to)
{
	bool good;

	pthread_mutex_lock(&c->lock);
	good = !c->doubtful;
	if (good)
		pack_put(to, c->all.n);
	for (size_t i = 0; i < c->all.n && good; i++) {
		pack_put_text(to, c->all.at[i].path, strlen(c->all.at[i].path));
		pack_put(to, c->all.at[i].state);
	}
	pthread_mutex_unlock(&c->lock);
	return good;
}

bool consulted_files_same(struct bytes *from)
{
	uint64_t n = pack_take_count(from);

	for (uint64_t i = 0; i < n && !from->bad; i++) {
		size_t n_path;
		const char *text = pack_take_text(from, &n_path);
		uint64_t state = pack_take(from);
		char *path = from->bad ? NULL : xstrndup(text, n_path);
		bool same = path && state_of(path) == state;

		free(path);
		if (!same)
			return false;
	}
	return !from->bad;
}
