/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/made_story.h"

#include "profile/builder.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define MOST_LIVE 400

static uint64_t size_by_lot(unsigned *state)
{
	unsigned kind = made_number(state, 100);

	if (kind == 0)
		return (uint64_t)5 << 32;
	if (kind < 4)
		return 100000 + made_number(state, 1000000);
	return made_number(state, 4096);
}

static void name_things(struct story *s)
{
	capture_id c = build_capture(s->p, "x", "heap trace");
	process_id a = build_process(s->p, c, 1);
	stack_id at = { 0 };

	s->track = build_heap_track(s->p, a, 0, 0);
	for (int i = 0; i < 2; i++)
		s->thread[i] = build_thread(s->p, a, i, build_cstring(s->p, i ? "worker" : "main"));
	s->event[0] = build_heap_event(s->p, "malloc");
	s->event[1] = build_heap_event(s->p, "mmap");
	for (unsigned i = 0; i < STORY_STACKS; i++) {
		char name[] = { 'f', (char)('0' + i), '\0' };
		function_id f = build_function(s->p, build_cstring(s->p, name), (module_id){ 0 }, 0,
					       (string_id){ 0 }, 0);

		at = build_stack(s->p, i % 3 == 0 ? (stack_id){ 0 } : at,
				 build_symbol_location(s->p, f));
		s->stack[i] = at;
	}
}

static origin_id origin_of(struct story *s, const struct block *b, bool frees)
{
	struct heap_origin o = {
		.stack = s->stack[frees ? b->by_stack : b->stack].v,
		.thread = s->thread[frees ? b->by_thread : b->thread].v,
		.event = (uint16_t)s->event[b->mapped].v,
		.track = (uint16_t)s->track.v,
	};

	return build_heap_origin(s->p, &o);
}

/* Of every fifth block it is not known who freed it. */
static void give_freer(struct block *b, unsigned *state)
{
	b->who_knows = made_number(state, 5) == 0;
	b->by_stack = made_number(state, STORY_STACKS);
	b->by_thread = made_number(state, 2);
}

/* Blocks come and go by lot; half of the time none is left at the end. */
static void tell(struct story *s, unsigned seed)
{
	uint32_t live[MOST_LIVE], n_live = 0;
	allocation_id id[STORY_DEEDS];
	int64_t now = 1000000;
	unsigned state = seed, freers = seed + 77;

	for (uint32_t i = 0; i < STORY_DEEDS; i++) {
		bool frees = n_live == MOST_LIVE || (n_live > 0 && made_number(&state, 100) < 48);
		uint32_t b = s->n_blocks;

		now += made_number(&state, 3) ? made_number(&state, 20000) + 1000 : 0;
		build_moment(s->p, s->track, now);
		if (frees) {
			uint32_t which = made_number(&state, n_live);

			b = live[which];
			live[which] = live[--n_live];
			s->block[b].died = i;
			s->block[b].temporary = s->block[b].born + 1 == i;
			give_freer(&s->block[b], &freers);
			build_release(s->p, id[b], s->track, s->block[b].temporary,
				      s->block[b].who_knows ? (origin_id){ ID_NONE }
							    : origin_of(s, &s->block[b], true));
		} else {
			s->block[b] = (struct block){
				.size = size_by_lot(&state),
				.stack = made_number(&state, STORY_STACKS),
				.thread = made_number(&state, 2),
				.mapped = made_number(&state, 20) == 0,
				.born = i,
				.died = UINT32_MAX,
			};
			id[b] = build_allocation(s->p, s->track, s->block[b].size,
						 origin_of(s, &s->block[b], false));
			live[n_live++] = b;
			s->n_blocks++;
		}
		s->deed[i] = (struct deed){ now, b, frees };
	}
}

struct story *story_new(unsigned seed)
{
	struct story *s = calloc(1, sizeof(*s));

	cr_assert_not_null(s);
	s->p = profile_new();
	builder_begin(s->p);
	name_things(s);
	tell(s, seed);
	cr_assert_eq(builder_end(s->p), 0);
	return s;
}

void story_free(struct story *s)
{
	profile_free(s->p);
	free(s);
}
