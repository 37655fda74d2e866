/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/heap_sums_cache.h"

#include "base/mem.h"
#include "query/core/heap_brief.h"

#include <stdlib.h>
#include <string.h>

struct kind {
	enum measure measure;
	bool squares;
	bool blocks;
	uint32_t *at; /* [n_tracks] see struct heap_measure; owned */
};

struct heap_sums_cache {
	uint32_t version;         /* of the profile's counts */
	struct heap_brief *brief; /* owned */
	uint8_t *key;             /* [n_origins] NULL: no sums; owned */
	struct heap_sums sums;
	uint32_t n_kinds;
	struct kind kind[LENS_MAX_COLUMNS];
	uint32_t n_peaks;
	struct heap_measure peak[LENS_MAX_COLUMNS]; /* each knows those before it */
};

void heap_sums_init(struct heap_sums *s, const struct heap_columns *c, uint32_t n_kinds)
{
	size_t n_passing = (size_t)c->n_tracks * n_kinds;

	s->origin = xcalloc((size_t)c->n_origins * n_kinds, sizeof(*s->origin));
	s->net = xcalloc(n_kinds, sizeof(*s->net));
	s->passing = xcalloc(n_passing, sizeof(*s->passing));
	for (size_t i = 0; i < n_passing; i++)
		s->passing[i].first = UINT32_MAX;
}

void heap_sums_add(struct heap_sums *to, const struct heap_sums *from, const struct heap_columns *c,
		   uint32_t n_kinds)
{
	for (size_t i = 0; i < (size_t)c->n_origins * n_kinds; i++) {
		heap_sum_add(&to->origin[i].sum, from->origin[i].sum);
		to->origin[i].n_blocks += from->origin[i].n_blocks;
	}
	for (uint32_t k = 0; k < n_kinds; k++)
		for (uint32_t i = 0; i < WEIGH_N_SLICES; i++)
			heap_sum_add(&to->net[k][i], from->net[k][i]);
	for (size_t i = 0; i < (size_t)c->n_tracks * n_kinds; i++) {
		struct heap_passing *p = &to->passing[i];
		const struct heap_passing *q = &from->passing[i];

		p->first = q->first < p->first ? q->first : p->first;
		p->behind = q->behind > p->behind ? q->behind : p->behind;
	}
}

void heap_sums_done(struct heap_sums *s)
{
	free(s->origin);
	free(s->net);
	free(s->passing);
	*s = (struct heap_sums){ 0 };
}

struct heap_sums_cache *heap_sums_cache_new(void)
{
	struct heap_sums_cache *k = xcalloc(1, sizeof(*k));

	k->brief = heap_brief_new();
	return k;
}

static void drop_sums(struct heap_sums_cache *k)
{
	heap_sums_done(&k->sums);
	for (uint32_t i = 0; i < k->n_kinds; i++)
		free(k->kind[i].at);
	k->n_kinds = 0;
	free(k->key);
	k->key = NULL;
}

static void drop_peaks(struct heap_sums_cache *k)
{
	for (uint32_t i = 0; i < k->n_peaks; i++)
		heap_measure_done(&k->peak[i]);
	k->n_peaks = 0;
}

void heap_sums_cache_free(struct heap_sums_cache *k)
{
	if (!k)
		return;
	drop_sums(k);
	drop_peaks(k);
	heap_brief_free(k->brief);
	free(k);
}

const struct heap_peaks *heap_sums_cache_open(struct heap_sums_cache *k,
					      const struct profile_counts *counts)
{
	if (k->version != counts->version) {
		drop_sums(k);
		drop_peaks(k);
		k->version = counts->version;
	}
	return k->n_peaks > 0 ? &k->peak[k->n_peaks - 1].peaks : NULL;
}

struct heap_brief *heap_sums_cache_brief(const struct heap_sums_cache *k)
{
	return k->brief;
}

static uint32_t find_kind(const struct heap_sums_cache *k, const struct heap_columns *c,
			  const struct heap_measure *g)
{
	uint32_t i = 0;

	while (i < k->n_kinds &&
	       (k->kind[i].measure != g->measure || k->kind[i].squares != g->squares ||
		k->kind[i].blocks != g->blocks ||
		memcmp(k->kind[i].at, g->at, c->n_tracks * sizeof(*g->at)) != 0))
		i++;
	return i;
}

const struct heap_sums *heap_sums_cache_find(const struct heap_sums_cache *k,
					     const struct heap_columns *c, const uint8_t *key,
					     const struct heap_measure *measure, uint32_t n,
					     uint32_t *kind_of)
{
	if (!k->key || memcmp(k->key, key, c->n_origins) != 0)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t kind = find_kind(k, c, &measure[i]);

		if (kind == k->n_kinds)
			return NULL;
		kind_of[i] = kind;
	}
	return &k->sums;
}

uint32_t heap_sums_cache_kinds(const struct heap_sums_cache *k, uint32_t *levels)
{
	*levels = 0;
	for (uint32_t i = 0; i < k->n_kinds; i++)
		*levels |= (uint32_t)measure_is_level(k->kind[i].measure) << i;
	return k->n_kinds;
}

void heap_sums_cache_put(struct heap_sums_cache *k, const struct heap_columns *c, uint8_t *key,
			 const struct heap_measure *const *kind, uint32_t n, struct heap_sums *sums)
{
	drop_sums(k);
	k->key = key;
	k->sums = *sums;
	*sums = (struct heap_sums){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *at = xcalloc(c->n_tracks, sizeof(*at));

		memcpy(at, kind[i]->at, c->n_tracks * sizeof(*at));
		k->kind[i] = (struct kind){ kind[i]->measure, kind[i]->squares, kind[i]->blocks,
					    at };
	}
	k->n_kinds = n;
}

static bool alike(const struct heap_columns *c, const struct heap_measure *a,
		  const struct heap_measure *b)
{
	uint32_t i = 0;

	while (i < c->n_tracks && heap_pass_alike(c, &a->pass, &b->pass, i))
		i++;
	return i == c->n_tracks;
}

/* Leaves room for another, which is like none that stays. */
static void make_room(struct heap_sums_cache *k, const struct heap_columns *c,
		      const struct heap_measure *other)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n_peaks; i++) {
		struct heap_measure *g = &k->peak[i];

		if ((i == 0 && k->n_peaks == LENS_MAX_COLUMNS) || alike(c, g, other))
			heap_measure_done(g);
		else
			k->peak[n++] = *g;
	}
	k->n_peaks = n;
}

void heap_sums_cache_put_peaks(struct heap_sums_cache *k, const struct heap_columns *c,
			       struct heap_measure *measure, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (measure[i].measure != MEASURE_PEAK || !measure[i].at)
			continue;
		make_room(k, c, &measure[i]);
		k->peak[k->n_peaks++] = measure[i];
		measure[i] = (struct heap_measure){ 0 };
	}
	for (uint32_t i = 0; i < k->n_peaks; i++) {
		struct heap_measure *g = &k->peak[i];

		g->peaks = (struct heap_peaks){ i ? &g[-1].peaks : NULL, &g->pass, g->at, g->top };
	}
}
