/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a call costs that is passed on: found by windows in which it is paid twice, whatever the program does besides. */
#include "config.h"

#include "record/heap/trace/pass_cost.h"

#include "record/heap/hooks/real_calls.h"

#include <criterion/criterion.h>

/* As the library's would: calls are passed on twice from here on. */
static bool twice;

void real_calls_twice(bool now)
{
	twice = now;
}

static double random_share(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (double)(*seed >> 11) / 9007199254740992.0;
}

/* A program: ns a call of its own, by how much of it windows differ at random, and how it becomes slower with each. */
struct program {
	double ns, spread, drift;
};

/* Windows of a program for which a call costs so much: what they say. */
static double windows(const struct program *p, double call_ns, unsigned n, uint64_t seed)
{
	struct pass_moment at = { 0 };
	double own = p->ns;

	pass_cost_begin();
	for (unsigned i = 0; i < n; i++) {
		if (!pass_cost_window(&at) && !pass_cost_window(&at))
			cr_assert_fail("no window opens");
		own *= 1 + p->drift;
		at.n_passed += 100000;
		at.program_ns += 100000 * (own * (1 + p->spread * (random_share(&seed) - 0.5)) +
					   call_ns * (twice ? 2 : 1));
	}
	pass_cost_window(&at);
	pass_cost_leave();
	cr_expect_not(twice);
	return pass_cost_ns();
}

Test(pass_cost, is_what_the_programs_time_a_call_rises_by)
{
	static const struct {
		struct program program;
		double call_ns, off;
	} cases[] = {
		{ { 20, 0, 0 }, 2, 0.001 },      { { 20, 0, 0.01 }, 2, 0.2 },
		{ { 20, 0, -0.01 }, 2, 0.2 },    { { 20, 0.05, 0 }, 2, 0.3 },
		{ { 20, 0.05, 0.002 }, 5, 0.6 }, { { 200, 0.02, 0 }, 5, 1.2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double ns = windows(&cases[i].program, cases[i].call_ns, 128, i + 1);

		cr_expect_float_eq(ns, cases[i].call_ns, cases[i].off, "case %zu: %g", i, ns);
	}
}

/* Where windows say little, a loop counts; where they say much, it does not. */
Test(pass_cost, counts_what_is_more_certain)
{
	static const struct program wild = { 100000, 1, 0 }, calm = { 20, 0.01, 0 };
	double loop = windows(&calm, 0, 0, 1), few = windows(&calm, 50, 14, 1);

	/* 0, if something came between: what was not measured is not certain. */
	cr_expect_geq(loop, 0);
	cr_expect_float_eq(few, loop, 1e-9, "seven pairs are too few: %g, %g", few, loop);
	cr_expect_float_eq(windows(&wild, 50, 128, 2), loop, loop * 0.5 + 0.1);
	cr_expect_float_eq(windows(&calm, loop + 5, 128, 3), loop + 5, 0.3);
}

Test(pass_cost, of_differences)
{
	double same[8] = { 3, 3, 3, 3, 3, 3, 3, 3 }, below[8] = { -4, -4, -4, -4, -4, -4, -4, -4 };
	double near[8] = { 2.9, 3.1, 2.8, 3.2, 2.95, 3.05, 3, 3 };
	double apart[8] = { 103, -97, 3, 3.5, 2.5, 203, -197, 3 };

	cr_expect_float_eq(pass_cost_of(same, 8, 1), 3, 1e-12);
	cr_expect_float_eq(pass_cost_of(same, 7, 1), 1, 1e-12);
	cr_expect_float_eq(pass_cost_of(same, 8, 0), 3, 1e-12);
	cr_expect_float_eq(pass_cost_of(below, 8, 1), 0, 1e-12);
	cr_expect_float_eq(pass_cost_of(near, 8, 0), 3, 0.02);
	/* The middle one, but not at all certain. */
	cr_expect_float_eq(pass_cost_of(apart, 8, 0.1), 0.1, 0.01);
}

/* A window in which next to nothing ran gives nothing. */
Test(pass_cost, needs_a_program_that_runs)
{
	struct pass_moment at = { 0 };

	pass_cost_begin();
	cr_expect(pass_cost_window(&at));
	cr_expect(pass_cost_is_open());
	at.n_passed += 10;
	at.program_ns += 100000;
	cr_expect_not(pass_cost_window(&at));
	cr_expect_not(pass_cost_is_open());
	cr_expect_not(twice);
}

/* What is looked at a second time is done as the first time, and counted apart. */
Test(pass_cost, a_second_look_counts_apart)
{
	static struct tracer_thread t = { .sample_mean = 4096, .sample_left = 1000 };
	struct tracer_tls tls = { .thread = &t }, none = { 0 };
	struct pass_moment at = { 0 };

	cr_expect_not(pass_again_skips(&tls, 100), "it has no place to count yet");
	atomic_store(&recorder.threads, &t);
	recorder.rate.most = 4095;
	pass_cost_begin();
	cr_assert(pass_cost_window(&at));
	cr_expect(pass_again_skips(&tls, 100));
	cr_expect(pass_again_skips_free(&tls, 4096));
	cr_expect_not(pass_again_skips(&tls, 4096), "such are recorded");
	cr_expect_not(pass_again_skips(&none, 100));
	cr_expect_eq(pass_cost_again(), 2);
	cr_expect_eq(t.n_passed, 0);
	cr_expect_eq(t.sample_left, 1000);
	pass_cost_leave();
	atomic_store(&recorder.threads, NULL);
}
