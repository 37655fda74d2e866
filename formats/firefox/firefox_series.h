/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A column of numbers that is read from its first to its last, in a few bytes a number: each is told by how far it is from the one
 * before, as a whole number or in millionths, which times in milliseconds have.
 */
#ifndef PROFTOP_FORMATS_FIREFOX_FIREFOX_SERIES_H
#define PROFTOP_FORMATS_FIREFOX_FIREFOX_SERIES_H

#include "base/bytes.h"
#include "base/pack_numbers.h"

#include <stddef.h>
#include <stdint.h>

#define FIREFOX_NONE UINT32_MAX /* of indexes: null */

/* What numbers are told from. */
struct firefox_series_last {
	int64_t whole, millionths;
};

struct firefox_series {
	pack_bytes bytes; /* owned */
	size_t n;
	struct firefox_series_last last;
};

/* Exactly x comes back; NAN: there is none. */
void firefox_series_add(struct firefox_series *s, double x);
void firefox_series_add_index(struct firefox_series *s, uint32_t index);
void firefox_series_done(struct firefox_series *s);

/* Where a reader is. */
struct firefox_cursor {
	struct bytes rest; /* borrowed from the series, which is not added to meanwhile */
	struct firefox_series_last last;
};

struct firefox_cursor firefox_series_begin(const struct firefox_series *s);
/* NAN: there is none, or no more. */
double firefox_series_next(struct firefox_cursor *c);
/* FIREFOX_NONE: there is none, no more, or no index. */
uint32_t firefox_series_next_index(struct firefox_cursor *c);

#endif
