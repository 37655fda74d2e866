/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames of one file; see inlines.h. Each function's name is written out once. */
#include "config.h"

#include "inlines.h"

#include "arena.h"
#include "debug_info.h"
#include "demangle.h"
#include "elf_file.h"
#include "hash.h"
#include "image.h"
#include "map.h"
#include "mem.h"
#include "resolver.h"
#include "segments.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES 256

/* A function's name, written out. */
struct known_name {
	uint64_t function; /* as struct debug_frame has it */
	const char *name;  /* in the arena */
};

struct inlines {
	char *path;              /* of the file with debug information; owned */
	struct build_id id;      /* that it had when it was found */
	struct segments layout;  /* of what was mapped */
	struct debug_info *info; /* NULL until opened, or when that failed */
	bool tried;              /* to open it */
	VEC(struct known_name) names;
	struct map by_function; /* of names */
	struct arena text;
};

static const struct elf_file *with_debug_info(const struct image *i)
{
	if (i->debug && elf_file_section(i->debug, ".debug_info"))
		return i->debug;
	if (i->runtime && elf_file_section(i->runtime, ".debug_info"))
		return i->runtime;
	return NULL;
}

struct inlines *inlines_new(const struct image *i)
{
	const struct elf_file *f = with_debug_info(i);
	struct inlines *n;

	if (!f)
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->path = xstrdup(elf_file_name(f));
	n->id = *elf_file_build_id(f);
	segments_take(&n->layout, image_layout(i));
	return n;
}

void inlines_close(struct inlines *n)
{
	debug_info_free(n->info);
	vec_done(&n->names);
	map_done(&n->by_function);
	arena_done(&n->text);
	arena_init(&n->text);
	n->info = NULL;
	n->tried = false;
}

void inlines_free(struct inlines *n)
{
	if (!n)
		return;
	inlines_close(n);
	segments_done(&n->layout);
	free(n->path);
	free(n);
}

static bool same_function(const void *things, uint32_t value, const void *key)
{
	const struct inlines *n = things;

	return n->names.at[value].function == *(const uint64_t *)key;
}

static const char *write_name(struct inlines *n, const struct debug_frame *f)
{
	const char *raw = f->linkage_name ? f->linkage_name : f->name;
	char *plain = f->linkage_name ? demangle(f->linkage_name, DEMANGLE_FULL) : NULL;
	char *scope = plain || !raw ? NULL : debug_info_scope(n->info, f);
	char *full = scope ? xasprintf("%s::%s", scope, raw) : NULL;
	const char *name = plain ? plain : full ? full : raw ? raw : "[inlined]";

	name = arena_strndup(&n->text, name, strlen(name));
	free(plain);
	free(scope);
	free(full);
	return name;
}

static const char *name_of(struct inlines *n, const struct debug_frame *f)
{
	uint64_t hash = hash_u64(f->function);
	uint32_t at = map_find(&n->by_function, hash, same_function, n, &f->function);

	if (at != MAP_NONE)
		return n->names.at[at].name;
	map_add(&n->by_function, hash, (uint32_t)n->names.n);
	vec_push(&n->names, ((struct known_name){ f->function, write_name(n, f) }));
	return n->names.at[n->names.n - 1].name;
}

size_t inlines_find(struct inlines *n, uint64_t offset, struct inline_frame *out, size_t max)
{
	struct debug_frame frames[MAX_FRAMES];
	uint64_t address;
	size_t got;

	if (!n->tried) {
		n->tried = true;
		n->info = debug_info_open(n->path, &n->id);
	}
	if (!n->info || !segments_address(&n->layout, offset, &address))
		return 0;
	got = debug_info_frames(n->info, address, frames, max < MAX_FRAMES ? max : MAX_FRAMES);
	for (size_t i = 0; i < got; i++) {
		const struct debug_frame *f = &frames[got - 1 - i];

		out[i] = (struct inline_frame){ .name = name_of(n, f),
						.file = f->file,
						.line = f->line,
						.declared = f->declared,
						.declared_line = f->declared_line };
	}
	return got;
}
