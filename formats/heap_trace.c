/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a heap trace: first all headers, records and stacks, then the events of all threads in the
 * order of time.
 */
#include "config.h"

#include "heap_trace.h"

#include "builder.h"
#include "err.h"
#include "fmt.h"
#include "heap_at_hand.h"
#include "heap_blocks.h"
#include "heap_builder.h"
#include "heap_flow.h"
#include "heap_merge.h"
#include "heap_pen.h"
#include "heap_rates.h"
#include "heap_rows.h"
#include "heap_stacks.h"
#include "heap_tell.h"
#include "input.h"
#include "mem.h"
#include "perf_spool.h"
#include "resolver.h"
#include "task.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Events between two publications: some milliseconds. */
#define BATCH_EVENTS 65536

/* Events between a look ahead and what it is for. */
#define ROW_AHEAD 48u
#define END_AHEAD 24u

/* A trace that is being written says something every second: after so long nobody writes it any more. */
#define QUIET_MS 5000

/* Between two looks at whether it grew. */
#define LOOK_MS 100

/* Threads' events come with the writer's rounds, 200 ms apart: after so long those of all threads are there. */
#define SETTLED_NS 1000000000u

/* A thread while its events are read. */
struct worker {
	struct heap_name name;
	uint32_t epoch;              /* of the mappings when at_hand was filled */
	struct heap_at_hand at_hand; /* origins of its name and of that epoch */
	uint64_t fresh_id;           /* what its last event allocated; 0: it was another one */
};

struct reader {
	struct input *in;
	const char *name; /* for messages; borrowed */
	struct profile *profile;
	capture_id capture;
	struct progress *progress;
	struct resolver_options options;
	struct resolver *resolver;
	struct heap_blocks blocks;
	struct heap_tell tell;
	struct heap_stacks *stacks;
	struct heap_merge *merge;
	struct heap_rows *rows;
	track_id track;
	event_id heap_event, map_event;
	VEC(struct worker) workers; /* by index of the thread, see worker_of() */
	uint64_t n_bytes;           /* of blocks of events */
	uint64_t n_allocations;     /* that their headers tell of */
	uint64_t memory_bytes;      /* for allocations; 0: any */
	uint64_t n_events;          /* that were read, those that are left out too */
	uint64_t n_left_out;        /* of them: see is_skipped() */
	uint64_t n_skipped;         /* events that were dropped while recording */
	uint64_t skipped_until; /* the time up to which they were; what is left of it is left out */
	uint64_t n_bad_stacks;
	uint64_t newest;    /* time of the newest event that is in the file */
	size_t n_culled;    /* of tell.culled, that were added */
	bool follow;        /* see struct read_options */
	size_t n_samplings; /* rates of sampling that the events have come to */
};

static int probe(const uint8_t *bytes, size_t n)
{
	return n >= 8 && memcmp(bytes, HEAP_FILE_MAGIC, 8) == 0 ? 100 : 0;
}

/* The first pass. */

static void take_block(struct reader *r, const struct heap_place *place, struct heap_unpacked *u)
{
	const struct heap_block *b = &place->block;

	switch (b->type) {
	case HEAP_BLOCK_EVENTS:
		heap_merge_add(r->merge, place);
		r->n_bytes += b->size;
		r->n_allocations += b->n_allocs;
		r->newest = b->last_time > r->newest ? b->last_time : r->newest;
		r->tell.events_begun = true;
		r->tell.execed = false;
		break;
	case HEAP_BLOCK_STACKS:
		if (heap_blocks_unpack(&r->blocks, place, u) && !heap_stacks_add(r->stacks, b, u))
			r->n_bad_stacks++;
		break;
	case HEAP_BLOCK_RECORDS:
		if (heap_blocks_unpack(&r->blocks, place, u))
			heap_tell_block(&r->tell, u);
		break;
	case HEAP_BLOCK_SKIPPED:
		r->n_skipped += b->n;
		if (b->last_time > r->skipped_until)
			r->skipped_until = b->last_time;
		break;
	default: /* of a later version */
		break;
	}
}

