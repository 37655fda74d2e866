/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variable-length integers over hostile bytes (DWARF 5, §7.6). Bits past 64 are dropped. */
#ifndef PROFTOP_UNWIND_LEB_H
#define PROFTOP_UNWIND_LEB_H

#include "base/bytes.h"

static inline uint64_t take_uleb(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = take_u8(b);

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
}

static inline int64_t take_sleb(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = take_u8(b);

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if ((byte & 0x40) && shift + 7 < 64)
			v |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)v;
	}
}

#endif
