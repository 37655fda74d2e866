/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What holds the peak, grows, is never freed, churns, is a cache, copies as it grows, goes from thread to thread, is rounded up,
 * or is resident and not in use, or the other way round.
 */
#include "config.h"

#include "query/findings/findings.h"

#include "base/fmt.h"
#include "base/path.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/core/filter.h"
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

/*
 * Growth that is freed in the end is no work of a short program. Growth may be small as long as it is a tenth of what all
 * sites leave that come to no level, and a day of it is LEAK_PART of the peak: that of a daemon beside a large cache.
 */
#define LONG_RUN_NS 1000000000

/* Growth of so many bytes is seen in the resident set, too. */
#define RESIDENT_TELLS (4 << 20)
#define GROWTH_PART    10
#define SMALL_BYTES    16384
#define HOURS_A_DAY    24

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

/* A site of a quarter of the peak is named, from so many bytes on. */
#define HOLDER_PART  4
#define HOLDER_BYTES (1 << 20)

/*
 * Blocks of which hardly any is freed, in a program that frees most of what it has: where half of the peak is never freed, it leaves
 * that to its end.
 */
#define UNFREED_BLOCKS 100
#define UNFREED_PART   9000
#define TIDY_PART      2

/* Blocks that grow: so often, and by copies of a tenth of all bytes. */
#define REGROWN_TIMES 8
#define REGROWN_PART  10
#define REGROWN_BYTES (1 << 20)

/* Blocks that other threads free: a fifth of so many. */
#define HANDED_PART   5
#define HANDED_BLOCKS 10000

/* Headers and rounding: a quarter of what was asked for. */
#define WASTE_PART  4
#define WASTE_BYTES (1 << 20)

/* Resident beyond the blocks at the peak: half of all that is, beside the code and stacks of any program. */
#define BEYOND_PART  2
#define BEYOND_BYTES (32 << 20)

/* In use and not resident: a quarter of it. */
#define ABSENT_PART  4
#define ABSENT_BYTES (16 << 20)

/* What C++ libraries call to make a vector larger. */
#define REGROWTH "_M_realloc_(insert|append)|_M_default_append|(push|emplace)_back_slow_path"

/* Columns of the tables, see heap_table.c. */
enum { GROWTH, GROWTH_ERROR, AT_END, LEAKED, LEAKED_BLOCKS, HIGHEST };
enum { TEMPORARY, TEMPORARY_SHARE, WITHIN_1_MS, CALLS, SHARE_OF_ALL, BYTES };
enum { REALLOCS, LONGEST, COPIED, FROM, TO };
enum { BLOCKS, ASKED_FOR, TAKEN, WASTED };

struct heap_case {
	const struct footprint *f;
	const struct suppressions *suppress; /* leaks that are not told of; NULL: none */
	struct progress *progress;
	struct findings *out;
};

/* "cache_insert() (cache.cc:88)"; the caller frees. */
static char *place_of(const struct heap_case *c, uint32_t key, uint32_t file, uint32_t line)
{
	const char *path = profile_string(c->f->profile, (string_id){ file }, NULL);
	const char *label = c->f->keys.key[key].label;

	return line ? xasprintf("%s (%s:%u)", label, path_last_part(path), line) : xstrdup(label);
}

/* key KEY_NONE: it is of no site. Borrowed until the next. */
static struct finding *add(struct heap_case *c, const char *rule, const char *view, double share,
			   uint32_t key, char *sentence)
{
	struct finding *f = findings_add(c->out, rule, view, share < 1 ? share : 1, sentence);

	if (key != KEY_NONE)
		f->key_id = c->f->keys.key[key].id;
	return f;
}

/* Does a finding name the function already? */
static bool is_named(const struct heap_case *c, uint32_t key)
{
	for (size_t i = 0; i < c->out->list.n; i++)
		if (c->out->list.at[i].key_id == c->f->keys.key[key].id)
			return true;
	return false;
}