static int read_blocks(struct reader *r, struct err *e)
{
	struct heap_unpacked unpacked = { 0 };
	struct heap_place place;
	int rc;

	builder_begin(r->profile);
	while ((rc = heap_blocks_next(&r->blocks, &place, e)) > 0) {
		take_block(r, &place, &unpacked);
		if (progress_cancelled(r->progress)) {
			rc = -ECANCELED;
			break;
		}
	}
	builder_end(r->profile);
	heap_unpacked_done(&unpacked);
	return rc;
}

/* The second pass. */

static struct worker *worker_of(struct reader *r, uint32_t thread)
{
	/* The recorder counts threads from 1; what a file says beyond that shares a place. */
	size_t at = thread < 65536 ? thread : 0;

	while (r->workers.n <= at)
		vec_push(&r->workers, (struct worker){ .name.to_ns = INT64_MIN });
	return &r->workers.at[at];
}

/* The name that the thread has now. What is at hand was of the last one's, and of the mappings then. */
static void refresh(struct reader *r, struct worker *w, uint32_t thread, int64_t time_ns)
{
	uint32_t epoch = heap_stacks_epoch(r->stacks, time_ns);

	if (w->at_hand.at && w->epoch == epoch && time_ns < w->name.to_ns &&
	    w->name.index == thread)
		return;
	w->name = heap_tell_thread(&r->tell, thread, time_ns);
	w->epoch = epoch;
	heap_at_hand_begin(&w->at_hand);
}

static uint32_t flags_of(const struct heap_event *e)
{
	uint32_t flags = e->op == HEAP_REALLOC || e->op == HEAP_REALLOC_ADDRESS ? ORIGIN_REALLOC
										: 0;

	return flags | (e->op != HEAP_RANGE && e->kind == HEAP_ALIGNED ? ORIGIN_ALIGNED : 0);
}

/* An origin that is not at hand: of the key, see origin_of(). */
static origin_id find_origin(struct reader *r, struct worker *w, const struct heap_event *e,
			     int64_t time_ns, uint64_t key)
{
	struct heap_origin o = { .thread = w->name.thread.v, .flags = key >> 2 & 0x3f };
	event_id event = e->op == HEAP_RANGE ? r->map_event : r->heap_event;
	origin_id origin;

	o.stack = heap_stacks_get(r->stacks, w->name.root, e->stack, time_ns).v;
	o.event = (uint16_t)event.v;
	o.track = (uint16_t)r->track.v;
	origin = build_heap_origin(r->profile, &o);
	heap_at_hand_add(&w->at_hand, key, origin.v);
	return origin;
}

/* Where an event was done, and by whom. */
static origin_id origin_of(struct reader *r, struct worker *w, const struct heap_event *e,
			   int64_t time_ns)
{
	bool frees = e->op == HEAP_FREE || e->op == HEAP_FREE_ADDRESS;
	uint32_t flags = frees ? 0 : flags_of(e);
	uint64_t key = (uint64_t)e->stack << 8 | flags << 2 | (e->op == HEAP_RANGE ? 3u : 1u);
	const struct heap_hand *a = heap_at_hand_find(&w->at_hand, key);

	return a->key == key ? (origin_id){ a->origin } : find_origin(r, w, e, time_ns, key);
}

/* Who frees, where the recording has it. */
static origin_id freer_of(struct reader *r, struct worker *w, const struct heap_event *e,
			  int64_t time_ns)
{
	if (!r->tell.free_stacks || e->stack == 0)
		return (origin_id){ ID_NONE };
	return origin_of(r, w, e, time_ns);
}

static void release(struct reader *r, struct worker *w, const struct heap_event *e, int64_t time_ns,
		    allocation_id a, bool temporary)
{
	if (a.v != ID_NONE)
		build_release(r->profile, a, r->track, temporary, freer_of(r, w, e, time_ns));
}

