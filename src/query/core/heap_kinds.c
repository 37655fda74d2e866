/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/heap_kinds.h"

#include "base/mem.h"
#include "query/core/heap_brief.h"
#include "query/core/heap_rules.h"
#include "query/core/heap_scan.h"

#include <errno.h>
#include <stdlib.h>

/* Blocks of a group that are in no level, of origins that are noted. */
struct noted_freed {
	struct heap_freed of;
	/* rows of those that pass, by being temporary */
	uint32_t first[2], last[2];
	bool passing[2]; /* there are any */
};

/* What a thread adds up. */
struct sums {
	struct heap_sums of;
	struct heap_sum *rest;   /* see heap_kinds_scan(); owned */
	struct heap_at_slot *at; /* [n_tracks] of the block before; owned */
	/* [n_origins] of the one track: of `rest`, and of `of`; NULL: all are in these; owned */
	struct heap_freed *freed[2];
	/* [n_origins] brief rows: of `freed[1]`, and others that are not of what is left of all of them; with freed; owned */
	struct heap_freed *brief, *apart;
	struct heap_stretch stretch; /* that the blocks before were in */
	struct noted_freed noted;    /* of the group that is being read */
};

struct pass {
	struct heap_kinds *kinds;
	struct sums sums[HEAP_SCAN_MOST]; /* in the end the first is of all */
};

/* Rows of a group, as bits, that filters let pass if their origins do. */
struct passing {
	uint64_t lens;                  /* the lens' filter */
	uint64_t any_time;              /* the same, whatever it says of time */
	uint64_t own[LENS_MAX_COLUMNS]; /* own filters of kinds of by_row; others are undefined */
};

_Static_assert(LENS_MAX_COLUMNS <= 32, "kinds are bits of a word");

static void note_slice(const struct heap_kinds *s, struct sums *to, uint32_t kind, uint32_t track,
		       uint32_t moment, int64_t x)
{
	uint32_t slot = heap_slots_of(&s->slots[track], moment);

	/* Ticks are coarser than the capture's times: what is before the first slot is in it. */
	if (slot == SLOT_BEFORE)
		slot = 0;
	if (slot < WEIGH_N_SLICES)
		heap_sum_add(&to->of.net[kind][slot], x);
}

/* A kind of a block over time: what is there, or what was asked for, and counts. */
static void note_time(const struct heap_kinds *s, struct sums *to, uint32_t kind, uint32_t track,
		      uint32_t begin, uint32_t end, int64_t x)
{
	bool is_level = s->levels >> kind & 1;
	const struct heap_track *t = &s->state->track[track];
	struct heap_at_slot *at = &to->at[track];
	struct heap_when when;

	if (begin < t->folded.until && !is_level &&
	    heap_slots_when(&s->slots[track], begin, begin, end, &when)) {
		heap_slots_spread(&s->slots[track], &when, begin, x, WEIGH_N_SLICES,
				  to->of.net[kind]);
		return;
	}
	if (is_level && begin < t->folded.until) {
		begin = heap_level_tells(t, begin);
		if (end != END_NEVER)
			end = heap_level_tells(t, end & END_MOMENT);
	}
	if (!heap_slots_is_at(at, begin))
		heap_slots_go_to(&s->slots[track], at, begin);
	if (is_level) {
		/* What comes and goes within a slot changes nothing at its end. */
		if (end != END_NEVER && heap_slots_is_at(at, end & END_MOMENT))
			return;
		if (end != END_NEVER)
			note_slice(s, to, kind, track, end & END_MOMENT, -x);
		else if (s->gone[track] < WEIGH_N_SLICES)
			heap_sum_add(&to->of.net[kind][s->gone[track]], -x);
	}
	if (at->slot < WEIGH_N_SLICES)
		heap_sum_add(&to->of.net[kind][at->slot], x);
}

static inline void note_passing(const struct heap_kinds *s, struct sums *to, uint32_t kind,
				uint32_t track, uint32_t begin)
{
	struct heap_passing *p = &to->of.passing[(size_t)track * s->n + kind];

	if (begin < p->first)
		p->first = begin;
	if (begin >= p->behind)
		p->behind = begin + 1;
}

/* What a block adds to a kind. */
static inline int64_t amount(const struct heap_kinds *s, uint32_t k, uint32_t track, uint32_t begin,
			     uint64_t size)
{
	if (!s->state->exact)
		return heap_measure_about(s->kind[k], &s->state->track[track], begin, size);
	return heap_measure_exactly(s->kind[k], size);
}

