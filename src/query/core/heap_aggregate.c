/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One pass over the allocations for all columns, on several threads.
 *
 * Sums are kept by origin, which is what filters are about, and put together by stack or by thread at the end. Sampled
 * blocks stand for several: counts of them are fractions then. Where filters do not speak of time, columns that
 * count the same of every block are one kind, which is added up once: both sides of a comparison and their sum.
 */
#include "config.h"

#include "query/core/heap_aggregate.h"

#include "base/mem.h"
#include "query/core/analysis_cache.h"
#include "query/core/groups.h"
#include "query/core/heap_measure.h"
#include "query/core/heap_rules.h"
#include "query/core/heap_scan.h"
#include "query/core/heap_slots.h"
#include "query/core/heap_sums_cache.h"

#include <stdlib.h>
#include <string.h>

/* What a thread adds up. */
struct sums {
	struct heap_sums of;
	struct heap_at_slot *at;  /* [n_tracks] of the block before; owned */
	struct heap_freed *freed; /* [n_origins] of the one track; NULL: all are in `of`; owned */
	struct heap_stretch stretch; /* that the blocks before were in */
	int64_t whole[LENS_MAX_COLUMNS];
};

struct scan {
	const struct profile *profile;
	struct heap_state state;
	struct weights *to;
	struct table_sums *table; /* what sums are put together in, if not in `to`; or NULL */
	uint32_t n_columns;
	uint32_t n_all; /* of column[]: those, and measures beside them that are kept for later */
	struct heap_measure column[LENS_MAX_COLUMNS];
	const struct heap_pass *like; /* of the last column, which shares what it can; NULL: none */
	uint32_t *columns; /* [n_origins] bits: of which columns it is by their own filter; owned */
	uint32_t *kinds;   /* [n_origins] bits: of which kinds any column is among those; owned */
	uint32_t n_kinds;
	/* bits: kinds of which it is noted when they are, as of column 0's filters */
	uint32_t noted;
	uint32_t levels; /* bits: kinds of what is there, which over time are one */
	uint32_t frees;  /* bits: kinds of who freed, which are added up by the origin that freed */
	uint32_t kind_of[LENS_MAX_COLUMNS];  /* by column */
	uint32_t first_of[LENS_MAX_COLUMNS]; /* [n_kinds] the first column of each */
	uint32_t plain;                      /* bits: columns that add up bytes */
	bool timed;                          /* some filter speaks of time */
	struct heap_rule *rule;              /* [n_tracks]; owned */
	struct heap_slots *slots;            /* [n_tracks] of the slices; NULL: none; owned */
	uint32_t *
		gone; /* [n_tracks] the slice in which what the process held goes, see heap_slots_gone(); owned */
	const bool *any_time; /* [n_origins] passes the lens whatever the time; borrowed */
	uint8_t *key; /* [n_origins] see heap_sums_cache_find(); NULL: nothing is kept; owned */
	struct sums sums[HEAP_SCAN_MOST]; /* in the end the first is of all */
	unsigned n_threads;
};

_Static_assert(LENS_MAX_COLUMNS <= 32, "columns are bits of a word");

