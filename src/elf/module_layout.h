/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the kernel puts the code of a module, whose file (.ko) is not linked. */
#ifndef PROFTOP_ELF_MODULE_LAYOUT_H
#define PROFTOP_ELF_MODULE_LAYOUT_H

struct elf_file;
struct segments;

/*
 * Adds the sections with code that stay after the module's start: .offset is the distance from where the module
 * begins in memory, .address that of elf_relocate_base(). Nothing for files of other types.
 */
void module_layout_take(struct segments *to, const struct elf_file *f);

#endif
