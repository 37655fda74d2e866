/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/self/maps, a piece at a time, with no memory of its own but some stack. */
#include "config.h"

#include "record/heap/stack/live_maps.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 4352u /* the longest path, and what stands before it */

static bool take_hex(char **s, char stop, uint64_t *v)
{
	char *at = *s;

	for (*v = 0; *at != stop; at++) {
		if (*at >= '0' && *at <= '9')
			*v = *v << 4 | (uint64_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*v = *v << 4 | (uint64_t)(*at - 'a' + 10);
		else
			return false;
	}
	*s = at + 1;
	return true;
}

/* "begin-end rwxp offset major:minor inode path" */
static bool take_line(char *line, struct live_map *m)
{
	if (!take_hex(&line, '-', &m->begin) || !take_hex(&line, ' ', &m->end) || strlen(line) < 5)
		return false;
	m->runs = line[2] == 'x';
	line += 5;
	if (!take_hex(&line, ' ', &m->offset))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		line += strcspn(line, " ");
		line += *line == ' ';
	}
	m->path = line + strspn(line, " ");
	return true;
}

void live_maps_each(bool (*each)(void *arg, const struct live_map *m), void *arg)
{
	char text[LINE_BYTES];
	size_t n = 0;
	ssize_t got;
	bool more = true;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (more && (got = read(fd, text + n, sizeof(text) - n)) > 0) {
		char *line = text, *end;

		n += (size_t)got;
		while (more && (end = memchr(line, '\n', n - (size_t)(line - text)))) {
			struct live_map m;

			*end = '\0';
			if (take_line(line, &m))
				more = each(arg, &m);
			line = end + 1;
		}
		n -= (size_t)(line - text);
		memmove(text, line, n);
		if (n == sizeof(text))
			break;
	}
	close(fd);
}
