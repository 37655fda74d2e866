/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of what is so: process, threads, modules, memory in use. Read from /proc without stdio. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_FACTS_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_FACTS_H

#include "record/heap/trace/tracer.h"

/* Who is recorded, and how. Once, at the beginning. */
void tracer_facts_process(void);

/* Of each setting that makes no sense, what holds instead: to the log and to the trace. */
void tracer_facts_odd(void);

/* That nothing outlives this process, where what others left takes all there is. */
void tracer_facts_crowded(void);

/* A thread's first record. */
void tracer_facts_thread(struct tracer_thread *t);

/* Threads whose names changed. */
void tracer_facts_names(void);

/* Memory in use; all: also what takes a walk through the page tables, where that is wanted and due. */
void tracer_facts_usage(bool all);

/* Is no thread of the program's left, and the caller's the only one? Then with the main thread's status, as waitpid(2) has it. */
bool tracer_facts_alone(int *status);

/* A module that came or went: what struct live_modules' `changed` is. */
void tracer_facts_module(void *arg, const struct live_module *m);

/* Those that are known, for a file that does not. */
void tracer_facts_all_modules(void);

/* Looks for modules that are gone. Takes the slow lock. */
void tracer_facts_modules(void);

/* What comparing stacks with full walks gave, if that was asked for. */
void tracer_facts_checked(void);

#endif
