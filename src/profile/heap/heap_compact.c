/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of allocations anew: blocks that were freed long ago become sums by origin and slot of time, as if the recorder had
 * only counted them.
 *
 * What is counted is in no level, so a block becomes part of a sum only when no level that is kept would miss it: what is live
 * now or at a fence, and the peaks of each event, of all of it and of what came before and since the fences. At a kept moment
 * the level is what it was, and at others it is not more than it was: peaks stay where they were. Levels in between are known
 * at borders of slots, as blocks that lived across one are kept; slots become wider where too many blocks do.
 */
#include "config.h"

#include "profile/heap/heap_builder.h"

#include "base/hash.h"
#include "base/mem.h"
#include "profile/heap/boundary.h"
#include "profile/heap/heap_moments.h"
#include "profile/heap/heap_tops.h"
#include "profile/store.h"

#include <stdlib.h>
#include <string.h>

#define SLOT_NS  INT64_C(1000000000) /* of what is not older than build_folding.keep_ns */
#define START_NS (SLOT_NS / 16)      /* to the first border: what a start leaves is known then */

/* Slots of older time are 2^n as wide, and those of newer time only where 2^(n - this) is more than one. */
#define NEWER_SHIFT 10
#define MOST_SHIFT  32

/* Where stacks are too many to be kept, so much less is kept block by block. */
#define STACKS_PART 16

/*
 * Ticks of old time are at least this part of what their track has lasted apart, and those of newer time that is folded this part
 * of what screens look back, times the number of tracks: 256 kB of each.
 */
#define TICK_SHIFT 14

/* Of old time there may be so much from the start; more only as there is more of newer time. */
#define OLD_PART 4

/* Moments of one slot. */
struct slot_span {
	uint32_t from, to; /* [from, to) */
	uint64_t slot;
};

/* How many of a kind there are of old time, and of newer. */
struct ages {
	uint64_t n_old, n_new;
};

/* One of the tracks. */
struct fold_track {
	struct heap_track now;        /* with its ticks */
	bool folds;                   /* else all its rows stay, and all its ticks */
	uint32_t old;                 /* what happened from this moment on stays as it is */
	uint32_t recent;              /* from here on slots are narrow: at a border of such ones */
	uint32_t fence[BUILD_FENCES]; /* where the level is known */
	struct slot_span last;        /* that was asked for: rows come in the order of time */
	struct heap_tops kept;        /* moments whose levels stay */
	struct column ticks;
	uint32_t n_ticks;
	struct heap_moments moments; /* none: their numbers stay */
};

struct heap_fold {
	struct profile *p;
	struct store_heap *h;
	struct fold_track *track; /* [n_tracks]; owned */
	uint32_t n_tracks;
	struct heap_folded slots; /* of all tracks, as wide as shift says; moments are of none */
	int64_t span_ns;          /* from slot 0 to the last of all */
	int64_t old_ns;           /* what was before this is old */
	uint32_t shift;

	uint32_t *to;            /* [n_allocations] see build_heap_fold() */
	struct heap_packed rows; /* allocations that are left */
	struct column bulk, origins;
	uint32_t n_bulk;
	struct ages sums;   /* of bulk */
	struct ages freed;  /* of what is left of what was folded: levels would miss it */
	uint64_t n_counted; /* allocations that are in sums from now on */
	struct map alike;   /* of bulk */
	uint32_t *last_sum; /* [n_origins of before] in bulk: what was counted last; owned */

	const uint32_t *stack_to; /* what becomes of each stack; NULL: all stay, else: */
	uint32_t *origin_to; /* [n_origins so far] their numbers now, ID_NONE: unused yet; owned */
	uint32_t n_origins;
	struct map origins_by_fields;
};

static uint32_t end_of(const struct heap_fold *f, uint32_t row)
{
	return allocation_end(&f->h->now, row, UINT32_MAX);
}

static uint64_t size_of(const struct heap_fold *f, uint32_t row)
{
	return allocation_size(&f->h->now, row);
}

static struct fold_track *track_of(const struct heap_fold *f, uint32_t row)
{
	uint32_t origin = allocation_origin(&f->h->now, row);

	return &f->track[STORE_AT(struct heap_origin, f->h->origins, origin).track];
}

