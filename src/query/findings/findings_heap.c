/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What grows, churns, is a cache, or leaves memory resident that nobody uses. */
#include "config.h"

#include "query/findings/findings.h"

#include "base/fmt.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/findings/findings_rules.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_lines.h"
#include "query/heap/heap_table.h"
#include "query/heap/resident.h"

#include <stdlib.h>
#include <string.h>

/* A leak matters from this part of the peak on, a cache from that; and neither below so many bytes. */
#define LEAK_PART   100
#define CACHE_PART  10
#define CACHE_TURNS 3
#define LEAST_BYTES 65536

/* Churn: so many calls at least, half of the site's temporary, and a fifth of all calls; parts are 1/10,000. */
#define CHURN_CALLS 10000
#define CHURN_SITE  5000
#define CHURN_ALL   2000

/*
 * What stays resident beyond live: a third of the peak, when half of it or less is in use. Code, stacks and the recorder take
 * some megabytes in any program.
 */
#define KEPT_PART  3
#define KEPT_BYTES (4 << 20)
#define KEPT_BASE  (8 << 20)

/* After its last event a program that goes on for so long sleeps, and does not end. */
#define ASLEEP_NS 500000000

/* Slots in which memory is looked at. */
#define SLOTS 160u

/* Columns of the tables, see heap_table.c. */
enum { GROWTH, GROWTH_ERROR, AT_END, LEAKED, LEAKED_BLOCKS, HIGHEST };
enum { TEMPORARY, TEMPORARY_SHARE, WITHIN_1_MS, CALLS, SHARE_OF_ALL, BYTES };

struct heap_case {
	const struct footprint *f;
	struct progress *progress;
	struct findings *out;
};

/* "cache_insert() (cache.cc:88)"; the caller frees. */
static char *place_of(const struct heap_case *c, uint32_t key, uint32_t file, uint32_t line)
{
	const char *path = profile_string(c->f->profile, (string_id){ file }, NULL);
	const char *slash = strrchr(path, '/'), *label = c->f->keys.key[key].label;

	return line ? xasprintf("%s (%s:%u)", label, slash ? slash + 1 : path, line)
		    : xstrdup(label);
}

static void add(struct heap_case *c, const char *rule, const char *view, double share, uint32_t key,
		char *sentence)
{
	struct finding *f = findings_add(c->out, rule, view, share < 1 ? share : 1, sentence);

	f->key_id = c->f->keys.key[key].id;
}

static void say_leak(struct heap_case *c, const struct heap_table_row *r, int64_t peak)
{
	char rate[FMT_SIZE], error[FMT_SIZE], left[FMT_SIZE], n[FMT_COUNTED_SIZE];
	char *place = place_of(c, r->key, r->file, r->line);

	add(c, "leak", "leaks", (double)r->cell[LEAKED] / (double)peak, r->key,
	    xasprintf("%s grows by %s an hour (± %s), and %s of %s were never freed.", place,
		      fmt_bytes(rate, r->cell[GROWTH]), fmt_bytes(error, r->cell[GROWTH_ERROR]),
		      fmt_counted(n, r->cell[LEAKED_BLOCKS], "block"),
		      fmt_bytes(left, r->cell[LEAKED])));
	free(place);
}

static void say_cache(struct heap_case *c, const struct heap_table_row *r, int64_t peak)
{
	char most[FMT_SIZE];
	char *place = place_of(c, r->key, r->file, r->line);

	add(c, "cache", "leaks", (double)r->cell[HIGHEST] / (double)peak, r->key,
	    xasprintf("%s holds up to %s and stays there, as a cache does: %s.", place,
		      fmt_bytes(most, r->cell[HIGHEST]), r->remark ? r->remark : "bounded"));
	free(place);
}

/* Do blocks come and go all the time, so that it allocates several times what it holds? */
static bool turns_over(const struct heap_case *c, const struct heap_table_row *r)
{
	for (uint32_t i = 0; i < c->f->n_sites; i++) {
		const struct footprint_site *s = &c->f->site[i];

		if (s->key == r->key && s->line == r->line && s->file == r->file)
			return s->sum[FOOTPRINT_BYTES] / CACHE_TURNS >= r->cell[HIGHEST];
	}
	return false;
}

static int find_growth(struct heap_case *c)
{
	int64_t peak = c->f->total[FOOTPRINT_PEAK];
	struct heap_table *t;
	int rc = heap_table_new(c->f, HEAP_LEAKS, NULL, c->progress, &t);

	for (size_t i = 0; rc == 0 && i < t->rows.n; i++) {
		const struct heap_table_row *r = &t->rows.at[i];

		if (r->key == KEY_NONE)
			continue;
		if (r->cell[GROWTH] != CELL_NONE && r->cell[LEAKED] >= LEAST_BYTES &&
		    r->cell[LEAKED] >= peak / LEAK_PART)
			say_leak(c, r, peak);
		else if (r->label && strcmp(r->label, "bounded") == 0 &&
			 r->cell[HIGHEST] >= LEAST_BYTES && r->cell[HIGHEST] >= peak / CACHE_PART &&
			 turns_over(c, r))
			say_cache(c, r, peak);
	}
	if (rc == 0)
		heap_table_free(t);
	return rc;
}

