/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tracepoints record, as the kernel describes it: the feature TRACING_DATA, without which perf opens no tracepoints. */
#ifndef PROFTOP_RECORD_CPU_TRACING_DATA_H
#define PROFTOP_RECORD_CPU_TRACING_DATA_H

struct perf_events;
struct perf_put;

/* Nothing when there are no tracepoints among the events. */
void tracing_data_put(const struct perf_events *e, struct perf_put *to);

#endif
