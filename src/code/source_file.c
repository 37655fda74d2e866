/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "code/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/pack_numbers.h"
#include "code/md5.h"
#include "profile/profile.h"

/* The rest of path behind a directory that it lies in, or NULL. */
static const char *below(const char *path, const char *dir, size_t n)
{
	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (strncmp(path, dir, n) != 0)
		return NULL;
	path += n;
	if (*path == '\0' || *path == '/')
		return path + (*path == '/');
	return n > 0 && dir[n - 1] == '/' ? path : NULL;
}

bool source_map_is_right(const char *map)
{
	const char *equals = strchr(map, '=');

	return equals && equals > map;
}

/* A regular file that can be read; its descriptor, or -errno. */
static int try_open(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Takes the path when it can be opened. */
static int take(struct source_file *f, char *path, struct stat *st)
{
	int fd = try_open(path, st);

	if (fd >= 0)
		f->path = path;
	else
		free(path);
	return fd;
}

/* Would it lead out of a directory that it is put below? */
static bool goes_up(const char *path)
{
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += strspn(part, "/");
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
			return true;
	}
	return false;
}

/*
 * May what was found below dir be taken? A directory that the user names is trusted with its links: trees of builds are full of
 * them (Bazel's are nothing else), and screens and reports show the user's own files to the user. A pack goes to others, though, and
 * a recording from elsewhere may name DIR/link/id_rsa: there, links must not lead out of what was named.
 */
static bool may_take(const char *path, const char *dir, const struct source_options *o)
{
	char *real, *real_dir;
	bool inside;

	if (!o->told_only)
		return true;
	real = realpath(path, NULL);
	real_dir = realpath(dir, NULL);
	inside = real && real_dir && below(real, real_dir, strlen(real_dir));
	free(real);
	free(real_dir);
	return inside;
}

/* Takes what is below dir when it may be taken and can be opened. */
static int take_below(struct source_file *f, const char *dir, const char *rest,
		      const struct source_options *o, struct stat *st)
{
	char *path = *rest ? xasprintf("%s/%s", dir, rest) : xstrdup(dir);

	if (may_take(path, dir, o))
		return take(f, path, st);
	free(path);
	return -ENOENT;
}