/* Is a site's name one of a place, not of what a file does not say? */
static bool is_place(const struct heap_case *c, uint32_t key)
{
	const char *label = c->f->keys.key[key].label;

	return strcmp(label, "[unknown]") != 0 &&
	       !(label[0] == '[' && c->f->manner.lacks & HEAP_LACKS_CALLS);
}

static const struct footprint_site *site_of(const struct heap_case *c,
					    const struct heap_table_row *r)
{
	for (uint32_t i = 0; i < c->f->n_sites; i++) {
		const struct footprint_site *s = &c->f->site[i];

		if (s->key == r->key && s->line == r->line && s->file == r->file)
			return s;
	}
	return NULL;
}

/* What stands before estimates. */
static const char *about(const struct heap_case *c)
{
	return c->f->manner.sampled ? "~" : "";
}

/* What a site that grows has before the final frees, or after them: the more of both. */
static int64_t grown_to(const struct heap_table_row *r)
{
	return r->cell[LEAKED] > r->cell[AT_END] ? r->cell[LEAKED] : r->cell[AT_END];
}

/*
 * In a program that had run before the recording, a site that replaces blocks from then seems to grow. If it grew, so would the
 * resident set, as far as that tells.
 */
static bool only_replaces(const struct heap_case *c, const struct heap_table_row *r)
{
	int64_t bytes = grown_to(r);

	return c->f->manner.attached && bytes >= RESIDENT_TELLS &&
	       resident_growth(c->f) < bytes / 2;
}

/* What all sites have in the end that come to no level. */
static double all_left(const struct heap_case *c, const struct heap_table *t)
{
	double left = 0;

	for (size_t i = 0; i < t->rows.n; i++) {
		const struct heap_table_row *r = &t->rows.at[i];

		if ((r->verdict == VERDICT_STEADY && !only_replaces(c, r)) ||
		    r->verdict == VERDICT_AT_END || r->verdict == VERDICT_OTHER)
			left += (double)grown_to(r);
	}
	return left;
}

/* Does a site grow so much that it is worth a sentence? left: see all_left(). */
static bool grows_much(const struct heap_case *c, const struct heap_table_row *r, double left)
{
	int64_t peak = c->f->total[FOOTPRINT_PEAK];
	int64_t bytes = c->f->whole_ns >= LONG_RUN_NS ? grown_to(r) : r->cell[LEAKED];
	double rate = (double)r->cell[GROWTH];

	if (r->verdict != VERDICT_STEADY || only_replaces(c, r))
		return false;
	if (bytes >= LEAST_BYTES && bytes >= peak / LEAK_PART)
		return true;
	return bytes >= SMALL_BYTES && (double)bytes >= left / GROWTH_PART &&
	       rate * HOURS_A_DAY >= (double)peak / LEAK_PART;
}

static void say_leak(struct heap_case *c, const struct heap_table_row *r, int64_t peak)
{
	char rate[FMT_SIZE], error[FMT_SIZE], left[FMT_SIZE], n[FMT_COUNTED_SIZE];
	char *place = place_of(c, r->key, r->file, r->line), *end;
	const char *kept = c->f->manner.lives_on || c->f->manner.goes_on
				   ? "are still in use at the end"
				   : "were never freed";

	if (r->cell[LEAKED] < grown_to(r) / 2)
		end = xasprintf("until the end, where the teardown frees %s%s", about(c),
				fmt_bytes(left, r->cell[AT_END]));
	else if (r->cell[LEAKED_BLOCKS] == CELL_NONE)
		end = xasprintf(", and %s%s %s", about(c), fmt_bytes(left, r->cell[LEAKED]), kept);
	else
		end = xasprintf(", and %s%s of %s%s %s", about(c),
				fmt_counted(n, r->cell[LEAKED_BLOCKS], "block"), about(c),
				fmt_bytes(left, r->cell[LEAKED]), kept);
	add(c, "leak", "leaks", (double)grown_to(r) / (double)peak, r->key,
	    xasprintf("%s grows by %s%s an hour (± %s)%s%s.", place, about(c),
		      fmt_bytes(rate, r->cell[GROWTH]), fmt_bytes(error, r->cell[GROWTH_ERROR]),
		      *end == ',' ? "" : " ", end));
	free(end);
	free(place);
}

