/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How what each site holds grows over the run: a verdict, a rate, and where the end is.
 *
 * The line of a site is what it holds at the ends of some hundred equal slots of time, without the teardown at the end of a
 * program that frees all (footprint_teardown()). Rates are the mean growth between eighths of the line; their error is that of
 * the mean of seven such numbers (Student, 95 %).
 */
#include "config.h"

#include "base/bisect.h"
#include "base/fmt.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_lines.h"
#include "query/heap/heap_answers.h"
#include "query/heap/heap_verdict.h"
#include "query/heap/site_peaks.h"
#include "query/heap/suppressions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A site is of interest that ever holds so much of the peak, or anything at the end. */
#define LEAST_PART 100

struct site_sums {
	int64_t first_ns, last_ns; /* of its allocations; first_ns -1: none */
	uint32_t track, last;      /* its last one */
	double calls, leaked, leaked_blocks;
	double suppressed; /* bytes that leaked, but are not in leaked */
};

struct leaks {
	struct heap_asking *ask;
	struct site_sums *sum; /* [n_sites] */
	int64_t *most;         /* [n_sites] bytes: the most that it ever held */
	struct footprint_lines *lines;
	uint32_t n; /* slots of lines before the teardown */
	bool ended; /* the program */
	bool exits; /* are there sites whose end is before the final frees? */
	int64_t whole_ns;
	int64_t peak;        /* of all */
	bool *is_suppressed; /* [n_stacks]; NULL: no stack is; owned */
	uint32_t n_suppressed;
	double suppressed; /* bytes */
	uint32_t n_small;
};

static bool is_suppressed(const struct leaks *l, uint32_t stack)
{
	return l->is_suppressed && l->is_suppressed[stack];
}

static void see(void *arg, const struct heap_block_seen *b)
{
	struct leaks *l = arg;
	struct site_sums *s;
	int64_t at;

	if (b->site == ID_NONE)
		return;
	s = &l->sum[b->site];
	at = heap_since_start(l->ask, b->track, b->begin);
	if (s->first_ns < 0)
		s->first_ns = at;
	if (at >= s->last_ns) {
		s->last_ns = at;
		s->track = b->track;
		s->last = b->begin;
	}
	s->calls += b->n;
	if (b->end == END_NEVER &&
	    is_suppressed(l, l->ask->state.columns.origins[b->origin].stack)) {
		s->suppressed += b->bytes;
	} else if (b->end == END_NEVER) {
		s->leaked += b->bytes;
		s->leaked_blocks += b->n;
	}
}

static const char *verdict_name(enum heap_verdict v)
{
	static const char *const names[] = {
		[VERDICT_STEADY] = "grows steadily",  [VERDICT_SAWTOOTH] = "sawtooth",
		[VERDICT_BOUNDED] = "bounded",        [VERDICT_STARTUP] = "one-time start-up",
		[VERDICT_AT_END] = "only at the end", [VERDICT_SHORT] = "too short to tell",
		[VERDICT_OTHER] = "no pattern",
	};

	return names[v];
}

/* By when its last allocation had been made: a stamp of time holds until the next one. */
static int64_t last_before(const struct leaks *l, const struct site_sums *s)
{
	const struct heap_track *t = &l->ask->state.track[s->track];
	uint32_t from = 0; /* ticks below from are not after it */

	BISECT(from, t->n_ticks, i, t->tick[i].moment <= s->last);
	while (from < t->n_ticks && t->tick[from].moment < t->n_moments) {
		int64_t at = heap_since_start(l->ask, s->track, t->tick[from++].moment);

		if (at > s->last_ns)
			return at;
	}
	return l->whole_ns;
}

static char *remark_of(const struct leaks *l, const struct heap_growth *g,
		       const struct site_sums *s, int64_t at_end)
{
	char a[FMT_SIZE], n[FMT_COUNTED_SIZE];

	switch (g->verdict) {
	case VERDICT_STEADY:
		return s->leaked >= (double)at_end / 2
			       ? xasprintf("still rising at the end")
			       : xasprintf("rises until the program frees %s",
					   s->leaked > 0 ? "most of it" : "all");
	case VERDICT_SAWTOOTH:
		return xasprintf("falls %u times to less than half", g->n_falls);
	case VERDICT_BOUNDED:
		return xasprintf("no growth since %s",
				 fmt_ns(a, (int64_t)((double)l->whole_ns * g->level_since)));
	case VERDICT_STARTUP:
		return xasprintf("%s%s before %s, none later", l->ask->f->manner.sampled ? "~" : "",
				 fmt_counted(n, llround(s->calls), "allocation"),
				 fmt_ns(a, last_before(l, s)));
	case VERDICT_AT_END:
		return xasprintf("begins at %s", fmt_ns(a, s->first_ns));
	case VERDICT_SHORT:
	case VERDICT_OTHER:
		break;
	}
	return NULL;
}

