/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the user's config file; see settings.h. */
#include "config.h"

#include "tui/app/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* A config file larger than this is none. */
/* Lines that are told to be wrong by their numbers alone. */
#define MAX_WRONG_LINES 8

#define MAX_CONFIG_BYTES 1000000u

enum kind { KIND_BOOL, KIND_COLOUR, KIND_TEXT };

static const struct {
	const char *name;
	size_t offset; /* of the field in struct settings */
	enum kind kind;
} fields[] = {
#define X(field, text, type, init, help) { text, offsetof(struct settings, field), KIND_##type },
	SETTINGS(X)
#undef X
};

static const struct {
	const char *name;
	bool value;
} bools[] = { { "yes", true }, { "no", false }, { "on", true },   { "off", false },
	      { "1", true },   { "0", false },  { "true", true }, { "false", false } };

static const struct {
	const char *name;
	enum colour_mode value;
} colours[] = { { "auto", COLOUR_AUTO },
		{ "never", COLOUR_NEVER },
		{ "8", COLOUR_8 },
		{ "16", COLOUR_16 },
		{ "256", COLOUR_256 } };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int set_bool(bool *field, const char *name, const char *value, struct err *e)
{
	for (size_t i = 0; i < COUNT(bools); i++)
		if (strcmp(bools[i].name, value) == 0) {
			*field = bools[i].value;
			return 0;
		}
	return err_set(e, -EINVAL, "%s is yes or no, not '%s'", name, value);
}

static int set_colour(enum colour_mode *field, const char *value, struct err *e)
{
	for (size_t i = 0; i < COUNT(colours); i++)
		if (strcmp(colours[i].name, value) == 0) {
			*field = colours[i].value;
			return 0;
		}
	return err_set(e, -EINVAL, "colour is auto, never, 8, 16 or 256, not '%s'", value);
}

static int set_field(struct settings *s, const char *name, const char *value, struct err *e)
{
	for (size_t i = 0; i < COUNT(fields); i++) {
		char *field = (char *)s + fields[i].offset;

		if (strcmp(fields[i].name, name) != 0)
			continue;
		if (fields[i].kind == KIND_BOOL)
			return set_bool((bool *)(void *)field, name, value, e);
		if (fields[i].kind == KIND_COLOUR)
			return set_colour((enum colour_mode *)(void *)field, value, e);
		free(*(char **)(void *)field);
		*(char **)(void *)field = xstrdup(value);
		return 0;
	}
	return err_set(e, -EINVAL, "there is no setting '%s'", name);
}

/* Takes the next word off *at and ends it with NUL; "quoted" ones may hold blanks. */
static char *word(char **at)
{
	char *s = *at + strspn(*at, " \t"), *end;

	if (*s == '"' && (end = strchr(s + 1, '"')) != NULL)
		s++;
	else
		end = s + strcspn(s, " \t");
	*at = end;
	if (*end != '\0') {
		*end = '\0';
		(*at)++;
	}
	return s;
}

/* set name = value, with or without blanks around '='. */
static int parse_set(struct settings *s, char *rest, struct err *e)
{
	char *equals = strchr(rest, '='), *name, *value;

	if (!equals)
		return err_set(e, -EINVAL, "expected: set name = value");
	*equals = '\0';
	name = word(&rest);
	rest += strspn(rest, " \t");
	if (*name == '\0' || *rest != '\0')
		return err_set(e, -EINVAL, "expected: set name = value");
	rest = equals + 1;
	value = word(&rest);
	rest += strspn(rest, " \t");
	if (*rest != '\0' && *rest != '#')
		return err_set(e, -EINVAL, "'%s' is left over after the value", rest);
	return set_field(s, name, value, e);
}

