/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/over_time.h"

#include <stdlib.h>

#include "base/mem.h"
#include "query/activity.h"
#include "query/activity_lanes.h"
#include "query/analysis.h"
#include "query/core/analysis_cache.h"
#include "query/diff/activity_pairs.h"
#include "query/diff/comparison_lines.h"
#include "query/findings/findings.h"
#include "query/heap/footprint_lines.h"
#include "query/heap/heap_table.h"
#include "query/heat_map.h"

bool over_time_same_wish(const struct over_time_wish *a, const struct over_time_wish *b)
{
	return a->kind == b->kind && time_span_same(&a->span, &b->span);
}

bool over_time_possible(const struct analysis *a, enum over_time_kind kind)
{
	switch (kind) {
	case OVER_MEMORY:
		return a->footprint && !lens_compares(&a->lens);
	case OVER_SIDES:
		return a->sides_time != NULL;
	case OVER_THREADS:
		return true;
	case OVER_HEAP:
		return a->footprint && !lens_compares(&a->lens);
	case OVER_TIMELINE:
	case OVER_FINDINGS:
	case OVER_HEAT_MAP:
		return !lens_compares(&a->lens);
	case N_OVER_TIME:
		break;
	}
	return false;
}

static int make_activity(const struct analysis *a, const struct over_time_wish *wish,
			 struct recent_kept *recently, struct progress *progress,
			 struct over_time *o)
{
	const struct analysis_cache cache = { .recent = recently };
	struct lens lens = a->lens; /* what it has is borrowed */
	int rc;

	o->activity = xcalloc(1, sizeof(*o->activity));
	if (wish->kind == OVER_TIMELINE) {
		rc = activity_within(a->profile, &a->counts, &a->lens, &a->weights, &wish->span,
				     progress, o->activity);
		return rc ? rc
			  : activity_lanes_new(a, o->activity, &wish->span, progress, &o->lanes);
	}
	lens.cache = &cache;
	rc = activity_of_threads(a->profile, &a->counts, &lens, &a->weights, wish->span.n, progress,
				 o->activity);
	if (rc == 0 && a->diff)
		activity_pairs_order(o->activity, a->diff);
	return rc;
}

static int make_lines(const struct footprint *f, const struct over_time_wish *wish,
		      struct teardown_cache *cache, struct progress *progress, struct over_time *o)
{
	int rc = footprint_lines_new(f, &wish->span, cache, progress, &o->memory);

	return rc == 0 ? footprint_lines_judge(o->memory, f, cache, progress) : rc;
}

static int make(const struct analysis *a, const struct over_time_wish *wish,
		const struct analysis_cache *cache, struct progress *progress, struct over_time *o)
{
	struct heap_table_wish table = { 0 };

	switch (wish->kind) {
	case OVER_MEMORY:
		return make_lines(a->footprint, wish, cache ? cache->teardown : NULL, progress, o);
	case OVER_SIDES:
		return comparison_lines_new(a->sides_time, &wish->span, progress, &o->sides);
	case OVER_THREADS:
	case OVER_TIMELINE:
		return make_activity(a, wish, cache ? cache->recent : NULL, progress, o);
	case OVER_FINDINGS:
		return findings_new(a, a->lens.suppress, progress, &o->findings);
	case OVER_HEAP:
		table.suppress = a->lens.suppress;
		table.teardown = cache ? cache->teardown : NULL;
		return heap_table_new_as(a->footprint, (enum heap_question)wish->span.from_ns,
					 &table, progress, &o->heap);
	case OVER_HEAT_MAP:
		return heat_map_new(a, &wish->span, progress, &o->heat_map);
	case N_OVER_TIME:
		break;
	}
	abort();
}

int over_time_new(const struct analysis *a, const struct over_time_wish *wish,
		  const struct analysis_cache *cache, struct progress *progress,
		  struct over_time **out)
{
	struct over_time *o = xcalloc(1, sizeof(*o));
	int rc;

	o->wish = *wish;
	rc = make(a, wish, cache, progress, o);
	if (rc < 0) {
		over_time_free(o);
		return rc;
	}
	*out = o;
	return 0;
}

void over_time_free(struct over_time *o)
{
	if (!o)
		return;
	footprint_lines_free(o->memory);
	comparison_lines_free(o->sides);
	if (o->activity)
		activity_done(o->activity);
	free(o->activity);
	activity_lanes_free(o->lanes);
	findings_free(o->findings);
	heap_table_free(o->heap);
	heat_map_free(o->heat_map);
	free(o);
}
