/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ELF file, opened: its headers, and any part of its bytes on demand.
 *
 * Contents are read with pread(2) into memory and never mapped: a file that shrinks while it is open
 * gives short reads, not SIGBUS. Nothing in it is believed; sections that do not lie in the file are
 * as if they were empty.
 */
#ifndef PROFTOP_ELF_ELF_FILE_H
#define PROFTOP_ELF_ELF_FILE_H

#include "elf/build_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct err;

struct elf_section {
	const char *name; /* "" where it is unreadable */
	uint64_t address;
	uint64_t offset;
	uint64_t size; /* in memory; for SHT_NOBITS nothing of it is in the file */
	uint64_t flags;
	uint64_t entry_bytes;
	uint64_t alignment; /* of the address, in bytes; 0 and 1: none */
	uint32_t type;
	uint32_t link;
	uint32_t index;
};

/* A PT_LOAD. */
struct elf_segment {
	uint64_t address;
	uint64_t offset;
	uint64_t file_bytes;
	uint64_t memory_bytes;
};

/*
 * Opens a regular file; packed ones (xz, gzip, zstd) are unpacked in memory. -ENOENT and the like,
 * or -ENOEXEC when it is no ELF file.
 */
int elf_file_open(const char *path, struct elf_file **out, struct err *e);
/* Of an image in memory, which it takes (malloc) even if it fails. name is for messages. */
int elf_file_of_bytes(void *bytes, size_t n, const char *name, struct elf_file **out,
		      struct err *e);
void elf_file_close(struct elf_file *f);

/* Everything below is borrowed until it is closed. */
const char *elf_file_name(const struct elf_file *f);
const struct build_id *elf_file_build_id(const struct elf_file *f);
/* The section's first occurrence, or NULL. */
const struct elf_section *elf_file_section(const struct elf_file *f, const char *name);
/* .debug_info, under its name of old too where it is packed as of old; or NULL. */
const struct elf_section *elf_file_debug_info(const struct elf_file *f);
/* By number, or NULL. */
const struct elf_section *elf_file_section_at(const struct elf_file *f, uint32_t index);
const struct elf_segment *elf_file_segments(const struct elf_file *f, size_t *n);
/* Where the program begins, as an address of the file, or 0. */
uint64_t elf_file_entry(const struct elf_file *f);
/* The index of unwind tables by the program headers, which no strip takes; false without one. */
bool elf_file_eh_frame_hdr(const struct elf_file *f, struct elf_segment *out);

uint16_t elf_file_machine(const struct elf_file *f); /* EM_… */
uint16_t elf_file_type(const struct elf_file *f);    /* ET_… */
bool elf_file_is64(const struct elf_file *f);
bool elf_file_swapped(const struct elf_file *f); /* of the other byte order */

/* Did the file have [offset, offset + size) when it was opened? */
bool elf_file_holds(const struct elf_file *f, uint64_t offset, uint64_t size);
/* Fills n bytes from offset; false when they are not all there. Any number of threads may read at once. */
bool elf_file_read_into(const struct elf_file *f, void *to, size_t n, uint64_t offset);
/*
 * size bytes from offset, in new memory with a NUL after them; NULL when they are not all there. The
 * caller frees.
 */
uint8_t *elf_file_read(const struct elf_file *f, uint64_t offset, uint64_t size);
/* A section's bytes, or NULL when it has none; *n of them. The caller frees. */
uint8_t *elf_file_read_section(const struct elf_file *f, const struct elf_section *s, size_t *n);

/* Between what is in a file and where it wants to be. False when no segment has it. */
bool elf_file_offset_of(const struct elf_file *f, uint64_t address, uint64_t *offset);
bool elf_file_address_of(const struct elf_file *f, uint64_t offset, uint64_t *address);

/* .gnu_debuglink: the name of the debug file (the caller frees) and its CRC; NULL without. */
char *elf_file_debuglink(const struct elf_file *f, uint32_t *crc);

/*
 * .gnu_debugaltlink, where dwz says which file has what it moved out of this one and others: its path, taken from
 * the directory of the file beside where it is relative (the caller frees), and its build-id; NULL without.
 */
char *elf_file_altlink(const struct elf_file *f, const char *beside, struct build_id *id);

/* The CRC-32 of a whole file as .gnu_debuglink has it; false when it cannot be read. */
bool elf_debuglink_crc(const char *path, uint32_t *crc);

#endif