static void find_kept(struct heap_fold *f)
{
	struct heap_tops **kept = xmalloc(f->n_tracks * sizeof(*kept));

	for (uint32_t i = 0; i < f->n_tracks; i++)
		kept[i] = &f->track[i].kept;
	heap_tops_find(f->h, f->p->now.n_events, kept);
	free(kept);
}

static uint32_t newer_shift(const struct heap_fold *f)
{
	return f->shift > NEWER_SHIFT ? f->shift - NEWER_SHIFT : 0;
}

/*
 * The moments that have the slot of one: as far as its time goes, and on one side of what is recent. Only itself where times are
 * beyond what there is.
 */
static struct slot_span find_span(const struct heap_fold *f, const struct fold_track *t,
				  uint32_t moment)
{
	bool is_recent = moment >= t->recent;
	struct slot_span s = { moment, moment + 1, 0 };
	struct heap_slot slot = { 0 };
	bool known = heap_slot_of(&f->slots, is_recent, heap_track_time(&t->now, moment), &slot);

	/* Narrow ones have numbers of their own. */
	s.slot = (uint64_t)slot.number | (uint64_t)is_recent << 63;
	if (!known)
		return s;
	s.from = heap_track_moment(&t->now, slot.from_ns);
	s.to = heap_track_moment(&t->now, slot.to_ns);
	if (is_recent && s.from < t->recent)
		s.from = t->recent;
	if (!is_recent && s.to > t->recent)
		s.to = t->recent;
	return s;
}

static const struct slot_span *span_of(const struct heap_fold *f, struct fold_track *t,
				       uint32_t moment)
{
	if (moment < t->last.from || moment >= t->last.to)
		t->last = find_span(f, t, moment);
	return &t->last;
}

/* A bit for each fence that is not after it. */
static uint32_t since(const struct fold_track *t, uint32_t moment)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < BUILD_FENCES; i++)
		bits |= (moment >= t->fence[i] ? 1u : 0) << i;
	return bits;
}

static bool may_count(const struct heap_fold *f, uint32_t row)
{
	uint32_t begin = allocation_begin(&f->h->now, row), end = end_of(f, row) & END_MOMENT;
	struct fold_track *t = track_of(f, row);

	return !f->stack_to && end_of(f, row) != END_NEVER && end < t->old &&
	       end < span_of(f, t, begin)->to && !heap_tops_have(&t->kept, begin, end);
}

/* What sums that become one have in common. */
struct likeness {
	uint32_t origin, since;
	uint64_t slot;
};

static bool same_origin(const void *things, uint32_t value, const void *key)
{
	const struct heap_fold *f = things;

	return memcmp(&STORE_AT(struct heap_origin, f->origins, value), key,
		      sizeof(struct heap_origin)) == 0;
}

/* What an origin is called now; ID_NONE: there is no room. */
static uint32_t origin_now(struct heap_fold *f, uint32_t origin)
{
	struct heap_origin o;
	uint64_t hash;
	uint32_t *now;

	if (!f->stack_to || origin == ID_NONE)
		return origin;
	now = &f->origin_to[origin];
	if (*now != ID_NONE)
		return *now;
	o = STORE_AT(struct heap_origin, f->h->origins, origin);
	o.stack = f->stack_to[o.stack];
	hash = hash_bytes(&o, sizeof(o));
	*now = map_find(&f->origins_by_fields, hash, same_origin, f, &o);
	if (*now != MAP_NONE)
		return *now;
	if (column_extend(&f->origins, (uint64_t)f->n_origins + 1) < 0)
		return ID_NONE;
	STORE_AT(struct heap_origin, f->origins, f->n_origins) = o;
	map_add(&f->origins_by_fields, hash, f->n_origins);
	return *now = f->n_origins++;
}

/* Of a sum whose origin is a new one, as in what follows. */
static struct fold_track *track_of_sum(const struct heap_fold *f, const struct heap_bulk *b)
{
	return &f->track[STORE_AT(struct heap_origin, f->origins, b->origin).track];
}

static struct likeness likeness_of(const struct heap_fold *f, const struct heap_bulk *b)
{
	struct fold_track *t = track_of_sum(f, b);

	return (struct likeness){ b->origin, since(t, b->moment), span_of(f, t, b->moment)->slot };
}

