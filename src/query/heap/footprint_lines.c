/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/footprint_lines.h"

#include "base/mem.h"
#include "query/core/filter.h"
#include "query/core/heap_pass.h"
#include "query/core/heap_scan.h"
#include "query/core/heap_slots.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/heap_verdict.h"

#include <pthread.h>
#include <stdlib.h>

/* Parts of a slot that are looked at for its fullest. */
#define PARTS 16u

/* Numbers of all sites' lines together: 8 MB of them. */
#define ROWS_MOST ((uint32_t)1 << 20)

/* Fewer slots of a site tell nothing. */
#define ROW_SLOTS_LEAST 8u

/* What a pass needs: the state, what passes, slots of each track. */
struct passage {
	struct sample_scan *rows;
	struct heap_state state;
	struct heap_pass pass;
	struct heap_slots *slots; /* [n_tracks]; owned */
	uint32_t *gone; /* [n_tracks] the slot in which what the process held goes; owned */
};

static int passage_begin(struct passage *g, const struct footprint *m, struct progress *progress)
{
	int rc;

	*g = (struct passage){ 0 };
	rc = sample_scan_new(m->profile, &m->counts, &m->lens, progress, &g->rows);
	if (rc < 0)
		return rc;
	heap_state_init(&g->state, m->profile, &m->counts);
	heap_pass_init_again(&g->pass, &g->state, g->rows, m->passing);
	return 0;
}

static void passage_slots(struct passage *g, int64_t from_ns, int64_t to_ns, uint32_t n)
{
	uint32_t n_tracks = g->state.columns.n_tracks;

	g->slots = xcalloc(n_tracks, sizeof(*g->slots));
	g->gone = xcalloc(n_tracks, sizeof(*g->gone));
	for (uint32_t i = 0; i < n_tracks; i++) {
		heap_slots_init(&g->slots[i], &g->state, i, from_ns, to_ns, n);
		g->gone[i] = heap_slots_gone(&g->state, i, from_ns, to_ns, n);
	}
}

static void passage_end(struct passage *g)
{
	for (uint32_t i = 0; g->slots && i < g->state.columns.n_tracks; i++)
		heap_slots_done(&g->slots[i]);
	free(g->slots);
	free(g->gone);
	heap_pass_done(&g->pass);
	heap_state_done(&g->state);
	sample_scan_free(g->rows);
}

/* Sums of hostile sizes stay what 63 bits hold. */
static void add(int64_t *to, int64_t x)
{
	if (__builtin_add_overflow(*to, x, to))
		*to = x < 0 ? INT64_MIN : INT64_MAX;
}

/* What comes and goes in a slot; the rate of what goes is behind that of what comes. */
enum rate { BYTES, BLOCKS = 2, N_RATES = 4 };

/* Lines while they are made, by one of the threads. */
struct making {
	int64_t *rate;          /* [N_RATES][n]; owned */
	int64_t *part;          /* [n * PARTS] net bytes of all; owned */
	int64_t before;         /* bytes there before the first slot */
	int64_t *row;           /* [n_rows][n_row_slots] net bytes of each site; owned */
	struct heap_at_slot at; /* the part that the blocks before were in */
};

/* A pass of several threads, each with lines of its own. */
struct lines_scan {
	struct passage *g;
	const uint32_t *row_of_origin; /* ID_NONE: of no site */
	uint32_t n, n_row_slots;
	bool plain; /* of one heap, all of whose blocks are there */
	struct making made[HEAP_SCAN_MOST];
};

/* Bytes that come (1) or go (-1) at a moment, and how many blocks that is. */
struct step {
	uint32_t part; /* where levels tell of it */
	int64_t bytes;
	int64_t n;
	int sign;
};

static void take_step(const struct lines_scan *s, struct making *to, uint32_t row,
		      const struct step *is)
{
	uint32_t slot = is->part == SLOT_BEFORE ? 0 : is->part / PARTS;
	int64_t bytes = is->sign * is->bytes;

	if (slot >= s->n)
		return;
	if (row != ID_NONE && s->n_row_slots > 0) {
		size_t in_row = s->n_row_slots == s->n ? slot
						       : (size_t)slot * s->n_row_slots / s->n;

		add(&to->row[(size_t)row * s->n_row_slots + in_row], bytes);
	}
	add(is->part == SLOT_BEFORE ? &to->before : &to->part[is->part], bytes);
}

