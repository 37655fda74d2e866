/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/heap_rules.h"

void heap_rule_add(struct heap_rule *r, const struct heap_measure *g, uint32_t track, uint32_t kind)
{
	uint32_t i = 0;

	switch (g->measure) {
	case MEASURE_WEIGHT:
	case MEASURE_SAMPLES:
	case MEASURE_WALL:
		r->always |= kind;
		return;
	case MEASURE_FREED:
		r->freed |= kind;
		return;
	case MEASURE_FREED_BY: /* of frees, which are events of their own */
		return;
	case MEASURE_TEMPORARY:
		r->temporary |= kind;
		return;
	case MEASURE_LIVE:
	case MEASURE_PEAK:
	case MEASURE_LEAKED:
	case MEASURE_GROWN:
		break;
	}
	while (i < r->n_levels && r->at[i] != g->at[track])
		i++;
	r->n_levels += i == r->n_levels;
	r->at[i] = g->at[track];
	r->level[i] |= kind;
}

struct heap_stretch heap_rule_stretch(const struct heap_rule *r, const struct heap_track *t,
				      uint32_t moment)
{
	struct heap_stretch s = { t->folded.until, t->n_moments };

	if (moment < s.from || moment >= s.to)
		return (struct heap_stretch){ 0, 0 };
	for (uint32_t i = 0; i < r->n_levels; i++) {
		if (r->at[i] <= moment && r->at[i] > s.from)
			s.from = r->at[i];
		if (r->at[i] > moment && r->at[i] < s.to)
			s.to = r->at[i];
	}
	return s;
}

static void fold_kind(const struct heap_freed *freed, const struct heap_measure *g,
		      bool temporary_only, struct heap_sum *to)
{
	for (unsigned i = temporary_only; i < 2; i++) {
		heap_sum_add(&to->sum, g->blocks ? freed->n[i] : (int64_t)freed->bytes[i]);
		to->n_blocks += freed->n[i];
	}
}

void heap_freed_fold(const struct heap_freed *freed, const struct heap_rule *r,
		     const struct heap_measure *const *measure, const uint32_t *kinds,
		     uint32_t n_origins, uint32_t n_kinds, struct heap_sum *to)
{
	uint32_t any = r->always | r->freed | r->temporary;

	for (uint32_t i = 0; i < n_origins; i++)
		for (uint32_t left = kinds[i] & any; left; left &= left - 1) {
			uint32_t k = (uint32_t)__builtin_ctz(left);
			bool all = (r->always | r->freed) >> k & 1;

			fold_kind(&freed[i], measure[k], !all, &to[(size_t)i * n_kinds + k]);
		}
}
