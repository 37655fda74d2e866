/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses are kept by page of 4 KiB, in which every 16th byte is a place; what lies between places is of pages of its own.
 * A page has a bit for each place with a block, and the ids of these in the order of addresses: as distances from the lowest, in
 * as many bytes as the widest of them needs. While each is one more than the one before, the lowest is enough.
 */
#include "config.h"

#include "heaptrace/read/block_addresses.h"

#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PLACES    256u
#define WORD_BITS 64u
#define ROOM      16u /* distances that a page's memory grows by */

struct address_page {
	uint64_t key;
	uint64_t taken[PLACES / WORD_BITS]; /* bits: places with a block */
	uint64_t lowest;                    /* not above any id of the page */
	uint8_t *distance;                  /* [room][width] from it, low bytes first; owned */
	uint16_t n;                         /* blocks */
	uint16_t room;
	uint8_t width; /* 0: ids follow each other */
};

void block_addresses_done(struct block_addresses *b)
{
	for (size_t i = 0; i < b->pages.n; i++)
		free(b->pages.at[i].distance);
	vec_done(&b->pages);
	map_done(&b->by_key);
	b->last = 0;
}

static bool same_key(const void *things, uint32_t value, const void *key)
{
	return ((const struct address_page *)things)[value].key == *(const uint64_t *)key;
}

/* The page of an address; NULL: there is none yet. */
static struct address_page *find_page(struct block_addresses *b, uint64_t key)
{
	uint32_t i;

	if (b->last < b->pages.n && b->pages.at[b->last].key == key)
		return &b->pages.at[b->last];
	i = map_find(&b->by_key, hash_u64(key), same_key, b->pages.at, &key);
	if (i == MAP_NONE)
		return NULL;
	b->last = i;
	return &b->pages.at[i];
}

static struct address_page *add_page(struct block_addresses *b, uint64_t key)
{
	b->last = b->pages.n;
	map_add(&b->by_key, hash_u64(key), (uint32_t)b->last);
	vec_push(&b->pages, (struct address_page){ .key = key });
	return &b->pages.at[b->last];
}

/* What lies between places has the rest of its address in bits that no page's number needs. */
static uint64_t key_of(uint64_t address)
{
	return address >> 12 | (address & 15) << 60;
}

static unsigned place_of(uint64_t address)
{
	return (unsigned)(address >> 4) % PLACES;
}

static bool is_taken(const struct address_page *p, unsigned place)
{
	return p->taken[place / WORD_BITS] >> place % WORD_BITS & 1;
}

/* Blocks of the page at lower places. */
static unsigned rank_of(const struct address_page *p, unsigned place)
{
	uint64_t below = (UINT64_C(1) << place % WORD_BITS) - 1;
	unsigned n = (unsigned)__builtin_popcountll(p->taken[place / WORD_BITS] & below);

	for (unsigned i = 0; i < place / WORD_BITS; i++)
		n += (unsigned)__builtin_popcountll(p->taken[i]);
	return n;
}

static uint64_t id_at(const struct address_page *p, unsigned rank)
{
	const uint8_t *at = p->distance + (size_t)rank * p->width;
	uint64_t distance = 0;

	if (p->width == 0)
		return p->lowest + rank;
	for (unsigned i = 0; i < p->width; i++)
		distance |= (uint64_t)at[i] << 8 * i;
	return p->lowest + distance;
}

static void put_id(struct address_page *p, unsigned rank, uint64_t id)
{
	uint8_t *at = p->distance + (size_t)rank * p->width;

	for (unsigned i = 0; i < p->width; i++)
		at[i] = (uint8_t)((id - p->lowest) >> 8 * i);
}

/* Are there distances, with room for one more, for all of the page and this id? */
static bool fits(const struct address_page *p, uint64_t id)
{
	return p->width > 0 && p->n < p->room && id >= p->lowest &&
	       (p->width == 8 || (id - p->lowest) >> 8 * p->width == 0);
}

/* Lays the page out anew, so that an id fits. */
static void make_fit(struct address_page *p, uint64_t id)
{
	uint64_t ids[PLACES], lowest = id, highest = id;
	unsigned room = (p->n / ROOM + 1) * ROOM, width = 1;

	for (unsigned i = 0; i < p->n; i++) {
		ids[i] = id_at(p, i);
		lowest = ids[i] < lowest ? ids[i] : lowest;
		highest = ids[i] > highest ? ids[i] : highest;
	}
	while (width < 8 && (highest - lowest) >> 8 * width)
		width++;
	p->distance = xreallocarray(p->distance, room, width);
	p->room = (uint16_t)room;
	p->width = (uint8_t)width;
	p->lowest = lowest;
	for (unsigned i = 0; i < p->n; i++)
		put_id(p, i, ids[i]);
}

void block_addresses_put(struct block_addresses *b, uint64_t address, uint64_t id)
{
	uint64_t key = key_of(address);
	unsigned place = place_of(address), rank;
	struct address_page *p = find_page(b, key);

	p = p ? p : add_page(b, key);
	rank = rank_of(p, place);
	if (p->n == 0)
		p->lowest = id;
	if (!is_taken(p, place) && p->width == 0 && rank == p->n && id == p->lowest + rank) {
		p->n++;
		p->taken[place / WORD_BITS] |= UINT64_C(1) << place % WORD_BITS;
		return;
	}
	if (!fits(p, id))
		make_fit(p, id);
	if (!is_taken(p, place)) {
		uint8_t *at = p->distance + (size_t)rank * p->width;

		memmove(at + p->width, at, (size_t)(p->n - rank) * p->width);
		p->taken[place / WORD_BITS] |= UINT64_C(1) << place % WORD_BITS;
		p->n++;
	}
	put_id(p, rank, id);
}

uint64_t block_addresses_take(struct block_addresses *b, uint64_t address)
{
	struct address_page *p = find_page(b, key_of(address));
	unsigned place = place_of(address), rank;
	uint64_t id;

	if (!p || !is_taken(p, place))
		return 0;
	rank = rank_of(p, place);
	id = id_at(p, rank);
	if (p->width == 0 && rank == 0)
		p->lowest++;
	else if (p->width == 0 && rank + 1u < p->n)
		make_fit(p, id);
	if (p->width > 0) {
		uint8_t *at = p->distance + (size_t)rank * p->width;

		memmove(at, at + p->width, (size_t)(p->n - rank - 1) * p->width);
	}
	p->taken[place / WORD_BITS] &= ~(UINT64_C(1) << place % WORD_BITS);
	if (--p->n > 0)
		return id;
	free(p->distance);
	p->distance = NULL;
	p->width = 0;
	p->room = 0;
	return id;
}
