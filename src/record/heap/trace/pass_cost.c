/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two windows by turns are a pair, whose order changes from pair to pair, as programs become faster or slower with time. */
#include "config.h"

#include "record/heap/trace/pass_cost.h"

#include "record/heap/hooks/real_calls.h"
#include "record/heap/trace/tracer_memory.h"
#include "record/heap/trace/tracer_sample.h"

#define PAGE_BYTES 4096u

#define TRIALS      1024u /* calls that are timed together */
#define FREED_APART 96u   /* bytes */
#define TURNS       8u    /* the fastest of so many counts */
#define LOOP_OFF    8.0   /* a call may take so many times what it takes in a loop */
#define LOOP_LEAST  0.1   /* ns; by the clock a loop may take less, if something came between */
#define MOST_PAIRS  64u   /* the last ones count */
#define FEW_PAIRS   8u
#define AGAIN_MEAN  1u        /* of the second look; any will do */
#define LEAST_NS    1000000.0 /* of a window: CPU time */
#define LEAST_CALLS 1000u     /* in it */

static struct {
	enum { NO_WINDOW, FIRST_WINDOW, SECOND_WINDOW } window;
	bool twice;               /* in the window */
	struct pass_moment since; /* its beginning */
	double first_ns;          /* a call, in the first window */
	double difference[MOST_PAIRS];
	uint32_t n;     /* pairs so far */
	double loop_ns; /* a call in a loop; negative: not timed yet */
} cost = { .loop_ns = -1 };

struct pass_again pass_again __attribute__((visibility("hidden"), aligned(PAGE_BYTES)));

/* --- in a loop ------------------------------------------------------------------------------- */

/* The program's allocator, which does nothing here. */
static __attribute__((noinline)) void nothing(uint64_t n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
}

typedef void allocator(uint64_t);

/* As hooks do with an allocation of n bytes, and with the free of a block at n. */
static __attribute__((noinline)) void pass_alloc(const struct tracer_tls *tls, uint64_t n,
						 allocator *const volatile *call)
{
	static const struct sample_rate rate = { .mean = 1, .most = UINT64_MAX };

	if (tracer_skips(tls, &rate, n))
		(*call)(n);
}

static __attribute__((noinline)) void pass_free(const struct tracer_tls *tls, uint64_t n,
						allocator *const volatile *call)
{
	static _Atomic uint8_t known[1 << KNOWN_BITS];

	if (tracer_skips_free(tls, known, n))
		(*call)(n);
}

/*
 * ns of a call: of pairs, one at a time, as the program's own work is between two of them. The fastest turn counts: nothing
 * came between.
 */
static double time_loop(void)
{
	static struct tracer_thread t;
	const struct tracer_tls tls = { .thread = &t };
	allocator *const volatile call = nothing;
	uint64_t with = UINT64_MAX, without = UINT64_MAX; /* ns, for TRIALS pairs */

	for (unsigned turn = 0; turn < TURNS; turn++) {
		uint64_t at[3];

		t = (struct tracer_thread){ .sample_mean = 1, .sample_left = TRIALS };
		at[0] = tracer_monotonic_ns();
		for (unsigned i = 0; i < TRIALS; i++) {
			tracer_ticks_after(&recorder.clock);
			pass_alloc(&tls, 1, &call);
			tracer_ticks_after(&recorder.clock);
			pass_free(&tls, i * FREED_APART, &call);
		}
		at[1] = tracer_monotonic_ns();
		for (unsigned i = 0; i < TRIALS; i++) {
			tracer_ticks_after(&recorder.clock);
			call(1);
			tracer_ticks_after(&recorder.clock);
			call(i * FREED_APART);
		}
		at[2] = tracer_monotonic_ns();
		with = at[1] - at[0] < with ? at[1] - at[0] : with;
		without = at[2] - at[1] < without ? at[2] - at[1] : without;
	}
	return with > without ? (double)(with - without) / (2 * TRIALS) : 0;
}

/* --- in the program -------------------------------------------------------------------------- */

void pass_cost_begin(void)
{
	pass_cost_leave();
	cost.n = 0;
}

/* Pages of its own, which all zeros would not have before they are written to. */
static void *own_pages(size_t n)
{
	_Atomic uint8_t *p = tracer_map(n);

	for (size_t i = 0; p && i < n; i += PAGE_BYTES)
		atomic_store(&p[i], 0);
	return (void *)p;
}

static struct pass_lane *new_lane(void)
{
	static struct pass_lane *page;
	static size_t n;

	if (!page || n == PAGE_BYTES / sizeof(*page)) {
		page = own_pages(PAGE_BYTES);
		n = 0;
	}
	return page ? &page[n++] : NULL;
}

