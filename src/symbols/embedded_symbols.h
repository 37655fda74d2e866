/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols that a recording itself brings for the files that it saw, as simpleperf's do. */
#ifndef PROFTOP_SYMBOLS_EMBEDDED_SYMBOLS_H
#define PROFTOP_SYMBOLS_EMBEDDED_SYMBOLS_H

#include <stdint.h>

struct dso;
struct embedded_symbols;
struct symtab;

struct embedded_symbols *embedded_symbols_new(void);
void embedded_symbols_free(struct embedded_symbols *r);

/*
 * The symbols of the file of that path, which is copied; t is sealed and taken. They are by address: address
 * is that of what is at offset of the file, UINT64_MAX: of what is mapped of it. The kernel's, and
 * where both are 0, are as they were recorded.
 */
void embedded_symbols_add(struct embedded_symbols *r, const char *path, uint64_t address,
			  uint64_t offset, struct symtab *t);

/* Where the function that a dso of that path is begins in its source; copied. The first one stays. */
void embedded_symbols_declare(struct embedded_symbols *r, const char *path, const char *file,
			      uint32_t line);
/* That file; NULL: it was not told. Borrowed. */
const char *embedded_symbols_declared(const struct embedded_symbols *r, const char *path,
				      uint32_t *line);

/* Those of a dso, and what has to be added to its addresses; NULL when there are none. Borrowed. */
struct symtab *embedded_symbols_find(const struct embedded_symbols *r, const struct dso *d,
				     uint64_t *add);

#endif
