/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What tracepoints recorded beside where they were: the fields of their events, by the format files of
 * the kernel that perf keeps in TRACING_DATA (linux tools/perf/util/trace-event-info.c,
 * Documentation/trace/events.rst).
 */
#ifndef PROFTOP_PERF_TRACEPOINT_TRACE_FIELDS_H
#define PROFTOP_PERF_TRACEPOINT_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct print_symbols;
struct trace_fields;
struct trace_raw;

/* Of n bytes of tracing data, which are not kept. NULL when they are none; a damaged rest is left out. */
struct trace_fields *trace_fields_new(const void *bytes, size_t n);
void trace_fields_free(struct trace_fields *t);

/* "sched:sched_switch", or NULL; borrowed. id is the config of the event's attr. */
const char *trace_fields_event(const struct trace_fields *t, uint64_t id);

/* The names of an event's own fields, separated by blanks; "" for an unknown one. The caller frees. */
char *trace_fields_names(const struct trace_fields *t, uint64_t id);

/*
 * The fields of a sample's raw bytes as "name=value name=value": those in the list (names separated by
 * commas), in its order, or all of the event's own for "all"; for "print" as the event itself prints
 * them, where that can be worked out, else like "all"; for that are the symbols (NULL: none). False when
 * there is none of them.
 */
bool trace_fields_text(const struct trace_fields *t, uint64_t id, const struct trace_raw *raw,
		       const char *list, const struct print_symbols *symbols, char *out,
		       size_t max);

#endif
