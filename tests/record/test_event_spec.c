/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of events, of cpus, and what they mean. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "record/cpu/cpu_list.h"
#include "record/cpu/event_spec.h"
#include "record/cpu/pmu_event.h"
#include "record/cpu/tracepoint.h"

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

/* A machine with a unit of our own, so that it is the same everywhere. */
static const struct {
	const char *name, *text;
} unit[] = {
	{ "cpu/type", "4\n" },
	{ "cpu/format/event", "config:0-7,32-35\n" },
	{ "cpu/format/umask", "config:8-15\n" },
	{ "cpu/format/any", "config:21\n" },
	{ "cpu/format/ldlat", "config1:0-15\n" },
	{ "cpu/events/cycles", "event=0x3c\n" },
	{ "cpu/events/loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ "cpu/events/loop", "loop\n" },
	{ "odd/type", "17\n" },
	{ "odd/format/bad", "config9:0-1\n" },
};
#define N_UNIT (sizeof(unit) / sizeof(unit[0]))

static void make_units(char *dir)
{
	static const char *const dirs[] = { "cpu", "cpu/format", "cpu/events", "odd",
					    "odd/format" };
	char path[128];

	strcpy(dir, "/tmp/proftop-test-XXXXXX");
	cr_assert_not_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
		cr_assert_eq(mkdir(path, 0700), 0);
	}
	for (size_t i = 0; i < N_UNIT; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", dir, unit[i].name);
		f = fopen(path, "w");
		cr_assert_not_null(f);
		fputs(unit[i].text, f);
		fclose(f);
	}
}

static void remove_units(const char *dir)
{
	char *command;

	cr_assert_geq(asprintf(&command, "rm -r '%s'", dir), 0);
	cr_expect_eq(system(command), 0);
	free(command);
}

Test(pmu_event, puts_bits_where_the_unit_wants_them)
{
	static const struct {
		const char *text;
		uint64_t config, config1, period;
		const char *name;
	} units[] = {
		{ "cpu/event=0x3c/", 0x3c, 0, 0, NULL },
		{ "cpu/event=0x1b7,umask=2/", UINT64_C(0x1000002b7), 0, 0, NULL },
		{ "cpu/cycles,any/", 0x20003c, 0, 0, NULL },
		{ "cpu/loads,umask=3/", 0x3cd, 3, 0, NULL },
		{ "cpu/config=0x77,config1=8/", 0x77, 8, 0, NULL },
		{ "cpu/cycles,period=1000,name=ours/", 0x3c, 0, 1000, "ours" },
	};
	char dir[32];

	make_units(dir);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		struct err e = ERR_INIT;
		struct event_spec s = { .name = NULL };

		cr_assert_eq(pmu_event_parse(dir, units[i].text, strlen(units[i].text), &s, &e), 0,
			     "%s", err_text(&e));
		cr_expect_eq(s.attr.type, 4);
		cr_expect_eq(s.attr.config, units[i].config, "%s", units[i].text);
		cr_expect_eq(s.attr.bp_addr, units[i].config1, "%s", units[i].text);
		cr_expect_eq(s.period, units[i].period, "%s", units[i].text);
		cr_expect((!s.name && !units[i].name) || strcmp(s.name, units[i].name) == 0);
		event_spec_done(&s);
	}
	remove_units(dir);
}

Test(pmu_event, refuses_others_with_a_sentence)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "gpu/event=1/", "no unit \"gpu\"" },
		{ "cpu/event=0x1000/", "does not take 0x1000" },
		{ "cpu/nothing/", "knows no \"nothing\"" },
		{ "cpu/event=x/", "does not take x" },
		{ "cpu/loop/", "knows no \"loop\"" },
		{ "odd/bad=1/", "does not take 1" },
		{ "../cpu/event=1/", "no unit" },
		{ "cpu/event=1", "is written UNIT/TERMS/" },
		{ "cpu/", "is written UNIT/TERMS/" },
	};
	char dir[32];

	make_units(dir);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = ERR_INIT;
		struct event_spec s;

		cr_expect_lt(pmu_event_parse(dir, bad[i].text, strlen(bad[i].text), &s, &e), 0,
			     "%s", bad[i].text);
		cr_expect(strstr(err_text(&e), bad[i].says), "%s: %s", bad[i].text, err_text(&e));
		err_clear(&e);
	}
	remove_units(dir);
}

Test(event_spec, names_end_at_commas_but_not_within_a_unit)
{
	cr_expect_eq(event_spec_length("cycles,faults"), strlen("cycles"));
	cr_expect_eq(event_spec_length("cpu/event=1,umask=2/u,faults"),
		     strlen("cpu/event=1,umask=2/u"));
	cr_expect_eq(event_spec_length("cpu/a,b/"), strlen("cpu/a,b/"));
	cr_expect_eq(event_spec_length("cpu/a,b"), strlen("cpu/a,b"));
}

