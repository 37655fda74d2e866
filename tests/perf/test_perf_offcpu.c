/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Context switches made by hand → waits: whose, where, from when to when. */
#include "config.h"

#include "base/mem.h"
#include "perf/ingest/ingest.h"
#include "perf/records/perf_events.h"
#include "perf/records/perf_offcpu.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "symbols/resolver.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/*
 * Steps, one record each: "KIND TID TIME". o and i are SWITCH records out and in, O and I those of all
 * cpus, x is an exit, s a sample at address 0x1000 + TIME, w a sample of sched:sched_switch there,
 * from TID to the thread behind ">".
 */
static const struct {
	const char *what, *steps, *waits;
	uint64_t n_open, n_too_long;
} cases[] = {
	{ "a wait has the stack of the sample before it", "s 7 10, o 7 20, i 7 50, s 7 60",
	  "offcpu 30 20 :7;[[unknown]]+100a\n", 0, 0 },
	{ "without a sample before it, none", "o 7 20, i 7 50, s 7 60", "offcpu 30 20 :7\n", 0, 0 },
	{ "records of all cpus", "s 7 10, O 7 20, I 7 50", "offcpu 30 20 :7;[[unknown]]+100a\n", 0,
	  0 },
	{ "a thread that comes back on a cpu whose buffer stands before", "s 7 10, i 7 50, o 7 20",
	  "offcpu 30 20 :7;[[unknown]]+100a\n", 0, 0 },
	{ "the recording's end closes a wait", "s 7 10, o 7 20, s 8 100",
	  "offcpu 80 20 :7;[[unknown]]+100a\n", 0, 0 },
	{ "so does the thread's end, and what it does then is no wait",
	  "s 7 10, o 7 20, x 7 40, s 8 100, s 9 10, x 9 30, o 9 31",
	  "offcpu 20 20 :7;[[unknown]]+100a\n", 0, 0 },
	{ "a number that is used again", "s 7 10, x 7 20, o 7 21, i 7 70, s 7 80, o 7 90, i 7 95",
	  "offcpu 5 90 :7;[[unknown]]+1050\n", 0, 0 },
	{ "threads are told apart", "s 7 10, s 8 11, o 7 20, o 8 21, i 8 30, i 7 50",
	  "offcpu 30 20 :7;[[unknown]]+100a\noffcpu 9 21 :8;[[unknown]]+100b\n", 0, 0 },
	{ "the idle task does not wait", "s 0 10, o 0 20, i 0 50", "", 0, 0 },
	{ "samples of the switch, of all of the system", "w 7 20 > 8, w 8 50 > 7",
	  "offcpu 0 50 :8;[[unknown]]+1032\noffcpu 30 20 :7;[[unknown]]+1014\n", 0, 0 },
	{ "samples of the switch from the idle task",
	  "w 7 20 > 0, w 0 50 > 7, w 7 60 > 0, w 0 70 > 7",
	  "offcpu 10 60 :7;[[unknown]]+103c\noffcpu 30 20 :7;[[unknown]]+1014\n", 0, 0 },
	{ "samples of the switch, of one thread: it is back when it is seen again",
	  "w 7 20 > 0, s 7 60, w 7 80 > 0",
	  "offcpu 0 80 :7;[[unknown]]+1050\noffcpu 40 20 :7;[[unknown]]+1014\n", 0, 0 },
	{ "not seen in between: nothing says how long it was", "w 7 20 > 0, w 7 80 > 0",
	  "offcpu 0 80 :7;[[unknown]]+1050\n", 1, 0 },
	{ "waits of which the sum is too much to hold",
	  "s 7 10, o 7 20, i 7 9000000000000000000, s 8 10, o 8 20, i 8 9000000000000000000",
	  "offcpu 8999999999999999980 20 :7;[[unknown]]+100a\n", 0, 1 },
};

