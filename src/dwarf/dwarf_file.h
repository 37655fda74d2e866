/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of debug information of one file. It may be a program, its separate debug file, a split
 * unit's .dwo, a .dwp, or what dwz moved out. What zlib packed is unpacked as far as it is needed, other
 * packed sections when the file is opened.
 */
#ifndef PROFTOP_DWARF_DWARF_FILE_H
#define PROFTOP_DWARF_DWARF_FILE_H

#include "elf/lazy_bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct build_id;
struct elf_file;

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_LINE,
	DWARF_CU_INDEX,
	DWARF_ARANGES,
	N_DWARF_SECTIONS
};

struct dwarf_file {
	struct elf_file *elf; /* owned */
	struct lazy_bytes section[N_DWARF_SECTIONS];
	bool swap;              /* of the other byte order */
	uint32_t number;        /* tells the files of one module apart; 0 is the main one */
	uint32_t n_unreadable;  /* sections that are there, but cannot be read or have no room */
	struct dwarf_file *alt; /* what dwz moved out of it, or NULL; owned */
};

/*
 * Opens a file that has .debug_info, and that build-id if want->n > 0; want may be NULL. shared is what dwz moved
 * out of it, if that is not where the file says, or NULL. NULL when there is no such file.
 */
struct dwarf_file *dwarf_file_open(const char *path, const char *shared,
				   const struct build_id *want);
/* One with .debug_info.dwo: a .dwo or .dwp. */
struct dwarf_file *dwarf_file_open_split(const char *path);
/* Of a file that is open already, which it takes even if it has none. */
struct dwarf_file *dwarf_file_of(struct elf_file *elf);
void dwarf_file_close(struct dwarf_file *f);

/* A number of `bytes` (1, 2, 3, 4 or 8) bytes, which must be there. */
uint64_t dwarf_number(const struct dwarf_file *f, const uint8_t *at, unsigned bytes);
/* The same from a section; 0 when it is not there. */
uint64_t dwarf_number_at(struct dwarf_file *f, enum dwarf_section s, uint64_t at, unsigned bytes);

#endif
