/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One look through a lens: all answers of one set of counts. */
#include "config.h"

#include "query/analysis.h"

#include "base/mem.h"
#include "query/activity.h"
#include "query/core/analysis_cache.h"
#include "query/core/filter.h"
#include "query/core/heap_sums_cache.h"
#include "query/diff/comparison_time.h"
#include "query/diff/diff.h"
#include "query/diff/diff_show.h"
#include "query/diff/normalize_cache.h"
#include "query/heap/footprint_lines.h"
#include "query/live/recent.h"
#include "query/tree/stack_table.h"
#include "query/tree/table_cache.h"
#include "query/tree/transform.h"
#include "query/tree/truncated_totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The table of frames: of the call tree where there is one, else of the trie, of which one may be made later. lens: a's, with what is kept. */
static int table_of_either(struct analysis *a, bool later, const struct lens *lens,
			   struct progress *progress)
{
	int64_t *beyond;
	int rc = truncated_totals_sums(a->profile, &a->counts, lens, &a->keys, &a->weights,
				       progress, &beyond);

	if (rc < 0)
		return rc;
	if (a->tree)
		table_of_frames(a->tree, &a->keys, beyond, &a->table);
	else
		rc = table_of_stacks(a->profile, &a->counts, lens, &a->keys, beyond, &a->weights,
				     later ? &a->groups : NULL, progress, &a->table);
	free(beyond);
	return rc;
}

/* What samples weigh: per stack only where that is needed for the table, or wanted for a tree that is made at once. */
static int weigh_samples(struct analysis *a, unsigned parts, const struct lens *lens,
			 struct progress *progress)
{
	bool of_frames = a->table_keys == &a->keys && parts & ANALYSIS_LATER &&
			 !(parts & ANALYSIS_TREE);

	if (of_frames && lens->cache &&
	    table_cache_may_sum(lens->cache->table, a->profile, &a->counts, lens))
		return aggregate_sums(a->profile, &a->counts, lens, progress, &a->weights);
	if (parts & ANALYSIS_MEMORY)
		return footprint_weigh(a->profile, &a->counts, lens, progress, &a->weights,
				       &a->footprint);
	return aggregate(a->profile, &a->counts, lens, progress, &a->weights);
}

/* The answers that a view may ask for at once, but for parts that nobody wants. */
static int answer(struct analysis *a, unsigned parts, const struct lens *wish,
		  struct progress *progress)
{
	struct lens lens = a->lens; /* filters are borrowed */
	bool of_frames = a->table_keys == &a->keys;
	int rc;

	lens.cache = wish->cache;
	rc = weigh_samples(a, parts, &lens, progress);
	if (rc < 0)
		return rc;
	if (parts & ANALYSIS_TREE || (of_frames && transforms_wanted(a->lens.filter)))
		rc = calltree_build(a->profile, &a->counts, &a->lens, &a->keys, NULL, &a->weights,
				    progress, &a->tree);
	if (rc < 0)
		return rc;
	if (of_frames)
		rc = table_of_either(a, parts & ANALYSIS_LATER, &lens, progress);
	else
		rc = table_of_samples(a->profile, &a->counts, &lens, a->table_keys, progress,
				      &a->table);
	if (rc == 0)
		table_keep_shown(&a->table, &a->lens);
	return rc;
}

static int answer_recent(struct analysis *a, unsigned parts, struct recent_kept *recently,
			 struct progress *progress)
{
	const struct analysis_cache cache = { .recent = recently };
	struct lens lens = a->lens; /* filters are borrowed */
	bool flat = !(parts & ANALYSIS_TREE) && a->table_keys == &a->keys;

	lens.cache = &cache;
	return recent_new(a->profile, &a->counts, &lens, &a->keys, &a->weights,
			  flat ? RECENT_LEAVES : RECENT_ALL, progress, &a->recent);
}

/*
 * By what sides may be made equal. What most functions have is that of the table, unless it is of something else or of what a
 * filter leaves; then of one of its own.
 */
static int find_amounts(struct analysis *a, struct progress *progress)
{
	struct lens lens = a->lens; /* what it has is borrowed */
	struct analysis *all;
	int rc;

	if (!lens.filter && a->table_keys == &a->keys && lens.grouping == GROUP_FUNCTION) {
		rc = normalize_find(a->profile, &a->counts, &lens, &a->weights, progress,
				    &a->amounts);
		if (rc == 0)
			normalize_learn(&a->amounts, a->profile, &lens, &a->weights, &a->table,
					a->tree);
		return rc;
	}
	lens.filter = NULL;
	lens.grouping = GROUP_FUNCTION;
	rc = analysis_new_of(a->profile, &a->counts, &lens, ANALYSIS_TREE, progress, &all);
	if (rc < 0)
		return rc;
	a->amounts = all->amounts;
	all->amounts = (struct normalize){ 0 };
	analysis_free(all);
	return 0;
}