static void allocate(struct reader *r, struct worker *w, const struct heap_event *e,
		     int64_t time_ns)
{
	allocation_id a = build_allocation(r->profile, r->track, e->size,
					   origin_of(r, w, e, time_ns));

	if (a.v == ID_NONE || heap_rows_take(r->rows, e->id, a) != HEAP_ROWS_FREED)
		return;
	build_moment(r->profile, r->track, time_ns);
	build_release(r->profile, a, r->track, false, (origin_id){ ID_NONE });
}

static void move_range(struct reader *r, struct worker *w, const struct heap_event *e,
		       int64_t time_ns)
{
	origin_id who = origin_of(r, w, e, time_ns);
	uint64_t from = e->old_address, to = e->address;

	switch ((enum heap_range)e->kind) {
	case HEAP_MAP:
		heap_rows_map(r->rows, to, e->size, who);
		break;
	case HEAP_UNMAP:
		heap_rows_unmap(r->rows, to, e->size, who);
		break;
	case HEAP_REMAP:
		heap_rows_unmap(r->rows, from, e->old_size, who);
		heap_rows_map(r->rows, to, e->size, who);
		break;
	case HEAP_BREAK:
		if (to > from)
			heap_rows_map(r->rows, from, to - from, who);
		else
			heap_rows_unmap(r->rows, to, from - to, who);
		break;
	}
}

static void take_event(struct reader *r, struct worker *w, const struct heap_event *e,
		       int64_t time_ns)
{
	uint64_t fresh = w->fresh_id;

	if (e->op == HEAP_EVICT) {
		heap_rows_evict(r->rows, e->id, e->address);
		return;
	}
	if (e->op == HEAP_GAP) {
		heap_rows_skip(r->rows, e->id, e->size);
		w->fresh_id = 0;
		return;
	}
	build_moment(r->profile, r->track, time_ns);
	w->fresh_id = 0;
	switch ((enum heap_op)e->op) {
	case HEAP_ALLOC:
		allocate(r, w, e, time_ns);
		w->fresh_id = e->id;
		break;
	case HEAP_FREE:
		release(r, w, e, time_ns, heap_rows_end(r->rows, e->id), e->id == fresh);
		break;
	case HEAP_FREE_ADDRESS:
		release(r, w, e, time_ns, heap_rows_end_address(r->rows, e->old_address), false);
		break;
	case HEAP_REALLOC:
	case HEAP_REALLOC_ADDRESS:
		release(r, w, e, time_ns,
			e->op == HEAP_REALLOC ? heap_rows_end(r->rows, e->old_id)
					      : heap_rows_end_address(r->rows, e->old_address),
			false);
		allocate(r, w, e, time_ns);
		w->fresh_id = e->id;
		break;
	case HEAP_RANGE:
		move_range(r, w, e, time_ns);
		break;
	case HEAP_EVICT:
	case HEAP_GAP:
		break;
	}
}

/* What is freed lies anywhere in large tables: first what says where, then that is brought near. */
static inline void look_ahead(const struct heap_pen *pen, const struct heap_rows_pages *rows,
			      const struct heap_event *e, size_t n)
{
	if (n > ROW_AHEAD && e[ROW_AHEAD].op == HEAP_FREE)
		heap_rows_fetch(rows, e[ROW_AHEAD].id);
	if (n > END_AHEAD && e[END_AHEAD].op == HEAP_FREE)
		heap_pen_release_soon(pen, heap_rows_now(rows, e[END_AHEAD].id));
}

/* The rates of sampling up to a time. */
static inline void take_samplings(struct reader *r, struct heap_pen *pen, int64_t time_ns)
{
	while (r->n_samplings < r->tell.samplings.n &&
	       r->tell.samplings.at[r->n_samplings].time_ns <= time_ns) {
		const struct heap_sampling *s = &r->tell.samplings.at[r->n_samplings++];

		heap_pen_give(pen);
		build_heap_rate(r->profile, r->track, s->sample_bytes, s->exact_from);
		heap_pen_take(pen, r->profile, r->track);
	}
}

/*
 * Is an event of a time of which some were dropped? Then whether what it allocated was freed is not known. From there on
 * everything is there.
 */
