/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that forbid themselves system calls or the processor's clock (seccomp(2), PR_SET_TSC): what the recorder would
 * do on their threads could end them. It is asked here before that comes into force; a thread that is in the strict mode or has
 * a filter, whatever that says, is not recorded from then on, and its events are counted as lost.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_FORBIDDEN_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_FORBIDDEN_H

#include <stdbool.h>
#include <stdint.h>

struct sock_fprog;

/* What a thread may not do; it inherits to those that it makes. */
enum tracer_limit {
	LIMIT_NOTES = 1, /* what noting an event may take: it notes none */
	LIMIT_FILES = 2  /* what writing the trace takes: the writer does so in its place */
};

/* How it was before, and what is to be told of it: for tracer_forbidden_came(). */
struct tracer_forbidden {
	uint32_t limits, recorder_limits, busy, news;
	bool is_guest; /* it is a child of vfork(2) that asks */
	bool no_start; /* of the recorder */
};

/* What this thread may not do. What a child of vfork(2) took on in its memory goes with the child. */
uint32_t tracer_forbidden_own(void);

/* To be told of this thread, which is not recorded: it may not read the processor's counter. */
void tracer_forbidden_no_counter(void);

/* This thread is about to enter the strict mode of seccomp. */
struct tracer_forbidden tracer_forbidden_strict(void);

/* This thread is about to load a filter; everyone: all threads of the process are. */
struct tracer_forbidden tracer_forbidden_filter(const struct sock_fprog *filter, bool everyone);

/* It came about, or it did not and all is as it was. */
void tracer_forbidden_came(const struct tracer_forbidden *was, bool came);

/* For who writes: tells what came about since it was asked last. */
void tracer_forbidden_tell(void);

#endif
