/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unwind rules of generated code; see jit_unwind.h. Each function has tables of its own. */
#include "config.h"

#include "symbols/jit/jit_unwind.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "symbols/jit/jit_dump.h"
#include "unwind/cfi.h"

/* Of a function. */
struct known {
	bool tried;       /* its tables were looked for */
	struct cfi *cfi;  /* NULL: none; owned */
	uint8_t *bytes;   /* that it borrows from; owned */
	uint64_t address; /* of the function, less its offset in the dump */
};

struct jit_unwind {
	const struct jit_dump *dump; /* borrowed */
	VEC(struct known)
	known; /* of its functions, those that were asked for and all before them */
};

struct jit_unwind *jit_unwind_new(const struct jit_dump *d)
{
	struct jit_unwind *u = xcalloc(1, sizeof(*u));

	u->dump = d;
	return u;
}

void jit_unwind_free(struct jit_unwind *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->known.n; i++) {
		cfi_free(u->known.at[i].cfi);
		free(u->known.at[i].bytes);
	}
	vec_done(&u->known);
	free(u);
}

static void read_tables(struct jit_unwind *u, enum unwind_arch arch, size_t index)
{
	struct known *k = &u->known.at[index];
	struct cfi_sections s = { .arch = arch };
	struct jit_tables t;

	k->tried = true;
	k->bytes = jit_dump_read_tables(u->dump, index, &t);
	if (!k->bytes)
		return;
	s.eh_frame = (struct cfi_section){ t.eh_frame, t.n, t.address };
	k->cfi = cfi_new(&s);
	k->address = t.code - t.code_offset;
}

struct cfi *jit_unwind_find(struct jit_unwind *u, enum unwind_arch arch, uint64_t offset,
			    uint64_t *address)
{
	const struct jit_dump_head *h = jit_dump_head(u->dump);
	uint32_t machine = arch == UNWIND_X86_64 ? EM_X86_64 : EM_AARCH64;
	size_t i = jit_dump_index(u->dump, offset);

	if (i == SIZE_MAX || h->machine != machine || h->swapped)
		return NULL;
	while (u->known.n <= i)
		vec_push(&u->known, ((struct known){ .tried = false }));
	if (!u->known.at[i].tried)
		read_tables(u, arch, i);
	*address = u->known.at[i].address + offset;
	return u->known.at[i].cfi;
}
