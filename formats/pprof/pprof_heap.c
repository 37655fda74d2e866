/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The types are those of Go's runtime/pprof, and of profiles that were converted from gperftools, which count what is in use
 * alone. Numbers are taken as they stand: Go has scaled its samples up already.
 */
#include "config.h"

#include "formats/pprof/pprof_heap.h"

#include "base/mem.h"
#include "formats/facts.h"
#include "formats/pprof/pprof_tables.h"
#include "profile/heap/heap_builder.h"

#include <stdlib.h>
#include <string.h>

enum number { USED_BLOCKS, USED_BYTES, ALL_BLOCKS, ALL_BYTES, N_NUMBERS };

#define ABSENT SIZE_MAX

struct pprof_heap {
	struct profile *p;
	capture_id capture;
	event_id event;
	track_id track;
	size_t at[N_NUMBERS]; /* place of each number among the values, or ABSENT */
	bool threads;         /* some sample has one */
	uint64_t n_odd;   /* samples that have less allocated than in use, or less than nothing */
	uint64_t n_large; /* numbers beyond what can be */
};

static const struct {
	const char *name;
	enum number number;
} types[] = {
	{ "inuse_objects", USED_BLOCKS }, { "objects", USED_BLOCKS },
	{ "inuse_space", USED_BYTES },    { "space", USED_BYTES },
	{ "alloc_objects", ALL_BLOCKS },  { "alloc_space", ALL_BYTES },
};

static void find_types(struct pprof_heap *h, const struct pprof_tables *t)
{
	for (int i = 0; i < N_NUMBERS; i++)
		h->at[i] = ABSENT;
	for (size_t i = 0; i < t->types.n; i++) {
		struct pprof_string s = pprof_string(t, t->types.at[i].type);

		for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++)
			if (s.n == strlen(types[k].name) && memcmp(s.s, types[k].name, s.n) == 0)
				h->at[types[k].number] = i;
	}
}

static bool counts_all(const struct pprof_heap *h)
{
	return h->at[ALL_BLOCKS] != ABSENT && h->at[ALL_BYTES] != ABSENT;
}

struct pprof_heap *pprof_heap_new(struct profile *p, capture_id c, const struct pprof_tables *t)
{
	struct pprof_heap *h = xcalloc(1, sizeof(*h));

	find_types(h, t);
	if (h->at[USED_BLOCKS] == ABSENT || h->at[USED_BYTES] == ABSENT) {
		free(h);
		return NULL;
	}
	h->p = p;
	h->capture = c;
	h->event = build_heap_event(p, "malloc");
	build_event_default(p, h->event);
	h->track = build_heap_track(p, build_process_of_name(p, c, (string_id){ 0 }), 0, 0);
	build_moment(p, h->track, 0);
	return h;
}

static bool claim(struct pprof_heap *h, int64_t bytes)
{
	if ((uint64_t)bytes <= SIZE_MOST &&
	    ((uint64_t)bytes < SIZE_LARGE || build_heap_claim(h->p, (uint64_t)bytes)))
		return true;
	h->n_large++;
	return false;
}

/* All blocks of the stack but the one that stands for those in use. */
static void add_rest(struct pprof_heap *h, origin_id origin, int64_t blocks, int64_t bytes)
{
	struct heap_bulk bulk = { .origin = origin.v };

	if (blocks <= 0 && bytes <= 0)
		return;
	if (!build_heap_claim(h->p, (uint64_t)bytes)) {
		h->n_large++;
		return;
	}
	bulk.calls = blocks > 0 ? (uint64_t)blocks : 0;
	bulk.bytes = (uint64_t)bytes;
	build_bulk(h->p, &bulk);
}

void pprof_heap_add(struct pprof_heap *h, stack_id stack, thread_id thread, const int64_t *value,
		    size_t n)
{
	const struct heap_origin o = { .stack = stack.v,
				       .thread = thread.v,
				       .event = (uint16_t)h->event.v,
				       .track = (uint16_t)h->track.v };
	int64_t v[N_NUMBERS];
	origin_id origin;
	bool one;

	for (int i = 0; i < N_NUMBERS; i++)
		v[i] = h->at[i] < n ? value[h->at[i]] : 0;
	if (!counts_all(h)) {
		v[ALL_BLOCKS] = v[USED_BLOCKS];
		v[ALL_BYTES] = v[USED_BYTES];
	}
	if (v[USED_BLOCKS] < 0 || v[USED_BYTES] < 0 || v[ALL_BLOCKS] < v[USED_BLOCKS] ||
	    v[ALL_BYTES] < v[USED_BYTES]) {
		h->n_odd++;
		return;
	}
	h->threads |= thread.v != ID_NONE;
	origin = build_heap_origin(h->p, &o);
	one = v[USED_BYTES] > 0 && claim(h, v[USED_BYTES]);
	if (one)
		build_allocation(h->p, h->track, (uint64_t)v[USED_BYTES], origin);
	add_rest(h, origin, v[ALL_BLOCKS] - one, v[ALL_BYTES] - v[USED_BYTES]);
}

void pprof_heap_tell(struct pprof_heap *h)
{
	build_heap_lacks(h->p, h->track,
			 HEAP_LACKS_LIFETIMES | HEAP_LACKS_TEMPORARY | HEAP_LACKS_TIMES |
				 HEAP_LACKS_SIZES | (counts_all(h) ? 0 : HEAP_LACKS_CALLS) |
				 (h->threads ? 0 : HEAP_LACKS_THREADS));
	build_heap_lives_on(h->p, h->track);
	build_fact(h->p, h->capture, "heap", "in use", FACT_PLAIN,
		   "when the profile was taken: at no other time, so that live is also the peak");
	build_fact(h->p, h->capture, "heap", "allocated", FACT_PLAIN,
		   counts_all(h) ? "calls and bytes since the program began"
				 : "not in the file: calls and bytes are those in use");
	build_fact(h->p, h->capture, "heap", "single blocks", FACT_PLAIN,
		   "not in the file: those of a stack in use are one block");
	facts_loss(h->p, h->capture, "heap", h->n_odd, "stack",
		   "with fewer blocks or bytes allocated than in use: not in the memory view");
	facts_loss(h->p, h->capture, "heap sums", h->n_large, "number",
		   "left out, as it is more than can be");
}

void pprof_heap_free(struct pprof_heap *h)
{
	free(h);
}
