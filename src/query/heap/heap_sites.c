/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/heap_sites.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a frame says of where memory was asked for. */
enum says {
	SAYS_NOTHING,   /* a thread's name, a wrapper, a language's library */
	SAYS_OWN,       /* a function of the program */
	SAYS_NAMELESS,  /* the program, but not where: it has no name, or one that all of it has */
	SAYS_OTHER,     /* a function of something else */
	SAYS_SOMEWHERE, /* something else, but not where */
};

/*
 * Where the name of a function begins behind the type that it returns, which templates are written
 * with: "void std::f<int>(int)".
 */
static const char *qualified_name(const char *label)
{
	const char *begin = label;
	int depth = 0;

	for (const char *at = label; *at && (depth > 0 || *at != '('); at++) {
		if (depth == 0 && strncmp(at, "operator", 8) == 0)
			break;
		if (depth == 0 && *at == ' ' && at[1])
			begin = at + 1;
		depth += *at == '<' || *at == '(';
		depth -= (*at == '>' || *at == ')') && depth > 0;
	}
	return begin;
}

/* Code of a language's own library, which is compiled into programs but is not what they are about. */
static bool is_of_language(const char *label)
{
	static const char *const begins[] = {
		"std::",    "__gnu_cxx::", "operator new", "alloc::", "core::",
		"<alloc::", "<core::",     "<std::",       "__rust_", "hashbrown::",
	};
	const char *name = qualified_name(label);

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0 ||
		    strncmp(label, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* A header of the C++ library: valgrind names source files in place of modules, and inlined functions without their namespace. */
static bool is_library_header(const char *file)
{
	static const char *const names[] = { "new_allocator.h",   "alloc_traits.h",
					     "allocated_ptr.h",   "basic_string.h",
					     "unique_ptr.h",      "shared_ptr_base.h",
					     "hashtable_policy.h" };
	size_t n = strlen(file);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(file, names[i]) == 0)
			return true;
	return (n > 4 && strcmp(file + n - 4, ".tcc") == 0) ||
	       (n > 6 && strncmp(file, "stl_", 4) == 0 && strcmp(file + n - 2, ".h") == 0);
}

/* xmalloc(), g_realloc(), sqlite3Malloc, bfd_zalloc, xstrdup: their callers are who asks. */
static bool is_wrapper(const char *label)
{
	static const char *const ends[] = { "alloc",  "alloc0",       "alloczero",
					    "allocz", "reallocarray", "memalign",
					    "strdup", "strndup",      "memdup" };
	const char *name = qualified_name(label);
	size_t n = strcspn(name, "(@[. ");

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t end = strlen(ends[i]);

		if (n >= end && strncasecmp(name + n - end, ends[i], end) == 0)
			return n < 7 || strncasecmp(name + n - 7, "dealloc", 7) != 0;
	}
	return false;
}

/* Where every stack of a program begins says nothing of it. */
static bool is_start(const char *label)
{
	return strcmp(label, "_start") == 0;
}

static bool is_main(const char *label)
{
	return strncmp(label, "main", 4) == 0 && (!label[4] || label[4] == '(');
}

static enum says says_of(const struct key *key)
{
	bool nameless = key->flags & FUNCTION_UNRESOLVED;

	if (key->flags & (FUNCTION_COMM | FUNCTION_MARK) ||
	    (!nameless && (is_of_language(key->label) || is_wrapper(key->label) ||
			   is_library_header(key->module))))
		return SAYS_NOTHING;
	if (key->family == FAMILY_PROGRAM)
		return nameless || is_start(key->label) ? SAYS_NAMELESS : SAYS_OWN;
	return nameless ? SAYS_SOMEWHERE : SAYS_OTHER;
}

