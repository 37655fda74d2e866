/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sampling whose rate changes stays without bias; what the rate does when recording takes too much, or little. */
#include "config.h"

#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_sample.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_throttle.h"
#include "record/heap/trace/tracer_writer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct recorder recorder;

/* The rates that the trace was told, and the ticks that their times are of. */
static struct {
	uint64_t mean, at, time;
} told[64];
static size_t n_told;

/* A thread that allocates while the trace is told; NULL: none does. */
static void (*meanwhile)(void);

/* What the trace and the log were told last of what recording takes. */
static struct heap_record cost;
static char logged[256];

void tracer_log(const struct tracer_options *o, const char *what, const char *why)
{
	(void)o;
	snprintf(logged, sizeof(logged), "warning: %s: %s", what, why);
}

void tracer_log_info(const struct tracer_options *o, const char *what, const char *why)
{
	(void)o;
	snprintf(logged, sizeof(logged), "%s: %s", what, why);
}

void tracer_writer_record(struct heap_record *r)
{
	if (r->type == HEAP_REC_COST) {
		cost = *r;
		return;
	}
	cr_assert_eq(r->type, HEAP_REC_SAMPLING);
	told[n_told].time = r->number[HEAP_TIME];
	told[n_told++].mean = r->number[HEAP_SAMPLING_MEAN_BYTES];
	if (meanwhile)
		meanwhile();
}

static bool passes = true; /* were all threads seen outside of a note? */

bool tracer_threads_pass(uint64_t number)
{
	cr_assert_neq(number, 0);
	return passes;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 8;
}

/* What was allocated, and what a sample of it tells of that. */
struct sums {
	double calls, bytes;
	double told_calls, told_bytes;
	double var_calls,
		var_bytes; /* of what is told: sums of (1 - p) / p, and that times size squared */
};

/* The rate of an event's time, as a reader finds it. */
static uint64_t mean_at(uint64_t first, uint64_t us)
{
	for (size_t i = n_told; i-- > 0;)
		if (told[i].time <= us)
			return told[i].mean;
	return first;
}

/* One allocation of a thread. */
static void allocate(struct tracer_thread *t, uint64_t size, uint64_t first, struct sums *s)
{
	uint64_t ticks = 0, us, now = tracer_ticks(&recorder.clock) >> recorder.tick_shift, mean;
	struct tracer_tls tls = { .thread = t };
	/* As hooks do. */
	bool hit = (tracer_records_all() || !tracer_skips(&tls, &recorder.rate, size)) &&
		   tracer_sampled(t, size, &ticks);
	double p, x = (double)size;

	us = tracer_clock_us(&recorder.clock, (ticks ? ticks : now) << recorder.tick_shift);
	mean = mean_at(first, us);
	p = mean ? -expm1(-x / (double)mean) : 1;
	s->calls++;
	s->bytes += x;
	s->var_calls += (1 - p) / p;
	s->var_bytes += x * x * (1 - p) / p;
	if (hit) {
		s->told_calls += 1 / p;
		s->told_bytes += x / p;
	}
}

/* Makes the recorder look until it has taken a step. */
static void look(void)
{
	static const struct tracer_written none;

	tracer_throttle_look(&none);
}

/* With a mean of its own, be it 0. */
static void begin(uint64_t mean, bool counter)
{
	recorder.options.most_share = 0.05;
	recorder.options.sample_bytes = mean;
	tracer_clock_init(&recorder.clock);
	recorder.clock.counter &= counter;
	recorder.tick_shift = 5;
	if (!counter)
		recorder.clock.start_ticks = recorder.clock.piece[0].ticks =
			recorder.clock.start_ns;
	tracer_clock_adjust(&recorder.clock);
	n_told = 0;
	tracer_throttle_begin();
	atomic_store(&recorder.rate.mean, mean);
}

/* A change to `mean` by the steps of the recorder, with allocations between all of them. */
static void change(uint64_t mean)
{
	atomic_store(&recorder.rate.before, atomic_load(&recorder.rate.mean));
	atomic_store(&recorder.rate.after, mean);
	atomic_store(&recorder.rate.at, UINT64_MAX);
	atomic_store(&recorder.rate.mean, SAMPLE_CHANGES);
	told[n_told].mean = mean;
	told[n_told].at = (tracer_ticks(&recorder.clock) >> recorder.tick_shift) + 2000;
	told[n_told].time = tracer_clock_us(&recorder.clock,
					    told[n_told].at << recorder.tick_shift);
	while (tracer_clock_us(&recorder.clock, told[n_told].at << recorder.tick_shift) ==
	       told[n_told].time)
		told[n_told].at++;
	told[n_told].time++;
	atomic_store(&recorder.rate.at, told[n_told++].at);
}

