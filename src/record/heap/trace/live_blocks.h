/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which allocation is at an address: a table of fixed size, shared by all threads, that forgets.
 *
 * A slot holds the upper bits of one address and the id of what was allocated there last, or when that was freed. As a
 * block is given back before its address is handed out again, a slot that names an address and an id is about the
 * block that is there now. When two addresses want one slot, the older one is forgotten: the trace is
 * told (HEAP_EVICT) and a bit remembers that a free of such an address may be of a forgotten block.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_LIVE_BLOCKS_H
#define PROFTOP_RECORD_HEAP_TRACE_LIVE_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ID_SLOT_BITS  21u
#define ID_SLOTS      (1u << ID_SLOT_BITS)
#define ID_BITS       40u /* of a slot; the rest says whose it is */
#define ID_MASK       ((UINT64_C(1) << ID_BITS) - 1)
#define ID_FREED      (UINT64_C(1) << (ID_BITS - 1)) /* the bits below are ticks, not an id */
#define EVICTED_BYTES (1u << 20) /* a bit for each of eight times as many classes of addresses */
#define KNOWN_BITS    16u        /* as many counters fit the processor's cache */
#define KNOWN_MOST    UINT8_MAX  /* stays */

/* Bits of the address that the slot's place does not tell: those above, and bit 3. */
static inline uint64_t address_tag(uint64_t address)
{
	return address >> (4 + ID_SLOT_BITS) << 1 | (address >> 3 & 1);
}

/* Neighbours in memory are neighbours in the table; arenas at round addresses are not. */
static inline uint32_t address_slot(uint64_t address)
{
	uint64_t high = (address >> (4 + ID_SLOT_BITS)) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)((address >> 4) + (high >> 40)) & (ID_SLOTS - 1);
}

/* Addresses that no slot can name: not of 48 bits, or not of a multiple of 8. */
static inline bool address_is_odd(uint64_t address)
{
	return address >> 48 || (address & 7);
}

/* What a slot holds once the block at its address was freed. */
static inline uint64_t slot_freed(uint64_t had, uint64_t ticks)
{
	return (had & ~ID_MASK) | ID_FREED | (ticks & (ID_FREED - 1));
}

/* Is there a block that is known, at whatever address? */
static inline bool slot_is_taken(uint64_t content)
{
	return content != 0 && !(content & ID_FREED);
}

/* Is that the one at this address? */
static inline bool slot_is_of(uint64_t content, uint64_t address)
{
	return slot_is_taken(content) && content >> ID_BITS == address_tag(address);
}

/* The address that a slot's content is about. */
static inline uint64_t slot_address_of(uint32_t slot, uint64_t content)
{
	uint64_t tag = content >> ID_BITS, above = tag >> 1;
	uint64_t high = above * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t low = (slot - (high >> 40)) & (ID_SLOTS - 1);

	return above << (4 + ID_SLOT_BITS) | low << 4 | (tag & 1) << 3;
}

static inline uint32_t evicted_bit(uint64_t address)
{
	return (uint32_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 41);
}

/* Remembers, for ever, that the free of address, if it comes, is to be told by address. */
static inline void address_evict(_Atomic uint8_t *evicted, uint64_t address)
{
	uint32_t bit = evicted_bit(address);

	atomic_fetch_or_explicit(&evicted[bit / 8], (uint8_t)(1u << bit % 8), memory_order_relaxed);
}

/* May the free of this address be that of an evicted allocation? */
static inline bool address_was_evicted(const _Atomic uint8_t *evicted, uint64_t address)
{
	uint32_t bit = evicted_bit(address);

	return atomic_load_explicit(&evicted[bit / 8], memory_order_relaxed) >> bit % 8 & 1;
}

/*
 * Where few blocks are recorded, most frees are of none: then a table of counters in front of the slots says so at once.
 * A class of addresses whose counter is 0 has no block in any slot and none that was forgotten. Counters of classes
 * with blocks that were forgotten never become 0 again.
 */
static inline _Atomic uint8_t *address_counter(_Atomic uint8_t *known, uint64_t address)
{
	/* As in address_slot(): what the program touches together is together here, too. */
	uint64_t high = (address >> (4 + KNOWN_BITS)) * UINT64_C(0x9e3779b97f4a7c15);

	return &known[((address >> 4) + (high >> 40)) & ((1u << KNOWN_BITS) - 1)];
}

static inline bool address_may_be_known(_Atomic uint8_t *known, uint64_t address)
{
	return atomic_load_explicit(address_counter(known, address), memory_order_relaxed) != 0;
}

/* One block more (1) or less (-1, 255) of that class is known. */
static inline void address_count(_Atomic uint8_t *known, uint64_t address, uint8_t change)
{
	_Atomic uint8_t *n = address_counter(known, address);
	uint8_t had = atomic_load_explicit(n, memory_order_relaxed);

	while (had != KNOWN_MOST &&
	       !atomic_compare_exchange_weak_explicit(n, &had, (uint8_t)(had + change),
						      memory_order_relaxed, memory_order_relaxed))
		;
}

#endif
