/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What perf calls events, by their attrs. */
#include "config.h"

#include "perf/records/perf_events.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const struct {
	uint32_t type;
	uint64_t config, flags;
	uint32_t bp_type;
	const char *name;
} name_cases[] = {
	{ 0, 0, 0, 0, "cycles:HG" },
	{ 0, 0, PERF_ATTR_EXCLUDE_GUEST, 0, "cycles" },
	{ 0, 1, PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV, 0, "instructions:u" },
	{ 0, 1, PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV | PERF_ATTR_EXCLUDE_GUEST, 0,
	  "instructions:uH" },
	{ 0, 9, PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_HOST, 0, "ref-cycles:khG" },
	{ 0, 0x400000000, PERF_ATTR_EXCLUDE_GUEST, 0, "cycles" },
	{ 0, 10, PERF_ATTR_EXCLUDE_GUEST, 0, "unknown-hardware" },
	{ 1, 0, UINT64_C(3) << PERF_ATTR_PRECISE_SHIFT | PERF_ATTR_EXCLUDE_GUEST, 0,
	  "cpu-clock:pppH" },
	{ 1, 2, PERF_ATTR_EXCLUDE_GUEST, 0, "page-faults" },
	{ 1, 11, PERF_ATTR_EXCLUDE_GUEST, 0, "cgroup-switches" },
	{ 1, 99, PERF_ATTR_EXCLUDE_GUEST, 0, "unknown-software" },
	{ 2, 316, PERF_ATTR_EXCLUDE_GUEST, 0, "unknown tracepoint" },
	{ 3, 0x10000, PERF_ATTR_EXCLUDE_GUEST, 0, "L1-dcache-load-misses" },
	{ 3, 0x2, PERF_ATTR_EXCLUDE_GUEST, 0, "LLC-loads" },
	{ 3, 0x106, PERF_ATTR_EXCLUDE_GUEST, 0, "node-stores" },
	{ 3, 0x7, PERF_ATTR_EXCLUDE_GUEST, 0, "unknown-ext-hardware-cache-type" },
	{ 3, 0x300, PERF_ATTR_EXCLUDE_GUEST, 0, "unknown-ext-hardware-cache-op" },
	{ 3, 0x20000, PERF_ATTR_EXCLUDE_GUEST, 0, "unknown-ext-hardware-cache-result" },
	{ 4, 0x1a8, PERF_ATTR_EXCLUDE_GUEST, 0, "raw 0x1a8" },
	{ 5, 0, PERF_ATTR_EXCLUDE_GUEST, 3, "mem:0x404030:rw" },
	{ 77, 0, 0, 0, "unknown attr type: 77" },
};

Test(perf_events, events_are_named_as_perf_names_them)
{
	for (size_t i = 0; i < sizeof(name_cases) / sizeof(*name_cases); i++) {
		struct perf_attr a = { .type = name_cases[i].type,
				       .config = name_cases[i].config,
				       .flags = name_cases[i].flags,
				       .bp_type = name_cases[i].bp_type,
				       .bp_addr = 0x404030 };
		char *name = perf_attr_name(&a);

		cr_expect_str_eq(name, name_cases[i].name);
		free(name);
	}
}
