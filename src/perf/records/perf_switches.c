/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a recording says when threads leave the cpu. */
#include "config.h"

#include "perf/records/perf_switches.h"

#include "base/mem.h"
#include "perf/abi/perf_abi.h"
#include "perf/records/perf_cgroups.h"
#include "perf/records/perf_events.h"
#include "perf/records/perf_offcpu.h"
#include "perf/records/perf_tasks.h"

#include <stdlib.h>
#include <string.h>

struct perf_switches {
	struct profile *profile;
	struct perf_events *events;
	struct perf_tasks *tasks;
	struct perf_cgroups *cgroups;
	struct perf_offcpu *offcpu; /* NULL: no switches are recorded; owned */
	bool by_records;            /* SWITCH records tell of them, not samples */
	size_t n_events_known;      /* events looked at for that */
};

static bool is_sched_switch(struct perf_event *e)
{
	return e->attr.type == PERF_T_TRACEPOINT &&
	       strcmp(perf_event_name_of(e), "sched:sched_switch") == 0;
}

struct perf_switches *perf_switches_new(struct profile *p, struct perf_events *events,
					struct perf_tasks *tasks, struct perf_cgroups *cgroups)
{
	struct perf_switches *w = xcalloc(1, sizeof(*w));

	w->profile = p;
	w->events = events;
	w->tasks = tasks;
	w->cgroups = cgroups;
	return w;
}

void perf_switches_free(struct perf_switches *w)
{
	if (!w)
		return;
	perf_offcpu_free(w->offcpu);
	free(w);
}

bool perf_switches_told(struct perf_switches *w)
{
	for (; w->n_events_known < w->events->all.n; w->n_events_known++) {
		struct perf_event *e = &w->events->all.at[w->n_events_known];
		bool records = (e->attr.flags & PERF_ATTR_CONTEXT_SWITCH) != 0;

		w->by_records = w->by_records || records;
		if (!w->offcpu && (records || is_sched_switch(e)))
			w->offcpu = perf_offcpu_new(w->profile);
	}
	return w->offcpu != NULL;
}

/* Of the idle task there is nothing to say. */
static void take_switch(struct perf_switches *w, const struct perf_record *r)
{
	const struct perf_attr *a = perf_events_of_record(w->events, r);
	struct perf_task_view task;
	struct perf_trailer t;
	struct sample at;

	if (!a || !perf_trailer_decode(a, r, &t) || t.tid <= 0 || t.time > INT64_MAX)
		return;
	if (!(r->misc & PERF_MISC_SWITCH_OUT)) {
		perf_offcpu_in(w->offcpu, t.tid, (int64_t)t.time);
		return;
	}
	task = perf_tasks_at(w->tasks, t.pid, t.tid, (int64_t)t.time);
	at = (struct sample){ .stack = task.root,
			      .thread = perf_cgroups_last(w->cgroups, task.thread),
			      .cpu = t.cpu < CPU_NONE ? (uint16_t)t.cpu : CPU_NONE,
			      .time_ns = (int64_t)t.time };
	perf_offcpu_out(w->offcpu, t.tid, &at);
}

void perf_switches_record(struct perf_switches *w, const struct perf_record *r)
{
	struct perf_task exit;

	if (r->type == PERF_REC_SWITCH || r->type == PERF_REC_SWITCH_CPU_WIDE)
		take_switch(w, r);
	else if (r->type == PERF_REC_EXIT && perf_task_decode(r, &exit) && exit.tid > 0 &&
		 exit.time <= INT64_MAX)
		perf_offcpu_end(w->offcpu, exit.tid, (int64_t)exit.time);
}

void perf_switches_sample(struct perf_switches *w, struct perf_event *e,
			  const struct perf_sample *s, bool swap, const struct sample *out)
{
	struct perf_sched_switch next;
	bool is_switch = !w->by_records && is_sched_switch(e);

	if (out->time_ns == TIME_NONE)
		return;
	if (s->tid > 0)
		perf_offcpu_sample(w->offcpu, s->tid, out, !w->by_records && !is_switch);
	if (s->tid > 0 && is_switch)
		perf_offcpu_out(w->offcpu, s->tid, out);
	if (is_switch && perf_sched_switch_decode(s, swap, &next) && next.next_tid > 0)
		perf_offcpu_in(w->offcpu, next.next_tid, out->time_ns);
}

void perf_switches_move(struct perf_switches *w, const uint32_t *to, uint32_t n)
{
	if (w->offcpu)
		perf_offcpu_move(w->offcpu, to, n);
}

void perf_switches_forget(struct perf_switches *w, const int32_t *tids, size_t n)
{
	if (w->offcpu)
		perf_offcpu_forget(w->offcpu, tids, n);
}

bool perf_switches_settle(struct perf_switches *w)
{
	return !w->offcpu || perf_offcpu_settle(w->offcpu);
}

bool perf_switches_finish(struct perf_switches *w, struct perf_offcpu_stats *stats)
{
	return !w->offcpu || perf_offcpu_finish(w->offcpu, stats);
}
