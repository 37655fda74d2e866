/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What samples count for, and of which events they are. */
#include "config.h"

#include "perf/ingest/perf_facts.h"
#include "profile/profile.h"
#include "tests/support/feed_rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *what;
	uint64_t flags, sample_period, type; /* added to IP and TID */
	uint64_t period;
	const char *weight;
	bool has_weight;
} weight_cases[] = {
	{ "recorded", PERF_ATTR_FREQ, 4000, PERF_S_PERIOD, 77, "77", true },
	{ "recorded as 0", PERF_ATTR_FREQ, 4000, PERF_S_PERIOD, 0, "0", true },
	{ "fixed", 0, 1000, 0, 0, "1000", true },
	{ "each one", 0, 1, 0, 0, "1", false },
	{ "a rate says nothing of a sample", PERF_ATTR_FREQ, 4000, 0, 0, "1", true },
	{ "impossible", 0, 1, PERF_S_PERIOD, UINT64_MAX, "0", true },
};

FEED_TEST(perf_weights, weights)
{
	for (size_t i = 0; i < sizeof(weight_cases) / sizeof(*weight_cases); i++) {
		struct made_sample s = {
			.misc = 2, .ip = 0x10, .pid = 1, .tid = 1, .period = weight_cases[i].period
		};
		struct rig r;
		char *want;

		rig_begin(&r);
		r.records.attr = (struct perf_attr){
			.type = PERF_T_HARDWARE,
			.config = 1,
			.sample_period = weight_cases[i].sample_period,
			.sample_type = PERF_S_IP | PERF_S_TID | weight_cases[i].type,
			.flags = weight_cases[i].flags | PERF_ATTR_EXCLUDE_GUEST,
		};
		made_sample(&r.records, &s);
		rig_feed(&r);
		want = xasprintf("instructions %s - :1;[[unknown]]+10\n", weight_cases[i].weight);
		expect_text(&r, want, weight_cases[i].what);
		cr_expect_eq(profile_event(r.profile, (event_id){ 0 })->has_weight,
			     weight_cases[i].has_weight, "%s", weight_cases[i].what);
		cr_expect_eq(ingest_stats(r.feed)->n_too_heavy, i == 5);
		free(want);
		rig_end(&r);
	}
}

/* The second of two samples of the largest weights does not fit: it counts 0. */
FEED_TEST(perf_weights, weights_that_add_up_to_too_much)
{
	struct made_sample s = {
		.misc = 2, .ip = 0x10, .pid = 1, .tid = 1, .time = 1, .period = INT64_MAX
	};
	struct rig r;

	rig_begin(&r);
	made_sample(&r.records, &s);
	s.time = 2;
	made_sample(&r.records, &s);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 0 2 :1;[[unknown]]+10\n"
		    "cpu-clock 9223372036854775807 1 :1;[[unknown]]+10\n",
		    "sum");
	cr_expect_eq(ingest_stats(r.feed)->n_too_heavy, 1);
	rig_end(&r);
}

/* What LOST records claim adds up to no more than can be shown, and never to a little. */
FEED_TEST(perf_weights, losses_that_add_up_to_too_much)
{
	struct made_sample s = { .misc = 2, .ip = 0x10, .pid = 1, .tid = 1, .time = 1 };
	struct rig r;

	rig_begin(&r);
	made_sample(&r.records, &s);
	for (int i = 0; i < 3; i++) {
		size_t at = made_begin(&r.records, PERF_REC_LOST, 0);

		made_u64(&r.records, 0);
		made_u64(&r.records, UINT64_C(3) << 62);
		made_trailer(&r.records, 1, 1, 1);
		made_end(&r.records, at);
	}
	rig_feed(&r);
	cr_expect_eq(prescan_lost(&ingest_stats(r.feed)->look), INT64_MAX);
	rig_end(&r);
}

static void put_group(struct rig *r, uint64_t a, uint64_t b)
{
	size_t at = made_begin(&r->records, PERF_REC_SAMPLE, PERF_CPU_USER);

	made_u64(&r->records, 0x10);
	made_u32(&r->records, 1);
	made_u32(&r->records, 1);
	made_u64(&r->records, 2);
	made_u64(&r->records, a);
	made_u64(&r->records, 101);
	made_u64(&r->records, b);
	made_u64(&r->records, 102);
	made_u64(&r->records, 1);
	made_u64(&r->records, 0x10);
	made_end(&r->records, at);
}