/* The same, unless it is known. */
static int know_amounts(struct analysis *a, struct normalize_cache *learned,
			struct progress *progress)
{
	int rc;

	if (learned && normalize_cache_find(learned, &a->counts, &a->lens, &a->amounts))
		return 0;
	rc = find_amounts(a, progress);
	if (rc == 0 && learned)
		normalize_cache_put(learned, &a->counts, &a->lens, &a->amounts);
	return rc;
}

/* The last step: rows and siblings come by what changed. */
static void compare_sides(struct analysis *a)
{
	a->diff = diff_new(a, a->lens.sides.normalise);
	diff_show(a->diff, a->lens.sides.shown);
}

static void init_keys(struct analysis *a, struct groups *keys, enum grouping grouping)
{
	if (lens_compares(&a->lens))
		groups_init_compared(keys, a->profile, &a->counts, grouping, a->lens.names);
	else
		groups_init_named(keys, a->profile, &a->counts, grouping, a->lens.names);
}

static int make(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, unsigned parts, struct progress *progress,
		struct analysis **out)
{
	struct analysis *a = xcalloc(1, sizeof(*a));
	bool frames = grouping_of_frames(lens->grouping);
	int rc;

	a->profile = p;
	a->counts = *counts;
	profile_hold_also(p, counts);
	lens_copy(&a->lens, lens);
	init_keys(a, &a->keys, frames ? lens->grouping : GROUP_FUNCTION);
	a->table_keys = &a->keys;
	if (!frames) {
		init_keys(a, &a->own_keys, lens->grouping);
		a->table_keys = &a->own_keys;
	}
	/* Sides are compared node by node, too. */
	if (parts & ANALYSIS_LATER && lens_compares(lens))
		parts |= ANALYSIS_TREE;
	/* Lines are those of the tree; what is below a minute knows functions only. */
	if (lens->grouping == GROUP_LINE)
		parts |= ANALYSIS_TREE;
	rc = answer(a, parts, lens, progress);
	if (rc == 0 && lens->grouping != GROUP_LINE)
		rc = answer_recent(a, parts, lens->cache ? lens->cache->recent : NULL, progress);
	if (rc == 0 && lens_compares(lens))
		rc = know_amounts(a, lens->cache ? lens->cache->amounts : NULL, progress);
	if (rc < 0) {
		analysis_free(a);
		return rc;
	}
	if (lens_compares(lens))
		compare_sides(a);
	*out = a;
	return rc;
}

int analysis_new(const struct profile *p, const struct lens *lens, struct progress *progress,
		 struct analysis **out)
{
	return analysis_new_parts(p, lens, ANALYSIS_TREE, progress, out);
}

int analysis_new_parts(const struct profile *p, const struct lens *lens, unsigned parts,
		       struct progress *progress, struct analysis **out)
{
	struct profile_counts counts;
	int rc;

	profile_hold(p, &counts);
	rc = analysis_new_of(p, &counts, lens, parts, progress, out);
	profile_release(p, &counts);
	return rc;
}

int analysis_new_of(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, unsigned parts, struct progress *progress,
		    struct analysis **out)
{
	int rc = make(p, counts, lens, parts, progress, out);

	/* Of another event than the lens', or beside other columns. */
	if (rc == 0 && parts & ANALYSIS_MEMORY)
		analysis_footprint(*out, progress);
	return rc;
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	diff_free(a->diff);
	inverted_free(a->inverted);
	for (int i = 0; i < N_OVER_TIME; i++)
		over_time_free(a->over[i]);
	comparison_time_free(a->sides_time);
	footprint_free(a->footprint);
	recent_free(a->recent);
	table_done(&a->table);
	calltree_free(a->tree);
	free(a->groups);
	weights_done(&a->weights);
	groups_done(&a->keys);
	groups_done(&a->own_keys);
	normalize_done(&a->amounts);
	lens_done(&a->lens);
	profile_release(a->profile, &a->counts);
	free(a);
}

const char *analysis_gave_up(const struct analysis *a)
{
	const char *term = filter_gave_up(a->lens.filter);

	for (uint32_t i = 0; !term && i < a->lens.n_columns; i++)
		term = filter_gave_up(a->lens.column[i].filter);
	return term;
}

/* Callers of a comparison come by what changed. */
static double rank_change(const void *diff, const int64_t *self)
{
	struct noise_delta delta;

	/* An order, no verdict: nobody knows here whose number it is. */
	diff_delta(diff, KEY_NONE, PART_SELF, self, &delta);
	return diff_rank(diff, &delta);
}

