/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals that come and cover older ones: which was the newest at a point, at a time?
 *
 * The answer does not depend on the order in which intervals are added. Adding costs O(log n)
 * amortised, asking O(log² n), memory O(n) for intervals that rarely overlap and O(n log n) at worst.
 * (The logarithmic method of Bentley and Saxe over static segment trees.)
 */
#ifndef PROFTOP_SYMBOLS_SPACE_INTERVAL_MAP_H
#define PROFTOP_SYMBOLS_SPACE_INTERVAL_MAP_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval_map_item {
	uint64_t start; /* first point */
	uint64_t end;   /* one past the last; > start */
	int64_t time;   /* since when it is there */
	uint32_t seq;   /* orders items of one time */
	uint32_t value; /* the caller's */
};

/* Zeroed is a valid empty cover. */
struct interval_map {
	VEC(struct interval_map_item) fresh;    /* not in a level yet; few */
	VEC(struct interval_map_level *) level; /* owned; largest first */
};

void interval_map_done(struct interval_map *c);

void interval_map_add(struct interval_map *c, const struct interval_map_item *item);
/* n at once; cheaper than one after the other. */
void interval_map_add_all(struct interval_map *c, const struct interval_map_item *items, size_t n);

/*
 * The newest item that covers point and is not younger than (time, seq), or NULL; borrowed until the
 * next change. *next_time becomes the time of the oldest item that covers point and is younger, and
 * is left alone when there is none before *next_time.
 */
const struct interval_map_item *interval_map_find(const struct interval_map *c, uint64_t point,
						  int64_t time, uint32_t seq, int64_t *next_time);

/* Calls fn for each item, in no order. */
void interval_map_each(const struct interval_map *c,
		       void (*fn)(void *arg, const struct interval_map_item *item), void *arg);

/* Does any item overlap [start, end)? */
bool interval_map_touches(const struct interval_map *c, uint64_t start, uint64_t end);

#endif
