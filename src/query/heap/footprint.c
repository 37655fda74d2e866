/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/footprint.h"

#include "base/huge_alloc.h"
#include "base/mem.h"
#include "query/core/filter.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/peak_excess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviations to either side of the mean that 95 of 100 values are within. */
#define NORMAL_95 1.959964

static const enum measure measures[FOOTPRINT_N_COLUMNS] = {
	[FOOTPRINT_LIVE] = MEASURE_LIVE,           [FOOTPRINT_PEAK] = MEASURE_PEAK,
	[FOOTPRINT_BYTES] = MEASURE_WEIGHT,        [FOOTPRINT_CALLS] = MEASURE_SAMPLES,
	[FOOTPRINT_TEMPORARY] = MEASURE_TEMPORARY, [FOOTPRINT_LEAKED] = MEASURE_LEAKED,
};

static void set_lens(struct footprint *m, const struct lens *lens, struct metric of)
{
	struct lens l = *lens;

	l.n_columns = 0; /* the filter alone is copied */
	lens_copy(&m->lens, &l);
	/* Blocks are the program's alone; without a filter, footprints are found faster and say more. */
	while (m->lens.filter && filter_take(m->lens.filter, "!is:tracer"))
		continue;
	m->lens.n_columns = FOOTPRINT_N_COLUMNS;
	for (uint32_t i = 0; i < FOOTPRINT_N_COLUMNS; i++) {
		m->lens.column[i] =
			(struct lens_column){ .metric = { of.event, measures[i], of.all } };
		m->column_of[i] = i;
	}
}

/* A site with its order. */
struct sorted {
	const struct footprint *m;
	struct footprint_site site;
	const struct footprint_order *order;
};

/* What part of the site's calls its number is. */
static double part_of_calls(const struct sorted *s)
{
	int64_t calls = s->site.sum[FOOTPRINT_CALLS];

	return calls > 0 ? (double)s->site.sum[s->order->by] / (double)calls : 0;
}

static int by_column(const void *a, const void *b)
{
	static const enum footprint_column ties[] = { FOOTPRINT_LIVE, FOOTPRINT_PEAK,
						      FOOTPRINT_BYTES };
	const struct sorted *x = a, *y = b;
	const struct key *key = x->m->rows->key;
	const int64_t *p = x->site.sum, *q = y->site.sum;
	enum footprint_column by = x->order->by;
	int less = x->order->reverse ? -1 : 1;

	if (x->order->of_calls && part_of_calls(x) < part_of_calls(y))
		return less;
	if (x->order->of_calls && part_of_calls(x) > part_of_calls(y))
		return -less;
	if (p[by] != q[by])
		return p[by] < q[by] ? less : -less;
	for (size_t i = 0; i < sizeof(ties) / sizeof(*ties); i++)
		if (p[ties[i]] != q[ties[i]])
			return p[ties[i]] < q[ties[i]] ? less : -less;
	if (x->site.key != y->site.key)
		return strcmp(key[x->site.key].label, key[y->site.key].label);
	if (x->site.line != y->site.line)
		return x->site.line < y->site.line ? -1 : 1;
	return x->site.row < y->site.row ? -1 : x->site.row > y->site.row;
}

void footprint_sort_by(struct footprint *m, const struct footprint_order *order)
{
	struct sorted *s = xcalloc(m->n_sites, sizeof(*s));

	for (uint32_t i = 0; i < m->n_sites; i++)
		s[i] = (struct sorted){ m, m->site[i], order };
	qsort(s, m->n_sites, sizeof(*s), by_column);
	for (uint32_t i = 0; i < m->n_sites; i++)
		m->site[i] = s[i].site;
	free(s);
}

void footprint_sort(struct footprint *m, enum footprint_column by)
{
	footprint_sort_by(m, &(struct footprint_order){ .by = by });
}

const char *footprint_column_name(enum footprint_column c)
{
	static const char *const names[FOOTPRINT_N_COLUMNS] = {
		[FOOTPRINT_LIVE] = "live",           [FOOTPRINT_PEAK] = "peak",
		[FOOTPRINT_BYTES] = "bytes",         [FOOTPRINT_CALLS] = "calls",
		[FOOTPRINT_TEMPORARY] = "temporary", [FOOTPRINT_LEAKED] = "leaked",
	};

	return names[c];
}

bool footprint_has_column(struct metric metric, enum footprint_column *out)
{
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++) {
		if (measures[c] != metric.measure)
			continue;
		*out = (enum footprint_column)c;
		return true;
	}
	return false;
}

enum footprint_column footprint_column_of(struct metric metric)
{
	enum footprint_column column = FOOTPRINT_PEAK;

	footprint_has_column(metric, &column);
	return column;
}

void footprint_move_to_peak(struct footprint *m)
{
	m->lens.cursor_ns = m->peak.time_ns + 1;
	m->total[FOOTPRINT_LIVE] = m->total[FOOTPRINT_PEAK];
	for (uint32_t i = 0; i < m->n_sites; i++)
		m->site[i].sum[FOOTPRINT_LIVE] = m->site[i].sum[FOOTPRINT_PEAK];
}

void footprint_move_back(struct footprint *m)
{
	m->lens.cursor_ns = m->asked_ns;
	m->total[FOOTPRINT_LIVE] = m->asked;
	for (uint32_t i = 0; i < m->n_sites; i++)
		m->site[i].sum[FOOTPRINT_LIVE] = m->site[i].asked;
}

/* The column of squares that estimates the peak's variance stands last. */
static void add_squares(const struct footprint *m, struct lens *lens)
{
	if (m->manner.sampled)
		lens->column[lens->n_columns++] = (struct lens_column){
			.metric = { m->lens.column[0].metric.event, MEASURE_PEAK,
				    m->lens.column[0].metric.all },
			.squares = true
		};
}

