/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "elf/function_starts.h"

#include "base/mem.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "elf/frame_tables.h"
#include "unwind/cfi.h"

#include <stdlib.h>

struct function_starts {
	char *path;         /* owned */
	struct build_id id; /* of what was there */
	bool tried;
	struct frame_tables tables; /* empty until tried, or when there are none */
};

struct function_starts *function_starts_new(const struct elf_file *runtime)
{
	struct function_starts *b = xcalloc(1, sizeof(*b));

	b->path = xstrdup(elf_file_name(runtime));
	b->id = *elf_file_build_id(runtime);
	return b;
}

void function_starts_free(struct function_starts *b)
{
	if (!b)
		return;
	frame_tables_done(&b->tables);
	free(b->path);
	free(b);
}

/* What lies there now may be another file. */
static void open_tables(struct function_starts *b)
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

bool function_starts_find(struct function_starts *b, uint64_t offset, uint64_t *begin)
{
	uint64_t address, end;

	if (!b->tried)
		open_tables(b);
	return b->tables.cfi && segments_address(&b->tables.segments, offset, &address) &&
	       cfi_function(b->tables.cfi, address, begin, &end);
}

uint64_t function_starts_bytes(const struct function_starts *b)
{
	return b->tables.n_bytes;
}
