/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Relocations of debug information; see elf_relocate.h. Only absolute ones occur there: a symbol's
 * address and an addend, in 4 or 8 bytes. Numbers of the kinds: each processor's ELF supplement.
 */
#include "config.h"

#include "elf/elf_relocate.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "elf/elf_file.h"

#define NAME_MAX_BYTES 64

static const struct {
	uint16_t machine;
	uint32_t in_4, in_8; /* kinds; 0: there is none */
} machines[] = {
	{ EM_X86_64, R_X86_64_32, R_X86_64_64 },
	{ EM_AARCH64, R_AARCH64_ABS32, R_AARCH64_ABS64 },
	{ EM_386, R_386_32, 0 },
	{ EM_ARM, R_ARM_ABS32, 0 },
	{ EM_PPC64, R_PPC64_ADDR32, R_PPC64_ADDR64 },
	{ EM_S390, R_390_32, R_390_64 },
};

/* The symbols that relocations name. */
struct symbols {
	const struct elf_file *file;
	uint8_t *bytes; /* of the table; owned */
	size_t n;
};

uint64_t elf_relocate_base(const struct elf_file *f, const struct elf_section *s)
{
	return s->flags & SHF_ALLOC ? (uint64_t)s->index << (elf_file_is64(f) ? 40 : 24) : 0;
}

/* ".rela" or ".rel" and the section's name. */
static const struct elf_section *relocations_of(const struct elf_file *f,
						const struct elf_section *s, bool *with_addends)
{
	const struct elf_section *found = NULL;
	char name[NAME_MAX_BYTES];

	for (int i = 0; i < 2 && !found; i++) {
		*with_addends = i == 0;
		snprintf(name, sizeof(name), "%s%s", i ? ".rel" : ".rela", s->name);
		found = elf_file_section(f, name);
	}
	return found && found->type == (*with_addends ? SHT_RELA : SHT_REL) ? found : NULL;
}

bool elf_relocate_wanted(const struct elf_file *f, const struct elf_section *s)
{
	bool with_addends;

	return elf_file_type(f) == ET_REL && relocations_of(f, s, &with_addends);
}

/* Where a symbol is; false: nowhere that is known. */
static bool symbol_value(const struct symbols *s, uint64_t number, uint64_t *out)
{
	bool is64 = elf_file_is64(s->file);
	size_t entry = is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	const struct elf_section *section;
	uint64_t value;
	uint16_t index;
	struct bytes b;

	if (number >= s->n / entry)
		return false;
	b = bytes_over(s->bytes + number * entry, entry, elf_file_swapped(s->file));
	take_u32(&b); /* name */
	if (is64) {
		take_u16(&b); /* info, other */
		index = take_u16(&b);
		value = take_u64(&b);
	} else {
		value = take_u32(&b);
		take_u32(&b); /* size */
		take_u16(&b);
		index = take_u16(&b);
	}
	if (index == SHN_UNDEF || (index >= SHN_LORESERVE && index != SHN_ABS))
		return false;
	section = index == SHN_ABS ? NULL : elf_file_section_at(s->file, index);
	*out = value + (section ? elf_relocate_base(s->file, section) : 0);
	return true;
}

static void write_number(uint8_t *at, unsigned size, uint64_t v, bool swap)
{
	uint32_t four = (uint32_t)v;

	if (swap) {
		v = __builtin_bswap64(v);
		four = __builtin_bswap32(four);
	}
	if (size == 8)
		memcpy(at, &v, 8);
	else
		memcpy(at, &four, 4);
}

static unsigned size_of(const struct elf_file *f, uint64_t kind)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == elf_file_machine(f))
			return kind == 0                  ? 0
			       : kind == machines[i].in_8 ? 8
			       : kind == machines[i].in_4 ? 4
							  : 0;
	return 0;
}

/* One relocation of the n bytes. */
static void apply(const struct symbols *s, struct bytes *b, bool with_addends, uint8_t *bytes,
		  size_t n)
{
	bool is64 = elf_file_is64(s->file), swap = elf_file_swapped(s->file);
	uint64_t offset = is64 ? take_u64(b) : take_u32(b);
	uint64_t info = is64 ? take_u64(b) : take_u32(b), symbol = is64 ? info >> 32 : info >> 8;
	uint64_t addend = !with_addends ? 0 : is64 ? take_u64(b) : (uint64_t)(int32_t)take_u32(b);
	unsigned size = size_of(s->file, is64 ? info & UINT32_MAX : info & 0xff);
	uint64_t value = 0;

	if (b->bad || size == 0 || n < size || offset > n - size)
		return;
	if (!with_addends) {
		struct bytes old = bytes_over(bytes + offset, size, swap);

		addend = size == 8 ? take_u64(&old) : take_u32(&old);
	}
	if (symbol_value(s, symbol, &value))
		write_number(bytes + offset, size, value + addend, swap);
}

void elf_relocate(const struct elf_file *f, const struct elf_section *s, uint8_t *bytes, size_t n)
{
	bool with_addends;
	const struct elf_section *table = relocations_of(f, s, &with_addends), *symtab;
	struct symbols symbols = { .file = f };
	size_t n_table = 0, entry = (elf_file_is64(f) ? 8 : 4) * (with_addends ? 3u : 2u);
	uint8_t *entries;
	struct bytes b;

	if (elf_file_type(f) != ET_REL || !table)
		return;
	symtab = elf_file_section_at(f, table->link);
	if (symtab && symtab->type == SHT_SYMTAB)
		symbols.bytes = elf_file_read_section(f, symtab, &symbols.n);
	entries = symbols.bytes ? elf_file_read_section(f, table, &n_table) : NULL;
	b = bytes_over(entries, entries ? n_table : 0, elf_file_swapped(f));
	while (bytes_left(&b) >= entry)
		apply(&symbols, &b, with_addends, bytes, n);
	free(entries);
	free(symbols.bytes);
}
