/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a recording says when threads leave the cpu: SWITCH records, or samples of sched:sched_switch. */
#ifndef PROFTOP_PERF_RECORDS_PERF_SWITCHES_H
#define PROFTOP_PERF_RECORDS_PERF_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_cgroups;
struct perf_event;
struct perf_events;
struct perf_offcpu_stats;
struct perf_record;
struct perf_sample;
struct perf_switches;
struct perf_tasks;
struct profile;
struct sample;

/* Borrows all. */
struct perf_switches *perf_switches_new(struct profile *p, struct perf_events *events,
					struct perf_tasks *tasks, struct perf_cgroups *cgroups);
void perf_switches_free(struct perf_switches *w);

/* Does one of the events that are known by now say so? The next two are only for when one does. */
bool perf_switches_told(struct perf_switches *w);

/* A record beside the samples; those of other types say nothing. */
void perf_switches_record(struct perf_switches *w, const struct perf_record *r);

/* A sample; out: as it came into the profile. */
void perf_switches_sample(struct perf_switches *w, struct perf_event *e,
			  const struct perf_sample *s, bool swap, const struct sample *out);

/* As perf_offcpu_settle(), perf_offcpu_move(), perf_offcpu_forget() and perf_offcpu_finish(). */
bool perf_switches_settle(struct perf_switches *w);
void perf_switches_move(struct perf_switches *w, const uint32_t *to, uint32_t n);
void perf_switches_forget(struct perf_switches *w, const int32_t *tids, size_t n);
bool perf_switches_finish(struct perf_switches *w, struct perf_offcpu_stats *stats);

#endif
