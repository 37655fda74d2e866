/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ELF files of a dso: what was mapped, and what has its symbols. The one place where files are
 * found, opened and compared with the build-id that was recorded.
 */
#ifndef PROFTOP_SYMBOLS_IMAGE_H
#define PROFTOP_SYMBOLS_IMAGE_H

#include "dwarf/debug_parts.h"
#include "elf/build_id.h"

#include <stdbool.h>

struct dso;
struct elf_file;
struct debug_file_search;

struct image {
	/* what was mapped: code, unwind tables, .dynsym; or NULL; owned */
	struct elf_file *runtime;
	struct elf_file *debug; /* a separate debug file with .symtab and perhaps DWARF; or NULL */
	struct elf_file *mini;  /* .gnu_debugdata of runtime, unpacked; or NULL; owned */
	struct debug_parts parts; /* the rest of its debug information */
	char *other;              /* a file that was found but has another build-id, or NULL */
	struct build_id other_id; /* that build-id */
	bool unverified;          /* runtime was taken though no build-id was recorded */
};

/* Opens what there is; everything is NULL when there is nothing. */
void image_open(const struct debug_file_search *f, const struct dso *d, struct image *out);
/* The vdso: a kept image, or this process's own if it is the same one. */
void image_open_vdso(const struct debug_file_search *f, const struct dso *d, struct image *out);
/* A vmlinux with the build-id that was recorded, as runtime. */
void image_open_kernel(const struct debug_file_search *f, const struct dso *d, struct image *out);
void image_close(struct image *i);

/* The file with the best symbol table, or NULL when none has any. */
struct elf_file *image_named(const struct image *i);
/* The one with debug information, or NULL. */
struct elf_file *image_described(const struct image *i);
/* One that says where addresses are in the file; not NULL when image_named() is not. */
struct elf_file *image_layout(const struct image *i);

#endif