static bool same_bulk(const void *things, uint32_t value, const void *key)
{
	const struct heap_fold *f = things;
	const struct likeness *b = key,
			      a = likeness_of(f, &STORE_AT(struct heap_bulk, f->bulk, value));

	return a.origin == b->origin && a.since == b->since && a.slot == b->slot;
}

static void count_age(struct ages *a, bool is_old)
{
	a->n_old += is_old;
	a->n_new += !is_old;
}

/* The sum that has it all in common, mostly the last one of the origin, as rows come in the order of time. MAP_NONE: its *hash. */
static uint32_t find_sum(const struct heap_fold *f, const struct likeness *l, uint64_t *hash)
{
	uint32_t last = f->last_sum[l->origin];

	*hash = 0;
	if (last != ID_NONE && same_bulk(f, last, l))
		return last;
	*hash = hash_u64(hash_pair(l->origin, l->since) ^ hash_u64(l->slot));
	return map_find(&f->alike, *hash, same_bulk, f, l);
}

static bool add_bulk(struct heap_fold *f, struct heap_bulk b)
{
	struct heap_bulk *to;
	struct likeness l;
	uint64_t hash;
	uint32_t at;

	b.origin = origin_now(f, b.origin);
	if (b.origin == ID_NONE)
		return false;
	l = likeness_of(f, &b);
	at = find_sum(f, &l, &hash);
	if (at == MAP_NONE) {
		if (column_extend(&f->bulk, (uint64_t)f->n_bulk + 1) < 0)
			return false;
		f->last_sum[b.origin] = f->n_bulk;
		map_add(&f->alike, hash, f->n_bulk);
		count_age(&f->sums, b.moment < track_of_sum(f, &b)->recent);
		STORE_AT(struct heap_bulk, f->bulk, f->n_bulk++) = b;
		return true;
	}
	f->last_sum[b.origin] = at;
	to = &STORE_AT(struct heap_bulk, f->bulk, at);
	to->calls += b.calls;
	to->bytes += b.bytes;
	to->temporary += b.temporary;
	to->moment = b.moment < to->moment ? b.moment : to->moment;
	to->until = b.until > to->until ? b.until : to->until;
	return true;
}

static bool keep_row(struct heap_fold *f, uint32_t row)
{
	const struct heap_columns *c = &f->h->now;
	uint32_t n = f->rows.n, origin = origin_now(f, allocation_origin(c, row));

	if (origin == ID_NONE ||
	    heap_packed_add(&f->rows, allocation_begin(c, row), size_of(f, row), origin) < 0)
		return false;
	if (c->release)
		heap_packed_release(&f->rows, n, origin_now(f, allocation_release(c, row)));
	if (end_of(f, row) != END_NEVER)
		heap_packed_end(&f->rows, n, end_of(f, row));
	return true;
}

static bool count_row(struct heap_fold *f, uint32_t row)
{
	f->n_counted++;
	return add_bulk(f,
			(struct heap_bulk){ .origin = allocation_origin(&f->h->now, row),
					    .moment = allocation_begin(&f->h->now, row),
					    .until = end_of(f, row) & END_MOMENT,
					    .calls = 1,
					    .bytes = size_of(f, row),
					    .temporary = (end_of(f, row) & END_TEMPORARY) != 0 });
}

/* What is old is to be no more than what is new, so that memory is full when the first blocks are old; as of samples (compact.c). */
static bool is_too_old(const struct ages *a, uint64_t most)
{
	return a->n_old > a->n_new && a->n_old > most / OLD_PART;
}

/*
 * Slots are narrow from the last border on that is of old time: between borders nobody knows any more what was there, or how much came
 * on either side. What is old is so for good.
 */
static void find_recent(struct heap_fold *f)
{
	struct heap_slot slot;

	if (f->old_ns == INT64_MIN || !heap_slot_of(&f->slots, true, f->old_ns, &slot))
		slot.from_ns = f->old_ns;
	for (uint32_t i = 0; i < f->n_tracks; i++) {
		struct fold_track *t = &f->track[i];
		uint32_t before = t->now.folded.recent;

		t->recent = f->stack_to ? before : heap_track_moment(&t->now, slot.from_ns);
		t->recent = t->recent > before ? t->recent : before;
	}
}

