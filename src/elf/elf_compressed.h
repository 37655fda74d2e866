/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections with a compression header: what it says, and their bytes. */
#ifndef PROFTOP_ELF_ELF_COMPRESSED_H
#define PROFTOP_ELF_ELF_COMPRESSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_section;

struct elf_packing {
	bool zstd;       /* and not zlib */
	uint64_t size;   /* of what was packed */
	uint64_t offset; /* in the file, of the packed bytes */
	uint64_t packed; /* of them */
};

/* More than this is not unpacked. */
#define ELF_UNPACKED_MAX (UINT64_C(4) << 30)

bool elf_is_packed(const struct elf_section *s);
/* What the header of a packed section says; false when it makes no sense or lies outside of the file. */
bool elf_packing_read(const struct elf_file *f, const struct elf_section *s,
		      struct elf_packing *out);
/* What a section holds, unpacked if it is packed; NULL when that is nothing or damaged. *n bytes; the caller frees. */
uint8_t *elf_section_unpacked(const struct elf_file *f, const struct elf_section *s, size_t *n);

#endif
