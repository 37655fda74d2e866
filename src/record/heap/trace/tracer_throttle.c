/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What recording costs: the writer's own time, which the kernel counts, and that of notes, of which one in some is timed
 * by its thread. What is not recorded costs some nanoseconds a call too, which no mean can change: such calls are counted, and
 * pass_cost.h knows what one costs. They take a part of what is allowed, or more than that: then the trace and the log say so.
 */
#include "config.h"

#include "record/heap/trace/tracer_throttle.h"

#include "record/heap/trace/pass_cost.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_file.h"
#include "record/heap/trace/tracer_sample.h"
#include "record/heap/trace/tracer_thread.h"
#include "record/heap/trace/tracer_writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define EVERY_MS 200u
#define FIRST_MS 5u
#define SOON_MS  2u
#define LEAST_NS \
	UINT64_C( \
		1000000) /* by then all processors see what one of them stored: it takes microseconds */
#define AHEAD_NS    300000.0  /* a change is so far ahead when it is decided */
#define HOOK_NS     10.0      /* of an event before it is timed, and after */
#define WRITE_NS    100.0     /* of an event in the writer, at most */
#define GUESS_NS    100.0     /* of an event of which none was timed */
#define LEAST_CPU   2000000.0 /* ns; a program that does nothing costs nothing */
#define AIM         0.8       /* of the share that is allowed */
#define FEW         0.5       /* of it: more could be recorded */
#define LEAST_ROOM  0.25      /* of the share that is allowed: for what is recorded, in any case */
#define TOLD_GROWTH 1.1       /* of the program's own time: what it costs is told again */
#define LEAST       8u        /* bytes: a mean below is as good as none */
#define FIRST_BYTES \
	100.0 /* of an allocation of a program that spends half of its time on such, when recorded */
#define MOST (UINT64_C(1) << 40)

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
	uint64_t n_passed, n_passed_long;
	uint64_t n_again; /* that were looked at a second time */
	struct tracer_written written;
};

/* What a recording took: CPU time. */
struct cost {
	double program_ns;   /* the program itself */
	double recording_ns; /* what is recorded: notes, and the writer */
	double passing_ns;   /* calls that are not recorded */
	uint64_t n_passed;   /* these calls */
	double fixed_ns;     /* of recording_ns: the writer's, however many notes there are */
};

static struct {
	enum step step;
	uint64_t since_ns; /* CLOCK_MONOTONIC, of the step */
	uint64_t number;   /* of the step: 1, 2 … */
	bool all_know;     /* all threads have been outside of a note since the step was taken */
	uint64_t judged_ns;
	uint32_t every_ms; /* it is judged: soon at the beginning, later seldom */
	bool falls;        /* the mean has only fallen so far */
	struct look last;  /* at the beginning of the time that is judged */
	double note_ns;    /* as known by now */
	clockid_t writer;  /* CPU time of the thread that writes */
	bool writer_known;
	struct look counted; /* at the end of the time that cost is of */
	struct cost cost;    /* since the beginning */
	double told_ns;      /* the program's own time when the trace was last told */
} throttle;

/* 0: there is no such clock, as its thread is gone. */
static double spent_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
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
	l.own_ns = throttle.writer_known ? spent_ns(throttle.writer) : 0;
	for (struct tracer_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
		l.n_notes += value_of(&t->n_notes);
		l.n_timed += value_of(&t->n_timed);
		l.timed_ticks += value_of(&t->timed_ticks);
		l.n_passed += value_of(&t->n_passed);
		l.n_passed_long += value_of(&t->n_passed_long);
	}
	l.n_again = pass_cost_again();
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
	const struct tracer_options *o = &recorder.options;

	/* Until it is known what recording takes it is not to take much: a short program would have ended by then. */
	recorder.rate.mean = !o->sample_bytes && o->most_share > 0
				     ? (uint64_t)(FIRST_BYTES / o->most_share)
				     : o->sample_bytes;
	throttle.falls = true;
	/* Without such a limit that is all that there is. */
	recorder.rate.most = recorder.options.sample_exact - 1;
	throttle.note_ns = GUESS_NS;
	throttle.cost = (struct cost){ 0 };
	throttle.told_ns = 0;
	throttle.every_ms = FIRST_MS;
	pass_cost_begin();
	/* Another thread will write. */
	throttle.writer_known = false;
	throttle.last = throttle.counted = look(&none);
	step_to(STEP_SETTLED);
}

