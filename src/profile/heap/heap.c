/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of allocations: writing it, and reading what was published. */
#include "config.h"

#include "profile/heap/heap.h"

#include "base/bisect.h"
#include "base/hash.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "profile/heap/heap_append.h"
#include "profile/store.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TRACKS  ((uint64_t)UINT16_MAX)
#define MOST_MOMENTS (END_MOMENT - 1)

/* Ticks are at least this far apart, and at least this part of what the track has lasted. */
#define TICK_NS    1000
#define TICK_SHIFT 19

/* Every column: which, element, most elements. */
#define COLUMNS(X) \
	X(origins, struct heap_origin, STORE_MOST_IDS) \
	X(bulk, struct heap_bulk, STORE_MOST_IDS) \
	X(tracks, struct store_track, MOST_TRACKS) \
	X(series, struct heap_series, STORE_MOST_IDS) \
	X(readings, struct heap_reading, STORE_MOST_IDS) \
	X(marks, struct heap_mark, STORE_MOST_IDS)

void store_heap_init(struct store_heap *h)
{
	heap_packed_init(&h->rows);
#define INIT(name, type, most) column_init(&h->name, sizeof(type), most);
	COLUMNS(INIT)
#undef INIT
}

static void track_done(struct store_track *t)
{
	column_done(&t->ticks);
	column_done(&t->rates);
}

void store_heap_done(struct store_heap *h)
{
	for (uint32_t i = 0; i < h->now.n_tracks; i++)
		track_done(&STORE_AT(struct store_track, h->tracks, i));
	heap_packed_done(&h->rows);
#define DONE(name, type, most) column_done(&h->name);
	COLUMNS(DONE)
#undef DONE
	map_done(&h->origins_by_fields);
}

void store_heap_publish(struct store_heap *h)
{
	h->published = h->now;
	h->rows.n_told = h->now.n_allocations;
	h->published.origins = h->origins.base;
	h->published.bulk = h->bulk.base;
	for (uint32_t i = 0; i < h->now.n_tracks; i++) {
		struct store_track *t = &STORE_AT(struct store_track, h->tracks, i);

		t->published = t->now;
		t->published.tick = t->ticks.base;
		t->published.rate = t->rates.base;
	}
}

void store_heap_columns_free(struct store_heap_columns *c)
{
	if (!c)
		return;
	heap_packed_done(&c->rows);
	column_done(&c->bulk);
	column_done(&c->origins);
	for (size_t i = 0; i < c->ticks.n; i++)
		column_done(&c->ticks.at[i]);
	vec_done(&c->ticks);
	free(c);
}

/* Writing. */

int build_heap_in_files(struct profile *p, const char *what, struct err *e)
{
	return heap_packed_to_files(&p->heap.rows, what, e);
}

static struct store_track *track_of(const struct profile *p, track_id t)
{
	assert(t.v < p->heap.now.n_tracks);
	return &STORE_AT(struct store_track, p->heap.tracks, t.v);
}

track_id build_heap_track(struct profile *p, process_id process, double sample_bytes,
			  uint64_t exact_from)
{
	struct store_heap *h = &p->heap;
	uint32_t n = h->now.n_tracks;
	struct store_track *t;

	if (!store_room(p, &h->tracks, (uint64_t)n + 1))
		return (track_id){ 0 };
	t = &STORE_AT(struct store_track, h->tracks, n);
	t->now.process = process;
	t->now.gone_ns = t->now.known_ns = TIME_NONE;
	column_init(&t->rates, sizeof(struct heap_rate), STORE_MOST_IDS);
	column_init(&t->ticks, sizeof(struct heap_tick), STORE_MOST_IDS);
	t->due_ns = INT64_MIN;
	h->now.n_tracks++;
	build_heap_rate(p, (track_id){ n }, sample_bytes, exact_from);
	return (track_id){ n };
}

void build_heap_manner(struct profile *p, track_id id, bool attached, int64_t culled_ns)
{
	struct store_track *t = track_of(p, id);

	t->now.attached = attached;
	t->now.culled_ns = culled_ns;
}