static void note_slice(const struct scan *s, struct sums *to, uint32_t kind, uint32_t track,
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
static void note_time(const struct scan *s, struct sums *to, uint32_t kind, uint32_t track,
		      uint32_t begin, uint32_t end, int64_t x)
{
	bool is_level = s->levels >> kind & 1;
	const struct heap_track *t = &s->state.track[track];
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

static inline void note_passing(const struct scan *s, struct sums *to, uint32_t kind,
				uint32_t track, uint32_t begin)
{
	struct heap_passing *p = &to->of.passing[(size_t)track * s->n_kinds + kind];

	if (begin < p->first)
		p->first = begin;
	if (begin >= p->behind)
		p->behind = begin + 1;
}

/* What a block adds to a column. */
static inline int64_t amount(const struct scan *s, uint32_t c, uint32_t track, uint32_t begin,
			     uint64_t size)
{
	if (!s->state.exact)
		return heap_measure_about(&s->column[c], &s->state.track[track], begin, size);
	if (s->plain >> c & 1)
		return (int64_t)size;
	return heap_measure_exactly(&s->column[c], size);
}

static void add_block(struct scan *s, struct sums *to, uint32_t i, unsigned columns)
{
	const struct heap_columns *a = &s->state.columns;
	uint32_t origin = allocation_origin(a, i), track = a->origins[origin].track,
		 begin = allocation_begin(a, i);
	uint32_t end = allocation_end(a, i, s->state.track[track].n_moments);
	uint64_t size = allocation_size(a, i);

	if ((columns & 1) && s->slots && s->any_time[origin] &&
	    heap_filter_block(s->column[0].pass.own, i) &&
	    heap_filter_block(s->column[0].pass.lens, i) &&
	    (s->levels & 1 || heap_measure_counts(&s->column[0], track, begin, end)))
		note_time(s, to, 0, track, begin, end, amount(s, 0, track, begin, size));
	for (uint32_t c = 0; c < s->n_columns; c++) {
		struct heap_sum *of;
		int64_t x;

		if (!(columns >> c & 1) || !heap_measure_counts(&s->column[c], track, begin, end) ||
		    !heap_pass_own(&s->column[c].pass, a, i, origin, begin))
			continue;
		x = amount(s, c, track, begin, size);
		heap_sum_add(&to->whole[c], x);
		if (!heap_pass_lens(&s->column[c].pass, a, i, origin, begin))
			continue;
		of = &to->of.origin[(size_t)origin * s->n_kinds + c];
		heap_sum_add(&of->sum, x);
		of->n_blocks++;
		if (c == 0)
			note_passing(s, to, 0, track, begin);
	}
}

/* What is there of a block over time, where that is noted. */
static inline void note_level(const struct scan *s, struct sums *to,
			      const struct heap_rows_read *rows, uint32_t i, unsigned noted)
{
	uint32_t track = s->state.columns.origins[rows->origin[i]].track;
	unsigned k = (unsigned)__builtin_ctz(noted & s->levels);

	note_time(s, to, k, track, rows->begin[i], rows->end[i],
		  amount(s, s->first_of[k], track, rows->begin[i], rows->size[i]));
}

/* Kinds of which it is noted when blocks of an origin are. */
static inline unsigned noted_of(const struct scan *s, uint32_t origin)
{
	return (s->columns[origin] & 1) && s->any_time[origin] ? s->noted : 0;
}

/* The same where no filter speaks of time: what passes is said by origin, later. */
static inline void add_block_of_any_time(struct scan *s, struct sums *to,
					 const struct heap_rows_read *rows, uint32_t i,
					 unsigned kinds)
{
	const struct heap_columns *a = &s->state.columns;
	uint32_t origin = rows->origin[i], track = a->origins[origin].track;
	uint32_t begin = rows->begin[i], end = rows->end[i];
	unsigned counts, noted = 0;
	struct heap_sum *of = to->of.origin + (size_t)origin * s->n_kinds;
	uint64_t size = rows->size[i];

	/* What ended later than what is looked at has not. */
	if ((end & END_MOMENT) >= s->state.track[track].n_moments)
		end = END_NEVER;
	counts = heap_rule_counts(&s->rule[track], begin, end) & kinds;
	if (s->any_time)
		noted = noted_of(s, origin);
	for (unsigned left = counts; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);
		int64_t x = amount(s, s->first_of[k], track, begin, size);

		heap_sum_add(&of[k].sum, x);
		of[k].n_blocks++;
		if (!(noted >> k & 1))
			continue;
		note_passing(s, to, k, track, begin);
		if (s->slots && !(s->levels >> k & 1))
			note_time(s, to, k, track, begin, end, x);
	}
	if (s->slots && (noted & s->levels))
		note_level(s, to, rows, i, noted);
}

/* Was a block freed, by an origin of whose kinds some count that? Those kinds. */
static unsigned find_free(const struct scan *s, uint32_t i, const uint32_t *kinds, uint32_t *origin,
			  uint32_t *moment)
{
	const struct heap_columns *a = &s->state.columns;
	uint32_t track = a->origins[allocation_origin(a, i)].track;
	uint32_t end = allocation_end(a, i, s->state.track[track].n_moments);

	return heap_measure_free(a, i, end, origin, moment) ? kinds[*origin] & s->frees : 0;
}

/* A free, as an event of its own: by which origin, and when. */
static void add_free(const struct scan *s, struct sums *to, uint32_t i)
{
	const struct heap_columns *a = &s->state.columns;
	uint32_t track = a->origins[allocation_origin(a, i)].track, by = 0, moment = 0;
	unsigned counts = find_free(s, i, s->timed ? s->columns : s->kinds, &by, &moment);
	unsigned noted = 0;

	if (counts && (s->columns[by] & 1) && s->any_time && s->any_time[by])
		noted = s->noted;
	for (unsigned left = counts; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left), c = s->first_of[k];
		const struct heap_pass *pass = &s->column[c].pass;
		struct heap_sum *of = &to->of.origin[(size_t)by * s->n_kinds + k];
		int64_t x = amount(s, c, track, allocation_begin(a, i), allocation_size(a, i));
		bool passes = !s->timed || heap_pass_lens(pass, a, i, by, moment);

		if ((noted >> k & 1) && s->slots && heap_filter_block(pass->own, i) &&
		    heap_filter_block(pass->lens, i))
			note_time(s, to, k, track, moment, END_NEVER, x);
		if (s->timed && !heap_pass_own(pass, a, i, by, moment))
			continue;
		if (s->timed)
			heap_sum_add(&to->whole[c], x);
		if (!passes)
			continue;
		heap_sum_add(&of->sum, x);
		of->n_blocks++;
		if (noted >> k & 1)
			note_passing(s, to, k, track, moment);
	}
}