static int open_mapped(struct source_file *f, const char *path, const struct source_options *o,
		       struct stat *st)
{
	for (size_t i = 0; i < o->n_maps; i++) {
		const char *map = o->maps[i], *equals = strchr(map, '='), *rest;
		int fd;

		rest = equals ? below(path, map, (size_t)(equals - map)) : NULL;
		if (!rest || (o->told_only && goes_up(rest)))
			continue;
		fd = take_below(f, equals + 1, rest, o, st);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

char *source_file_mapped(const char *path, const struct source_options *o)
{
	for (size_t i = 0; i < o->n_maps; i++) {
		const char *equals = strchr(o->maps[i], '=');
		const char *rest = equals ? below(path, o->maps[i], (size_t)(equals - o->maps[i]))
					  : NULL;

		if (rest)
			return *rest ? xasprintf("%s/%s", equals + 1, rest) : xstrdup(equals + 1);
	}
	return NULL;
}

/* The longest end of the path that is below one of the directories. */
static int open_below(struct source_file *f, const char *path, const struct source_options *o,
		      struct stat *st)
{
	for (const char *end = path; end; end = strchr(end, '/')) {
		end += strspn(end, "/");
		if (goes_up(end))
			continue;
		for (size_t i = 0; i < o->n_dirs && *end; i++) {
			int fd = take_below(f, o->dirs[i], end, o, st);

			if (fd >= 0)
				return fd;
		}
	}
	return -ENOENT;
}

static bool read_all(int fd, char *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = pread(fd, to + at, n - at, (off_t)at);

		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

/* Ends of lines become NUL. A file may hold NULs of its own: a line ends there for us. */
static void split(struct source_file *f, size_t n)
{
	VEC(char *) lines = { 0 };
	char *at = f->text, *end = f->text + n;

	while (at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		vec_push(&lines, at);
		if (!stop)
			break;
		*stop = '\0';
		if (stop > at && stop[-1] == '\r')
			stop[-1] = '\0';
		at = stop + 1;
	}
	f->line = lines.at;
	f->n_lines = (uint32_t)lines.n;
}

enum source_state source_file_state(const struct source_file *f, const struct source_build *b)
{
	if (f->state == SOURCE_MISSING)
		return SOURCE_MISSING;
	for (size_t i = 0; i < f->packed.n; i++)
		if (build_id_equal(&f->packed.at[i].of, &b->of))
			return f->packed.at[i].state;
	if (f->number)
		return f->state;
	if (b->md5 && f->has_md5)
		return memcmp(f->md5, b->md5, MD5_BYTES) == 0 ? SOURCE_CHECKED : SOURCE_DIFFERENT;
	return b->built_ns > 0 && f->changed_ns > b->built_ns ? SOURCE_NEWER : SOURCE_FOUND;
}

static void check(struct source_file *f, size_t n, const struct stat *st, const uint8_t *md5,
		  int64_t built_ns)
{
	const struct source_build b = { .md5 = md5, .built_ns = built_ns };

	f->changed_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	f->has_md5 = md5 != NULL;
	if (md5)
		md5_of(f->text, n, f->md5);
	f->state = SOURCE_FOUND;
	f->state = source_file_state(f, &b);
}

/* What was found; closes it. */
static void read_found(struct source_file *f, int fd, const struct stat *st, const uint8_t *md5,
		       int64_t built_ns)
{
	if (st->st_size < 0 || (uint64_t)st->st_size > SOURCE_MAX_BYTES) {
		f->why = xstrdup("larger than 32 MB");
		close(fd);
		return;
	}
	f->text = xmalloc((size_t)st->st_size + 1);
	f->text[st->st_size] = '\0';
	if (read_all(fd, f->text, (size_t)st->st_size)) {
		check(f, (size_t)st->st_size, st, md5, built_ns);
		split(f, (size_t)st->st_size);
	} else {
		f->why = xstrdup("it cannot be read to its end");
	}
	close(fd);
}

/* A line of a pack. */
struct packed_line {
	uint32_t number;
	uint32_t order; /* in which it was read */
	const uint8_t *text;
	size_t n;
};

typedef VEC(struct packed_line) packed_lines;

static int by_number(const void *x, const void *y)
{
	const struct packed_line *a = x, *b = y;

	return COMPARE(a->number, b->number) ?: COMPARE(a->order, b->order);
}

/* What it is to each program. */
static void take_states(struct source_file *f, struct bytes *b)
{
	uint64_t n = b->bad || b->at == b->end ? 0 : pack_take_count(b);

	for (uint64_t i = 0; i < n && !b->bad; i++) {
		struct source_packed_state s;
		size_t n_id;
		const char *id = pack_take_text(b, &n_id);
		uint32_t state = pack_take_below(b, SOURCE_NEWER + 1);

		if (b->bad || state == SOURCE_MISSING)
			return;
		s.of = build_id_of(id, n_id);
		s.state = (enum source_state)state;
		vec_push(&f->packed, s);
	}
}

/* One attachment; what is whole of a damaged one stays. */
static void take_packed(struct source_file *f, packed_lines *lines, const uint8_t *bytes, size_t n)
{
	struct bytes b = bytes_over(bytes, n, false);
	size_t n_found;
	const char *found = pack_take_text(&b, &n_found);
	uint32_t state = pack_take_below(&b, SOURCE_NEWER + 1), line = 1, n_lines;
	uint64_t n_stretches;

	n_lines = pack_take_below(&b, UINT32_MAX);
	if (b.bad || state == SOURCE_MISSING)
		return;
	if (!f->path) {
		f->path = xstrndup(found, n_found);
		f->state = (enum source_state)state;
	}
	/* Of another file, or of the same one when it was another: its lines are not told apart. */
	if (f->n_lines > 0 && n_lines != f->n_lines) {
		lines->n = 0;
		f->n_lines = UINT32_MAX;
		return;
	}
	f->n_lines = n_lines;
	n_stretches = pack_take_count(&b);
	for (uint64_t i = 0; i < n_stretches && !b.bad; i++) {
		uint64_t n_of_it;

		line += pack_take_below(&b, (uint64_t)n_lines + 1);
		n_of_it = pack_take_count(&b);
		b.bad |= line > n_lines || n_of_it > n_lines - line + 1;
		for (uint64_t k = 0; k < n_of_it && !b.bad; k++) {
			struct packed_line l = { .number = line++, .order = (uint32_t)lines->n };

			l.text = (const uint8_t *)pack_take_text(&b, &l.n);
			if (l.text)
				vec_push(lines, l);
		}
	}
	take_states(f, &b);
}

/* Lines by number, each once. */
static void hold_packed(struct source_file *f, packed_lines *lines)
{
	size_t n_text = 0;
	char *at;

	if (lines->n > 0)
		qsort(lines->at, lines->n, sizeof(*lines->at), by_number);
	for (size_t i = 0; i < lines->n; i++)
		n_text += lines->at[i].n + 1;
	f->text = at = xmalloc(n_text + 1);
	f->line = xcalloc(lines->n + 1, sizeof(*f->line));
	f->number = xcalloc(lines->n + 1, sizeof(*f->number));
	for (size_t i = 0; i < lines->n; i++) {
		const struct packed_line *l = &lines->at[i];

		if (f->n_known > 0 && f->number[f->n_known - 1] == l->number)
			continue;
		if (l->n > 0)
			memcpy(at, l->text, l->n);
		at[l->n] = '\0';
		f->line[f->n_known] = at;
		f->number[f->n_known++] = l->number;
		at += l->n + 1;
	}
}

static bool open_packed(struct source_file *f, const char *path, const struct profile *packed)
{
	packed_lines lines = { 0 };
	uint32_t cursor = 0;
	const uint8_t *bytes;
	size_t n;

	while (packed &&
	       (bytes = profile_attachment(packed, ATTACHMENT_SOURCE, path, &cursor, &n)) != NULL)
		take_packed(f, &lines, bytes, n);
	if (f->path && f->n_lines == UINT32_MAX) {
		free(f->path);
		vec_done(&f->packed);
		*f = (struct source_file){ .why = xstrdup(
						   "packs have several files of this name") };
		vec_done(&lines);
		return true;
	}
	if (f->path)
		hold_packed(f, &lines);
	vec_done(&lines);
	return f->path != NULL;
}

/* Node names modules by URLs. */
static const char *local_path(const char *path)
{
	return strncmp(path, "file:///", 8) == 0 ? path + 7 : path;
}

void source_file_open(struct source_file *f, const char *path, const struct source_options *o,
		      const uint8_t *md5, int64_t built_ns)
{
	const char *local = local_path(path);
	struct stat st;
	int fd;

	*f = (struct source_file){ .state = SOURCE_MISSING };
	fd = open_mapped(f, local, o, &st);
	if (fd < 0)
		fd = open_below(f, local, o, &st);
	if (fd < 0 && open_packed(f, path, o->packed))
		return;
	/* A path without its directory means nothing here. */
	if (fd < 0 && local[0] == '/' && !o->told_only)
		fd = take(f, xstrdup(local), &st);
	if (fd < 0) {
		f->why = fd == -EACCES   ? xstrdup("permission denied")
			 : fd == -EINVAL ? xstrdup("it is no regular file")
					 : xstrdup("not found");
		return;
	}
	read_found(f, fd, &st, md5, built_ns);
}

void source_file_take(struct source_file *f, const char *fetched, const uint8_t *md5)
{
	struct stat st;
	int fd = try_open(fetched, &st);

	if (fd < 0)
		return;
	source_file_done(f);
	f->path = xstrdup(fetched);
	read_found(f, fd, &st, md5, 0);
	f->changed_ns = 0;
}

void source_file_done(struct source_file *f)
{
	free(f->path);
	free(f->why);
	free(f->text);
	free(f->line);
	free(f->number);
	vec_done(&f->packed);
	*f = (struct source_file){ .state = SOURCE_MISSING };
}

const char *source_file_line(const struct source_file *f, uint32_t line)
{
	uint32_t low = 0;

	if (!f->number)
		return line > 0 && line <= f->n_lines ? f->line[line - 1] : NULL;
	BISECT(low, f->n_known, i, f->number[i] < line);
	return low < f->n_known && f->number[low] == line ? f->line[low] : NULL;
}
