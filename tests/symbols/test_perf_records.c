/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every type of record that perf.data may hold, between samples: counted by name, and no sample harmed. */
#include "config.h"

#include "perf/ingest/ingest.h"
#include "perf/records/perf_events.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>

/* What a record of a type holds here: zeros, ones, or nothing. */
enum body { BODY_NONE, BODY_ZEROS, BODY_ONES };
#define N_BODIES 3

static void put_sample(struct made *m, uint64_t time)
{
	struct made_sample s = {
		.misc = PERF_CPU_USER, .ip = 0x1010, .pid = 7, .tid = 7, .time = time, .period = 1
	};

	made_sample(m, &s);
}

static void put_record(struct made *m, uint32_t type, enum body body)
{
	size_t at = made_begin(m, type, 0);

	for (int i = 0; body != BODY_NONE && i < 12; i++)
		made_u64(m, body == BODY_ONES ? UINT64_MAX : 0);
	made_end(m, at);
}

/* Feeds a record between two samples; returns what was counted. */
static struct ingest_stats feed(uint32_t type, enum body body, bool big)
{
	static const struct resolver_options options;
	struct made m = { .big = big, .attr = made_clock_attr() };
	struct ingest_cursor cursor = { 0 };
	struct perf_events events = { 0 };
	struct profile *p = profile_new();
	struct ingest_stats stats;
	struct perf_records batch;
	struct resolver *r;
	struct ingest *f;
	capture_id c;

	m.attr.flags |= PERF_ATTR_CONTEXT_SWITCH;
	perf_events_add(&events, &m.attr, NULL);
	put_sample(&m, 50);
	put_record(&m, type, body);
	put_sample(&m, 60);
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
	ingest_end(f);
	builder_end(p);
	stats = *ingest_stats(f);
	ingest_free(f);
	resolver_free(r);
	perf_events_done(&events);
	profile_free(p);
	made_done(&m);
	return stats;
}

static void check(uint32_t type, enum body body, bool big)
{
	struct ingest_stats s = feed(type, body, big);
	bool known = perf_record_name(type) != NULL;

	cr_expect_eq(s.n_samples, 2, "type %u: %llu samples", type,
		     (unsigned long long)s.n_samples);
	cr_expect_eq(s.n_bad_samples, 0, "type %u", type);
	cr_expect_eq(s.look.n_records[PERF_REC_SAMPLE], 2, "type %u", type);
	cr_expect_eq(s.look.n_records[type], known, "type %u: %llu", type,
		     (unsigned long long)s.look.n_records[type]);
	cr_expect_eq(s.look.n_unknown, !known, "type %u: unknown", type);
	cr_expect_eq(s.look.unknown_type, known ? 0 : type, "type %u", type);
}

Test(perf_records, every_type_is_counted_and_harms_no_sample)
{
	uint32_t n_known = 0;

	for (uint32_t type = 1; type < PRESCAN_TYPES; type++) {
		if (type == PERF_REC_SAMPLE)
			continue;
		n_known += perf_record_name(type) != NULL;
		for (unsigned i = 0; i < 2 * N_BODIES; i++)
			check(type, (enum body)(i / 2), i % 2);
	}
	/* The kernel's 1 to 22 and the tool's 64 to 86, but for SAMPLE. */
	cr_expect_eq(n_known, 21 + 23);
}