double tracer_throttle_room(double most, double passing, double so_far)
{
	double least = most * LEAST_ROOM;

	return so_far <= most && most - passing > least ? most - passing : least;
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

/* What was spent between the two. */
static struct cost cost_between(const struct look *from, const struct look *now)
{
	double cpu = now->cpu_ns - from->cpu_ns, own = now->own_ns - from->own_ns;
	uint64_t n = now->n_passed - from->n_passed;
	struct cost c = { .n_passed = n };

	/* Another thread writes now, or none does any more. */
	if (own < 0)
		own = now->own_ns;
	c.recording_ns = own +
			 (double)(now->n_notes - from->n_notes) * (throttle.note_ns + HOOK_NS);
	c.fixed_ns = own - (double)(now->n_notes - from->n_notes) * WRITE_NS;
	if (c.fixed_ns < 0)
		c.fixed_ns = 0;
	if (n > 0)
		c.passing_ns = (double)(n + (now->n_again - from->n_again)) * pass_cost_ns() +
			       (double)(now->n_passed_long - from->n_passed_long) * HOOK_NS;
	c.program_ns = cpu - c.recording_ns - c.passing_ns;
	if (c.program_ns < cpu * 0.05)
		c.program_ns = cpu * 0.05;
	return c;
}

/* What a note takes is known better. */
static void learn(const struct look *from, const struct look *now)
{
	uint64_t n_timed = now->n_timed - from->n_timed;

	if (n_timed >= 8)
		throttle.note_ns = (double)(now->timed_ticks - from->timed_ticks) *
				   recorder.clock.ns_per_tick *
				   (double)(1u << recorder.tick_shift) / (double)n_timed;
}

static void count(const struct look *now)
{
	struct cost c = cost_between(&throttle.counted, now);

	throttle.cost.program_ns += c.program_ns;
	throttle.cost.recording_ns += c.recording_ns;
	throttle.cost.passing_ns += c.passing_ns;
	throttle.cost.n_passed += c.n_passed;
	throttle.counted = *now;
}

static uint64_t whole_us(double ns)
{
	return (uint64_t)(ns / 1e3 + 0.5);
}

static void tell_cost(void)
{
	const struct cost *c = &throttle.cost;

	tracer_writer_record(&(struct heap_record){
		.type = HEAP_REC_COST,
		.number = { 0, whole_us(c->program_ns), whole_us(c->recording_ns),
			    whole_us(c->passing_ns), c->n_passed } });
	throttle.told_ns = c->program_ns;
}

/* The share of the program's own time that all has taken since the beginning. */
static double so_far(void)
{
	const struct cost *c = &throttle.cost;

	return c->program_ns > 0 ? (c->recording_ns + c->passing_ns) / c->program_ns : 0;
}

static uint64_t next_mean(const struct look *now)
{
	const struct tracer_written *was = &throttle.last.written;
	uint64_t mean = value_of(&recorder.rate.mean), n = now->written.n_allocs - was->n_allocs;
	double most = recorder.options.most_share;
	struct cost c;
	double typical = n ? (double)(now->written.n_bytes - was->n_bytes) / (double)n : LEAST;

	if (now->n_notes < throttle.last.n_notes)
		return mean;
	/* While nothing runs there is nothing to be recorded more of; but at first it is not known yet whether all can be. */
	if (now->cpu_ns - throttle.last.cpu_ns < LEAST_CPU)
		return throttle.falls ? tracer_throttle_next(mean, 0, most, typical) : mean;
	learn(&throttle.last, now);
	c = cost_between(&throttle.last, now);
	/* What the writer looks at once a second, and the like: no mean changes that. */
	return tracer_throttle_next(
		mean, (c.recording_ns - c.fixed_ns) / c.program_ns,
		tracer_throttle_room(most, (c.passing_ns + c.fixed_ns) / c.program_ns, so_far()),
		typical);
}

/* Between changes: is another to come? */
static void judge(const struct tracer_written *written)
{
	struct look now = look(written);
	uint64_t next;

	count(&now);
	next = next_mean(&now);
	/* For whoever is killed; not so often that it counts. */
	if (throttle.cost.program_ns > throttle.told_ns * TOLD_GROWTH)
		tell_cost();
	throttle.last = now;
	throttle.judged_ns = tracer_monotonic_ns();
	throttle.falls &= next < value_of(&recorder.rate.mean);
	if (!throttle.falls)
		throttle.every_ms = 2 * throttle.every_ms < EVERY_MS ? 2 * throttle.every_ms
								     : EVERY_MS;
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

/* Begins or ends a window in which calls are passed on twice, or once. False: it is not the time for another one. */
static bool window(const struct tracer_written *written)
{
	struct look now;
	struct pass_moment moment;

	if (value_of(&recorder.rate.mean) == 0)
		return false;
	now = look(written);
	moment = (struct pass_moment){
		.program_ns = now.cpu_ns - now.own_ns -
			      (double)now.n_notes * (throttle.note_ns + HOOK_NS),
		.n_passed = now.n_passed,
	};
	return pass_cost_window(&moment);
}

/* Between changes of the mean. Returns when to look again: ms. */
static uint32_t settled(const struct tracer_written *written, uint64_t now)
{
	bool is_due = now - throttle.judged_ns >= (uint64_t)throttle.every_ms * 1000000;

	if (pass_cost_is_open()) {
		if (window(written) || (pass_cost_is_new() && !is_due && window(written)))
			return PASS_WINDOW_MS;
	}
	if (is_due) {
		judge(written);
		if (throttle.step == STEP_SETTLED && window(written))
			return PASS_WINDOW_MS;
	}
	return throttle.every_ms;
}

uint32_t tracer_throttle_look(const struct tracer_written *written)
{
	uint64_t now = tracer_monotonic_ns();
	uint32_t wait = throttle.every_ms;

	if (!(recorder.options.most_share > 0))
		return EVERY_MS;
	throttle.writer_known = pthread_getcpuclockid(pthread_self(), &throttle.writer) == 0;
	if (!throttle.all_know && now - throttle.since_ns >= LEAST_NS)
		throttle.all_know = tracer_threads_pass(throttle.number);
	if (!throttle.all_know)
		return SOON_MS;
	if (throttle.step == STEP_ANNOUNCED)
		decide();
	else if (throttle.step == STEP_DECIDED)
		settle(written);
	else
		wait = settled(written, now);
	return throttle.step == STEP_SETTLED && throttle.all_know ? wait : SOON_MS;
}

/* Of a whole, in tenths of a percent; no more than fits the text. */
static unsigned permille(double part, double whole)
{
	double n = whole > 0 ? part / whole * 1000 + 0.5 : 0;

	return n < 1e6 ? (unsigned)n : 1000000;
}

/* Without floating point, for which the C library would ask the program's locale. */
static void log_cost(void)
{
	const struct cost *c = &throttle.cost;
	unsigned most = permille(recorder.options.most_share, 1);
	unsigned took = permille(c->recording_ns + c->passing_ns, c->program_ns);
	unsigned passing = permille(c->passing_ns, c->program_ns);
	char text[192];
	size_t n;

	if (took <= most) {
		snprintf(text, sizeof(text),
			 "%u.%u%% of the program's own CPU time, of %u.%u%% allowed", took / 10,
			 took % 10, most / 10, most % 10);
		tracer_log_info(&recorder.options, "recording took", text);
		return;
	}
	n = (size_t)snprintf(text, sizeof(text),
			     "%u.%u%% of the program's own CPU time, not %u.%u%%", took / 10,
			     took % 10, most / 10, most % 10);
	if (passing > most)
		snprintf(text + n, sizeof(text) - n,
			 "; this program allows no less than %u.%u%%, which is what %" PRIu64
			 " calls take that are not recorded",
			 passing / 10, passing % 10, c->n_passed);
	else if (c->n_passed > 0)
		snprintf(text + n, sizeof(text) - n,
			 "; of that, %u.%u%% is what %" PRIu64 " calls take that are not recorded",
			 passing / 10, passing % 10, c->n_passed);
	tracer_log(&recorder.options, "recording took", text);
}

void tracer_throttle_end(void)
{
	struct look now;

	if (!(recorder.options.most_share > 0))
		return;
	now = look(&throttle.last.written);
	count(&now);
	tell_cost();
	log_cost();
}
