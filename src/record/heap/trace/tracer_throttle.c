/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What recording costs: the writer's own time, which the kernel counts, and that of notes, of which one in some is timed
 * by its thread. What is not recorded costs some nanoseconds a call too, which no mean can change: that is left out.
 */
#include "config.h"

#include "record/heap/trace/tracer_throttle.h"

#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_sample.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <time.h>

#define EVERY_MS 200u
#define SOON_MS  6u
#define LEAST_NS \
	UINT64_C(5000000)   /* by then all processors see what one of them stored, and more */
#define AHEAD_NS  1000000.0 /* a change is so far ahead when it is decided */
#define HOOK_NS   10.0      /* of an event before it is timed, and after */
#define GUESS_NS  100.0     /* of an event of which none was timed */
#define LEAST_CPU 2000000.0 /* ns; a program that does nothing costs nothing */
#define AIM       0.8       /* of the share that is allowed */
#define FEW       0.5       /* of it: more could be recorded */
#define LEAST     8u        /* bytes: a mean below is as good as none */
#define MOST      (UINT64_C(1) << 40)

enum step {
	STEP_SETTLED,   /* there is one mean */
	STEP_ANNOUNCED, /* threads hear that there will be another, not yet when */
	STEP_DECIDED    /* and when */
};

/* What was so at one look, since the beginning. */
struct look {
	double cpu_ns, own_ns; /* of the process, of the writer in it */
	uint64_t n_notes;
	uint64_t n_timed, timed_ticks; /* >> tick_shift */
	struct tracer_written written;
};

static struct {
	enum step step;
	uint64_t since_ns; /* CLOCK_MONOTONIC, of the step */
	uint64_t number;   /* of the step: 1, 2 … */
	bool all_know;     /* all threads have been outside of a note since the step was taken */
	uint64_t judged_ns;
	struct look last; /* at the beginning of the time that is judged */
	double note_ns;   /* as known by now */
} throttle;

static double spent_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t value_of(const _Atomic uint64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static struct look look(const struct tracer_written *written)
{
	struct look l = { .written = *written };

	l.cpu_ns = spent_ns(CLOCK_PROCESS_CPUTIME_ID);
	l.own_ns = spent_ns(CLOCK_THREAD_CPUTIME_ID);
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		l.n_notes += value_of(&t->n_notes);
		l.n_timed += value_of(&t->n_timed);
		l.timed_ticks += value_of(&t->timed_ticks);
	}
	return l;
}

static void step_to(enum step step)
{
	throttle.step = step;
	throttle.since_ns = throttle.judged_ns = tracer_monotonic_ns();
	throttle.number++;
	throttle.all_know = false;
}

void tracer_throttle_begin(void)
{
	struct tracer_written none = { 0 };

	recorder.rate.mean = recorder.options.sample_bytes;
	throttle.note_ns = GUESS_NS;
	throttle.last = look(&none);
	/* Another thread will write. */
	throttle.last.own_ns = 0;
	step_to(STEP_SETTLED);
}

uint64_t tracer_throttle_next(uint64_t mean, double share, double most, double typical)
{
	double times = share / (most * AIM), next = mean ? (double)mean : typical;

	if (share > most)
		next *= times < 64 ? times : 64;
	else if (mean && share < most * FEW)
		next *= times > 0.25 ? times : 0.25;
	else
		return mean;
	if (next < LEAST)
		return share > most ? LEAST : 0;
	return next < (double)MOST ? (uint64_t)next : MOST;
}

/* The share of the program's own time that was spent since the last look; negative: that cannot be said. */
static double share_since(const struct look *from, const struct look *now)
{
	double cpu = now->cpu_ns - from->cpu_ns, own = now->own_ns - from->own_ns;
	uint64_t n_timed = now->n_timed - from->n_timed;

	if (cpu < LEAST_CPU || now->n_notes < from->n_notes)
		return -1;
	if (n_timed >= 8)
		throttle.note_ns = (double)(now->timed_ticks - from->timed_ticks) *
				   recorder.clock.ns_per_tick *
				   (double)(1u << recorder.tick_shift) / (double)n_timed;
	own += (double)(now->n_notes - from->n_notes) * (throttle.note_ns + HOOK_NS);
	return own < cpu * 0.95 ? own / (cpu - own) : 20;
}