static inline bool is_skipped(const struct reader *r, const struct heap_event *e)
{
	return e->time <= r->skipped_until && r->n_skipped > 0;
}

/* What a run's usual events have to do with. */
struct run {
	struct heap_pen pen;
	struct worker *w;
	allocation_id
		fresh; /* of w->fresh_id, when this run took it and it is live; else {ID_NONE} */
};

/* The block that a free means; most are what the thread has just allocated. */
static inline allocation_id end_of(struct reader *r, const struct run *run, uint64_t id)
{
	if (id != run->w->fresh_id || run->fresh.v == ID_NONE)
		return heap_rows_end(r->rows, id);
	heap_rows_end_taken(r->rows, id);
	return run->fresh;
}

/* An allocation or a free, which nearly all events are; false: it is for take_event(). */
static inline bool take_usual(struct reader *r, struct run *run, const struct heap_event *e,
			      int64_t time_ns)
{
	struct heap_pen *pen = &run->pen;
	struct worker *w = run->w;
	allocation_id a;

	if (e->op == HEAP_ALLOC) {
		if (!heap_pen_allocation(pen, time_ns, e->size, origin_of(r, w, e, time_ns), &a))
			return false;
		w->fresh_id = e->id;
		run->fresh = a;
		switch (heap_rows_take(r->rows, e->id, a)) {
		case HEAP_ROWS_TAKEN:
			return true;
		case HEAP_ROWS_FREED:
			heap_pen_release(pen, a, false);
			break;
		case HEAP_ROWS_ODD:
			break;
		}
		run->fresh.v = ID_NONE;
		return true;
	}
	if (e->op != HEAP_FREE || r->tell.free_stacks || !heap_pen_may_release(pen, time_ns))
		return false;
	a = end_of(r, run, e->id);
	if (a.v == ID_NONE)
		pen->n_moments++;
	else
		heap_pen_release(pen, a, e->id == w->fresh_id);
	w->fresh_id = 0;
	return true;
}

/* Behind the n events there are others in sight, n_seen in all. */
static void take_run(struct reader *r, uint32_t thread, const struct heap_event *e, size_t n,
		     size_t n_seen)
{
	const struct heap_rows_pages *rows = heap_rows_pages(r->rows);
	struct run run = { .w = worker_of(r, thread), .fresh.v = ID_NONE };
	uint64_t time = UINT64_MAX;
	int64_t time_ns = 0;

	for (; n > 0 && is_skipped(r, e); e++, n--, n_seen--)
		r->n_left_out++;
	heap_pen_take(&run.pen, r->profile, r->track);
	for (size_t i = 0; i < n; i++) {
		if (e[i].time != time) {
			time = e[i].time;
			time_ns = heap_tell_time(&r->tell, time);
			take_samplings(r, &run.pen, time_ns);
			refresh(r, run.w, thread, time_ns);
		}
		look_ahead(&run.pen, rows, &e[i], n_seen - i);
		if (take_usual(r, &run, &e[i], time_ns))
			continue;
		heap_pen_give(&run.pen);
		take_event(r, run.w, &e[i], time_ns);
		heap_pen_take(&run.pen, r->profile, r->track);
		run.fresh.v = ID_NONE;
	}
	heap_pen_give(&run.pen);
}

static void take_parcel(struct reader *r, const struct heap_parcel *p)
{
	size_t n_seen = p->n_events;

	/* Runs stand one behind the other. */
	for (size_t i = 0; i < p->n_runs; i++) {
		take_run(r, p->run[i].thread, p->run[i].event, p->run[i].n, n_seen);
		n_seen -= p->run[i].n;
	}
	r->n_events += p->n_events;
}