/* A machine that was just started has sums that could be numbers of cpus. */
Test(cpu_list, takes_no_sum_for_a_cpu)
{
	char path[] = "/tmp/proftop_stat_XXXXXX";
	int fd = mkstemp(path);
	struct cpu_list l = { 0 };

	cr_assert_geq(fd, 0);
	dprintf(fd, "cpu  21759 0 12010\ncpu0 10480 0 5361\ncpu3 11278 0 6648\nintr 7\n");
	close(fd);
	cpu_list_online("/nowhere", path, &l);
	cr_assert_eq(l.n, 2);
	cr_assert_eq(l.at[0], 0);
	cr_assert_eq(l.at[1], 3);
	vec_done(&l);
	unlink(path);
}

/* Where nothing is mounted on /sys all cpus are sampled, too: those of /proc/stat. */
Test(cpu_list, is_known_without_sys)
{
	struct cpu_list all = { 0 }, by_stat = { 0 }, own = { 0 };

	cpu_list_online("/sys/devices/system/cpu/online", "/proc/stat", &all);
	cpu_list_online("/nowhere", "/proc/stat", &by_stat);
	cpu_list_online("/nowhere", "/nowhere", &own);
	cr_assert_eq(by_stat.n, all.n);
	for (size_t i = 0; i < all.n; i++)
		cr_expect_eq(by_stat.at[i], all.at[i]);
	cr_expect(own.n > 0 && own.n <= all.n);
	vec_done(&all);
	vec_done(&by_stat);
	vec_done(&own);
}

Test(cpu_list, is_of_cpus_that_are_there)
{
	struct cpu_list all = { 0 }, first = { 0 };
	struct err e = ERR_INIT;

	cr_assert_eq(cpu_list_read(NULL, &all, &e), 0, "%s", err_text(&e));
	cr_assert_gt(all.n, 0);
	for (size_t i = 1; i < all.n; i++)
		cr_expect_gt(all.at[i], all.at[i - 1]);
	cr_assert_eq(cpu_list_read("0,0-0,0", &first, &e), 0, "%s", err_text(&e));
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

/* Tracepoints of our own, so that they are the same everywhere. */
static const struct {
	const char *pattern, *matches; /* NULL: none, which is said */
} patterns[] = {
	{ "sched:*", "sched:sched_switch sched:sched_waking sched:stat" },
	{ "sched:sched_*", "sched:sched_switch sched:sched_waking" },
	{ "s*:s???", "sched:stat" },
	{ "*:*", "irq:entry sched:sched_switch sched:sched_waking sched:stat" },
	{ "[hi]rq:*", "irq:entry" },
	{ "sched:x*", NULL },
	{ "sched:*:*", NULL },
	{ "../events/irq:*", NULL },
	{ "irq:../sched/*", NULL },
};

Test(event_spec, matches_patterns_of_tracepoints)
{
	static const char *const made[] = { "events",
					    "events/sched",
					    "events/irq",
					    "events/sched/sched_switch",
					    "events/sched/sched_waking",
					    "events/sched/stat",
					    "events/irq/entry" };
	char dir[] = "/tmp/proftop-test-XXXXXX", path[128];
	struct err e = ERR_INIT;

	cr_assert_not_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, made[i]);
		cr_assert_eq(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/%s/id", dir, made[i]);
		if (i > 2)
			cr_assert_eq(fclose(fopen(path, "w")), 0);
	}
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const char *pattern = patterns[i].pattern, *at = patterns[i].matches;
		struct tracepoint_names names = { 0 };
		int rc = tracepoint_match(dir, pattern, strlen(pattern), &names, &e);

		cr_expect(tracepoint_is_pattern(pattern, strlen(pattern)));
		cr_assert_eq(rc == 0, at != NULL, "%s: %s", pattern, err_text(&e));
		cr_expect(at || strstr(err_text(&e), "matches none of the kernel's 4"), "%s",
			  err_text(&e));
		for (size_t k = 0; k < names.n; k++) {
			size_t n = strlen(names.at[k]);

			cr_expect(at && strncmp(at, names.at[k], n) == 0, "%s: %s", pattern,
				  names.at[k]);
			at += n + (at[n] == ' ');
		}
		cr_expect(!at || !*at, "%s: not \"%s\"", pattern, at);
		tracepoint_names_done(&names);
		err_clear(&e);
	}
	remove_units(dir);
}
