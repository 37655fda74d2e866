/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries and their attributes; see die_entry.h. */
#include "config.h"

#include "dwarf/die_entry.h"

#include <dwarf.h>
#include <string.h>

/* A block of n bytes at p, or NULL when it is longer than what is left. */
static const uint8_t *skip_block(const uint8_t *p, const uint8_t *end, uint64_t n)
{
	return p && n <= (uint64_t)(end - p) ? p + n : NULL;
}

static const uint8_t *skip_counted(const struct die_unit *u, const uint8_t *at, const uint8_t *end,
				   unsigned bytes)
{
	if ((size_t)(end - at) < bytes)
		return NULL;
	return skip_block(at + bytes, end, dwarf_number(u->file, at, bytes));
}

const uint8_t *die_form_skip(const struct die_unit *u, unsigned form, const uint8_t *at,
			     const uint8_t *end)
{
	int bytes = die_form_bytes(form, u->sizes);
	uint64_t n;

	if (bytes >= 0)
		return skip_block(at, end, (uint64_t)bytes);
	switch (form) {
	case DW_FORM_string:
		at = memchr(at, 0, (size_t)(end - at));
		return at ? at + 1 : NULL;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		die_uleb(&at, end);
		return at;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		n = die_uleb(&at, end);
		return skip_block(at, end, n);
	case DW_FORM_block1:
		return skip_counted(u, at, end, 1);
	case DW_FORM_block2:
		return skip_counted(u, at, end, 2);
	case DW_FORM_block4:
		return skip_counted(u, at, end, 4);
	case DW_FORM_indirect:
		form = (unsigned)die_uleb(&at, end);
		/* One that leads to itself, or to a value that only a table could have, is damaged. */
		if (!at || form == DW_FORM_indirect || form == DW_FORM_implicit_const)
			return NULL;
		return die_form_skip(u, form, at, end);
	default:
		return NULL;
	}
}

/* Follows DW_FORM_indirect; the value is known to be there. */
static void resolve_indirect(struct die_value *v, const uint8_t *end)
{
	if (v->form == DW_FORM_indirect)
		v->form = (unsigned)die_uleb(&v->at, end);
}

bool die_read(const struct die_unit *u, const uint8_t *at, const uint8_t *end, struct die *d)
{
	const struct die_step *step;
	const uint8_t *p = at;
	uint64_t code;

	d->at = at;
	d->sibling = NULL;
	for (unsigned i = 0; i < N_DIE_WANTS; i++)
		d->value[i] = NULL;
	code = die_uleb(&p, end);
	d->attrs = d->next = p;
	d->abbrev = NULL;
	if (!p || code == 0)
		return p != NULL;
	d->abbrev = die_abbrevs_find(u->abbrevs, code);
	if (!d->abbrev)
		return false;
	step = die_abbrev_steps(u->abbrevs, d->abbrev);
	for (uint32_t n = d->abbrev->n_steps; n > 0 && p; n--, step++) {
		if (step->kind == STEP_SKIP) {
			p = skip_block(p, end, step->n);
			continue;
		}
		if (step->kind == STEP_WANT) {
			d->value[step->want] = p;
			d->form[step->want] = (uint16_t)step->n;
		}
		p = die_form_skip(u, step->n, p, end);
	}
	d->next = p;
	if (p && d->value[WANT_SIBLING]) {
		uint64_t to = u->offset + dwarf_number(u->file, d->value[WANT_SIBLING], 4);

		if (to < u->end && die_bytes(u, to) >= p)
			d->sibling = die_bytes(u, to);
	}
	return p != NULL;
}

bool die_at(const struct die_place *p, struct die *d)
{
	struct die_unit *u = p->unit;
	struct lazy_bytes *info = &u->file->section[DWARF_INFO];
	/* As much as comes in one piece, and all of the unit if that is not enough. */
	uint64_t end = info->file ? ((p->offset >> info->shift) + 1) << info->shift : u->end;

	if (p->offset < u->first || p->offset >= u->end)
		return false;
	if (u->whole || end > u->end)
		end = u->end;
	if (!lazy_need(info, p->offset, end - p->offset))
		return false;
	if (die_read(u, die_bytes(u, p->offset), die_bytes(u, end), d))
		return true;
	return end < u->end && die_unit_load(u) &&
	       die_read(u, die_bytes(u, p->offset), die_bytes(u, u->end), d);
}

const uint8_t *die_skip_children(struct die_reader *r, const struct die_unit *u,
				 const struct die *d)
{
	const uint8_t *at = d->next, *end = die_bytes(u, u->end);
	uint64_t depth = 1;
	struct die one;

	if (d->sibling)
		return d->sibling;
	while (depth > 0) {
		if (r->work-- <= 0 || at >= end || !die_read(u, at, end, &one))
			return NULL;
		at = one.next;
		if (!one.abbrev)
			depth--;
		else if (one.abbrev->children && one.sibling)
			at = one.sibling;
		else if (one.abbrev->children)
			depth++;
	}
	return at;
}

