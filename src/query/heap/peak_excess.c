/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A half of a sample of bytes, each by chance, is such a sample of half the rate: that is how its blocks are weighed. */
#include "config.h"

#include "query/heap/peak_excess.h"

#include "base/mem.h"
#include "base/task.h"
#include "query/core/heap_pass.h"
#include "query/core/sample_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MOMENTS (8u << 20) /* of a track: 128 MB of levels */
#define MOST_TURNS   8u
#define MOST_ROWS    (8u << 20) /* of all turns together */

struct halves {
	struct heap_state state;
	struct heap_pass pass;
	double *level[2]; /* [n_moments] of the track that is looked at: first what a moment adds */
	uint32_t n_moments;
	uint32_t track;
};

/* By lot, but always the same. From Steele et al., Fast splittable pseudorandom number generators: its mixer. */
static double lot(uint64_t row, uint64_t which)
{
	uint64_t z = (row * 64 + which + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static void add(struct halves *h, unsigned half, uint32_t i, double bytes)
{
	const struct heap_columns *c = &h->state.columns;
	uint32_t end = allocation_end(c, i, h->n_moments);

	h->level[half][allocation_begin(c, i)] += bytes;
	if (end != END_NEVER)
		h->level[half][end & END_MOMENT] -= bytes;
}

/* A block that was recorded with probability p is in a half with 1 - sqrt(1 - p), in both with the square of that. */
static void share_out(struct halves *h, uint32_t i, unsigned turn)
{
	const struct heap_columns *c = &h->state.columns;
	double size = (double)allocation_size(c, i),
	       p = 1 / heap_stands_for(&h->state.track[h->track], allocation_begin(c, i),
				       allocation_size(c, i));
	double half = 1 - sqrt(1 - p), drawn = lot(i, turn) * p;

	if (p >= 1) {
		add(h, 0, i, size);
		add(h, 1, i, size);
		return;
	}
	/* One of them alone, the other, or both: half (1 - half), the same, half². */
	if (drawn < half * (1 - half) || drawn >= 2 * half * (1 - half))
		add(h, 0, i, size / half);
	if (drawn >= half * (1 - half))
		add(h, 1, i, size / half);
}

/* Where most was there. What moments add becomes what is there after them. */
static uint32_t highest(double *level, uint32_t n)
{
	uint32_t at = 0;

	for (uint32_t i = 1; i < n; i++) {
		level[i] += level[i - 1];
		if (level[i] > level[at])
			at = i;
	}
	return at;
}

/* What each half says of the other's highest moment, on average. */
static double look(struct halves *h, unsigned turn)
{
	const struct heap_columns *c = &h->state.columns;
	uint32_t at[2];

	for (unsigned k = 0; k < 2; k++)
		memset(h->level[k], 0, h->n_moments * sizeof(*h->level[k]));
	for (uint32_t i = 0; i < c->n_allocations; i++) {
		uint32_t origin = allocation_origin(c, i);

		if (c->origins[origin].track == h->track && allocation_begin(c, i) < h->n_moments &&
		    heap_pass_own(&h->pass, c, i, origin, allocation_begin(c, i)) &&
		    heap_pass_lens(&h->pass, c, i, origin, allocation_begin(c, i)))
			share_out(h, i, turn);
	}
	for (unsigned k = 0; k < 2; k++)
		at[k] = highest(h->level[k], h->n_moments);
	return (h->level[1][at[0]] + h->level[0][at[1]]) / 2;
}

/* The sum over all tracks; a negative number: there is too much of them. */
static int look_at_all(struct halves *h, struct progress *progress, double *out)
{
	const struct heap_columns *c = &h->state.columns;
	uint32_t n = c->n_allocations, turns = n ? MOST_ROWS / n : 0;

	turns = turns > MOST_TURNS ? MOST_TURNS : turns;
	*out = turns ? 0 : -1;
	for (h->track = 0; h->track < c->n_tracks && *out >= 0; h->track++) {
		double sum = 0;

		h->n_moments = h->state.track[h->track].n_moments;
		if (h->n_moments == 0)
			continue;
		if (h->n_moments > MOST_MOMENTS) {
			*out = -1;
			break;
		}
		for (unsigned k = 0; k < 2; k++)
			h->level[k] = xcalloc(h->n_moments, sizeof(*h->level[k]));
		for (unsigned turn = 0; turn < turns && !progress_cancelled(progress); turn++)
			sum += look(h, turn);
		for (unsigned k = 0; k < 2; k++)
			free(h->level[k]);
		*out += sum / turns;
	}
	return progress_cancelled(progress) ? -ECANCELED : 0;
}

int peak_excess(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, double peak, struct progress *progress, double *out)
{
	struct halves h = { 0 };
	struct sample_scan *r;
	double other;
	int rc = sample_scan_new(p, counts, lens, progress, &r);

	if (rc < 0)
		return rc;
	heap_state_init(&h.state, p, counts);
	heap_pass_init(&h.pass, &h.state, r, 0, NULL);
	rc = look_at_all(&h, progress, &other);
	*out = other >= 0 && other < peak ? (peak - other) / peak : 0;
	heap_pass_done(&h.pass);
	heap_state_done(&h.state);
	sample_scan_free(r);
	return rc;
}