/* False: there is no memory. */
static bool make_again(void)
{
	if (!pass_again.on)
		pass_again.on = own_pages(PAGE_BYTES);
	if (!pass_again.known)
		pass_again.known = own_pages(1u << KNOWN_BITS);
	if (!pass_again.on || !pass_again.known)
		return false;
	atomic_store(pass_again.on, 1);
	pass_again.nests = recorder.nests;
	pass_again.rate.most = recorder.rate.most;
	atomic_store(&pass_again.rate.mean, AGAIN_MEAN);
	return true;
}

static bool open_window(const struct pass_moment *now)
{
	bool first = cost.window == FIRST_WINDOW;

	if (!make_again())
		return false;
	cost.twice = (cost.n & 1) == !first;
	cost.since = *now;
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		if (!t->again)
			t->again = new_lane();
		if (!t->again)
			return false;
		/* Of which no thread comes to the end. */
		t->again->left = UINT64_MAX;
		t->again->mean = AGAIN_MEAN;
	}
	real_calls_twice(cost.twice);
	return true;
}

uint64_t pass_cost_again(void)
{
	uint64_t n = 0;

	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next)
		if (t->again)
			n += atomic_load_explicit(&t->again->n_passed, memory_order_relaxed);
	return n;
}

/* The program's time a call in the window that ends; negative: there was too little. */
static double close_window(const struct pass_moment *now)
{
	double ns = now->program_ns - cost.since.program_ns;
	uint64_t n = now->n_passed - cost.since.n_passed;

	real_calls_twice(false);
	return ns >= LEAST_NS && n >= LEAST_CALLS ? ns / (double)n : -1;
}

/* False: there is none then. */
static bool begin_window(const struct pass_moment *now, bool second)
{
	cost.window = second ? SECOND_WINDOW : FIRST_WINDOW;
	if (open_window(now))
		return true;
	cost.window = NO_WINDOW;
	return false;
}

bool pass_cost_window(const struct pass_moment *now)
{
	double ns;

	if (cost.window == NO_WINDOW)
		return begin_window(now, false);
	ns = close_window(now);
	if (ns < 0) {
		cost.window = NO_WINDOW;
		return false;
	}
	if (cost.window == FIRST_WINDOW) {
		cost.first_ns = ns;
		return begin_window(now, true);
	}
	cost.difference[cost.n % MOST_PAIRS] = cost.twice ? ns - cost.first_ns : cost.first_ns - ns;
	cost.n++;
	cost.window = NO_WINDOW;
	return false;
}

bool pass_cost_is_open(void)
{
	return cost.window != NO_WINDOW;
}

void pass_cost_leave(void)
{
	cost.window = NO_WINDOW;
	real_calls_twice(false);
}

bool pass_cost_is_new(void)
{
	return cost.n < FEW_PAIRS;
}

static void sort(double *of, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double v = of[i];
		size_t k = i;

		for (; k > 0 && of[k - 1] > v; k--)
			of[k] = of[k - 1];
		of[k] = v;
	}
}

static double median(double *of, size_t n)
{
	sort(of, n);
	return n % 2 ? of[n / 2] : (of[n / 2 - 1] + of[n / 2]) / 2;
}

/*
 * The variance of a median of n is π/2 / n of theirs, and the standard deviation 1.4826 times the median of how far they are
 * from it, where they are as by chance.
 */
#define OF_MEDIAN (1.4826 * 1.4826 * 1.5708)

double pass_cost_of(double *difference, size_t n, double loop)
{
	double middle, apart[MOST_PAIRS], variance,
		of_loop = (loop > LOOP_LEAST ? loop : LOOP_LEAST) * LOOP_OFF, ns;

	if (n < FEW_PAIRS || n > MOST_PAIRS)
		return loop;
	middle = median(difference, n);
	for (size_t i = 0; i < n; i++)
		apart[i] = difference[i] > middle ? difference[i] - middle : middle - difference[i];
	variance = median(apart, n);
	variance = variance * variance * OF_MEDIAN / (double)n;
	of_loop *= of_loop;
	ns = (middle * of_loop + loop * variance) / (variance + of_loop);
	return ns > 0 ? ns : 0;
}

double pass_cost_ns(void)
{
	double difference[MOST_PAIRS];
	size_t n = cost.n < MOST_PAIRS ? cost.n : MOST_PAIRS;

	if (cost.loop_ns < 0)
		cost.loop_ns = time_loop();
	for (size_t i = 0; i < n; i++)
		difference[i] = cost.difference[i];
	return pass_cost_of(difference, n, cost.loop_ns);
}
