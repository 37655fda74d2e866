/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Abbreviation tables, compiled into steps over entries: how to pass what nobody wants, and where those
 * attributes stand that every walk wants. Neighbours of fixed size that nobody wants are one step.
 *
 * A table has at most ABBREVS_MAX entries with ABBREV_ATTRS_MAX attributes in all; one with more is
 * damaged, as is one that ends early.
 *
 * Source: DWARF 5 §7.5.3 (abbreviations), §7.5.6 (forms).
 */
#ifndef PROFTOP_DWARF_DIE_ABBREV_H
#define PROFTOP_DWARF_DIE_ABBREV_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

#define ABBREVS_MAX      (1u << 18)
#define ABBREV_ATTRS_MAX (1u << 20)

struct dwarf_file;

/* Attributes that walks want; others are looked up by name. */
enum die_want { WANT_SIBLING, WANT_LOW_PC, WANT_HIGH_PC, WANT_RANGES, N_DIE_WANTS };

enum die_step_kind {
	STEP_SKIP, /* n bytes */
	STEP_FORM, /* of form n, not wanted */
	STEP_WANT  /* of form n, wanted as `want` */
};

struct die_step {
	uint32_t n;
	uint8_t kind; /* enum die_step_kind */
	uint8_t want; /* enum die_want */
};

struct die_attr {
	uint16_t name; /* DW_AT_… */
	uint16_t form; /* DW_FORM_… */
	int64_t value; /* of DW_FORM_implicit_const */
};

struct die_abbrev {
	uint64_t code;
	uint16_t tag;        /* DW_TAG_… */
	bool children;       /* entries follow that belong to it */
	uint32_t first_step; /* in steps */
	uint32_t n_steps;
	uint32_t first_attr; /* in attrs */
	uint32_t n_attrs;
};

/* What sizes of forms depend on. */
struct die_sizes {
	uint8_t address; /* bytes */
	uint8_t offset;  /* 4 or 8 */
	uint8_t version; /* of DWARF; only 2 differs from the others */
};

struct die_abbrevs {
	struct dwarf_file *file;    /* whose it is */
	uint64_t offset;            /* in .debug_abbrev */
	struct die_sizes sizes;     /* that it was compiled for */
	bool dense;                 /* entry i has code i + 1 */
	bool bad;                   /* damaged or too large: has nothing */
	uint64_t only;              /* see die_abbrevs_read() */
	uint64_t work;              /* entries and attributes that were read */
	VEC(struct die_abbrev) all; /* by code */
	VEC(struct die_step) steps;
	VEC(struct die_attr) attrs;
};

/* Reads a table, or of it only the entry of code `only` if that is not 0; never fails, see bad. */
void die_abbrevs_read(struct die_abbrevs *a, struct dwarf_file *f, uint64_t offset,
		      struct die_sizes sizes, uint64_t only);
void die_abbrevs_done(struct die_abbrevs *a);

/* The entry of a code, or NULL. */
const struct die_abbrev *die_abbrevs_sparse(const struct die_abbrevs *a, uint64_t code);

static inline const struct die_abbrev *die_abbrevs_find(const struct die_abbrevs *a, uint64_t code)
{
	if (a->dense)
		return code - 1 < a->all.n ? &a->all.at[code - 1] : NULL;
	return die_abbrevs_sparse(a, code);
}

/* An entry's steps and attributes; NULL when it has none. */
static inline const struct die_step *die_abbrev_steps(const struct die_abbrevs *a,
						      const struct die_abbrev *of)
{
	return of->n_steps ? a->steps.at + of->first_step : NULL;
}

static inline const struct die_attr *die_abbrev_attrs(const struct die_abbrevs *a,
						      const struct die_abbrev *of)
{
	return of->n_attrs ? a->attrs.at + of->first_attr : NULL;
}

/* Bytes that a form takes, or -1 when they tell themselves. */
int die_form_bytes(unsigned form, struct die_sizes sizes);

/* Number at *at, not past end; *at moves behind it. *at becomes NULL when it does not end in time. */
static inline uint64_t die_uleb(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;
	uint64_t v = 0;
	unsigned shift = 0;

	if (!p)
		return 0;
	while (p < end) {
		uint8_t b = *p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80) {
			*at = p;
			return v;
		}
		shift += 7;
	}
	*at = NULL;
	return 0;
}

int64_t die_sleb(const uint8_t **at, const uint8_t *end);

#endif
