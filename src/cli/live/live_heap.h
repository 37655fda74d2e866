/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heap of a process that others record already, or that was started with the tracer: their trace is followed, and stays theirs. */
#ifndef PROFTOP_CLI_LIVE_LIVE_HEAP_H
#define PROFTOP_CLI_LIVE_LIVE_HEAP_H

#include "cli/options/command.h"

struct options;

/*
 * The trace that process -p writes, as it can be opened from here; the caller frees. NULL with STATUS_GOOD: its heap is
 * not being recorded, or not by a tracer that we know. NULL with another *status: it is, and why it cannot be followed
 * was said.
 */
char *live_heap_trace(const struct options *o, enum status *status);

#endif
