/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heap_slots.h"

#include "mem.h"

#include <stdlib.h>

/* Guesses are good to this many moments, or better. */
#define N_GUESSES 65536u

/* Where slot i begins; the sum of exact parts, as spans may be of any length. */
static int64_t slot_begin(int64_t from_ns, int64_t to_ns, uint32_t i, uint32_t n)
{
	uint64_t span = (uint64_t)to_ns - (uint64_t)from_ns;

	return (int64_t)((uint64_t)from_ns + span / n * i + span % n * i / n);
}

void heap_slots_init(struct heap_slots *s, const struct heap_state *state, uint32_t track,
		     int64_t from_ns, int64_t to_ns, uint32_t n)
{
	uint32_t n_guesses, slot = 0;

	*s = (struct heap_slots){ .n = n };
	s->bound = xmalloc(((size_t)n + 1) * sizeof(*s->bound));
	for (uint32_t i = 0; i <= n; i++)
		s->bound[i] = heap_state_moment(state, track, slot_begin(from_ns, to_ns, i, n));
	while (s->bound[n] >> s->shift >= N_GUESSES)
		s->shift++;
	n_guesses = (s->bound[n] >> s->shift) + 1;
	s->guess = xmalloc(n_guesses * sizeof(*s->guess));
	for (uint32_t i = 0; i < n_guesses; i++) {
		while (slot + 1 < n && s->bound[slot + 1] <= (uint64_t)i << s->shift)
			slot++;
		s->guess[i] = slot;
	}
}

uint32_t heap_slots_gone(const struct heap_state *state, uint32_t track, int64_t from_ns,
			 int64_t to_ns, uint32_t n)
{
	int64_t gone = state->gone_ns[track];
	uint32_t slot = 0;

	if (gone < from_ns)
		return SLOT_BEFORE;
	if (gone >= to_ns)
		return n;
	while (slot + 1 < n && slot_begin(from_ns, to_ns, slot + 1, n) <= gone)
		slot++;
	return slot;
}

void heap_slots_done(struct heap_slots *s)
{
	free(s->bound);
	free(s->guess);
	*s = (struct heap_slots){ 0 };
}
