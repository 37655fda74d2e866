/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old moments of a track numbered anew, where few of them are still asked for; private to this room. */
#ifndef PROFTOP_PROFILE_HEAP_HEAP_MOMENTS_H
#define PROFTOP_PROFILE_HEAP_HEAP_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct heap_packed;

/* Zeroed: all keep their numbers. */
struct heap_moments {
	uint64_t *bits;   /* [until / 64 + 1] a bit for each that is used; owned */
	uint32_t *before; /* [until / 64 + 1] bits that are set in words before; owned */
	uint32_t until;   /* those from here on only follow */
	uint32_t n;       /* used ones below */
};

void heap_moments_begin(struct heap_moments *m, uint32_t until);
void heap_moments_done(struct heap_moments *m);

/* It is asked for. */
void heap_moments_use(struct heap_moments *m, uint32_t moment);
/* All that are used were said. */
void heap_moments_number(struct heap_moments *m);
/* What a moment is called now: how many that are used come before it. */
uint32_t heap_moments_now(const struct heap_moments *m, uint32_t moment);

/*
 * The rows with what their moments are called now; moments_of says by the origin which ones a row has. False: there is no
 * room, and the rows are as they were.
 */
bool heap_moments_renumber(struct heap_packed *rows,
			   struct heap_moments *(*moments_of)(const void *arg, uint32_t origin),
			   const void *arg);

#endif