void build_heap_lacks(struct profile *p, track_id id, uint32_t lacks)
{
	track_of(p, id)->now.lacks = lacks;
}

void build_heap_known(struct profile *p, track_id id, int64_t time_ns)
{
	track_of(p, id)->now.known_ns = time_ns;
}

void build_heap_gone(struct profile *p, track_id id, int64_t time_ns)
{
	track_of(p, id)->now.gone_ns = time_ns;
}

void build_heap_lives_on(struct profile *p, track_id id)
{
	track_of(p, id)->now.lives_on = true;
}

void build_heap_rate(struct profile *p, track_id id, double sample_bytes, uint64_t exact_from)
{
	struct store_track *t = track_of(p, id);
	uint32_t n = t->now.n_rates;

	assert(sample_bytes <= (double)SAMPLE_BYTES_MOST);
	if (!store_room(p, &t->rates, (uint64_t)n + 1))
		return;
	STORE_AT(struct heap_rate, t->rates, n) = (struct heap_rate){ t->now.n_moments,
								      sample_bytes, exact_from };
	t->now.n_rates++;
}

static bool same_origin(const void *things, uint32_t value, const void *key)
{
	const struct profile *p = things;

	return memcmp(&STORE_AT(struct heap_origin, p->heap.origins, value), key,
		      sizeof(struct heap_origin)) == 0;
}

origin_id build_heap_origin(struct profile *p, const struct heap_origin *o)
{
	struct store_heap *h = &p->heap;
	uint64_t hash = hash_bytes(o, sizeof(*o));
	uint32_t n = h->now.n_origins, id;

	_Static_assert(sizeof(*o) == 16, "compared and hashed as bytes: there is no padding");
	assert(o->stack < p->now.n_stacks && o->event < p->now.n_events);
	assert(o->thread == ID_NONE || o->thread < p->now.n_threads);
	assert(o->track < h->now.n_tracks);
	id = map_find(&h->origins_by_fields, hash, same_origin, p, o);
	if (id != MAP_NONE)
		return (origin_id){ id };
	if (!store_room(p, &h->origins, (uint64_t)n + 1))
		return (origin_id){ 0 };
	STORE_AT(struct heap_origin, h->origins, n) = *o;
	map_add(&h->origins_by_fields, hash, n);
	h->now.n_origins++;
	return (origin_id){ n };
}

/* How far the tick after one at this time must be ahead of it. */
static int64_t tick_distance(const struct store_track *t, int64_t time_ns)
{
	const struct heap_tick *first = t->ticks.base;
	int64_t lasted = time_ns - first->time_ns;

	return lasted >> TICK_SHIFT > TICK_NS ? lasted >> TICK_SHIFT : TICK_NS;
}

/* Widens the times of the track's capture. */
static void note_time(struct profile *p, const struct store_track *t, int64_t time_ns)
{
	uint32_t capture = profile_process(p, t->now.process)->capture.v;
	struct capture *c = &STORE_AT(struct capture, p->captures, capture);

	if (c->begin_ns == TIME_NONE || time_ns < c->begin_ns)
		__atomic_store_n(&c->begin_ns, time_ns, __ATOMIC_RELAXED);
	if (c->end_ns == TIME_NONE || time_ns > c->end_ns)
		__atomic_store_n(&c->end_ns, time_ns, __ATOMIC_RELAXED);
}

/* A time at or after the one that is due. */
static void add_tick(struct profile *p, struct store_track *t, uint32_t moment, int64_t time_ns)
{
	uint32_t n = t->now.n_ticks;

	/* Hostile clocks: what is added to and taken from times must not overflow. */
	if (time_ns < 0 || time_ns > INT64_MAX / 2) {
		if (n > 0)
			return;
		time_ns = 0;
	}
	if (!store_room(p, &t->ticks, (uint64_t)n + 1))
		return;
	STORE_AT(struct heap_tick, t->ticks, n) = (struct heap_tick){ moment, time_ns };
	t->now.n_ticks++;
	t->due_ns = time_ns + tick_distance(t, time_ns);
	note_time(p, t, time_ns);
}

