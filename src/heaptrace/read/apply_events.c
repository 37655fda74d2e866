/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heaptrace/read/apply_events.h"

#include <stdlib.h>

#include "heaptrace/heap_events.h"
#include "heaptrace/read/apply_records.h"
#include "heaptrace/read/heap_readahead.h"
#include "heaptrace/read/heap_rows.h"
#include "heaptrace/read/heap_stacks.h"
#include "heaptrace/read/origin_cache.h"
#include "profile/builder.h"
#include "profile/heap/heap_append.h"

/* Events between a look ahead and what it is for. */
#define PAGE_AHEAD   72u
#define ROW_AHEAD    56u
#define GROUP_AHEAD  40u
#define END_AHEAD    24u
#define ORIGIN_AHEAD 20u

static struct heap_worker *worker_of(struct heap_taker *t, uint32_t thread)
{
	/* The recorder counts threads from 1; what a file says beyond that shares a place. */
	size_t at = thread < 65536 ? thread : 0;

	while (t->workers.n <= at)
		vec_push(&t->workers,
			 ((struct heap_worker){ .name.to_ns = INT64_MIN, .until_ns = INT64_MIN }));
	return &t->workers.at[at];
}

/* The name that the thread has now. What is at hand was of the last one's, and of the mappings then. */
static void refresh(struct heap_taker *t, struct heap_worker *w, uint32_t thread, int64_t time_ns)
{
	uint32_t epoch = heap_stacks_epoch(t->stacks, time_ns);
	int64_t end = heap_stacks_epoch_end(t->stacks);

	if (!w->at_hand.at || w->epoch != epoch || time_ns >= w->name.to_ns ||
	    w->name.index != thread) {
		w->name = apply_records_thread(t->tell, thread, time_ns);
		w->epoch = epoch;
		origin_cache_begin(&w->at_hand);
	}
	w->until_ns = w->name.to_ns < end ? w->name.to_ns : end;
}

/* What is done where, as one number: a node, ORIGIN_ flags, and whether it is mapping. Not 0. */
static inline uint64_t deed(uint32_t node, uint32_t flags, bool maps)
{
	return (uint64_t)node << 8 | flags << 2 | (maps ? 3u : 1u);
}

static uint64_t deed_of(const struct heap_event *e)
{
	bool moves = e->op == HEAP_REALLOC || e->op == HEAP_REALLOC_ADDRESS;
	uint32_t flags = moves ? ORIGIN_REALLOC : 0;

	if (e->op == HEAP_FREE || e->op == HEAP_FREE_ADDRESS || e->op == HEAP_RANGE)
		return deed(e->stack, 0, e->op == HEAP_RANGE);
	return deed(e->stack, flags | (e->kind == HEAP_ALIGNED ? ORIGIN_ALIGNED : 0), false);
}

/* An origin that is not at hand. */
static origin_id find_origin(struct heap_taker *t, struct heap_worker *w, uint64_t key,
			     int64_t time_ns)
{
	struct heap_origin o = { .thread = w->name.thread.v, .flags = key >> 2 & 0x3f };
	event_id event = key & 2 ? t->map_event : t->heap_event;
	origin_id origin;

	o.stack = heap_stacks_get(t->stacks, w->name.root, (uint32_t)(key >> 8), time_ns).v;
	o.event = (uint16_t)event.v;
	o.track = (uint16_t)t->track.v;
	origin = build_heap_origin(t->profile, &o);
	origin_cache_add(&w->at_hand, key, origin.v);
	return origin;
}

/* Where a deed was done, and by whom. */
static inline origin_id origin_of(struct heap_taker *t, struct heap_worker *w, uint64_t key,
				  int64_t time_ns)
{
	const struct heap_hand *a = origin_cache_find(&w->at_hand, key);

	return a->key == key ? (origin_id){ a->origin } : find_origin(t, w, key, time_ns);
}

/* Who frees, where the recording has it. */
static origin_id freer_of(struct heap_taker *t, struct heap_worker *w, const struct heap_event *e,
			  int64_t time_ns)
{
	if (!t->tell->free_stacks || e->stack == 0)
		return (origin_id){ ID_NONE };
	return origin_of(t, w, deed_of(e), time_ns);
}

static void release(struct heap_taker *t, struct heap_worker *w, const struct heap_event *e,
		    int64_t time_ns, allocation_id a, bool temporary)
{
	if (a.v != ID_NONE)
		build_release(t->profile, a, t->track, temporary, freer_of(t, w, e, time_ns));
}

