/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks of the heap tracer become times that keep their order, whatever the kernel's clock does. */
#include "config.h"

#include "record/heap/trace/tracer_clock.h"

#include <criterion/criterion.h>

/* A clock that has run for a while, with as many comparisons as there is room for and more. */
static void run(struct tracer_clock *c, uint64_t *last_us, uint64_t *last_ticks)
{
	for (unsigned i = 0; i < 200; i++) {
		uint64_t ticks;

		tracer_clock_adjust(c);
		/* Each is due: as if much time had passed. */
		c->seen_ns -= 2e9;
		c->seen_ticks -= (uint64_t)(2e9 / c->ns_per_tick);
		ticks = tracer_ticks_after(c);
		cr_assert_geq(ticks, *last_ticks);
		cr_assert_geq(tracer_clock_us(c, ticks), *last_us);
		*last_us = tracer_clock_us(c, ticks);
		*last_ticks = ticks;
	}
}

Test(tracer_clock, times_keep_the_order_of_ticks)
{
	struct tracer_clock c;
	uint64_t us = 0, ticks = 0;

	tracer_clock_init(&c);
	run(&c, &us, &ticks);
	/* The kernel's clock seems to run ahead, then behind: times go on to rise. */
	c.start_ns -= 5000000;
	run(&c, &us, &ticks);
	c.start_ns += 10000000;
	run(&c, &us, &ticks);
}

Test(tracer_clock, a_time_that_was_given_is_given_again)
{
	struct tracer_clock c;
	uint64_t ticks[24], us[24];

	tracer_clock_init(&c);
	for (unsigned i = 0; i < 24; i++) {
		tracer_clock_adjust(&c);
		c.seen_ns -= 2e9;
		c.seen_ticks -= (uint64_t)(2e9 / c.ns_per_tick);
		ticks[i] = tracer_ticks_after(&c);
		us[i] = tracer_clock_us(&c, ticks[i]);
		for (unsigned k = 0; k <= i; k++)
			cr_assert_eq(tracer_clock_us(&c, ticks[k]), us[k], "%u of %u", k, i);
	}
	if (c.counter)
		cr_expect_gt(c.n_pieces, 10);
}

Test(tracer_clock, no_piece_begins_while_it_is_held)
{
	struct tracer_clock c;
	uint32_t n;

	tracer_clock_init(&c);
	tracer_clock_adjust(&c);
	tracer_clock_us(&c, c.start_ticks);
	n = c.n_pieces;
	c.held_until = tracer_ticks(&c) + (UINT64_C(1) << 50);
	c.seen_ns -= 2e9;
	tracer_clock_adjust(&c);
	cr_expect_eq(c.n_pieces, n);
}
