/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of tracepoints as frames: "next_comm=bash" inside of where the sample was. */
#ifndef PROFTOP_RESOLVE_PERF_LABELS_H
#define PROFTOP_RESOLVE_PERF_LABELS_H

#include "perf_chains.h"
#include "perf_events.h"

#include <stdbool.h>

struct perf_labels;
struct resolver;
struct trace_fields;

/* All is borrowed. r knows the functions of the kernel that lines may name. list: see trace_fields_text(). */
struct perf_labels *perf_labels_new(struct profile *p, struct resolver *r,
				    const struct trace_fields *fields, const char *list);
void perf_labels_free(struct perf_labels *l);

/* The frame of a sample of that time (TIME_NONE: unknown); false when its event has none of the fields. Wants the pen. */
bool perf_labels_part(struct perf_labels *l, struct perf_event *e, const struct perf_sample *s,
		      int64_t time_ns, bool swap, struct perf_chain_part *out);

#endif
