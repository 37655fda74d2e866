/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether allocations are recorded: switched by the program, by a signal, from outside. Every switch has its time, however
 * soon the next one comes; may be called by handlers of signals, and by threads that may not call the kernel.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_SWITCH_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_SWITCH_H

#include <stdbool.h>

/* A recording begins, paused or not. */
void tracer_switch_begin(bool paused);

/* From now on it is paused, or not. */
void tracer_switch(bool paused);

/* It is paused where it was not, and the other way round. */
void tracer_switch_over(void);

/* For who writes: tells the switches that were not told yet. */
void tracer_switch_tell(void);

#endif