static void begin_slots(struct heap_fold *f)
{
	f->slots.slot_ns = SLOT_NS << f->shift;
	f->slots.recent_slot_ns = SLOT_NS << newer_shift(f);
	find_recent(f);
	heap_packed_clear(&f->rows);
	f->n_counted = f->n_bulk = 0;
	f->sums = f->freed = (struct ages){ 0, 0 };
	map_done(&f->alike);
	memset(f->last_sum, 0xff, f->h->now.n_origins * sizeof(*f->last_sum));
	for (uint32_t i = 0; i < f->n_tracks; i++)
		f->track[i].last = (struct slot_span){ 0, 0, 0 };
}

/* Counts a row that is left of what is folded. */
static void count_left(struct heap_fold *f, uint32_t row)
{
	const struct fold_track *t = track_of(f, row);
	uint32_t end = end_of(f, row);

	if (end != END_NEVER && (end & END_MOMENT) < t->old)
		count_age(&f->freed, (end & END_MOMENT) < t->recent);
}

/* Is one slot as long as all there is, so that wider ones would make no fewer sums? */
static bool is_widest(const struct heap_fold *f)
{
	int64_t width = SLOT_NS << f->shift, newer = SLOT_NS << newer_shift(f);

	return f->shift >= MOST_SHIFT ||
	       (width >= f->span_ns && (newer >= f->span_ns || newer >= f->p->folding.keep_ns));
}

/* With slots as wide as they are now; -1: there is no room, 0: there are too many, 1: good. */
static int fold_with_slots(struct heap_fold *f, uint64_t most_freed)
{
	uint64_t most_sums = f->p->folding.n_sums;
	bool widest = is_widest(f);

	begin_slots(f);
	for (uint32_t i = 0; i < f->h->now.n_bulk; i++)
		if (!add_bulk(f, STORE_AT(struct heap_bulk, f->h->bulk, i)))
			return -1;
	for (uint32_t i = 0; i < f->h->now.n_allocations; i++) {
		bool count = may_count(f, i);

		f->to[i] = count ? ID_NONE : f->rows.n;
		if (count ? !count_row(f, i) : !keep_row(f, i))
			return -1;
		if (!count)
			count_left(f, i);
		if (!widest &&
		    (f->freed.n_old + f->freed.n_new > most_freed || f->n_bulk > most_sums))
			return 0;
	}
	/* Wider ones than these would be wider for newer time, too. */
	return f->shift >= NEWER_SHIFT ||
	       (!is_too_old(&f->freed, most_freed) && !is_too_old(&f->sums, most_sums));
}

#define HEAP_COLUMNS(X) \
	X(bulk, struct heap_bulk) \
	X(origins, struct heap_origin)

/* Rows of so many, or a part of it where each has a stack of its own. */
static uint64_t part_of(const struct profile *p, uint64_t most)
{
	return store_shorten_due(p) ? most / STACKS_PART : most;
}

/* What is old: not more than half of the rows that are kept without a thought are young. */
static void find_old(struct heap_fold *f, int64_t end_ns)
{
	uint64_t young = part_of(f->p, f->p->folding.n_blocks / 2), n = f->h->now.n_allocations;

	if (__builtin_sub_overflow(end_ns, f->p->folding.keep_ns, &f->old_ns))
		f->old_ns = INT64_MIN;
	for (uint32_t i = 0; i < f->n_tracks; i++) {
		struct fold_track *t = &f->track[i];

		t->old = n > young ? t->now.n_moments : 0;
	}
	for (uint64_t at = n > young ? n - young : n; at < n; at++) {
		uint32_t i = (uint32_t)at;
		struct fold_track *t = track_of(f, i);
		uint32_t begin = allocation_begin(&f->h->now, i);

		t->old = begin < t->old ? begin : t->old;
	}
	for (uint32_t i = 0; i < f->n_tracks; i++) {
		struct fold_track *t = &f->track[i];
		uint32_t old = heap_track_moment(&t->now, f->old_ns);

		if (old > t->old)
			t->old = old;
		/* What is in sums is old for good. */
		if (t->old < t->now.folded.until || !t->folds)
			t->old = t->now.folded.until;
	}
}

