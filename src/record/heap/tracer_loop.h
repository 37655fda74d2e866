/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread that writes: empties the rings, looks around, sleeps until there is more. */
#ifndef PROFTOP_RECORD_HEAP_TRACER_LOOP_H
#define PROFTOP_RECORD_HEAP_TRACER_LOOP_H

#include <stdbool.h>

/* Starts the thread that writes. False: there is none; rings are then emptied by those that fill them. */
bool tracer_loop_start(void);

/*
 * Ends that thread, for as long as the process must have no thread of ours: tracer_loop_start() is to follow. False: it
 * does not run. A point of cancellation.
 */
bool tracer_loop_pause(void);

#endif
