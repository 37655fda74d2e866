/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses are counted from where a library was loaded, of each library by itself: each is mapped in a process of its own, at 0. Gecko's
 * are those in memory, where the file says which library was.
 */
#include "config.h"

#include "formats/firefox/firefox_native.h"

#include "base/fmt.h"
#include "base/bisect.h"
#include "base/compare.h"
#include "base/hash.h"
#include "base/map.h"
#include "elf/build_id.h"
#include "symbols/resolver.h"

#include <stdlib.h>
#include <string.h>

#define FACTS_MAX 20u

enum found { NOT_ASKED, FOUND, MISSING };

/* A library of the text. */
struct library {
	enum found found;
	uint32_t unnamed;   /* MISSING: location_id of all that is in it */
	uint64_t n_missing; /* addresses in it, then */
};

/* A library where it was mapped. */
struct mapped {
	uint32_t process, lib;
	uint64_t start, end, base;
};

struct firefox_native {
	struct profile *p;
	capture_id capture;
	const struct firefox_text *text;
	struct resolver_options options;
	struct resolver *resolver;   /* NULL: nothing was asked for yet */
	VEC(struct library) library; /* by its number in the text */
	VEC(struct mapped) mapped;   /* by process and start */
	bool has_mapped;
};

struct firefox_native *firefox_native_new(struct profile *p, capture_id c,
					  const struct firefox_text *text,
					  const struct resolver_options *options)
{
	struct firefox_native *n = xcalloc(1, sizeof(*n));

	n->p = p;
	n->capture = c;
	n->text = text;
	if (options)
		n->options = *options;
	n->options.same_machine = false; /* nothing says on which machine it was recorded */
	return n;
}

void firefox_native_free(struct firefox_native *n)
{
	if (!n)
		return;
	resolver_free(n->resolver);
	vec_done(&n->library);
	vec_done(&n->mapped);
	free(n);
}

static int by_start(const void *a, const void *b)
{
	const struct mapped *x = a, *y = b;

	return COMPARE(x->process, y->process) ?: COMPARE(x->start, y->start);
}

static bool same_id(const void *libs, uint32_t value, const void *code_id)
{
	return ((const struct firefox_lib *)libs)[value].code_id.v == *(const uint32_t *)code_id;
}

/* The first with its build-id, as processes map the same ones, and those below the main one do not say where the program is. */
static uint32_t first_like(struct map *known, const struct firefox_native *n, uint32_t lib)
{
	const struct firefox_lib *libs = n->text->libs.at, *l = &libs[lib];
	uint32_t id = l->code_id.v, first;

	if (id == 0)
		return lib;
	first = map_find(known, hash_u64(id), same_id, libs, &id);
	if (first == MAP_NONE) {
		map_add(known, hash_u64(id), lib);
		return lib;
	}
	return l->path.v == 0 || l->path.v == libs[first].path.v ? first : lib;
}

static void find_mapped(struct firefox_native *n)
{
	struct map known = { 0 };

	n->has_mapped = true;
	for (uint32_t i = 0; i < n->text->libs.n; i++) {
		const struct firefox_lib *l = &n->text->libs.at[i];

		if (l->start > 0 && l->end > l->start && l->offset >= 0 && l->offset <= l->start)
			vec_push(&n->mapped, ((struct mapped){ l->process, first_like(&known, n, i),
							       (uint64_t)l->start, (uint64_t)l->end,
							       (uint64_t)(l->start - l->offset) }));
	}
	map_done(&known);
	if (n->mapped.n > 0)
		qsort(n->mapped.at, n->mapped.n, sizeof(*n->mapped.at), by_start);
}

uint32_t firefox_native_lib_at(struct firefox_native *n, uint32_t process, uint64_t address,
			       uint32_t *in_image)
{
	struct mapped key = { .process = process, .start = address };
	size_t low = 0;
	const struct mapped *m;

	if (!n->has_mapped)
		find_mapped(n);
	BISECT(low, n->mapped.n, i, by_start(&n->mapped.at[i], &key) <= 0);
	m = low > 0 ? &n->mapped.at[low - 1] : NULL;
	if (!m || m->process != process || address >= m->end || address - m->base > UINT32_MAX)
		return FIREFOX_NONE;
	*in_image = (uint32_t)(address - m->base);
	return m->lib;
}