static int find_churn(struct heap_case *c)
{
	char part[FMT_SIZE], n[FMT_COUNTED_SIZE], all[FMT_SIZE];
	struct heap_table *t;
	int rc = heap_table_new(c->f, HEAP_TEMPORARIES, NULL, c->progress, &t);

	for (size_t i = 0; rc == 0 && i < t->rows.n; i++) {
		const struct heap_table_row *r = &t->rows.at[i];
		char *place;

		if (r->key == KEY_NONE || r->cell[CALLS] < CHURN_CALLS ||
		    r->cell[TEMPORARY_SHARE] < CHURN_SITE || r->cell[SHARE_OF_ALL] < CHURN_ALL)
			continue;
		place = place_of(c, r->key, r->file, r->line);
		add(c, "churn", "temporaries", (double)r->cell[SHARE_OF_ALL] / 10000, r->key,
		    xasprintf(
			    "%s %% of %s of %s are freed at once; the site makes %s %% of all calls.",
			    fmt_percent(part, r->cell[TEMPORARY_SHARE], 10000),
			    fmt_counted(n, r->cell[CALLS], "allocation"), place,
			    fmt_percent(all, r->cell[SHARE_OF_ALL], 10000)));
		free(place);
	}
	if (rc == 0)
		heap_table_free(t);
	return rc;
}

/* Where most stays resident beyond what is in use. */
struct kept {
	uint32_t slot;  /* of the lines */
	int64_t beyond; /* bytes; 0: nowhere much */
	int64_t live;
};

static void look_at_readings(const struct heap_case *c, const struct footprint_lines *l,
			     struct kept *out)
{
	const struct heap_reading *reading = profile_heap_readings(c->f->profile);
	int64_t peak = c->f->total[FOOTPRINT_PEAK], at;
	struct heap_columns columns;

	profile_heap_of(c->f->profile, &c->f->counts, &columns);
	for (uint32_t i = 0; i < columns.n_readings; i++) {
		uint32_t slot;
		int64_t live;

		if (!resident_reading(c->f->profile, &reading[i], &at) || at <= c->f->peak.time_ns)
			continue;
		slot = (uint32_t)((double)at / (double)l->to_ns * l->span.n);
		/* What a program frees at its end goes with it; but one may also sleep after its last event. */
		if (slot >= l->teardown && at < l->to_ns + ASLEEP_NS)
			continue;
		slot = slot < l->span.n ? slot : l->span.n - 1;
		live = at < l->to_ns ? l->slot[slot].most : l->slot[slot].live;
		if (live > peak / 2 || reading[i].value - live <= out->beyond)
			continue;
		*out = (struct kept){ slot, reading[i].value - live, live };
	}
}

/* The site that freed most since the peak and still has blocks among what it freed; NULL: none. */
static const struct footprint_site *who_left(const struct heap_case *c,
					     const struct footprint_lines *l, const struct kept *k)
{
	uint32_t at = (uint32_t)((uint64_t)k->slot * l->n_row_slots / l->span.n);
	const struct footprint_site *best = NULL;
	int64_t most = c->f->total[FOOTPRINT_PEAK] / CACHE_PART;

	for (uint32_t i = 0; i < c->f->n_sites; i++) {
		const struct footprint_site *site = &c->f->site[i];
		const int64_t *line = footprint_row_line(l, site->row);
		int64_t held = site->sum[FOOTPRINT_PEAK];

		if (!line || line[at] <= 0 || line[at] > held / 2 || held - line[at] < most)
			continue;
		most = held - line[at];
		best = site;
	}
	return best;
}

static void say_kept(struct heap_case *c, const struct kept *k, const struct footprint_site *site)
{
	char beyond[FMT_SIZE], live[FMT_SIZE];
	char *place;
	place = place_of(c, site->key, site->file, site->line);
	add(c, "fragmentation", "memory", (double)k->beyond / (double)c->f->total[FOOTPRINT_PEAK],
	    site->key,
	    xasprintf(
		    "%s are resident beyond the %s in use, the recorder's own memory included: %s freed "
		    "most of its blocks, and those left among them keep memory from the system.",
		    fmt_bytes(beyond, k->beyond), fmt_bytes(live, k->live), place));
	free(place);
}

static int find_kept(struct heap_case *c)
{
	struct time_span span = { 0, c->f->whole_ns + 1, SLOTS, 0 };
	int64_t peak = c->f->total[FOOTPRINT_PEAK];
	struct footprint_lines *l;
	struct resident_beyond unused;
	struct kept k = { 0 };
	const struct footprint_site *site;
	int rc;

	if (c->f->whole_ns >= INT64_MAX - 1 || !resident_beyond(c->f, &unused))
		return 0;
	rc = footprint_lines_new(c->f, &span, c->progress, &l);
	if (rc < 0)
		return rc;
	look_at_readings(c, l, &k);
	if (k.beyond - KEPT_BASE >= KEPT_BYTES && k.beyond - KEPT_BASE >= peak / KEPT_PART &&
	    l->n_row_slots > 0) {
		site = who_left(c, l, &k);
		if (site)
			say_kept(c, &k, site);
	}
	footprint_lines_free(l);
	return rc;
}

int find_in_heap(const struct analysis *a, struct progress *progress, struct findings *out)
{
	struct heap_case c = { .progress = progress, .out = out };
	struct footprint *f = NULL;
	struct lens usual;
	struct metric m;
	int rc;

	lens_init(&usual, a->profile);
	m = usual.column[usual.n_columns - 1].metric;
	lens_done(&usual);
	if (a->counts.n_events == 0 || !metric_is_heap(a->profile, m))
		return 0;
	/* That of the screen may be sorted meanwhile. */
	rc = footprint_new(a->profile, &a->counts, &a->lens, m, progress, &f);
	if (rc < 0)
		return rc;
	c.f = f;
	rc = find_growth(&c);
	rc = rc == 0 ? find_churn(&c) : rc;
	rc = rc == 0 ? find_kept(&c) : rc;
	footprint_free(f);
	return rc;
}
