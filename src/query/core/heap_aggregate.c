/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One pass over the allocations for all columns. Sums are kept by origin, and put together by stack or by thread at the end.
 * Sampled blocks stand for several: counts of them are fractions then. Columns that count the same of every block are one kind,
 * which is added up once: both sides of a comparison and their sum.
 */
#include "config.h"

#include "query/core/heap_aggregate.h"

#include "base/mem.h"
#include "query/core/analysis_cache.h"
#include "query/core/groups.h"
#include "query/core/heap_kinds.h"
#include "query/core/heap_measure.h"
#include "query/core/heap_sums_cache.h"

#include <stdlib.h>
#include <string.h>

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
	struct heap_kinds kinds;
	uint32_t kind_of[LENS_MAX_COLUMNS];  /* by column */
	uint32_t first_of[LENS_MAX_COLUMNS]; /* [kinds.n] the first column of each */
	bool own_masked;       /* some column's own filter speaks of times or blocks */
	const bool *any_time;  /* [n_origins] passes the lens whatever the time; borrowed */
	struct heap_sum *rest; /* see heap_kinds_scan(); owned */
	uint8_t *key; /* [n_origins] see heap_sums_cache_find(); NULL: nothing is kept; owned */
};

_Static_assert(LENS_MAX_COLUMNS <= 32, "columns are bits of a word");

/* One origin's sums to those of its stack. */
static void fold_origin(const struct scan *s, const struct heap_sums *from, uint32_t origin,
			bool *threads)
{
	const struct heap_origin *o = &s->state.columns.origins[origin];
	const struct heap_sum *of = &from->origin[(size_t)origin * s->kinds.n];
	const struct heap_sum *rest = s->rest ? &s->rest[(size_t)origin * s->kinds.n] : NULL;
	struct weights *w = s->to;

	for (uint32_t c = 0; c < s->n_columns; c++) {
		int64_t x = of[s->kind_of[c]].sum;

		if (!(s->columns[origin] >> c & 1))
			continue;
		heap_sum_add(&w->whole[c], x);
		if (rest)
			heap_sum_add(&w->whole[c], rest[s->kind_of[c]].sum);
		if (x == 0 || !s->column[c].pass.lens->origin[origin])
			continue;
		heap_sum_add(&w->total[c], x);
		/* Of sums of runs no stacks are asked. */
		if (w->stack)
			heap_sum_add(&w->stack[(size_t)o->stack * s->n_columns + c], x);
	}
	if (of[s->kind_of[0]].n_blocks == 0 || !(s->columns[origin] & 1) || !s->any_time[origin])
		return;
	if (w->samples)
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
			&from->passing[(size_t)i * s->kinds.n + s->kind_of[0]];
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

uint32_t heap_key_of_origin(const struct profile *p, const struct groups *k,
			    const struct heap_origin *o, process_id process)
{
	if (k->grouping == GROUP_CPU)
		return groups_of_row(k, ID_NONE);
	if (groups_of_captures(k))
		return groups_of_row(k, profile_process(p, process)->capture.v);
	return groups_of_row(k, k->grouping == GROUP_EVENT ? o->event : o->thread);
}

/* One origin's sums to those of its key. */
static void fold_to_key(const struct scan *s, const struct heap_sums *from, uint32_t origin)
{
	const struct heap_sum *of = &from->origin[(size_t)origin * s->kinds.n];
	struct table_sums *to = s->table;
	const struct heap_origin *o = &s->state.columns.origins[origin];
	uint32_t key = heap_key_of_origin(s->profile, to->keys, o,
					  s->state.track[o->track].process);

	for (uint32_t c = 0; c < s->n_columns; c++) {
		const struct heap_sum *sum = &of[s->kind_of[c]];

		if (!(s->columns[origin] >> c & 1) || sum->n_blocks == 0 ||
		    !s->column[c].pass.lens->origin[origin])
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
	if (s->kinds.levels >> k & 1)
		k = (uint32_t)__builtin_ctz(s->kinds.levels);
	for (uint32_t i = 0; i < s->state.columns.n_origins; i++)
		if (s->columns[i])
			fold_origin(s, from, i, threads);
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
	int64_t whole;

	if (w->begin_ns != TIME_NONE && !__builtin_sub_overflow(w->end_ns, w->begin_ns, &whole) &&
	    whole < INT64_MAX)
		heap_kinds_slice(&s->kinds, whole + 1);
}

/* Do two columns count the same of every block, whosever it is? Where own filters are of more than origins, that is not asked. */
static bool counts_alike(const struct scan *s, uint32_t a, uint32_t b)
{
	const struct heap_measure *x = &s->column[a], *y = &s->column[b];

	return x->at && y->at && heap_filter_by_origin(x->pass.own) &&
	       heap_filter_by_origin(y->pass.own) && x->measure == y->measure &&
	       x->squares == y->squares && x->blocks == y->blocks &&
	       memcmp(x->at, y->at, s->state.columns.n_tracks * sizeof(*x->at)) == 0;
}

static void find_kinds(struct scan *s)
{
	struct heap_kinds *k = &s->kinds;
	uint32_t n = s->state.columns.n_origins;

	for (uint32_t c = 0; c < s->n_all; c++) {
		uint32_t i = 0;

		if (!s->column[c].at)
			continue;
		while (i < k->n && !counts_alike(s, s->first_of[i], c))
			i++;
		if (i == k->n)
			s->first_of[heap_kinds_add(k, &s->column[c])] = c;
		s->kind_of[c] = i;
	}
	k->noted = s->key ? UINT32_MAX : 1;
	k->of_origin = xcalloc(n, sizeof(*k->of_origin));
	k->is_noted = xcalloc(n, sizeof(*k->is_noted));
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t c = 0; c < s->n_columns; c++)
			k->of_origin[i] |= (s->columns[i] >> c & 1) << s->kind_of[c];
		/* Kept is what any column may ask for. */
		if (s->key && s->columns[i])
			k->of_origin[i] = UINT32_MAX >> (32 - k->n);
		k->is_noted[i] = (s->columns[i] & 1) && s->any_time && s->any_time[i];
	}
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
	s->to->scale[c] = g->scale;
	s->to->square_unit[c] = g->squares ? HEAP_SQUARE_UNIT : 0;
	if (s->to->peak.time_ns == TIME_NONE)
		s->to->peak = g->peak;
	if (!heap_filter_by_origin(g->pass.lens))
		s->kinds.lens = g->pass.lens;
	s->own_masked |= !heap_filter_by_origin(g->pass.own);
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
	if (kept && all && s->state.exact && !s->kinds.lens && !s->own_masked &&
	    lens_compares(r->lens))
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
		if (s->n_all == LENS_MAX_COLUMNS)
			break;
		rc = heap_measure_init(&s->column[s->n_all++], &s->state, r, 0, beside[i], s->like,
				       NULL, progress);
	}
	return rc;
}

