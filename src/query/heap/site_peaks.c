/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks come by rising begin, so that only their ends have to be put in order: those of the window of moments that is being
 * passed in lists by moment, those of later windows in one list for each window until it comes.
 */
#include "config.h"

#include "query/heap/site_peaks.h"

#include "base/mem.h"
#include "query/heap/heap_answers.h"

#include <stdlib.h>

#define WINDOW_BITS 16
#define WINDOW      ((uint32_t)1 << WINDOW_BITS)
#define WINDOW_MASK (WINDOW - 1)

/* A block that ends. */
struct ending {
	uint32_t moment;
	uint32_t site;
	int64_t bytes;
	uint32_t next; /* of the same moment, from 1; 0: none */
};

/* Those of a window that has not begun. */
struct endings {
	VEC(struct ending) of;
};

/* One process's heap. */
struct passing {
	uint32_t at;     /* ends of moments before it are taken */
	uint32_t *first; /* [WINDOW] in now, from 1; 0: none; NULL: nothing has come; owned */
	VEC(struct ending) now;
	struct endings *later; /* [n_windows]; owned */
	uint32_t n_windows;
	int64_t *live, *peak; /* [n_sites]; owned */
};

struct site_peaks {
	struct heap_asking *ask;
	struct passing *track; /* [n_tracks]; owned */
};

static int64_t sum(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

static void begin(const struct site_peaks *s, uint32_t track)
{
	struct passing *p = &s->track[track];

	p->n_windows = (s->ask->state.track[track].n_moments >> WINDOW_BITS) + 1;
	p->first = xcalloc(WINDOW, sizeof(*p->first));
	p->later = xcalloc(p->n_windows, sizeof(*p->later));
	p->live = xcalloc(s->ask->n_sites, sizeof(*p->live));
	p->peak = xcalloc(s->ask->n_sites, sizeof(*p->peak));
}

static void note_end(struct passing *p, struct ending e)
{
	uint32_t window = e.moment >> WINDOW_BITS, *first = &p->first[e.moment & WINDOW_MASK];

	if (window != p->at >> WINDOW_BITS) {
		if (window < p->n_windows)
			vec_push(&p->later[window].of, e);
		return;
	}
	e.next = *first;
	vec_push(&p->now, e);
	*first = (uint32_t)p->now.n;
}

/* A window begins. */
static void take_later(struct passing *p)
{
	uint32_t window = p->at >> WINDOW_BITS;

	p->now.n = 0;
	if (window >= p->n_windows)
		return;
	for (size_t i = 0; i < p->later[window].of.n; i++)
		note_end(p, p->later[window].of.at[i]);
	vec_done(&p->later[window].of);
}

/* What ends at a moment is gone before what begins at it is there: so it is with realloc. */
static void go_behind(struct passing *p, uint32_t moment)
{
	while (p->at <= moment) {
		uint32_t *first = &p->first[p->at & WINDOW_MASK];

		for (uint32_t i = *first; i > 0; i = p->now.at[i - 1].next)
			p->live[p->now.at[i - 1].site] -= p->now.at[i - 1].bytes;
		*first = 0;
		if ((++p->at & WINDOW_MASK) == 0)
			take_later(p);
	}
}

static void see(void *arg, const struct heap_block_seen *b)
{
	struct site_peaks *s = arg;
	struct passing *p = &s->track[b->track];
	struct ending e = { .site = b->site };

	if (b->row == ID_NONE || b->site == ID_NONE)
		return;
	if (!p->first)
		begin(s, b->track);
	go_behind(p, b->begin);
	e.moment = b->end & END_MOMENT;
	e.bytes = heap_bytes_for(&s->ask->state, b->track, b->row);
	if (b->end != END_NEVER && e.moment <= b->begin)
		return;
	if (sum(p->live[b->site], e.bytes) > p->peak[b->site])
		p->peak[b->site] = sum(p->live[b->site], e.bytes);
	/* Most blocks end next: they are gone before the next one is there. */
	if (b->end != END_NEVER && e.moment == b->begin + 1)
		return;
	p->live[b->site] = sum(p->live[b->site], e.bytes);
	if (b->end != END_NEVER)
		note_end(p, e);
}

static void end(struct passing *p)
{
	for (uint32_t i = 0; p->later && i < p->n_windows; i++)
		vec_done(&p->later[i].of);
	vec_done(&p->now);
	free(p->later);
	free(p->first);
	free(p->live);
	free(p->peak);
}

int heap_site_peaks(struct heap_asking *ask, int64_t *peak)
{
	uint32_t n_tracks = ask->state.columns.n_tracks;
	struct site_peaks s = { .ask = ask, .track = xcalloc(n_tracks, sizeof(*s.track)) };
	int rc = heap_each_block(ask, see, &s);

	for (uint32_t i = 0; i < ask->n_sites; i++)
		peak[i] = 0;
	for (uint32_t i = 0; i < n_tracks; i++) {
		for (uint32_t k = 0; s.track[i].peak && k < ask->n_sites; k++)
			peak[k] = sum(peak[k], s.track[i].peak[k]);
		end(&s.track[i]);
	}
	free(s.track);
	return rc;
}
