/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events of a unit that counts, by its own names for them: cpu/event=0x3c,umask=1/, msr/tsc/, as perf record takes them. */
#ifndef PROFTOP_RECORD_CPU_PMU_EVENT_H
#define PROFTOP_RECORD_CPU_PMU_EVENT_H

#include <stddef.h>

struct err;
struct event_spec;

/* Where the kernel tells of its units. */
#define PMU_DEVICES "/sys/bus/event_source/devices"

/*
 * UNIT/TERMS/, n bytes, by what the directory of units says. Sets type, config, the name if one is given, and how it is sampled
 * if it is said; -EINVAL or -ENOENT with a sentence.
 */
int pmu_event_parse(const char *devices, const char *text, size_t n, struct event_spec *out,
		    struct err *e);

#endif
