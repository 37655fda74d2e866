/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The symbols of ELF files; see elf_symtab.h. Which symbols count follows perf 6.1: functions, objects
 * and visible labels of sections that are loaded and, for labels, hold text or data.
 */
#include "config.h"

#include "elf/elf_symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "elf/elf_file.h"
#include "elf/elf_relocate.h"
#include "elf/module_layout.h"
#include "elf/plt.h"
#include "elf/segments.h"
#include "elf/symtab.h"

/* A symbol of either class. */
struct raw_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, size;
};

/* A symbol table being read. */
struct reader {
	const struct elf_file *named;   /* whose table it is */
	const struct elf_file *runtime; /* whose segments count */
	const char *text;               /* the string table, terminated */
	size_t n_text;                  /* bytes of it */
	struct symtab *to;
};

static const struct elf_section *table(const struct elf_file *f, const char *name, uint32_t type)
{
	const struct elf_section *s = elf_file_section(f, name);

	return s && s->type == type && s->size > 0 ? s : NULL;
}

bool elf_symtab_has_symtab(const struct elf_file *f)
{
	return table(f, ".symtab", SHT_SYMTAB) != NULL;
}

bool elf_symtab_has_dynsym(const struct elf_file *f)
{
	return table(f, ".dynsym", SHT_DYNSYM) != NULL;
}

static struct raw_symbol take_symbol(struct bytes *b, bool is64)
{
	struct raw_symbol s;

	s.name = take_u32(b);
	if (!is64) {
		s.value = take_u32(b);
		s.size = take_u32(b);
	}
	s.info = take_u8(b);
	s.other = take_u8(b);
	s.section = take_u16(b);
	if (is64) {
		s.value = take_u64(b);
		s.size = take_u64(b);
	}
	return s;
}

/* Marks that assemblers leave on ARM to tell code from data: $a, $d, $t, $x, with or without ".n". */
static bool is_mapping_symbol(const char *name, uint16_t machine)
{
	if (machine != EM_ARM && machine != EM_AARCH64 && machine != EM_RISCV)
		return false;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == '\0' || name[2] == '.' || machine == EM_RISCV);
}

/* Of a section that holds what is executed or read at run time? */
static bool counts(const struct raw_symbol *s, const struct elf_section *section)
{
	unsigned visibility = ELF64_ST_VISIBILITY(s->other);

	if (!section || !(section->flags & SHF_ALLOC))
		return false;
	switch (ELF64_ST_TYPE(s->info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return true;
	case STT_NOTYPE:
		return visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
		       (strstr(section->name, "text") || strstr(section->name, "data"));
	default:
		return false;
	}
}

/* Fills what is known without its place; false when s is none of the symbols that name code. */
static bool make(const struct reader *r, const struct raw_symbol *s, struct symbol *out,
		 const struct elf_section **section)
{
	unsigned type = ELF64_ST_TYPE(s->info), bind = ELF64_ST_BIND(s->info);

	if (s->name == 0 || s->name >= r->n_text || s->section == SHN_UNDEF ||
	    s->section >= SHN_LORESERVE)
		return false;
	*section = elf_file_section_at(r->named, s->section);
	if (!counts(s, *section))
		return false;
	out->name = r->text + s->name;
	if (is_mapping_symbol(out->name, elf_file_machine(r->named)))
		return false;
	out->kind = type == STT_NOTYPE ? SYMBOL_LABEL : SYMBOL_CODE;
	out->binding = bind == STB_WEAK     ? BINDING_WEAK
		       : bind == STB_GLOBAL ? BINDING_GLOBAL
					    : BINDING_LOCAL;
	return true;
}

/* What turns a symbol's value into the address it is kept under; false: it has none. */
typedef bool place_fn(const struct reader *r, const struct elf_section *section, uint64_t *value,
		      const void *arg);

static bool place_in_file(const struct reader *r, const struct elf_section *section,
			  uint64_t *value, const void *arg)
{
	(void)arg;
	if (elf_file_offset_of(r->runtime, *value, value))
		return true;
	/*
	 * In no segment (an end mark, an image made by a JIT): the section says where it is in the
	 * file. Those of debug files without contents do not; the same one of the other file does.
	 */
	if (section->type == SHT_NOBITS && r->runtime != r->named)
		section = elf_file_section_at(r->runtime, section->index);
	if (section)
		*value = *value - section->address + section->offset;
	return true;
}

static void read_table(struct reader *r, const struct elf_section *s, place_fn *place,
		       const void *arg)
{
	const struct elf_section *strings = elf_file_section_at(r->named, s->link);
	bool is64 = elf_file_is64(r->named);
	size_t entry = is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), n = 0, n_text = 0;
	uint8_t *bytes = elf_file_read_section(r->named, s, &n);
	char *text = strings ? (char *)elf_file_read_section(r->named, strings, &n_text) : NULL;
	struct bytes b = bytes_over(bytes, bytes ? n : 0, elf_file_swapped(r->named));
	bool thumb = elf_file_machine(r->named) == EM_ARM;

	if (!bytes || !text) {
		free(bytes);
		free(text);
		return;
	}
	r->text = text;
	r->n_text = n_text;
	symtab_keep(r->to, text, n_text);
	symtab_reserve(r->to, n / entry);
	while (bytes_left(&b) >= entry) {
		struct raw_symbol raw = take_symbol(&b, is64);
		const struct elf_section *section;
		struct symbol sym;

		if (!make(r, &raw, &sym, &section))
			continue;
		/* Bit 0 of a Thumb function's address says so. */
		sym.start = raw.value -
			    (thumb && ELF64_ST_TYPE(raw.info) == STT_FUNC ? raw.value & 1 : 0);
		if (!place(r, section, &sym.start, arg))
			continue;
		sym.end = raw.size > UINT64_MAX - sym.start ? UINT64_MAX : sym.start + raw.size;
		symtab_add(r->to, &sym);
	}
	free(bytes);
}

