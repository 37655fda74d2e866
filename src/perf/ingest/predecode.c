/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "perf/ingest/predecode.h"

#include "perf/callchain/callchain.h"
#include "perf/records/perf_events.h"

void predecode_done(struct perf_predecoded *d)
{
	vec_done(&d->of);
}

bool predecode_is_plain(const struct perf_attr *a, const struct perf_sample *s)
{
	return s->chain.n > 0 && s->branches.n == 0 && a->sample_stack_user == 0 &&
	       !callchain_is_deferred(&s->chain);
}

struct hash128 predecode_chain(const struct perf_record *r, const struct perf_sample *s)
{
	struct hash128 hash = hash_bytes_128(s->chain.at, s->chain.n * sizeof(uint64_t));

	hash.high ^= hash_u64((uint64_t)(r->misc & PERF_MISC_CPUMODE) << 1 | s->ip >> 63);
	return hash;
}

uint64_t predecode_weight(const struct perf_attr *a, const struct perf_sample *s)
{
	if (s->has_period)
		return s->period;
	if (a->flags & PERF_ATTR_FREQ || a->sample_period == 0)
		return 1;
	return a->sample_period;
}

static void digest(struct predecode *d, const struct perf_events *e, const struct perf_record *r,
		   uint32_t *last_id)
{
	uint32_t event = perf_events_peek(e, r, last_id);
	const struct perf_attr *a;
	struct perf_sample s;

	if (event == PERF_EVENT_NONE)
		return;
	a = &e->all.at[event].attr;
	if (a->sample_type & PERF_S_READ || !perf_sample_decode(a, r, &s) || s.n_behind > 0 ||
	    !predecode_is_plain(a, &s))
		return;
	d->event = event;
	d->cpu = s.cpu;
	d->pid = s.pid;
	d->tid = s.tid;
	d->misc = r->misc;
	d->time = s.time;
	d->cgroup = s.cgroup;
	d->weight = predecode_weight(a, &s);
	d->chain = predecode_chain(r, &s);
}

void predecode_make(struct perf_predecoded *d, const struct perf_events *e,
		    const struct perf_records *batch)
{
	struct predecode next = { .event = PERF_EVENT_NONE };
	struct perf_record r;
	uint32_t last_id = 0;

	vec_clear(&d->of);
	for (size_t at = 0; at < batch->n_bytes; at += r.size, next.number++) {
		perf_record_at(batch->at + at, batch->swap, &r);
		if (r.type != PERF_REC_SAMPLE)
			continue;
		next.at = (uint32_t)at;
		vec_push(&d->of, next);
		if (batch->n_gaps == 0)
			digest(&d->of.at[d->of.n - 1], e, &r, &last_id);
	}
}
