/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What -e names: cycles, cpu-clock:u, LLC-load-misses, sched:sched_switch, r1a8, cpu/event=0x3c/, as perf record takes it. */
#ifndef PROFTOP_RECORD_CPU_EVENT_SPEC_H
#define PROFTOP_RECORD_CPU_EVENT_SPEC_H

#include "perf/abi/perf_abi.h"

struct err;

struct event_spec {
	struct perf_attr attr; /* type, config, and what is excluded; the rest is 0 */
	char *name;            /* owned */
	bool by_rate;          /* sampled so many times a second; else at each event, */
	uint64_t period;       /* or at each so many, whatever else is said; 0: it is not */
};

/* Where a name that begins at text ends: at a comma that does not stand between slashes. */
size_t event_spec_length(const char *text);

/* One name, n bytes. -EINVAL, -EACCES or -ENOENT with a sentence. */
int event_spec_parse(const char *text, size_t n, struct event_spec *out, struct err *e);
void event_spec_done(struct event_spec *s);

/* A VEC. */
struct event_specs {
	struct event_spec *at;
	size_t n, cap;
};

/* One name, or all tracepoints that sched:* or the like is a pattern of. As of event_spec_parse(). */
int event_specs_add(struct event_specs *s, const char *text, size_t n, struct err *e);
void event_specs_done(struct event_specs *s);

#endif