static bool knows_times(const struct leaks *l)
{
	return !(l->ask->f->manner.lacks & HEAP_LACKS_TIMES);
}

/* Is nothing of a site to be told? What it leaked else is, whatever its other stacks do. */
static bool is_left_out(struct leaks *l, uint32_t site)
{
	const struct site_sums *s = &l->sum[site];

	if (s->leaked > 0 ||
	    (s->suppressed <= 0 && !is_suppressed(l, l->ask->f->by_row[site].stack)))
		return false;
	l->n_suppressed++;
	return true;
}

static void add(struct leaks *l, uint32_t site)
{
	const int64_t *line = footprint_row_line(l->lines, site);
	const struct site_sums *s = &l->sum[site];
	struct heap_growth g = { .verdict = VERDICT_SHORT };
	struct heap_table_row *row;
	int64_t at_end = 0;

	if (!knows_times(l)) {
		at_end = llround(s->leaked);
	} else if (line && l->n > 0) {
		struct heap_run run = {
			.line = line,
			.n = l->n,
			.slot_ns = (double)l->whole_ns / l->lines->n_row_slots,
			.first = (double)s->first_ns / (double)l->whole_ns,
			.last = (double)s->last_ns / (double)l->whole_ns,
			.ends = (double)l->n / l->lines->n_row_slots,
			.ended = l->ended,
		};

		/* Slots of less than a nanosecond are of no time, and say nothing of growth. */
		if (l->whole_ns >= VERDICT_SLOTS)
			g = heap_judge_growth(&run);
		else
			g.n = l->n;
		l->exits |= g.n < l->lines->n_row_slots;
		at_end = line[g.n - 1];
	}
	if (s->leaked <= 0 && s->suppressed <= 0 && at_end <= 0 &&
	    l->most[site] < l->peak / LEAST_PART) {
		l->n_small++;
		return;
	}
	l->suppressed += s->suppressed;
	if (is_left_out(l, site))
		return;
	row = heap_add_site(l->ask, site);
	row->verdict = g.verdict;
	row->label = xstrdup(knows_times(l) ? verdict_name(g.verdict) : "no times");
	row->remark = remark_of(l, &g, s, at_end);
	if (g.verdict == VERDICT_STEADY) {
		row->cell[0] = (int64_t)fmin(g.bytes_per_hour, 0x1p62);
		row->cell[1] = (int64_t)fmin(g.error, 0x1p62);
	}
	row->cell[2] = at_end;
	row->cell[3] = llround(s->leaked);
	if (!(l->ask->f->manner.lacks & (HEAP_LACKS_SIZES | HEAP_LACKS_CALLS)))
		row->cell[4] = llround(s->leaked_blocks);
	row->cell[5] = l->most[site];
}

/* By projected growth, then by what is lost, then by what was held. */
static int compare(const void *a, const void *b)
{
	static const int by[] = { 0, 3, 2, 5 };
	const struct heap_table_row *x = a, *y = b;

	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++)
		if (x->cell[by[i]] != y->cell[by[i]])
			return x->cell[by[i]] < y->cell[by[i]] ? 1 : -1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void note_left_out(struct leaks *l)
{
	char n[FMT_COUNTED_SIZE], bytes[FMT_SIZE];

	if (!knows_times(l))
		heap_note(l->ask, xstrdup("the file does not say when memory was allocated: nobody "
					  "can tell from it what grows"));
	fmt_bytes(bytes, llround(l->suppressed));
	if (l->n_suppressed > 0)
		heap_note(l->ask, xasprintf("suppressed: %s that leaked %s",
					    fmt_counted(n, l->n_suppressed, "site"), bytes));
	else if (l->suppressed > 0)
		heap_note(l->ask, xasprintf("suppressed: leaks of %s", bytes));
	if (l->n_small > 0)
		heap_note(
			l->ask,
			xasprintf(
				"left out: %s that leaked nothing and never held 1 %% of the peak",
				fmt_counted(n, l->n_small, "site")));
}