static void put_sample(struct made *m, char kind, int32_t tid, uint64_t time, int32_t next)
{
	size_t at = made_begin(m, PERF_REC_SAMPLE, PERF_CPU_USER);

	made_u64(m, kind == 'w'); /* the event's id */
	made_u64(m, 0x1000 + time);
	made_u32(m, (uint32_t)tid);
	made_u32(m, (uint32_t)tid);
	made_u64(m, time);
	if (kind == 'w') {
		made_u32(m, 68); /* bytes of raw data, to whole words with their own count */
		for (int i = 0; i < 6; i++)
			made_u32(m, 0);
		made_u32(m, (uint32_t)tid);
		for (int i = 0; i < 7; i++)
			made_u32(m, 0);
		made_u32(m, (uint32_t)next);
		made_u32(m, 120);
		made_u32(m, 0);
	}
	made_end(m, at);
}

static void put_switch(struct made *m, char kind, int32_t tid, uint64_t time)
{
	bool out = kind == 'o' || kind == 'O', wide = kind == 'O' || kind == 'I';
	size_t at = made_begin(m, wide ? PERF_REC_SWITCH_CPU_WIDE : PERF_REC_SWITCH,
			       out ? PERF_MISC_SWITCH_OUT : 0);

	if (wide)
		made_u64(m, UINT64_C(99) << 32 | 99);
	made_trailer(m, tid, tid, time);
	made_end(m, at);
}

static void put_exit(struct made *m, int32_t tid, uint64_t time)
{
	size_t at = made_begin(m, PERF_REC_EXIT, 0);

	for (int i = 0; i < 4; i++)
		made_u32(m, (uint32_t)tid);
	made_u64(m, time);
	made_trailer(m, tid, tid, time);
	made_end(m, at);
}

static void put_steps(struct made *m, const char *steps)
{
	for (const char *at = steps; at; at = strchr(at, ',')) {
		uint64_t time;
		int32_t tid, next = 0;
		char kind, *end;

		at += strspn(at, ", ");
		kind = *at;
		tid = (int32_t)strtol(at + 1, &end, 10);
		time = strtoull(end, &end, 10);
		if (strncmp(end, " > ", 3) == 0)
			next = (int32_t)strtol(end + 3, NULL, 10);
		if (kind == 's' || kind == 'w')
			put_sample(m, kind, tid, time, next);
		else if (kind == 'x')
			put_exit(m, tid, time);
		else
			put_switch(m, kind, tid, time);
	}
}

/* A clock of id 0 and sched:sched_switch of id 1; with SWITCH records where steps have them. */
static void add_events(struct perf_events *events, struct made *m, bool records)
{
	struct perf_attr clock = { .type = PERF_T_SOFTWARE,
				   .sample_type = PERF_S_IDENTIFIER | PERF_S_IP | PERF_S_TID |
						  PERF_S_TIME,
				   .flags = PERF_ATTR_SAMPLE_ID_ALL };
	struct perf_attr point = clock;

	if (records)
		clock.flags |= PERF_ATTR_CONTEXT_SWITCH;
	point.type = PERF_T_TRACEPOINT;
	point.sample_type |= PERF_S_RAW;
	m->attr = clock;
	perf_events_add(events, &clock, "cpu-clock");
	perf_events_add(events, &point, "sched:sched_switch");
	perf_events_add_id(events, 0, 0);
	perf_events_add_id(events, 1, 1);
}

/* The lines of a profile's text that are waits. */
static char *waits_of(const struct profile *p)
{
	char *all = made_text_of(p), *out = xcalloc(1, strlen(all) + 1);

	for (char *line = all; *line;) {
		char *end = strchr(line, '\n') + 1;

		if (strncmp(line, "offcpu ", 7) == 0)
			strncat(out, line, (size_t)(end - line));
		line = end;
	}
	free(all);
	return out;
}