static int read_events(struct reader *r)
{
	struct heap_flow *flow = heap_flow_new(r->merge);
	struct heap_parcel p = { .n_runs = 1 };
	int rc = 0;

	while (p.n_runs > 0 && rc == 0) {
		uint64_t until = r->n_events + BATCH_EVENTS;

		builder_begin(r->profile);
		do {
			p = heap_flow_next(flow);
			take_parcel(r, &p);
		} while (p.n_runs > 0 && r->n_events < until);
		rc = builder_end(r->profile);
		progress_set(r->progress, p.n_bytes, r->n_bytes);
		if (rc == 0 && progress_cancelled(r->progress))
			rc = -ECANCELED;
	}
	heap_flow_free(flow);
	return rc;
}

/* What was only counted is put where it was said. */
static void add_culled(struct reader *r)
{
	struct heap_track track = profile_heap_track(r->profile, r->track);

	builder_begin(r->profile);
	for (; r->n_culled < r->tell.culled.n; r->n_culled++) {
		const struct heap_culled *c = &r->tell.culled.at[r->n_culled];
		struct heap_event as = { .op = HEAP_ALLOC, .stack = c->stack };
		struct worker *w = worker_of(r, c->thread);
		struct heap_bulk bulk = { .calls = c->calls,
					  .bytes = c->bytes,
					  .temporary = c->temporary };

		refresh(r, w, c->thread, c->time_ns);
		bulk.origin = origin_of(r, w, &as, c->time_ns).v;
		bulk.moment = heap_track_moment(&track, c->time_ns);
		build_bulk(r->profile, &bulk);
	}
	builder_end(r->profile);
}

/* Facts. */

/* So many of something, and what is the matter with them. */
static void loss(struct reader *r, const char *name, uint64_t n, const char *one, const char *what)
{
	char text[FMT_COUNTED_SIZE];

	if (n > 0)
		build_fact(r->profile, r->capture, "losses", name, FACT_LOSS, "%s %s",
			   fmt_counted(text, (int64_t)(n & INT64_MAX), one), what);
}

static void state_dropped(struct reader *r)
{
	int64_t begin = heap_tell_time(&r->tell, 0);
	char n[FMT_SIZE], until[FMT_SIZE];

	if (r->n_skipped == 0)
		return;
	build_fact(
		r->profile, r->capture, "losses", "dropped", FACT_LOSS,
		"%s events, all of the first %s, to stay below the size asked for: what was allocated then is not known",
		fmt_count(n, (int64_t)((r->n_skipped + r->n_left_out) & INT64_MAX)),
		fmt_ns(until, heap_tell_time(&r->tell, r->skipped_until) - begin));
}

static void state_losses(struct reader *r)
{
	const struct heap_blocks *b = &r->blocks;
	struct heap_rows_stats rows = heap_rows_stats(r->rows);
	char bad[FMT_COUNTED_SIZE];

	if (r->tell.execed)
		build_fact(
			r->profile, r->capture, "file", "ended", FACT_PLAIN,
			"with the program that the process became, which has a trace of its own if it could be recorded");
	else if (!r->tell.ended)
		build_fact(r->profile, r->capture, "losses", "not finished", FACT_LOSS,
			   "the recording was cut short, or goes on: all whole blocks were read");
	loss(r, "cut", b->n_cut_bytes, "byte", "at the end of no whole block");
	loss(r, "missing", b->n_missing, "block", "missing");
	if (b->n_bad > 0)
		build_fact(r->profile, r->capture, "losses", "damaged", FACT_LOSS,
			   "%s damaged, the first at offset %" PRIu64,
			   fmt_counted(bad, (int64_t)b->n_bad, "block"), b->first_bad_at);
	state_dropped(r);
	loss(r, "events", heap_merge_lost(r->merge), "event", "without sense");
	loss(r, "records", r->tell.n_bad, "record", "without sense");
	loss(r, "stacks", r->n_bad_stacks, "block", "of stacks without sense");
	loss(r, "ids", rows.n_odd_ids, "event", "of allocations that cannot be");
	if (r->n_skipped == 0)
		loss(r, "frees", rows.n_open_frees, "free",
		     "of allocations that are not in the file");
	loss(r, "lost", r->tell.n_lost, "event",
	     "not recorded: there was no memory to note them, or the recorder itself was at work");
}

