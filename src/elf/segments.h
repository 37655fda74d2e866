/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the parts of an ELF file want to be, kept after the file is closed. */
#ifndef PROFTOP_ELF_SEGMENTS_H
#define PROFTOP_ELF_SEGMENTS_H

#include "base/mem.h"
#include "elf/elf_file.h"

struct segments {
	VEC(struct elf_segment) all; /* PT_LOAD in their order */
};

/* Copies those of f; NULL has none. */
void segments_take(struct segments *s, const struct elf_file *f);
void segments_done(struct segments *s);

/* An offset in the file as an address; false when no segment has it. */
bool segments_address(const struct segments *s, uint64_t offset, uint64_t *address);

#endif
