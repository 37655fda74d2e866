/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The symbol table of an ELF file, read with a few system calls and no library: what cannot be believed is left out.
 * Unlike the loader's tables it names functions that are called by nobody outside their module.
 */
#ifndef PROFTOP_RECORD_HEAP_PATCH_ELF_SYMBOLS_H
#define PROFTOP_RECORD_HEAP_PATCH_ELF_SYMBOLS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_SYMBOLS_LOADS 24u /* no more headers are looked at */

struct elf_symbols {
	const Elf64_Sym *at; /* [n] */
	size_t n;
	const char *names; /* [n_names], the last one a NUL */
	size_t n_names;
	Elf64_Phdr load[ELF_SYMBOLS_LOADS]; /* what of the file is mapped where */
	uint32_t n_loads;
	bool dynamic; /* the file has no symbol table of its own any more: this is the loader's */
	void *symbol_memory, *name_memory;
	size_t symbol_bytes, name_bytes;
};

/* Reads that of the file. False: there is none, and *s has nothing that must be dropped. */
bool elf_symbols_read(int fd, struct elf_symbols *s);
void elf_symbols_drop(struct elf_symbols *s);

/* The name of symbol i, "" when it lies outside the table of names. */
const char *elf_symbols_name(const struct elf_symbols *s, size_t i);

/* Is symbol i the beginning of a function of this file? */
bool elf_symbols_is_function(const struct elf_symbols *s, size_t i);

/* Where in the file the n bytes at an address of it are. False: they are not all in it. */
bool elf_symbols_offset(const struct elf_symbols *s, uint64_t address, uint64_t n,
			uint64_t *offset);

#endif
