/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Line tables: the lines of given addresses, and the names of source files.
 *
 * A table's program is run once for all addresses that are asked of its unit, and no row of it is
 * kept. It cannot run for longer than it has bytes; the names of files are at most LINE_FILES_MAX.
 *
 * Source: DWARF 5 §6.2 (and DWARF 2-4 for older headers).
 */
#ifndef PROFTOP_DWARF_LINE_TABLE_H
#define PROFTOP_DWARF_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define LINE_FILES_MAX (1u << 20)
#define LINE_MD5_BYTES 16

struct die_reader;
struct die_unit;
struct line_files;

/* An address and what the table says of it. */
struct line_want {
	uint64_t address;
	uint32_t file; /* number in the table */
	uint32_t line; /* 0: unknown */
};

/* Fills in the lines of n addresses, which are sorted. */
void line_table_find(struct die_reader *r, const struct die_unit *u, struct line_want *w, size_t n);

/* The reader's one copy of a path, which lives as long as the reader. */
const char *line_path_keep(struct die_reader *r, const char *path);
/* The path of a unit's file, likewise. NULL when there is none. */
const char *line_file_path(struct die_reader *r, struct die_unit *u, uint64_t number);
/* The MD5 of a path's content that DWARF 5 told, [LINE_MD5_BYTES], likewise. NULL when none did. */
const uint8_t *line_path_md5(const struct die_reader *r, const char *path);
void line_files_free(struct line_files *f);

#endif
