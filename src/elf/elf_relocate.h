/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that are not linked yet (kernel modules): their debug information speaks of places by entries
 * of relocation tables. Sections with code get addresses of our own making here.
 */
#ifndef PROFTOP_ELF_ELF_RELOCATE_H
#define PROFTOP_ELF_ELF_RELOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_section;

/* The address that a section gets. No two overlap, and none is near 0. */
uint64_t elf_relocate_base(const struct elf_file *f, const struct elf_section *s);

/* Does the file have relocations of s? */
bool elf_relocate_wanted(const struct elf_file *f, const struct elf_section *s);
/* Fills them in: the n bytes of s, unpacked. Those that make no sense, or no address, are left out. */
void elf_relocate(const struct elf_file *f, const struct elf_section *s, uint8_t *bytes, size_t n);

#endif