uint32_t build_moment(struct profile *p, track_id id, int64_t time_ns)
{
	struct store_track *t = track_of(p, id);
	uint32_t moment = t->now.n_moments;

	if (moment >= MOST_MOMENTS) {
		p->sticky = -EFBIG;
		return moment - 1;
	}
	t->now.n_moments++;
	if (time_ns >= t->due_ns)
		add_tick(p, t, moment, time_ns);
	return moment;
}

static uint32_t moment_now(const struct store_track *t)
{
	return t->now.n_moments > 0 ? t->now.n_moments - 1 : 0;
}

/* What the writer itself reads of its rows. */
static void told_rows(struct store_heap *h)
{
	heap_packed_columns(&h->rows, &h->now);
}

bool build_heap_claim(struct profile *p, uint64_t bytes)
{
	struct store_heap *h = &p->heap;

	if (bytes > SIZE_SUM_MOST - h->claimed)
		return false;
	h->claimed += bytes;
	return true;
}

allocation_id build_allocation(struct profile *p, track_id id, uint64_t size, origin_id origin)
{
	struct store_heap *h = &p->heap;
	int rc;

	assert(origin.v < h->now.n_origins && size <= SIZE_MOST);
	rc = heap_packed_add(&h->rows, moment_now(track_of(p, id)), size, origin.v);
	told_rows(h);
	if (rc < 0) {
		p->sticky = rc == -ENOSPC ? rc : -EFBIG;
		return (allocation_id){ ID_NONE };
	}
	return (allocation_id){ h->now.n_allocations - 1 };
}

/* The column of who freed what comes into being with the first who is known. */
static bool release_room(struct profile *p)
{
	struct store_heap *h = &p->heap;
	int rc = heap_packed_with_release(&h->rows);

	told_rows(h);
	if (rc < 0)
		p->sticky = rc == -ENOSPC ? rc : -EFBIG;
	return rc == 0;
}

void build_release(struct profile *p, allocation_id a, track_id id, bool temporary, origin_id by)
{
	struct store_heap *h = &p->heap;
	uint32_t moment = moment_now(track_of(p, id));

	if (a.v == ID_NONE) /* did not fit */
		return;
	assert(a.v < h->now.n_allocations);
	if (heap_packed_has_ended(&h->rows, a.v))
		return;
	if (by.v != ID_NONE && release_room(p))
		heap_packed_release(&h->rows, a.v, by.v);
	heap_packed_end(&h->rows, a.v, moment | (temporary ? END_TEMPORARY : 0));
}

void heap_append_take(struct heap_append *pen, struct profile *p, track_id id)
{
	const struct store_track *t = track_of(p, id);

	*pen = (struct heap_append){
		.profile = p,
		.track = id,
		.rows = &p->heap.rows,
		.n_moments = t->now.n_moments,
		.due_ns = t->due_ns,
	};
	/* The numbers that moments may have are looked at between two takings, which are few apart. */
	if (pen->n_moments >= MOST_MOMENTS - HEAP_PEN_MOST)
		pen->due_ns = INT64_MIN;
}

bool heap_append_tick(struct heap_append *pen, int64_t time_ns)
{
	struct store_track *t = track_of(pen->profile, pen->track);

	if (pen->n_moments >= MOST_MOMENTS - HEAP_PEN_MOST)
		return false;
	add_tick(pen->profile, t, pen->n_moments, time_ns);
	pen->due_ns = t->due_ns;
	return true;
}

void heap_append_give(const struct heap_append *pen)
{
	told_rows(&pen->profile->heap);
	track_of(pen->profile, pen->track)->now.n_moments = pen->n_moments;
}

bool built_release(const struct profile *p, allocation_id a)
{
	assert(a.v < p->heap.rows.n);
	return heap_packed_has_ended(&p->heap.rows, a.v);
}

origin_id built_origin(const struct profile *p, allocation_id a)
{
	assert(a.v < p->heap.now.n_allocations);
	return (origin_id){ allocation_origin(&p->heap.now, a.v) };
}

void build_bulk(struct profile *p, const struct heap_bulk *bulk)
{
	struct store_heap *h = &p->heap;
	uint32_t n = h->now.n_bulk;

	assert(bulk->origin < h->now.n_origins);
	if (!store_room(p, &h->bulk, (uint64_t)n + 1))
		return;
	STORE_AT(struct heap_bulk, h->bulk, n) = *bulk;
	h->now.n_bulk++;
}

