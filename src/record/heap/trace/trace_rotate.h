/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace that may not become larger, and loses its oldest events instead of the ones to come. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACE_ROTATE_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACE_ROTATE_H

#include "record/heap/trace/tracer_blocks.h"

#include <stdint.h>

/*
 * Drops the oldest blocks of events until the file has at most so many bytes; what else is in it stays, and how much went is
 * said. Overwrites b->out. 0; -EFBIG: what stays is more than that; or another -errno. The file is as it was when it fails.
 */
int trace_rotate_keep(struct tracer_blocks *b, uint64_t most);

#endif
