/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader behind format_perf_script; see format.h for its contract. */
#ifndef PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_READ_H
#define PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_READ_H

#include "formats/format.h"

int perf_script_read(struct input *in, struct profile *p, capture_id c,
		     const struct read_options *o, struct progress *progress, struct err *e);

#endif
