/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "begins.h"

#include "build_id.h"
#include "cfi.h"
#include "elf_file.h"
#include "frame_tables.h"
#include "mem.h"

#include <stdlib.h>

struct begins {
	char *path;         /* owned */
	struct build_id id; /* of what was there */
	bool tried;
	struct frame_tables tables; /* empty until tried, or when there are none */
};

struct begins *begins_new(const struct elf_file *runtime)
{
	struct begins *b = xcalloc(1, sizeof(*b));

	b->path = xstrdup(elf_file_name(runtime));
	b->id = *elf_file_build_id(runtime);
	return b;
}

void begins_free(struct begins *b)
{
	if (!b)
		return;
	frame_tables_done(&b->tables);
	free(b->path);
	free(b);
}

/* What lies there now may be another file. */
static void open_tables(struct begins *b)
{
	struct elf_file *f;

	b->tried = true;
	if (elf_file_open(b->path, &f, NULL) != 0)
		return;
	if (b->id.n == 0 ? elf_file_build_id(f)->n == 0
			 : build_id_equal(&b->id, elf_file_build_id(f)))
		frame_tables_take(&b->tables, f, NULL);
	elf_file_close(f);
}

bool begins_find(struct begins *b, uint64_t offset, uint64_t *begin)
{
	uint64_t address, end;

	if (!b->tried)
		open_tables(b);
	return b->tables.cfi && segments_address(&b->tables.segments, offset, &address) &&
	       cfi_function(b->tables.cfi, address, begin, &end);
}

uint64_t begins_bytes(const struct begins *b)
{
	return b->tables.n_bytes;
}
