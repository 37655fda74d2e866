/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/summed_heap.h"

#include "base/mem.h"
#include "formats/facts.h"
#include "profile/heap/heap_builder.h"

#include <stdlib.h>
#include <string.h>

struct summed_heap {
	struct profile *p;
	capture_id capture;
	event_id event;
	track_id track;
	bool has_all;
	bool threads;     /* some sample has one */
	uint64_t n_odd;   /* samples that have less allocated than in use, or less than nothing */
	uint64_t n_large; /* numbers beyond what can be */
};

struct summed_heap *summed_heap_new(struct profile *p, capture_id c, bool has_all)
{
	struct summed_heap *h = xcalloc(1, sizeof(*h));

	h->p = p;
	h->capture = c;
	h->has_all = has_all;
	h->event = build_heap_event(p, "malloc");
	build_event_default(p, h->event);
	h->track = build_heap_track(p, build_process_of_name(p, c, (string_id){ 0 }), 0, 0);
	build_moment(p, h->track, 0);
	return h;
}

static bool claim(struct summed_heap *h, int64_t bytes)
{
	if ((uint64_t)bytes <= SIZE_MOST &&
	    ((uint64_t)bytes < SIZE_LARGE || build_heap_claim(h->p, (uint64_t)bytes)))
		return true;
	h->n_large++;
	return false;
}

/* All blocks of the stack but the one that stands for those in use. */
static void add_rest(struct summed_heap *h, origin_id origin, int64_t blocks, int64_t bytes)
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

void summed_heap_add(struct summed_heap *h, stack_id stack, thread_id thread,
		     const int64_t number[N_SUMMED_NUMBERS])
{
	const struct heap_origin o = { .stack = stack.v,
				       .thread = thread.v,
				       .event = (uint16_t)h->event.v,
				       .track = (uint16_t)h->track.v };
	int64_t v[N_SUMMED_NUMBERS];
	origin_id origin;
	bool one;

	memcpy(v, number, sizeof(v));
	if (!h->has_all) {
		v[SUMMED_ALL_BLOCKS] = v[SUMMED_USED_BLOCKS];
		v[SUMMED_ALL_BYTES] = v[SUMMED_USED_BYTES];
	}
	if (v[SUMMED_USED_BLOCKS] < 0 || v[SUMMED_USED_BYTES] < 0 ||
	    v[SUMMED_ALL_BLOCKS] < v[SUMMED_USED_BLOCKS] ||
	    v[SUMMED_ALL_BYTES] < v[SUMMED_USED_BYTES]) {
		h->n_odd++;
		return;
	}
	h->threads |= thread.v != ID_NONE;
	origin = build_heap_origin(h->p, &o);
	one = v[SUMMED_USED_BYTES] > 0 && claim(h, v[SUMMED_USED_BYTES]);
	if (one)
		build_allocation(h->p, h->track, (uint64_t)v[SUMMED_USED_BYTES], origin);
	add_rest(h, origin, v[SUMMED_ALL_BLOCKS] - one, v[SUMMED_ALL_BYTES] - v[SUMMED_USED_BYTES]);
}

void summed_heap_tell(struct summed_heap *h)
{
	build_heap_lacks(h->p, h->track,
			 HEAP_LACKS_LIFETIMES | HEAP_LACKS_TEMPORARY | HEAP_LACKS_TIMES |
				 HEAP_LACKS_SIZES | (h->has_all ? 0 : HEAP_LACKS_CALLS) |
				 (h->threads ? 0 : HEAP_LACKS_THREADS));
	build_heap_lives_on(h->p, h->track);
	build_fact(h->p, h->capture, "heap", "in use", FACT_PLAIN,
		   "when the profile was taken: at no other time, so that live is also the peak");
	build_fact(h->p, h->capture, "heap", "allocated", FACT_PLAIN,
		   h->has_all ? "calls and bytes since the program began"
			      : "not in the file: calls and bytes are those in use");
	build_fact(h->p, h->capture, "heap", "single blocks", FACT_PLAIN,
		   "not in the file: those of a stack in use are one block");
	facts_loss(h->p, h->capture, "heap", h->n_odd, "stack",
		   "with fewer blocks or bytes allocated than in use: not in the memory view");
	facts_loss(h->p, h->capture, "heap sums", h->n_large, "number",
		   "left out, as it is more than can be");
}

void summed_heap_free(struct summed_heap *h)
{
	free(h);
}