static void settle(uint64_t mean)
{
	while (tracer_ticks(&recorder.clock) >> recorder.tick_shift <=
	       atomic_load(&recorder.rate.at))
		;
	atomic_store(&recorder.rate.mean, mean);
}

/* One byte that is sampled at a mean of 100,000 stands for as many calls, by chance more than five deviations. */
#define SIZE_LEAST 64

/*
 * Many changes between rates, all and few: totals of what is sampled are those of what was allocated, within five
 * standard deviations as theory has them, and those are small.
 */
Test(tracer_throttle, estimates_have_no_bias_over_changes)
{
	static const uint64_t means[] = { 0, 512, 65536, 300, 0, 4096, 100000, 64, 2000, 0, 30000 };

	for (uint64_t seed = 1; seed <= 8; seed++) {
		static struct tracer_thread threads[3];
		struct sums s = { 0 };
		uint64_t r = seed * 0x9e3779b97f4a7c15;

		begin(seed % 2 ? 8192 : 0, seed % 4 < 2);
		for (unsigned i = 0; i < 3; i++)
			threads[i] = (struct tracer_thread){ .seed = seed * 77 + i + 1 };
		for (size_t k = 0; k < sizeof(means) / sizeof(*means); k++) {
			for (unsigned i = 0; i < 20000; i++)
				allocate(&threads[i % 3], SIZE_LEAST + next_random(&r) % 700,
					 seed % 2 ? 8192 : 0, &s);
			change(means[k]);
			for (unsigned i = 0; i < 20000; i++)
				allocate(&threads[i % 3], SIZE_LEAST + next_random(&r) % 700,
					 seed % 2 ? 8192 : 0, &s);
			settle(means[k]);
		}
		cr_expect(fabs(s.told_bytes - s.bytes) < 5 * sqrt(s.var_bytes),
			  "seed %u: %g of %g, +-%g", (unsigned)seed, s.told_bytes, s.bytes,
			  sqrt(s.var_bytes));
		cr_expect(fabs(s.told_calls - s.calls) < 5 * sqrt(s.var_calls),
			  "seed %u: %g of %g, +-%g", (unsigned)seed, s.told_calls, s.calls,
			  sqrt(s.var_calls));
		cr_expect_lt(sqrt(s.var_bytes), s.bytes * 0.05);
	}
}

/* A program of which each allocation costs so much, and the share that recording takes of it with a mean. */
static double share_with(uint64_t mean, double size, double load)
{
	return load * (mean ? -expm1(-size / (double)mean) : 1);
}