static void say_cache(struct heap_case *c, const struct heap_table_row *r, int64_t peak)
{
	char most[FMT_SIZE];
	char *place = place_of(c, r->key, r->file, r->line);

	add(c, "cache", "leaks", (double)r->cell[HIGHEST] / (double)peak, r->key,
	    xasprintf("%s holds up to %s%s and stays there, as a cache or a working set does: %s.",
		      place, about(c), fmt_bytes(most, r->cell[HIGHEST]),
		      r->remark ? r->remark : "bounded"));
	free(place);
}

/* Do blocks come and go all the time, so that it allocates several times what it holds? */
static bool turns_over(const struct heap_case *c, const struct heap_table_row *r)
{
	const struct footprint_site *s = site_of(c, r);

	return s && s->sum[FOOTPRINT_BYTES] / CACHE_TURNS >= r->cell[HIGHEST];
}

/* Is hardly a block of it freed, by a program that frees most of the others? */
static bool is_unfreed(const struct heap_case *c, const struct heap_table_row *r)
{
	const struct footprint_site *s = site_of(c, r);
	int64_t peak = c->f->total[FOOTPRINT_PEAK];

	return s && !c->f->manner.lives_on && !c->f->manner.goes_on &&
	       r->verdict != VERDICT_STARTUP && r->verdict != VERDICT_BOUNDED &&
	       r->cell[LEAKED] >= LEAST_BYTES && r->cell[LEAKED] >= peak / LEAK_PART &&
	       r->cell[LEAKED_BLOCKS] >= UNFREED_BLOCKS &&
	       c->f->total[FOOTPRINT_LEAKED] < peak / TIDY_PART &&
	       (double)r->cell[LEAKED_BLOCKS] * (double)c->f->scale[FOOTPRINT_CALLS] >=
		       (double)s->sum[FOOTPRINT_CALLS] * UNFREED_PART / 10000;
}

static void say_unfreed(struct heap_case *c, const struct heap_table_row *r, int64_t peak)
{
	char left[FMT_SIZE], n[FMT_COUNTED_SIZE];
	char *place = place_of(c, r->key, r->file, r->line);

	add(c, "unfreed", "leaks", (double)r->cell[LEAKED] / (double)peak, r->key,
	    xasprintf("Hardly anything frees what %s allocates: %s%s of %s%s are left at the end.",
		      place, about(c), fmt_counted(n, r->cell[LEAKED_BLOCKS], "block"), about(c),
		      fmt_bytes(left, r->cell[LEAKED])));
	free(place);
}

static int find_growth(struct heap_case *c)
{
	int64_t peak = c->f->total[FOOTPRINT_PEAK];
	struct heap_table *t;
	double left;
	int rc = heap_table_new(c->f, HEAP_LEAKS, c->suppress, c->progress, &t);

	left = rc == 0 ? all_left(c, t) : 0;
	for (size_t i = 0; rc == 0 && i < t->rows.n; i++) {
		const struct heap_table_row *r = &t->rows.at[i];

		if (r->key == KEY_NONE || !is_place(c, r->key))
			continue;
		if (grows_much(c, r, left))
			say_leak(c, r, peak);
		else if (r->verdict == VERDICT_BOUNDED && r->cell[HIGHEST] >= LEAST_BYTES &&
			 r->cell[HIGHEST] >= peak / CACHE_PART && turns_over(c, r))
			say_cache(c, r, peak);
		else if (is_unfreed(c, r))
			say_unfreed(c, r, peak);
	}
	if (rc == 0)
		heap_table_free(t);
	return rc;
}

