/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What records beside the samples say of mappings, names, forks and control groups → resolver, tasks, cgroups. */
#ifndef PROFTOP_PERF_RECORDS_APPLY_H
#define PROFTOP_PERF_RECORDS_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_cgroups;
struct perf_record;
struct perf_tasks;
struct apply;
struct resolver;

/* Borrows all. */
struct apply *apply_new(struct resolver *r, struct perf_tasks *tasks, struct perf_cgroups *cgroups);
void apply_free(struct apply *t);

/*
 * Tells what a record says, from time_ns on; trailer: bytes of its sample_id; own_time: that was recorded with it.
 * False: it is shorter than it claims.
 */
bool perf_apply(struct apply *t, const struct perf_record *r, int64_t time_ns, size_t trailer,
		bool own_time);

#endif
