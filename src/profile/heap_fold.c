/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of allocations anew: blocks that were freed long ago become sums by origin and slot of time, as if the recorder had
 * only counted them.
 *
 * What is counted is in no level, so a block becomes part of a sum only when no level that is kept would miss it: what is live
 * now, and the peaks of each event, of all of it and of what came before and since the fences. At a kept moment the level is
 * what it was, and at others it is not more than it was: peaks stay where they were. Levels in between are known at
 * borders of slots, as blocks that lived across one are kept; slots become wider where too many blocks do.
 */
#include "config.h"

#include "heap_builder.h"

#include "fmt.h"
#include "hash.h"
#include "mem.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

#define SLOT_NS INT64_C(1000000000) /* of what is not older than build_folding.keep_ns */

/* Slots of older time are 2^n as wide, and those of newer time only where 2^(n - this) is more than one. */
#define NEWER_SHIFT 10
#define MOST_SHIFT  32

/* Where stacks are too many to be kept, so much less is kept block by block. */
#define STACKS_PART 16

/* Ticks of old time are at least this part of what the track has lasted apart: 1 MB of them. */
#define OLD_TICK_SHIFT 16

/* Pieces of time whose peaks stay: all, since each fence, between them, before the second. */
#define N_PIECES 5

/* From a moment to another, exclusive. */
struct piece {
	uint32_t from, to;
};

/* An end, to be sorted. */
struct ending {
	uint32_t moment, row;
};

struct heap_fold {
	struct profile *p;
	struct store_heap *h;
	struct heap_track track; /* with its ticks */
	int64_t begin_ns;        /* of slot 0 */
	uint32_t old;            /* what happened from this moment on stays as it is */
	uint32_t recent;         /* from here on slots are narrow */
	uint32_t fence[BUILD_FENCES];
	struct piece piece[N_PIECES];
	VEC(uint32_t) kept;     /* moments whose levels stay, in order */
	struct ending *endings; /* [n_endings] by moment; owned */
	uint32_t n_endings;
	uint32_t shift;

	uint32_t *to; /* [n_allocations] see build_heap_fold() */
	uint32_t n;   /* allocations that are left */
	struct column begin, end, size, origin, release, large, bulk, origins, ticks;
	uint32_t n_large, n_bulk, n_ticks;
	uint64_t n_counted; /* allocations that are in sums from now on */
	struct map alike;   /* of bulk */

	const uint32_t *
		stack_to; /* what becomes of each stack; NULL: all and their origins stay as they are, else: */
	uint32_t
		*origin_to; /* [n_origins so far] their numbers now, ID_NONE: not used yet; owned */
	uint32_t n_origins;
	struct map origins_by_fields;
};

static uint32_t end_of(const struct heap_fold *f, uint32_t row)
{
	return STORE_AT(uint32_t, f->h->end, row);
}

static uint64_t size_of(const struct heap_fold *f, uint32_t row)
{
	struct heap_columns c = { .n_large = f->h->now.n_large, .large = f->h->large.base };
	uint32_t size = STORE_AT(uint32_t, f->h->size, row);

	return size != SIZE_LARGE ? size : allocation_large_size(&c, row);
}

static uint16_t event_of(const struct heap_fold *f, uint32_t row)
{
	uint32_t origin = STORE_AT(uint32_t, f->h->origin, row);

	return STORE_AT(struct heap_origin, f->h->origins, origin).event;
}

static int by_moment(const void *a, const void *b)
{
	const struct ending *x = a, *y = b;

	return (x->moment > y->moment) - (x->moment < y->moment);
}

static void sort_endings(struct heap_fold *f)
{
	f->endings = xmalloc(f->h->now.n_allocations * sizeof(*f->endings));
	for (uint32_t i = 0; i < f->h->now.n_allocations; i++)
		if (end_of(f, i) != END_NEVER)
			f->endings[f->n_endings++] = (struct ending){ end_of(f, i) & END_MOMENT,
								      i };
	qsort(f->endings, f->n_endings, sizeof(*f->endings), by_moment);
}

