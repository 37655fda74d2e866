/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The symbols of ELF files, by offset in the file that was mapped. */
#ifndef PROFTOP_ELF_ELF_SYMTAB_H
#define PROFTOP_ELF_ELF_SYMTAB_H

#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct symtab;

/* Has f a symbol table with contents: .symtab, .dynsym? */
bool elf_symtab_has_symtab(const struct elf_file *f);
bool elf_symtab_has_dynsym(const struct elf_file *f);

/*
 * Reads the symbols of a program or library, unsealed.
 *
 * named    has the symbol table: the file itself or its separate debug file
 * runtime  has what is mapped; its segments say where addresses are in the file. May be named.
 * partial  named has only what runtime's .dynsym has not (MiniDebugInfo)
 *
 * Includes the PLT's entries. The files may be closed afterwards.
 */
struct symtab *elf_symtab_load(const struct elf_file *named, const struct elf_file *runtime,
			       bool partial);

/*
 * Reads the symbols of a kernel, by distance from its symbol `reference` ("": by address), or of a
 * kernel module that is not linked yet (ET_REL), by distance from its start in memory. NULL when there
 * is no symbol table or no such symbol; *value is that one's.
 */
struct symtab *elf_symtab_load_kernel(const struct elf_file *f, const char *reference,
				      uint64_t *value);
struct symtab *elf_symtab_load_module(const struct elf_file *f);

#endif
