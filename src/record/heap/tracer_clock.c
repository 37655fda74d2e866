/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which clock, and what its ticks are worth. */
#include "config.h"

#include "tracer_clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Before this long has passed, a comparison of both clocks says little. */
#define SHORTEST_NS 20000u

static bool kernel_trusts_counter(void)
{
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, name, sizeof(name));
	close(fd);
	return n >= 4 && memcmp(name, "tsc\n", 4) == 0;
}

void tracer_clock_init(struct tracer_clock *c)
{
	c->counter = kernel_trusts_counter();
	c->ns_per_tick = 1;
	c->start_ns = tracer_monotonic_ns();
	c->start_ticks = tracer_ticks(c);
}

void tracer_clock_adjust(struct tracer_clock *c)
{
	uint64_t ns = tracer_monotonic_ns() - c->start_ns;
	uint64_t ticks = tracer_ticks(c) - c->start_ticks;

	if (!c->counter || ticks == 0)
		return;
	/* The first comparison is better than none. */
	if (ns >= SHORTEST_NS || c->ns_per_tick == 1)
		c->ns_per_tick = (double)ns / (double)ticks;
}

uint64_t tracer_clock_us(const struct tracer_clock *c, uint64_t ticks)
{
	/* Counters of processors may differ a little. */
	if (ticks < c->start_ticks)
		return 0;
	return (uint64_t)((double)(ticks - c->start_ticks) * c->ns_per_tick / 1000);
}