/* Are the moments of a block that came then, and of the next, of one stretch and one slot? */
static inline bool is_plain(const struct scan *s, struct sums *to, uint32_t first, uint32_t last)
{
	if (first < to->stretch.from || first >= to->stretch.to)
		to->stretch = heap_rule_stretch(&s->rule[0], &s->state.track[0], first);
	if (last >= to->stretch.to || !s->slots)
		return last < to->stretch.to;
	if (!heap_slots_is_at(to->at, first))
		heap_slots_go_to(&s->slots[0], to->at, first);
	return heap_slots_is_at(to->at, last);
}

/* A row that is not brief. */
static inline void add_kept(struct scan *s, struct sums *to, const struct heap_rows_read *rows,
			    uint32_t i)
{
	uint32_t origin = rows->origin[i], end = rows->end[i];
	unsigned noted;

	if (rows->begin[i] < to->stretch.from || (end & END_MOMENT) >= to->stretch.to) {
		if (s->kinds[origin])
			add_block_of_any_time(s, to, rows, i, s->kinds[origin]);
		return;
	}
	heap_freed_add(&to->freed[origin], (end & END_TEMPORARY) != 0, rows->size[i]);
	noted = s->slots ? noted_of(s, origin) & s->levels : 0;
	if (noted)
		note_level(s, to, rows, i, noted);
}

/* Rows of one group; false: they are for scan_group(). */
static bool scan_plain(struct scan *s, struct sums *to, uint32_t from, uint32_t end)
{
	const struct heap_columns *c = &s->state.columns;
	struct heap_rows_read rows;
	uint64_t brief;
	uint32_t n;

	if (!to->freed ||
	    !is_plain(s, to, allocation_begin(c, from), allocation_begin(c, end - 1) + 1))
		return false;
	brief = allocation_read_kept(c, from, end, &rows, &n);
	heap_freed_add_brief(to->freed, c, from / HEAP_GROUP, brief);
	for (uint32_t i = 0; i < n; i++)
		add_kept(s, to, &rows, i);
	return true;
}

