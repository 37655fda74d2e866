/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "profile/heap/boundary.h"

#include <stddef.h>

bool heap_slot_of(const struct heap_folded *f, bool is_recent, int64_t time_ns,
		  struct heap_slot *slot)
{
	int64_t width = is_recent ? f->recent_slot_ns : f->slot_ns, since;

	if (__builtin_sub_overflow(time_ns, f->from_ns, &since))
		return false;
	slot->number = since / width - (since % width < 0);
	return !__builtin_mul_overflow(slot->number, width, &slot->from_ns) &&
	       !__builtin_add_overflow(slot->from_ns, f->from_ns, &slot->from_ns) &&
	       !__builtin_add_overflow(slot->from_ns, width, &slot->to_ns);
}

/* The slot of a moment that is folded; beyond what there is all is one. */
static struct heap_slot slot_of_moment(const struct heap_track *t, uint32_t moment)
{
	struct heap_slot slot;

	if (!heap_slot_of(&t->folded, moment >= t->folded.recent, heap_track_time(t, moment),
			  &slot))
		slot = (struct heap_slot){ INT64_MIN, INT64_MAX, 0 };
	return slot;
}

uint32_t heap_level_known(const struct heap_track *t, uint32_t at)
{
	const struct heap_folded *f = &t->folded;
	uint32_t known;

	if (at >= f->until || at == 0)
		return at;
	for (size_t i = 0; i < BUILD_FENCES; i++)
		if (at == f->fence[i])
			return at;
	known = heap_track_moment(t, slot_of_moment(t, at).from_ns);
	return at >= f->recent && known < f->recent ? f->recent : known;
}

uint32_t heap_level_tells(const struct heap_track *t, uint32_t moment)
{
	const struct heap_folded *f = &t->folded;
	uint32_t limit = moment < f->recent ? f->recent : f->until, known;

	if (moment >= f->until)
		return moment;
	known = heap_track_moment(t, slot_of_moment(t, moment).to_ns);
	known = known < limit ? known : limit;
	return known > moment ? known - 1 : moment;
}

bool heap_folded_slot(const struct heap_track *t, uint32_t moment, int64_t *from_ns, int64_t *to_ns)
{
	const struct heap_folded *f = &t->folded;
	bool is_recent = moment >= f->recent;
	int64_t first_ns = heap_track_time(t, is_recent ? f->recent : 0);
	int64_t limit_ns = heap_track_time(t, is_recent ? f->until : f->recent);
	struct heap_slot slot;

	if (moment >= f->until)
		return false;
	slot = slot_of_moment(t, moment);
	*from_ns = slot.from_ns > first_ns ? slot.from_ns : first_ns;
	*to_ns = slot.to_ns < limit_ns ? slot.to_ns : limit_ns;
	return *from_ns < *to_ns;
}
