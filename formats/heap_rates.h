/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At what rates a heap trace was sampled, and for how long, as facts of it. */
#ifndef PROFTOP_FORMATS_HEAP_RATES_H
#define PROFTOP_FORMATS_HEAP_RATES_H

#include <stdint.h>

struct heap_tell;

/* When all records and events were read, which are of begin to end. Wants the pen. */
void heap_rates_state(struct heap_tell *t, int64_t begin, int64_t end);

#endif