static void scan_group(struct scan *s, struct sums *to, uint32_t from, uint32_t end)
{
	struct heap_rows_read rows;
	uint32_t n = allocation_read(&s->state.columns, from, end, &rows);

	for (uint32_t i = 0; i < n; i++) {
		unsigned kinds = s->kinds[rows.origin[i]] & ~s->frees;

		if (kinds)
			add_block_of_any_time(s, to, &rows, i, kinds);
		if (s->frees)
			add_free(s, to, from + i);
	}
}

static void scan_blocks_of_any_time(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct scan *s = arg;
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = (at / HEAP_GROUP + 1) * HEAP_GROUP;
		end = end < to ? end : to;
		if (!scan_plain(s, &s->sums[worker], at, end))
			scan_group(s, &s->sums[worker], at, end);
	}
}

static void scan_blocks(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct scan *s = arg;
	const struct heap_columns *a = &s->state.columns;

	for (uint32_t i = from; i < to; i++) {
		unsigned columns = s->columns[allocation_origin(a, i)] & ~s->frees;

		if (columns)
			add_block(s, &s->sums[worker], i, columns);
		if (s->frees)
			add_free(s, &s->sums[worker], i);
	}
}

/* What was counted of a kind, of which the origin is; without times in filters that is all that there is to ask. */
static void add_bulk(struct scan *s, struct sums *to, const struct heap_bulk *b, uint32_t kind)
{
	const struct heap_columns *a = &s->state.columns;
	const struct heap_measure *g = &s->column[s->first_of[kind]];
	uint32_t track = a->origins[b->origin].track;
	int64_t x = heap_measure_bulk(g, b);
	struct heap_sum *of;
	bool noted = (s->noted >> kind & 1) && (s->columns[b->origin] & 1);
	struct heap_when when;

	if (!heap_measure_has_bulk(g) ||
	    (s->timed && !heap_pass_own(&g->pass, a, ID_NONE, b->origin, b->moment)))
		return;
	if (noted && s->slots && s->any_time[b->origin] &&
	    heap_filter_block(g->pass.lens, ID_NONE)) {
		if (heap_slots_when_bulk(&s->slots[track], b, &when))
			heap_slots_spread(&s->slots[track], &when, b->moment, x, WEIGH_N_SLICES,
					  to->of.net[kind]);
		else
			note_slice(s, to, kind, track, b->moment, x);
	}
	if (s->timed)
		heap_sum_add(&to->whole[kind], x);
	if (s->timed && !heap_pass_lens(&g->pass, a, ID_NONE, b->origin, b->moment))
		return;
	of = &to->of.origin[(size_t)b->origin * s->n_kinds + kind];
	heap_sum_add(&of->sum, x);
	of->n_blocks += heap_measure_bulk_blocks(g, b);
	if (noted && s->any_time[b->origin])
		note_passing(s, to, kind, track, b->moment);
}

/* One origin's sums to those of its stack. */
static void fold_origin(const struct scan *s, const struct heap_sums *from, uint32_t origin,
			bool *threads)
{
	const struct heap_origin *o = &s->state.columns.origins[origin];
	const struct heap_sum *of = &from->origin[(size_t)origin * s->n_kinds];
	struct weights *w = s->to;

	for (uint32_t c = 0; c < s->n_columns; c++) {
		int64_t x = of[s->kind_of[c]].sum;

		if (!(s->columns[origin] >> c & 1))
			continue;
		if (!s->timed)
			heap_sum_add(&w->whole[c], x);
		if (x == 0 || (!s->timed && !s->column[c].pass.lens->origin[origin]))
			continue;
		heap_sum_add(&w->total[c], x);
		heap_sum_add(&w->stack[(size_t)o->stack * s->n_columns + c], x);
	}
	if (of[s->kind_of[0]].n_blocks == 0 || !(s->columns[origin] & 1) ||
	    (!s->timed && !s->any_time[origin]))
		return;
	w->samples[o->stack] += of[s->kind_of[0]].n_blocks;
	w->n_samples += of[s->kind_of[0]].n_blocks;
	if (o->thread != ID_NONE)
		threads[o->thread] = true;
}