/* What is there of a block over time, where that is noted. */
static inline void note_level(const struct heap_kinds *s, struct sums *to,
			      const struct heap_rows_read *rows, uint32_t i, unsigned noted)
{
	uint32_t track = s->state->columns.origins[rows->origin[i]].track;
	unsigned k = (unsigned)__builtin_ctz(noted & s->levels);

	note_time(s, to, k, track, rows->begin[i], rows->end[i],
		  amount(s, k, track, rows->begin[i], rows->size[i]));
}

/* A row, i of those that were read, at a place of its group. */
static inline void add_row(struct heap_kinds *s, struct sums *to, const struct heap_rows_read *rows,
			   uint32_t i, const struct passing *pass, uint32_t place)
{
	const struct heap_columns *a = &s->state->columns;
	uint32_t origin = rows->origin[i], track = a->origins[origin].track;
	uint32_t begin = rows->begin[i], end = rows->end[i];
	unsigned kinds = s->of_origin[origin] & ~s->frees, noted = 0;
	bool passes = pass->lens >> place & 1;
	struct heap_sum *of = (passes ? to->of.origin : to->rest) + (size_t)origin * s->n;

	for (unsigned left = kinds & s->by_row; left; left &= left - 1)
		if (!(pass->own[__builtin_ctz(left)] >> place & 1))
			kinds &= ~(left & -left);
	/* What ended later than what is looked at has not. */
	if ((end & END_MOMENT) >= s->state->track[track].n_moments)
		end = END_NEVER;
	if (s->is_noted[origin] && (pass->any_time >> place & 1))
		noted = s->noted & (kinds | ~s->by_row);
	kinds &= heap_rule_counts(&s->rule[track], begin, end);
	for (unsigned left = kinds; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);
		int64_t x = amount(s, k, track, begin, rows->size[i]);

		heap_sum_add(&of[k].sum, x);
		of[k].n_blocks++;
		if (!(noted >> k & 1))
			continue;
		if (passes)
			note_passing(s, to, k, track, begin);
		if (s->slots && !(s->levels >> k & 1))
			note_time(s, to, k, track, begin, end, x);
	}
	if (s->slots && (noted & s->levels))
		note_level(s, to, rows, i, noted);
}

/* Was a block freed, by an origin of whose kinds some count that? Those kinds. */
static unsigned find_free(const struct heap_kinds *s, uint32_t i, uint32_t *origin,
			  uint32_t *moment)
{
	const struct heap_columns *a = &s->state->columns;
	uint32_t track = a->origins[allocation_origin(a, i)].track;
	uint32_t end = allocation_end(a, i, s->state->track[track].n_moments);

	return heap_measure_free(a, i, end, origin, moment) ? s->of_origin[*origin] & s->frees : 0;
}

/* A free, as an event of its own: by which origin, and when. Times in filters are about that. */
static void add_free(const struct heap_kinds *s, struct sums *to, uint32_t i)
{
	const struct heap_columns *a = &s->state->columns;
	uint32_t track = a->origins[allocation_origin(a, i)].track, by = 0, moment = 0;
	unsigned counts = find_free(s, i, &by, &moment);

	for (unsigned left = counts; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);
		const struct heap_pass *pass = &s->kind[k]->pass;
		int64_t x = amount(s, k, track, allocation_begin(a, i), allocation_size(a, i));
		bool any_time = heap_filter_block(pass->lens, i);
		bool passes = any_time && heap_filter_time(pass->lens, track, moment);
		struct heap_sum *of = (passes ? to->of.origin : to->rest) + (size_t)by * s->n + k;

		if ((s->by_row >> k & 1) && !heap_pass_own(pass, a, i, by, moment))
			continue;
		heap_sum_add(&of->sum, x);
		of->n_blocks++;
		if (!s->is_noted[by] || !(s->noted >> k & 1))
			continue;
		if (any_time && s->slots)
			note_time(s, to, k, track, moment, END_NEVER, x);
		if (passes)
			note_passing(s, to, k, track, moment);
	}
}

/* Are the moments of a block that came then, and of the next, of one stretch and one slot? */
static inline bool is_plain(const struct heap_kinds *s, struct sums *to, uint32_t first,
			    uint32_t last)
{
	if (first < to->stretch.from || first >= to->stretch.to)
		to->stretch = heap_rule_stretch(&s->rule[0], &s->state->track[0], first);
	if (last >= to->stretch.to || !s->slots)
		return last < to->stretch.to;
	if (!heap_slots_is_at(to->at, first))
		heap_slots_go_to(&s->slots[0], to->at, first);
	return heap_slots_is_at(to->at, last);
}

