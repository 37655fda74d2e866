/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At what rates a heap trace was sampled, and for how long, as facts of its capture. */
#ifndef PROFTOP_FORMATS_HEAP_RATES_H
#define PROFTOP_FORMATS_HEAP_RATES_H

struct heap_tell;

/* When all records and events were read. Wants the pen. */
void heap_rates_state(struct heap_tell *t);

#endif
