/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first look at records.
 *
 * Times: records carry the clock of the recording where the events asked for it, both in samples and
 * (sample_id_all) behind other records. What perf synthesises has time 0 and holds since ever. Without
 * sample_id_all, a record has the time of the last sample before it; without any times, all have
 * the number of the record in the file.
 */
#include "config.h"

#include "perf/ingest/prescan.h"

#include "base/compare.h"
#include "base/mem.h"
#include "base/sum.h"
#include "perf/abi/lazy_stack.h"
#include "perf/abi/perf_size.h"
#include "perf/callchain/callchain.h"
#include "perf/records/apply.h"
#include "perf/records/perf_events.h"

#include <stdlib.h>

/* A record beside the samples, to be told by time. */
struct beside {
	int64_t time_ns;
	uint64_t number; /* of the record, to keep the file's order at equal times */
	struct perf_record record;
};

struct prescan {
	struct perf_events *events;
	struct apply *teller;
	struct callchain *frames;
	struct prescan_stats *stats;
	int64_t last_time_ns;      /* of the last sample looked at */
	uint64_t n_rounds_told;    /* finished ones in what was told */
	VEC(struct beside) beside; /* of the batch being looked at */
};

static int by_time(const void *va, const void *vb)
{
	const struct beside *a = va, *b = vb;

	return COMPARE(a->time_ns, b->time_ns) ?: COMPARE(a->number, b->number);
}

static bool records_have_times(const struct prescan *l)
{
	return l->events->all.n > 0 && l->events->all.at[0].attr.sample_type & PERF_S_TIME;
}

/* When a record beside the samples holds from. */
static int64_t time_of_record(struct prescan *l, const struct perf_record *r, uint64_t number)
{
	const struct perf_attr *a = perf_events_of_record(l->events, r);
	struct perf_trailer t;

	if (!a || !records_have_times(l))
		return (int64_t)number;
	if (!(a->flags & PERF_ATTR_SAMPLE_ID_ALL) || !perf_trailer_decode(a, r, &t))
		return l->last_time_ns;
	if (t.time == 0)
		return INT64_MIN;
	return t.time > INT64_MAX ? l->last_time_ns : (int64_t)t.time;
}

/* Do other records carry a time of their own, too? */
static bool has_own_times(const struct prescan *l)
{
	return records_have_times(l) && l->events->all.at[0].attr.flags & PERF_ATTR_SAMPLE_ID_ALL;
}

/* Do those of samples have to serve? */
static bool borrows_times(const struct prescan *l)
{
	return records_have_times(l) && !has_own_times(l);
}

static void note_sample_time(struct prescan *l, const struct perf_record *r, struct lazy_stack *g)
{
	uint32_t event = perf_events_of_sample(l->events, r);
	struct perf_sample s;

	if (event != PERF_EVENT_NONE &&
	    lazy_stack_decode(g, &l->events->all.at[event].attr, r, &s) && s.time <= INT64_MAX)
		l->last_time_ns = (int64_t)s.time;
}

/* What perf adds up when it ends, out of what the kernel counted, has no time. */
static bool is_sum(struct prescan *l, const struct perf_record *r)
{
	const struct perf_attr *a = perf_events_of_record(l->events, r);
	struct perf_trailer t;

	return a && perf_trailer_decode(a, r, &t) && t.time == 0;
}

static void add_lost(uint64_t *to, uint64_t n)
{
	*to = sum_of_counts(*to, n);
}

static void count_record(struct prescan *l, const struct perf_record *r)
{
	struct prescan_stats *s = l->stats;
	struct perf_task task;
	uint64_t n_lost = 0;

	if (r->type == PERF_REC_SAMPLE)
		s->n_records[PERF_REC_SAMPLE]++;
	else if (r->type - PERF_REC_SIMPLEPERF < PERF_REC_SIMPLEPERF_COUNT)
		s->n_simpleperf++;
	else if (r->type < PRESCAN_TYPES && perf_record_name(r->type))
		s->n_records[r->type]++;
	else if (s->n_unknown++ == 0)
		s->unknown_type = r->type;
	if (r->type == PERF_REC_FORK && perf_task_decode(r, &task))
		s->n_forked += task.pid != task.ppid && task.pid == task.tid;
	if (r->type == PERF_REC_LOST && perf_lost_decode(r, &n_lost))
		add_lost(&s->n_lost, n_lost);
	if (r->type == PERF_REC_LOST_SAMPLES && perf_lost_decode(r, &n_lost))
		add_lost(is_sum(l, r) ? &s->n_lost_summed : &s->n_lost_samples, n_lost);
}

