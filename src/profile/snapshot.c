/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * States of a profile that somebody looks at, and the tables that they are of.
 *
 * What only grows needs no copy: counts say how far a state reaches. What a state has beside them is what would
 * change under its readers: when captures began and ended, how far heaps had come, and which table of rows was there.
 */
#include "config.h"

#include "profile/profile.h"

#include "profile/store.h"

#include <stdlib.h>
#include <string.h>

/* One publication, for as long as somebody looks at it. */
struct store_state {
	uint32_t version;           /* see struct profile_counts */
	uint32_t n_holds;           /* above 0 */
	struct capture_span *spans; /* [n_captures]; owned */
	uint32_t n_captures;
	uint64_t n_packed; /* rows that it knows to be packed */
	struct heap_columns heap;
	struct heap_track *tracks; /* [heap.n_tracks]; owned */
	/* that heap is of; NULL: the profile's; with others of these */
	struct store_heap_columns *of;
	struct store_state *older; /* owned */
};

/* Has a generation, and all that are of the trie so far, say so; true: there are such. */
static bool keep_trie(struct profile *p, struct store_trie *trie)
{
	for (struct store_generation *g = p->older; g; g = g->older)
		if (!g->trie) {
			g->trie = trie;
			trie->n_tables++;
		}
	return trie->n_tables > 0;
}

/* What was replaced and nobody looks at, to be freed. */
struct store_gone {
	struct store_rows rows;
	struct store_trie *trie; /* or NULL */
};

/*
 * With publication held: a table takes the place of the one so far, and where trie is not NULL it is the trie so far, whose place
 * another one has taken already. *gone becomes what nobody looks at; the rest is kept for its readers.
 */
static void replace_rows(struct profile *p, struct store_rows *by, struct store_trie *trie,
			 struct store_gone *gone)
{
	struct store_generation *g;

	*gone = (struct store_gone){ .trie = NULL };
	if (p->n_holds == 0) {
		gone->rows = p->samples;
	} else {
		g = xmalloc(sizeof(*g));
		*g = (struct store_generation){ .rows = p->samples,
						.shown = p->shown,
						.number = p->now.generation,
						.n_holds = p->n_holds,
						.older = p->older };
		p->older = g;
	}
	if (trie && !keep_trie(p, trie))
		gone->trie = trie;
	p->samples = *by;
	p->n_holds = 0;
	p->now.n_samples = by->n;
	p->now.generation++;
	p->roomy_rows = 0;
}

static void gone_done(struct store_gone *gone)
{
	if (gone->rows.versions)
		store_rows_done(&gone->rows);
	if (gone->trie)
		store_trie_done(gone->trie);
	free(gone->trie);
}

static struct store_shown shown_of(const struct profile *p)
{
	const struct store_trie *t = &p->trie;

	return (struct store_shown){
		.rows = store_rows_shown(&p->samples),
		.stacks = { t->parent.base, t->location.base },
		.beyond = { t->beyond.n, store_rows_shown(&t->beyond), t->beyond_frames.base },
	};
}

/* Has all states that are of the columns so far say so; false: there are none. */
static bool keep_heap(struct profile *p, struct store_heap_columns *heap)
{
	for (struct store_state *s = p->states; s; s = s->older)
		if (!s->of) {
			s->of = heap;
			heap->n_states++;
		}
	return heap->n_states > 0;
}

/* Rows that all who hold a state know to be packed; publication is held. */
static uint64_t known_packed(const struct profile *p)
{
	uint64_t n = p->samples.n_packed;

	for (const struct store_state *s = p->states; s; s = s->older)
		n = s->n_packed < n ? s->n_packed : n;
	return n;
}

void store_publish(struct profile *p, struct store_rows *by, struct store_trie *trie,
		   struct store_heap_columns *heap)
{
	struct store_gone gone = { .trie = NULL };
	uint64_t n_packed;

