/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At what rates a heap trace was sampled, and for how long, as facts of it. */
#ifndef PROFTOP_HEAPTRACE_READ_HEAP_RATES_H
#define PROFTOP_HEAPTRACE_READ_HEAP_RATES_H

#include <stdint.h>

struct apply_records;

/* When all records and events were read, which are of begin to end. Wants the pen. */
void heap_rates_state(struct apply_records *t, int64_t begin, int64_t end);

#endif
