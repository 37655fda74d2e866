/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the options ask of a recording of CPU samples. */
#ifndef PROFTOP_CLI_RECORD_RECORD_OPTIONS_H
#define PROFTOP_CLI_RECORD_RECORD_OPTIONS_H

#include "record/cpu/cpu_recording.h"
#include "record/cpu/event_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_job;

/* Most bytes of a stack that are copied with a sample. */
#define RECORD_STACK_MAX 65528u

/* Of processes or threads; a VEC. */
struct record_numbers {
	int *at;
	size_t n, cap;
};

struct record_options {
	/* what they point to is ours and the command line's */
	struct cpu_recording_options options;
	struct event_specs events;
	struct {
		char **at;
		size_t n, cap;
	} command; /* our own, as the file tells it */
	struct record_numbers pids, tids;
	uint64_t duration_ms; /* 0: no limit */
	uint64_t realtime;    /* the recorder's priority, of SCHED_FIFO; 0: as it is */
	const char *output;   /* what is to be opened afterwards; borrowed */
};

/* False: they do not belong together or one says nothing that is known, which is said. Ends with record_options_done() either way. */
bool record_options_take(const struct record_job *j, struct record_options *w);
void record_options_done(struct record_options *w);

#endif