/* The earliest and the latest time of what passes. */
static void fold_times(const struct scan *s, const struct heap_sums *from)
{
	struct weights *w = s->to;

	for (uint32_t i = 0; i < s->state.columns.n_tracks && w->begin_ns != TIME_NONE; i++) {
		const struct heap_track *t = &s->state.track[i];
		const struct heap_passing *of =
			&from->passing[(size_t)i * s->n_kinds + s->kind_of[0]];
		int64_t shift = w->begin_ns - s->state.begin_ns[i], first, last;

		if (of->behind == 0)
			continue;
		first = heap_track_time(t, of->first) + shift;
		last = heap_track_time(t, of->behind - 1) + shift;
		if (w->first_ns == TIME_NONE || first < w->first_ns)
			w->first_ns = first;
		if (w->last_ns == TIME_NONE || last > w->last_ns)
			w->last_ns = last;
	}
}

/* The key of who allocated there, or of what. Blocks of unknown threads are of their process's capture, too. */
static uint32_t key_of_origin(const struct scan *s, const struct groups *k,
			      const struct heap_origin *o)
{
	process_id process = s->state.track[o->track].process;

	if (k->grouping == GROUP_CPU)
		return groups_of_row(k, ID_NONE);
	if (groups_of_captures(k))
		return groups_of_row(k, profile_process(s->profile, process)->capture.v);
	return groups_of_row(k, k->grouping == GROUP_EVENT ? o->event : o->thread);
}

/* One origin's sums to those of its key. */
static void fold_to_key(const struct scan *s, const struct heap_sums *from, uint32_t origin)
{
	const struct heap_sum *of = &from->origin[(size_t)origin * s->n_kinds];
	struct table_sums *to = s->table;
	uint32_t key = key_of_origin(s, to->keys, &s->state.columns.origins[origin]);

	for (uint32_t c = 0; c < s->n_columns; c++) {
		const struct heap_sum *sum = &of[s->kind_of[c]];

		if (!(s->columns[origin] >> c & 1) || sum->n_blocks == 0 ||
		    (!s->timed && !s->column[c].pass.lens->origin[origin]))
			continue;
		heap_sum_add(&to->self[(size_t)key * s->n_columns + c], sum->sum);
		to->n_samples[key] += c == 0 ? sum->n_blocks : 0;
		to->wanted[key] = true;
	}
}

static void fold(const struct scan *s, const struct heap_sums *from, bool *threads)
{
	uint32_t k = s->kind_of[0];

	if (s->table) {
		for (uint32_t i = 0; i < s->state.columns.n_origins; i++)
			fold_to_key(s, from, i);
		return;
	}
	/* What is there is noted as the first of its kinds. */
	if (s->levels >> k & 1 && !s->timed)
		k = (uint32_t)__builtin_ctz(s->levels);
	for (uint32_t i = 0; i < s->state.columns.n_origins; i++)
		if (s->columns[i])
			fold_origin(s, from, i, threads);
	for (uint32_t c = 0; c < s->n_columns; c++)
		heap_sum_add(&s->to->whole[c], s->sums[0].whole[c]);
	for (uint32_t i = 0; i < WEIGH_N_SLICES; i++)
		heap_sum_add(&s->to->slice[i], from->net[k][i]);
	fold_times(s, from);
}

/* What filters say of origins, and that what is kept is of. The caller frees. */
static uint8_t *make_key(const struct scan *s)
{
	uint32_t n = s->state.columns.n_origins;
	uint8_t *key = xmalloc(n);

	for (uint32_t i = 0; i < n; i++)
		key[i] = (uint8_t)((s->columns[i] != 0) | (s->columns[i] & 1) << 1 |
				   (uint32_t)s->any_time[i] << 2);
	return key;
}