/* {cycles,instructions}:S gives a sample of each that went up, by how much. */
FEED_TEST(perf_weights, a_group_gives_a_sample_of_each_member)
{
	struct perf_attr a = { .sample_type = PERF_S_IP | PERF_S_TID | PERF_S_READ |
					      PERF_S_CALLCHAIN,
			       .read_format = PERF_RF_GROUP | PERF_RF_ID,
			       .flags = PERF_ATTR_EXCLUDE_GUEST };
	struct rig r;

	rig_begin(&r);
	perf_events_add_id(&r.events, perf_events_add(&r.events, &a, "lead"), 101);
	perf_events_add_id(&r.events, perf_events_add(&r.events, &a, "member"), 102);
	put_group(&r, 1000, 30);
	put_group(&r, 1500, 30);
	put_group(&r, 2500, 70);
	rig_feed(&r);
	expect_text(&r,
		    "lead 1000 - :1;[[unknown]]+10\n"
		    "lead 1000 - :1;[[unknown]]+10\n"
		    "lead 500 - :1;[[unknown]]+10\n"
		    "member 30 - :1;[[unknown]]+10\n"
		    "member 40 - :1;[[unknown]]+10\n",
		    "group");
	rig_end(&r);
}

FEED_TEST(perf_weights, samples_belong_to_the_event_of_their_id)
{
	struct perf_attr a = made_clock_attr(), b = a;
	struct made_sample s = {
		.misc = 2, .ip = 0x10, .pid = 1, .tid = 1, .time = 1, .period = 1
	};
	struct rig r;

	rig_begin(&r);
	a.sample_type |= PERF_S_IDENTIFIER;
	b.sample_type |= PERF_S_IDENTIFIER;
	b.config = 2;
	r.records.attr = a;
	perf_events_add_id(&r.events, perf_events_add(&r.events, &a, NULL), 5);
	perf_events_add_id(&r.events, perf_events_add(&r.events, &b, NULL), 6);
	perf_events_rename(&r.events, 6, "faults", 6);
	for (uint64_t id = 4; id < 7; id++) {
		s.id = id;
		s.time = id;
		made_sample(&r.records, &s);
	}
	s.id = 0; /* nobody's id: the first event */
	made_sample(&r.records, &s);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 1 5 :1;[[unknown]]+10\n"
		    "cpu-clock 1 6 :1;[[unknown]]+10\n"
		    "faults 1 6 :1;[[unknown]]+10\n",
		    "ids");
	cr_expect_eq(ingest_stats(r.feed)->n_no_event, 1);
	cr_expect_eq(profile_event(r.profile, (event_id){ 0 })->unit, UNIT_NS);
	cr_expect_eq(profile_event(r.profile, (event_id){ 1 })->unit, UNIT_COUNT);
	rig_end(&r);
}

/* What facts say under a name, or "". */
static const char *fact_of(const struct profile *p, const char *name)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (strcmp(profile_string(p, f.name, NULL), name) == 0)
			return profile_string(p, f.text, NULL);
	}
	return "";
}

/* Two events of one name, and processor time and waits, are summed: each is the most that there is. */
Test(perf_weights, facts_of_sums_beyond_all)
{
	struct perf_attr clock = made_clock_attr();
	struct ingest_stats stats = { .waits = { .n_waits = 2, .sum_ns = INT64_MAX } };
	struct rig r;

	rig_begin(&r);
	for (int i = 0; i < 2; i++) {
		perf_events_add(&r.events, &clock, NULL);
		r.events.all.at[i].event = 0;
		r.events.all.at[i].n_samples = 1;
		r.events.all.at[i].weight = INT64_MAX;
	}
	builder_begin(r.profile);
	perf_facts(r.profile, r.capture, &stats, &r.events);
	builder_end(r.profile);
	cr_expect(strstr(fact_of(r.profile, "cpu-clock"), "2 samples, in total at least "), "%s",
		  fact_of(r.profile, "cpu-clock"));
	cr_expect(strstr(fact_of(r.profile, "wall"), "in total at least "), "%s",
		  fact_of(r.profile, "wall"));
	builder_begin(r.profile);
	rig_end(&r);
}