/* Half of all calls are temporary, and no site makes so many of them that it is named. */
static void say_temporary(struct heap_case *c, const struct heap_table_row *most)
{
	const struct footprint *f = c->f;
	char part[FMT_SIZE], n[FMT_COUNTED_SIZE], of[FMT_SIZE];
	int64_t temporary = f->total[FOOTPRINT_TEMPORARY] / f->scale[FOOTPRINT_TEMPORARY];
	int64_t calls = footprint_calls(f);
	char *place;

	if (!footprint_knows(f, FOOTPRINT_TEMPORARY) || most->key == KEY_NONE ||
	    calls < CHURN_CALLS || temporary < calls / 2)
		return;
	place = place_of(c, most->key, most->file, most->line);
	add(c, "temporaries", "temporaries", (double)temporary / (double)calls, most->key,
	    xasprintf("%s %% of %s%s are temporary: the next heap call of their thread frees them. "
		      "Most of them, %s%s, are of %s.",
		      fmt_percent(part, temporary, calls), about(c),
		      fmt_counted(n, calls, "allocation"), about(c),
		      fmt_count(of, most->cell[TEMPORARY]), place));
	free(place);
}

static int find_churn(struct heap_case *c)
{
	char part[FMT_SIZE], n[FMT_COUNTED_SIZE], all[FMT_SIZE];
	size_t before = c->out->list.n;
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
			    "%s %% of %s%s of %s are freed at once; the site makes %s %% of all calls.",
			    fmt_percent(part, r->cell[TEMPORARY_SHARE], 10000), about(c),
			    fmt_counted(n, r->cell[CALLS], "allocation"), place,
			    fmt_percent(all, r->cell[SHARE_OF_ALL], 10000)));
		free(place);
	}
	if (rc == 0 && c->out->list.n == before && t->rows.n > 0)
		say_temporary(c, &t->rows.at[0]);
	if (rc == 0)
		heap_table_free(t);
	return rc;
}

static void say_absent(struct heap_case *c, const struct resident_absent *a)
{
	char bytes[FMT_SIZE], live[FMT_SIZE], at[FMT_SIZE];

	if (a->bytes < ABSENT_BYTES || a->bytes < a->live / ABSENT_PART)
		return;
	add(c, "absent", "waste", (double)a->bytes / (double)c->f->total[FOOTPRINT_PEAK], KEY_NONE,
	    xasprintf("At %s, at least %s%s of the %s%s in use were not resident: the program has "
		      "not touched them yet, or they were swapped out.",
		      fmt_ns(at, a->at_ns), about(c), fmt_bytes(bytes, a->bytes), about(c),
		      fmt_bytes(live, a->live)));
}

/* The resident set at its highest, beside the peak. */
static void say_beyond(struct heap_case *c, const struct resident_beyond *b)
{
	char rss[FMT_SIZE], beyond[FMT_SIZE], peak[FMT_SIZE];
	int64_t live = c->f->total[FOOTPRINT_PEAK], all = b->peak + live;

	if (b->peak < BEYOND_BYTES || b->peak < all / BEYOND_PART)
		return;
	add(c, "beyond", "memory", (double)b->peak / (double)all, KEY_NONE,
	    xasprintf(
		    "Up to %s were resident, %s%s more than the %s%s of the peak: code, stacks, "
		    "memory that no recorded call asked for, and what malloc keeps of freed blocks.",
		    fmt_bytes(rss, all), about(c), fmt_bytes(beyond, b->peak), about(c),
		    fmt_bytes(peak, live)));
}

/* The site that freed most since the peak and still has blocks among what it freed; NULL: none. */
static const struct footprint_site *who_left(const struct heap_case *c,
					     const struct footprint_lines *l,
					     const struct resident_kept *k)
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

