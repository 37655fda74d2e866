/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "code/module_links.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/mem.h"
#include "elf/elf_file.h"
#include "elf/elf_relocate.h"

struct link {
	uint64_t address; /* of the bytes that are filled in */
	const char *name; /* of the symbol, or of the section that it stands for; borrowed */
	int64_t behind;   /* bytes behind what is named */
};

struct module_links {
	VEC(struct link) all; /* by address */
	char *names;          /* what names of symbols point into; owned */
};

/* Sections of code of a module are few. */
#define SECTIONS_MOST 1000

/* The symbols of a file, and their names, whose last byte is 0. */
struct symbols {
	const struct elf_file *file;
	Elf64_Sym *at; /* [n] */
	char *names;   /* [n_names] */
	size_t n, n_names;
};

/* The name of a symbol, or of the section that it stands for; NULL: none. */
static const char *name_of(const struct symbols *t, uint64_t number)
{
	const struct elf_section *section;
	const Elf64_Sym *s;

	if (number == 0 || number >= t->n)
		return NULL;
	s = &t->at[number];
	if (ELF64_ST_TYPE(s->st_info) != STT_SECTION)
		return s->st_name < t->n_names && t->names[s->st_name] ? t->names + s->st_name
								       : NULL;
	section = elf_file_section_at(t->file, s->st_shndx);
	return section ? section->name : NULL;
}

/* Relative places of x86 count from the end of their 4 bytes. */
static int64_t behind(const struct elf_file *f, const Elf64_Rela *r)
{
	uint64_t kind = ELF64_R_TYPE(r->r_info);
	bool relative = elf_file_machine(f) == EM_X86_64 &&
			(kind == R_X86_64_PC32 || kind == R_X86_64_PLT32);

	/* As unsigned: a wrong one may be anything. */
	return (int64_t)((uint64_t)r->r_addend + (relative ? 4 : 0));
}

/* Of one section of code. */
static void add_links(struct module_links *l, const struct symbols *t,
		      const struct elf_section *code)
{
	char *rela = xasprintf(".rela%s", code->name);
	const struct elf_section *from = elf_file_section(t->file, rela);
	uint64_t base = elf_relocate_base(t->file, code);
	size_t n = 0;
	uint8_t *bytes = from && from->type == SHT_RELA ? elf_file_read_section(t->file, from, &n)
							: NULL;

	free(rela);
	for (size_t i = 0; i < n / sizeof(Elf64_Rela) && bytes; i++) {
		const char *name;
		Elf64_Rela r;

		memcpy(&r, bytes + i * sizeof(r), sizeof(r));
		name = name_of(t, ELF64_R_SYM(r.r_info));
		if (name && r.r_offset < code->size)
			vec_push(&l->all,
				 ((struct link){ base + r.r_offset, name, behind(t->file, &r) }));
	}
	free(bytes);
}

static bool read_symbols(struct symbols *t, const struct elf_file *f)
{
	const struct elf_section *s = elf_file_section(f, ".symtab"), *names;
	size_t n = 0;

	names = s ? elf_file_section_at(f, s->link) : NULL;
	*t = (struct symbols){ .file = f };
	if (!names || s->type != SHT_SYMTAB)
		return false;
	t->at = (Elf64_Sym *)(void *)elf_file_read_section(f, s, &n);
	t->n = n / sizeof(*t->at);
	t->names = (char *)elf_file_read_section(f, names, &t->n_names);
	if (t->names && t->n_names > 0)
		t->names[t->n_names - 1] = '\0';
	return t->at && t->names && t->n_names > 0;
}

static int by_address(const void *x, const void *y)
{
	const struct link *a = x, *b = y;

	return a->address < b->address ? -1 : a->address > b->address;
}

struct module_links *module_links_new(const struct elf_file *f)
{
	const struct elf_section *s;
	struct module_links *l = xcalloc(1, sizeof(*l));
	struct symbols t = { .file = f };
	int n = 0;

	if (elf_file_is64(f) && !elf_file_swapped(f) && read_symbols(&t, f))
		for (uint32_t i = 1; n < SECTIONS_MOST && (s = elf_file_section_at(f, i)); i++)
			if (s->flags & SHF_EXECINSTR) {
				add_links(l, &t, s);
				n++;
			}
	free(t.at);
	l->names = t.names;
	if (l->all.n > 0)
		qsort(l->all.at, l->all.n, sizeof(*l->all.at), by_address);
	return l;
}

void module_links_free(struct module_links *l)
{
	if (!l)
		return;
	free(l->names);
	vec_done(&l->all);
	free(l);
}

char *module_links_name(const struct module_links *l, uint64_t address, size_t n)
{
	size_t low = 0;
	const struct link *found;

	BISECT(low, l ? l->all.n : 0, i, l->all.at[i].address < address);
	if (!l || low == l->all.n || l->all.at[low].address - address >= n)
		return NULL;
	found = &l->all.at[low];
	if (found->behind == 0)
		return xstrdup(found->name);
	return xasprintf("%s%s0x%" PRIx64, found->name, found->behind < 0 ? "-" : "+",
			 found->behind < 0 ? -(uint64_t)found->behind : (uint64_t)found->behind);
}
