/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/heaptrack/heaptrack_blocks.h"

#include <stdlib.h>

#include "base/hash.h"

#define LEAST_SLOTS 1024

void heaptrack_blocks_done(struct heaptrack_blocks *b)
{
	vec_done(&b->live);
	free(b->slot);
	b->slot = NULL;
	b->n_slots = b->n_blocks = 0;
}

void heaptrack_blocks_give(struct heaptrack_blocks *b)
{
	if (b->taken)
		heap_append_give(&b->append);
	b->taken = false;
}

void heaptrack_blocks_take(struct heaptrack_blocks *b)
{
	heaptrack_blocks_give(b);
	heap_append_take(&b->append, b->profile, b->track);
	b->taken = true;
	b->n_moments = 0;
}

allocation_id heaptrack_blocks_allocate_slowly(struct heaptrack_blocks *b, uint64_t size,
					       origin_id origin)
{
	heaptrack_blocks_give(b);
	if (size > SIZE_MOST || (size >= SIZE_LARGE && !build_heap_claim(b->profile, size))) {
		b->n_odd_sizes++;
		return (allocation_id){ ID_NONE };
	}
	build_moment(b->profile, b->track, b->time_ns);
	return build_allocation(b->profile, b->track, size, origin);
}

void heaptrack_blocks_release_slowly(struct heaptrack_blocks *b, allocation_id a, bool temporary)
{
	heaptrack_blocks_give(b);
	build_moment(b->profile, b->track, b->time_ns);
	build_release(b->profile, a, b->track, temporary, (origin_id){ ID_NONE });
}

/* Blocks by address: linear probing, at most half full. */

static size_t slot_of(const struct heaptrack_blocks *b, uint64_t address)
{
	return (size_t)(hash_u64(address) >> 20) & (b->n_slots - 1);
}

/* Where the address is, or would be. */
static struct heaptrack_block *find(const struct heaptrack_blocks *b, uint64_t address)
{
	size_t i = slot_of(b, address);

	while (b->slot[i].address != 0 && b->slot[i].address != address)
		i = (i + 1) & (b->n_slots - 1);
	return &b->slot[i];
}

static void grow(struct heaptrack_blocks *b)
{
	struct heaptrack_block *old = b->slot;
	size_t n = b->n_slots;

	b->n_slots = n > 0 ? 2 * n : LEAST_SLOTS;
	b->slot = xcalloc(b->n_slots, sizeof(*b->slot));
	for (size_t i = 0; i < n; i++)
		if (old[i].address != 0)
			*find(b, old[i].address) = old[i];
	free(old);
}

void heaptrack_blocks_add_at(struct heaptrack_blocks *b, uint64_t address, uint64_t size,
			     uint32_t trace, origin_id origin)
{
	struct heaptrack_block *at;

	if (2 * b->n_blocks >= b->n_slots)
		grow(b);
	at = find(b, address);
	if (at->address != 0)
		b->n_twice++;
	else
		b->n_blocks++;
	*at = (struct heaptrack_block){ .address = address, .size = size, .trace = trace };
	at->row = heaptrack_blocks_allocate(b, size, origin).v;
}

/* Closes the gap, so that look-ups may stop at an empty slot. */
static void take_out(struct heaptrack_blocks *b, size_t hole)
{
	size_t mask = b->n_slots - 1;

	for (size_t i = (hole + 1) & mask; b->slot[i].address != 0; i = (i + 1) & mask) {
		size_t home = slot_of(b, b->slot[i].address);

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			b->slot[hole] = b->slot[i];
			hole = i;
		}
	}
	b->slot[hole].address = 0;
	b->n_blocks--;
}

bool heaptrack_blocks_end_at(struct heaptrack_blocks *b, uint64_t address, bool temporary,
			     struct heaptrack_block *was)
{
	struct heaptrack_block *at = b->n_slots > 0 ? find(b, address) : NULL;

	if (!at || at->address == 0) {
		b->n_unknown++;
		return false;
	}
	if (was)
		*was = *at;
	if (at->row != ID_NONE)
		heaptrack_blocks_release(b, (allocation_id){ at->row }, temporary);
	take_out(b, (size_t)(at - b->slot));
	return true;
}