/* Waits told by switch records, which have no stack, as far as there was one before. */
static uint64_t n_borrowed(size_t i)
{
	uint64_t n = 0;

	if (!strpbrk(cases[i].steps, "oO"))
		return 0;
	for (const char *at = cases[i].waits; (at = strstr(at, ";[")) != NULL; at++)
		n++;
	return n;
}

static void check(size_t i, bool big)
{
	static const struct resolver_options options;
	struct ingest_cursor cursor = { 0 };
	struct perf_events events = { 0 };
	struct profile *p = profile_new();
	struct made m = { .big = big };
	struct perf_records batch;
	struct resolver *r;
	struct ingest *f;
	capture_id c;
	char *got;

	add_events(&events, &m, strpbrk(cases[i].steps, "oO") != NULL);
	put_steps(&m, cases[i].steps);
	batch = (struct perf_records){ .at = m.bytes.at,
				       .n_bytes = m.bytes.n,
				       .swap = made_swaps(&m) };
	builder_begin(p);
	c = build_capture(p, "made", "perf.data");
	r = resolver_new(p, c, &options);
	f = ingest_new(p, c, r, &events, "x86_64");
	ingest_look(f, &batch, PRESCAN_COUNT | PRESCAN_TELL);
	cr_expect_eq(ingest_samples(f, &batch, &cursor, SIZE_MAX), INGEST_ALL);
	cr_expect(ingest_settle(f));
	builder_end(p);
	got = waits_of(p);
	cr_expect_str_eq(got, cases[i].waits, "%s:\n%s", cases[i].what, got);
	cr_expect_eq(ingest_stats(f)->waits.n_open, cases[i].n_open, "%s", cases[i].what);
	cr_expect_eq(ingest_stats(f)->waits.n_too_long, cases[i].n_too_long, "%s", cases[i].what);
	cr_expect_eq(ingest_stats(f)->waits.n_borrowed, n_borrowed(i), "%s", cases[i].what);
	free(got);
	ingest_free(f);
	resolver_free(r);
	perf_events_done(&events);
	profile_free(p);
	made_done(&m);
}

static uint64_t n_samples_of(const struct profile *p)
{
	struct profile_counts n;

	profile_counts_read(p, &n);
	return n.n_samples;
}

/* While a recording goes on, waits that ended some time ago are there, each once; others come when they have. */
Test(perf_offcpu, of_a_recording_that_goes_on)
{
	const int64_t s = 1000000000;
	struct profile *p = profile_new();
	struct perf_offcpu *o = perf_offcpu_new(p);
	struct perf_offcpu_stats stats = { 0 };
	struct sample at = { .time_ns = s };

	builder_begin(p);
	build_capture(p, "made", "perf.data");
	at.thread = build_thread(p, build_process(p, (capture_id){ 0 }, 7), 7,
				 build_cstring(p, "t"));
	for (int i = 1; i <= 9; i++) { /* two waits of each second, the last of which goes on */
		at.time_ns = i * s;
		perf_offcpu_out(o, 7, &at);
		perf_offcpu_in(o, 7, i * s + s / 4);
		at.time_ns += s / 2;
		perf_offcpu_out(o, 7, &at);
		if (i < 9)
			perf_offcpu_in(o, 7, i * s + 3 * s / 4);
		cr_expect(perf_offcpu_settle(o));
	}
	builder_end(p);
	cr_expect_eq(n_samples_of(p), 11); /* that ended before 6.75 s */
	builder_begin(p);
	cr_expect(perf_offcpu_settle(o), "nothing is new");
	cr_expect(perf_offcpu_finish(o, &stats));
	builder_end(p);
	cr_expect_eq(n_samples_of(p), 18);
	cr_expect_eq(stats.n_waits, 18);
	cr_expect_eq(stats.sum_ns, 17 * s / 4);
	perf_offcpu_free(o);
	profile_free(p);
}

Test(perf_offcpu, waits)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		check(i, false);
		check(i, true);
	}
}