/* Adds to rates what came (0) or went (1) at a part, or over some time. */
static void count_step(const struct lines_scan *s, struct making *to, uint32_t which,
		       const struct step *is, uint32_t part)
{
	if (part == SLOT_BEFORE || part / PARTS >= s->n)
		return;
	add(&to->rate[(size_t)(BYTES + which) * s->n + part / PARTS], is->bytes);
	add(&to->rate[(size_t)(BLOCKS + which) * s->n + part / PARTS], is->n);
}

static void spread_step(const struct lines_scan *s, struct making *to, uint32_t which,
			const struct step *is, uint32_t track, const struct heap_when *when,
			uint32_t lot)
{
	const struct heap_slots *slots = &s->g->slots[track];

	heap_slots_spread(slots, when, lot, is->bytes, s->n,
			  to->rate + (size_t)(BYTES + which) * s->n);
	heap_slots_spread(slots, when, lot, is->n, s->n,
			  to->rate + (size_t)(BLOCKS + which) * s->n);
}

/* A block of an origin that comes, or goes. */
static void note_step(const struct lines_scan *s, struct making *to, uint32_t origin,
		      uint32_t begin, uint32_t end, struct step *step)
{
	const struct passage *g = s->g;
	uint32_t track = g->state.columns.origins[origin].track, at, told;
	uint32_t moment = step->sign > 0 ? begin : end & END_MOMENT;
	const struct heap_slots *slots = &g->slots[track];
	struct heap_when when;

	told = moment < slots->track->folded.until
		       ? heap_level_tells(&g->state.track[track], moment)
		       : moment;
	at = heap_slots_of(slots, moment);
	step->part = told == moment ? at : heap_slots_of(slots, told);
	take_step(s, to, s->row_of_origin[origin], step);
	if (heap_slots_when(slots, moment, begin, end, &when))
		spread_step(s, to, step->sign < 0, step, track, &when, moment);
	else
		count_step(s, to, step->sign < 0, step, at);
}

/* A row, i of those that were read. in_part: it came in the part that the blocks before were in, see in_one_part(). */
static void note_row(const struct lines_scan *s, struct making *to, uint32_t row,
		     const struct heap_rows_read *rows, uint32_t i, bool in_part)
{
	const struct passage *g = s->g;
	const struct heap_columns *c = &g->state.columns;
	uint32_t origin = rows->origin[i], begin = rows->begin[i], end = rows->end[i];
	uint32_t track = c->origins[origin].track;
	struct step step = { .sign = 1, .bytes = (int64_t)rows->size[i], .n = 1 };

	if (!g->pass.own->origin[origin] || !g->pass.lens->origin[origin])
		return;
	if (!g->state.exact) {
		step.bytes = heap_bytes_for(&g->state, track, row);
		step.n = (int64_t)(heap_stands_for(&g->state.track[track], begin, rows->size[i]) +
				   0.5);
	}
	if ((end & END_MOMENT) >= g->state.track[track].n_moments)
		end = END_NEVER;
	step.part = to->at.slot;
	if (in_part) {
		take_step(s, to, s->row_of_origin[origin], &step);
		count_step(s, to, 0, &step, step.part);
	} else {
		note_step(s, to, origin, begin, end, &step);
	}
	step.sign = -1;
	if (end != END_NEVER) {
		note_step(s, to, origin, begin, end, &step);
		return;
	}
	/* It goes with its process, and is not freed. */
	step.part = g->gone[track];
	take_step(s, to, s->row_of_origin[origin], &step);
}

/* Do all moments from one to another lie in one part of a slot, where brief blocks change no level? */
static bool in_one_part(const struct lines_scan *s, struct making *to, uint32_t first,
			uint32_t last)
{
	const struct passage *g = s->g;
	const struct heap_track *t = &g->state.track[0];

	if (!s->plain || first < t->folded.until || last >= t->n_moments ||
	    first < g->slots[0].bound[0])
		return false;
	if (!heap_slots_is_at(&to->at, first))
		heap_slots_go_to(&g->slots[0], &to->at, first);
	return heap_slots_is_at(&to->at, last);
}