/* One of these that is noted. */
static inline void note_freed(struct sums *to, bool temporary, uint64_t size, uint32_t row,
			      bool passes)
{
	struct noted_freed *n = &to->noted;

	heap_freed_add(&n->of, temporary, size);
	if (!passes)
		return;
	n->first[temporary] = row < n->first[temporary] ? row : n->first[temporary];
	n->last[temporary] = row > n->last[temporary] ? row : n->last[temporary];
	n->passing[temporary] = true;
}

/* Brief rows of a group, as bits, by what is noted of them. */
static void note_brief(const struct heap_kinds *s, struct sums *to, uint32_t group, uint64_t brief,
		       const struct passing *pass)
{
	const struct heap_columns *c = &s->state->columns;

	for (uint64_t left = brief & pass->any_time; left; left &= left - 1) {
		uint32_t place = (uint32_t)__builtin_ctzll(left), i = group * HEAP_GROUP + place;

		if (s->is_noted[allocation_origin(c, i)])
			note_freed(to, true, allocation_size(c, i), i, pass->lens >> place & 1);
	}
}

/* Whether it counts blocks that are not temporary, too; no kind of the quick way counts part of these. */
static inline bool counts_all(const struct heap_kinds *s, uint32_t k)
{
	return (s->rule[0].always | s->rule[0].freed) >> k & 1;
}

/* What was noted of a group, all of whose moments are in one slot, is added to kinds of what happens. */
static void end_noted(const struct heap_kinds *s, struct sums *to)
{
	const struct noted_freed *n = &to->noted;
	const uint32_t kinds = s->noted & ~s->levels & (UINT32_MAX >> (32 - s->n));
	struct heap_sum sum[LENS_MAX_COLUMNS] = { 0 };

	heap_freed_fold(&n->of, &s->rule[0], s->kind, &kinds, 1, s->n, sum);
	for (uint32_t left = kinds; left; left &= left - 1) {
		uint32_t k = (uint32_t)__builtin_ctz(left);

		if (s->slots && to->at->slot < WEIGH_N_SLICES)
			heap_sum_add(&to->of.net[k][to->at->slot], sum[k].sum);
		for (int temporary = !counts_all(s, k); temporary < 2; temporary++) {
			if (!n->passing[temporary])
				continue;
			note_passing(s, to, k, 0,
				     allocation_begin(&s->state->columns, n->first[temporary]));
			note_passing(s, to, k, 0,
				     allocation_begin(&s->state->columns, n->last[temporary]));
		}
	}
}

/* A row that is not brief. */
static inline void add_kept(struct heap_kinds *s, struct sums *to,
			    const struct heap_rows_read *rows, uint32_t i,
			    const struct passing *pass)
{
	uint32_t origin = rows->origin[i], end = rows->end[i], place = rows->row[i] % HEAP_GROUP;
	bool passes = pass->lens >> place & 1, temporary = (end & END_TEMPORARY) != 0;

	if (rows->begin[i] < to->stretch.from || (end & END_MOMENT) >= to->stretch.to) {
		if (s->of_origin[origin])
			add_row(s, to, rows, i, pass, place);
		return;
	}
	heap_freed_add(&to->freed[passes][origin], temporary, rows->size[i]);
	if (!s->is_noted[origin] || !(pass->any_time >> place & 1))
		return;
	if (s->slots && (s->noted & s->levels))
		note_level(s, to, rows, i, s->noted);
	if (s->noted & ~s->levels)
		note_freed(to, temporary, rows->size[i], rows->row[i], passes);
}

/* Rows of one group; false: they are for scan_group(). */
static bool scan_plain(struct heap_kinds *s, struct sums *to, uint32_t from, uint32_t end,
		       const struct passing *pass)
{
	const struct heap_columns *c = &s->state->columns;
	struct heap_rows_read rows;
	uint64_t brief;
	uint32_t n;

	if (!to->freed[1] ||
	    !is_plain(s, to, allocation_begin(c, from), allocation_begin(c, end - 1) + 1))
		return false;
	brief = allocation_read_kept(c, from, end, NULL, &rows, &n);
	if (s->lens)
		heap_freed_add_brief(to->brief, c, from / HEAP_GROUP, brief & pass->lens);
	if (s->noted & ~s->levels) {
		to->noted = (struct noted_freed){ .first = { UINT32_MAX, UINT32_MAX } };
		note_brief(s, to, from / HEAP_GROUP, brief, pass);
	}
	for (uint32_t i = 0; i < n; i++)
		add_kept(s, to, &rows, i, pass);
	if (s->noted & ~s->levels)
		end_noted(s, to);
	return true;
}