static uint64_t next_mean(const struct look *now)
{
	const struct tracer_written *was = &throttle.last.written;
	uint64_t mean = value_of(&recorder.rate.mean), n = now->written.n_allocs - was->n_allocs;
	double share = share_since(&throttle.last, now);
	double typical = n ? (double)(now->written.n_bytes - was->n_bytes) / (double)n : LEAST;

	/* While nothing runs there is nothing to be recorded more of. */
	if (share < 0)
		return mean;
	return tracer_throttle_next(mean, share, recorder.options.most_share, typical);
}

/* Between changes: is another to come? */
static void judge(const struct tracer_written *written)
{
	struct look now = look(written);
	uint64_t next = next_mean(&now);

	throttle.last = now;
	throttle.judged_ns = tracer_monotonic_ns();
	if (next == value_of(&recorder.rate.mean))
		return;
	atomic_store(&recorder.rate.at, UINT64_MAX);
	atomic_store(&recorder.rate.before, value_of(&recorder.rate.mean));
	atomic_store(&recorder.rate.after, next);
	atomic_store(&recorder.rate.mean, SAMPLE_CHANGES);
	step_to(STEP_ANNOUNCED);
}

/* The first moment, >> tick_shift, of a microsecond that is not over at these ticks. */
static uint64_t first_of_unit(struct tracer_clock *c, uint64_t at)
{
	uint64_t us = tracer_clock_us(c, at << recorder.tick_shift);

	while (tracer_clock_us(c, at << recorder.tick_shift) == us)
		at++;
	return at;
}

/*
 * All threads know that the mean will change: says when, and tells the trace. The moment is the first of its unit. It is
 * ahead, but the writer may be held up until it has passed. Threads then went on as before: the trace is told when the
 * last of them did.
 */
static void decide(void)
{
	struct tracer_clock *c = &recorder.clock;
	uint64_t at = tracer_ticks_after(c) + (uint64_t)(AHEAD_NS / c->ns_per_tick), last;

	at = last = first_of_unit(c, at >> recorder.tick_shift);
	atomic_store(&recorder.rate.at, at);
	atomic_thread_fence(memory_order_seq_cst);
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		uint64_t ticks = value_of(&t->decided_ticks);

		if (ticks >= last)
			last = first_of_unit(c, ticks);
	}
	c->held_until = last << recorder.tick_shift;
	tracer_writer_record(&(struct heap_record){
		.type = HEAP_REC_SAMPLING,
		.number = { tracer_clock_us(c, last << recorder.tick_shift),
			    value_of(&recorder.rate.after), recorder.options.sample_exact } });
	step_to(STEP_DECIDED);
}

/* The moment has come, and is over for all threads. */
static void settle(const struct tracer_written *written)
{
	if (tracer_ticks(&recorder.clock) >> recorder.tick_shift <= value_of(&recorder.rate.at))
		return;
	atomic_store(&recorder.rate.mean, value_of(&recorder.rate.after));
	throttle.last = look(written);
	step_to(STEP_SETTLED);
}

uint32_t tracer_throttle_look(const struct tracer_written *written)
{
	uint64_t now = tracer_monotonic_ns();

	if (!(recorder.options.most_share > 0))
		return EVERY_MS;
	if (!throttle.all_know && now - throttle.since_ns >= LEAST_NS)
		throttle.all_know = tracer_threads_pass(throttle.number);
	if (!throttle.all_know)
		return SOON_MS;
	if (throttle.step == STEP_ANNOUNCED)
		decide();
	else if (throttle.step == STEP_DECIDED)
		settle(written);
	else if (now - throttle.judged_ns >= (uint64_t)EVERY_MS * 1000000)
		judge(written);
	return throttle.step == STEP_SETTLED && throttle.all_know ? EVERY_MS : SOON_MS;
}
