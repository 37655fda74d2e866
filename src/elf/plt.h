/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names for the entries of a procedure linkage table, which has no symbols of its own. */
#ifndef PROFTOP_ELF_PLT_H
#define PROFTOP_ELF_PLT_H

struct elf_file;
struct symtab;

/* Adds a SYMBOL_PLT for each entry of .plt, .plt.sec and .plt.got, by offset in the file. */
void plt_load(const struct elf_file *f, struct symtab *to);

#endif
