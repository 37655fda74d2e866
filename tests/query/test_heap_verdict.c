/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of known shapes have their verdicts. */
#include "config.h"

#include "query/heap/heap_verdict.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define N_SLOTS 120

/* Lines of known shapes; slots are a second. */
static int64_t shape(const char *name, int i)
{
	if (strcmp(name, "leak") == 0)
		return 1000 * (i + 1) + (i * 7919) % 300;
	if (strcmp(name, "cache") == 0)
		return (i < 40 ? 1000 * i : 40000) + (i * 7919) % 1500;
	if (strcmp(name, "saw") == 0)
		return 1000 * (i % 20);
	/* A seventh of each tooth stays; it has fallen to less than half some times. */
	if (strcmp(name, "rising saw") == 0)
		return 2000 * (i % 10) + 300 * (i - i % 10) + 500;
	/* Its troughs are slots that came before the first blocks of a tooth, or behind some. */
	if (strcmp(name, "fast saw") == 0)
		return i == 0 ? 0 : 100 * i / 30 + (i * 7919) % 20000;
	if (strcmp(name, "saw on a base") == 0)
		return i < 6 ? 0 : 3000 + 1000 * (i % 10) + (i * 7919) % 150;
	if (strcmp(name, "steps") == 0)
		return 5000 * (i / 11 + 1);
	if (strcmp(name, "late") == 0)
		return i < 70 ? 300 * i : 21000 + (i * 7919) % 900;
	if (strcmp(name, "starts late") == 0)
		return i < 50 ? 0 : 500 * (i - 50);
	if (strcmp(name, "frees for the exit") == 0)
		return i < 115 ? 700 * i : i < 117 ? 30000 : 0;
	if (strcmp(name, "rises and falls") == 0)
		return 1000 * (i < 80 ? i : i < 119 ? 160 - i : 0);
	if (strcmp(name, "warms up") == 0)
		return (int64_t)(40000 * (1 - exp(-i / 40.0)));
	if (strcmp(name, "full at last") == 0)
		return i < 100 ? 200 * i : 20000;
	if (strcmp(name, "small") == 0)
		return 1000000 + 10 * i;
	if (strcmp(name, "start") == 0)
		return i > 2 ? 5000 : 0;
	if (strcmp(name, "end") == 0)
		return i > 110 ? 5000 : 0;
	if (strcmp(name, "slower") == 0)
		return (int64_t)(40000 * (1 - exp(-i / 20.0)));
	return 3000 + (i * 7919) % 3000;
}

Test(heap_verdict, shapes_have_verdicts)
{
	static const struct {
		const char *shape;
		double first, last;
		enum heap_verdict verdict;
	} cases[] = {
		{ "leak", 0, 1, VERDICT_STEADY },
		{ "cache", 0, 1, VERDICT_BOUNDED },
		{ "saw", 0, 1, VERDICT_SAWTOOTH },
		{ "start", 0, 0.02, VERDICT_STARTUP },
		{ "end", 0.92, 1, VERDICT_AT_END },
		{ "slower", 0, 1, VERDICT_BOUNDED },
		{ "rising saw", 0, 1, VERDICT_STEADY },
		{ "fast saw", 0, 1, VERDICT_SAWTOOTH },
		{ "saw on a base", 0, 1, VERDICT_SAWTOOTH },
		{ "steps", 0, 1, VERDICT_STEADY },
		{ "late", 0, 1, VERDICT_BOUNDED },
		{ "small", 0, 1, VERDICT_BOUNDED },
		{ "starts late", 0.42, 1, VERDICT_STEADY },
		{ "frees for the exit", 0, 0.96, VERDICT_STEADY },
		{ "rises and falls", 0, 0.67, VERDICT_OTHER },
		{ "warms up", 0, 1, VERDICT_BOUNDED },
		{ "full at last", 0, 1, VERDICT_BOUNDED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t line[N_SLOTS];
		struct heap_run run = {
			line, N_SLOTS, 1e9, cases[i].first, cases[i].last, 1, true
		};
		struct heap_growth g;

		for (int k = 0; k < N_SLOTS; k++)
			line[k] = shape(cases[i].shape, k);
		g = heap_judge_growth(&run);
		cr_expect_eq(g.verdict, cases[i].verdict, "%s: %d", cases[i].shape, (int)g.verdict);
		cr_expect_eq(g.bytes_per_hour > g.error, g.verdict == VERDICT_STEADY);
		if (i > 0)
			continue;
		cr_expect_lt(fabs(g.bytes_per_hour - 3.6e6), g.error, "%g ± %g", g.bytes_per_hour,
			     g.error);
		cr_expect_lt(g.error, 0.05 * 3.6e6);
	}
}

Test(heap_verdict, few_numbers_show_nothing)
{
	int64_t line[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct heap_run run = { line, 8, 1e9, 0, 1, 1, true };

	cr_expect_eq(heap_judge_growth(&run).verdict, VERDICT_SHORT);
	run.n = 0;
	cr_expect_eq(heap_judge_growth(&run).verdict, VERDICT_SHORT);
}