series_id build_heap_series(struct profile *p, capture_id c, const char *name, enum unit unit)
{
	struct store_heap *h = &p->heap;
	struct heap_series key = { .capture = c, .name = build_cstring(p, name), .unit = unit };
	uint32_t n = h->now.n_series;

	for (uint32_t i = 0; i < n; i++) {
		const struct heap_series *s = &STORE_AT(struct heap_series, h->series, i);

		if (s->capture.v == c.v && s->name.v == key.name.v)
			return (series_id){ i };
	}
	if (!store_room(p, &h->series, (uint64_t)n + 1))
		return (series_id){ 0 };
	STORE_AT(struct heap_series, h->series, n) = key;
	h->now.n_series++;
	return (series_id){ n };
}

void build_heap_reading(struct profile *p, series_id s, int64_t time_ns, int64_t value)
{
	struct store_heap *h = &p->heap;
	uint32_t n = h->now.n_readings;

	assert(s.v < h->now.n_series);
	if (!store_room(p, &h->readings, (uint64_t)n + 1))
		return;
	STORE_AT(struct heap_reading, h->readings, n) = (struct heap_reading){ s.v, time_ns,
									       value };
	h->now.n_readings++;
}

void build_heap_mark(struct profile *p, const struct heap_mark *m)
{
	struct store_heap *h = &p->heap;
	uint32_t n = h->now.n_marks;

	if (!store_room(p, &h->marks, (uint64_t)n + 1))
		return;
	STORE_AT(struct heap_mark, h->marks, n) = *m;
	h->now.n_marks++;
}

/* Reading. */

void profile_heap(const struct profile *p, struct heap_columns *c)
{
	struct profile *mutable = (struct profile *)p;

	pthread_mutex_lock(&mutable->publication);
	*c = p->heap.published;
	pthread_mutex_unlock(&mutable->publication);
}

struct heap_track profile_heap_track(const struct profile *p, track_id t)
{
	struct profile *mutable = (struct profile *)p;
	struct heap_track track;

	pthread_mutex_lock(&mutable->publication);
	track = STORE_AT(struct store_track, p->heap.tracks, t.v).published;
	pthread_mutex_unlock(&mutable->publication);
	return track;
}

const struct heap_series *profile_heap_series(const struct profile *p, series_id s)
{
	return &STORE_AT(struct heap_series, p->heap.series, s.v);
}

const struct heap_reading *profile_heap_readings(const struct profile *p)
{
	return p->heap.readings.base;
}

const struct heap_mark *profile_heap_marks(const struct profile *p)
{
	return p->heap.marks.base;
}

static int compare_large(const void *key, const void *element)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct heap_large *)element)->allocation;

	return (a > b) - (a < b);
}

uint64_t allocation_large_size(const struct heap_columns *c, uint32_t i)
{
	const struct heap_large *l =
		c->n_large ? bsearch(&i, c->large, c->n_large, sizeof(*l), compare_large) : NULL;

	return l ? l->size : HEAP_SIZE_FAR;
}

static void read_ends(const struct heap_columns *c, uint32_t from, uint32_t n,
		      struct heap_rows_read *out)
{
	const struct heap_group *g = &c->group[from / HEAP_GROUP];
	uint64_t brief = __atomic_load_n(&g->brief, __ATOMIC_ACQUIRE);
	const uint32_t *end = c->end + heap_group_end(g, brief, from % HEAP_GROUP);

	brief >>= from % HEAP_GROUP;
	for (uint32_t i = 0; i < n; i++, brief >>= 1)
		if (brief & 1)
			out->end[i] = (out->begin[i] + 1) | END_TEMPORARY;
		else
			out->end[i] = __atomic_load_n(end++, __ATOMIC_ACQUIRE);
}

uint32_t allocation_read(const struct heap_columns *c, uint32_t from, uint32_t to,
			 struct heap_rows_read *out)
{
	const struct heap_group *g = &c->group[from / HEAP_GROUP];
	uint32_t wide = __atomic_load_n(&g->wide, __ATOMIC_ACQUIRE), n = to - from;

