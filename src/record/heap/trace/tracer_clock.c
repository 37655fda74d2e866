/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which clock, and what its ticks are worth. */
#include "config.h"

#include "record/heap/trace/tracer_clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of a second and more a piece is made once in a while, before twice as late as the last. */
#define FIRST_NS 50e3
#define MOST_NS  1e9

/* Both clocks are read one after the other so often: the best time, as the thread may be interrupted between. */
#define TRIES 4u

/* And so often until a moment has passed. */
#define MOST_LOOKS 1000000u

static bool kernel_trusts_counter(void)
{
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, name, sizeof(name));
	close(fd);
	return n > 0 && (strncmp(name, "tsc\n", sizeof(name)) == 0 ||
			 strncmp(name, "arch_sys_counter", sizeof(name)) == 0);
}

/* PR_SET_TSC forbids it to a thread and to all that it makes; of x86 only. */
bool tracer_clock_may_read(void)
{
	int how = PR_TSC_ENABLE;

	return syscall(SYS_prctl, PR_GET_TSC, &how, 0, 0, 0) != 0 || how == PR_TSC_ENABLE;
}

/* The counter is not to be read by this process, which the kernel's own code in it would do as well. */
static _Atomic bool no_counter;

uint64_t tracer_clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	if (atomic_load_explicit(&no_counter, memory_order_relaxed))
		syscall(SYS_clock_gettime, clock, &t);
	else
		clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t tracer_kernel_ticks(const struct tracer_clock *c)
{
	uint64_t ns = tracer_monotonic_ns();

	if (!(c->left.ns_per_tick > 0))
		return ns;
	return c->left.ticks + (uint64_t)((double)(ns - c->left.ns) / c->left.ns_per_tick);
}

void tracer_clock_leave_counter(struct tracer_clock *c)
{
	uint64_t ticks = 0, ns = 0;

	atomic_store(&no_counter, true);
	if (!atomic_load(&c->counter))
		return;
	/* Long enough to say what a tick is worth. */
	for (unsigned i = 0; i < MOST_LOOKS; i++) {
		ticks = tracer_ticks_after(c);
		ns = tracer_monotonic_ns();
		if ((double)(ns - c->start_ns) >= FIRST_NS && ticks > c->start_ticks)
			break;
	}
	c->left.ticks = ticks;
	c->left.ns = ns;
	c->left.ns_per_tick = (double)(ns - c->start_ns) / (double)(ticks - c->start_ticks);
	atomic_store(&c->counter, false);
}

static uint64_t fixed_rate(double ns_per_tick)
{
	double rate = ns_per_tick / 1000 * (double)(UINT64_C(1) << CLOCK_POINT);

	return rate < 1 ? 1 : rate < 0x1p63 ? (uint64_t)rate : UINT64_C(1) << 63;
}

void tracer_clock_init(struct tracer_clock *c)
{
	atomic_store(&no_counter, !tracer_clock_may_read());
	*c = (struct tracer_clock){ .counter = !atomic_load(&no_counter) && kernel_trusts_counter(),
				    .ns_per_tick = 1 };
	c->start_ns = tracer_monotonic_ns();
	c->start_ticks = tracer_ticks(c);
	c->seen_ticks = c->start_ticks;
	c->piece[0] = (struct clock_piece){ .ticks = c->start_ticks, .us_per_tick = fixed_rate(1) };
	c->n_pieces = 1;
}

/* What both clocks say at one moment: ticks, and ns since time 0. */
static uint64_t compare(const struct tracer_clock *c, double *ns)
{
	uint64_t best = UINT64_MAX, ticks = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before = tracer_ticks_after(c), now = tracer_monotonic_ns();
		uint64_t took = tracer_ticks_after(c) - before;

		if (took >= best)
			continue;
		best = took;
		ticks = before + took / 2;
		*ns = (double)(now - c->start_ns);
	}
	return ticks;
}

/* Where the line is at these ticks: what begins there goes on from it. */
static struct clock_piece continued(const struct clock_piece *p, uint64_t ticks)
{
	unsigned __int128 at = (unsigned __int128)(ticks - p->ticks) * p->us_per_tick + p->fraction;

	return (struct clock_piece){
		.ticks = ticks,
		.us = p->us + (uint64_t)(at >> CLOCK_POINT),
		.fraction = (uint64_t)at & ((UINT64_C(1) << CLOCK_POINT) - 1),
	};
}

static double piece_ns(const struct clock_piece *p)
{
	return ((double)p->us + (double)p->fraction / (double)(UINT64_C(1) << CLOCK_POINT)) * 1000;
}

/* From now on another piece; it goes to where the clock will be in as long as it is to last. */
static void add_piece(struct tracer_clock *c, uint64_t ticks, double ns, double lasts_ns)
{
	const struct clock_piece *last = &c->piece[c->n_pieces - 1];
	struct clock_piece next = continued(last, ticks);
	double behind = (ns - piece_ns(&next)) / lasts_ns;

	/* Times rise, whatever the clocks did. */
	behind = behind < -0.5 ? -0.5 : behind > 1 ? 1 : behind;
	next.us_per_tick = fixed_rate(c->ns_per_tick * (1 + behind));
	if (c->n_pieces == CLOCK_PIECES)
		memmove(c->piece, c->piece + 1, --c->n_pieces * sizeof(*c->piece));
	c->piece[c->n_pieces++] = next;
	c->used = false;
}

void tracer_clock_adjust(struct tracer_clock *c)
{
	struct clock_piece *last = &c->piece[c->n_pieces - 1];
	double ns = 0, passed, lasts_ns;
	uint64_t ticks;

	if (!atomic_load(&c->counter) && !(c->left.ns_per_tick > 0))
		return;
	ticks = compare(c, &ns);
	passed = ns - c->seen_ns;
	lasts_ns = ns < FIRST_NS ? FIRST_NS : ns < MOST_NS ? ns : MOST_NS;
	if (ticks <= c->seen_ticks || ticks <= c->held_until)
		return;
	/* Before anything else is known, and nothing was made of what was thought. */
	if (c->n_pieces == 1 && !c->used) {
		c->ns_per_tick = ns / (double)(ticks - c->start_ticks);
		last->us_per_tick = fixed_rate(c->ns_per_tick);
		return;
	}
	if (passed < lasts_ns / 2)
		return;
	c->ns_per_tick = passed / (double)(ticks - c->seen_ticks);
	add_piece(c, ticks, ns, lasts_ns);
	c->seen_ticks = ticks;
	c->seen_ns = ns;
}

uint64_t tracer_clock_us_before(const struct tracer_clock *c, uint64_t ticks)
{
	uint32_t i = c->n_pieces - 1;

	/* Counters of processors may differ a little. */
	if (ticks < c->start_ticks)
		return 0;
	while (i > 0 && ticks < c->piece[i].ticks)
		i--;
	return ticks < c->piece[i].ticks ? c->piece[i].us : clock_piece_us(&c->piece[i], ticks);
}
