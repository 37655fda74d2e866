/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Children of forks. Where they are to be recorded, the child of a fork waits with that until it allocates, as most children
 * become another program before; it may fork in turn meanwhile, and then its child waits in its place.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_FORK_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_FORK_H

#include <stdbool.h>

/*
 * Of a process whose children are not recorded, when it is about to fork and in its child: the child, and its own children, are
 * known for such until they allocate.
 */
void tracer_fork_look(void);
void tracer_fork_leave_alone(void);

/* Is this such a child, which allocates for the first time? True once. */
bool tracer_fork_was_left(void);

/* From now on forks are noticed; once is enough. */
void tracer_fork_await(void);

/* The waiting child of a fork has called vfork(2), and this is the guest in its memory: nothing begins for it. */
bool tracer_fork_is_guest(void);

/*
 * This process was forked and did not record yet. True: its recording begins now, tracer_fork_begun() is to follow. False: it
 * is not to be recorded.
 */
bool tracer_fork_begin(void);
void tracer_fork_begun(void);

#endif