/* Why some hold less at the end than they leaked, or more. */
static void note_end(struct leaks *l)
{
	uint32_t n_gone = l->ask->f->manner.n_gone;
	char n[FMT_COUNTED_SIZE];
	bool less = false, more = false;

	for (size_t i = 0; i < l->ask->out->rows.n; i++) {
		const int64_t *cell = l->ask->out->rows.at[i].cell;

		less |= cell[2] < cell[3];
		more |= cell[2] > cell[3];
	}
	if (less && n_gone > 0)
		heap_note(l->ask, xasprintf("AT END leaves out what %s held that ended earlier: "
					    "LEAKED has it",
					    fmt_counted(n, n_gone, "heap")));
	else if (less && l->exits)
		heap_note(l->ask, xstrdup("AT END is before the final frees: LEAKED has what came "
					  "during these, too"));
	if (more && (!less || n_gone > 0) && l->exits)
		heap_note(l->ask, xstrdup("AT END is before the final frees: LEAKED is what these "
					  "left"));
}

static void add_all(struct leaks *l)
{
	const struct heap_manner *m = &l->ask->f->manner;
	uint32_t n = l->lines->n_row_slots;

	l->ended = !m->lives_on && !m->goes_on;
	l->n = l->ended ? (uint32_t)((uint64_t)l->lines->teardown * n / l->lines->span.n) : n;
	for (uint32_t i = 0; i < l->ask->n_sites; i++)
		if (l->sum[i].first_ns >= 0)
			add(l, i);
	if (l->ask->out->rows.n > 0)
		qsort(l->ask->out->rows.at, l->ask->out->rows.n, sizeof(*l->ask->out->rows.at),
		      compare);
	note_left_out(l);
	note_end(l);
	if (m->attached)
		heap_note(l->ask,
			  xstrdup("attached to a running program: what replaces blocks from before "
				  "that seems to grow"));
}

static struct site_sums *new_sums(uint32_t n)
{
	struct site_sums *sum = xcalloc(n, sizeof(*sum));

	for (uint32_t i = 0; i < n; i++)
		sum[i].first_ns = -1;
	return sum;
}

/* more: of blocks that began later, or, with several tracks, at any time. */
static void add_sums(struct site_sums *to, const struct site_sums *more)
{
	if (more->first_ns < 0)
		return;
	if (to->first_ns < 0 || more->first_ns < to->first_ns)
		to->first_ns = more->first_ns;
	if (more->last_ns >= to->last_ns) {
		to->last_ns = more->last_ns;
		to->track = more->track;
		to->last = more->last;
	}
	to->calls += more->calls;
	to->leaked += more->leaked;
	to->leaked_blocks += more->leaked_blocks;
	to->suppressed += more->suppressed;
}

static int see_all(struct leaks *l)
{
	uint32_t n_sites = l->ask->n_sites;
	unsigned n = heap_block_workers(l->ask, n_sites);
	struct heap_asking ask[HEAP_SCAN_MOST];
	struct leaks part[HEAP_SCAN_MOST];
	void *arg[HEAP_SCAN_MOST];
	int rc;

	for (unsigned i = 0; i < n; i++) {
		ask[i] = *l->ask;
		part[i] = *l;
		part[i].ask = &ask[i];
		part[i].sum = i > 0 ? new_sums(n_sites) : l->sum;
		arg[i] = &part[i];
	}
	rc = heap_each_block_apart(ask, n, see, arg);
	for (unsigned i = 1; i < n; i++) {
		for (uint32_t k = 0; k < n_sites; k++)
			add_sums(&l->sum[k], &part[i].sum[k]);
		free(part[i].sum);
	}
	return rc;
}

int heap_leaks(struct heap_asking *ask)
{
	struct leaks l = { .ask = ask, .peak = ask->f->total[FOOTPRINT_PEAK] };
	struct time_span span = { 0, 1, VERDICT_SLOTS, 0 };
	int rc;

	l.whole_ns = span.to_ns = ask->f->whole_ns < INT64_MAX ? ask->f->whole_ns + 1 : INT64_MAX;
	l.is_suppressed = suppressions_stacks(ask->wish->suppress, ask->f->profile,
					      &ask->f->counts);
	l.sum = new_sums(ask->n_sites);
	l.most = xcalloc(ask->n_sites, sizeof(*l.most));
	rc = see_all(&l);
	if (rc == 0)
		rc = heap_site_peaks(ask, l.most);
	if (rc == 0)
		rc = footprint_lines_new(ask->f, &span, ask->wish->teardown, ask->progress,
					 &l.lines);
	if (rc == 0)
		add_all(&l);
	footprint_lines_free(l.lines);
	free(l.is_suppressed);
	free(l.most);
	free(l.sum);
	return rc;
}
