/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames of one file; see inline_lookup.h. Each function's name is written out once by a reader. */
#include "config.h"

#include "symbols/inline_lookup.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "dwarf/debug_info.h"
#include "dwarf/debug_parts.h"
#include "elf/demangle.h"
#include "elf/elf_file.h"
#include "elf/module_layout.h"
#include "elf/segments.h"
#include "symbols/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct inline_lookup {
	char *path;               /* of the file with debug information; owned */
	struct debug_parts parts; /* the rest of its debug information */
	struct build_id id;       /* that it had when it was found */
	struct segments layout;   /* of what was mapped */
	uint64_t base;            /* address of offset 0, if linear */
	bool linear;              /* offsets are distances, not those of a file */
	struct debug_info *info;  /* NULL until opened, or when that failed */
	bool tried;               /* to open it */
	struct debug_plan *plan;  /* of what was asked last, or NULL */
	VEC(uint64_t) addresses;  /* of the offsets that were asked and lie in a segment */
	VEC(size_t) which;        /* and which these are */
	uint64_t file_bytes;      /* of .debug_info, as it is in the file */
	uint64_t packed_bytes;    /* of sections that have to be unpacked */
	bool unopened;            /* at the last try: damaged, or no room */
	uint64_t n_damaged;       /* of all that was open */
	uint64_t n_missing;       /* likewise */
	uint64_t n_by_libdw;      /* likewise */
};

/* A function that was met. */
struct known {
	uint64_t key; /* see key_of() */
	struct inline_function is;
};

struct inline_reader {
	struct inline_lookup *of; /* borrowed */
	struct debug_reader *reader;
	VEC(struct known) functions;
	struct map by_key;        /* of functions */
	VEC(const char *) files;  /* the debug reader's, each once */
	struct map by_file;       /* of files */
	struct inline_frame *out; /* [max], of one offset */
	struct arena text;        /* names */
	inline_take *take;        /* of the group that is being answered */
	void *arg;
};

static struct inline_lookup *inlines_of(const struct image *i)
{
	const struct elf_file *f = image_described(i);
	const struct elf_section *s;
	struct inline_lookup *n;

	if (!f)
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->path = xstrdup(elf_file_name(f));
	debug_parts_copy(&n->parts, &i->parts);
	n->id = *elf_file_build_id(f);
	n->file_bytes = elf_file_debug_info(f)->size;
	for (uint32_t k = 1; (s = elf_file_section_at(f, k)) != NULL; k++)
		if ((s->flags & SHF_COMPRESSED && strncmp(s->name, ".debug_", 7) == 0) ||
		    strncmp(s->name, ".zdebug_", 8) == 0)
			n->packed_bytes += s->size;
	return n;
}

struct inline_lookup *inline_lookup_new(const struct image *i)
{
	struct inline_lookup *n = inlines_of(i);

	if (n)
		segments_take(&n->layout, image_layout(i));
	return n;
}

struct inline_lookup *inline_lookup_new_kernel(const struct image *i, uint64_t base)
{
	struct inline_lookup *n = inlines_of(i);

	if (n) {
		n->linear = true;
		n->base = base;
	}
	return n;
}

struct inline_lookup *inline_lookup_new_module(const struct image *i)
{
	const struct elf_file *f = image_described(i);
	struct inline_lookup *n = f && elf_file_type(f) == ET_REL ? inlines_of(i) : NULL;

	if (n)
		module_layout_take(&n->layout, f);
	return n;
}

uint64_t inline_lookup_file_bytes(const struct inline_lookup *n)
{
	return n->file_bytes;
}

uint64_t inline_lookup_packed_bytes(const struct inline_lookup *n)
{
	return n->packed_bytes;
}

void inline_lookup_close(struct inline_lookup *n)
{
	if (n->info) {
		n->n_damaged += debug_info_n_damaged(n->info);
		n->n_missing += debug_info_n_missing(n->info);
		n->n_by_libdw += debug_info_n_by_libdw(n->info);
	}
	debug_plan_free(n->plan);
	debug_info_free(n->info);
	vec_done(&n->addresses);
	vec_done(&n->which);
	n->plan = NULL;
	n->info = NULL;
	n->tried = false;
}

void inline_lookup_free(struct inline_lookup *n)
{
	if (!n)
		return;
	inline_lookup_close(n);
	segments_done(&n->layout);
	free(n->path);
	debug_parts_done(&n->parts);
	free(n);
}

static void open_info(struct inline_lookup *n)
{
	if (!n->tried)
		n->info = debug_info_open(n->path, &n->parts, &n->id);
	n->tried = true;
	n->unopened = !n->info;
}

void inline_lookup_keep(struct inline_lookup *n)
{
	open_info(n);
	if (n->info)
		debug_info_keep(n->info);
}

size_t inline_lookup_ask(struct inline_lookup *n, const uint64_t *offsets, size_t n_offsets)
{
	debug_plan_free(n->plan);
	n->plan = NULL;
	vec_clear(&n->addresses);
	vec_clear(&n->which);
	open_info(n);
	if (!n->info)
		return 0;
	for (size_t i = 0; i < n_offsets; i++) {
		uint64_t address = offsets[i] + n->base;

		if (!n->linear && !segments_address(&n->layout, offsets[i], &address))
			continue;
		vec_push(&n->addresses, address);
		vec_push(&n->which, i);
	}
	n->plan = debug_plan_new(n->info, n->addresses.at, n->addresses.n);
	return debug_plan_n_groups(n->plan);
}