static void say_kept(struct heap_case *c, const struct resident_kept *k,
		     const struct footprint_site *site)
{
	char beyond[FMT_SIZE], live[FMT_SIZE], at[FMT_SIZE];
	char *place = place_of(c, site->key, site->file, site->line);

	add(c, "fragmentation", "waste", (double)k->beyond / (double)c->f->total[FOOTPRINT_PEAK],
	    site->key,
	    xasprintf(
		    "%s%s are resident beyond the %s%s in use at %s, the recorder's own memory included: %s "
		    "freed most of its blocks, and those left among them keep memory from the system.",
		    about(c), fmt_bytes(beyond, k->beyond), about(c), fmt_bytes(live, k->live),
		    fmt_ns(at, k->at_ns), place));
	free(place);
}

static int find_kept(struct heap_case *c)
{
	struct time_span span = { 0, c->f->whole_ns + 1, RESIDENT_SLOTS, 0 };
	int64_t peak = c->f->total[FOOTPRINT_PEAK];
	const struct footprint_site *site = NULL;
	struct resident_beyond beyond;
	struct resident_absent absent;
	struct footprint_lines *l;
	struct resident_kept k;
	int rc;

	if (c->f->whole_ns >= INT64_MAX - 1 || !resident_beyond(c->f, &beyond))
		return 0;
	rc = footprint_lines_new(c->f, &span, NULL, c->progress, &l);
	if (rc < 0)
		return rc;
	resident_kept(c->f, l, &k);
	if (k.beyond - KEPT_BASE >= KEPT_BYTES && k.beyond - KEPT_BASE >= peak / KEPT_PART &&
	    l->n_row_slots > 0) {
		site = who_left(c, l, &k);
		if (site)
			say_kept(c, &k, site);
	}
	if (!site)
		say_beyond(c, &beyond);
	resident_absent(c->f, l, &absent);
	say_absent(c, &absent);
	footprint_lines_free(l);
	return rc;
}

static void say_holder(struct heap_case *c, const struct footprint_site *s)
{
	const struct footprint *f = c->f;
	int64_t held = s->sum[FOOTPRINT_PEAK], peak = f->total[FOOTPRINT_PEAK];
	char a[FMT_SIZE], b[FMT_SIZE], part[FMT_SIZE];
	bool stays = footprint_knows(f, FOOTPRINT_LEAKED) &&
		     s->sum[FOOTPRINT_LEAKED] >= held - held / 10;
	char *place = place_of(c, s->key, s->file, s->line);
	struct finding *one;

	one = add(c, "peak", "memory", (double)held / (double)peak, s->key,
		  xasprintf("%s holds %s%s of the %s%s in use at %s (%s %%)%s.", place, about(c),
			    fmt_bytes(a, held), about(c), fmt_bytes(b, peak),
			    f->peak.n > 1 ? "the peaks of its processes" : "the peak",
			    fmt_percent(part, held, peak),
			    !stays               ? ""
			    : f->manner.lives_on ? ", and still has it at the end"
						 : ", which nothing frees"));
	one->has_metric = true;
	one->metric = f->lens.column[0].metric;
	one->metric.measure = MEASURE_PEAK;
	free(place);
}

/* Who holds most at the peak, unless something worse was said of it. */
static int find_holders(struct heap_case *c)
{
	for (uint32_t i = 0; i < c->f->n_sites; i++) {
		const struct footprint_site *s = &c->f->site[i];
		int64_t held = s->sum[FOOTPRINT_PEAK];

		if (held >= HOLDER_BYTES && held >= c->f->total[FOOTPRINT_PEAK] / HOLDER_PART &&
		    is_place(c, s->key) && !is_named(c, s->key))
			say_holder(c, s);
	}
	return 0;
}