/* What was not needed before. */
static void weigh_stacks(struct analysis *a)
{
	struct weights w;

	aggregate(a->profile, &a->counts, &a->lens, NULL, &w);
	a->weights.stack = w.stack;
	a->weights.samples = w.samples;
}

struct calltree *analysis_tree(struct analysis *a)
{
	if (a->tree || !a->groups)
		return a->tree;
	/* Nobody cancels it. */
	if (!a->weights.stack)
		weigh_stacks(a);
	calltree_build(a->profile, &a->counts, &a->lens, &a->keys, a->groups, &a->weights, NULL,
		       &a->tree);
	free(a->groups);
	a->groups = NULL;
	recent_free(a->recent);
	a->recent = NULL;
	answer_recent(a, ANALYSIS_TREE, NULL, NULL);
	return a->tree;
}

struct inverted *analysis_inverted(struct analysis *a)
{
	if (!a->inverted)
		a->inverted = inverted_new(analysis_tree(a), &a->keys, a->diff ? rank_change : NULL,
					   a->diff);
	return a->inverted;
}

struct footprint *analysis_footprint(struct analysis *a, struct progress *progress)
{
	struct metric m = a->lens.column[0].metric;
	uint32_t i = 0;

	if (lens_compares(&a->lens)) {
		if (!a->sides_time && !a->lens.sides.moments &&
		    comparison_time_new(a->profile, &a->counts, &a->lens, &a->weights,
					&a->sides_time) < 0)
			a->sides_time = NULL;
		return NULL;
	}
	if (a->footprint)
		return a->footprint;
	if (!metric_is_heap(a->profile, m) || m.event.v >= a->counts.n_events) {
		while (i < a->counts.n_events &&
		       !profile_event(a->profile, (event_id){ i })->is_heap)
			i++;
		if (i == a->counts.n_events)
			return NULL;
		m = (struct metric){ .event = { i }, .all = lens_sums_heaps(a->profile) };
	}
	if (footprint_new(a->profile, &a->counts, &a->lens, m, progress, &a->footprint) < 0)
		a->footprint = NULL;
	return a->footprint;
}

void analysis_set_over(struct analysis *a, struct over_time *o)
{
	over_time_free(a->over[o->wish.kind]);
	a->over[o->wish.kind] = o;
}

static bool same_filter(const struct filter *a, const struct filter *b)
{
	char *x = a ? filter_text(a) : xstrdup(""), *y = b ? filter_text(b) : xstrdup("");
	bool same = strcmp(x, y) == 0;

	free(x);
	free(y);
	return same;
}

/* The event whose allocations a footprint is of, as far as a lens says so. */
static bool of_event(const struct analysis *a, const struct lens *lens)
{
	struct metric m = lens->column[0].metric;

	return !metric_is_heap(a->profile, m) ||
	       metric_same_event(m, a->footprint->lens.column[0].metric);
}

bool analysis_lines_hold(const struct analysis *a, const struct lens *lens, uint32_t version,
			 const struct time_span *span)
{
	const struct footprint_lines *lines = analysis_lines(a);

	return lines && a->footprint && !lens_compares(lens) && a->counts.version == version &&
	       time_span_same(&lines->span, span) && of_event(a, lens) &&
	       lens->grouping == a->lens.grouping && lens->heap_rows == a->lens.heap_rows &&
	       lens->inlines == a->lens.inlines && same_filter(lens->filter, a->lens.filter);
}

void analysis_keep_lines(struct analysis *to, struct analysis *from)
{
	if (to->over[OVER_MEMORY] || !to->footprint || !from->over[OVER_MEMORY] ||
	    to->profile != from->profile || to->footprint->n_sites != from->footprint->n_sites ||
	    !metric_same_event(to->footprint->lens.column[0].metric,
			       from->footprint->lens.column[0].metric) ||
	    !analysis_lines_hold(from, &to->lens, to->counts.version, &analysis_lines(from)->span))
		return;
	to->over[OVER_MEMORY] = from->over[OVER_MEMORY];
	from->over[OVER_MEMORY] = NULL;
}

struct analysis_cache *analysis_cache_new(void)
{
	struct analysis_cache *c = xcalloc(1, sizeof(*c));

	c->heap = heap_sums_cache_new();
	c->amounts = normalize_cache_new();
	c->recent = recent_kept_new();
	c->table = table_cache_new();
	c->teardown = teardown_cache_new();
	return c;
}

void analysis_cache_free(struct analysis_cache *c)
{
	if (!c)
		return;
	heap_sums_cache_free(c->heap);
	normalize_cache_free(c->amounts);
	recent_kept_free(c->recent);
	table_cache_free(c->table);
	teardown_cache_free(c->teardown);
	free(c);
}