struct symtab *elf_symtab_load(const struct elf_file *named, const struct elf_file *runtime,
			       bool partial)
{
	struct reader r = { .named = named, .runtime = runtime, .to = symtab_new() };
	const struct elf_section *symtab = table(named, ".symtab", SHT_SYMTAB);
	const struct elf_section *dynsym = table(named, ".dynsym", SHT_DYNSYM);

	if (symtab)
		read_table(&r, symtab, place_in_file, NULL);
	if (dynsym)
		read_table(&r, dynsym, place_in_file, NULL);
	dynsym = partial ? table(runtime, ".dynsym", SHT_DYNSYM) : NULL;
	r.named = runtime;
	if (dynsym)
		read_table(&r, dynsym, place_in_file, NULL);
	plt_load(runtime, r.to);
	return r.to;
}

static bool place_by_reference(const struct reader *r, const struct elf_section *section,
			       uint64_t *value, const void *arg)
{
	(void)r;
	(void)section;
	*value -= *(const uint64_t *)arg;
	return true;
}

/* The value of a symbol of the table, by name. */
static bool find_value(const struct elf_file *f, const struct elf_section *s, const char *name,
		       uint64_t *value)
{
	const struct elf_section *strings = elf_file_section_at(f, s->link);
	bool is64 = elf_file_is64(f), found = false;
	size_t entry = is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), n = 0, n_text = 0;
	uint8_t *bytes = elf_file_read_section(f, s, &n);
	char *text = strings ? (char *)elf_file_read_section(f, strings, &n_text) : NULL;
	struct bytes b = bytes_over(bytes, bytes ? n : 0, elf_file_swapped(f));

	while (text && !found && bytes_left(&b) >= entry) {
		struct raw_symbol raw = take_symbol(&b, is64);

		if (raw.name < n_text && strcmp(text + raw.name, name) == 0) {
			*value = raw.value;
			found = true;
		}
	}
	free(bytes);
	free(text);
	return found;
}

struct symtab *elf_symtab_load_kernel(const struct elf_file *f, const char *reference,
				      uint64_t *value)
{
	struct reader r = { .named = f, .runtime = f };
	const struct elf_section *symtab = table(f, ".symtab", SHT_SYMTAB);

	*value = 0;
	if (!symtab || (*reference && !find_value(f, symtab, reference, value)))
		return NULL;
	r.to = symtab_new();
	read_table(&r, symtab, place_by_reference, value);
	return r.to;
}

static bool place_in_module(const struct reader *r, const struct elf_section *section,
			    uint64_t *value, const void *arg)
{
	const struct segments *layout = arg;
	uint64_t base = elf_relocate_base(r->named, section);

	for (size_t i = 0; i < layout->all.n; i++) {
		if (layout->all.at[i].address != base)
			continue;
		*value += layout->all.at[i].offset - section->address;
		return true;
	}
	return false;
}

struct symtab *elf_symtab_load_module(const struct elf_file *f)
{
	struct reader r = { .named = f, .runtime = f };
	const struct elf_section *symtab = table(f, ".symtab", SHT_SYMTAB);
	struct segments layout = { .all = { 0 } };

	if (!symtab)
		return NULL;
	r.to = symtab_new();
	module_layout_take(&layout, f);
	read_table(&r, symtab, place_in_module, &layout);
	segments_done(&layout);
	return r.to;
}