static int find_reallocs(struct heap_case *c)
{
	int64_t all = c->f->total[FOOTPRINT_BYTES];
	char n[FMT_SIZE], from[FMT_SIZE], to[FMT_SIZE], copied[FMT_SIZE];
	struct heap_table *t;
	int rc = heap_table_new(c->f, HEAP_REALLOCS, NULL, c->progress, &t);

	for (size_t i = 0; rc == 0 && i < t->rows.n; i++) {
		const struct heap_table_row *r = &t->rows.at[i];
		char *place;

		if (r->key == KEY_NONE || r->cell[LONGEST] < REGROWN_TIMES ||
		    r->cell[COPIED] < REGROWN_BYTES || r->cell[COPIED] < all / REGROWN_PART)
			continue;
		place = place_of(c, r->key, r->file, r->line);
		add(c, "realloc", "reallocs", (double)r->cell[COPIED] / (double)all, r->key,
		    xasprintf(
			    "%s grows a block by realloc up to %s times, from %s to %s. Its reallocs "
			    "copy up to %s%s, which a larger size at once would save.",
			    place, fmt_count(n, r->cell[LONGEST]), fmt_bytes(from, r->cell[FROM]),
			    fmt_bytes(to, r->cell[TO]), about(c),
			    fmt_bytes(copied, r->cell[COPIED])));
		free(place);
	}
	if (rc == 0)
		heap_table_free(t);
	return rc;
}

static void say_regrown(struct heap_case *c, const struct footprint *of,
			const struct footprint_site *s)
{
	int64_t bytes = s->sum[FOOTPRINT_BYTES], all = c->f->total[FOOTPRINT_BYTES];
	char n[FMT_COUNTED_SIZE], a[FMT_SIZE], b[FMT_SIZE], part[FMT_SIZE];
	const struct heap_case other = { .f = of };
	char *place = place_of(&other, s->key, s->file, s->line);
	struct finding *one;

	one = findings_add(
		c->out, "regrowth", "memory", (double)bytes / (double)all,
		xasprintf(
			"%s makes room in vectors %s%s, by %s%s of the %s%s ever allocated (%s %%): "
			"reserve() saves that of vectors that grow again and again.",
			place, about(c),
			fmt_counted(n, s->sum[FOOTPRINT_CALLS] / of->scale[FOOTPRINT_CALLS],
				    "time"),
			about(c), fmt_bytes(a, bytes), about(c), fmt_bytes(b, all),
			fmt_percent(part, bytes, all)));
	one->key_id = of->keys.key[s->key].id;
	free(one->filter);
	one->filter = xstrdup("fn:" REGROWTH);
	one->has_metric = true;
	one->metric = of->lens.column[0].metric;
	one->metric.measure = MEASURE_WEIGHT;
	free(place);
}

static bool has_vectors(const struct footprint *f)
{
	for (uint32_t i = 0; i < f->keys.n; i++)
		if (strstr(f->keys.key[i].label, "_M_realloc_") ||
		    strstr(f->keys.key[i].label, "_M_default_append") ||
		    strstr(f->keys.key[i].label, "_back_slow_path"))
			return true;
	return false;
}

/*
 * Did the vectors of a site have an earlier block that the next one replaced? Not where nearly all that they ever had is in
 * use at the peak: those got their room once. One that doubles has three quarters of it there at the most.
 */
static bool has_replaced(const struct footprint_site *s)
{
	return s->sum[FOOTPRINT_PEAK] <= s->sum[FOOTPRINT_BYTES] / 10 * 9;
}

/* Vectors of C++ do not grow by realloc: a new block, a copy, a free. */
static int find_regrowth(struct heap_case *c, const struct analysis *a)
{
	int64_t all = c->f->total[FOOTPRINT_BYTES];
	struct footprint *of = NULL;
	struct lens lens;
	int rc;

	if (!has_vectors(c->f) || !footprint_knows(c->f, FOOTPRINT_BYTES))
		return 0;
	lens_copy(&lens, &a->lens);
	rc = lens.filter ? 0 : filter_parse("", &lens.filter, NULL);
	rc = rc == 0 ? filter_add(lens.filter, "fn:" REGROWTH, NULL) : rc;
	rc = rc == 0 ? footprint_new(a->profile, &a->counts, &lens, c->f->lens.column[0].metric,
				     c->progress, &of)
		     : rc;
	for (uint32_t i = 0; rc == 0 && i < of->n_sites; i++) {
		const struct footprint_site *s = &of->site[i];
		int64_t calls = s->sum[FOOTPRINT_CALLS] / of->scale[FOOTPRINT_CALLS];

		if (calls >= REGROWN_TIMES && s->sum[FOOTPRINT_BYTES] >= REGROWN_BYTES &&
		    s->sum[FOOTPRINT_BYTES] >= all / REGROWN_PART && has_replaced(s))
			say_regrown(c, of, s);
	}
	footprint_free(of);
	lens_done(&lens);
	return rc;
}

