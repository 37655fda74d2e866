/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paths in the order of their texts read from the end stand next to those with which they have most in common. Of a comparison nothing
 * says which build is of which side: but a path that one build has alone may be one that another has alone.
 */
#include "config.h"

#include "query/core/source_names.h"

#include "base/compare.h"
#include "base/hash.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

static const char *text(const struct source_names *s, uint32_t file)
{
	return profile_string(s->p, (string_id){ file }, NULL);
}

static bool same_file(const void *things, uint32_t value, const void *key)
{
	return ((const struct source_names *)things)->files.at[value] == *(const uint32_t *)key;
}

static uint32_t number_of(const struct source_names *s, uint32_t file)
{
	return map_find(&s->by_file, hash_u64(file), same_file, s, &file);
}

void source_names_add(struct source_names *s, string_id file, module_id module)
{
	struct source_place at = { file.v, module.v, profile_module(s->p, module)->name.v };

	if (file.v == 0)
		return;
	if (number_of(s, file.v) == MAP_NONE) {
		map_add(&s->by_file, hash_u64(file.v), (uint32_t)s->files.n);
		vec_push(&s->files, file.v);
	}
	/* Functions of one file stand one after the other. */
	if (s->places.n == 0 || memcmp(&s->places.at[s->places.n - 1], &at, sizeof(at)) != 0)
		vec_push(&s->places, at);
}

/* By their texts from the end on. */
static int by_end(const char *a, const char *b)
{
	size_t n = strlen(a), k = strlen(b), same = path_common_end(a, b);

	if (same == n || same == k)
		return COMPARE(n, k);
	return (unsigned char)a[n - 1 - same] - (unsigned char)b[k - 1 - same];
}

/* --- one file -------------------------------------------------------------------------------- */

static int by_name_file_module(const void *a, const void *b)
{
	const struct source_place *x = a, *y = b;

	return COMPARE(x->name, y->name) ?: COMPARE(x->file, y->file)
					 ?: COMPARE(x->module, y->module);
}

static int by_name_end(const void *a, const void *b, void *names)
{
	const struct source_place *x = a, *y = b;

	return COMPARE(x->name, y->name) ?: by_end(text(names, x->file), text(names, y->file));
}

/* Leaves each place once, and none of a file that several builds of a module have. */
static void keep_lone(struct source_names *s)
{
	size_t n = 0, end;

	qsort(s->places.at, s->places.n, sizeof(*s->places.at), by_name_file_module);
	for (size_t i = 0; i < s->places.n; i = end) {
		const struct source_place *first = &s->places.at[i], *last = first;

		for (end = i + 1; end < s->places.n && s->places.at[end].name == first->name &&
				  s->places.at[end].file == first->file;
		     end++)
			last = &s->places.at[end];
		if (last->module == first->module)
			s->places.at[n++] = *first;
	}
	s->places.n = n;
}

/* Two places that may be of one file. */
struct pair {
	uint32_t a, b, parts;
};

static int most_alike(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return COMPARE(y->parts, x->parts) ?: COMPARE(x->a, y->a);
}

/* Is there no third place of such a last part? Two of one end stand next to each other. */
static bool only_two(const struct source_names *s, size_t a, size_t b)
{
	const struct source_place *at = s->places.at;

	if (b != a + 1)
		return false;
	if (a > 0 && at[a - 1].name == at[a].name &&
	    path_common_parts(text(s, at[a - 1].file), text(s, at[a].file)) > 0)
		return false;
	return b + 1 == s->places.n || at[b + 1].name != at[b].name ||
	       path_common_parts(text(s, at[b + 1].file), text(s, at[b].file)) == 0;
}

/* The file itself, of those that are one. */
static uint32_t root_of(const struct source_names *s, uint32_t n)
{
	while (s->as.at[n] != n)
		n = s->as.at[n];
	return n;
}

