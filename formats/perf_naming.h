/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Naming of functions on a thread of its own while a recording is still being read. */
#ifndef PROFTOP_FORMATS_PERF_NAMING_H
#define PROFTOP_FORMATS_PERF_NAMING_H

struct perf_naming;
struct progress;
struct resolver;

/*
 * Names again and again what was published by then. Stops early when outer (may be NULL) is cancelled.
 * NULL when no thread could be started. Borrows both.
 */
struct perf_naming *perf_naming_start(struct resolver *r, const struct progress *outer);

/* More was published. Until then it sleeps: what is watched live may have nothing to name for hours. Nothing for NULL. */
void perf_naming_more(struct perf_naming *n);

/*
 * Waits until everything that is being named is named, and frees. What was published last may still
 * be without names. Returns 0 or -ECANCELED; 0 for NULL.
 */
int perf_naming_finish(struct perf_naming *n);

#endif