	p->now.version++;
	pthread_mutex_lock(&p->publication);
	if (by)
		replace_rows(p, by, trie, &gone);
	if (heap && keep_heap(p, heap))
		heap = NULL;
	p->published = p->now;
	p->shown = shown_of(p);
	store_heap_publish(&p->heap);
	n_packed = known_packed(p);
	pthread_mutex_unlock(&p->publication);
	store_rows_forget(p, n_packed);
	gone_done(&gone);
	store_heap_columns_free(heap);
}

/* Where the table of a generation hangs that is not the newest; publication is held. */
static struct store_generation **find_generation(struct profile *p, uint32_t number)
{
	struct store_generation **at = &p->older;

	while ((*at)->number != number)
		at = &(*at)->older;
	return at;
}

static uint32_t *holds_of(struct profile *p, const struct profile_counts *c)
{
	if (c->generation == p->published.generation)
		return &p->n_holds;
	return &(*find_generation(p, c->generation))->n_holds;
}

static struct capture_span span_of(const struct profile *p, uint32_t capture)
{
	const struct capture *c = &STORE_AT(struct capture, p->captures, capture);

	return (struct capture_span){ capture_begin(c), capture_end(c) };
}

/* Where the state of a version hangs, or would; publication is held. */
static struct store_state **find_state(struct profile *p, uint32_t version)
{
	struct store_state **at = &p->states;

	while (*at && (*at)->version != version)
		at = &(*at)->older;
	return at;
}

/* The newest one, as it is now. */
static struct store_state *state_new(const struct profile *p, const struct profile_counts *c)
{
	struct store_state *s = xmalloc(sizeof(*s));

	*s = (struct store_state){ .version = c->version,
				   .n_captures = c->n_captures,
				   .n_packed = p->shown.rows.n_packed,
				   .heap = p->heap.published };
	s->spans = xcalloc(s->n_captures, sizeof(*s->spans));
	for (uint32_t i = 0; i < s->n_captures; i++)
		s->spans[i] = span_of(p, i);
	s->tracks = xcalloc(s->heap.n_tracks, sizeof(*s->tracks));
	for (uint32_t i = 0; i < s->heap.n_tracks; i++)
		s->tracks[i] = STORE_AT(struct store_track, p->heap.tracks, i).published;
	return s;
}

static void state_free(struct store_state *s)
{
	if (!s)
		return;
	if (s->of && s->of->n_states == 0)
		store_heap_columns_free(s->of);
	free(s->spans);
	free(s->tracks);
	free(s);
}

static void hold(struct profile *p, const struct profile_counts *c)
{
	struct store_state **at = find_state(p, c->version);

	if (!*at)
		*at = state_new(p, c);
	(*at)->n_holds++;
	++*holds_of(p, c);
}

void profile_hold(const struct profile *p, struct profile_counts *c)
{
	struct profile *mutable = (struct profile *)p;

	pthread_mutex_lock(&mutable->publication);
	*c = p->published;
	hold(mutable, c);
	pthread_mutex_unlock(&mutable->publication);
}

void profile_hold_also(const struct profile *p, const struct profile_counts *c)
{
	struct profile *mutable = (struct profile *)p;

	pthread_mutex_lock(&mutable->publication);
	hold(mutable, c);
	pthread_mutex_unlock(&mutable->publication);
}

/* Takes the state out if nobody holds it any more, for the caller to free; NULL: somebody does. */
static struct store_state *let_go(struct profile *p, uint32_t version)
{
	struct store_state **at = find_state(p, version), *gone = *at;

	if (--gone->n_holds > 0)
		return NULL;
	*at = gone->older;
	if (gone->of)
		gone->of->n_states--;
	return gone;
}

/* What of a generation that nobody holds nobody else is of. */
static struct store_gone let_table_go(struct store_generation *g)
{
	struct store_gone gone = { .rows = g->rows };

	if (g->trie && --g->trie->n_tables == 0)
		gone.trie = g->trie;
	return gone;
}

