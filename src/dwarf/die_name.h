/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What functions are called. An instance, inlined or not, has what its abstract instance and its
 * declaration say; the way there is at most NAME_HOPS_MAX references long, as they may lead in a circle.
 *
 * Scopes stand in a tree of at most SCOPE_DEPTH_MAX levels; what lies deeper has none.
 */
#ifndef PROFTOP_DWARF_DIE_NAME_H
#define PROFTOP_DWARF_DIE_NAME_H

#include <stdint.h>

#define NAME_HOPS_MAX   16
#define SCOPE_DEPTH_MAX 64

struct die_place;
struct die_reader;
struct die_scopes;

/* Borrowed from the reader until it is emptied; strings are the file's. */
struct die_named {
	uint32_t file_number;     /* of the file of the entry */
	uint64_t offset;          /* of the entry that all instances come from; the key with that */
	const char *linkage_name; /* or NULL */
	const char *name;         /* or NULL */
	const char *declared;     /* path of a source file, or NULL */
	uint32_t declared_line;   /* or 0 */
	uint64_t entry;           /* of what says the name, for die_scope_path() */
	struct die_unit *unit;    /* that entry's */
};

/* Of a function or an inlined call; never NULL, but may know nothing. */
const struct die_named *die_name(struct die_reader *r, const struct die_place *p);

/*
 * What a plain name stands in: "std::__detail"; of C++ only. NULL: nothing. The caller frees. *around is what the innermost of
 * these scopes says of itself.
 */
char *die_scope_path(struct die_reader *r, const struct die_named *n, struct die_named *around);

/* For die_unit.c. */
void die_names_forget(struct die_reader *r);
void die_scopes_free(struct die_scopes *s);

#endif
