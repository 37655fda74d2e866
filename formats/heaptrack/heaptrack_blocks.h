/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heaptrack's allocations and frees as rows of the profile.
 *
 * Raw files name a block by its address. Interpreted ones name only its kind, which is a size and a stack: of several blocks of
 * a kind the newest one is freed first here. All sums are those of the file either way, lifetimes are not.
 *
 * Wants the pen, and the track must have been made.
 */
#ifndef PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_BLOCKS_H
#define PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_BLOCKS_H

#include "base/mem.h"
#include "profile/heap/heap_append.h"

#include <stdbool.h>
#include <stdint.h>

/* A live block of a kind; one that is not in use is in the list of spares. */
struct heaptrack_live {
	uint32_t row;   /* allocation_id */
	uint32_t below; /* index + 1 of the one before it; 0: none */
};

/* A size and a stack: a line "a". */
struct heaptrack_kind {
	uint64_t size;   /* bytes */
	uint32_t trace;  /* index of the stack; 0: none */
	uint32_t origin; /* origin_id, ID_NONE: not asked for yet */
	uint32_t newest; /* index + 1 of its newest live block; 0: none */
	bool bad;        /* its line could not be read */
};

/* A block that has an address. */
struct heaptrack_block {
	uint64_t address; /* 0: the slot is empty */
	uint64_t size;    /* bytes */
	uint32_t trace;
	uint32_t row; /* allocation_id, ID_NONE: it could not be added */
};

struct heaptrack_blocks {
	struct profile *profile; /* borrowed */
	track_id track;
	int64_t time_ns; /* of what comes next */

	struct heap_append append; /* while it is taken */
	bool taken;
	uint32_t n_moments; /* since it was taken */

	VEC(struct heaptrack_live) live;
	uint32_t spare; /* index + 1 of an unused one; 0: none */

	struct heaptrack_block *slot; /* [n_slots] by hash of the address; owned */
	size_t n_slots;               /* a power of two, or 0 */
	size_t n_blocks;              /* in slot */

	uint64_t n_events;    /* allocations and frees that were added */
	uint64_t n_odd_sizes; /* allocations of more bytes than can be */
	uint64_t n_unknown;   /* frees of what is not live */
	uint64_t n_twice;     /* allocations at an address that was not freed */
};

/* b is zeroed but for what it borrows. */
void heaptrack_blocks_done(struct heaptrack_blocks *b);

/* Before anything else but origins is built. */
void heaptrack_blocks_give(struct heaptrack_blocks *b);

/* Room for what could not be added in the usual way; {ID_NONE}: so many bytes cannot be. */
allocation_id heaptrack_blocks_allocate_slowly(struct heaptrack_blocks *b, uint64_t size,
					       origin_id origin);
void heaptrack_blocks_release_slowly(struct heaptrack_blocks *b, allocation_id a, bool temporary);
void heaptrack_blocks_take(struct heaptrack_blocks *b);

/* A new row. */
static inline allocation_id heaptrack_blocks_allocate(struct heaptrack_blocks *b, uint64_t size,
						      origin_id origin)
{
	allocation_id a;

	if (!b->taken || b->n_moments >= HEAP_PEN_MOST - 2)
		heaptrack_blocks_take(b);
	b->n_events++;
	b->n_moments++;
	if (heap_append_allocation(&b->append, b->time_ns, size, origin, &a))
		return a;
	return heaptrack_blocks_allocate_slowly(b, size, origin);
}

/* The row's end; it is live. */
static inline void heaptrack_blocks_release(struct heaptrack_blocks *b, allocation_id a,
					    bool temporary)
{
	if (!b->taken || b->n_moments >= HEAP_PEN_MOST - 2)
		heaptrack_blocks_take(b);
	b->n_events++;
	b->n_moments++;
	if (heap_append_moment(&b->append, b->time_ns))
		heap_append_release(&b->append, a, temporary);
	else
		heaptrack_blocks_release_slowly(b, a, temporary);
}

/* A block of a kind whose origin is known comes and ends at once; false: it is not usual, and nothing was done. */
static inline bool heaptrack_blocks_pass(struct heaptrack_blocks *b,
					 const struct heaptrack_kind *kind)
{
	if (!b->taken || b->n_moments >= HEAP_PEN_MOST - 2 ||
	    !heap_append_brief(&b->append, b->time_ns, kind->size, (origin_id){ kind->origin }))
		return false;
	b->n_events += 2;
	b->n_moments += 2;
	return true;
}

/* A block of a kind whose origin is known. */
static inline void heaptrack_blocks_add(struct heaptrack_blocks *b, struct heaptrack_kind *kind)
{
	allocation_id a = heaptrack_blocks_allocate(b, kind->size, (origin_id){ kind->origin });
	uint32_t at = b->spare;

	if (a.v == ID_NONE)
		return;
	if (at != 0) {
		b->spare = b->live.at[at - 1].below;
	} else {
		vec_push(&b->live, (struct heaptrack_live){ 0 });
		at = (uint32_t)b->live.n;
	}
	b->live.at[at - 1] = (struct heaptrack_live){ a.v, kind->newest };
	kind->newest = at;
}

/* The newest block of the kind ends; false: none is live. */
static inline bool heaptrack_blocks_end(struct heaptrack_blocks *b, struct heaptrack_kind *kind,
					bool temporary)
{
	uint32_t at = kind->newest;
	struct heaptrack_live *live;

	if (at == 0) {
		b->n_unknown++;
		return false;
	}
	live = &b->live.at[at - 1];
	heaptrack_blocks_release(b, (allocation_id){ live->row }, temporary);
	kind->newest = live->below;
	live->below = b->spare;
	b->spare = at;
	return true;
}

/* A block at an address, which is not 0. */
void heaptrack_blocks_add_at(struct heaptrack_blocks *b, uint64_t address, uint64_t size,
			     uint32_t trace, origin_id origin);
/* The block at the address ends; false: none is live there. *was (may be NULL): what it was. */
bool heaptrack_blocks_end_at(struct heaptrack_blocks *b, uint64_t address, bool temporary,
			     struct heaptrack_block *was);

#endif
