/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moments of all threads in one array, sorted by thread and time when all are known, or all of some time ago: a thread
 * leaves one cpu and comes back on another, whose buffer may stand before in the file.
 */
#include "config.h"

#include "perf/records/perf_offcpu.h"

#include "base/compare.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>

/* Of a recording that goes on: what is so old is known as a whole, and is looked at so often. */
#define SETTLED_NS      INT64_C(2000000000)
#define SETTLE_EVERY_NS INT64_C(1000000000)

enum moment_kind { MOMENT_OUT, MOMENT_IN, MOMENT_END };

struct moment {
	int64_t time_ns;
	uint64_t number; /* how many were told before: the order at equal times */
	int32_t tid;
	uint32_t stack;  /* of MOMENT_OUT: stack_id */
	uint32_t thread; /* of MOMENT_OUT: thread_id */
	uint16_t cpu;    /* of MOMENT_OUT */
	uint8_t kind;    /* enum moment_kind */
	bool borrowed;   /* of MOMENT_OUT: the stack is that of a sample before */
};

/* A thread as its records pass. */
struct traveller {
	int32_t tid;
	bool is_out;     /* it left, and nothing was seen of it since */
	uint32_t stack;  /* of its last sample; ID_NONE before the first */
	uint32_t thread; /* likewise */
	/* On its way through its sorted moments: */
	struct moment out; /* since when it is off the cpu, if it has_out */
	bool has_out;
	bool is_gone; /* scratch */
	bool ended;   /* what a dying thread does last is no wait */
};

struct perf_offcpu {
	struct profile *profile;
	VEC(struct moment) moments;
	VEC(struct traveller) travellers;
	struct map by_tid;
	uint64_t n_told;    /* moments so far */
	int64_t last_ns;    /* the latest time that was told */
	int64_t settled_ns; /* the same when moments were passed last */
	struct perf_offcpu_stats stats;
};

static bool same_tid(const void *things, uint32_t value, const void *key)
{
	return ((const struct traveller *)things)[value].tid == *(const int32_t *)key;
}

static struct traveller *traveller_of(struct perf_offcpu *o, int32_t tid)
{
	struct traveller new = { .tid = tid, .stack = ID_NONE, .thread = ID_NONE };
	uint64_t hash = hash_u64((uint32_t)tid);
	uint32_t at = map_find(&o->by_tid, hash, same_tid, o->travellers.at, &tid);

	if (at == MAP_NONE) {
		at = (uint32_t)o->travellers.n;
		map_add(&o->by_tid, hash, at);
		vec_push(&o->travellers, new);
	}
	return &o->travellers.at[at];
}

static void note_time(struct perf_offcpu *o, int64_t time_ns)
{
	if (time_ns > o->last_ns)
		o->last_ns = time_ns;
}

static void push(struct perf_offcpu *o, struct moment m)
{
	note_time(o, m.time_ns);
	m.number = o->n_told++;
	vec_push(&o->moments, m);
}

static int by_thread_and_time(const void *va, const void *vb)
{
	const struct moment *a = va, *b = vb;

	return COMPARE(a->tid, b->tid) ?: COMPARE(a->time_ns, b->time_ns) ?:
	       COMPARE(a->number, b->number);
}

/* False when the profile is full. A total beyond what fits leaves the wait out, as nothing else is true. */
static bool add_wait(struct perf_offcpu *o, event_id event, const struct moment *out,
		     int64_t until_ns)
{
	struct sample s = { .stack = { out->stack },
			    .thread = { out->thread },
			    .event = event,
			    .cpu = out->cpu,
			    .weight = until_ns - out->time_ns,
			    .time_ns = out->time_ns };
	int rc = build_sample(o->profile, &s);

	if (rc == 0) {
		o->stats.n_waits++;
		o->stats.n_borrowed += out->borrowed;
		o->stats.sum_ns += s.weight;
	}
	o->stats.n_too_long += rc == -ERANGE;
	return rc == 0 || rc == -ERANGE;
}

/* One moment of its thread; false when the profile is full. */
static bool pass(struct perf_offcpu *o, event_id event, const struct moment *m)
{
	struct traveller *t = traveller_of(o, m->tid);
	bool waited = t->has_out;

	switch ((enum moment_kind)m->kind) {
	case MOMENT_OUT:
		o->stats.n_open += waited;
		t->has_out = !t->ended;
		t->out = *m;
		return true;
	case MOMENT_IN:
	case MOMENT_END:
		t->has_out = false;
		t->ended = m->kind == MOMENT_END;
		return !waited || add_wait(o, event, &t->out, m->time_ns);
	}
	return true;
}