/* Scans, and keeps of it what may be wanted next. */
static int scan_and_fold(struct scan *s, const struct sample_scan *r, struct progress *progress,
			 bool *threads)
{
	struct heap_sums sums = { 0 };
	int rc;

	/* Such sums have no slices of time, and would be found by those who want them. */
	if (s->table) {
		free(s->key);
		s->key = NULL;
	}
	rc = s->key ? add_measures(s, r, progress) : 0;
	if (rc < 0)
		return rc;
	find_kinds(s);
	if (s->kinds.n == 0)
		return 0;
	rc = heap_kinds_scan(&s->kinds, progress, &sums, &s->rest);
	if (rc == 0)
		fold(s, &sums, threads);
	if (rc == 0 && s->key) {
		heap_sums_cache_put(kept_of(r), &s->state.columns, s->key, s->kinds.kind,
				    s->kinds.n, &sums);
		s->key = NULL;
	}
	heap_sums_done(&sums);
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
		s->kinds.n = heap_sums_cache_kinds(kept, &s->kinds.levels);
		fold(s, sums, threads);
	} else {
		rc = scan_and_fold(s, r, progress, threads);
	}
	for (uint32_t i = 1; i < WEIGH_N_SLICES && s->column[0].is_level; i++)
		heap_sum_add(&s->to->slice[i], s->to->slice[i - 1]);
	if (rc == 0 && kept && !s->kinds.lens && !s->own_masked)
		heap_sums_cache_put_peaks(kept, &s->state.columns, s->column, s->n_columns);
	return rc;
}

static int weigh_heaps(struct scan *s, const struct profile *p, const struct sample_scan *r,
		       struct progress *progress, bool *threads)
{
	int rc;

	s->n_columns = s->n_all = r->lens->n_columns;
	heap_state_init(&s->state, p, &r->counts);
	s->kinds.state = &s->state;
	s->kinds.version = r->counts.version;
	s->kinds.brief = kept_of(r) ? heap_sums_cache_brief(kept_of(r)) : NULL;
	s->to->peak = (struct peak){ .time_ns = TIME_NONE };
	rc = begin_columns(s, p, r, progress);
	if (rc == 0)
		rc = weigh_columns(s, r, progress, threads);
	if (s->kinds.lens)
		s->to->passing = heap_filter_share(s->kinds.lens);
	for (uint32_t c = 0; c < s->n_all; c++)
		heap_measure_done(&s->column[c]);
	heap_kinds_done(&s->kinds);
	free(s->columns);
	free(s->rest);
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

	int rc = weigh_heaps(&s, p, r, progress, NULL);

	heap_filter_free(unused.passing);
	return rc;
}
