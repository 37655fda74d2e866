/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF files with debug information that no compiler would write, made byte by byte. */
#ifndef PROFTOP_TESTS_SUPPORT_MADE_DWARF_H
#define PROFTOP_TESTS_SUPPORT_MADE_DWARF_H

#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Growing contents of a section. */
struct made_bytes {
	VEC(uint8_t) v;
};

void put_u8(struct made_bytes *b, uint64_t x);
void put_u16(struct made_bytes *b, uint64_t x);
void put_u32(struct made_bytes *b, uint64_t x);
void put_u64(struct made_bytes *b, uint64_t x);
void put_uleb(struct made_bytes *b, uint64_t x);
void put_text(struct made_bytes *b, const char *s);
void put_bytes(struct made_bytes *b, const void *p, size_t n);
/* Overwrites four bytes. */
void set_u32(struct made_bytes *b, size_t at, uint64_t x);

enum made_section {
	MADE_INFO,
	MADE_ABBREV,
	MADE_STR,
	MADE_LINE,
	MADE_LINE_STR,
	MADE_RANGES,
	MADE_RNGLISTS,
	MADE_ADDR,
	MADE_STR_OFFSETS,
	N_MADE
};

struct made_dwarf {
	struct made_bytes section[N_MADE];
};

void made_dwarf_done(struct made_dwarf *m);
/* A 64-bit little-endian ELF file of the sections; the caller closes it. */
struct elf_file *made_dwarf_elf(const struct made_dwarf *m);

#endif
