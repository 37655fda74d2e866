/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Abbreviation tables, compiled; see die_abbrev.h. */
#include "config.h"

#include "dwarf/die_abbrev.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "dwarf/dwarf_file.h"

#define PIECE 4096u /* bytes of a table that are read ahead */

int64_t die_sleb(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *p = *at;
	uint64_t v = 0;
	unsigned shift = 0;

	while (p && p < end) {
		uint8_t b = *p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (b >= 0x80)
			continue;
		if (b & 0x40 && shift < 64)
			v |= ~UINT64_C(0) << shift;
		*at = p;
		return (int64_t)v;
	}
	*at = NULL;
	return 0;
}

int die_form_bytes(unsigned form, struct die_sizes sizes)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return sizes.address;
	case DW_FORM_ref_addr:
		return sizes.version == 2 ? sizes.address : sizes.offset;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return sizes.offset;
	default:
		return -1;
	}
}

static int want_of(unsigned name)
{
	switch (name) {
	case DW_AT_sibling:
		return WANT_SIBLING;
	case DW_AT_low_pc:
		return WANT_LOW_PC;
	case DW_AT_high_pc:
		return WANT_HIGH_PC;
	case DW_AT_ranges:
		return WANT_RANGES;
	default:
		return -1;
	}
}

/* Entries whose place in the program is wanted. */
static bool has_code(unsigned tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static void add_step(struct die_abbrevs *a, struct die_abbrev *of, const struct die_attr *attr)
{
	int want = want_of(attr->name), bytes = die_form_bytes(attr->form, a->sizes);
	struct die_step *last = of->n_steps ? &a->steps.at[a->steps.n - 1] : NULL;

	if (want >= 0 && (want == WANT_SIBLING || has_code(of->tag))) {
		/* A sibling that is not a plain reference is no help. */
		if (want != WANT_SIBLING || attr->form == DW_FORM_ref4) {
			vec_push(&a->steps,
				 ((struct die_step){ attr->form, STEP_WANT, (uint8_t)want }));
			of->n_steps++;
			return;
		}
	}
	if (bytes == 0)
		return;
	if (bytes > 0 && last && last->kind == STEP_SKIP) {
		last->n += (uint32_t)bytes;
		return;
	}
	vec_push(&a->steps, ((struct die_step){ bytes > 0 ? (uint32_t)bytes : attr->form,
						bytes > 0 ? STEP_SKIP : STEP_FORM, 0 }));
	of->n_steps++;
}

/* One entry's attributes; false when they do not end. */
static bool read_attrs(struct die_abbrevs *a, struct die_abbrev *of, const uint8_t **at,
		       const uint8_t *end)
{
	bool keep = !a->only || a->only == of->code;

	for (uint32_t n = 0; n < ABBREV_ATTRS_MAX && a->attrs.n < ABBREV_ATTRS_MAX; n++) {
		uint64_t name = die_uleb(at, end), form = die_uleb(at, end);
		struct die_attr attr = { (uint16_t)name, (uint16_t)form, 0 };

		if (form == DW_FORM_implicit_const)
			attr.value = die_sleb(at, end);
		if (!*at)
			return false;
		if (name == 0 && form == 0)
			return true;
		if (name > UINT16_MAX || form > UINT16_MAX)
			return false;
		a->work++;
		if (!keep)
			continue;
		add_step(a, of, &attr);
		vec_push(&a->attrs, attr);
		of->n_attrs++;
	}
	return false;
}

static bool read_table(struct die_abbrevs *a, const uint8_t *at, const uint8_t *end)
{
	for (uint32_t n = 0; n < ABBREVS_MAX; n++) {
		struct die_abbrev one = { .code = die_uleb(&at, end) };

		a->work++;

		if (!at)
			return false;
		if (one.code == 0)
			return true;
		one.tag = (uint16_t)die_uleb(&at, end);
		if (!at || at == end)
			return false;
		one.children = *at++ != 0;
		one.first_attr = (uint32_t)a->attrs.n;
		one.first_step = (uint32_t)a->steps.n;
		if (!read_attrs(a, &one, &at, end))
			return false;
		if (a->only && a->only != one.code)
			continue;
		if (one.code != a->all.n + 1)
			a->dense = false;
		vec_push(&a->all, one);
		if (a->only)
			return true;
	}
	return false;
}

static int by_code(const void *x, const void *y)
{
	const struct die_abbrev *a = x, *b = y;

	return (a->code > b->code) - (a->code < b->code);
}

static void clear(struct die_abbrevs *a)
{
	a->dense = true;
	vec_clear(&a->all);
	vec_clear(&a->steps);
	vec_clear(&a->attrs);
}

void die_abbrevs_read(struct die_abbrevs *a, struct dwarf_file *f, uint64_t offset,
		      struct die_sizes sizes, uint64_t only)
{
	struct lazy_bytes *s = &f->section[DWARF_ABBREV];
	uint64_t n = PIECE;

	*a = (struct die_abbrevs){
		.file = f, .offset = offset, .sizes = sizes, .only = only, .bad = true
	};
	/* A table does not say how long it is: more is read until it ends. */
	for (; a->bad && offset < s->n; n *= 8) {
		uint64_t left = s->n - offset;

		clear(a);
		if (!lazy_need(s, offset, n < left ? n : left))
			break;
		a->bad = !read_table(a, s->at + offset, s->at + offset + (n < left ? n : left));
		if (n >= left || a->work > 2 * (uint64_t)ABBREV_ATTRS_MAX)
			break;
	}
	if (a->bad)
		clear(a);
	if (!a->dense)
		qsort(a->all.at, a->all.n, sizeof(*a->all.at), by_code);
}

void die_abbrevs_done(struct die_abbrevs *a)
{
	vec_done(&a->all);
	vec_done(&a->steps);
	vec_done(&a->attrs);
}

const struct die_abbrev *die_abbrevs_sparse(const struct die_abbrevs *a, uint64_t code)
{
	size_t low = 0;

	BISECT(low, a->all.n, i, a->all.at[i].code < code);
	return low < a->all.n && a->all.at[low].code == code ? &a->all.at[low] : NULL;
}