/* Keeps the moment after which most of an event's that was handed out within a piece of time is there, if any ever is. */
static void keep_peak(struct heap_fold *f, uint16_t event, struct piece piece)
{
	uint64_t level = 0, most = 0;
	uint32_t at = 0, k = 0;

	for (uint32_t i = 0; i < f->h->now.n_allocations; i++) {
		uint32_t begin = STORE_AT(uint32_t, f->h->begin, i);

		if (event_of(f, i) != event || begin < piece.from || begin >= piece.to)
			continue;
		for (; k < f->n_endings && f->endings[k].moment <= begin; k++) {
			uint32_t row = f->endings[k].row;
			uint32_t from = STORE_AT(uint32_t, f->h->begin, row);

			if (event_of(f, row) == event && from >= piece.from && from < piece.to)
				level -= size_of(f, row);
		}
		level += size_of(f, i);
		if (level > most) {
			most = level;
			at = begin;
		}
	}
	if (most > 0)
		vec_push(&f->kept, at);
}

static int compare_moments(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void find_kept(struct heap_fold *f)
{
	sort_endings(f);
	for (uint32_t e = 0; e < f->p->now.n_events; e++)
		for (size_t i = 0; i < N_PIECES; i++)
			if (STORE_AT(struct event, f->p->events, e).is_heap &&
			    f->piece[i].from < f->piece[i].to)
				keep_peak(f, (uint16_t)e, f->piece[i]);
	free(f->endings);
	if (f->kept.n > 0)
		qsort(f->kept.at, f->kept.n, sizeof(*f->kept.at), compare_moments);
}

/* Is a block that lived [begin, end) in a level that is kept? */
static bool in_kept(const struct heap_fold *f, uint32_t begin, uint32_t end)
{
	for (size_t i = 0; i < f->kept.n; i++)
		if (begin <= f->kept.at[i] && f->kept.at[i] < end)
			return true;
	return false;
}

static uint32_t newer_shift(const struct heap_fold *f)
{
	return f->shift > NEWER_SHIFT ? f->shift - NEWER_SHIFT : 0;
}

/* The slot of a moment; narrow ones have numbers of their own. */
static uint64_t slot_of(const struct heap_fold *f, uint32_t moment)
{
	uint64_t n = (uint64_t)(heap_track_time(&f->track, moment) - f->begin_ns) / SLOT_NS;

	return moment < f->recent ? n >> f->shift : 1ull << 63 | n >> newer_shift(f);
}

static uint64_t slot_of_tick(const struct heap_fold *f, uint32_t i)
{
	return (uint64_t)(f->track.tick[i].time_ns - f->begin_ns) / SLOT_NS >> f->shift;
}

/* A bit for each fence that is not after it. */
static uint32_t since(const struct heap_fold *f, uint32_t moment)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < BUILD_FENCES; i++)
		bits |= (moment >= f->fence[i] ? 1u : 0) << i;
	return bits;
}

