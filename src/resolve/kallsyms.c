/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel's symbols as text; see kallsyms.h. A line is "address type name", for a module's symbol
 * followed by a tab and "[module]" (kernel/kallsyms.c). As in perf, types T, W, D and B count.
 */
#include "config.h"

#include "kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "mem.h"
#include "symtab.h"

#define TEXT_MAX ((size_t)512 << 20)

static bool take_hex(const char **s, uint64_t *value)
{
	const char *p = *s;
	uint64_t v = 0;

	for (;; p++) {
		unsigned c = (unsigned char)*p, digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (c | 32) - 'a' + 10;
		else
			break;
		v = v << 4 | digit;
	}
	if (p == *s || p - *s > 16)
		return false;
	*s = p;
	*value = v;
	return true;
}

/* Reads one line, terminated by a NUL, and cuts it up where its names end. */
static bool take_line(char *line, struct symbol *out)
{
	const char *s = line;
	char *name, *module, *end;

	*out = (struct symbol){ .kind = SYMBOL_CODE, .binding = BINDING_GLOBAL };
	if (!take_hex(&s, &out->start) || s[0] != ' ' || !s[1] || s[2] != ' ' || !s[3])
		return false;
	if (!strchr("TWDB", s[1] & ~32))
		return false;
	out->end = out->start;
	if ((s[1] & ~32) == 'W')
		out->binding = BINDING_WEAK;
	else if (s[1] & 32)
		out->binding = BINDING_LOCAL;
	name = line + (s - line) + 3;
	module = strchr(name, '\t');
	if (module) {
		*module++ = '\0';
		end = *module == '[' ? strchr(module, ']') : NULL;
		if (end) {
			*end = '\0';
			out->module = module + 1;
		}
	}
	out->name = name;
	return true;
}

void kallsyms_of_text(char *text, size_t n, struct kallsyms *out)
{
	bool any = false, all_zero = true;
	char *end = text + n;

	*out = (struct kallsyms){ .symbols = symtab_new() };
	symtab_keep(out->symbols, text, n);
	symtab_reserve(out->symbols, n / 40);
	for (char *line = text; line < end;) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		struct symbol s;

		if (!stop)
			stop = end;
		*stop = '\0';
		if (take_line(line, &s)) {
			any = true;
			all_zero &= s.start == 0;
			symtab_add(out->symbols, &s);
		}
		line = stop + 1;
	}
	out->hidden = any && all_zero;
	symtab_seal(out->symbols, ENDS_BY_MODULE);
}

int kallsyms_load(const char *path, struct kallsyms *out, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	VEC(char) text = { 0 };
	ssize_t got;

	if (fd < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	do {
		vec_reserve(&text, text.n + ((size_t)1 << 20));
		got = read(fd, text.at + text.n, text.cap - text.n - 1);
		if (got > 0)
			text.n += (size_t)got;
	} while ((got > 0 || (got < 0 && errno == EINTR)) && text.n < TEXT_MAX);
	close(fd);
	if (got < 0) {
		int r = err_set(e, -errno, "%s: %s", path, strerror(errno));

		vec_done(&text);
		return r;
	}
	text.at[text.n] = '\0';
	kallsyms_of_text(text.at, text.n, out);
	return 0;
}

void kallsyms_done(struct kallsyms *k)
{
	symtab_free(k->symbols);
	*k = (struct kallsyms){ .symbols = NULL };
}

bool kallsyms_value(const struct kallsyms *k, const char *name, uint64_t *value)
{
	for (size_t i = 0; i < symtab_n(k->symbols); i++) {
		const struct symbol *s = symtab_at(k->symbols, i);

		if (!s->module && strcmp(s->name, name) == 0) {
			*value = s->start;
			return true;
		}
	}
	return false;
}