static void allocate(struct heap_taker *t, struct heap_worker *w, const struct heap_event *e,
		     int64_t time_ns)
{
	allocation_id a = heap_rows_allocate(t->rows, e->size,
					     origin_of(t, w, deed_of(e), time_ns));

	if (a.v == ID_NONE)
		heap_rows_skip(t->rows, e->id, 1);
	if (a.v == ID_NONE || heap_rows_take(t->rows, e->id, a) != HEAP_ROWS_FREED)
		return;
	build_moment(t->profile, t->track, time_ns);
	build_release(t->profile, a, t->track, false, (origin_id){ ID_NONE });
}

static void move_range(struct heap_taker *t, struct heap_worker *w, const struct heap_event *e,
		       int64_t time_ns)
{
	origin_id who = origin_of(t, w, deed_of(e), time_ns);
	uint64_t from = e->old_address, to = e->address;

	switch ((enum heap_range)e->kind) {
	case HEAP_MAP:
		heap_rows_map(t->rows, to, e->size, who);
		break;
	case HEAP_UNMAP:
		heap_rows_unmap(t->rows, to, e->size, who);
		break;
	case HEAP_REMAP:
		heap_rows_unmap(t->rows, from, e->old_size, who);
		heap_rows_map(t->rows, to, e->size, who);
		break;
	case HEAP_BREAK:
		if (to > from)
			heap_rows_map(t->rows, from, to - from, who);
		else
			heap_rows_unmap(t->rows, to, from - to, who);
		break;
	}
}

static void take_event(struct heap_taker *t, struct heap_worker *w, const struct heap_event *e,
		       int64_t time_ns)
{
	uint64_t fresh = w->fresh_id;

	if (e->op == HEAP_EVICT) {
		heap_rows_evict(t->rows, e->id, e->address);
		return;
	}
	if (e->op == HEAP_GAP) {
		heap_rows_skip(t->rows, e->id, e->size);
		w->fresh_id = 0;
		return;
	}
	build_moment(t->profile, t->track, time_ns);
	w->fresh_id = 0;
	switch ((enum heap_op)e->op) {
	case HEAP_ALLOC:
		allocate(t, w, e, time_ns);
		w->fresh_id = e->id;
		break;
	case HEAP_FREE:
		release(t, w, e, time_ns, heap_rows_end(t->rows, e->id), e->id == fresh);
		break;
	case HEAP_FREE_ADDRESS:
		release(t, w, e, time_ns, heap_rows_end_address(t->rows, e->old_address), false);
		break;
	case HEAP_REALLOC:
	case HEAP_REALLOC_ADDRESS:
		release(t, w, e, time_ns,
			e->op == HEAP_REALLOC ? heap_rows_end(t->rows, e->old_id)
					      : heap_rows_end_address(t->rows, e->old_address),
			false);
		allocate(t, w, e, time_ns);
		w->fresh_id = e->id;
		break;
	case HEAP_RANGE:
		move_range(t, w, e, time_ns);
		break;
	case HEAP_EVICT:
	case HEAP_GAP:
		break;
	}
}

/* What a usual allocation is at hand by. */
static inline uint64_t key_of(const struct heap_brief *e)
{
	return deed(e->stack, e->kind == HEAP_ALIGNED ? ORIGIN_ALIGNED : 0, false);
}

/* Does an event, which is not the first, free what the one before it did not allocate? That lies near. */
static inline bool frees_far(const struct heap_brief *e)
{
	return e->op == HEAP_FREE && e->id != e[-1].id;
}

/*
 * What is freed lies anywhere in large tables: each of them says where in the next one, so that an event is looked at once for
 * each of them, when what says so has come near. See heap_rows_fetch().
 */
static inline __attribute__((always_inline)) void look_ahead(const struct heap_append *pen,
							     const struct heap_rows_pages *rows,
							     const struct heap_brief *e, size_t n)
{
	if (n > PAGE_AHEAD && frees_far(&e[PAGE_AHEAD]))
		heap_rows_fetch_page(rows, e[PAGE_AHEAD].id);
	if (n > ROW_AHEAD && frees_far(&e[ROW_AHEAD]))
		heap_rows_fetch(rows, e[ROW_AHEAD].id);
	if (n > GROUP_AHEAD && frees_far(&e[GROUP_AHEAD]))
		heap_append_group_soon(pen, heap_rows_now(rows, e[GROUP_AHEAD].id));
	if (n > END_AHEAD && frees_far(&e[END_AHEAD]))
		heap_append_release_soon(pen, heap_rows_now(rows, e[END_AHEAD].id));
}

