/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entries of debug information and what their attributes say. An entry is only read within its unit's
 * bytes; siblings only lead forward.
 *
 * Sources: DWARF 5 §2.2-2.5, §7.5.4-7.5.6 (entries, attributes, forms).
 */
#ifndef PROFTOP_DWARF_DIE_ENTRY_H
#define PROFTOP_DWARF_DIE_ENTRY_H

#include "dwarf/die_unit.h"

/* An entry. */
struct die {
	const struct die_abbrev *abbrev;   /* NULL: the end of a list of children */
	const uint8_t *at;                 /* the entry itself */
	const uint8_t *attrs;              /* its first attribute */
	const uint8_t *next;               /* one past its last */
	const uint8_t *sibling;            /* what follows its children, or NULL */
	const uint8_t *value[N_DIE_WANTS]; /* NULL: it has none */
	uint16_t form[N_DIE_WANTS];        /* of the values */
};

struct die_value {
	const uint8_t *at;
	unsigned form;  /* DW_FORM_… */
	int64_t number; /* of DW_FORM_implicit_const */
};

/* An entry that lies in [at, end) of a loaded unit; false: it is damaged. */
bool die_read(const struct die_unit *u, const uint8_t *at, const uint8_t *end, struct die *d);
/* An entry anywhere in a unit. */
bool die_at(const struct die_place *p, struct die *d);
/* What follows the children of d, which has some; NULL: damaged. */
const uint8_t *die_skip_children(struct die_reader *r, const struct die_unit *u,
				 const struct die *d);

/* The step from one attribute to the next. NULL when it does not end in time. */
const uint8_t *die_form_skip(const struct die_unit *u, unsigned form, const uint8_t *at,
			     const uint8_t *end);
/* An attribute of an entry that has been read. */
bool die_find(const struct die_unit *u, const struct die *d, unsigned name, struct die_value *v);
/* What an attribute's value is; 0 or NULL or false when it is no such thing. */
uint64_t die_value_number(const struct die_unit *u, const struct die_value *v);
bool die_value_address(const struct die_unit *u, const struct die_value *v, uint64_t *out);
const char *die_value_string(const struct die_unit *u, const struct die_value *v);
struct die_place die_value_place(struct die_reader *r, struct die_unit *u,
				 const struct die_value *v);
/* An index into .debug_addr. */
bool die_indexed_address(const struct die_unit *u, uint64_t index, uint64_t *out);

#endif
