/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for the entries of a procedure linkage table; see plt.h.
 *
 * On x86-64 every entry holds `jmp *slot(%rip)`, and a relocation says whose address is in the slot:
 * that works for lazy and bound-now tables, with and without IBT, in whatever order they are. On
 * others, entries of .plt stand behind a header in the order of the relocations in .rel[a].plt.
 */
#include "config.h"

#include "elf/plt.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "elf/elf_file.h"
#include "elf/symtab.h"

/* A word that the dynamic linker fills in. */
struct slot {
	uint64_t address; /* of the word */
	uint32_t symbol;  /* in the dynamic symbol table; 0: none */
	uint64_t target;  /* of IRELATIVE: where the resolver is; 0: none */
};

struct slots {
	VEC(struct slot) at;
	uint32_t symbols; /* the section of their symbols; 0: none yet */
};

/* The dynamic symbol table, as far as its names go. */
struct names {
	uint8_t *symbols; /* owned; its bytes */
	size_t n_symbols; /* bytes */
	size_t entry;     /* bytes of a symbol */
	const char *text; /* strings, terminated; the symtab's */
	size_t n_text;    /* bytes */
	bool swap;
};

static void load_slots(const struct elf_file *f, const struct elf_section *s, struct slots *to)
{
	bool is64 = elf_file_is64(f), rela = s->type == SHT_RELA;
	size_t word = is64 ? 8 : 4, entry = word * (rela ? 3 : 2), n = 0;
	bool x86_64 = elf_file_machine(f) == EM_X86_64;
	uint8_t *bytes = elf_file_read_section(f, s, &n);
	struct bytes b = bytes_over(bytes, bytes ? n : 0, elf_file_swapped(f));

	to->symbols = s->link;
	while (bytes_left(&b) >= entry) {
		struct slot slot = { .address = is64 ? take_u64(&b) : take_u32(&b) };
		uint64_t info = is64 ? take_u64(&b) : take_u32(&b);
		uint64_t addend = !rela ? 0 : is64 ? take_u64(&b) : take_u32(&b);

		slot.symbol = (uint32_t)(is64 ? ELF64_R_SYM(info) : ELF32_R_SYM(info));
		if (x86_64 && ELF64_R_TYPE(info) == R_X86_64_IRELATIVE)
			slot.target = addend;
		/* Most of .rela.dyn is about data. */
		if (x86_64 && ELF64_R_TYPE(info) != R_X86_64_JUMP_SLOT &&
		    ELF64_R_TYPE(info) != R_X86_64_GLOB_DAT && !slot.target)
			continue;
		vec_push(&to->at, slot);
	}
	free(bytes);
}

static bool load_names(const struct elf_file *f, uint32_t section, struct symtab *to,
		       struct names *n)
{
	const struct elf_section *s = elf_file_section_at(f, section), *strings;
	char *text;

	if (!s || (s->type != SHT_DYNSYM && s->type != SHT_SYMTAB))
		return false;
	strings = elf_file_section_at(f, s->link);
	if (!strings || !(n->symbols = elf_file_read_section(f, s, &n->n_symbols)))
		return false;
	text = (char *)elf_file_read_section(f, strings, &n->n_text);
	if (!text)
		return false;
	symtab_keep(to, text, n->n_text);
	n->text = text;
	n->entry = elf_file_is64(f) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	n->swap = elf_file_swapped(f);
	return true;
}

static const char *name_of(const struct names *n, uint32_t symbol)
{
	uint64_t at = (uint64_t)symbol * n->entry;
	struct bytes b;
	uint32_t name;

	if (symbol == 0 || n->n_text == 0 || at + n->entry > n->n_symbols)
		return NULL;
	b = bytes_over(n->symbols + at, n->entry, n->swap);
	name = take_u32(&b);
	return name > 0 && name < n->n_text ? n->text + name : NULL;
}

/* The name of what is at an address of the file: that of an indirect function's resolver. */
static const char *name_at(const struct elf_file *f, const struct symtab *to, uint64_t address)
{
	const struct symbol *best = NULL;
	uint64_t offset;

	if (!elf_file_offset_of(f, address, &offset))
		return NULL;
	for (size_t i = 0; i < symtab_n(to); i++) {
		const struct symbol *s = symtab_at(to, i);

		if (s->start == offset && s->kind == SYMBOL_CODE &&
		    (!best || s->binding == BINDING_GLOBAL))
			best = s;
	}
	return best ? best->name : NULL;
}

static int by_address(const void *x, const void *y)
{
	uint64_t a = ((const struct slot *)x)->address, b = ((const struct slot *)y)->address;

	return (a > b) - (a < b);
}