bool die_find(const struct die_unit *u, const struct die *d, unsigned name, struct die_value *v)
{
	const struct die_attr *attr = die_abbrev_attrs(u->abbrevs, d->abbrev);
	const uint8_t *p = d->attrs;

	for (uint32_t i = 0; i < d->abbrev->n_attrs && p; i++, attr++) {
		if (attr->name == name) {
			*v = (struct die_value){ p, attr->form, attr->value };
			resolve_indirect(v, d->next);
			return true;
		}
		p = die_form_skip(u, attr->form, p, d->next);
	}
	return false;
}

uint64_t die_value_number(const struct die_unit *u, const struct die_value *v)
{
	const uint8_t *at = v->at;
	int64_t n;

	switch (v->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_sec_offset:
	case DW_FORM_flag:
		return dwarf_number(u->file, at, (unsigned)die_form_bytes(v->form, u->sizes));
	case DW_FORM_udata:
	case DW_FORM_rnglistx:
		return die_uleb(&at, die_bytes(u, u->end));
	case DW_FORM_flag_present:
		return 1;
	case DW_FORM_sdata:
		n = die_sleb(&at, die_bytes(u, u->end));
		return n > 0 ? (uint64_t)n : 0;
	case DW_FORM_implicit_const:
		return v->number > 0 ? (uint64_t)v->number : 0;
	default:
		return 0;
	}
}

bool die_indexed_address(const struct die_unit *u, uint64_t index, uint64_t *out)
{
	struct lazy_bytes *s = &u->addr_file->section[DWARF_ADDR];
	uint64_t at;

	if (index > s->n || __builtin_add_overflow(u->addr_base, index * u->sizes.address, &at) ||
	    !lazy_need(s, at, u->sizes.address))
		return false;
	*out = dwarf_number(u->addr_file, s->at + at, u->sizes.address);
	return true;
}

bool die_value_address(const struct die_unit *u, const struct die_value *v, uint64_t *out)
{
	const uint8_t *at = v->at;

	switch (v->form) {
	case DW_FORM_addr:
		*out = dwarf_number(u->file, at, u->sizes.address);
		return true;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		return die_indexed_address(
			u, dwarf_number(u->file, at, (unsigned)die_form_bytes(v->form, u->sizes)),
			out);
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		return die_indexed_address(u, die_uleb(&at, die_bytes(u, u->end)), out);
	default:
		return false;
	}
}

static const char *indexed_string(const struct die_unit *u, uint64_t index)
{
	struct lazy_bytes *s = &u->file->section[DWARF_STR_OFFSETS];
	uint64_t at;

	if (index > s->n ||
	    __builtin_add_overflow(u->str_offsets_base, index * u->sizes.offset, &at) ||
	    !lazy_need(s, at, u->sizes.offset))
		return NULL;
	return lazy_string(&u->file->section[DWARF_STR],
			   dwarf_number(u->file, s->at + at, u->sizes.offset));
}

const char *die_value_string(const struct die_unit *u, const struct die_value *v)
{
	const uint8_t *at = v->at;
	int bytes = die_form_bytes(v->form, u->sizes);
	uint64_t n = bytes > 0 && bytes <= 8 ? dwarf_number(u->file, at, (unsigned)bytes) : 0;

	switch (v->form) {
	case DW_FORM_string:
		return (const char *)at;
	case DW_FORM_strp:
		return lazy_string(&u->file->section[DWARF_STR], n);
	case DW_FORM_line_strp:
		return lazy_string(&u->file->section[DWARF_LINE_STR], n);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return u->file->alt ? lazy_string(&u->file->alt->section[DWARF_STR], n) : NULL;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		return indexed_string(u, n);
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return indexed_string(u, die_uleb(&at, die_bytes(u, u->end)));
	default:
		return NULL;
	}
}

/* An entry of the unit itself. */
static struct die_place within(struct die_unit *u, uint64_t n)
{
	if (n >= u->end - u->offset)
		return (struct die_place){ NULL, 0 };
	return (struct die_place){ u, u->offset + n };
}

struct die_place die_value_place(struct die_reader *r, struct die_unit *u,
				 const struct die_value *v)
{
	const uint8_t *at = v->at;
	int bytes = die_form_bytes(v->form, u->sizes);
	uint64_t n = bytes > 0 && bytes <= 8 ? dwarf_number(u->file, at, (unsigned)bytes) : 0;

	switch (v->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
		return within(u, n);
	case DW_FORM_ref_udata:
		return within(u, die_uleb(&at, die_bytes(u, u->end)));
	case DW_FORM_ref_addr:
		return die_unit_of(r, u, n);
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return die_unit_of_alt(r, n);
	default:
		return (struct die_place){ NULL, 0 };
	}
}