/* Brief rows of a group, as bits, all of which come and go in one part. */
static void count_brief(const struct lines_scan *s, struct making *to, uint32_t group,
			uint64_t brief)
{
	const struct heap_columns *c = &s->g->state.columns;
	struct step step = { 0 };

	for (; brief; brief &= brief - 1) {
		uint32_t i = group * HEAP_GROUP + (uint32_t)__builtin_ctzll(brief);
		uint32_t origin = allocation_origin(c, i);

		if (!s->g->pass.own->origin[origin] || !s->g->pass.lens->origin[origin])
			continue;
		add(&step.bytes, (int64_t)allocation_size(c, i));
		step.n++;
	}
	for (uint32_t which = 0; which < 2; which++)
		count_step(s, to, which, &step, to->at.slot);
}

/* Rows of one group. */
static void scan_group(const struct lines_scan *s, struct making *to, uint32_t from, uint32_t end)
{
	const struct heap_columns *c = &s->g->state.columns;
	uint64_t pass = heap_filter_rows(s->g->pass.own, c, from, end) &
			heap_filter_rows(s->g->pass.lens, c, from, end);
	struct heap_rows_read rows;
	uint32_t n;

	if (!pass)
		return;
	if (!in_one_part(s, to, allocation_begin(c, from), allocation_begin(c, end - 1) + 1)) {
		n = allocation_read(c, from, end, &rows);
		for (uint32_t i = 0; i < n; i++)
			if (pass >> (from + i) % HEAP_GROUP & 1)
				note_row(s, to, from + i, &rows, i, false);
		return;
	}
	count_brief(s, to, from / HEAP_GROUP,
		    allocation_read_kept(c, from, end, NULL, &rows, &n) & pass);
	for (uint32_t i = 0; i < n; i++)
		if (pass >> rows.row[i] % HEAP_GROUP & 1)
			note_row(s, to, rows.row[i], &rows, i, true);
}

static void scan_lines(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct lines_scan *s = arg;
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = (at / HEAP_GROUP + 1) * HEAP_GROUP;
		end = end < to ? end : to;
		scan_group(s, &s->made[worker], at, end);
	}
}

/* What is known as sums came and went: levels do not know of it. */
static void add_bulk(const struct lines_scan *s, struct making *to, const struct heap_bulk *b)
{
	uint32_t track = s->g->state.columns.origins[b->origin].track;
	struct step step = { .bytes = (int64_t)b->bytes, .n = (int64_t)b->calls };
	const struct heap_slots *slots = &s->g->slots[track];
	struct heap_when when;
	bool lasts = heap_slots_when_bulk(slots, b, &when);

	for (uint32_t which = 0; which < 2; which++)
		if (lasts)
			spread_step(s, to, which, &step, track, &when, b->moment);
		else
			count_step(s, to, which, &step, heap_slots_of(slots, b->moment));
}

/* All of it that passes. */
static void add_bulks(const struct lines_scan *s, struct making *to)
{
	const struct heap_columns *c = &s->g->state.columns;

	for (uint32_t i = 0; i < c->n_bulk; i++)
		if (heap_pass_own(&s->g->pass, c, ID_NONE, c->bulk[i].origin, c->bulk[i].moment) &&
		    heap_pass_lens(&s->g->pass, c, ID_NONE, c->bulk[i].origin, c->bulk[i].moment))
			add_bulk(s, to, &c->bulk[i]);
}

static void making_init(struct making *m, uint32_t n, size_t n_in_rows)
{
	*m = (struct making){ 0 };
	m->rate = xcalloc(n, N_RATES * sizeof(*m->rate));
	m->part = xcalloc((size_t)n * PARTS, sizeof(*m->part));
	m->row = n_in_rows > 0 ? xcalloc(n_in_rows, sizeof(*m->row)) : NULL;
}