const struct build_id *inline_lookup_lacks_shared(const struct inline_lookup *n)
{
	return n->parts.shared_id.n > 0 && !n->parts.shared ? &n->parts.shared_id : NULL;
}

uint64_t inline_lookup_n_damaged(const struct inline_lookup *n)
{
	return n->n_damaged + n->unopened;
}

uint64_t inline_lookup_n_missing(const struct inline_lookup *n)
{
	return n->n_missing;
}

uint64_t inline_lookup_n_by_libdw(const struct inline_lookup *n)
{
	return n->n_by_libdw;
}

struct inline_reader *inline_reader_new(struct inline_lookup *n, size_t max)
{
	struct inline_reader *r = xcalloc(1, sizeof(*r));

	r->of = n;
	r->reader = debug_reader_new(n->info, max);
	r->out = xcalloc(max, sizeof(*r->out));
	arena_init(&r->text);
	return r;
}

void inline_reader_free(struct inline_reader *r)
{
	if (!r)
		return;
	debug_reader_free(r->reader);
	vec_done(&r->functions);
	vec_done(&r->files);
	map_done(&r->by_key);
	map_done(&r->by_file);
	arena_done(&r->text);
	free(r->out);
	free(r);
}

static char *write_name(struct inline_reader *r, struct debug_frame *f)
{
	const char *raw = f->linkage_name ? f->linkage_name : f->name;
	char *plain = f->linkage_name ? demangle(f->linkage_name, DEMANGLE_FULL) : NULL;
	char *scope = plain || !raw ? NULL : debug_info_scope(r->reader, f);
	char *full = scope ? xasprintf("%s::%s", scope, raw) : NULL;
	const char *name = plain ? plain : full ? full : raw ? raw : "[inlined]";
	char *kept = arena_strndup(&r->text, name, strlen(name));

	free(plain);
	free(scope);
	free(full);
	return kept;
}

static bool same_file(const void *things, uint32_t value, const void *key)
{
	const struct inline_reader *r = things;

	return r->files.at[value] == key;
}

/* The debug reader has one copy of each path, so that the address will do. */
static uint32_t number_file(struct inline_reader *r, const char *path)
{
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)path);
	uint32_t at;

	if (!path)
		return INLINE_NONE;
	at = map_find(&r->by_file, hash, same_file, r, path);
	if (at != MAP_NONE)
		return at;
	at = (uint32_t)r->files.n;
	map_add(&r->by_file, hash, at);
	vec_push(&r->files, path);
	return at;
}

static bool same_key(const void *things, uint32_t value, const void *key)
{
	const struct inline_reader *r = things;

	return r->functions.at[value].key == *(const uint64_t *)key;
}

/* Units have instances of one function; its linkage name stands in the file once. */
static uint64_t key_of(const struct debug_frame *f)
{
	if (f->linkage_name && f->lasting)
		return (uint64_t)(uintptr_t)f->linkage_name;
	return f->function | UINT64_C(1) << 63;
}

/* The operator() of a lambda is declared nowhere, but its class is. */
static bool is_lambda(const struct debug_frame *f)
{
	return !f->declared && f->name && strncmp(f->name, "operator()", 10) == 0;
}

/* inlined: its name is wanted too. */
static uint32_t number_function(struct inline_reader *r, struct debug_frame *f, bool inlined)
{
	uint64_t key = key_of(f), hash = hash_u64(key);
	uint32_t at = map_find(&r->by_key, hash, same_key, r, &key);
	struct known k = { .key = key };

	if (at == MAP_NONE) {
		if (is_lambda(f))
			free(debug_info_scope(r->reader, f));
		k.is.declared = number_file(r, f->declared);
		k.is.declared_line = f->declared_line;
		at = (uint32_t)r->functions.n;
		map_add(&r->by_key, hash, at);
		vec_push(&r->functions, k);
	}
	if (inlined && !r->functions.at[at].is.name)
		r->functions.at[at].is.name = write_name(r, f);
	return at;
}

/* debug_take */
static void take_frames(void *arg, size_t which, const struct debug_frame *frames, size_t n)
{
	struct inline_reader *r = arg;

	for (size_t i = 0; i < n; i++) {
		struct debug_frame f = frames[n - 1 - i];

		r->out[i].function = number_function(r, &f, i > 0);
		r->out[i].file = number_file(r, f.file);
		r->out[i].line = f.line;
	}
	r->take(r->arg, r->of->which.at[which], r->out, n);
}

void inline_reader_answer(struct inline_reader *r, size_t group, inline_take *take, void *arg)
{
	r->take = take;
	r->arg = arg;
	debug_reader_answer(r->reader, r->of->plan, group, take_frames, r);
}

const struct inline_function *inline_reader_function(const struct inline_reader *r, uint32_t number)
{
	return &r->functions.at[number].is;
}

const char *inline_reader_file(const struct inline_reader *r, uint32_t number)
{
	return r->files.at[number];
}

const uint8_t *inline_reader_md5(const struct inline_reader *r, uint32_t number)
{
	return debug_reader_md5(r->reader, r->files.at[number]);
}
