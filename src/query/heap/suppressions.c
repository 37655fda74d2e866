/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/suppressions.h"

#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct suppressions {
	VEC(char *) pattern; /* owned */
};

/* Does pattern up to its next * or end stand at text, or further on where it may float? */
bool suppressions_match_text(const char *pattern, const char *text)
{
	bool floats = *pattern != '^';

	pattern += !floats;
	while (*pattern) {
		size_t n = strcspn(pattern, "*");
		bool last = pattern[n] == '\0', to_end = last && n > 0 && pattern[n - 1] == '$';
		size_t len = strlen(text);

		n -= to_end;
		if (to_end && (len < n || (!floats && len != n)))
			return false;
		if (to_end)
			return strncmp(text + len - n, pattern, n) == 0;
		while (strncmp(text, pattern, n) != 0) {
			if (!floats || *text == '\0')
				return false;
			text++;
		}
		text += n;
		pattern += n;
		floats = *pattern == '*';
		pattern += strspn(pattern, "*");
	}
	return true;
}

static int add_line(struct suppressions *s, const char *name, unsigned number, const char *line,
		    size_t n, struct err *e)
{
	static const char kind[] = "leak:";

	while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	while (n > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		n--;
	}
	if (n == 0 || *line == '#')
		return 0;
	if (*line == '{')
		return err_set(e, -EINVAL,
			       "%s: line %u begins a suppression of valgrind, which is not read: "
			       "write leak:^NAME$ for the function that it is about",
			       name, number);
	if (n <= strlen(kind) || strncmp(line, kind, strlen(kind)) != 0)
		return err_set(e, -EINVAL, "%s: line %u is no suppression: leak:PATTERN is", name,
			       number);
	vec_push(&s->pattern, xstrndup(line + strlen(kind), n - strlen(kind)));
	return 0;
}

int suppressions_parse(const char *name, const char *text, size_t n, struct suppressions **out,
		       struct err *e)
{
	struct suppressions *s = xcalloc(1, sizeof(*s));
	const char *end = text + n;
	unsigned number = 0;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		int rc = add_line(s, name, ++number, text, (size_t)((stop ? stop : end) - text), e);

		if (rc < 0) {
			suppressions_free(s);
			return rc;
		}
		text = stop ? stop + 1 : end;
	}
	*out = s;
	return 0;
}

void suppressions_free(struct suppressions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->pattern.n; i++)
		free(s->pattern.at[i]);
	vec_done(&s->pattern);
	free(s);
}

static bool matches(const struct suppressions *s, const struct profile *p, string_id text)
{
	const char *name = profile_string(p, text, NULL);

	for (size_t i = 0; *name && i < s->pattern.n; i++)
		if (suppressions_match_text(s->pattern.at[i], name))
			return true;
	return false;
}

static bool frame_matches(const struct suppressions *s, const struct profile *p, uint32_t function,
			  uint32_t file)
{
	return (function != ID_NONE &&
		matches(s, p, profile_function(p, (function_id){ function })->name)) ||
	       matches(s, p, (string_id){ file });
}

/* Those of the program, which may be of any form: what is none is passed over. */
static struct suppressions *of_program(const struct profile *p, const struct profile_counts *counts)
{
	static const char name[] = "suppression ";
	struct suppressions *s = xcalloc(1, sizeof(*s));

	for (uint32_t i = 0; i < counts->n_facts; i++) {
		struct fact f = profile_fact(p, i);
		const char *text;
		size_t n;

		if (strcmp(profile_string(p, f.section, NULL), "file") != 0 ||
		    strncmp(profile_string(p, f.name, NULL), name, strlen(name)) != 0)
			continue;
		text = profile_string(p, f.text, &n);
		add_line(s, "", 0, text, n, NULL);
	}
	return s;
}

static bool location_matches(const struct suppressions *s, const struct profile *p,
			     const struct location_columns *l, uint32_t at)
{
	const struct frame *f = location_frames(l, at);
	uint32_t module = l->module[at];

	if (frame_matches(s, p, location_function(l, at), 0) ||
	    (module != 0 && matches(s, p, profile_module(p, (module_id){ module })->name)))
		return true;
	for (uint32_t i = 0; f && i <= f->n_more; i++)
		if (frame_matches(s, p, f[i].function, f[i].file))
			return true;
	return false;
}

bool *suppressions_stacks(const struct suppressions *s, const struct profile *p,
			  const struct profile_counts *counts)
{
	struct suppressions *own = of_program(p, counts);
	struct location_columns l;
	struct stack_columns of;
	bool *match = NULL, *location;

	if (own->pattern.n > 0 || (s && s->pattern.n > 0)) {
		match = xcalloc(counts->n_stacks, sizeof(*match));
		location = xcalloc(counts->n_locations, sizeof(*location));
		profile_locations(p, &l);
		profile_stacks_of(p, counts, &of);
		for (uint32_t i = 0; i < counts->n_locations; i++)
			location[i] = location_matches(own, p, &l, i) ||
				      (s && location_matches(s, p, &l, i));
		for (uint32_t i = 1; i < counts->n_stacks; i++)
			match[i] = match[of.parent[i]] || location[of.location[i]];
		free(location);
	}
	suppressions_free(own);
	return match;
}