static void making_done(struct making *m)
{
	free(m->rate);
	free(m->part);
	free(m->row);
}

/* Adds another thread's lines, of n slots, to the first ones. */
static void add_lines(struct making *to, const struct making *from, uint32_t n, size_t n_in_rows)
{
	add(&to->before, from->before);
	for (size_t i = 0; i < (size_t)n * PARTS; i++)
		add(&to->part[i], from->part[i]);
	for (size_t i = 0; i < n_in_rows; i++)
		add(&to->row[i], from->row[i]);
	for (size_t i = 0; i < (size_t)n * N_RATES; i++)
		add(&to->rate[i], from->rate[i]);
}

/* What comes and goes, into *out, which the caller ends; -ECANCELED: then it is empty. */
static int pass_lines(struct passage *g, const struct footprint *m, const struct footprint_lines *l,
		      struct progress *progress, struct making *out)
{
	uint32_t n_allocations = g->state.columns.n_allocations;
	size_t n_in_rows = (size_t)l->n_rows * l->n_row_slots;
	/* Sums of their own have to be worth it. */
	unsigned n_threads = n_in_rows > n_allocations / 4 ? 1 : heap_scan_threads(n_allocations);
	uint32_t *row = footprint_rows_of_origins(m, &g->state.columns);
	struct lines_scan s = {
		.g = g, .row_of_origin = row, .n = l->span.n, .n_row_slots = l->n_row_slots
	};
	int rc;

	s.plain = g->state.exact && g->state.columns.n_tracks == 1;
	for (unsigned i = 0; i < n_threads; i++)
		making_init(&s.made[i], s.n, n_in_rows);
	rc = heap_scan(n_allocations, n_threads, progress, scan_lines, &s);
	for (unsigned i = 1; i < n_threads; i++) {
		add_lines(&s.made[0], &s.made[i], s.n, n_in_rows);
		making_done(&s.made[i]);
	}
	free(row);
	add_bulks(&s, &s.made[0]);
	*out = s.made[0];
	if (rc < 0)
		making_done(out);
	return rc;
}

/* A slot's rates. */
static void take_rates(const struct making *made, uint32_t i, uint32_t n, struct footprint_slot *to)
{
	const int64_t *rate = made->rate + i;

	to->allocated = rate[(size_t)BYTES * n];
	to->freed = rate[(size_t)(BYTES + 1) * n];
	to->n_allocated = (uint64_t)rate[(size_t)BLOCKS * n];
	to->n_freed = (uint64_t)rate[(size_t)(BLOCKS + 1) * n];
}

/* What was there, from what came and went. */
static void sum_lines(const struct footprint *m, const struct making *made,
		      struct footprint_lines *l)
{
	int64_t live = made->before, from = l->span.from_ns, to = l->to_ns;

	for (uint32_t i = 0; i < l->span.n; i++) {
		int64_t most = live;

		take_rates(made, i, l->span.n, &l->slot[i]);
		for (uint32_t j = 0; j < PARTS; j++) {
			add(&live, made->part[(size_t)i * PARTS + j]);
			most = live > most ? live : most;
		}
		l->slot[i].live = live;
		l->slot[i].most = most;
	}
	for (size_t i = 0; i < (size_t)l->n_rows * l->n_row_slots; i++)
		if (i % l->n_row_slots > 0)
			add(&l->row[i], l->row[i - 1]);
	if (m->peak.time_ns != TIME_NONE && m->peak.time_ns >= from && m->peak.time_ns < to) {
		double part = (double)(m->peak.time_ns - from) / (double)(to - from);
		uint32_t at = (uint32_t)(part * l->span.n);
		struct footprint_slot *slot = &l->slot[at < l->span.n ? at : l->span.n - 1];

		/* That much was there at least: of one process it is all. */
		int64_t top = m->peak.n == 1 ? m->total[FOOTPRINT_PEAK] : m->peak.bytes;

		slot->most = slot->most < top ? top : slot->most;
	}
}