static void add(struct symtab *to, uint64_t offset, uint64_t size, const char *name)
{
	symtab_add(to, &(struct symbol){ .start = offset,
					 .end = offset + size,
					 .name = name,
					 .kind = SYMBOL_PLT,
					 .binding = BINDING_GLOBAL });
}

/* The table itself: names what no entry does, which is how it begins. */
static void add_header(struct symtab *to, const struct elf_section *plt)
{
	symtab_add(to, &(struct symbol){ .start = plt->offset,
					 .end = plt->offset + plt->size,
					 .name = ".plt",
					 .kind = SYMBOL_LABEL,
					 .binding = BINDING_LOCAL });
}

static const char *slot_name(const struct elf_file *f, const struct names *n,
			     const struct slot *slot, const struct symtab *to)
{
	return slot->target ? name_at(f, to, slot->target) : name_of(n, slot->symbol);
}

/* The slot that an entry of n bytes at address jumps through; 0: it does not. */
static uint64_t jump_slot(const uint8_t *p, size_t n, uint64_t address)
{
	size_t at = 0;
	int32_t distance;

	if (n >= 4 && memcmp(p, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
		at = 4;
	if (at < n && p[at] == 0xf2) /* bnd */
		at++;
	if (n - at < 6 || p[at] != 0xff || p[at + 1] != 0x25)
		return 0;
	memcpy(&distance, p + at + 2, sizeof(distance));
	return address + at + 6 + (uint64_t)(int64_t)distance;
}

/* One section of x86-64; entries of other sizes than 8 and 16 do not exist. */
static void load_by_code(const struct elf_file *f, const struct elf_section *s,
			 const struct slots *slots, const struct names *names, struct symtab *to)
{
	size_t entry = s->entry_bytes == 8 ? 8 : 16, n = 0;
	uint8_t *p = elf_file_read_section(f, s, &n);

	for (size_t at = 0; p && at + entry <= n; at += entry) {
		struct slot key = { .address = jump_slot(p + at, entry, s->address + at) };
		const struct slot *slot = NULL;
		const char *name = NULL;

		if (key.address)
			slot = bsearch(&key, slots->at.at, slots->at.n, sizeof(key), by_address);
		if (slot)
			name = slot_name(f, names, slot, to);
		if (name)
			add(to, s->offset + at, entry, name);
	}
	free(p);
}

static void load_by_order(const struct elf_file *f, const struct elf_section *plt,
			  const struct slots *slots, const struct names *names, struct symtab *to)
{
	uint64_t header = plt->entry_bytes, entry = plt->entry_bytes;

	if (elf_file_machine(f) == EM_AARCH64) {
		header = 32;
		entry = 16;
	} else if (elf_file_machine(f) == EM_ARM) {
		header = 20;
		entry = 12;
	} else if (elf_file_machine(f) == EM_386) {
		header = entry = 16;
	}
	for (size_t i = 0; i < slots->at.n && entry > 0; i++) {
		uint64_t at = header + i * entry;
		const char *name = name_of(names, slots->at.at[i].symbol);

		if (at > plt->size || entry > plt->size - at)
			break;
		if (name)
			add(to, plt->offset + at, entry, name);
	}
}

void plt_load(const struct elf_file *f, struct symtab *to)
{
	static const char *const tables[] = { ".plt", ".plt.sec", ".plt.got" };
	const struct elf_section *plt = elf_file_section(f, ".plt"), *s;
	bool x86_64 = elf_file_machine(f) == EM_X86_64;
	struct slots slots = { .symbols = 0 };
	struct names names = { .symbols = NULL };

	s = elf_file_section(f, ".rela.dyn");
	if (s && s->type == SHT_RELA && x86_64)
		load_slots(f, s, &slots);
	s = elf_file_section(f, ".rela.plt");
	if (!s)
		s = elf_file_section(f, ".rel.plt");
	if (s && (s->type == SHT_RELA || s->type == SHT_REL))
		load_slots(f, s, &slots);
	if (slots.at.n == 0 || !load_names(f, slots.symbols, to, &names)) {
		names.text = NULL;
		names.n_text = 0;
	}
	if (plt && plt->type == SHT_PROGBITS)
		add_header(to, plt);
	if (x86_64 && slots.at.n > 0) {
		qsort(slots.at.at, slots.at.n, sizeof(*slots.at.at), by_address);
		for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
			s = elf_file_section(f, tables[i]);
			if (s && s->type == SHT_PROGBITS)
				load_by_code(f, s, &slots, &names, to);
		}
	} else if (plt && plt->type != SHT_NOBITS) {
		load_by_order(f, plt, &slots, &names, to);
	}
	free(names.symbols);
	vec_done(&slots.at);
}
