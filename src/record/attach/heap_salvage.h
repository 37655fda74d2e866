/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a killed process had noted, and its trace does not have: it lies in memory that outlived the process (pending_state.h), and is
 * added to the trace.
 */
#ifndef PROFTOP_RECORD_ATTACH_HEAP_SALVAGE_H
#define PROFTOP_RECORD_ATTACH_HEAP_SALVAGE_H

#include "heaptrace/heap_wire.h"

#include <stddef.h>
#include <stdint.h>

struct err;

/*
 * Completes the trace at path, unless its process is still there, and removes that memory. stop, and of HEAP_STOP_KILLED and
 * HEAP_STOP_OOM signal, are why recording stopped, as far as the caller knows and the trace does not say. Who is killed meanwhile
 * leaves a trace that can be completed once more.
 *
 * Returns 1 when the trace has all that was noted from now on; 0 when there was nothing to be added, or path is no trace; -errno
 * with a sentence when something is missing, which stays in memory.
 */
int heap_salvage(const char *path, enum heap_stop stop, uint8_t signal, struct err *e);

/*
 * Completes all traces of killed processes of this user whose memory waits for that, if so many wait at least, and removes that
 * memory. Returns how many were completed.
 */
size_t heap_salvage_left(size_t least);

#endif