/* The rates of sampling up to a time. */
static void take_samplings(struct heap_taker *t, struct heap_append *pen, int64_t time_ns)
{
	while (t->n_samplings < t->tell->samplings.n &&
	       t->tell->samplings.at[t->n_samplings].time_ns <= time_ns) {
		const struct heap_sampling *s = &t->tell->samplings.at[t->n_samplings++];

		heap_append_give(pen);
		build_heap_rate(t->profile, t->track, s->sample_bytes, s->exact_from);
		heap_append_take(pen, t->profile, t->track);
	}
}

/* The same of where an allocation was made, of which there may be many thousands. */
static inline __attribute__((always_inline)) void look_for_origin(const struct heap_worker *w,
								  const struct heap_brief *e,
								  size_t n)
{
	if (n > ORIGIN_AHEAD && e[ORIGIN_AHEAD].op == HEAP_ALLOC)
		origin_cache_soon(&w->at_hand, key_of(&e[ORIGIN_AHEAD]));
}

/*
 * Is an event of a time of which some were dropped? Then whether what it allocated was freed is not known. From there on
 * everything is there.
 */
static inline bool is_skipped(const struct heap_taker *t, const struct heap_brief *e)
{
	return e->time <= t->skipped_until && t->n_skipped > 0;
}

/* What a run's usual events have to do with. */
struct run {
	struct heap_append pen;
	struct heap_worker *w;
	const struct heap_rows_pages *rows;
	/* of w->fresh_id, when this run took it and it is live; else {ID_NONE} */
	allocation_id fresh;
	int64_t until_ns; /* from here on the worker, or the rate of sampling, may be another */
};

/* A time at which something may be other than before. */
static void come_to(struct heap_taker *t, struct run *run, uint32_t thread, int64_t time_ns)
{
	const struct apply_records *tell = t->tell;
	int64_t next = INT64_MAX;

	take_samplings(t, &run->pen, time_ns);
	refresh(t, run->w, thread, time_ns);
	if (t->n_samplings < tell->samplings.n)
		next = tell->samplings.at[t->n_samplings].time_ns;
	run->until_ns = next < run->w->until_ns ? next : run->w->until_ns;
}

static bool take_allocation(struct heap_taker *t, struct run *run, const struct heap_brief *e,
			    int64_t time_ns)
{
	origin_id origin = origin_of(t, run->w, key_of(e), time_ns);
	allocation_id a;

	if (!heap_append_allocation(&run->pen, time_ns, e->size, origin, &a))
		return false;
	run->w->fresh_id = e->id;
	run->fresh = a;
	if (heap_rows_take_next(run->rows, e->id, a))
		return true;
	switch (heap_rows_take(t->rows, e->id, a)) {
	case HEAP_ROWS_TAKEN:
		return true;
	case HEAP_ROWS_FREED:
		heap_append_release(&run->pen, a, false);
		break;
	case HEAP_ROWS_ODD:
		break;
	}
	run->fresh.v = ID_NONE;
	return true;
}

/* The block that a free means; most are what the thread has just allocated. */
static inline allocation_id end_of(struct heap_taker *t, const struct run *run, uint32_t id)
{
	allocation_id a = heap_rows_in_row(run->rows, id);

	if (a.v == ID_NONE)
		return heap_rows_end(t->rows, id);
	/* What is fresh is not looked at, see heap_append_release(). */
	if (id == run->w->fresh_id && run->fresh.v == a.v)
		return a;
	return heap_append_released(&run->pen, a) ? heap_rows_end(t->rows, id) : a;
}

static bool take_free(struct heap_taker *t, struct run *run, const struct heap_brief *e,
		      int64_t time_ns)
{
	struct heap_worker *w = run->w;
	allocation_id a;

	if (t->tell->free_stacks || !heap_append_moment(&run->pen, time_ns))
		return false;
	a = end_of(t, run, e->id);
	if (a.v == ID_NONE)
		run->pen.n_moments++;
	else
		heap_append_release(&run->pen, a, e->id == w->fresh_id);
	w->fresh_id = 0;
	return true;
}

/* An allocation or a free, which nearly all events are; false: it is for take_event(). */
static inline bool take_usual(struct heap_taker *t, struct run *run, const struct heap_brief *e,
			      int64_t time_ns)
{
	if (e->op == HEAP_ALLOC)
		return take_allocation(t, run, e, time_ns);
	return e->op == HEAP_FREE && take_free(t, run, e, time_ns);
}

/* The same event in full. */
static struct heap_event in_full(const struct heap_brief *e, const struct heap_event *full)
{
	if (e->op == HEAP_TOLD_IN_FULL)
		return full[e->id];
	return (struct heap_event){ .time = e->time,
				    .id = e->id,
				    .size = e->size,
				    .stack = e->stack,
				    .op = e->op,
				    .kind = e->kind };
}