	if (wide)
		memcpy(out->begin, &c->wide[wide - 1][from % HEAP_GROUP], n * sizeof(uint32_t));
	else
		for (uint32_t i = 0; i < n; i++)
			out->begin[i] = g->begin + c->step[from + i];
	read_ends(c, from, n, out);
	for (uint32_t i = 0; i < n; i++)
		out->origin[i] = c->origin[from + i];
	for (uint32_t i = 0; i < n && c->high; i++)
		out->origin[i] |= (uint32_t)c->high[from + i] << 16;
	for (uint32_t i = 0; i < n; i++)
		out->size[i] = allocation_size(c, from + i);
	return n;
}

uint64_t allocation_read_kept(const struct heap_columns *c, uint32_t from, uint32_t to,
			      const bool *of, struct heap_rows_read *out, uint32_t *n)
{
	const struct heap_group *g = &c->group[from / HEAP_GROUP];
	uint64_t brief = __atomic_load_n(&g->brief, __ATOMIC_ACQUIRE);
	uint32_t first = from - from % HEAP_GROUP, k = 0;
	const uint32_t *end = c->end + heap_group_end(g, brief, from % HEAP_GROUP);
	uint64_t rows = UINT64_MAX >> (HEAP_GROUP - (to - from)) << from % HEAP_GROUP;

	for (uint64_t left = rows & ~brief; left; left &= left - 1, end++) {
		uint32_t i = first + (uint32_t)__builtin_ctzll(left);
		uint32_t origin = allocation_origin(c, i);

		if (of && !of[origin])
			continue;
		out->row[k] = i;
		out->begin[k] = allocation_begin(c, i);
		out->end[k] = __atomic_load_n(end, __ATOMIC_ACQUIRE);
		out->origin[k] = origin;
		out->size[k] = allocation_size(c, i);
		k++;
	}
	*n = k;
	return rows & brief;
}

int64_t heap_track_time(const struct heap_track *t, uint32_t moment)
{
	uint32_t from = 0; /* ticks below from are not after moment */

	BISECT(from, t->n_ticks, i, t->tick[i].moment <= moment);
	return from > 0 ? t->tick[from - 1].time_ns : TIME_NONE;
}

int64_t heap_track_time_near(const struct heap_track *t, uint32_t moment, uint32_t *near)
{
	uint32_t from = *near < t->n_ticks ? *near : 0, to, step = 1;

	if (t->n_ticks == 0)
		return TIME_NONE;
	while (from > 0 && t->tick[from].moment > moment) {
		from = from > step ? from - step : 0;
		step *= 2;
	}
	/* The tick at from is not after it. Steps become wider until one is. */
	for (step = 1; step < t->n_ticks - from && t->tick[from + step].moment <= moment;) {
		from += step;
		step *= 2;
	}
	to = step < t->n_ticks - from ? from + step : t->n_ticks;
	while (to - from > 1) {
		uint32_t middle = from + (to - from) / 2;

		if (t->tick[middle].moment <= moment)
			from = middle;
		else
			to = middle;
	}
	*near = from;
	return t->tick[from].time_ns;
}

uint32_t heap_track_moment_near(const struct heap_track *t, int64_t time_ns, uint32_t *near)
{
	uint32_t from = *near, to, step = 1;

	if (from > 0 && (from > t->n_ticks || t->tick[from - 1].time_ns >= time_ns))
		from = 0;
	/* Ticks below from are before the time. Steps become wider until one is not. */
	while (step < t->n_ticks - from && t->tick[from + step - 1].time_ns < time_ns) {
		from += step;
		step *= 2;
	}
	to = step < t->n_ticks - from ? from + step : t->n_ticks;
	BISECT(from, to, i, t->tick[i].time_ns < time_ns);
	*near = from;
	return from < t->n_ticks ? t->tick[from].moment : t->n_moments;
}

uint32_t heap_track_moment(const struct heap_track *t, int64_t time_ns)
{
	uint32_t near = 0;

	return heap_track_moment_near(t, time_ns, &near);
}
