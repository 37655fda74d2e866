/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of tracepoints as frames: "next_comm=bash" inside of where the sample was. */
#ifndef PROFTOP_PERF_TRACEPOINT_TRACEPOINT_FRAMES_H
#define PROFTOP_PERF_TRACEPOINT_TRACEPOINT_FRAMES_H

#include "perf/callchain/callchain_intern.h"
#include "perf/records/perf_events.h"

#include <stdbool.h>

struct tracepoint_frames;
struct resolver;
struct trace_fields;

/* All is borrowed. r knows the functions of the kernel that lines may name. list: see trace_fields_text(). */
struct tracepoint_frames *tracepoint_frames_new(struct profile *p, struct resolver *r,
						const struct trace_fields *fields,
						const char *list);
void tracepoint_frames_free(struct tracepoint_frames *l);

/* The frame of a sample of that time (TIME_NONE: unknown); false when its event has none of the fields. Wants the pen. */
bool tracepoint_frames_part(struct tracepoint_frames *l, struct perf_event *e,
			    const struct perf_sample *s, int64_t time_ns, bool swap,
			    struct perf_chain_part *out);

#endif
