/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Callchains that lack a caller, told by the unwind tables of this very program. */
#include "config.h"

#include "builder.h"
#include "perf_leaves.h"
#include "resolver.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define PID 7

/* A function with a frame like any other; its first byte is what matters. */
__attribute__((noinline)) static int some_function(int n)
{
	return n > 0 ? n * 3 : snprintf(NULL, 0, "%d", n);
}

/* Maps what this process has mapped at an address, as it is. */
static void map_own(struct resolver *r, uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400], path[4200];
	unsigned long long start, end, offset;

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		struct mapping_event m = { .time_ns = INT64_MIN, .pid = PID, .executable = true };

		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4199s", &start, &end, &offset,
			   path) != 4 ||
		    address < start || address >= end)
			continue;
		m.start = start;
		m.length = end - start;
		m.file_offset = offset;
		m.path = path;
		resolver_map(r, &m);
	}
	fclose(maps);
}

static const struct {
	const char *what, *machine;
	uint64_t off;   /* bytes behind the function's first one */
	uint64_t n;     /* addresses in the chain */
	bool is_marked; /* the caller is missing */
} cases[] = {
	{ "before the frame is made", "x86_64", 0, 2, true },
	{ "the leaf alone", "x86_64", 0, 1, true },
	{ "no chain", "x86_64", 0, 0, false },
	{ "where nothing is mapped", "x86_64", UINT64_C(1) << 46, 2, false },
	{ "a machine that is not known", "riscv64", 0, 2, false },
};

Test(perf_leaves, callers_left_out)
{
	static const struct resolver_options options = { .same_machine = true };
	union {
		int (*code)(int);
		uint64_t address;
	} function = { some_function };

#ifndef __x86_64__
	cr_skip_test("the cases are of x86");
#endif
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t chain[2] = { function.address + cases[i].off, 0x1234 };
		struct perf_chain_part user = { .mode = MODE_USER,
						.ips = { .at = (const uint8_t *)chain,
							 .n = (uint32_t)cases[i].n } };
		struct profile *p = profile_new();
		struct profile_counts counts;
		struct perf_leaves *l;
		struct resolver *r;
		uint32_t leaf;
		capture_id c;

		builder_begin(p);
		c = build_capture(p, "made", "perf.data");
		r = resolver_new(p, c, &options);
		l = perf_leaves_new(p, r, cases[i].machine);
		map_own(r, function.address);
		leaf = perf_leaves_note(l, PID, 10, &user);
		perf_leaves_again(l, leaf);
		perf_leaves_again(l, leaf);
		perf_leaves_facts(l, c);
		builder_end(p);
		/* One for all, one for the module. */
		profile_counts_read(p, &counts);
		cr_expect_eq(counts.n_facts, cases[i].is_marked ? 2 : 0, "%s", cases[i].what);
		if (cases[i].is_marked)
			cr_expect_eq(strncmp(profile_string(p, profile_fact(p, 1).text, NULL),
					     "3 callchains", 12),
				     0, "%s", cases[i].what);
		perf_leaves_free(l);
		resolver_free(r);
		profile_free(p);
	}
	cr_expect_eq(some_function(1), 3);
}