static void scan_group(struct heap_kinds *s, struct sums *to, uint32_t from, uint32_t end,
		       const struct passing *pass)
{
	struct heap_rows_read rows;
	uint32_t n = allocation_read(&s->state->columns, from, end, &rows);

	if (to->apart)
		heap_freed_add_brief(to->apart, &s->state->columns, from / HEAP_GROUP,
				     heap_brief_rows(&s->state->columns, from, end,
						     s->state->track[0].n_moments));
	for (uint32_t i = 0; i < n; i++) {
		if (s->of_origin[rows.origin[i]] & ~s->frees)
			add_row(s, to, &rows, i, pass, (from + i) % HEAP_GROUP);
		if (s->frees)
			add_free(s, to, from + i);
	}
}

static void find_passing(const struct heap_kinds *s, uint32_t from, uint32_t end,
			 struct passing *pass)
{
	const struct heap_columns *c = &s->state->columns;

	pass->lens = pass->any_time = UINT64_MAX;
	if (s->lens) {
		pass->lens = heap_filter_rows(s->lens, c, from, end);
		pass->any_time = heap_filter_blocks(s->lens, from, end);
	}
	for (unsigned left = s->by_row; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);

		pass->own[k] = heap_filter_rows(s->kind[k]->pass.own, c, from, end);
	}
}

static void scan_blocks(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct pass *p = arg;
	struct heap_kinds *s = p->kinds;
	struct passing pass;
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = to - at > HEAP_GROUP ? at + HEAP_GROUP : to;
		find_passing(s, at, end, &pass);
		if (!scan_plain(s, &p->sums[worker], at, end, &pass))
			scan_group(s, &p->sums[worker], at, end, &pass);
	}
}

/* What was counted of a kind, of which the origin is. */
static void add_bulk(struct heap_kinds *s, struct sums *to, const struct heap_bulk *b,
		     uint32_t kind)
{
	const struct heap_columns *a = &s->state->columns;
	const struct heap_measure *g = s->kind[kind];
	uint32_t track = a->origins[b->origin].track;
	int64_t x = heap_measure_bulk(g, b);
	bool any_time = heap_filter_block(g->pass.lens, ID_NONE);
	bool passes = any_time && heap_filter_time(g->pass.lens, track, b->moment);
	bool noted = s->is_noted[b->origin] && (s->noted >> kind & 1);
	struct heap_sum *of = (passes ? to->of.origin : to->rest) + (size_t)b->origin * s->n + kind;
	struct heap_when when;

	if (!heap_measure_has_bulk(g) ||
	    ((s->by_row >> kind & 1) && !heap_pass_own(&g->pass, a, ID_NONE, b->origin, b->moment)))
		return;
	if (noted && s->slots && any_time) {
		if (heap_slots_when_bulk(&s->slots[track], b, &when))
			heap_slots_spread(&s->slots[track], &when, b->moment, x, WEIGH_N_SLICES,
					  to->of.net[kind]);
		else
			note_slice(s, to, kind, track, b->moment, x);
	}
	heap_sum_add(&of->sum, x);
	of->n_blocks += heap_measure_bulk_blocks(g, b);
	if (noted && passes)
		note_passing(s, to, kind, track, b->moment);
}

/* May blocks that are in no level be added up by origin, whatever the kind? */
static bool may_be_quick(const struct heap_kinds *s)
{
	if (s->by_row || !s->state->exact || s->frees || s->state->columns.n_tracks != 1)
		return false;
	for (uint32_t k = 0; k < s->n; k++)
		if (s->kind[k]->squares)
			return false;
	return true;
}

/* Brief rows of groups of the quick way: those that pass, and what is left of all of them. */
static void fold_brief(const struct heap_kinds *s, struct pass *p, unsigned n,
		       const struct heap_freed *all)
{
	for (uint32_t i = 0; i < s->state->columns.n_origins; i++) {
		struct heap_freed left = all[i];

		for (unsigned j = 0; j < n; j++) {
			heap_freed_sum(&left, &p->sums[j].apart[i], -1);
			heap_freed_sum(&left, &p->sums[j].brief[i], -1);
			heap_freed_sum(&p->sums[j].freed[1][i], &p->sums[j].brief[i], 1);
		}
		heap_freed_sum(&p->sums[0].freed[s->lens ? 0 : 1][i], &left, 1);
	}
}

/* What was added up by origin. */
static void fold_freed(struct heap_kinds *s, struct sums *to)
{
	for (int i = 0; i < 2; i++) {
		struct heap_sum *of = i ? to->of.origin : to->rest;

		if (to->freed[i] && of)
			heap_freed_fold(to->freed[i], &s->rule[0], s->kind, s->of_origin,
					s->state->columns.n_origins, s->n, of);
		free(to->freed[i]);
	}
}

