/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command line says to the tracer of heaps: its settings, as PROFTOP_… variables. */
#ifndef PROFTOP_CLI_RECORD_HEAP_SETTINGS_H
#define PROFTOP_CLI_RECORD_HEAP_SETTINGS_H

#include <stdbool.h>

struct record_job;

/* Is what is asked of a recording of the heap such as the tracer takes? Says what is not. */
bool heap_settings_check(const struct record_job *j);

/* Calls set(arg) for each setting that the recording has. */
void heap_settings_each(const struct record_job *j,
			void (*set)(void *arg, const char *name, const char *value), void *arg);

#endif