static void begin_track(struct fold_track *t, const struct store_track *from,
			const int64_t fence_ns[BUILD_FENCES])
{
	t->now = from->now;
	t->now.tick = from->ticks.base;
	t->now.rate = from->rates.base;
	t->folds = store_track_folds(from);
	for (size_t i = 0; i < BUILD_FENCES; i++)
		t->fence[i] = fence_ns[i] == TIME_NONE
				      ? UINT32_MAX
				      : heap_level_known(&t->now,
							 heap_track_moment(&t->now, fence_ns[i]));
	if (t->folds)
		heap_tops_begin(&t->kept, t->fence);
	column_init(&t->ticks, sizeof(struct heap_tick), STORE_MOST_IDS);
}

/* When slot 0 begins: where it began before, or soon after the first of all, and how long all is. Returns when the last of all was. */
static int64_t find_begin(struct heap_fold *f)
{
	int64_t end_ns = INT64_MIN;
	bool folded = false;

	f->slots.from_ns = INT64_MAX;
	for (uint32_t i = 0; i < f->n_tracks; i++) {
		const struct heap_track *t = &f->track[i].now;

		if (t->n_ticks == 0)
			continue;
		if (t->folded.until > 0 && !folded)
			f->slots.from_ns = t->folded.from_ns;
		else if (!folded && t->tick[0].time_ns < f->slots.from_ns - START_NS)
			f->slots.from_ns = t->tick[0].time_ns + START_NS;
		folded |= t->folded.until > 0;
		if (t->tick[t->n_ticks - 1].time_ns > end_ns)
			end_ns = t->tick[t->n_ticks - 1].time_ns;
	}
	if (__builtin_sub_overflow(end_ns, f->slots.from_ns, &f->span_ns))
		f->span_ns = 0;
	return end_ns;
}

static void begin_fold(struct heap_fold *f, struct profile *p)
{
	int64_t fence_ns[BUILD_FENCES];

	*f = (struct heap_fold){
		.p = p, .h = &p->heap, .n_tracks = p->heap.now.n_tracks, .shift = p->heap.shift
	};
	pthread_mutex_lock(&p->publication);
	memcpy(fence_ns, p->fence_ns, sizeof(fence_ns));
	pthread_mutex_unlock(&p->publication);
	f->track = xcalloc(f->n_tracks, sizeof(*f->track));
	for (uint32_t i = 0; i < f->n_tracks; i++)
		begin_track(&f->track[i], &STORE_AT(struct store_track, p->heap.tracks, i),
			    fence_ns);
	find_old(f, find_begin(f));
	f->to = xmalloc(p->heap.now.n_allocations * sizeof(*f->to));
	heap_packed_init(&f->rows);
#define X(name, type) column_init(&f->name, sizeof(type), STORE_MOST_IDS);
	HEAP_COLUMNS(X)
#undef X
}

/* Origins for the new table: as they are, or from none. */
static bool begin_origins(struct heap_fold *f)
{
	uint32_t n = f->h->now.n_origins;

	if (f->h->now.release && heap_packed_with_release(&f->rows) < 0)
		return false;

	f->last_sum = xmalloc(n * sizeof(*f->last_sum));
	if (f->stack_to) {
		f->origin_to = xmalloc(n * sizeof(*f->origin_to));
		memset(f->origin_to, 0xff, n * sizeof(*f->origin_to));
		return true;
	}
	if (column_extend(&f->origins, n) < 0)
		return false;
	memcpy(f->origins.base, f->h->origins.base, n * sizeof(struct heap_origin));
	return true;
}

/*
 * Of what is folded those ticks stay that begin a slot, tell when a peak was, or are what a fence is: so what is asked of sums has
 * the same answer. Others tell the time of what is kept, for which few will do.
 */
static bool thin_ticks(const struct heap_fold *f, struct fold_track *t)
{
	const struct heap_tick *tick = t->now.tick;
	int64_t last_ns = INT64_MIN, slot_ns = 0, old_ns, newer_ns;
	size_t k = 0;

	if (t->now.n_ticks == 0)
		return true;
	old_ns = (tick[t->now.n_ticks - 1].time_ns - tick[0].time_ns) >> TICK_SHIFT;
	old_ns *= f->n_tracks; /* times are below 2^62 */
	newer_ns = (f->p->folding.keep_ns >> TICK_SHIFT) * f->n_tracks;
	if (column_extend(&t->ticks, t->now.n_ticks) < 0)
		return false;
	for (uint32_t i = 0; i < t->now.n_ticks; i++) {
		uint32_t next = i + 1 < t->now.n_ticks ? tick[i + 1].moment : UINT32_MAX;
		bool peak = heap_tops_between(&t->kept, tick[i].moment, next, &k);
		bool is_old = tick[i].moment < t->recent;
		struct heap_slot of = { 0 };

		heap_slot_of(&f->slots, !is_old, tick[i].time_ns, &of);
		if (i > 0 && t->folds && tick[i].moment < t->old && !peak &&
		    of.from_ns == slot_ns &&
		    tick[i].time_ns - last_ns < (is_old ? old_ns : newer_ns) &&
		    tick[i].moment != t->fence[0] && tick[i].moment != t->fence[1] &&
		    tick[i].moment != t->recent)
			continue;
		last_ns = tick[i].time_ns;
		slot_ns = of.from_ns;
		STORE_AT(struct heap_tick, t->ticks, t->n_ticks++) = tick[i];
	}
	return true;
}