/* Slots of time for column 0 as a whole. */
static void begin_slices(struct scan *s)
{
	const struct weights *w = s->to;
	uint32_t n = s->state.columns.n_tracks;
	int64_t whole;

	if (w->begin_ns == TIME_NONE || __builtin_sub_overflow(w->end_ns, w->begin_ns, &whole) ||
	    whole == INT64_MAX)
		return;
	s->slots = xcalloc(n, sizeof(*s->slots));
	s->gone = xcalloc(n, sizeof(*s->gone));
	for (uint32_t i = 0; i < n; i++) {
		heap_slots_init(&s->slots[i], &s->state, i, 0, whole + 1, WEIGH_N_SLICES);
		s->gone[i] = heap_slots_gone(&s->state, i, 0, whole + 1, WEIGH_N_SLICES);
	}
}

static void make_rules(struct scan *s)
{
	uint32_t n = s->state.columns.n_tracks;

	s->rule = xcalloc(n, sizeof(*s->rule));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < s->n_kinds; k++)
			if (s->column[s->first_of[k]].at)
				heap_rule_add(&s->rule[i], &s->column[s->first_of[k]], i, 1u << k);
}

/* May blocks that are in no level be added up by origin, whatever the kind? Then nothing is noted of them but what is there. */
static bool may_be_quick(const struct scan *s)
{
	uint32_t noted = s->any_time ? s->noted : 0;

	if (s->timed || !s->state.exact || s->frees || s->state.columns.n_tracks != 1)
		return false;
	for (uint32_t k = 0; k < s->n_kinds; k++)
		if (s->column[s->first_of[k]].squares ||
		    ((noted >> k & 1) && !(s->levels >> k & 1)))
			return false;
	return true;
}

/* What was added up by origin. */
static void fold_freed(struct scan *s, struct sums *to)
{
	const struct heap_measure *kind[LENS_MAX_COLUMNS];

	for (uint32_t k = 0; k < s->n_kinds; k++)
		kind[k] = &s->column[s->first_of[k]];
	if (to->freed)
		heap_freed_fold(to->freed, &s->rule[0], kind, s->kinds, s->state.columns.n_origins,
				s->n_kinds, to->of.origin);
	free(to->freed);
}

/* Do two columns count the same of every block, whosever it is? */
static bool counts_alike(const struct scan *s, uint32_t a, uint32_t b)
{
	const struct heap_measure *x = &s->column[a], *y = &s->column[b];

	return x->at && y->at && x->measure == y->measure && x->squares == y->squares &&
	       x->blocks == y->blocks &&
	       memcmp(x->at, y->at, s->state.columns.n_tracks * sizeof(*x->at)) == 0;
}

/* With times in filters, every column is a kind of its own. */
static void find_kinds(struct scan *s)
{
	for (uint32_t c = 0; c < s->n_all; c++) {
		uint32_t k = s->timed ? s->n_kinds : 0;

		while (k < s->n_kinds && !counts_alike(s, s->first_of[k], c))
			k++;
		if (k == s->n_kinds) {
			s->first_of[s->n_kinds++] = c;
			s->levels |= (uint32_t)s->column[c].is_level << k;
			s->frees |= (uint32_t)s->column[c].by_free << k;
		}
		s->kind_of[c] = k;
	}
	s->noted = s->key ? UINT32_MAX : 1;
	s->kinds = xcalloc(s->state.columns.n_origins, sizeof(*s->kinds));
	for (uint32_t i = 0; i < s->state.columns.n_origins; i++)
		for (uint32_t c = 0; c < s->n_columns; c++)
			s->kinds[i] |= (s->columns[i] >> c & 1) << s->kind_of[c];
	/* Kept is what any column may ask for. */
	for (uint32_t i = 0; s->key && i < s->state.columns.n_origins; i++)
		s->kinds[i] = s->columns[i] ? UINT32_MAX >> (32 - s->n_kinds) : 0;
}