/* Slots of a site's line. */
static uint32_t row_slots(const struct footprint *m, uint32_t n)
{
	uint32_t most = m->n_sites > 0 ? ROWS_MOST / m->n_sites : 0;

	return n <= most ? n : most >= ROW_SLOTS_LEAST ? most : 0;
}

struct teardown_known {
	struct time_span span; /* n 0: nothing is known */
	uint32_t version;      /* of the profile's counts */
	struct metric of;      /* its event */
	uint32_t teardown;
};

struct teardown_cache {
	pthread_mutex_t lock;
	struct teardown_known of[2]; /* of a screen's slots, and of VERDICT_SLOTS */
};

struct teardown_cache *teardown_cache_new(void)
{
	struct teardown_cache *k = xcalloc(1, sizeof(*k));

	pthread_mutex_init(&k->lock, NULL);
	return k;
}

void teardown_cache_free(struct teardown_cache *k)
{
	if (!k)
		return;
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static bool find_known(struct teardown_cache *cache, const struct footprint *m,
		       const struct time_span *span, uint32_t *teardown)
{
	const struct teardown_known *k;
	bool known;

	if (!cache)
		return false;
	k = &cache->of[span->n == VERDICT_SLOTS];
	pthread_mutex_lock(&cache->lock);
	known = k->version == m->counts.version && time_span_same(&k->span, span) &&
		metric_same_event(k->of, m->lens.column[0].metric);
	*teardown = known ? k->teardown : *teardown;
	pthread_mutex_unlock(&cache->lock);
	return known;
}

static void keep_known(struct teardown_cache *cache, const struct footprint *m,
		       const struct time_span *span, uint32_t teardown)
{
	if (!cache)
		return;
	pthread_mutex_lock(&cache->lock);
	cache->of[span->n == VERDICT_SLOTS] = (struct teardown_known){ *span, m->counts.version,
								       m->lens.column[0].metric,
								       teardown };
	pthread_mutex_unlock(&cache->lock);
}

/*
 * When the program begins to free all: that is of the program, not of the part of it that a filter shows. Its own pass, where
 * less than all is shown and nobody knows it from before.
 */
static int find_teardown(const struct footprint *m, struct teardown_cache *cache,
			 struct footprint_lines *l, struct progress *progress)
{
	struct footprint whole = *m; /* of no sites; all else is borrowed */
	struct time_span span = { l->span.from_ns, l->to_ns, l->span.n, 0 };
	struct footprint_lines *all;
	int rc;

	l->teardown = l->span.n;
	/* Before the end of the recording frees are no teardown, however many. */
	if (l->to_ns <= m->whole_ns)
		return 0;
	if (!m->lens.filter || filter_n_terms(m->lens.filter) == 0) {
		l->teardown = footprint_teardown(l->slot, l->span.n);
		keep_known(cache, m, &span, l->teardown);
		return 0;
	}
	if (find_known(cache, m, &span, &l->teardown))
		return 0;
	whole.lens.filter = NULL;
	whole.passing = NULL;
	whole.n_sites = 0;
	whole.peak.time_ns = TIME_NONE;
	rc = footprint_lines_new(&whole, &span, cache, progress, &all);
	if (rc == 0)
		l->teardown = all->teardown;
	if (rc == 0)
		footprint_lines_free(all);
	return rc;
}

int footprint_lines_new(const struct footprint *m, const struct time_span *span,
			struct teardown_cache *cache, struct progress *progress,
			struct footprint_lines **out)
{
	struct footprint_lines *l;
	struct making made;
	struct passage g;
	int rc = passage_begin(&g, m, progress);

	if (rc < 0)
		return rc;
	l = xcalloc(1, sizeof(*l));
	l->span = *span;
	l->to_ns = span->to_ns < INT64_MAX ? span->to_ns : m->whole_ns + 1;
	l->n_rows = m->n_sites;
	l->n_row_slots = row_slots(m, span->n);
	passage_slots(&g, span->from_ns, l->to_ns, span->n * PARTS);
	rc = pass_lines(&g, m, l, progress, &made);
	passage_end(&g);
	if (rc < 0) {
		free(l);
		return rc;
	}
	l->slot = xcalloc(span->n, sizeof(*l->slot));
	l->row = made.row;
	sum_lines(m, &made, l);
	free(made.rate);
	free(made.part);
	rc = find_teardown(m, cache, l, progress);
	if (rc < 0)
		footprint_lines_free(l);
	else
		*out = l;
	return rc;
}

void footprint_lines_free(struct footprint_lines *l)
{
	if (!l)
		return;
	free(l->slot);
	free(l->row);
	free(l->grows);
	free(l);
}

const int64_t *footprint_row_line(const struct footprint_lines *l, uint32_t row)
{
	return l->n_row_slots > 0 && row < l->n_rows ? l->row + (size_t)row * l->n_row_slots : NULL;
}

bool footprint_move_in_lines(struct footprint *m, int64_t cursor_ns,
			     const struct footprint_lines *l, uint32_t slot)
{
	if (l->n_row_slots != l->span.n || l->n_rows != m->n_sites || slot >= l->span.n)
		return false;
	m->lens.cursor_ns = cursor_ns;
	m->total[FOOTPRINT_LIVE] = l->slot[slot].live;
	for (uint32_t i = 0; i < m->n_sites; i++)
		m->site[i].sum[FOOTPRINT_LIVE] = footprint_row_line(l, m->site[i].row)[slot];
	return true;
}

/* More allocations are not gone over again to judge growth: their lines are as good. */
#define JUDGED_MOST 4000000u

/* Of a teardown. */
#define TEARDOWN_FREES 16 /* bytes freed for each one allocated */
#define SLOT_FREES     4  /* the same of the slot in which it begins */
#define TEARDOWN_LEFT  4  /* one in so many bytes may be left */
#define TEARDOWN_PART  3  /* of the time: what goes on for longer is a part of the program's work */

uint32_t footprint_teardown(const struct footprint_slot *slot, uint32_t n)
{
	double allocated = 0, freed = 0;
	uint32_t begin = n;

	for (uint32_t i = n; i-- > 1;) {
		double came = (double)slot[i].allocated, went = (double)slot[i].freed;

		allocated += came;
		freed += went;
		/* In the last slot the program may have done its work, too. */
		if (went > came &&
		    (i == n - 1 ||
		     (came * SLOT_FREES <= went && allocated * TEARDOWN_FREES <= freed)) &&
		    slot[n - 1].live <= slot[i - 1].live / TEARDOWN_LEFT)
			begin = i;
	}
	return n - begin <= n / TEARDOWN_PART ? begin : n;
}

static bool line_grows(const struct footprint_lines *l, uint32_t row, bool ended)
{
	struct heap_run run = { .line = footprint_row_line(l, row),
				.slot_ns = 1,
				.last = 1,
				.ends = 1,
				.ended = ended };

	if (!run.line)
		return false;
	run.n = ended ? (uint32_t)((uint64_t)l->teardown * l->n_row_slots / l->span.n)
		      : l->n_row_slots;
	return heap_judge_growth(&run).verdict == VERDICT_STEADY;
}

int footprint_lines_judge(struct footprint_lines *l, const struct footprint *m,
			  struct teardown_cache *cache, struct progress *progress)
{
	struct time_span span = { 0, l->to_ns, VERDICT_SLOTS, 0 };
	bool ended = !m->manner.lives_on && !m->manner.goes_on;
	struct footprint_lines *of;
	struct heap_columns columns;
	int rc;

	profile_heap_of(m->profile, &m->counts, &columns);
	if (l->span.from_ns > 0 || l->to_ns <= m->whole_ns || columns.n_allocations > JUDGED_MOST)
		return 0;
	rc = footprint_lines_new(m, &span, cache, progress, &of);
	if (rc < 0)
		return rc;
	l->grows = xcalloc((size_t)l->n_rows + 1, sizeof(*l->grows));
	for (uint32_t i = 0; i < l->n_rows; i++)
		l->grows[i] = line_grows(of, i, ended);
	footprint_lines_free(of);
	return 0;
}

bool footprint_row_grows(const struct footprint_lines *l, uint32_t row, bool ended)
{
	return l->grows ? row < l->n_rows && l->grows[row] : line_grows(l, row, ended);
}