static double error_of(const struct footprint *m, const struct weights *w)
{
	double peak = (double)m->total[FOOTPRINT_PEAK];
	uint32_t c = w->n_columns - 1;

	if (!m->manner.sampled || w->square_unit[c] == 0 || !(peak > 0))
		return 0;
	return NORMAL_95 * sqrt((double)w->total[c]) * (double)w->square_unit[c] / peak;
}

/* The recording's length, as far as what is being followed of its heaps goes: its samples may be ahead of these. */
static int64_t find_whole(const struct footprint *m, const struct weights *w)
{
	int64_t whole = w->begin_ns == TIME_NONE ? 0 : w->end_ns - w->begin_ns, since;
	struct heap_columns h;

	profile_heap_of(m->profile, &m->counts, &h);
	for (uint32_t i = 0; i < h.n_tracks; i++) {
		struct heap_track t = profile_heap_track_of(m->profile, &m->counts,
							    (track_id){ i });
		capture_id of = profile_process(m->profile, t.process)->capture;
		struct capture_span c = profile_capture_span(m->profile, &m->counts, of);

		if (t.known_ns != TIME_NONE && c.begin_ns != TIME_NONE &&
		    !__builtin_sub_overflow(t.known_ns, c.begin_ns, &since) && since >= 0 &&
		    since < whole)
			whole = since;
	}
	return whole;
}

static int take_weights(struct footprint *m, const struct weights *w, struct progress *progress)
{
	int rc;

	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++) {
		m->total[c] = w->total[m->column_of[c]];
		m->scale[c] = w->scale[m->column_of[c]];
	}
	m->peak = w->peak;
	m->passing = w->passing ? heap_filter_share(w->passing) : NULL;
	m->error = error_of(m, w);
	rc = footprint_rows_make(m, w, progress);
	if (rc == 0 && m->error > 0)
		rc = peak_excess(m->profile, &m->counts, &m->lens, (double)m->total[FOOTPRINT_PEAK],
				 progress, &m->excess);
	m->whole_ns = find_whole(m, w);
	m->asked_ns = m->lens.cursor_ns;
	m->asked = m->total[FOOTPRINT_LIVE];
	footprint_sort(m, FOOTPRINT_LIVE);
	return rc;
}

static struct footprint *begin(const struct profile *p, const struct profile_counts *counts,
			       const struct lens *lens, struct metric of)
{
	struct footprint *m = xcalloc(1, sizeof(*m));

	m->profile = p;
	m->counts = *counts;
	m->manner = heap_manner_of(p, counts);
	set_lens(m, lens, of);
	groups_init_named(&m->keys, p, &m->counts, GROUP_FUNCTION, lens->names);
	footprint_rows_init(m);
	return m;
}

int footprint_new(const struct profile *p, const struct profile_counts *counts,
		  const struct lens *lens, struct metric of, struct progress *progress,
		  struct footprint **out)
{
	struct footprint *m = begin(p, counts, lens, of);
	struct lens all = m->lens; /* filters are borrowed */
	struct weights w;
	int rc;

	add_squares(m, &all);
	rc = aggregate(m->profile, &m->counts, &all, progress, &w);
	if (rc == 0)
		rc = take_weights(m, &w, progress);
	weights_done(&w);
	if (rc < 0)
		footprint_free(m);
	else
		*out = m;
	return rc;
}

/* The lens' column, then those of a footprint that it is not; says in m which is which. */
static struct lens both_lenses(struct footprint *m, const struct lens *lens)
{
	struct lens both = *lens; /* filters are borrowed */

	for (uint32_t i = 0; i < FOOTPRINT_N_COLUMNS; i++) {
		m->column_of[i] = 0;
		if (measures[i] == lens->column[0].metric.measure)
			continue;
		m->column_of[i] = both.n_columns;
		both.column[both.n_columns++] = m->lens.column[i];
	}
	add_squares(m, &both);
	return both;
}

/* Leaves the first column of weights alone. */
static void keep_first(struct weights *w)
{
	int64_t *first = huge_alloc_table_new(w->n_stacks * sizeof(*first));

	for (uint32_t i = 0; i < w->n_stacks; i++)
		first[i] = w->stack[(size_t)i * w->n_columns];
	weights_drop_stacks(w);
	w->stack = first;
	for (uint32_t c = 1; c < w->n_columns; c++)
		w->total[c] = w->whole[c] = w->scale[c] = 0;
	w->n_columns = 1;
}

int footprint_weigh(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, struct progress *progress, struct weights *w,
		    struct footprint **out)
{
	struct metric metric = lens->column[0].metric;
	struct footprint *m = NULL;
	struct lens both = *lens;
	int rc;

	if (lens->n_columns == 1 && !lens->column[0].filter && metric.event.v < counts->n_events &&
	    profile_event(p, metric.event)->is_heap) {
		m = begin(p, counts, lens, metric);
		both = both_lenses(m, lens);
	}
	rc = aggregate(p, counts, &both, progress, w);
	if (m && rc == 0) {
		rc = take_weights(m, w, progress);
		if (metric.measure != MEASURE_PEAK)
			w->peak.time_ns = TIME_NONE;
		keep_first(w);
	}
	if (rc < 0) {
		footprint_free(m);
		m = NULL;
	}
	*out = m;
	return rc;
}

void footprint_free(struct footprint *m)
{
	if (!m)
		return;
	free(m->site);
	heap_filter_free(m->passing);
	free(m->by_row);
	free(m->row_of_thing);
	groups_done(&m->keys);
	if (m->rows == &m->own_rows)
		groups_done(&m->own_rows);
	lens_done(&m->lens);
	free(m);
}
