/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether something is to become smaller, which those who make it so ask of each other. */
#include "config.h"

#include "profile/compact.h"
#include "profile/store.h"

/* So many fewer blocks are enough for a fold where half of them are older than what screens look back. */
#define AGED_PART 8

static bool is_sampled(const struct store_track *t)
{
	for (uint32_t i = 0; i < t->now.n_rates; i++)
		if (STORE_AT(struct heap_rate, t->rates, i).sample_bytes > 0)
			return true;
	return false;
}

bool store_track_folds(const struct store_track *t)
{
	return t->now.n_ticks > 0 && !is_sampled(t);
}

bool store_heap_folds(const struct profile *p)
{
	const struct store_heap *h = &p->heap;

	if (p->folding.keep_ns == 0 || h->rows.step.in_file)
		return false;
	for (uint32_t i = 0; i < h->now.n_tracks; i++)
		if (store_track_folds(&STORE_AT(struct store_track, h->tracks, i)))
			return true;
	return false;
}

/* Was a block handed out before what screens look back? */
static bool is_aged(const struct profile *p, uint32_t row)
{
	uint32_t origin = allocation_origin(&p->heap.now, row);
	const struct store_track *t =
		&STORE_AT(struct store_track, p->heap.tracks,
			  STORE_AT(struct heap_origin, p->heap.origins, origin).track);
	struct heap_track track = t->now;
	int64_t begin_ns, age_ns;

	if (track.n_ticks == 0)
		return false;
	track.tick = t->ticks.base;
	begin_ns = heap_track_time(&track, allocation_begin(&p->heap.now, row));
	return !__builtin_sub_overflow(track.tick[track.n_ticks - 1].time_ns, begin_ns, &age_ns) &&
	       age_ns > p->folding.keep_ns;
}

bool store_heap_fold_due(const struct profile *p)
{
	uint32_t n = p->heap.now.n_allocations;

	if (!store_heap_folds(p) || n == 0)
		return false;
	if (store_shorten_due(p))
		return true;
	return n >= p->heap.fold_at &&
	       (n >= p->folding.n_blocks ||
		(n >= p->folding.n_blocks / AGED_PART && is_aged(p, n / 2)));
}

bool store_shorten_due(const struct profile *p)
{
	return p->folding.n_stacks > 0 && p->now.n_stacks > p->shorten_at &&
	       p->now.n_captures == 1 && p->now.n_events > 0 && p->sticky == 0 &&
	       (p->heap.now.n_origins == 0 ? compact_finds_old(p) : store_heap_folds(p));
}