/* Those of before a time; the others stay. */
static bool pass_until(struct perf_offcpu *o, int64_t until_ns, event_id event)
{
	size_t n_left = 0;
	bool good = true;

	qsort(o->moments.at, o->moments.n, sizeof(*o->moments.at), by_thread_and_time);
	for (size_t i = 0; i < o->moments.n && good; i++) {
		struct moment m = o->moments.at[i];

		if (m.time_ns >= until_ns)
			o->moments.at[n_left++] = m;
		else
			good = pass(o, event, &m);
	}
	o->moments.n = n_left;
	return good;
}

struct perf_offcpu *perf_offcpu_new(struct profile *p)
{
	struct perf_offcpu *o = xcalloc(1, sizeof(*o));

	o->profile = p;
	o->last_ns = INT64_MIN;
	return o;
}

void perf_offcpu_free(struct perf_offcpu *o)
{
	if (!o)
		return;
	vec_done(&o->moments);
	vec_done(&o->travellers);
	map_done(&o->by_tid);
	free(o);
}

void perf_offcpu_sample(struct perf_offcpu *o, int32_t tid, const struct sample *s, bool is_proof)
{
	struct traveller *t = traveller_of(o, tid);

	if (s->time_ns == TIME_NONE)
		return;
	note_time(o, s->time_ns);
	t->stack = s->stack.v;
	t->thread = s->thread.v;
	if (is_proof && t->is_out)
		perf_offcpu_in(o, tid, s->time_ns);
}

void perf_offcpu_out(struct perf_offcpu *o, int32_t tid, const struct sample *at)
{
	struct traveller *t = traveller_of(o, tid);

	t->is_out = true;
	push(o, (struct moment){ .kind = MOMENT_OUT,
				 .tid = tid,
				 .time_ns = at->time_ns,
				 .stack = t->stack == ID_NONE ? at->stack.v : t->stack,
				 .borrowed = t->stack != ID_NONE && t->stack != at->stack.v,
				 .thread = at->thread.v,
				 .cpu = at->cpu });
}

void perf_offcpu_in(struct perf_offcpu *o, int32_t tid, int64_t time_ns)
{
	traveller_of(o, tid)->is_out = false;
	push(o, (struct moment){ .kind = MOMENT_IN, .tid = tid, .time_ns = time_ns });
}

void perf_offcpu_end(struct perf_offcpu *o, int32_t tid, int64_t time_ns)
{
	struct traveller *t = traveller_of(o, tid);

	/* The number may be given to another thread. */
	t->is_out = false;
	t->stack = t->thread = ID_NONE;
	push(o, (struct moment){ .kind = MOMENT_END, .tid = tid, .time_ns = time_ns });
}

static void move_stack(uint32_t *stack, const uint32_t *to, uint32_t n)
{
	if (*stack < n)
		*stack = to[*stack] == ID_NONE ? 0 : to[*stack];
}

void perf_offcpu_move(struct perf_offcpu *o, const uint32_t *to, uint32_t n)
{
	for (size_t i = 0; i < o->moments.n; i++)
		move_stack(&o->moments.at[i].stack, to, n);
	for (size_t i = 0; i < o->travellers.n; i++) {
		move_stack(&o->travellers.at[i].stack, to, n);
		move_stack(&o->travellers.at[i].out.stack, to, n);
	}
}

void perf_offcpu_forget(struct perf_offcpu *o, const int32_t *tids, size_t n)
{
	size_t n_left = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t at = map_find(&o->by_tid, hash_u64((uint32_t)tids[i]), same_tid,
				       o->travellers.at, &tids[i]);

		if (at != MAP_NONE)
			o->travellers.at[at].is_gone = true;
	}
	map_done(&o->by_tid);
	for (size_t i = 0; i < o->travellers.n; i++) {
		const struct traveller *t = &o->travellers.at[i];

		if (t->is_gone)
			continue;
		map_add(&o->by_tid, hash_u64((uint32_t)t->tid), (uint32_t)n_left);
		o->travellers.at[n_left++] = *t;
	}
	o->travellers.n = n_left;
}

bool perf_offcpu_settle(struct perf_offcpu *o)
{
	if (o->moments.n == 0 || o->last_ns - o->settled_ns < SETTLE_EVERY_NS)
		return true;
	o->settled_ns = o->last_ns;
	return pass_until(o, o->last_ns - SETTLED_NS,
			  build_derived_event(o->profile, PERF_OFFCPU_NAME, UNIT_NS));
}

bool perf_offcpu_finish(struct perf_offcpu *o, struct perf_offcpu_stats *stats)
{
	event_id event;
	bool good;

	if (o->n_told == 0)
		return true;
	event = build_derived_event(o->profile, PERF_OFFCPU_NAME, UNIT_NS);
	good = pass_until(o, INT64_MAX, event);
	for (size_t i = 0; i < o->travellers.n && good; i++)
		if (o->travellers.at[i].has_out)
			good = add_wait(o, event, &o->travellers.at[i].out, o->last_ns);
	*stats = o->stats;
	o->n_told = 0;
	return good;
}
