/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who allocates, with all that is known of it: rows of the footprint, or of sizes. Numbers of a moment (peak, live) are the
 * footprint's, or of the same moments; the rest and the lines over time are of one pass over the blocks.
 */
#include "config.h"

#include "base/fmt.h"
#include "query/core/heap_slots.h"
#include "query/heap/footprint.h"
#include "query/heap/heap_answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines of more rows than that would take more memory than they are worth. */
#define LINES_MOST 20000u

struct allocator {
	double n, bytes, freed, leaked, temporary;
	double live, peak; /* of sizes; of other rows the footprint knows */
	double lived;      /* ns in all, of what was freed */
	bool only_counted; /* there are blocks of which nobody knows how long they lived */
};

struct allocators {
	struct heap_asking *ask;
	bool sizes;
	uint32_t n;
	struct allocator *of; /* [n] by row, or by class of size; owned */
	int64_t *line; /* [n][HEAP_LINE] bytes that come, less those that go; NULL: none; owned */
	struct heap_slots *slots; /* [n_tracks], of HEAP_LINE slots; owned */
	uint32_t *peak, *live;    /* [n_tracks] moments that had happened then, of sizes; owned */
};

static void add_to_line(const struct allocators *a, const struct heap_block_seen *b, uint32_t row)
{
	const struct heap_slots *s = &a->slots[b->track];
	int64_t *line = &a->line[(size_t)row * HEAP_LINE], bytes = llround(b->bytes);
	uint32_t from = heap_slots_of(s, b->begin), to = HEAP_LINE;

	if (b->end != END_NEVER)
		to = heap_slots_of(s, b->end & END_MOMENT);
	/* Stamps of time may be coarser than where slots begin. */
	from = from == SLOT_BEFORE ? 0 : from;
	to = to == SLOT_BEFORE ? 0 : to;
	if (from == to || from >= HEAP_LINE)
		return;
	line[from] += bytes;
	if (to < HEAP_LINE)
		line[to] -= bytes;
}

static bool was_there(const struct heap_block_seen *b, uint32_t at)
{
	return b->row != ID_NONE && b->begin < at &&
	       (b->end == END_NEVER || (b->end & END_MOMENT) >= at);
}

static void see(void *arg, const struct heap_block_seen *b)
{
	struct allocators *a = arg;
	uint32_t row = a->sizes ? heap_size_class(b->size) : b->site;
	struct allocator *to;
	int64_t ns;

	if (row == ID_NONE)
		return;
	ns = heap_lifetime(a->ask, b);
	to = &a->of[row];
	to->n += b->n;
	to->bytes += b->bytes;
	to->temporary += b->temporary;
	if (b->end == END_NEVER)
		to->leaked += b->bytes;
	else
		to->freed += b->n;
	if (b->row == ID_NONE)
		to->only_counted = true;
	else if (ns >= 0)
		to->lived += b->n * (double)ns;
	if (a->line && b->row != ID_NONE)
		add_to_line(a, b, row);
	if (!a->sizes)
		return;
	to->peak += was_there(b, a->peak[b->track]) ? b->bytes : 0;
	to->live += was_there(b, a->live[b->track]) ? b->bytes : 0;
}

static void add_allocator(struct allocator *to, const struct allocator *more)
{
	to->n += more->n;
	to->bytes += more->bytes;
	to->freed += more->freed;
	to->leaked += more->leaked;
	to->temporary += more->temporary;
	to->live += more->live;
	to->peak += more->peak;
	to->lived += more->lived;
	to->only_counted |= more->only_counted;
}

static int see_all(struct allocators *a)
{
	size_t n_line = (size_t)a->n * HEAP_LINE;
	unsigned n = heap_block_workers(a->ask, a->line ? (uint32_t)n_line : a->n);
	struct heap_asking ask[HEAP_SCAN_MOST];
	struct allocators part[HEAP_SCAN_MOST];
	void *arg[HEAP_SCAN_MOST];
	int rc;

	for (unsigned i = 0; i < n; i++) {
		ask[i] = *a->ask;
		part[i] = *a;
		part[i].ask = &ask[i];
		if (i > 0) {
			part[i].of = xcalloc(a->n, sizeof(*a->of));
			part[i].line = a->line ? xcalloc(n_line, sizeof(*a->line)) : NULL;
		}
		arg[i] = &part[i];
	}
	rc = heap_each_block_apart(ask, n, see, arg);
	for (unsigned i = 1; i < n; i++) {
		for (uint32_t k = 0; k < a->n; k++)
			add_allocator(&a->of[k], &part[i].of[k]);
		for (size_t k = 0; a->line && k < n_line; k++)
			a->line[k] += part[i].line[k];
		free(part[i].of);
		free(part[i].line);
	}
	return rc;
}

