/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf-PID.map; see jit_map.h. A line is "start size name" in hexadecimal, with or without 0x, the
 * name running to the end of the line. Memory is used again, so that a later line hides earlier ones.
 */
#include "config.h"

#include "symbols/jit/jit_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "symbols/search/own_file.h"
#include "symbols/space/interval_map.h"

#define TEXT_MAX  ((size_t)256 << 20)
#define LINES_MAX ((size_t)2 << 20)

struct jit_map {
	char *text;                /* the file; owned */
	struct interval_map cover; /* values are offsets of names in text */
	size_t n;                  /* see jit_map_n() */
};

/* A hexadecimal number and the blank behind it. */
static bool take_number(char **s, uint64_t *value)
{
	char *end;

	if (**s == '-' || **s == '+' || **s == ' ')
		return false;
	errno = 0;
	*value = strtoull(*s, &end, 16);
	if (end == *s || errno != 0 || *end != ' ')
		return false;
	*s = end + 1;
	return true;
}

static bool take_line(char *line, struct interval_map_item *out, char **name)
{
	uint64_t size;

	if (!take_number(&line, &out->start) || !take_number(&line, &size) || size == 0 || !*line)
		return false;
	out->end = size > UINT64_MAX - out->start ? UINT64_MAX : out->start + size;
	*name = line;
	return out->end > out->start;
}

struct jit_map *jit_map_of_text(char *text, size_t n)
{
	struct jit_map *m = xcalloc(1, sizeof(*m));
	VEC(struct interval_map_item) items = { 0 };
	char *end = text + n;

	m->text = text;
	for (char *line = text; line < end && items.n < LINES_MAX;) {
		char *stop = memchr(line, '\n', (size_t)(end - line)), *name;
		struct interval_map_item it = { .seq = (uint32_t)items.n };

		if (!stop)
			stop = end;
		*stop = '\0';
		if (stop > line && stop[-1] == '\r')
			stop[-1] = '\0';
		if (take_line(line, &it, &name)) {
			it.value = (uint32_t)(name - text);
			vec_push(&items, it);
		}
		line = stop + 1;
	}
	m->n = items.n;
	interval_map_add_all(&m->cover, items.at, items.n);
	vec_done(&items);
	return m;
}

int jit_map_load(const char *path, struct jit_map **out, struct err *e)
{
	VEC(char) text = { 0 };
	ssize_t got = 0;
	int fd, r = own_file_open(path, &fd, e);

	if (r < 0)
		return r;
	while (r == 0 && text.n < TEXT_MAX) {
		vec_reserve(&text, text.n + ((size_t)1 << 18));
		got = read(fd, text.at + text.n, text.cap - text.n - 1);
		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			r = err_set(e, -errno, "%s: %s", path, strerror(errno));
		if (got > 0)
			text.n += (size_t)got;
	}
	close(fd);
	if (r < 0) {
		vec_done(&text);
		return r;
	}
	text.at[text.n] = '\0';
	*out = jit_map_of_text(text.at, text.n);
	return 0;
}

void jit_map_free(struct jit_map *m)
{
	if (!m)
		return;
	interval_map_done(&m->cover);
	free(m->text);
	free(m);
}

const char *jit_map_find(const struct jit_map *m, uint64_t address)
{
	int64_t next = INT64_MAX;
	const struct interval_map_item *it = interval_map_find(&m->cover, address, INT64_MAX,
							       UINT32_MAX, &next);

	return it ? m->text + it->value : NULL;
}

size_t jit_map_n(const struct jit_map *m)
{
	return m->n;
}