static bool may_count(const struct heap_fold *f, uint32_t row)
{
	uint32_t begin = STORE_AT(uint32_t, f->h->begin, row), end = end_of(f, row) & END_MOMENT;

	return !f->stack_to && end_of(f, row) != END_NEVER && end < f->old &&
	       !in_kept(f, begin, end) && slot_of(f, begin) == slot_of(f, end);
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

static struct likeness likeness_of(const struct heap_fold *f, const struct heap_bulk *b)
{
	return (struct likeness){ b->origin, since(f, b->moment), slot_of(f, b->moment) };
}

static bool same_bulk(const void *things, uint32_t value, const void *key)
{
	const struct heap_fold *f = things;
	const struct likeness *b = key,
			      a = likeness_of(f, &STORE_AT(struct heap_bulk, f->bulk, value));

	return a.origin == b->origin && a.since == b->since && a.slot == b->slot;
}

static bool add_bulk(struct heap_fold *f, struct heap_bulk b)
{
	struct heap_bulk *to;
	struct likeness l;
	uint64_t hash;
	uint32_t at;

	b.origin = origin_now(f, b.origin);
	l = likeness_of(f, &b);
	hash = hash_u64(hash_pair(l.origin, l.since) ^ hash_u64(l.slot));
	at = map_find(&f->alike, hash, same_bulk, f, &l);
	if (at == MAP_NONE) {
		if (b.origin == ID_NONE || column_extend(&f->bulk, (uint64_t)f->n_bulk + 1) < 0)
			return false;
		map_add(&f->alike, hash, f->n_bulk);
		STORE_AT(struct heap_bulk, f->bulk, f->n_bulk++) = b;
		return true;
	}
	to = &STORE_AT(struct heap_bulk, f->bulk, at);
	to->calls += b.calls;
	to->bytes += b.bytes;
	to->temporary += b.temporary;
	to->moment = b.moment < to->moment ? b.moment : to->moment;
	return true;
}

static bool keep_row(struct heap_fold *f, uint32_t row)
{
	uint32_t n = f->n, origin = origin_now(f, STORE_AT(uint32_t, f->h->origin, row));

	if (origin == ID_NONE || column_extend(&f->begin, (uint64_t)n + 1) < 0 ||
	    column_extend(&f->end, (uint64_t)n + 1) < 0 ||
	    column_extend(&f->size, (uint64_t)n + 1) < 0 ||
	    column_extend(&f->origin, (uint64_t)n + 1) < 0 ||
	    (f->h->release.base && column_extend(&f->release, (uint64_t)n + 1) < 0))
		return false;
	if (STORE_AT(uint32_t, f->h->size, row) == SIZE_LARGE) {
		if (column_extend(&f->large, (uint64_t)f->n_large + 1) < 0)
			return false;
		STORE_AT(struct heap_large, f->large,
			 f->n_large++) = (struct heap_large){ n, size_of(f, row) };
	}
	STORE_AT(uint32_t, f->begin, n) = STORE_AT(uint32_t, f->h->begin, row);
	STORE_AT(uint32_t, f->end, n) = end_of(f, row);
	STORE_AT(uint32_t, f->size, n) = STORE_AT(uint32_t, f->h->size, row);
	STORE_AT(uint32_t, f->origin, n) = origin;
	if (f->h->release.base)
		STORE_AT(uint32_t, f->release,
			 n) = origin_now(f, STORE_AT(uint32_t, f->h->release, row));
	f->n++;
	return true;
}

static bool count_row(struct heap_fold *f, uint32_t row)
{
	f->n_counted++;
	return add_bulk(f,
			(struct heap_bulk){ .origin = STORE_AT(uint32_t, f->h->origin, row),
					    .moment = STORE_AT(uint32_t, f->h->begin, row),
					    .until = end_of(f, row) & END_MOMENT,
					    .calls = 1,
					    .bytes = size_of(f, row),
					    .temporary = (end_of(f, row) & END_TEMPORARY) != 0 });
}

/* With slots as wide as they are now; -1: there is no room, 0: there are too many, 1: good. */
static int fold_with_slots(struct heap_fold *f, uint64_t most_rows)
{
	uint64_t n_freed = 0, most_bulk = f->p->folding.n_folded;

	f->n = f->n_bulk = f->n_large = 0;
	f->n_counted = 0;
	map_done(&f->alike);
	for (uint32_t i = 0; i < f->h->now.n_bulk; i++)
		if (!add_bulk(f, STORE_AT(struct heap_bulk, f->h->bulk, i)))
			return -1;
	for (uint32_t i = 0; i < f->h->now.n_allocations; i++) {
		bool count = may_count(f, i);

		f->to[i] = count ? ID_NONE : f->n;
		if (count ? !count_row(f, i) : !keep_row(f, i))
			return -1;
		n_freed += !count && end_of(f, i) != END_NEVER &&
			   (end_of(f, i) & END_MOMENT) < f->old;
		if (f->shift < MOST_SHIFT && (n_freed > most_rows || f->n_bulk > most_bulk))
			return 0;
	}
	return 1;
}

#define HEAP_COLUMNS(X) \
	X(begin, uint32_t) \
	X(end, uint32_t) \
	X(size, uint32_t) \
	X(origin, uint32_t) \
	X(release, uint32_t) \
	X(large, struct heap_large) \
	X(bulk, struct heap_bulk) \
	X(origins, struct heap_origin)

#define NEW_COLUMNS(X) \
	HEAP_COLUMNS(X) \
	X(ticks, struct heap_tick)

static uint32_t moment_of(const struct heap_fold *f, int64_t time_ns)
{
	return time_ns == TIME_NONE ? UINT32_MAX : heap_track_moment(&f->track, time_ns);
}

/* Rows of so many, or a part of it where each has a stack of its own. */
static uint64_t part_of(const struct profile *p, uint64_t most)
{
	return store_shorten_due(p) ? most / STACKS_PART : most;
}

/* What is old: not more than half of the rows that are kept without a thought are young. */
static void find_old(struct heap_fold *f, int64_t end_ns)
{
	uint64_t young = part_of(f->p, f->p->folding.n_rows / 2), n = f->h->now.n_allocations;
	uint32_t crowded = n > young ? STORE_AT(uint32_t, f->h->begin, n - young) : 0;
	int64_t old_ns;

	if (__builtin_sub_overflow(end_ns, f->p->folding.keep_ns, &old_ns))
		old_ns = INT64_MIN;
	f->recent = heap_track_moment(&f->track, old_ns);
	f->old = f->recent > crowded ? f->recent : crowded;
	/* What is in sums is old for good. */
	if (f->old < f->h->now.folded.until)
		f->old = f->h->now.folded.until;
}

static void begin_fold(struct heap_fold *f, struct profile *p)
{
	const struct store_track *t = &STORE_AT(struct store_track, p->heap.tracks, 0);
	int64_t fence_ns[BUILD_FENCES];

	*f = (struct heap_fold){ .p = p, .h = &p->heap, .track = t->now, .shift = p->heap.shift };
	f->track.tick = t->ticks.base;
	f->track.rate = t->rates.base;
	f->begin_ns = f->track.tick[0].time_ns;
	find_old(f, f->track.tick[f->track.n_ticks - 1].time_ns);
	pthread_mutex_lock(&p->publication);
	memcpy(fence_ns, p->fence_ns, sizeof(fence_ns));
	pthread_mutex_unlock(&p->publication);
	for (size_t i = 0; i < BUILD_FENCES; i++)
		f->fence[i] = moment_of(f, fence_ns[i]);
	f->piece[0] = (struct piece){ 0, UINT32_MAX };
	f->piece[1] = (struct piece){ f->fence[0], UINT32_MAX };
	f->piece[2] = (struct piece){ f->fence[1], UINT32_MAX };
	f->piece[3] = (struct piece){ f->fence[0], f->fence[1] };
	f->piece[4] = (struct piece){ 0, f->fence[1] };
	f->to = xmalloc(p->heap.now.n_allocations * sizeof(*f->to));
#define X(name, type) column_init(&f->name, sizeof(type), STORE_MOST_IDS);
	NEW_COLUMNS(X)
#undef X
}

static bool is_sampled(const struct store_track *t)
{
	for (uint32_t i = 0; i < t->now.n_rates; i++)
		if (STORE_AT(struct heap_rate, t->rates, i).sample_bytes > 0)
			return true;
	return false;
}

/* Of sampled blocks the peak is an estimate, whose moment depends on more than sizes; they are few. */
bool store_heap_folds(const struct profile *p)
{
	const struct store_heap *h = &p->heap;

	return p->folding.keep_ns > 0 && h->now.n_tracks == 1 && !h->begin.in_file &&
	       STORE_AT(struct store_track, h->tracks, 0).now.n_ticks > 0 &&
	       !is_sampled(&STORE_AT(struct store_track, h->tracks, 0));
}

static bool is_due(const struct profile *p)
{
	const struct store_heap *h = &p->heap;

	return store_heap_folds(p) && h->now.n_allocations > 0 &&
	       ((h->now.n_allocations >= p->folding.n_rows && h->now.n_allocations >= h->fold_at) ||
		store_shorten_due(p));
}

/* Origins for the new table: as they are, or from none. */
static bool begin_origins(struct heap_fold *f)
{
	uint32_t n = f->h->now.n_origins;

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

/* Does a peak that stays lie between a tick and the next? They come in order; *k is the first peak that may. */
static bool tells_peak(const struct heap_fold *f, uint32_t i, size_t *k)
{
	const struct heap_tick *t = f->track.tick;
	uint32_t next = i + 1 < f->track.n_ticks ? t[i + 1].moment : UINT32_MAX;

	while (*k < f->kept.n && f->kept.at[*k] < t[i].moment)
		++*k;
	return *k < f->kept.n && f->kept.at[*k] < next;
}

/*
 * Of old time those ticks stay that begin a slot, tell when a peak was, or are what a fence is: so what is asked of sums has the
 * same answer. Others tell the time of what is kept, for which few will do.
 */
static bool thin_ticks(struct heap_fold *f)
{
	const struct heap_tick *t = f->track.tick;
	int64_t least_ns = (t[f->track.n_ticks - 1].time_ns - t[0].time_ns) >> OLD_TICK_SHIFT;
	int64_t last_ns = INT64_MIN;
	uint64_t slot = 0;
	size_t k = 0;

	if (column_extend(&f->ticks, f->track.n_ticks) < 0)
		return false;
	f->n_ticks = 0;
	for (uint32_t i = 0; i < f->track.n_ticks; i++) {
		bool peak = tells_peak(f, i, &k);

		if (i > 0 && t[i].moment < f->recent && !peak && slot_of_tick(f, i) == slot &&
		    t[i].time_ns - last_ns < least_ns && t[i].moment != f->fence[0] &&
		    t[i].moment != f->fence[1])
			continue;
		last_ns = t[i].time_ns;
		slot = slot_of_tick(f, i);
		STORE_AT(struct heap_tick, f->ticks, f->n_ticks++) = t[i];
	}
	return true;
}

/* Moments of old time that something was at, and what they are called. */
struct moments {
	uint64_t *bits;   /* [(until + 63) / 64] a bit for each that is used */
	uint32_t *before; /* [likewise] bits that are set in words before */
	uint32_t until;   /* those from here on only follow */
	uint32_t n;       /* used ones below */
};

static void use(struct moments *m, uint32_t moment)
{
	if (moment < m->until)
		m->bits[moment / 64] |= UINT64_C(1) << moment % 64;
}

/* What a moment is called now: how many that are used come before it. */
static uint32_t moment_now(const struct moments *m, uint32_t moment)
{
	uint64_t below;

	if (moment >= m->until)
		return moment - m->until + m->n;
	below = m->bits[moment / 64] & ((UINT64_C(1) << moment % 64) - 1);
	return m->before[moment / 64] + (uint32_t)__builtin_popcountll(below);
}

static void find_used(const struct heap_fold *f, struct moments *m)
{
	size_t n_words = (size_t)m->until / 64 + 1;

	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t end = STORE_AT(uint32_t, f->end, i);

		use(m, STORE_AT(uint32_t, f->begin, i));
		if (end != END_NEVER)
			use(m, end & END_MOMENT);
	}
	for (uint32_t i = 0; i < f->n_bulk; i++) {
		use(m, STORE_AT(struct heap_bulk, f->bulk, i).moment);
		use(m, STORE_AT(struct heap_bulk, f->bulk, i).until);
	}
	for (uint32_t i = 0; i < f->n_ticks; i++)
		use(m, STORE_AT(struct heap_tick, f->ticks, i).moment);
	for (size_t i = 0; i < n_words; i++) {
		m->before[i] = m->n;
		m->n += (uint32_t)__builtin_popcountll(m->bits[i]);
	}
}

/* Old moments at which nothing was that is kept go, so that their numbers never come to an end. */
static void renumber(struct heap_fold *f)
{
	struct moments m = { .until = f->old };
	size_t n_words = (size_t)m.until / 64 + 1;

	/* Where rates are told of, they are told of by moments. */
	if (f->track.n_rates > 1 || f->old > f->track.n_moments)
		return;
	m.bits = xcalloc(n_words, sizeof(*m.bits));
	m.before = xcalloc(n_words, sizeof(*m.before));
	find_used(f, &m);
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t *end = &STORE_AT(uint32_t, f->end, i);

		STORE_AT(uint32_t, f->begin, i) = moment_now(&m, STORE_AT(uint32_t, f->begin, i));
		if (*end != END_NEVER)
			*end = moment_now(&m, *end & END_MOMENT) | (*end & ~END_MOMENT);
	}
	for (uint32_t i = 0; i < f->n_bulk; i++) {
		struct heap_bulk *b = &STORE_AT(struct heap_bulk, f->bulk, i);

		b->moment = moment_now(&m, b->moment);
		b->until = moment_now(&m, b->until);
	}
	for (uint32_t i = 0; i < f->n_ticks; i++) {
		struct heap_tick *t = &STORE_AT(struct heap_tick, f->ticks, i);

		t->moment = moment_now(&m, t->moment);
	}
	f->recent = moment_now(&m, f->recent);
	f->old = moment_now(&m, f->old);
	f->track.n_moments = moment_now(&m, f->track.n_moments);
	free(m.bits);
	free(m.before);
}