static void state_facts(struct reader *r)
{
	const struct capture *c = profile_capture(r->profile, r->capture);
	struct heap_rows_stats rows = heap_rows_stats(r->rows);
	uint64_t n_unknown = rows.n_unknown_frees + (r->n_skipped > 0 ? rows.n_open_frees : 0);
	char text[FMT_SIZE];

	builder_begin(r->profile);
	build_fact(r->profile, r->capture, "file", "size", FACT_PLAIN, "%s",
		   fmt_bytes(text, (int64_t)input_file_bytes(r->in)));
	build_fact(r->profile, r->capture, "file", "events", FACT_PLAIN, "%s",
		   fmt_count(text, (int64_t)(r->n_events - r->n_left_out)));
	if (capture_begin(c) != TIME_NONE)
		build_fact(r->profile, r->capture, "file", "duration", FACT_PLAIN, "%s",
			   fmt_ns(text, capture_end(c) - capture_begin(c)));
	heap_rates_state(&r->tell);
	if (n_unknown > 0)
		build_fact(r->profile, r->capture, "file", "frees of other blocks", FACT_PLAIN,
			   "%s, of what was not recorded", fmt_count(text, (int64_t)n_unknown));
	state_losses(r);
	builder_end(r->profile);
}

static void begin(struct reader *r, const struct read_options *o)
{
	int32_t pid = (int32_t)(r->blocks.head.pid & INT32_MAX);
	struct heap_tell *t = &r->tell;

	if (o && o->resolve)
		r->options = *o->resolve;
	r->memory_bytes = o ? o->memory_bytes : 0;
	r->follow = o && o->follow && input_seekable(r->in) && r->progress;
	t->profile = r->profile;
	t->capture = r->capture;
	t->head = r->blocks.head;
	t->root_names = o ? o->root_names : ROOT_COMM;
	t->resolver = r->resolver = resolver_new(r->profile, r->capture, &r->options);
	t->stacks = r->stacks = heap_stacks_new(r->profile, r->resolver, pid);
	r->merge = heap_merge_new(&r->blocks);
	builder_begin(r->profile);
	t->process = build_process(r->profile, r->capture, pid);
	r->heap_event = build_heap_event(r->profile, "malloc");
	builder_end(r->profile);
}

/* Do allocations take more memory than they should? A sentence of what failed is a loss, not an end. */
static void begin_allocations(struct reader *r)
{
	uint64_t each = (4 + r->tell.free_stacks) * sizeof(uint32_t);
	struct err e = ERR_INIT;

	if (r->memory_bytes == 0 || r->n_allocations < r->memory_bytes / each)
		return;
	if (build_heap_in_files(r->profile, r->name, &e) < 0)
		build_fact(r->profile, r->capture, "losses", "memory", FACT_LOSS, "%s",
			   err_text(&e));
	else
		build_fact(r->profile, r->capture, "file", "allocations", FACT_PLAIN,
			   "are kept in temporary files, as memory may not hold them");
	err_clear(&e);
}

/* What the first pass told is needed to make the track. */
static void begin_events(struct reader *r)
{
	builder_begin(r->profile);
	begin_allocations(r);
	r->track = build_heap_track(r->profile, r->tell.process, 0, 0);
	build_heap_manner(r->profile, r->track, r->tell.attached,
			  heap_tell_time(&r->tell, r->tell.held) - heap_tell_time(&r->tell, 0));
	r->map_event = build_heap_event(r->profile, "mmap");
	builder_end(r->profile);
	r->rows = heap_rows_new(r->profile, r->track);
}

/* Gives back what names do not need: these take memory of their own. */
static void done_with_events(struct reader *r)
{
	for (size_t i = 0; i < r->workers.n; i++)
		heap_at_hand_done(&r->workers.at[i].at_hand);
	vec_done(&r->workers);
	heap_merge_free(r->merge);
	heap_rows_free(r->rows);
	heap_stacks_free(r->stacks);
	r->merge = NULL;
	r->rows = NULL;
	r->stacks = NULL;
}