/* A program that is its main() alone calls libraries to be what it is, as interpreters do: these say where. */
static void pass_over_launchers(const struct groups *keys, enum says *says)
{
	for (uint32_t i = 0; i < keys->n; i++) {
		const char *module = keys->key[i].module;
		bool alone = says[i] == SAYS_OWN && is_main(keys->key[i].label);

		for (uint32_t k = 0; alone && k < keys->n; k++)
			alone = k == i || says[k] != SAYS_OWN ||
				strcmp(keys->key[k].module, module) != 0;
		if (alone)
			says[i] = SAYS_NAMELESS;
	}
}

/* What a stack's frames say, from the outermost on. */
struct site {
	struct heap_site own; /* the innermost SAYS_OWN, or of KEY_NONE */
	/* of what of others stands further in than all of the program, or of KEY_NONE */
	struct heap_site other;
	struct heap_site last; /* the innermost frame, or one of the program without a name */
	bool nameless;         /* is the innermost of the program's without a name? */
};

static const struct heap_site no_site = { .key = KEY_NONE };

static void take_frame(struct site *s, const struct groups *keys, const enum says *says,
		       struct heap_site at)
{
	enum says is = says[at.key];

	if (!s->nameless)
		s->last = at;
	if (is == SAYS_OWN || is == SAYS_NAMELESS) {
		s->own = is == SAYS_OWN ? at : s->own;
		s->nameless = is == SAYS_NAMELESS;
		s->last = at;
		s->other = no_site;
	} else if (is == SAYS_OTHER) {
		s->other = at;
	} else if (is == SAYS_SOMEWHERE &&
		   (s->other.key == KEY_NONE ||
		    strcmp(keys->key[s->other.key].module, keys->key[at.key].module))) {
		s->other = at;
	}
}

static struct heap_site site_of(const struct site *s, const struct groups *keys)
{
	bool begun = s->last.key != KEY_NONE && keys->key[s->last.key].flags & FUNCTION_BEGIN;

	if (s->own.key != KEY_NONE && !s->nameless)
		return s->own;
	if (s->other.key != KEY_NONE)
		return s->other;
	return s->own.key != KEY_NONE && !begun ? s->own : s->last;
}

/* Without inlined functions a location is one frame, whose call is where its run begins. */
static void take_location(struct site *s, const struct groups *keys, const enum says *says,
			  const struct location_columns *l, uint32_t location, bool inlines)
{
	const struct frame *f = location_frames(l, location);
	uint32_t module = l->module[location], function = location_function(l, location);
	struct heap_site at = { .key = groups_of_frame(keys, function, module) };

	if (f && !inlines) {
		at.line = f->line;
		at.file = f->line ? f->file : 0;
	}
	if (!f || !inlines)
		take_frame(s, keys, says, at);
	for (uint32_t i = 0; f && inlines && i <= f->n_more; i++) {
		at.key = groups_of_frame(keys, f[i].function, module);
		at.line = f[i].line;
		at.file = f[i].line ? f[i].file : 0;
		take_frame(s, keys, says, at);
	}
}

struct heap_site *heap_sites(const struct profile *p, const struct profile_counts *counts,
			     const struct groups *keys, bool inlines)
{
	uint32_t n = counts->n_stacks;
	struct heap_site *out = xmalloc(n * sizeof(*out));
	struct site *site = xcalloc(n, sizeof(*site));
	enum says *says = xcalloc(keys->n, sizeof(*says)); /* by key */
	struct location_columns l;
	struct stack_columns s;

	for (uint32_t i = 0; i < keys->n; i++)
		says[i] = says_of(&keys->key[i]);
	pass_over_launchers(keys, says);
	profile_locations(p, &l);
	profile_stacks_of(p, counts, &s);
	out[0] = no_site;
	site[0] = (struct site){ no_site, no_site, no_site, false };
	for (uint32_t i = 1; i < n; i++) {
		site[i] = site[s.parent[i]];
		take_location(&site[i], keys, says, &l, s.location[i], inlines);
		out[i] = site_of(&site[i], keys);
	}
	free(says);
	free(site);
	return out;
}
