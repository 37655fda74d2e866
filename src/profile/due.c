/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether something is to become smaller, which those who make it so ask of each other. */
#include "config.h"

#include "fold.h"
#include "store.h"

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

	if (p->folding.keep_ns == 0 || h->begin.in_file)
		return false;
	for (uint32_t i = 0; i < h->now.n_tracks; i++)
		if (store_track_folds(&STORE_AT(struct store_track, h->tracks, i)))
			return true;
	return false;
}

bool store_shorten_due(const struct profile *p)
{
	return p->folding.n_stacks > 0 && p->now.n_stacks > p->shorten_at &&
	       p->now.n_captures == 1 && p->now.n_events > 0 && p->sticky == 0 &&
	       (p->heap.now.n_origins == 0 ? fold_finds_old(p) : store_heap_folds(p));
}