/* Of Linux the code id is the build-id. */
static struct build_id id_of(const char *text)
{
	uint8_t bytes[20];
	size_t n = 0;

	for (; n < sizeof(bytes) && text[2 * n] && text[2 * n + 1]; n++) {
		char digits[3] = { text[2 * n], text[2 * n + 1], '\0' }, *end;

		bytes[n] = (uint8_t)strtoul(digits, &end, 16);
		if (end != digits + 2)
			return (struct build_id){ .n = 0 };
	}
	return build_id_of(bytes, n);
}

static const char *path_of(const struct firefox_native *n, uint32_t lib)
{
	const struct firefox_lib *l = &n->text->libs.at[lib];

	return profile_string(n->p, l->path.v ? l->path : l->name, NULL);
}

/* A process for each library. */
static int32_t pid_of(uint32_t lib)
{
	return (int32_t)(lib % INT32_MAX) + 1;
}

static bool map(struct firefox_native *n, uint32_t lib)
{
	const char *path = path_of(n, lib);
	struct mapping_event m = { .time_ns = INT64_MIN,
				   .pid = pid_of(lib),
				   .path = path,
				   .build_id = id_of(profile_string(
					   n->p, n->text->libs.at[lib].code_id, NULL)),
				   .executable = true };

	if (*path != '/')
		return false;
	if (!n->resolver)
		n->resolver = resolver_new(n->p, n->capture, &n->options);
	return resolver_map_image(n->resolver, &m);
}

/* "[libc.so.6]" for all of a file that is not here. */
static uint32_t unnamed(struct firefox_native *n, module_id m)
{
	const char *name = profile_string(n->p, profile_module(n->p, m)->name, NULL);
	char *text = *name == '[' ? xstrdup(name) : xasprintf("[%s]", *name ? name : "unknown");
	function_id f = build_function(n->p, build_cstring(n->p, text), m, FUNCTION_UNRESOLVED,
				       (string_id){ 0 }, 0);

	free(text);
	return build_symbol_location(n->p, f).v;
}

location_id firefox_native_locate(struct firefox_native *n, uint32_t lib, uint32_t address,
				  module_id m)
{
	struct library *l;

	while (n->library.n <= lib)
		vec_push(&n->library, ((struct library){ .unnamed = ID_NONE }));
	l = &n->library.at[lib];
	if (l->found == NOT_ASKED)
		l->found = map(n, lib) ? FOUND : MISSING;
	if (l->found == FOUND)
		return resolver_locate(n->resolver, pid_of(lib), TIME_NONE, address, MODE_USER,
				       false);
	l->n_missing++;
	if (l->unnamed == ID_NONE)
		l->unnamed = unnamed(n, m);
	return (location_id){ l->unnamed };
}

int firefox_native_name(struct firefox_native *n, struct progress *progress)
{
	int rc = n->resolver ? resolver_name(n->resolver, progress) : 0;

	if (rc == 0 && n->resolver)
		rc = resolver_fetch(n->resolver, progress);
	return rc == 0 && n->resolver ? resolver_inline(n->resolver, progress) : rc;
}

void firefox_native_tell(struct firefox_native *n)
{
	uint32_t n_told = 0;

	for (uint32_t i = 0; i < n->library.n && n_told < FACTS_MAX; i++) {
		const char *id = profile_string(n->p, n->text->libs.at[i].code_id, NULL);
		char count[FMT_SIZE];

		if (n->library.at[i].n_missing == 0)
			continue;
		n_told++;
		build_fact(n->p, n->capture, "symbols", path_of(n, i), FACT_LOSS,
			   "%s address%s without a name: %s%.64s",
			   fmt_count(count, (int64_t)n->library.at[i].n_missing),
			   n->library.at[i].n_missing == 1 ? "" : "es",
			   *id ? "no file here has its build-id, "
			       : "the profile has no build-id of it",
			   id);
	}
}
