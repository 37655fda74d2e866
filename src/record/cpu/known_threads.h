/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which threads are watched already: those that were opened, and those that such ones started, as the rings tell. */
#ifndef PROFTOP_RECORD_CPU_KNOWN_THREADS_H
#define PROFTOP_RECORD_CPU_KNOWN_THREADS_H

#include <stdbool.h>

struct known_threads;
struct perf_records;

struct known_threads *known_threads_new(void);
void known_threads_free(struct known_threads *k);

void known_threads_add(struct known_threads *k, int tid);
bool known_threads_have(const struct known_threads *k, int tid);

/* A ring_fn: adds those that records of FORK tell of. */
void known_threads_look(void *known_threads, const struct perf_records *records);

#endif
