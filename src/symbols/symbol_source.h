/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What names the addresses of one dso, wherever it comes from: symbols of ELF files, the kernel's, a
 * JIT's map. Or the reason why nothing does.
 */
#ifndef PROFTOP_SYMBOLS_SYMBOL_SOURCE_H
#define PROFTOP_SYMBOLS_SYMBOL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct dso;
struct debug_file_search;
struct inline_lookup;
struct kernel;
struct symbol_source;

/* The symbols that the kernel and its modules share. Nothing is read before it is needed. */
struct kernel *kernel_new(void);
void kernel_free(struct kernel *k);

/*
 * Opens, reads and closes the files; never fails. main_kernel is the dso of the kernel itself, or NULL
 * while unknown. The source borrows from k.
 */
struct symbol_source *symbol_source_open(const struct debug_file_search *f, const struct dso *d,
					 struct kernel *k, const struct dso *main_kernel);
void symbol_source_free(struct symbol_source *s);

/* How names of a source are to be written. */
enum name_form {
	NAME_NONE,    /* there is none */
	NAME_PLAIN,   /* as it is */
	NAME_MANGLED, /* demangle */
	NAME_PLT      /* demangle and add "@plt" */
};

/*
 * The name of what is at an address of the dso; borrowed. Equal names of neighbours are the same
 * pointer. *name is untouched when there is none.
 */
enum name_form symbol_source_find(struct symbol_source *s, uint64_t address, const char **name);

/* How far into what symbol_source_find() named an address is; 0 in generated code, where nobody knows. */
uint64_t symbol_source_offset(struct symbol_source *s, uint64_t address);

/*
 * Where the function at an address that has no name begins: as an address of its file, which is what disassemblers
 * print. False: nothing says.
 */
bool symbol_source_begin(struct symbol_source *s, uint64_t address, uint64_t *begin);

/* Where the function at an address begins in its source; NULL: unknown, or inlines know. Borrowed. */
const char *symbol_source_declared(const struct symbol_source *s, uint64_t address, uint32_t *line);

/* What knows of inlined frames; NULL: nothing does, or it was taken before. The caller's to free. */
struct inline_lookup *symbol_source_take_inlines(struct symbol_source *s);
/* Why some or all addresses have no name; a part of a sentence, borrowed. */
const char *symbol_source_reason(const struct symbol_source *s);
/* Would a debug file with the recorded build-id have other names? */
bool symbol_source_lacks_debug_file(const struct symbol_source *s);
/* Would it tell at least what was inlined? */
bool symbol_source_lacks_inlines(const struct symbol_source *s);
/* Was what was mapped not found at all? */
bool symbol_source_lacks_file(const struct symbol_source *s);
/* A file was used though nothing says that it is the one that was recorded. */
bool symbol_source_unverified(const struct symbol_source *s);
/* Memory that it holds. */
uint64_t symbol_source_bytes(const struct symbol_source *s);

#endif