static void join_pairs(struct source_names *s, const struct pair *pair, size_t n)
{
	bool *taken = xcalloc(s->files.n + 1, sizeof(*taken));

	for (size_t i = 0; i < n; i++) {
		uint32_t a = number_of(s, s->places.at[pair[i].a].file);
		uint32_t b = number_of(s, s->places.at[pair[i].b].file);

		if (taken[a] || taken[b])
			continue;
		taken[a] = taken[b] = true;
		a = root_of(s, a);
		b = root_of(s, b);
		s->as.at[a > b ? a : b] = a < b ? a : b;
	}
	free(taken);
}

/* Each place and the next one on either side that is of another build. */
static void join(struct source_names *s)
{
	VEC(struct pair) pairs = { 0 };

	if (s->places.n == 0)
		return;
	keep_lone(s);
	qsort_r(s->places.at, s->places.n, sizeof(*s->places.at), by_name_end, s);
	for (size_t i = 1; i < s->places.n; i++) {
		size_t k = i - 1;
		uint32_t parts;

		if (s->places.at[k].name != s->places.at[i].name ||
		    s->places.at[k].module == s->places.at[i].module)
			continue;
		parts = path_common_parts(text(s, s->places.at[k].file),
					  text(s, s->places.at[i].file));
		/* Many files of a tree may be called mod.rs. */
		if (parts > 1 || (parts == 1 && only_two(s, k, i)))
			vec_push(&pairs, ((struct pair){ (uint32_t)k, (uint32_t)i, parts }));
	}
	if (pairs.n > 0)
		qsort(pairs.at, pairs.n, sizeof(*pairs.at), most_alike);
	join_pairs(s, pairs.at, pairs.n);
	vec_done(&pairs);
}

/* --- what they are called -------------------------------------------------------------------- */

static int by_end_of_text(const void *a, const void *b, void *names)
{
	const struct source_names *s = names;

	return by_end(text(s, s->files.at[*(const uint32_t *)a]),
		      text(s, s->files.at[*(const uint32_t *)b]));
}

/* The part of a path that begins where at is, or before. */
static size_t part_of(const char *path, size_t at)
{
	while (at > 0 && path[at - 1] != '/')
		at--;
	return at;
}

/* Where a label begins that is no end of other; at least at the last part. */
static size_t begin_apart(const char *path, const char *other)
{
	size_t n = strlen(path), k = strlen(other), same = path_common_end(path, other);
	size_t at;

	if (same == n)
		return 0;
	at = part_of(path, n - same - (path[n - same - 1] == '/' && same == k));
	return at == 1 ? 0 : at;
}

static size_t last_part(const char *path)
{
	size_t n = strlen(path);

	return part_of(path, n > 0 && path[n - 1] == '/' ? n - 1 : n);
}

static void name_them(struct source_names *s)
{
	uint32_t *order = xreallocarray(NULL, s->files.n + 1, sizeof(*order)), n = 0;

	for (uint32_t i = 0; i < s->files.n; i++)
		if (s->as.at[i] == i)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_end_of_text, s);
	for (uint32_t i = 0; i < n; i++) {
		const char *path = text(s, s->files.at[order[i]]);
		size_t at = last_part(path), apart;

		for (int side = -1; side <= 1; side += 2) {
			if ((side < 0 && i == 0) || (side > 0 && i + 1 == n))
				continue;
			apart = begin_apart(path, text(s, s->files.at[order[(int64_t)i + side]]));
			at = apart < at ? apart : at;
		}
		s->label.at[order[i]] = path + at;
	}
	free(order);
}

void source_names_make(struct source_names *s, bool compares)
{
	for (uint32_t i = 0; i < s->files.n; i++) {
		vec_push(&s->as, i);
		vec_push(&s->label, NULL);
	}
	if (compares)
		join(s);
	name_them(s);
}

string_id source_names_file(const struct source_names *s, string_id file, const char **label)
{
	uint32_t n = root_of(s, number_of(s, file.v));

	*label = s->label.at[n];
	return (string_id){ s->files.at[n] };
}

void source_names_done(struct source_names *s)
{
	vec_done(&s->places);
	vec_done(&s->files);
	vec_done(&s->as);
	vec_done(&s->label);
	map_done(&s->by_file);
}