/* Those lives were short, so an average without them would be too long. */
static void say_lifetimes(struct heap_asking *ask, uint32_t lacking)
{
	char n[FMT_COUNTED_SIZE];

	if (ask->f->manner.lacks & (HEAP_LACKS_TIMES | HEAP_LACKS_LIFETIMES))
		heap_note(ask, xstrdup("the file does not say how long each block lived"));
	else if (lacking > 0)
		heap_note(ask, xasprintf("no average lifetime of %s: some of the blocks are known "
					 "as sums alone",
					 fmt_counted(n, lacking, "site")));
}

static int64_t *line_of(const struct allocators *a, uint32_t i)
{
	const int64_t *from = &a->line[(size_t)i * HEAP_LINE];
	int64_t *line = xcalloc(HEAP_LINE, sizeof(*line)), live = 0;

	for (uint32_t k = 0; k < HEAP_LINE; k++)
		line[k] = live += from[k];
	return line;
}

static void add_row(struct allocators *a, uint32_t i)
{
	const struct footprint *f = a->ask->f;
	const struct allocator *of = &a->of[i];
	bool lives = !(f->manner.lacks & (HEAP_LACKS_TIMES | HEAP_LACKS_LIFETIMES));
	struct heap_table_row *row = a->sizes ? heap_add_size(a->ask, i) : heap_add_site(a->ask, i);
	int64_t *cell = row->cell;

	cell[ALLOCATORS_CALLS] = llround(of->n);
	cell[ALLOCATORS_BYTES] = llround(of->bytes);
	cell[ALLOCATORS_MEAN_SIZE] = llround(of->bytes / of->n);
	if (lives && !of->only_counted && of->freed > 0)
		cell[ALLOCATORS_MEAN_LIFE] = llround(of->lived / of->freed);
	cell[ALLOCATORS_LEAKED] = llround(of->leaked);
	cell[ALLOCATORS_PEAK] = a->sizes ? llround(of->peak) : f->by_row[i].sum[FOOTPRINT_PEAK];
	cell[ALLOCATORS_LIVE] = a->sizes ? llround(of->live) : f->by_row[i].asked;
	if (!(f->manner.lacks & HEAP_LACKS_TEMPORARY))
		cell[ALLOCATORS_TEMPORARY] = llround(of->temporary);
	cell[ALLOCATORS_FREED] = llround(of->freed);
	if (a->line)
		row->line_over_time = line_of(a, i);
}

static int begin(struct allocators *a)
{
	struct heap_asking *ask = a->ask;
	const struct footprint *f = ask->f;
	uint32_t n_tracks = ask->state.columns.n_tracks;
	int64_t *top, whole = f->whole_ns < INT64_MAX ? f->whole_ns + 1 : INT64_MAX;
	int rc = 0;

	a->of = xcalloc(a->n, sizeof(*a->of));
	if (a->n <= LINES_MOST && whole >= HEAP_LINE && !(f->manner.lacks & HEAP_LACKS_TIMES)) {
		a->line = xcalloc((size_t)a->n * HEAP_LINE, sizeof(*a->line));
		a->slots = xcalloc(n_tracks, sizeof(*a->slots));
		for (uint32_t i = 0; i < n_tracks; i++)
			heap_slots_init(&a->slots[i], &ask->state, i, 0, whole, HEAP_LINE);
	}
	if (!a->sizes)
		return 0;
	a->peak = xcalloc(n_tracks, sizeof(*a->peak));
	a->live = xcalloc(n_tracks, sizeof(*a->live));
	top = xcalloc(n_tracks, sizeof(*top));
	rc = heap_peaks(&ask->state, &ask->pass, NULL, ask->progress, a->peak, top);
	for (uint32_t i = 0; i < n_tracks; i++)
		a->live[i] = heap_state_level(&ask->state, i, f->asked_ns);
	free(top);
	return rc;
}

static void end(struct allocators *a)
{
	for (uint32_t i = 0; a->slots && i < a->ask->state.columns.n_tracks; i++)
		heap_slots_done(&a->slots[i]);
	free(a->slots);
	free(a->line);
	free(a->peak);
	free(a->live);
	free(a->of);
}

int heap_allocators(struct heap_asking *ask)
{
	struct allocators a = { .ask = ask };
	uint32_t lacking = 0;
	int rc;

	a.sizes = ask->f->lens.heap_rows == HEAP_ROWS_SIZES;
	a.n = a.sizes ? HEAP_SIZE_CLASSES : ask->n_sites;
	rc = begin(&a);
	rc = rc == 0 ? see_all(&a) : rc;
	for (uint32_t i = 0; i < a.n && rc == 0; i++) {
		if (a.of[i].n <= 0)
			continue;
		add_row(&a, i);
		lacking += a.of[i].only_counted;
	}
	if (rc == 0)
		say_lifetimes(ask, lacking);
	end(&a);
	return rc;
}
