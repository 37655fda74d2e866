/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durations of a trace as stacks (Chrome's "Trace Event Format"): what begins (B) and ends (E), and what is whole (X). Each stretch between
 * two such moments of a thread is a row, of what was open then, with its time.
 */
#ifndef PROFTOP_FORMATS_V8_V8_SPANS_H
#define PROFTOP_FORMATS_V8_V8_SPANS_H

#include "profile/builder.h"

#include <stdint.h>

struct progress;
struct v8_text;

struct v8_spans_result {
	uint64_t n_rows;
	uint64_t n_odd;   /* ends of what is not open, and what ends before what is inside of it */
	uint64_t n_open;  /* what begins and never ends: it lasts as long as its thread */
	uint64_t n_large; /* times that no profile holds */
};

/* Adds them as samples of `event`, in batches of its own. 0, -EFBIG or -ECANCELED. */
int v8_spans_build(struct v8_text *t, capture_id c, enum root_names root_names, event_id event,
		   struct progress *progress, struct v8_spans_result *result);

#endif
