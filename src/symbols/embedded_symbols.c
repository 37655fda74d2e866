/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols that a recording itself brings; see embedded_symbols.h. */
#include "config.h"

#include "symbols/embedded_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "elf/symtab.h"
#include "symbols/space/dso.h"

struct recorded_file {
	char *path;               /* owned */
	uint64_t address, offset; /* see embedded_symbols_add() */
	struct symtab *symbols;   /* owned */
};

/* Code that is in no file. */
struct declaration {
	char *path, *file; /* owned */
	uint32_t line;
};

struct embedded_symbols {
	VEC(struct declaration) declared;
	struct map declared_by_path; /* into declared */
	VEC(struct recorded_file) file;
	struct map by_path; /* into file */
};

struct embedded_symbols *embedded_symbols_new(void)
{
	return xcalloc(1, sizeof(struct embedded_symbols));
}

void embedded_symbols_free(struct embedded_symbols *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->file.n; i++) {
		free(r->file.at[i].path);
		symtab_free(r->file.at[i].symbols);
	}
	for (size_t i = 0; i < r->declared.n; i++) {
		free(r->declared.at[i].path);
		free(r->declared.at[i].file);
	}
	vec_done(&r->declared);
	map_done(&r->declared_by_path);
	vec_done(&r->file);
	map_done(&r->by_path);
	free(r);
}

static bool same_path(const void *things, uint32_t value, const void *key)
{
	const struct embedded_symbols *r = things;

	return strcmp(r->file.at[value].path, key) == 0;
}

void embedded_symbols_add(struct embedded_symbols *r, const char *path, uint64_t address,
			  uint64_t offset, struct symtab *t)
{
	struct recorded_file f = {
		.path = xstrdup(path), .address = address, .offset = offset, .symbols = t
	};

	if (map_find(&r->by_path, hash_bytes(path, strlen(path)), same_path, r, path) == MAP_NONE)
		map_add(&r->by_path, hash_bytes(path, strlen(path)), (uint32_t)r->file.n);
	vec_push(&r->file, f);
}

static bool same_declaration(const void *things, uint32_t value, const void *key)
{
	const struct embedded_symbols *r = things;

	return strcmp(r->declared.at[value].path, key) == 0;
}

void embedded_symbols_declare(struct embedded_symbols *r, const char *path, const char *file,
			      uint32_t line)
{
	uint64_t hash = hash_bytes(path, strlen(path));
	struct declaration d = { .line = line };

	if (map_find(&r->declared_by_path, hash, same_declaration, r, path) != MAP_NONE)
		return;
	d.path = xstrdup(path);
	d.file = xstrdup(file);
	map_add(&r->declared_by_path, hash, (uint32_t)r->declared.n);
	vec_push(&r->declared, d);
}

const char *embedded_symbols_declared(const struct embedded_symbols *r, const char *path,
				      uint32_t *line)
{
	uint32_t i = map_find(&r->declared_by_path, hash_bytes(path, strlen(path)),
			      same_declaration, r, path);

	if (i == MAP_NONE)
		return NULL;
	*line = r->declared.at[i].line;
	return r->declared.at[i].file;
}

struct symtab *embedded_symbols_find(const struct embedded_symbols *r, const struct dso *d,
				     uint64_t *add)
{
	uint32_t i = map_find(&r->by_path, hash_bytes(d->path, strlen(d->path)), same_path, r,
			      d->path);
	const struct recorded_file *f;

	if (i == MAP_NONE)
		return NULL;
	f = &r->file.at[i];
	*add = f->address - (f->offset == UINT64_MAX ? d->code_offset : f->offset);
	/* Its addresses are distances from where it was. */
	if (d->kind == DSO_KERNEL)
		*add = d->reference_value;
	return f->symbols;
}