/* Of the track that a row, or a sum, is of now. */
static struct heap_moments *moments_of(const void *arg, uint32_t origin)
{
	const struct heap_fold *f = arg;

	return &f->track[STORE_AT(struct heap_origin, f->origins, origin).track].moments;
}

static void find_used(const struct heap_fold *f)
{
	struct heap_columns c = { 0 };

	heap_packed_columns(&f->rows, &c);
	for (uint32_t i = 0; i < f->rows.n; i++) {
		struct heap_moments *m = moments_of(f, allocation_origin(&c, i));
		uint32_t end = allocation_end(&c, i, UINT32_MAX);

		heap_moments_use(m, allocation_begin(&c, i));
		if (end != END_NEVER)
			heap_moments_use(m, end & END_MOMENT);
	}
	for (uint32_t i = 0; i < f->n_bulk; i++) {
		const struct heap_bulk *b = &STORE_AT(struct heap_bulk, f->bulk, i);
		struct heap_moments *m = moments_of(f, b->origin);

		heap_moments_use(m, b->moment);
		heap_moments_use(m, b->until);
	}
	for (uint32_t i = 0; i < f->n_tracks; i++) {
		struct fold_track *t = &f->track[i];

		for (uint32_t k = 0; k < t->n_ticks; k++)
			heap_moments_use(&t->moments,
					 STORE_AT(struct heap_tick, t->ticks, k).moment);
		heap_moments_number(&t->moments);
	}
}

static void begin_moments(struct fold_track *t)
{
	/* Where rates are told of, they are told of by moments. */
	if (t->now.n_rates <= 1 && t->old <= t->now.n_moments && t->folds)
		heap_moments_begin(&t->moments, t->old);
}

static void renumber_sums(struct heap_fold *f)
{
	for (uint32_t i = 0; i < f->n_bulk; i++) {
		struct heap_bulk *b = &STORE_AT(struct heap_bulk, f->bulk, i);
		const struct heap_moments *m = moments_of(f, b->origin);

		b->moment = heap_moments_now(m, b->moment);
		b->until = heap_moments_now(m, b->until);
	}
}

/* Old moments at which nothing was that is kept go, so that their numbers never come to an end. */
static bool renumber(struct heap_fold *f)
{
	bool ok;

	for (uint32_t i = 0; i < f->n_tracks; i++)
		begin_moments(&f->track[i]);
	find_used(f);
	ok = heap_moments_renumber(&f->rows, moments_of, f);
	renumber_sums(f);
	for (uint32_t i = 0; i < f->n_tracks; i++) {
		struct fold_track *t = &f->track[i];
		struct heap_moments *m = &t->moments;

		for (uint32_t k = 0; k < t->n_ticks; k++) {
			struct heap_tick *tick = &STORE_AT(struct heap_tick, t->ticks, k);

			tick->moment = heap_moments_now(m, tick->moment);
		}
		for (size_t k = 0; k < BUILD_FENCES; k++)
			t->fence[k] = heap_moments_now(m, t->fence[k]);
		t->recent = heap_moments_now(m, t->recent);
		t->old = heap_moments_now(m, t->old);
		t->now.n_moments = heap_moments_now(m, t->now.n_moments);
		heap_moments_done(m);
	}
	return ok;
}

static bool thin_all(struct heap_fold *f)
{
	for (uint32_t i = 0; i < f->n_tracks; i++)
		if (!thin_ticks(f, &f->track[i]))
			return false;
	return true;
}