static void sums_init(const struct heap_kinds *s, struct sums *to)
{
	const struct heap_columns *a = &s->state->columns;

	heap_sums_init(&to->of, a, s->n);
	if (s->lens)
		to->rest = xcalloc((size_t)a->n_origins * s->n, sizeof(*to->rest));
	to->at = xcalloc(a->n_tracks, sizeof(*to->at));
	for (int i = 0; i < 2 && may_be_quick(s); i++)
		to->freed[i] = xcalloc(a->n_origins, sizeof(*to->freed[i]));
	if (to->freed[1]) {
		to->brief = xcalloc(a->n_origins, sizeof(*to->brief));
		to->apart = xcalloc(a->n_origins, sizeof(*to->apart));
	}
}

/* Another thread's, which is ended. */
static void sums_add(const struct heap_kinds *s, struct sums *to, struct sums *from)
{
	const struct heap_columns *a = &s->state->columns;

	heap_sums_add(&to->of, &from->of, a, s->n);
	for (size_t i = 0; to->rest && i < (size_t)a->n_origins * s->n; i++)
		heap_sum_add(&to->rest[i].sum, from->rest[i].sum);
	heap_sums_done(&from->of);
	free(from->rest);
}

void heap_kinds_slice(struct heap_kinds *s, int64_t whole_ns)
{
	uint32_t n = s->state->columns.n_tracks;

	s->slots = xcalloc(n, sizeof(*s->slots));
	s->gone = xcalloc(n, sizeof(*s->gone));
	for (uint32_t i = 0; i < n; i++) {
		heap_slots_init(&s->slots[i], s->state, i, 0, whole_ns, WEIGH_N_SLICES);
		s->gone[i] = heap_slots_gone(s->state, i, 0, whole_ns, WEIGH_N_SLICES);
	}
}

uint32_t heap_kinds_add(struct heap_kinds *s, const struct heap_measure *g)
{
	uint32_t k = s->n++;

	s->kind[k] = g;
	s->levels |= (uint32_t)g->is_level << k;
	s->frees |= (uint32_t)g->by_free << k;
	s->by_row |= (uint32_t)!heap_filter_by_origin(g->pass.own) << k;
	return k;
}

void heap_kinds_done(struct heap_kinds *s)
{
	for (uint32_t i = 0; s->slots && i < s->state->columns.n_tracks; i++)
		heap_slots_done(&s->slots[i]);
	free(s->slots);
	free(s->gone);
	free(s->rule);
	free(s->of_origin);
	free(s->is_noted);
}

static void make_rules(struct heap_kinds *s)
{
	uint32_t n = s->state->columns.n_tracks;

	s->rule = xcalloc(n, sizeof(*s->rule));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < s->n; k++)
			heap_rule_add(&s->rule[i], s->kind[k], i, 1u << k);
}

int heap_kinds_scan(struct heap_kinds *s, struct progress *progress, struct heap_sums *sums,
		    struct heap_sum **rest)
{
	const struct heap_columns *a = &s->state->columns;
	unsigned n_threads = heap_scan_threads(a->n_allocations);
	struct pass p = { .kinds = s };
	struct heap_brief *own = s->brief ? NULL : heap_brief_new();
	const struct heap_freed *brief = NULL;
	int rc;

	/* Sums of their own have to be worth it. */
	if (a->n_origins > a->n_allocations / 16)
		n_threads = 1;
	make_rules(s);
	for (unsigned i = 0; i < n_threads; i++)
		sums_init(s, &p.sums[i]);
	if (p.sums[0].freed[1])
		brief = heap_brief_sums(own ? own : s->brief, s->state, s->version, progress);
	rc = heap_scan(a->n_allocations, n_threads, progress, scan_blocks, &p);
	if (brief)
		fold_brief(s, &p, n_threads, brief);
	else if (p.sums[0].freed[1])
		rc = -ECANCELED;
	heap_brief_free(own);
	for (uint32_t i = 0; i < a->n_bulk; i++)
		for (uint32_t k = 0; k < s->n; k++)
			if (s->of_origin[a->bulk[i].origin] >> k & 1)
				add_bulk(s, &p.sums[0], &a->bulk[i], k);
	for (unsigned i = 0; i < n_threads; i++) {
		fold_freed(s, &p.sums[i]);
		free(p.sums[i].at);
		free(p.sums[i].brief);
		free(p.sums[i].apart);
		if (i > 0)
			sums_add(s, &p.sums[0], &p.sums[i]);
	}
	*sums = p.sums[0].of;
	*rest = p.sums[0].rest;
	return rc;
}
