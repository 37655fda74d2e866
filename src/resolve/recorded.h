/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbols that a recording itself brings for the files that it saw, as simpleperf's do. */
#ifndef PROFTOP_RESOLVE_RECORDED_H
#define PROFTOP_RESOLVE_RECORDED_H

#include <stdint.h>

struct dso;
struct recorded;
struct symtab;

struct recorded *recorded_new(void);
void recorded_free(struct recorded *r);

/*
 * The symbols of the file of that path, which is copied; t is sealed and taken. They are by address: address
 * is that of what is at offset of the file, UINT64_MAX: of what is mapped of it. The kernel's, and
 * where both are 0, are as they were recorded.
 */
void recorded_add(struct recorded *r, const char *path, uint64_t address, uint64_t offset,
		  struct symtab *t);

/* Where the function that a dso of that path is begins in its source; copied. The first one stays. */
void recorded_declare(struct recorded *r, const char *path, const char *file, uint32_t line);
/* That file; NULL: it was not told. Borrowed. */
const char *recorded_declared(const struct recorded *r, const char *path, uint32_t *line);

/* Those of a dso, and what has to be added to its addresses; NULL when there are none. Borrowed. */
struct symtab *recorded_find(const struct recorded *r, const struct dso *d, uint64_t *add);

#endif
