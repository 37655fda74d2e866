/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of blocks that are sums; see store.h. */
#include "config.h"

#include "base/fmt.h"
#include "profile/builder.h"
#include "profile/store.h"

#include <stdio.h>

void store_heap_state_folded(struct profile *p, int64_t span_ns, int64_t slot_ns)
{
	char n[FMT_COUNTED_SIZE], width[FMT_SIZE], every[FMT_SIZE + 16] = "";

	if (slot_ns < span_ns)
		snprintf(every, sizeof(every), "every %s, and ", fmt_ns(width, slot_ns));
	build_fact_of_all(p, "file", "folded", FACT_PLAIN,
			  "%s freed long ago: how much was there then is known %sat the peak",
			  fmt_about(n, (int64_t)(p->heap.now.n_counted & INT64_MAX), "block"),
			  every);
}
