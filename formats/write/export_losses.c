/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One pass over what is few: modules, locations, events; samples are not looked at. */
#include "config.h"

#include "formats/write/export_losses.h"

#include "base/mem.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/tree/transform.h"

#include <stdlib.h>
#include <string.h>

char *export_holdings(unsigned holds)
{
	static const char *const words[] = {
#define X(id, what) [HOLDS_##id] = (what),
		HOLDINGS(X)
#undef X
	};
	char *all = NULL;

	for (unsigned i = N_HOLDINGS; i-- > 0;) {
		char *longer;

		if (!(holds & 1u << i))
			continue;
		longer = all ? xasprintf("%s%s%s", words[i], strstr(all, " and ") ? ", " : " and ",
					 all)
			     : xstrdup(words[i]);
		free(all);
		all = longer;
	}
	return all;
}

static unsigned has_of_modules(const struct analysis *a)
{
	unsigned has = a->counts.n_modules > 1 ? HOLDS(MODULES) : 0;

	for (uint32_t i = 0; i < a->counts.n_modules; i++)
		if (profile_module(a->profile, (module_id){ i })->build_id.v)
			has |= HOLDS(BUILD_IDS);
	return has;
}

static unsigned has_of_locations(const struct analysis *a)
{
	struct location_columns l;
	unsigned has = 0;

	profile_locations(a->profile, &l);
	for (uint32_t i = 0; i < a->counts.n_locations; i++) {
		const struct frame *run = location_frames(&l, i);

		has |= l.address[i] ? HOLDS(ADDRESSES) : 0;
		if (!run)
			continue;
		has |= run->n_more > 0 && a->lens.inlines ? HOLDS(INLINED) : 0;
		has |= run->line > 0 ? HOLDS(LINES) : 0;
	}
	return has;
}

static unsigned has_of_events(const struct analysis *a)
{
	struct heap_columns heap;
	unsigned has = HOLDS(STACKS);

	profile_heap_of(a->profile, &a->counts, &heap);
	for (uint32_t i = 0; i < a->counts.n_events; i++) {
		const struct event *e = profile_event(a->profile, (event_id){ (uint16_t)i });

		if (!e->is_heap && !e->is_counted && !e->is_summed)
			has |= HOLDS(SAMPLES);
	}
	return heap.n_allocations > 0 ? has | HOLDS(BLOCKS) : has;
}

static unsigned has_of_samples(const struct analysis *a)
{
	struct sample_columns rows;
	unsigned has = 0;

	profile_samples_of(a->profile, &a->counts, &rows);
	has |= rows.time_ns ? HOLDS(TIMES) : 0;
	has |= rows.cpu ? HOLDS(CPUS) : 0;
	has |= a->counts.n_threads > 0 ? HOLDS(THREADS) : 0;
	has |= a->counts.n_labelled > 0 ? HOLDS(LABELS) : 0;
	return a->counts.n_cgroups > 0 ? has | HOLDS(CGROUPS) : has;
}

bool export_drops_positions(const struct analysis *a)
{
	return transforms_wanted(a->lens.filter) || a->keys.grouping != GROUP_FUNCTION;
}

unsigned export_has(const struct analysis *a)
{
	unsigned has = has_of_modules(a) | has_of_locations(a) | has_of_events(a) |
		       has_of_samples(a);

	if (export_drops_positions(a))
		has &= ~(HOLDS(ADDRESSES) | HOLDS(LINES) | HOLDS(INLINED));
	return has;
}

char *export_lost(const struct analysis *a, const struct format *f)
{
	unsigned holds = f->holds | (f->holds_also ? f->holds_also(a) : 0);

	return export_holdings(export_has(a) & ~holds);
}
