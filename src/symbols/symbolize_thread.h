/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Naming of functions on a thread of its own while a recording is still being read. */
#ifndef PROFTOP_SYMBOLS_SYMBOLIZE_THREAD_H
#define PROFTOP_SYMBOLS_SYMBOLIZE_THREAD_H

#include <stdint.h>

struct symbolize_thread;
struct progress;
struct resolver;

/*
 * Names again and again what was published by then. Stops early when outer (may be NULL) is cancelled.
 * NULL when no thread could be started. Borrows both.
 */
struct symbolize_thread *symbolize_thread_start(struct resolver *r, const struct progress *outer);

/*
 * So many locations were published by now. While there are no more of them it sleeps: what is watched live may have nothing
 * to name for hours. Told by one thread. Nothing for NULL.
 */
void symbolize_thread_more(struct symbolize_thread *n, uint64_t n_locations);

/*
 * Waits until everything that is being named is named, and frees. What was published last may still
 * be without names. Returns 0 or -ECANCELED; 0 for NULL.
 */
int symbolize_thread_finish(struct symbolize_thread *n);

#endif
