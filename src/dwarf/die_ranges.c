/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the code of an entry lies; see die_ranges.h. */
#include "config.h"

#include "dwarf/die_ranges.h"

#include <dwarf.h>

#include "dwarf/die_entry.h"

#define ENTRY_MAX 32u /* bytes of the longest entry of a list: a kind and two numbers */

/* A list that is being read. */
struct lister {
	struct die_reader *r;
	const struct die_unit *u;
	die_range_take *take;
	void *arg;
	uint64_t base; /* what offsets are relative to */
	bool any;      /* a range was told */
};

/* The value of a wanted attribute. */
static struct die_value wanted(const struct die_unit *u, const struct die *d, enum die_want want,
			       unsigned name)
{
	struct die_value v = { d->value[want], d->form[want], 0 };

	if (v.form == DW_FORM_indirect || v.form == DW_FORM_implicit_const)
		die_find(u, d, name, &v);
	return v;
}

static void tell(struct lister *l, uint64_t begin, uint64_t end)
{
	if (begin == 0 || begin >= end)
		return;
	l->any = true;
	l->take(l->arg, begin, end);
}

/* .debug_ranges: pairs; (0, 0) ends, (-1, x) sets the base. */
static void read_pairs(struct lister *l, struct dwarf_file *f, uint64_t at)
{
	struct lazy_bytes *s = &f->section[DWARF_RANGES];
	unsigned n = l->u->sizes.address;
	uint64_t select = n == 8 ? UINT64_MAX : UINT32_MAX, begin, end;

	for (; l->r->work-- > 0 && lazy_need(s, at, 2 * (uint64_t)n); at += 2 * (uint64_t)n) {
		begin = dwarf_number(f, s->at + at, n);
		end = dwarf_number(f, s->at + at + n, n);
		if (begin == 0 && end == 0)
			return;
		if (begin == select)
			l->base = end;
		else
			tell(l, l->base + begin, l->base + end);
	}
}

static uint64_t take_address(struct lister *l, const uint8_t **at, const uint8_t *end)
{
	unsigned n = l->u->sizes.address;
	uint64_t v;

	if (!*at || (size_t)(end - *at) < n) {
		*at = NULL;
		return 0;
	}
	v = dwarf_number(l->u->file, *at, n);
	*at += n;
	return v;
}

static uint64_t take_indexed(struct lister *l, const uint8_t **at, const uint8_t *end)
{
	uint64_t v = 0, index = die_uleb(at, end);

	if (*at && !die_indexed_address(l->u, index, &v))
		*at = NULL;
	return v;
}

/* One entry of .debug_rnglists; false: the list ends. */
static bool read_range(struct lister *l, const uint8_t **at, const uint8_t *end)
{
	uint64_t a, b;
	uint8_t kind = *(*at)++;

	switch (kind) {
	case DW_RLE_base_addressx:
		l->base = take_indexed(l, at, end);
		return *at != NULL;
	case DW_RLE_base_address:
		l->base = take_address(l, at, end);
		return *at != NULL;
	case DW_RLE_startx_endx:
		a = take_indexed(l, at, end);
		b = take_indexed(l, at, end);
		break;
	case DW_RLE_startx_length:
		a = take_indexed(l, at, end);
		b = a + die_uleb(at, end);
		break;
	case DW_RLE_offset_pair:
		a = l->base + die_uleb(at, end);
		b = l->base + die_uleb(at, end);
		break;
	case DW_RLE_start_end:
		a = take_address(l, at, end);
		b = take_address(l, at, end);
		break;
	case DW_RLE_start_length:
		a = take_address(l, at, end);
		b = a + die_uleb(at, end);
		break;
	default: /* DW_RLE_end_of_list, or damage */
		return false;
	}
	if (*at)
		tell(l, a, b);
	return *at != NULL;
}

static void read_list(struct lister *l, uint64_t offset)
{
	struct lazy_bytes *s = &l->u->file->section[DWARF_RNGLISTS];
	const uint8_t *at;
	uint64_t left;

	while (offset < s->n && l->r->work-- > 0) {
		left = s->n - offset < ENTRY_MAX ? s->n - offset : ENTRY_MAX;
		if (!lazy_need(s, offset, left))
			return;
		at = s->at + offset;
		if (!read_range(l, &at, at + left))
			return;
		offset = (uint64_t)(at - s->at);
	}
}

/* Where the list begins that DW_FORM_rnglistx speaks of; false: nowhere. */
static bool list_of(const struct die_unit *u, uint64_t index, uint64_t *out)
{
	struct lazy_bytes *s = &u->file->section[DWARF_RNGLISTS];
	uint64_t at, n = u->sizes.offset;

	if (index > s->n || __builtin_add_overflow(u->rnglists_base, index * n, &at) ||
	    !lazy_need(s, at, n))
		return false;
	*out = u->rnglists_base + dwarf_number(u->file, s->at + at, (unsigned)n);
	return true;
}

static void read_ranges(struct lister *l, const struct die *d)
{
	const struct die_unit *u = l->u;
	struct die_value v = wanted(u, d, WANT_RANGES, DW_AT_ranges);
	uint64_t at = die_value_number(u, &v);

	l->base = u->low_pc;
	if (u->version < 5)
		read_pairs(l, u->split ? u->addr_file : u->file,
			   at + (u->split ? u->ranges_base : 0));
	else if (v.form != DW_FORM_rnglistx || list_of(u, at, &at))
		read_list(l, at);
}

bool die_has_code(const struct die *d)
{
	return d->value[WANT_RANGES] || (d->value[WANT_LOW_PC] && d->value[WANT_HIGH_PC]);
}

bool die_each_range(struct die_reader *r, const struct die_unit *u, const struct die *d,
		    die_range_take *take, void *arg)
{
	struct lister l = { .r = r, .u = u, .take = take, .arg = arg };
	struct die_value low, high;
	uint64_t begin, end;

	if (d->value[WANT_LOW_PC] && d->value[WANT_HIGH_PC]) {
		low = wanted(u, d, WANT_LOW_PC, DW_AT_low_pc);
		high = wanted(u, d, WANT_HIGH_PC, DW_AT_high_pc);
		if (!die_value_address(u, &low, &begin))
			return false;
		if (!die_value_address(u, &high, &end))
			end = begin + die_value_number(u, &high);
		tell(&l, begin, end);
	} else if (d->value[WANT_RANGES]) {
		read_ranges(&l, d);
	}
	return l.any;
}