static int find_names(struct reader *r)
{
	int rc = resolver_name(r->resolver, r->progress);

	return rc == 0 ? resolver_inline(r->resolver, r->progress) : rc;
}

/* What of the file has all that happened before it, of all threads. */
static void settle(struct reader *r)
{
	uint64_t newest = r->tell.newest > r->newest ? r->tell.newest : r->newest;
	uint64_t unit = r->blocks.head.unit_ns > 0 ? r->blocks.head.unit_ns : 1;
	uint64_t open = SETTLED_NS / unit + r->tell.held;

	heap_merge_until(r->merge, newest > open ? newest - open : 0);
	/* Names of threads may have changed. */
	for (size_t i = 0; i < r->workers.n; i++)
		r->workers.at[i].name.to_ns = INT64_MIN;
}

/* Is the trace still being written? */
static bool goes_on(const struct reader *r)
{
	return r->follow && !r->tell.ended && input_quiet_ms(r->in) < QUIET_MS;
}

/* Waits until there is more, or nobody writes any more. */
static int wait_for_more(struct reader *r)
{
	uint64_t bytes = input_file_bytes(r->in);

	while (goes_on(r) && input_file_bytes(r->in) == bytes) {
		if (progress_cancelled(r->progress))
			return -ECANCELED;
		poll(NULL, 0, LOOK_MS);
	}
	return 0;
}

/* As long as the trace is being written, all of it that is settled. */
static int follow(struct reader *r, struct err *e)
{
	int rc = 0;

	while (rc == 0 && goes_on(r)) {
		atomic_store(&r->progress->grows, true); /* there is progress where one follows */
		settle(r);
		rc = read_events(r);
		if (rc < 0)
			break;
		add_culled(r);
		rc = find_names(r);
		if (rc == 0)
			rc = wait_for_more(r);
		if (rc == 0 && heap_blocks_resume(&r->blocks))
			rc = read_blocks(r, e);
	}
	if (r->progress)
		atomic_store(&r->progress->grows, false);
	settle(r);
	heap_merge_until(r->merge, UINT64_MAX);
	return rc;
}

/* Of a trace that the reader was told to stop following, too. */
static int end_events(struct reader *r, struct err *e)
{
	int rc = read_events(r);

	if (rc == -ENOSPC)
		err_set(e, rc,
			"%s: there is no disk space for its allocations: TMPDIR says where to put them, "
			"PROFTOP_MEMORY how much may be in memory",
			r->name);
	if (rc < 0)
		return rc;
	add_culled(r);
	state_facts(r);
	done_with_events(r);
	return find_names(r);
}

static int read_all(struct reader *r, const struct read_options *o, struct err *e)
{
	int rc = heap_blocks_open(&r->blocks, r->in, r->name, e);

	if (rc < 0)
		return rc;
	begin(r, o);
	rc = read_blocks(r, e);
	if (rc < 0)
		return rc;
	begin_events(r);
	rc = follow(r, e);
	if (rc == -ECANCELED && r->follow)
		state_facts(r);
	return rc < 0 ? rc : end_events(r, e);
}

static int read_heap_trace(struct input *in, struct profile *p, capture_id c,
			   const struct read_options *o, struct progress *progress, struct err *e)
{
	struct reader r = {
		.in = in, .name = input_name(in), .profile = p, .capture = c, .progress = progress
	};
	struct input *whole = NULL;
	int rc = 0;

	/* Blocks are read where they lie, and say themselves when there will be no more. */
	input_follow(in, false);
	if (!input_seekable(in))
		rc = perf_spool(in, &whole, progress, e);
	if (whole)
		r.in = whole;
	if (rc == 0)
		rc = read_all(&r, o, e);
	done_with_events(&r);
	heap_tell_done(&r.tell);
	resolver_free(r.resolver);
	input_close(whole);
	return rc;
}

const struct format format_heap_trace = {
	.name = "heap",
	.title = "heap traces of proftop record --heap",
	.probe = probe,
	.read = read_heap_trace,
};
