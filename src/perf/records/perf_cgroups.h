/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control groups of a recording: what they are called, and threads while they are in them.
 *
 * Samples say a number; records say which path a number stands for, before or after. Paths are kept here until a
 * sample needs them in the profile.
 */
#ifndef PROFTOP_PERF_RECORDS_PERF_CGROUPS_H
#define PROFTOP_PERF_RECORDS_PERF_CGROUPS_H

#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>

struct perf_cgroups;

/* Borrows p. */
struct perf_cgroups *perf_cgroups_new(struct profile *p, capture_id c);
void perf_cgroups_free(struct perf_cgroups *g);

/* The group with the number has the path, which is copied. */
void perf_cgroups_name(struct perf_cgroups *g, uint64_t number, const char *path, size_t len);

/* The thread as a sample in a group sees it, made in the profile when it is new there; wants the pen. */
thread_id perf_cgroups_thread(struct perf_cgroups *g, thread_id thread, uint64_t number);
/* The thread in the group where its last sample was; itself, where none said a group. */
thread_id perf_cgroups_last(const struct perf_cgroups *g, thread_id thread);

/* Gives groups in the profile paths that came after them, and made-up ones where none did; wants the pen. */
void perf_cgroups_settle(struct perf_cgroups *g);
/* The groups with most samples as facts of the capture; wants the pen. */
void perf_cgroups_facts(const struct perf_cgroups *g);

#endif