static int parse_line(struct settings *s, char *line, struct err *e)
{
	char *verb = word(&line), *view, *key, *action;

	if (*verb == '\0' || *verb == '#')
		return 0;
	if (strcmp(verb, "set") == 0)
		return parse_set(s, line, e);
	if (strcmp(verb, "bind") != 0)
		return err_set(e, -EINVAL, "a line begins with set or bind, not '%s'", verb);
	view = word(&line);
	key = word(&line);
	action = word(&line);
	line += strspn(line, " \t");
	if (*action == '\0' || (*line != '\0' && *line != '#'))
		return err_set(e, -EINVAL, "expected: bind view key action");
	return keymap_bind(&s->keymap, view, key, action, e);
}

void settings_init(struct settings *s)
{
	*s = (struct settings){
#define X(field, text, type, init, help) .field = init,
		SETTINGS(X)
#undef X
	};
}

void settings_done(struct settings *s)
{
	free(s->view);
	free(s->clipboard);
	keymap_done(&s->keymap);
}

/* What is wrong in a file: the first line in words, the others by their numbers. */
struct wrong_lines {
	struct err first;
	char *others; /* ", 5, 9", owned; NULL: none */
	unsigned n_others;
};

static void add_wrong_line(struct wrong_lines *w, const char *name, unsigned number,
			   const struct err *bad)
{
	char *others;

	if (w->first.code == 0) {
		err_set(&w->first, -EINVAL, "%s:%u: %s", name, number, err_text(bad));
		return;
	}
	if (w->n_others++ > MAX_WRONG_LINES)
		return;
	others = w->n_others > MAX_WRONG_LINES ? xasprintf("%s and more", w->others)
					       : xasprintf("%s%s%u", w->others ? w->others : "",
							   w->others ? ", " : "", number);
	free(w->others);
	w->others = others;
}

/* Says it all in one sentence, and forgets it. */
static int tell_wrong_lines(struct wrong_lines *w, struct err *e)
{
	int ret = w->first.code;

	if (ret < 0 && w->others)
		err_set(e, ret, "%s; wrong too: line%s %s", err_text(&w->first),
			w->n_others > 1 ? "s" : "", w->others);
	else if (ret < 0)
		err_set(e, ret, "%s", err_text(&w->first));
	err_clear(&w->first);
	free(w->others);
	return ret;
}

int settings_parse(struct settings *s, const char *text, size_t n, const char *name, struct err *e)
{
	const char *end = text + n, *next;
	struct wrong_lines wrong = { .first = ERR_INIT };

	for (unsigned number = 1; text < end; text = next, number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct err bad = ERR_INIT;
		char *line;

		next = stop ? stop + 1 : end;
		stop = stop ? stop : end;
		if (stop > text && stop[-1] == '\r')
			stop--;
		line = xstrndup(text, (size_t)(stop - text));
		if (parse_line(s, line, &bad) < 0)
			add_wrong_line(&wrong, name, number, &bad);
		err_clear(&bad);
		free(line);
	}
	return tell_wrong_lines(&wrong, e);
}

static char *default_path(void)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (base && base[0] == '/')
		return xasprintf("%s/proftop/config", base);
	return xasprintf("%s/.config/proftop/config", home ? home : "");
}

static int read_file(struct settings *s, const char *path, bool must_exist, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;
	int ret;

	if (!f) {
		ret = -errno;
		if (!must_exist && (ret == -ENOENT || ret == -ENOTDIR || ret == -EACCES))
			return 0;
		return err_set(e, ret, "%s: %s", path, strerror(-ret));
	}
	text = xmalloc(MAX_CONFIG_BYTES + 1);
	n = fread(text, 1, MAX_CONFIG_BYTES + 1, f);
	if (ferror(f))
		ret = err_set(e, -EIO, "%s: cannot be read", path);
	else if (n > MAX_CONFIG_BYTES)
		ret = err_set(e, -EFBIG, "%s: too large for a config file", path);
	else
		ret = settings_parse(s, text, n, path, e);
	free(text);
	fclose(f);
	return ret;
}

int settings_read(struct settings *s, const char *path, struct err *e)
{
	char *standard;
	int ret;

	if (path)
		return read_file(s, path, true, e);
	standard = default_path();
	ret = read_file(s, standard, false, e);
	free(standard);
	return ret;
}