/* A column that is of heaps. */
static int begin_column(struct scan *s, uint32_t c, const struct sample_scan *r,
			const struct heap_peaks *peaks, struct progress *progress)
{
	struct heap_measure *g = &s->column[c];
	int rc = heap_measure_init(g, &s->state, r, c, r->lens->column[c].metric.measure, s->like,
				   peaks, progress);

	s->like = &g->pass;
	if (rc < 0)
		return rc;
	s->plain |= (uint32_t)(!g->blocks && !g->squares) << c;
	s->to->scale[c] = g->scale;
	s->to->square_unit[c] = g->squares ? HEAP_SQUARE_UNIT : 0;
	if (s->to->peak.time_ns == TIME_NONE)
		s->to->peak = g->peak;
	s->timed |= !heap_filter_by_origin(g->pass.own) || !heap_filter_by_origin(g->pass.lens);
	for (uint32_t i = 0; i < s->state.columns.n_origins; i++)
		s->columns[i] |= (uint32_t)g->pass.own->origin[i] << c;
	return 0;
}

static struct heap_sums_cache *kept_of(const struct sample_scan *r)
{
	return r->lens->cache ? r->lens->cache->heap : NULL;
}

/* Columns that are not of heaps keep no bit. */
static int begin_columns(struct scan *s, const struct profile *p, const struct sample_scan *r,
			 struct progress *progress)
{
	struct heap_sums_cache *kept = kept_of(r);
	const struct heap_peaks *peaks = kept ? heap_sums_cache_open(kept, &r->counts) : NULL;
	bool all = true;

	s->columns = xcalloc(s->state.columns.n_origins, sizeof(*s->columns));
	for (uint32_t c = 0; c < s->n_columns; c++) {
		int rc;

		if (!heap_measure_applies(p, r, c)) {
			all = false;
			continue;
		}
		rc = begin_column(s, c, r, peaks, progress);
		if (rc < 0)
			return rc;
		if (s->column[c].measure == MEASURE_PEAK)
			peaks = &s->column[c].peaks;
	}
	if (heap_measure_applies(p, r, 0)) {
		s->any_time = s->column[0].pass.lens->origin;
		begin_slices(s);
	}
	/* What sampled blocks stand for is costly: of them only what is asked for. */
	if (kept && all && s->state.exact && !s->timed && lens_compares(r->lens))
		s->key = make_key(s);
	return 0;
}

/* Measures that nobody asks for yet: blocks are read once for all of them. Peaks would have to be looked for. */
static int add_measures(struct scan *s, const struct sample_scan *r, struct progress *progress)
{
	static const enum measure beside[] = { MEASURE_WEIGHT, MEASURE_SAMPLES, MEASURE_LIVE,
					       MEASURE_LEAKED, MEASURE_FREED,   MEASURE_TEMPORARY };
	int rc = 0;

	for (size_t i = 0; i < sizeof(beside) / sizeof(*beside) && rc == 0; i++) {
		struct heap_measure *g = &s->column[s->n_all];

		if (s->n_all == LENS_MAX_COLUMNS)
			break;
		rc = heap_measure_init(g, &s->state, r, 0, beside[i], s->like, NULL, progress);
		s->plain |= (uint32_t)!g->blocks << s->n_all++;
	}
	return rc;
}

static int scan_all(struct scan *s, struct progress *progress)
{
	const struct heap_columns *a = &s->state.columns;
	int rc;

	s->n_threads = heap_scan_threads(a->n_allocations);
	/* Sums of their own have to be worth it. */
	if (a->n_origins > a->n_allocations / 16)
		s->n_threads = 1;
	for (unsigned i = 0; i < s->n_threads; i++) {
		heap_sums_init(&s->sums[i].of, a, s->n_kinds);
		s->sums[i].at = xcalloc(a->n_tracks, sizeof(*s->sums[i].at));
		if (may_be_quick(s))
			s->sums[i].freed = xcalloc(a->n_origins, sizeof(*s->sums[i].freed));
	}
	rc = heap_scan(a->n_allocations, s->n_threads, progress,
		       s->timed ? scan_blocks : scan_blocks_of_any_time, s);
	for (uint32_t i = 0; i < a->n_bulk; i++)
		for (uint32_t k = 0; k < s->n_kinds; k++)
			if (s->kinds[a->bulk[i].origin] >> k & 1)
				add_bulk(s, &s->sums[0], &a->bulk[i], k);
	for (unsigned i = 0; i < s->n_threads; i++)
		fold_freed(s, &s->sums[i]);
	for (unsigned i = 1; i < s->n_threads; i++) {
		heap_sums_add(&s->sums[0].of, &s->sums[i].of, a, s->n_kinds);
		for (uint32_t c = 0; c < s->n_columns; c++)
			heap_sum_add(&s->sums[0].whole[c], s->sums[i].whole[c]);
		heap_sums_done(&s->sums[i].of);
	}
	for (unsigned i = 0; i < s->n_threads; i++)
		free(s->sums[i].at);
	return rc;
}

