/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headers are copied before anything of them is used; sizes are checked against the file before memory is asked for. */
#include "config.h"

#include "record/heap/patch/elf_symbols.h"

#include "record/heap/trace/kernel_stat.h"
#include "record/heap/trace/tracer_memory.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_SECTIONS 65536u
#define MOST_BYTES    (UINT64_C(1) << 30) /* of one table */
#define READ_SECTIONS 48u                 /* at once: few libraries have more */

struct file {
	int fd;
	uint64_t n;                        /* bytes */
	Elf64_Shdr section[READ_SECTIONS]; /* those that were read last */
	uint64_t first, end;               /* which they are */
};

static bool read_at(const struct file *f, uint64_t at, void *out, uint64_t n)
{
	uint8_t *to = out;

	if (at > f->n || n > f->n - at)
		return false;
	while (n) {
		ssize_t got = pread(f->fd, to, n, (off_t)at);

		if (got <= 0)
			return false;
		to += got;
		at += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return true;
}

static bool read_header(const struct file *f, Elf64_Ehdr *h)
{
	return read_at(f, 0, h, sizeof(*h)) && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
	       h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_ident[EI_DATA] == ELFDATA2LSB &&
	       h->e_phentsize == sizeof(Elf64_Phdr) && h->e_shentsize == sizeof(Elf64_Shdr);
}

static void read_loads(const struct file *f, const Elf64_Ehdr *h, struct elf_symbols *s)
{
	Elf64_Phdr all[ELF_SYMBOLS_LOADS];
	uint64_t n = h->e_phnum < ELF_SYMBOLS_LOADS ? h->e_phnum : ELF_SYMBOLS_LOADS;

	if (!read_at(f, h->e_phoff, all, n * sizeof(all[0])))
		return;
	for (uint64_t i = 0; i < n; i++)
		if (all[i].p_type == PT_LOAD)
			s->load[s->n_loads++] = all[i];
}

/* Section i of n. */
static bool section(struct file *f, const Elf64_Ehdr *h, uint64_t i, uint64_t n, Elf64_Shdr *out)
{
	uint64_t more = n - i < READ_SECTIONS ? n - i : READ_SECTIONS;

	if (i < f->first || i >= f->end) {
		f->first = f->end = 0;
		if (h->e_shoff > f->n ||
		    !read_at(f, h->e_shoff + i * sizeof(*out), f->section, more * sizeof(*out)))
			return false;
		f->first = i;
		f->end = i + more;
	}
	*out = f->section[i - f->first];
	return true;
}

/* The table of that type and the one of its names. */
static bool find_table(struct file *f, const Elf64_Ehdr *h, uint32_t type, Elf64_Shdr *table,
		       Elf64_Shdr *names)
{
	uint64_t n = h->e_shnum;

	/* More than that number can say are counted in the first one. */
	if (n == 0 && h->e_shoff && section(f, h, 0, 1, table))
		n = table->sh_size;
	n = n < MOST_SECTIONS ? n : MOST_SECTIONS;
	for (uint64_t i = 1; i < n; i++) {
		if (!section(f, h, i, n, table))
			return false;
		if (table->sh_type == type)
			return table->sh_entsize == sizeof(Elf64_Sym) && table->sh_link < n &&
			       section(f, h, table->sh_link, n, names) &&
			       names->sh_type == SHT_STRTAB;
	}
	return false;
}

static void *read_table(const struct file *f, const Elf64_Shdr *h)
{
	void *memory;

	if (h->sh_size == 0 || h->sh_size > MOST_BYTES || h->sh_size > f->n)
		return NULL;
	memory = tracer_map(h->sh_size);
	if (memory && !read_at(f, h->sh_offset, memory, h->sh_size)) {
		tracer_unmap(memory, h->sh_size);
		return NULL;
	}
	return memory;
}

static bool read_tables(const struct file *f, const Elf64_Shdr *table, const Elf64_Shdr *names,
			struct elf_symbols *s)
{
	s->symbol_memory = read_table(f, table);
	s->symbol_bytes = table->sh_size;
	s->name_memory = read_table(f, names);
	s->name_bytes = names->sh_size;
	if (!s->symbol_memory || !s->name_memory) {
		elf_symbols_drop(s);
		return false;
	}
	s->at = s->symbol_memory;
	s->n = table->sh_size / sizeof(Elf64_Sym);
	s->names = s->name_memory;
	s->n_names = names->sh_size;
	((char *)s->name_memory)[s->n_names - 1] = '\0';
	return true;
}

bool elf_symbols_read(int fd, struct elf_symbols *s)
{
	struct file f = { .fd = fd };
	Elf64_Shdr table, names;
	struct stat st;
	Elf64_Ehdr h;

	*s = (struct elf_symbols){ 0 };
	if (kernel_fstat(fd, &st) || st.st_size < 0)
		return false;
	f.n = (uint64_t)st.st_size;
	if (!read_header(&f, &h))
		return false;
	read_loads(&f, &h, s);
	if (find_table(&f, &h, SHT_SYMTAB, &table, &names) && read_tables(&f, &table, &names, s))
		return true;
	s->dynamic = true;
	return find_table(&f, &h, SHT_DYNSYM, &table, &names) && read_tables(&f, &table, &names, s);
}

void elf_symbols_drop(struct elf_symbols *s)
{
	if (s->symbol_memory)
		tracer_unmap(s->symbol_memory, s->symbol_bytes);
	if (s->name_memory)
		tracer_unmap(s->name_memory, s->name_bytes);
	s->symbol_memory = s->name_memory = NULL;
	s->n = s->n_names = 0;
}

const char *elf_symbols_name(const struct elf_symbols *s, size_t i)
{
	return s->at[i].st_name < s->n_names ? s->names + s->at[i].st_name : "";
}

bool elf_symbols_is_function(const struct elf_symbols *s, size_t i)
{
	unsigned type = ELF64_ST_TYPE(s->at[i].st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->at[i].st_shndx != SHN_UNDEF &&
	       s->at[i].st_value != 0;
}

bool elf_symbols_offset(const struct elf_symbols *s, uint64_t address, uint64_t n, uint64_t *offset)
{
	for (uint32_t i = 0; i < s->n_loads; i++) {
		const Elf64_Phdr *p = &s->load[i];
		uint64_t within = address - p->p_vaddr;

		if (address < p->p_vaddr || within > p->p_filesz || n > p->p_filesz - within)
			continue;
		*offset = p->p_offset + within;
		return true;
	}
	return false;
}