/* One that is not usual. */
static void take_other(struct heap_taker *t, struct run *run, const struct heap_event *e,
		       int64_t time_ns)
{
	heap_append_give(&run->pen);
	take_event(t, run->w, e, time_ns);
	heap_append_take(&run->pen, t->profile, t->track);
	run->fresh.v = ID_NONE;
}

/* The events of a run of a parcel. Behind them there are others in sight, n_seen in all. */
static void take_run(struct heap_taker *t, const struct heap_parcel *p, const struct heap_run *of,
		     size_t n_seen)
{
	struct run run = { .w = worker_of(t, of->thread),
			   .rows = heap_rows_pages(t->rows),
			   .fresh.v = ID_NONE,
			   .until_ns = INT64_MIN };
	const struct heap_brief *e = of->event, *end = e + of->n;
	uint64_t time = UINT64_MAX;
	int64_t time_ns = 0;

	for (; e < end && is_skipped(t, e); e++, n_seen--)
		t->n_left_out++;
	heap_append_take(&run.pen, t->profile, t->track);
	for (; e < end; e++, n_seen--) {
		if (e->time != time) {
			time = e->time;
			time_ns = apply_records_time(t->tell, time);
			if (time_ns >= run.until_ns)
				come_to(t, &run, of->thread, time_ns);
		}
		look_ahead(&run.pen, run.rows, e, n_seen);
		look_for_origin(run.w, e, n_seen);
		if (!take_usual(t, &run, e, time_ns)) {
			struct heap_event full = in_full(e, p->full);

			take_other(t, &run, &full, time_ns);
		}
	}
	heap_append_give(&run.pen);
}

void apply_events_parcel(struct heap_taker *t, const struct heap_parcel *p)
{
	size_t n_seen = p->n_events;

	/* Runs stand one behind the other. */
	for (size_t i = 0; i < p->n_runs; i++) {
		take_run(t, p, &p->run[i], n_seen);
		n_seen -= p->run[i].n;
	}
	t->n_events += p->n_events;
}

static void move_stacks(void *arg, const uint32_t *to, uint32_t n)
{
	struct heap_taker *t = arg;

	(void)to;
	(void)n;
	apply_records_roots(t->tell);
	heap_stacks_forget(t->stacks);
	for (size_t i = 0; i < t->workers.n; i++)
		origin_cache_done(&t->workers.at[i].at_hand);
	apply_events_anew(t);
}

static void move_rows(void *arg, const uint32_t *to, uint32_t n)
{
	struct heap_taker *t = arg;

	heap_rows_move(t->rows, to, n);
}

void heap_taker_begin(struct heap_taker *t)
{
	build_watch(t->profile, &(struct build_watch){ move_stacks, move_rows, t });
}

void apply_events_fold(struct heap_taker *t)
{
	build_heap_fold(t->profile, NULL, NULL);
	build_shorten(t->profile, NULL, NULL);
}

void apply_events_culled(struct heap_taker *t)
{
	struct heap_track track = profile_heap_track(t->profile, t->track);

	builder_begin(t->profile);
	for (; t->n_culled < t->tell->culled.n; t->n_culled++) {
		const struct heap_culled *c = &t->tell->culled.at[t->n_culled];
		struct heap_worker *w = worker_of(t, c->thread);
		struct heap_bulk bulk = { .calls = c->calls,
					  .bytes = c->bytes,
					  .temporary = c->temporary };

		if (!build_heap_claim(t->profile, c->bytes)) {
			t->tell->n_bad++;
			continue;
		}
		refresh(t, w, c->thread, c->time_ns);
		bulk.origin = origin_of(t, w, deed(c->stack, 0, false), c->time_ns).v;
		bulk.moment = heap_track_moment(&track, c->time_ns);
		build_bulk(t->profile, &bulk);
	}
	/* They are in the profile now. */
	t->tell->culled.n = t->n_culled = 0;
	builder_end(t->profile);
}

void apply_events_anew(struct heap_taker *t)
{
	for (size_t i = 0; i < t->workers.n; i++)
		t->workers.at[i].name.to_ns = t->workers.at[i].until_ns = INT64_MIN;
}

void heap_taker_done(struct heap_taker *t)
{
	build_watch_end(t->profile, t);
	for (size_t i = 0; i < t->workers.n; i++)
		origin_cache_done(&t->workers.at[i].at_hand);
	vec_done(&t->workers);
	heap_rows_free(t->rows);
	t->rows = NULL;
}