static int find_handoffs(struct heap_case *c)
{
	char part[FMT_SIZE], n[FMT_COUNTED_SIZE];
	struct heap_table *t;
	int rc = heap_table_new(c->f, HEAP_HANDOFFS, NULL, c->progress, &t);

	if (rc < 0)
		return rc;
	if (t->whole >= HANDED_BLOCKS && t->part >= t->whole / HANDED_PART) {
		add(c, "handoff", "handoffs", (double)t->part / (double)t->whole, KEY_NONE,
		    xasprintf(
			    "%s %% of %s%s were freed by another thread than the one that allocated "
			    "them%s%s.",
			    fmt_percent(part, t->part, t->whole), about(c),
			    fmt_counted(n, t->whole, "block"), t->busiest ? ", most of them " : "",
			    t->busiest ? t->busiest : ""));
	}
	heap_table_free(t);
	return 0;
}

static int find_waste(struct heap_case *c)
{
	char more[FMT_SIZE], asked[FMT_SIZE], part[FMT_SIZE], of[FMT_SIZE];
	const struct heap_table_row *most = NULL;
	struct heap_table *t;
	int rc = heap_table_new(c->f, HEAP_WASTE, NULL, c->progress, &t);

	for (size_t i = 0; rc == 0 && i < t->rows.n; i++)
		if (!most || t->rows.at[i].cell[WASTED] > most->cell[WASTED])
			most = &t->rows.at[i];
	if (rc == 0 && most && t->part >= WASTE_BYTES && t->part >= t->whole / WASTE_PART)
		add(c, "waste", "waste", (double)t->part / (double)(t->whole + t->part), KEY_NONE,
		    xasprintf(
			    "Headers and rounding of malloc take %s%s beside the %s%s asked for at the "
			    "peak (%s %%), %s of it for blocks of %s.",
			    about(c), fmt_bytes(more, t->part), about(c),
			    fmt_bytes(asked, t->whole), fmt_percent(part, t->part, t->whole),
			    fmt_bytes(of, most->cell[WASTED]), most->label));
	if (rc == 0)
		heap_table_free(t);
	return rc;
}

int find_in_heap(const struct analysis *a, const struct suppressions *suppress,
		 struct progress *progress, struct findings *out)
{
	struct heap_case c = { .suppress = suppress, .progress = progress, .out = out };
	struct lens by_site = a->lens, usual; /* filters are borrowed */
	struct footprint *f = NULL;
	struct metric m;
	int rc;

	lens_init(&usual, a->profile);
	m = usual.column[usual.n_columns - 1].metric;
	lens_done(&usual);
	if (a->counts.n_events == 0 || !metric_is_heap(a->profile, m))
		return 0;
	/* That of the screen may be sorted meanwhile. */
	by_site.grouping = GROUP_FUNCTION;
	by_site.heap_rows = HEAP_ROWS_GROUPS;
	rc = footprint_new(a->profile, &a->counts, &by_site, m, progress, &f);
	if (rc < 0)
		return rc;
	c.f = f;
	rc = find_growth(&c);
	rc = rc == 0 ? find_churn(&c) : rc;
	rc = rc == 0 ? find_kept(&c) : rc;
	rc = rc == 0 ? find_holders(&c) : rc;
	rc = rc == 0 ? find_reallocs(&c) : rc;
	rc = rc == 0 ? find_regrowth(&c, a) : rc;
	rc = rc == 0 ? find_handoffs(&c) : rc;
	rc = rc == 0 ? find_waste(&c) : rc;
	footprint_free(f);
	return rc;
}
