/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of each track stand in the order in which they began: a pass over them, beside their ends in order, goes through time. */
#include "config.h"

#include "profile/heap/heap_tops.h"

#include "profile/store.h"

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
	bool *brief; /* [n_allocations] has it ended when the next one of its track begins? Owned */
	struct ending *endings; /* [n_endings] of others, by track and moment; owned */
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
	for (size_t i = 0; i < BUILD_FENCES; i++)
		if (fence[i] > 0)
			vec_push(&k->moments, fence[i] - 1);
}

void heap_tops_done(struct heap_tops *k)
{
	vec_done(&k->moments);
}

static const struct heap_origin *origin_of(const struct search *s, uint32_t row)
{
	return &STORE_AT(struct heap_origin, s->h->origins, allocation_origin(&s->h->now, row));
}

/* Digits of an end's place in the order, the last first: three of its moment and two of its track. */
#define DIGITS     5u
#define DIGIT_BITS 11u
#define DIGIT_SIZE (1u << DIGIT_BITS)

static uint32_t digit_of(const struct ending *e, uint32_t digit)
{
	uint64_t place = (uint64_t)e->track << 32 | e->moment;

	return (uint32_t)(place >> digit * DIGIT_BITS) & (DIGIT_SIZE - 1);
}

/* From one array to the other by a digit, those of one as they were; false: all have the same one, and nothing was done. */
static bool sort_by_digit(const struct ending *from, struct ending *to, size_t n, uint32_t digit)
{
	size_t at[DIGIT_SIZE] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[digit_of(&from[i], digit)]++;
	if (at[digit_of(&from[0], digit)] == n)
		return false;
	for (uint32_t i = 0; i < DIGIT_SIZE; i++) {
		size_t these = at[i];

		at[i] = sum;
		sum += these;
	}
	for (size_t i = 0; i < n; i++)
		to[at[digit_of(&from[i], digit)]++] = from[i];
	return true;
}

/* Most blocks are brief: their ends need no place in any order. */
static void find_endings(struct search *s)
{
	uint32_t *next = xmalloc(s->n_tracks * sizeof(*next)); /* when the next block begins */

	for (uint32_t i = 0; i < s->n_tracks; i++)
		next[i] = UINT32_MAX;
	for (uint32_t i = s->h->now.n_allocations; i-- > 0;) {
		uint32_t end = allocation_end(&s->h->now, i, UINT32_MAX),
			 track = origin_of(s, i)->track;

		s->brief[i] = end != END_NEVER && (end & END_MOMENT) <= next[track];
		next[track] = allocation_begin(&s->h->now, i);
		if (end != END_NEVER && !s->brief[i] && s->kept[track]->piece[0].to > 0)
			s->endings[s->n_endings++] = (struct ending){ track, end & END_MOMENT, i };
	}
	free(next);
}

static void sort_endings(struct search *s)
{
	struct ending *spare = xmalloc(s->n_endings * sizeof(*spare)), *was;

	for (uint32_t i = 0; i < DIGITS && s->n_endings > 0; i++)
		if (sort_by_digit(s->endings, spare, s->n_endings, i)) {
			was = s->endings;
			s->endings = spare;
			spare = was;
		}
	free(spare);
}

/* Is what began at that moment of the track in the piece that is searched? */
static inline bool is_in(const struct search *s, uint32_t track, uint32_t begin)
{
	const struct heap_piece *p = &s->kept[track]->piece[s->piece];

	return begin >= p->from && begin < p->to;
}

/* What ended up to a moment is there no more. */
static void let_end(const struct search *s, uint32_t track, uint32_t moment)
{
	struct level *level = &s->level[(size_t)track * s->n_events];
	struct ahead *a = &s->ahead[track];

	for (; a->k < a->end && s->endings[a->k].moment <= moment; a->k++) {
		uint32_t row = s->endings[a->k].row;

		if (is_in(s, track, allocation_begin(&s->h->now, row)))
			level[origin_of(s, row)->event].now -= allocation_size(&s->h->now, row);
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

/* Is it what another piece was? Without fences most are. */
static bool is_searched(const struct search *s)
{
	for (size_t k = 0; k < s->piece; k++) {
		uint32_t i = 0;

		while (i < s->n_tracks &&
		       s->kept[i]->piece[k].from == s->kept[i]->piece[s->piece].from &&
		       s->kept[i]->piece[k].to == s->kept[i]->piece[s->piece].to)
			i++;
		if (i == s->n_tracks)
			return true;
	}
	return false;
}

static void search_piece(struct search *s)
{
	begin_piece(s);
	for (uint32_t i = 0; i < s->h->now.n_allocations; i++) {
		const struct heap_origin *o = origin_of(s, i);
		struct level *l = &s->level[(size_t)o->track * s->n_events + o->event];
		uint32_t begin = allocation_begin(&s->h->now, i);
		uint64_t size;

		if (!is_in(s, o->track, begin))
			continue;
		let_end(s, o->track, begin);
		size = allocation_size(&s->h->now, i);
		l->now += size;
		if (l->now > l->most) {
			l->most = l->now;
			l->at = begin;
		}
		if (s->brief[i])
			l->now -= size;
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
	s.brief = xmalloc(h->now.n_allocations * sizeof(*s.brief));
	s.endings = xmalloc(h->now.n_allocations * sizeof(*s.endings));
	find_endings(&s);
	sort_endings(&s);
	for (s.piece = 0; s.piece < HEAP_PIECES; s.piece++)
		if (!is_empty(&s) && !is_searched(&s))
			search_piece(&s);
	for (uint32_t i = 0; i < s.n_tracks; i++)
		if (kept[i]->moments.n > 0)
			qsort(kept[i]->moments.at, kept[i]->moments.n, sizeof(uint32_t),
			      compare_moments);
	free(s.endings);
	free(s.brief);
	free(s.ahead);
	free(s.level);
}

bool heap_tops_have(const struct heap_tops *t, uint32_t begin, uint32_t end)
{
	for (size_t i = 0; i < t->moments.n; i++)
		if (begin <= t->moments.at[i] && t->moments.at[i] < end)
			return true;
	return false;
}

bool heap_tops_between(const struct heap_tops *t, uint32_t from, uint32_t to, size_t *k)
{
	while (*k < t->moments.n && t->moments.at[*k] < from)
		++*k;
	return *k < t->moments.n && t->moments.at[*k] < to;
}