static void undo(struct heap_fold *f)
{
	heap_packed_done(&f->rows);
#define X(name, type) column_done(&f->name);
	HEAP_COLUMNS(X)
#undef X
	for (uint32_t i = 0; i < f->n_tracks; i++)
		column_done(&f->track[i].ticks);
	map_done(&f->origins_by_fields);
	free(f->track);
	free(f->to);
}

/* Makes the new columns; false: there is no room. What only the making needs is freed. */
static bool fold(struct heap_fold *f)
{
	int rc = begin_origins(f) ? 0 : -1;

	while (rc == 0) {
		rc = fold_with_slots(f, part_of(f->p, f->p->folding.n_sums));
		f->shift += rc == 0;
	}
	if (rc > 0 && !f->stack_to && !thin_all(f))
		rc = -1;
	if (rc > 0 && !f->stack_to && !renumber(f))
		rc = -1;
	for (uint32_t i = 0; i < f->n_tracks; i++)
		heap_tops_done(&f->track[i].kept);
	map_done(&f->alike);
	free(f->origin_to);
	free(f->last_sum);
	if (rc < 0)
		undo(f);
	return rc > 0;
}

/* What a track is now; its ticks so far go with the old columns. */
static void replace_track(const struct heap_fold *f, struct fold_track *t, struct store_track *to,
			  struct store_heap_columns *gone)
{
	if (!f->stack_to) {
		vec_push(&gone->ticks, to->ticks);
		to->ticks = t->ticks;
		to->now.n_ticks = t->n_ticks;
		to->now.n_moments = t->now.n_moments;
	}
	if (t->folds)
		to->now.folded = (struct heap_folded){ t->old,
						       t->recent,
						       f->slots.from_ns,
						       f->slots.slot_ns,
						       f->slots.recent_slot_ns,
						       { t->fence[0], t->fence[1] } };
}

/* The new columns take the place of the old ones, which *gone becomes. */
static void replace(struct heap_fold *f, struct store_heap_columns *gone)
{
	struct store_heap *h = f->h;

	*gone = (struct store_heap_columns){ .n_states = 0 };
	gone->rows = h->rows;
	h->rows = f->rows;
	heap_packed_columns(&h->rows, &h->now);
#define X(name, type) \
	gone->name = h->name; \
	h->name = f->name;
	HEAP_COLUMNS(X)
#undef X
	for (uint32_t i = 0; i < f->n_tracks; i++)
		replace_track(f, &f->track[i], &STORE_AT(struct store_track, h->tracks, i), gone);
	free(f->track);
	h->shift = f->shift;
	h->now.n_bulk = f->n_bulk;
	h->now.n_counted += f->n_counted;
	if (f->stack_to) {
		map_done(&h->origins_by_fields);
		h->origins_by_fields = f->origins_by_fields;
		h->now.n_origins = f->n_origins;
	}
}

bool build_heap_fold(struct profile *p, uint32_t **to, uint32_t *n)
{
	struct store_heap_columns *gone;
	struct heap_fold f;
	uint32_t n_before;
	bool done;

	if (!store_heap_fold_due(p))
		return false;
	begin_fold(&f, p);
	find_kept(&f);
	done = fold(&f);
	/* It costs a pass over everything: it waits until there is twice as much. */
	p->heap.fold_at = done ? 2 * f.rows.n : 2 * p->heap.now.n_allocations;
	if (!done)
		return false;
	n_before = p->heap.now.n_allocations;
	gone = xmalloc(sizeof(*gone));
	replace(&f, gone);
	store_publish(p, NULL, NULL, gone);
	store_heap_state_folded(p, f.span_ns, SLOT_NS << p->heap.shift);
	store_tell_allocations(p, f.to, n_before);
	if (!to) {
		free(f.to);
		return true;
	}
	*n = n_before;
	*to = f.to;
	return true;
}

bool store_heap_restack(struct profile *p, const uint32_t *to, struct store_heap_columns **gone)
{
	struct heap_fold f;

	begin_fold(&f, p);
	f.stack_to = to;
	if (!fold(&f))
		return false;
	/* Nothing more became a sum than was one. */
	for (uint32_t i = 0; i < f.n_tracks; i++)
		f.track[i].old = f.track[i].now.folded.until;
	free(f.to);
	*gone = xmalloc(sizeof(**gone));
	replace(&f, *gone);
	return true;
}
