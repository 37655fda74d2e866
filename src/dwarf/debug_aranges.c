/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units by address; see debug_aranges.h. */
#include "config.h"

#include "dwarf/debug_aranges.h"

#include <stddef.h>

#include "base/bytes.h"
#include "dwarf/dwarf_file.h"

/* The pairs of one unit; they begin at a multiple of their size, from where its header does. */
static bool each_pair(struct bytes *b, const uint8_t *header, uint64_t unit, unsigned address,
		      arange_take *take, void *arg)
{
	size_t past = (size_t)(b->at - header) % (2 * address);

	if (past > 0)
		take_bytes(b, 2 * address - past);
	while (bytes_left(b) >= 2 * address) {
		uint64_t begin = address == 8 ? take_u64(b) : take_u32(b);
		uint64_t n = address == 8 ? take_u64(b) : take_u32(b);

		if (begin == 0 && n == 0)
			break;
		if (n > UINT64_MAX - begin)
			return false;
		/* begin 0: a function that the linker dropped */
		if (begin > 0 && n > 0)
			take(arg, unit, begin, begin + n);
	}
	return !b->bad;
}

/* One unit's. */
static bool each_of_unit(struct bytes *all, arange_take *take, void *arg)
{
	const uint8_t *header = all->at;
	uint64_t n = take_u32(all), unit;
	bool wide = n == UINT32_MAX;
	unsigned version, address;
	struct bytes b;

	if (wide)
		n = take_u64(all);
	if (all->bad || n > bytes_left(all))
		return false;
	b = bytes_over(take_bytes(all, (size_t)n), (size_t)n, all->swap);
	version = take_u16(&b);
	unit = wide ? take_u64(&b) : take_u32(&b);
	address = take_u8(&b);
	/* Nobody writes segments. */
	if (take_u8(&b) != 0 || b.bad || version != 2 || (address != 4 && address != 8))
		return false;
	return each_pair(&b, header, unit, address, take, arg);
}

bool debug_aranges_each(struct dwarf_file *f, arange_take *take, void *arg)
{
	struct lazy_bytes *s = &f->section[DWARF_ARANGES];
	struct bytes all;

	if (s->n == 0 || !lazy_need(s, 0, s->n))
		return false;
	all = bytes_over(s->at, (size_t)s->n, f->swap);
	while (bytes_left(&all) > 0) {
		if (!each_of_unit(&all, take, arg))
			return false;
	}
	return true;
}
