/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of each track stand in the order in which they began: a pass over them, beside their ends in order, goes through time. */
#include "config.h"

#include "heap_tops.h"

#include "store.h"

#include <stdlib.h>

/* An end, to be sorted. */
struct ending {
	uint32_t track, moment, row;
};

/* Of what an event of a track had at a time. */
struct level {
	uint64_t now, most;
	uint32_t at; /* the moment after which most was there */
};

/* The ends of one track that are ahead. */
struct ahead {
	size_t k, end;
};

struct search {
	const struct store_heap *h;
	struct heap_tops *const *kept; /* [n_tracks] */
	uint32_t n_tracks, n_events;
	size_t piece;
	struct ending *endings; /* [n_endings] by track and moment; owned */
	size_t n_endings;
	struct ahead *ahead; /* [n_tracks]; owned */
	struct level *level; /* [n_tracks][n_events]; owned */
};

void heap_tops_begin(struct heap_tops *k, const uint32_t fence[BUILD_FENCES])
{
	k->piece[0] = (struct heap_piece){ 0, UINT32_MAX };
	k->piece[1] = (struct heap_piece){ fence[0], UINT32_MAX };
	k->piece[2] = (struct heap_piece){ fence[1], UINT32_MAX };
	k->piece[3] = (struct heap_piece){ fence[0], fence[1] };
	k->piece[4] = (struct heap_piece){ 0, fence[1] };
}

void heap_tops_done(struct heap_tops *k)
{
	vec_done(&k->moments);
}

static const struct heap_origin *origin_of(const struct search *s, uint32_t row)
{
	return &STORE_AT(struct heap_origin, s->h->origins, STORE_AT(uint32_t, s->h->origin, row));
}

static int by_track_and_moment(const void *a, const void *b)
{
	const struct ending *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	return (x->moment > y->moment) - (x->moment < y->moment);
}

static void sort_endings(struct search *s)
{
	uint32_t n = s->h->now.n_allocations;

	s->endings = xmalloc(n * sizeof(*s->endings));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = STORE_AT(uint32_t, s->h->end, i), track = origin_of(s, i)->track;

		if (end != END_NEVER && s->kept[track]->piece[0].to > 0)
			s->endings[s->n_endings++] = (struct ending){ track, end & END_MOMENT, i };
	}
	qsort(s->endings, s->n_endings, sizeof(*s->endings), by_track_and_moment);
}

static bool is_in(const struct search *s, uint32_t row)
{
	const struct heap_piece *p = &s->kept[origin_of(s, row)->track]->piece[s->piece];
	uint32_t begin = STORE_AT(uint32_t, s->h->begin, row);

	return begin >= p->from && begin < p->to;
}

/* What ended up to a moment is there no more. */
static void let_end(const struct search *s, uint32_t track, uint32_t moment)
{
	struct level *level = &s->level[(size_t)track * s->n_events];
	struct ahead *a = &s->ahead[track];

	for (; a->k < a->end && s->endings[a->k].moment <= moment; a->k++) {
		uint32_t row = s->endings[a->k].row;

		if (is_in(s, row))
			level[origin_of(s, row)->event].now -= store_heap_size(s->h, row);
	}
}

static void begin_piece(struct search *s)
{
	size_t k = 0, n = (size_t)s->n_tracks * s->n_events;

	for (uint32_t i = 0; i < s->n_tracks; i++) {
		s->ahead[i].k = k;
		while (k < s->n_endings && s->endings[k].track == i)
			k++;
		s->ahead[i].end = k;
	}
	for (size_t i = 0; i < n; i++)
		s->level[i] = (struct level){ 0 };
}

static bool is_empty(const struct search *s)
{
	for (uint32_t i = 0; i < s->n_tracks; i++)
		if (s->kept[i]->piece[s->piece].from < s->kept[i]->piece[s->piece].to)
			return false;
	return true;
}

static void search_piece(struct search *s)
{
	begin_piece(s);
	for (uint32_t i = 0; i < s->h->now.n_allocations; i++) {
		const struct heap_origin *o = origin_of(s, i);
		struct level *l = &s->level[(size_t)o->track * s->n_events + o->event];
		uint32_t begin = STORE_AT(uint32_t, s->h->begin, i);

		if (!is_in(s, i))
			continue;
		let_end(s, o->track, begin);
		l->now += store_heap_size(s->h, i);
		if (l->now > l->most) {
			l->most = l->now;
			l->at = begin;
		}
	}
	for (size_t i = 0; i < (size_t)s->n_tracks * s->n_events; i++)
		if (s->level[i].most > 0)
			vec_push(&s->kept[i / s->n_events]->moments, s->level[i].at);
}

static int compare_moments(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void heap_tops_find(const struct store_heap *h, uint32_t n_events, struct heap_tops *const *kept)
{
	struct search s = {
		.h = h, .kept = kept, .n_tracks = h->now.n_tracks, .n_events = n_events
	};

	s.ahead = xcalloc(s.n_tracks, sizeof(*s.ahead));
	s.level = xcalloc((size_t)s.n_tracks * n_events, sizeof(*s.level));
	sort_endings(&s);
	for (s.piece = 0; s.piece < HEAP_PIECES; s.piece++)
		if (!is_empty(&s))
			search_piece(&s);
	for (uint32_t i = 0; i < s.n_tracks; i++)
		if (kept[i]->moments.n > 0)
			qsort(kept[i]->moments.at, kept[i]->moments.n, sizeof(uint32_t),
			      compare_moments);
	free(s.endings);
	free(s.ahead);
	free(s.level);
}
