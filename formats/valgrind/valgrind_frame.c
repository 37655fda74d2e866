/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/valgrind/valgrind_frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "formats/named_frames.h"

/* What valgrind writes where it knows no function. */
#define NAMELESS "???"

/* The parts of a text; borrowed from it. */
struct parts {
	const char *name, *file, *module;
	size_t n_name, n_file, n_module; /* 0: not there */
	uint32_t line;                   /* 0: unknown */
};

void valgrind_frames_done(struct valgrind_frames *f)
{
	vec_done(&f->all);
	map_done(&f->by_text);
}

/* "(", up to the end of the text, of the last pair of parentheses that stands behind a blank; NULL: there is none. */
static const char *last_open(const char *s, size_t n)
{
	if (n == 0 || s[n - 1] != ')')
		return NULL;
	for (size_t i = n; i-- > 1;)
		if (s[i] == '(' && s[i - 1] == ' ')
			return s + i;
	return NULL;
}

/* Takes ":8" off the end of a text; false where there is none. */
static bool take_number(const char *s, size_t *n, uint32_t *number)
{
	size_t i = *n;
	uint64_t v = 0;

	while (i > 0 && s[i - 1] >= '0' && s[i - 1] <= '9')
		i--;
	if (i == *n || i < 2 || s[i - 1] != ':')
		return false;
	for (size_t k = i; k < *n && v < UINT32_MAX; k++)
		v = 10 * v + (uint64_t)(s[k] - '0');
	*number = v < UINT32_MAX ? (uint32_t)v : 0;
	*n = i - 1;
	return true;
}

/* "alloc.cpp:8", and of Rust "src/main.rs:8:20" with a column, which is not kept. */
static bool take_place(const char *s, size_t n, struct parts *p)
{
	uint32_t last, before;

	if (!take_number(s, &n, &last))
		return false;
	p->line = take_number(s, &n, &before) ? before : last;
	p->file = s;
	p->n_file = n;
	return true;
}

static struct parts take_apart(const char *s, size_t n)
{
	struct parts p = { .name = s, .n_name = n };
	const char *colon, *open;

	if (n > 2 && s[0] == '0' && s[1] == 'x' && (colon = memchr(s, ':', n)) &&
	    colon + 1 < s + n && colon[1] == ' ') {
		p.name = colon + 2;
		p.n_name = (size_t)(s + n - p.name);
	}
	open = last_open(p.name, p.n_name);
	if (!open)
		return p;
	n = (size_t)(p.name + p.n_name - open) - 2;
	if (n > 3 && memcmp(open + 1, "in ", 3) == 0) {
		p.module = open + 4;
		p.n_module = n - 3;
	} else if (!take_place(open + 1, n, &p)) {
		return p;
	}
	p.n_name = (size_t)(open - 1 - p.name);
	return p;
}

static enum family family_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2.", 7) == 0 ||
	    strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "vgpreload_", 10) == 0)
		return FAMILY_LIBC;
	return strstr(name, ".so") ? FAMILY_LIBRARY : FAMILY_PROGRAM;
}

static location_id make(struct valgrind_frames *f, const struct parts *parts)
{
	struct named_frame frame = { .line = parts->line };
	struct frame nameless = { 0 };
	module_id module = { 0 };

	if (parts->n_module > 0) {
		char *path = xstrndup(parts->module, parts->n_module);

		module = build_module(f->p, path, "", family_of(path));
		free(path);
	}
	if (parts->n_name == 0 ||
	    (parts->n_name == strlen(NAMELESS) && memcmp(parts->name, NAMELESS, 3) == 0)) {
		const char *name = profile_string(f->p, profile_module(f->p, module)->name, NULL);
		char *text = xasprintf("[%s]", *name ? name : "unknown");

		f->n_nameless++;
		nameless.function = build_function(f->p, build_cstring(f->p, text), module,
						   FUNCTION_UNRESOLVED, (string_id){ 0 }, 0)
					    .v;
		free(text);
		return build_frames_location(f->p, &nameless, 1);
	}
	frame.name = build_string(f->p, parts->name, parts->n_name);
	frame.file = build_string(f->p, parts->file, parts->n_file);
	return parts->n_module > 0 ? named_frame_location_in(f->p, &frame, module)
				   : named_frame_location(f->p, &frame);
}

static bool same_text(const void *things, uint32_t value, const void *key)
{
	return ((const struct valgrind_frame *)things)[value].text == *(const uint32_t *)key;
}

location_id valgrind_frame_location(struct valgrind_frames *f, const char *s, size_t n)
{
	string_id text = build_string(f->p, s, n);
	uint64_t hash = hash_u64(text.v);
	uint32_t known = map_find(&f->by_text, hash, same_text, f->all.at, &text.v);
	struct parts parts;
	location_id l;

	if (known != MAP_NONE)
		return (location_id){ f->all.at[known].location };
	parts = take_apart(s, n);
	l = make(f, &parts);
	vec_push(&f->all, ((struct valgrind_frame){ text.v, l.v }));
	map_add(&f->by_text, hash, (uint32_t)f->all.n - 1);
	return l;
}

location_id valgrind_frame_mark(struct profile *p, const char *name)
{
	return build_symbol_location(p, build_function(p, build_cstring(p, name), (module_id){ 0 },
						       FUNCTION_MARK, (string_id){ 0 }, 0));
}
