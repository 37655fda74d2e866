/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many allocations and releases of one track, one after the other, without a call for each: what
 * build_moment(), build_allocation() and build_release() do in their usual cases, in line.
 *
 *     heap_append_take(&pen, p, track);
 *     …                    of heap_builder.h, only origins may be built here
 *     heap_append_give(&pen); now all of it may
 *
 * What is not usual returns false and has done nothing: it is for the functions of heap_builder.h.
 */
#ifndef PROFTOP_PROFILE_HEAP_HEAP_APPEND_H
#define PROFTOP_PROFILE_HEAP_HEAP_APPEND_H

#include "profile/heap/heap_builder.h"
#include "profile/heap/heap_packed.h"

/* Moments between taking and giving, at most. */
#define HEAP_PEN_MOST 65536u

struct heap_append {
	struct profile *profile; /* borrowed */
	track_id track;
	struct heap_packed *rows; /* the profile's */
	uint32_t n_moments;
	int64_t due_ns; /* moments from this time on are ticks too */
};

void heap_append_take(struct heap_append *pen, struct profile *p, track_id t);
void heap_append_give(const struct heap_append *pen);

/* The next moment is a tick; false: it is not usual. */
bool heap_append_tick(struct heap_append *pen, int64_t time_ns);

/* May a moment of this time be the next one? */
static inline bool heap_append_moment(struct heap_append *pen, int64_t time_ns)
{
	return time_ns < pen->due_ns || heap_append_tick(pen, time_ns);
}

/* A moment at which a block is handed out: its allocation. */
static inline bool heap_append_allocation(struct heap_append *pen, int64_t time_ns, uint64_t size,
					  origin_id origin, allocation_id *out)
{
	struct heap_packed *rows = pen->rows;

	if (size >= SIZE_LARGE || !heap_append_moment(pen, time_ns) ||
	    heap_packed_add(rows, pen->n_moments, size, origin.v) < 0)
		return false;
	pen->n_moments++;
	out->v = rows->n - 1;
	return true;
}

/* Two moments: a block is handed out, and at once released as a temporary one. */
static inline bool heap_append_brief(struct heap_append *pen, int64_t time_ns, uint64_t size,
				     origin_id origin)
{
	if (time_ns >= pen->due_ns ||
	    !heap_packed_add_brief(pen->rows, pen->n_moments, size, origin.v))
		return false;
	pen->n_moments += 2;
	return true;
}

/* Was the block released? */
static inline bool heap_append_released(const struct heap_append *pen, allocation_id a)
{
	return heap_packed_has_ended(pen->rows, a.v);
}

/* A moment at which a block that has not been released is: who did it is not known. */
static inline void heap_append_release(struct heap_append *pen, allocation_id a, bool temporary)
{
	heap_packed_end(pen->rows, a.v, pen->n_moments++ | (temporary ? END_TEMPORARY : 0));
}

/* The allocation, or {ID_NONE}, is released soon: brings near what says where its end stands. */
static inline __attribute__((always_inline)) void heap_append_group_soon(
	const struct heap_append *pen, allocation_id a)
{
	if (a.v != ID_NONE)
		__builtin_prefetch(
			(const struct heap_group *)pen->rows->group.base + a.v / HEAP_GROUP, 1);
}

/* The allocation, or {ID_NONE}, is released soon: brings it near. A call would be left out as one of no effect. */
static inline __attribute__((always_inline)) void heap_append_release_soon(
	const struct heap_append *pen, allocation_id a)
{
	if (a.v != ID_NONE)
		__builtin_prefetch(heap_packed_end_of(pen->rows, a.v), 1);
}

#endif
