/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals that come and cover older ones: which was the newest at a point, at a time?
 *
 * The answer does not depend on the order in which intervals are added. Adding costs O(log n)
 * amortised, asking O(log² n), memory O(n) for intervals that rarely overlap and O(n log n) at worst.
 * (The logarithmic method of Bentley and Saxe over static segment trees.)
 */
#ifndef PROFTOP_RESOLVE_COVER_H
#define PROFTOP_RESOLVE_COVER_H

#include "mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cover_item {
	uint64_t start; /* first point */
	uint64_t end;   /* one past the last; > start */
	int64_t time;   /* since when it is there */
	uint32_t seq;   /* orders items of one time */
	uint32_t value; /* the caller's */
};

/* Zeroed is a valid empty cover. */
struct cover {
	VEC(struct cover_item) fresh;    /* not in a level yet; few */
	VEC(struct cover_level *) level; /* owned; largest first */
};

void cover_done(struct cover *c);

void cover_add(struct cover *c, const struct cover_item *item);
/* n at once; cheaper than one after the other. */
void cover_add_all(struct cover *c, const struct cover_item *items, size_t n);

/*
 * The newest item that covers point and is not younger than (time, seq), or NULL; borrowed until the
 * next change. *next_time becomes the time of the oldest item that covers point and is younger, and
 * is left alone when there is none before *next_time.
 */
const struct cover_item *cover_find(const struct cover *c, uint64_t point, int64_t time,
				    uint32_t seq, int64_t *next_time);

/* Calls fn for each item, in no order. */
void cover_each(const struct cover *c, void (*fn)(void *arg, const struct cover_item *item),
		void *arg);

/* Does any item overlap [start, end)? */
bool cover_touches(const struct cover *c, uint64_t start, uint64_t end);

#endif