/* Makes the new columns; false: there is no room. What only the making needs is freed. */
static bool fold(struct heap_fold *f)
{
	int rc = begin_origins(f) ? 0 : -1;

	while (rc == 0) {
		rc = fold_with_slots(f, part_of(f->p, f->p->folding.n_folded));
		f->shift += rc == 0;
	}
	if (rc > 0 && !f->stack_to && !thin_ticks(f))
		rc = -1;
	if (rc > 0 && !f->stack_to)
		renumber(f);
	vec_done(&f->kept);
	map_done(&f->alike);
	free(f->origin_to);
	if (rc > 0)
		return true;
#define X(name, type) column_done(&f->name);
	NEW_COLUMNS(X)
#undef X
	map_done(&f->origins_by_fields);
	free(f->to);
	return false;
}

/* The new columns take the place of the old ones, which *gone becomes. */
static void replace(struct heap_fold *f, struct store_heap_columns *gone)
{
	struct store_heap *h = f->h;
	struct store_track *t = &STORE_AT(struct store_track, h->tracks, 0);

	*gone = (struct store_heap_columns){ h->begin, h->end,  h->size,    h->origin, h->release,
					     h->large, h->bulk, h->origins, { 0 },     0 };
#define X(name, type) h->name = f->name;
	HEAP_COLUMNS(X)
#undef X
	if (!f->stack_to) {
		gone->ticks = t->ticks;
		t->ticks = f->ticks;
		t->now.n_ticks = f->n_ticks;
		t->now.n_moments = f->track.n_moments;
	}
	h->shift = f->shift;
	h->n_room = f->n;
	h->now.n_allocations = f->n;
	h->now.n_large = f->n_large;
	h->now.n_bulk = f->n_bulk;
	h->now.n_counted += f->n_counted;
	if (f->stack_to) {
		map_done(&h->origins_by_fields);
		h->origins_by_fields = f->origins_by_fields;
		h->now.n_origins = f->n_origins;
	}
	h->now.folded = (struct heap_folded){ f->old, f->recent, f->begin_ns, SLOT_NS << f->shift,
					      SLOT_NS << newer_shift(f) };
}