/* Scans, and keeps of it what may be wanted next. */
static int scan_and_fold(struct scan *s, const struct sample_scan *r, struct progress *progress,
			 bool *threads)
{
	const struct heap_measure *kind[LENS_MAX_COLUMNS];
	int rc;

	/* Such sums have no slices of time, and would be found by those who want them. */
	if (s->table) {
		free(s->key);
		s->key = NULL;
	}
	rc = s->key ? add_measures(s, r, progress) : 0;
	if (rc == 0) {
		find_kinds(s);
		make_rules(s);
		rc = scan_all(s, progress);
	}
	if (rc == 0)
		fold(s, &s->sums[0].of, threads);
	for (uint32_t k = 0; k < s->n_kinds; k++)
		kind[k] = &s->column[s->first_of[k]];
	if (rc == 0 && s->key) {
		heap_sums_cache_put(kept_of(r), &s->state.columns, s->key, kind, s->n_kinds,
				    &s->sums[0].of);
		s->key = NULL;
	}
	heap_sums_done(&s->sums[0].of);
	return rc;
}

static int weigh_columns(struct scan *s, const struct sample_scan *r, struct progress *progress,
			 bool *threads)
{
	struct heap_sums_cache *kept = kept_of(r);
	const struct heap_sums *sums = NULL;
	int rc = 0;

	if (s->key)
		sums = heap_sums_cache_find(kept, &s->state.columns, s->key, s->column,
					    s->n_columns, s->kind_of);
	if (sums) {
		s->n_kinds = heap_sums_cache_kinds(kept, &s->levels);
		fold(s, sums, threads);
	} else {
		rc = scan_and_fold(s, r, progress, threads);
	}
	for (uint32_t i = 1; i < WEIGH_N_SLICES && s->column[0].is_level; i++)
		heap_sum_add(&s->to->slice[i], s->to->slice[i - 1]);
	if (rc == 0 && kept && lens_compares(r->lens))
		heap_sums_cache_put_peaks(kept, s->column, s->n_columns);
	return rc;
}

static int weigh_heaps(struct scan *s, const struct profile *p, const struct sample_scan *r,
		       struct progress *progress, bool *threads)
{
	int rc;

	s->n_columns = s->n_all = r->lens->n_columns;
	heap_state_init(&s->state, p, &r->counts);
	s->to->peak = (struct peak){ .time_ns = TIME_NONE };
	rc = begin_columns(s, p, r, progress);
	if (rc == 0)
		rc = weigh_columns(s, r, progress, threads);
	for (uint32_t i = 0; s->slots && i < s->state.columns.n_tracks; i++)
		heap_slots_done(&s->slots[i]);
	free(s->slots);
	free(s->gone);
	free(s->rule);
	for (uint32_t c = 0; c < s->n_all; c++)
		heap_measure_done(&s->column[c]);
	free(s->columns);
	free(s->kinds);
	free(s->key);
	heap_state_done(&s->state);
	return rc;
}

int heap_aggregate(const struct profile *p, const struct sample_scan *r, struct progress *progress,
		   bool *threads, struct weights *w)
{
	struct scan s = { .profile = p, .to = w };

	return weigh_heaps(&s, p, r, progress, threads);
}

int heap_aggregate_table(const struct profile *p, const struct sample_scan *r,
			 struct progress *progress, struct table_sums *to)
{
	struct weights unused = { .begin_ns = TIME_NONE };
	struct scan s = { .profile = p, .to = &unused, .table = to };

	return weigh_heaps(&s, p, r, progress, NULL);
}