void profile_release(const struct profile *p, const struct profile_counts *c)
{
	struct profile *mutable = (struct profile *)p;
	struct store_generation *gone = NULL, **at;
	struct store_gone free_these = { .trie = NULL };
	struct store_state *state;

	pthread_mutex_lock(&mutable->publication);
	state = let_go(mutable, c->version);
	if (--*holds_of(mutable, c) == 0 && c->generation != p->published.generation) {
		at = find_generation(mutable, c->generation);
		gone = *at;
		*at = gone->older;
		free_these = let_table_go(gone);
	}
	pthread_mutex_unlock(&mutable->publication);
	state_free(state);
	gone_done(&free_these);
	free(gone);
}

void store_states_done(struct profile *p)
{
	while (p->states) {
		struct store_state *s = p->states;

		p->states = s->older;
		if (s->of)
			s->of->n_states--;
		state_free(s);
	}
	while (p->older) {
		struct store_generation *g = p->older;
		struct store_gone gone = let_table_go(g);

		p->older = g->older;
		gone_done(&gone);
		free(g);
	}
}

static struct store_shown shown_to(const struct profile *p, const struct profile_counts *counts)
{
	struct profile *mutable = (struct profile *)p;
	struct store_shown shown;

	pthread_mutex_lock(&mutable->publication);
	shown = counts->generation == p->published.generation
			? p->shown
			: (*find_generation(mutable, counts->generation))->shown;
	pthread_mutex_unlock(&mutable->publication);
	return shown;
}

void profile_samples_of(const struct profile *p, const struct profile_counts *counts,
			struct sample_columns *c)
{
	*c = shown_to(p, counts).rows;
}

void profile_stacks_of(const struct profile *p, const struct profile_counts *counts,
		       struct stack_columns *c)
{
	*c = shown_to(p, counts).stacks;
}

void profile_beyond_of(const struct profile *p, const struct profile_counts *counts,
		       struct beyond_columns *c)
{
	*c = shown_to(p, counts).beyond;
}

struct capture_span profile_capture_span(const struct profile *p,
					 const struct profile_counts *counts, capture_id id)
{
	struct profile *mutable = (struct profile *)p;
	const struct store_state *s;
	struct capture_span span;

	pthread_mutex_lock(&mutable->publication);
	s = *find_state(mutable, counts->version);
	span = s && id.v < s->n_captures ? s->spans[id.v] : span_of(p, id.v);
	pthread_mutex_unlock(&mutable->publication);
	return span;
}

int64_t profile_newest_ns(const struct profile *p, const struct profile_counts *counts)
{
	int64_t newest = -1, since;

	for (uint32_t i = 0; i < counts->n_captures; i++) {
		struct capture_span c = profile_capture_span(p, counts, (capture_id){ i });

		if (c.begin_ns != TIME_NONE && c.end_ns != TIME_NONE &&
		    !__builtin_sub_overflow(c.end_ns, c.begin_ns, &since) && since > newest)
			newest = since;
	}
	return newest;
}

void profile_heap_of(const struct profile *p, const struct profile_counts *counts,
		     struct heap_columns *c)
{
	struct profile *mutable = (struct profile *)p;
	const struct store_state *s;

	pthread_mutex_lock(&mutable->publication);
	s = *find_state(mutable, counts->version);
	*c = s ? s->heap : p->heap.published;
	pthread_mutex_unlock(&mutable->publication);
}

struct heap_track profile_heap_track_of(const struct profile *p,
					const struct profile_counts *counts, track_id t)
{
	struct profile *mutable = (struct profile *)p;
	const struct store_state *s;
	struct heap_track track;

	pthread_mutex_lock(&mutable->publication);
	s = *find_state(mutable, counts->version);
	track = s && t.v < s->heap.n_tracks
			? s->tracks[t.v]
			: STORE_AT(struct store_track, p->heap.tracks, t.v).published;
	pthread_mutex_unlock(&mutable->publication);
	return track;
}
