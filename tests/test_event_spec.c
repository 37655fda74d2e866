/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of events, of cpus, and what they mean. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cpu_list.h"
#include "err.h"
#include "event_spec.h"
#include "mem.h"

#define NOT_KERNEL (PERF_ATTR_EXCLUDE_KERNEL | PERF_ATTR_EXCLUDE_HV)
#define NOT_USER   (PERF_ATTR_EXCLUDE_USER | PERF_ATTR_EXCLUDE_HV)

static const struct {
	const char *text;
	uint32_t type;
	uint64_t config, flags;
	bool by_rate;
} good[] = {
	{ "cycles", PERF_T_HARDWARE, 0, 0, true },
	{ "cpu-cycles", PERF_T_HARDWARE, 0, 0, true },
	{ "instructions:u", PERF_T_HARDWARE, 1, NOT_KERNEL, true },
	{ "branches:k", PERF_T_HARDWARE, 4, NOT_USER, true },
	{ "cycles:pp", PERF_T_HARDWARE, 0, UINT64_C(2) << PERF_ATTR_PRECISE_SHIFT, true },
	{ "cpu-clock", PERF_T_SOFTWARE, 0, 0, true },
	{ "task-clock:u", PERF_T_SOFTWARE, 1, NOT_KERNEL, true },
	{ "faults", PERF_T_SOFTWARE, 2, 0, false },
	{ "page-faults", PERF_T_SOFTWARE, 2, 0, false },
	{ "cs", PERF_T_SOFTWARE, 3, 0, false },
	{ "LLC-load-misses", PERF_T_HW_CACHE, 2 | 1 << 16, 0, true },
	{ "dTLB-loads", PERF_T_HW_CACHE, 3, 0, true },
	{ "r1a8", PERF_T_RAW, 0x1a8, 0, true },
	{ "r01a8:u", PERF_T_RAW, 0x1a8, NOT_KERNEL, true },
};

Test(event_spec, knows_what_names_mean)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct err e = ERR_INIT;
		struct event_spec s;

		cr_assert_eq(event_spec_parse(good[i].text, strlen(good[i].text), &s, &e), 0, "%s",
			     err_text(&e));
		cr_expect_eq(s.attr.type, good[i].type, "%s", good[i].text);
		cr_expect_eq(s.attr.config, good[i].config, "%s", good[i].text);
		cr_expect_eq(s.attr.flags, good[i].flags, "%s", good[i].text);
		cr_expect_eq(s.by_rate, good[i].by_rate, "%s", good[i].text);
		cr_expect_str_eq(s.name, good[i].text);
		event_spec_done(&s);
	}
}

Test(event_spec, refuses_others_with_a_sentence)
{
	static const char *const bad[] = {
		"",     "cycle", "cycles:", "cycles:x", "cycles:pppp", "r",
		"rxyz", ":u",    "no:such", "../..:id", "cycles:u:u"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = ERR_INIT;
		struct event_spec s;

		cr_expect_lt(event_spec_parse(bad[i], strlen(bad[i]), &s, &e), 0, "%s", bad[i]);
		cr_expect(*err_text(&e));
		err_clear(&e);
	}
}

Test(cpu_list, is_of_cpus_that_are_there)
{
	struct cpu_list all = { 0 }, first = { 0 };
	struct err e = ERR_INIT;

	cr_assert_eq(cpu_list_read(NULL, &all, &e), 0, "%s", err_text(&e));
	cr_assert_gt(all.n, 0);
	for (size_t i = 1; i < all.n; i++)
		cr_expect_gt(all.at[i], all.at[i - 1]);
	cr_assert_eq(cpu_list_read("0", &first, &e), 0, "%s", err_text(&e));
	cr_expect_eq(first.n, 1);
	vec_done(&all);
	vec_done(&first);
}

Test(cpu_list, refuses_others_with_a_sentence)
{
	static const char *const bad[] = { "",     "x",   "1-",    "-1",
					   "2-1",  "0;1", "99999", "0-99999999999",
					   "65535" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = ERR_INIT;
		struct cpu_list l;

		cr_expect_lt(cpu_list_read(bad[i], &l, &e), 0, "%s", bad[i]);
		cr_expect(*err_text(&e));
		err_clear(&e);
	}
}