static void check_size(struct prescan *l, const struct perf_record *r)
{
	const struct perf_attr *a = perf_events_of_record(l->events, r);

	if (r->type == PERF_REC_SAMPLE || !a)
		return;
	/* Counts of threads that end are only there where they were asked for. */
	if (!perf_size_fits(r, perf_trailer_bytes(a)) ||
	    (r->type == PERF_REC_READ && !(a->flags & PERF_ATTR_INHERIT_STAT)))
		l->stats->n_misfits++;
}

/* Only the trailer says whose chain it is. */
static void keep_deferred(struct prescan *l, const struct perf_record *r)
{
	const struct perf_attr *a = perf_events_of_record(l->events, r);
	struct perf_deferred_chain c;
	struct perf_trailer t;

	if (a && perf_trailer_decode(a, r, &t) && perf_deferred_decode(r, &c))
		callchain_defer(l->frames, t.tid, &c);
	else
		l->stats->n_bad_records++;
}

static bool is_beside(uint32_t type)
{
	return type == PERF_REC_MMAP || type == PERF_REC_MMAP2 || type == PERF_REC_COMM ||
	       type == PERF_REC_FORK || type == PERF_REC_EXIT || type == PERF_REC_KSYMBOL ||
	       type == PERF_REC_CGROUP;
}

static void tell(struct prescan *l, const struct beside *b)
{
	const struct perf_attr *a = perf_events_of_record(l->events, &b->record);

	if (!perf_apply(l->teller, &b->record, b->time_ns, a ? perf_trailer_bytes(a) : 0,
			has_own_times(l)))
		l->stats->n_bad_records++;
}

uint64_t prescan_lost(const struct prescan_stats *s)
{
	/* LOST comes with the next record that fits: of what was lost last there may be none. */
	return sum_of_counts(s->n_lost > s->n_lost_summed ? s->n_lost : s->n_lost_summed,
			     s->n_lost_samples);
}

struct prescan *prescan_new(struct perf_events *events, struct apply *teller,
			    struct callchain *frames, struct prescan_stats *stats)
{
	struct prescan *l = xcalloc(1, sizeof(*l));

	*l = (struct prescan){ .events = events,
			       .teller = teller,
			       .frames = frames,
			       .stats = stats,
			       .last_time_ns = INT64_MIN };
	return l;
}

void prescan_free(struct prescan *l)
{
	if (!l)
		return;
	vec_done(&l->beside);
	free(l);
}

static void look_at_record(struct prescan *l, const struct beside *b, unsigned what)
{
	uint32_t type = b->record.type;

	if (what & PRESCAN_COUNT) {
		count_record(l, &b->record);
		check_size(l, &b->record);
	}
	if (what & PRESCAN_COUNT && type == PERF_REC_CALLCHAIN_DEFERRED)
		keep_deferred(l, &b->record);
	if (!(what & PRESCAN_TELL))
		return;
	l->n_rounds_told += type == PERF_REC_FINISHED_ROUND;
	if (!is_beside(type))
		return;
	vec_push(&l->beside, *b);
	l->beside.at[l->beside.n - 1].time_ns = time_of_record(l, &b->record, b->number);
}

/* Looks at all records, samples among them. */
static void look_at_all(struct prescan *l, const struct perf_records *batch, unsigned what)
{
	bool borrow = what & PRESCAN_TELL && borrows_times(l);
	struct beside b = { .number = batch->first };
	size_t gap = 0;

	for (size_t at = 0; at < batch->n_bytes; at += b.record.size, b.number++) {
		perf_record_at(batch->at + at, batch->swap, &b.record);
		if (borrow && b.record.type == PERF_REC_SAMPLE)
			note_sample_time(l, &b.record,
					 lazy_stack_find(batch, batch->offset + at, &gap));
		look_at_record(l, &b, what);
	}
}

static void look_beside(struct prescan *l, const struct perf_records *batch, unsigned what)
{
	struct beside b;

	if (what & PRESCAN_COUNT)
		l->stats->n_records[PERF_REC_SAMPLE] += batch->n_samples;
	for (size_t i = 0; i < batch->n_beside; i++) {
		b.number = batch->first + batch->beside[i].number;
		perf_record_at(batch->at + batch->beside[i].at, batch->swap, &b.record);
		look_at_record(l, &b, what);
	}
}

void prescan_at(struct prescan *l, const struct perf_records *batch, unsigned what)
{
	vec_clear(&l->beside);
	if (what & PRESCAN_COUNT)
		callchain_turn(l->frames);
	if (batch->beside && !borrows_times(l))
		look_beside(l, batch, what);
	else
		look_at_all(l, batch, what);
	if (l->beside.n > 1)
		qsort(l->beside.at, l->beside.n, sizeof(*l->beside.at), by_time);
	for (size_t i = 0; i < l->beside.n; i++)
		tell(l, &l->beside.at[i]);
}

uint64_t prescan_rounds_told(const struct prescan *l)
{
	return l->n_rounds_told;
}