static void state_folded(struct profile *p)
{
	const struct heap_columns *h = &p->heap.now;
	char n[FMT_COUNTED_SIZE], width[FMT_SIZE];

	build_fact(p, (capture_id){ 0 }, "file", "folded", FACT_PLAIN,
		   "%s freed long ago: how much was there then is known every %s, and at the peak",
		   fmt_counted(n, (int64_t)(h->n_counted & INT64_MAX), "block"),
		   fmt_ns(width, h->folded.slot_ns));
}

bool build_heap_fold(struct profile *p, uint32_t **to, uint32_t *n)
{
	struct store_heap_columns *gone;
	struct heap_fold f;
	bool done;

	if (!is_due(p))
		return false;
	begin_fold(&f, p);
	find_kept(&f);
	done = fold(&f);
	/* It costs a pass over everything: it waits until there is twice as much. */
	p->heap.fold_at = done ? 2 * f.n : 2 * p->heap.now.n_allocations;
	if (!done)
		return false;
	*n = p->heap.now.n_allocations;
	*to = f.to;
	gone = xmalloc(sizeof(*gone));
	replace(&f, gone);
	store_publish(p, NULL, NULL, gone);
	state_folded(p);
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
	f.old = p->heap.now.folded.until;
	free(f.to);
	*gone = xmalloc(sizeof(**gone));
	replace(&f, *gone);
	return true;
}