Test(tracer_throttle, the_mean_comes_to_where_the_share_is_kept)
{
	static const struct {
		double size, load, most;
	} cases[] = { { 100, 2, 0.05 }, { 100, 0.04, 0.05 }, { 100000, 3, 0.01 },
		      { 20, 8, 0.001 }, { 16, 0.06, 0.05 },  { 1 << 20, 0.5, 0.02 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t mean = 0, was;
		double size = cases[i].size, load = cases[i].load, most = cases[i].most;

		for (unsigned k = 0; k < 12; k++)
			mean = tracer_throttle_next(mean, share_with(mean, size, load), most, size);
		cr_expect_leq(share_with(mean, size, load), most, "case %zu: %g", i,
			      share_with(mean, size, load));
		cr_expect_eq(mean == 0, load <= most, "case %zu: a mean of %lu", i,
			     (unsigned long)mean);
		cr_expect(mean == 0 || share_with(mean, size, load) >= most / 3,
			  "case %zu: only %g", i, share_with(mean, size, load));
		/* It stays there, and when the load goes all are recorded again. */
		was = mean;
		cr_expect_eq(tracer_throttle_next(mean, share_with(mean, size, load), most, size),
			     was);
		for (unsigned k = 0; k < 30; k++)
			mean = tracer_throttle_next(mean, share_with(mean, size, most / 100), most,
						    size);
		cr_expect_eq(mean, 0, "case %zu: %lu", i, (unsigned long)mean);
	}
}

/* Looks until the rate is, or no more is, about to change; meanwhile much is noted. */
static void look_until(bool changes, struct tracer_thread *t)
{
	while ((atomic_load(&recorder.rate.mean) == SAMPLE_CHANGES) != changes) {
		t->n_notes += 100;
		look();
	}
}

/* Is the moment of the last change the first of its unit of time, as the trace is told? */
static void expect_exact_moment(void)
{
	uint64_t at = atomic_load(&recorder.rate.at);

	cr_assert_geq(n_told, 1);
	cr_expect_eq(tracer_clock_us(&recorder.clock, at << recorder.tick_shift),
		     told[n_told - 1].time);
	cr_expect_lt(tracer_clock_us(&recorder.clock, (at - 1) << recorder.tick_shift),
		     told[n_told - 1].time);
}

/* It begins with few, as nobody knows yet what they take, and comes to all where that is next to nothing. */
Test(tracer_throttle, a_limit_begins_with_few_and_comes_to_all)
{
	static struct tracer_thread t;
	uint64_t least;

	begin(0, true);
	tracer_throttle_begin();
	atomic_store(&recorder.threads, &t);
	least = atomic_load(&recorder.rate.mean);
	cr_expect_eq(least, 2000, "100 bytes, of which one in twenty are recorded: %lu",
		     (unsigned long)least);
	while (atomic_load(&recorder.rate.mean) != 0)
		look();
	cr_assert_geq(n_told, 3);
	for (unsigned i = 0; i < n_told; i++) {
		cr_expect_lt(told[i].mean, least);
		least = told[i].mean;
	}
	recorder.options.sample_bytes = 512;
	tracer_throttle_begin();
	cr_expect_eq(atomic_load(&recorder.rate.mean), 512);
}

/* While a thread may be deciding by what was so, nothing is said of when; then all know it before it comes. */
Test(tracer_throttle, a_thread_at_work_is_awaited)
{
	static struct tracer_thread t;
	uint64_t until;

	begin(0, true);
	atomic_store(&recorder.threads, &t);
	look_until(true, &t);
	cr_expect_eq(n_told, 0);
	cr_expect_eq(atomic_load(&recorder.rate.at), UINT64_MAX);
	passes = false;
	for (until = tracer_monotonic_ns() + 30000000; tracer_monotonic_ns() < until;)
		look();
	cr_expect_eq(n_told, 0, "decided while a thread may not have heard of it");
	passes = true;
	while (n_told == 0)
		look();
	expect_exact_moment();
	cr_expect_neq(told[0].mean, 0);
	look_until(false, &t);
	cr_expect_eq(atomic_load(&recorder.rate.mean), told[0].mean);
}

static struct {
	struct tracer_thread thread;
	struct sums sums;
} busy;

/* Long enough for what is ahead to have passed, and often enough for sums, however slow the processor is. */
static void allocate_for_a_while(void)
{
	uint64_t until = tracer_monotonic_ns() + 3000000;

	for (unsigned n = 0; n < 1000 || tracer_monotonic_ns() < until; n++)
		allocate(&busy.thread, 100, 0, &busy.sums);
}

/* The writer is held up while it tells the trace, beyond the moment that it tells: as other threads keep the processors. */
Test(tracer_throttle, a_writer_that_is_late_adds_nothing)
{
	begin(0, true);
	atomic_store(&recorder.threads, &busy.thread);
	look_until(true, &busy.thread);
	meanwhile = allocate_for_a_while;
	while (n_told == 0)
		look();
	meanwhile = NULL;
	allocate_for_a_while();
	cr_expect_gt(busy.sums.calls, 1000);
	cr_expect(fabs(busy.sums.told_bytes - busy.sums.bytes) <= 5 * sqrt(busy.sums.var_bytes) + 1,
		  "%g of %g, +-%g", busy.sums.told_bytes, busy.sums.bytes,
		  sqrt(busy.sums.var_bytes));
}

/* It is held up before it says when: what a thread decided meanwhile stays true. */
Test(tracer_throttle, the_moment_is_after_what_was_decided)
{
	static struct tracer_thread t;
	uint64_t ticks;

	begin(0, true);
	atomic_store(&recorder.threads, &t);
	look_until(true, &t);
	ticks = (uint64_t)(20e6 / recorder.clock.ns_per_tick);
	ticks = (tracer_ticks(&recorder.clock) + ticks) >> recorder.tick_shift;
	atomic_store(&t.decided_ticks, ticks);
	while (n_told == 0)
		look();
	cr_expect_gt(told[0].time, tracer_clock_us(&recorder.clock, ticks << recorder.tick_shift));
}

/* The short way takes an allocation only where tracer_sampled() would have let it pass, and counts it. */
Test(tracer_throttle, the_short_way_is_for_what_passes)
{
	static const struct {
		uint64_t mean, drawn, left, exact, size;
		uint32_t busy;
		bool skips;
	} cases[] = {
		{ 4096, 4096, 100, 0, 100, TRACER_IDLE, true },
		{ 4096, 4096, 100, 0, 101, TRACER_IDLE, false }, /* it is the one */
		{ 4096, 512, 100, 0, 10, TRACER_IDLE, false },   /* drawn with another mean */
		{ 4096, 0, 100, 0, 10, TRACER_IDLE, false },     /* with none */
		{ SAMPLE_CHANGES, 512, 100, 0, 10, TRACER_IDLE, false },
		{ 4096, 4096, 100, 64, 63, TRACER_IDLE, true },
		{ 4096, 4096, 100, 64, 64, TRACER_IDLE, false }, /* such are recorded */
		{ 4096, 4096, 100, 0, 10, TRACER_POOL, false },  /* the recorder's own */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tracer_thread t = { .sample_mean = cases[i].drawn,
					   .sample_left = cases[i].left };
		struct tracer_tls tls = { .thread = &t, .busy = cases[i].busy }, none = { 0 };
		const struct sample_rate rate = { .mean = cases[i].mean,
						  .most = cases[i].exact - 1 };
		bool skips = cases[i].skips;

		cr_expect_eq(tracer_skips(&tls, &rate, cases[i].size), skips, "case %zu", i);
		cr_expect_eq(t.sample_left, cases[i].left - (skips ? cases[i].size : 0));
		cr_expect_eq(tracer_thread_passed(&t), skips);
		cr_expect_eq(t.n_passed_long, 0);
		cr_expect_not(tracer_skips(&none, &rate, 1), "without a thread");
	}
}

/* After a pause it is as far to the next as ever: those that were far have been skipped meanwhile. */
Test(tracer_throttle, a_pause_is_no_reason_to_be_recorded)
{
	double left = 0;

	begin(1000, true);
	for (unsigned i = 0; i < 4000; i++) {
		struct tracer_thread t = { .seed = i * 77 + 1 };
		struct tracer_tls tls = { .thread = &t };
		uint64_t ticks = 0;

		tracer_sampled(&t, 0, &ticks);
		atomic_store(&recorder.n_switches, 1);
		for (unsigned k = 0; k < 1000; k++)
			if (!tracer_skips(&tls, &recorder.rate, 10))
				cr_assert_not(tracer_sampled(&t, 10, &ticks));
		atomic_store(&recorder.n_switches, 0);
		tracer_sampled(&t, 0, &ticks);
		left += (double)t.sample_left;
	}
	/* Five deviations. */
	cr_expect(fabs(left / 4000 - 1000) < 5 * 1000 / sqrt(4000), "%g", left / 4000);
}

/* What calls take that are not recorded is a part of what is allowed; what is recorded has some in any case. */
Test(tracer_throttle, the_floor_is_a_part_of_what_is_allowed)
{
	cr_expect_float_eq(tracer_throttle_room(0.02, 0, 0.02), 0.02, 1e-12);
	cr_expect_float_eq(tracer_throttle_room(0.02, 0.012, 0.02), 0.008, 1e-12);
	cr_expect_float_eq(tracer_throttle_room(0.02, 0.02, 0.02), 0.005, 1e-12);
	cr_expect_float_eq(tracer_throttle_room(0.02, 0.5, 0.02), 0.005, 1e-12);
	/* Until what was too much is made up for. */
	cr_expect_float_eq(tracer_throttle_room(0.02, 0.001, 0.021), 0.005, 1e-12);
}

/* Uses so much of the processor: ns. */
static void burn(uint64_t ns)
{
	struct timespec t;
	uint64_t from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	now = from = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	while (now - from < ns) {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	}
}

/* What the writer does without notes is nothing that a higher mean would change. */
Test(tracer_throttle, the_writers_own_work_changes_no_mean)
{
	static struct tracer_thread t;

	begin(4096, true);
	atomic_store(&recorder.threads, &t);
	for (unsigned i = 0; i < 3; i++) {
		t.n_notes += 10;
		burn(30000000);
		look_until(false, &t);
		cr_expect_leq(atomic_load(&recorder.rate.mean), 4096);
	}
}

/* A limit that calls alone exceed that are not recorded is not kept, and that is said; another one is kept. */
Test(tracer_throttle, the_end_tells_what_it_took)
{
	static struct tracer_thread t;
	uint64_t n = 100000000;

	begin(1 << 20, true);
	atomic_store(&recorder.threads, &t);
	burn(10000000);
	tracer_throttle_end();
	cr_expect_eq(strncmp(logged,
			     "recording took: 0.0% of the program's own CPU time, of 5.0% allowed",
			     sizeof(logged)),
		     0, "%s", logged);
	cr_expect_eq(cost.number[HEAP_COST_PASSED], 0);
	cr_expect_geq(cost.number[HEAP_COST_PROGRAM], 10000);

	/* As if so many had come in that time: more than all of it. */
	begin(1 << 20, true);
	t.n_passed = n;
	burn(10000000);
	tracer_throttle_end();
	cr_expect_eq(cost.number[HEAP_COST_PASSED], n);
	/* A tenth of a nanosecond and 200 are too little and too much for any call. */
	cr_expect_gt(cost.number[HEAP_COST_PASSING], n / 10000);
	cr_expect_lt(cost.number[HEAP_COST_PASSING], n / 5);
	cr_expect_not_null(strstr(logged, "warning: recording took: "), "%s", logged);
	cr_expect_not_null(strstr(logged, ", not 5.0%; this program allows no less than "), "%s",
			   logged);
	cr_expect_not_null(
		strstr(logged, ", which is what 100000000 calls take that are not recorded"), "%s",
		logged);
}
