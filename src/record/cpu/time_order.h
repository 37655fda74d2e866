/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of several rings in the order of their times. */
#ifndef PROFTOP_RECORD_CPU_TIME_ORDER_H
#define PROFTOP_RECORD_CPU_TIME_ORDER_H

struct perf_events;
struct perf_put;

/* Whole records as they come from e; those without a time come first, and what is of one time stays as it stood. */
void time_order(struct perf_events *e, struct perf_put *records);

#endif
