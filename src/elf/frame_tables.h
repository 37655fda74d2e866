/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The unwind tables of a program or library, taken out of its files: kept after these are closed. */
#ifndef PROFTOP_ELF_FRAME_TABLES_H
#define PROFTOP_ELF_FRAME_TABLES_H

#include "elf/segments.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>

struct cfi;
struct elf_file;

struct frame_tables {
	struct cfi *cfi;   /* NULL: none; owned */
	uint8_t *bytes[3]; /* sections it borrows; owned */
	uint64_t n_bytes;  /* of them together */
	struct segments segments;
};

/* The machine whose rules f's tables have; false when they cannot be read. */
bool frame_tables_arch(const struct elf_file *f, enum unwind_arch *arch);

/* Of what was mapped and of its separate debug file, which may be NULL; t is empty. False: see frame_tables_arch(). */
bool frame_tables_take(struct frame_tables *t, const struct elf_file *runtime,
		       const struct elf_file *debug);
void frame_tables_done(struct frame_tables *t);

#endif
