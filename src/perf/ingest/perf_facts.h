/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a feed of perf records read and what was lost, as facts for `info`. */
#ifndef PROFTOP_PERF_INGEST_PERF_FACTS_H
#define PROFTOP_PERF_INGEST_PERF_FACTS_H

#include "perf/ingest/ingest.h"

/* Sections events, records, losses and stacks. Wants the pen. */
void perf_facts(struct profile *p, capture_id c, const struct ingest_stats *s,
		struct perf_events *events);

#endif
