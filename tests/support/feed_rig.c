/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/feed_rig.h"

#include <stdlib.h>

#define PIECE_BYTES 150 /* about a sample */

bool digested;

void rig_begin(struct rig *r)
{
	static const struct resolver_options options;

	*r = (struct rig){ .profile = profile_new() };
	builder_begin(r->profile);
	r->capture = build_capture(r->profile, "made", "perf.data");
	builder_end(r->profile);
	r->resolver = resolver_new(r->profile, r->capture, &options);
	r->feed = ingest_new(r->profile, r->capture, r->resolver, &r->events, "x86_64");
	r->records.attr = made_clock_attr();
}

void rig_end(struct rig *r)
{
	ingest_free(r->feed);
	resolver_free(r->resolver);
	perf_events_done(&r->events);
	made_done(&r->records);
	predecode_done(&r->digests);
	profile_free(r->profile);
}

struct perf_records rig_batch(struct rig *r)
{
	struct perf_records batch = { .at = r->records.bytes.at,
				      .n_bytes = r->records.bytes.n,
				      .offset = 1000,
				      .swap = made_swaps(&r->records) };

	if (digested) {
		predecode_make(&r->digests, &r->events, &batch);
		batch.digest = r->digests.of.at;
		batch.n_samples = r->digests.of.n;
	}
	return batch;
}

enum perf_fed rig_feed_rest(struct rig *r, const struct perf_records *batch,
			    struct ingest_cursor *cursor)
{
	enum perf_fed fed = INGEST_SOME;

	while (fed == INGEST_SOME)
		fed = ingest_samples(r->feed, batch, cursor, digested ? PIECE_BYTES : SIZE_MAX);
	return fed;
}

/* What was made so far, looked at. */
static struct perf_records look(struct rig *r)
{
	struct perf_records batch;

	if (r->events.all.n == 0)
		perf_events_add(&r->events, &r->records.attr, NULL);
	batch = rig_batch(r);
	ingest_look(r->feed, &batch, PRESCAN_COUNT | PRESCAN_TELL);
	return batch;
}

void rig_feed_on(struct rig *r)
{
	struct ingest_cursor cursor = { 0 };
	struct perf_records batch = look(r);

	builder_begin(r->profile);
	ingest_retire(r->feed);
	cr_expect_eq(rig_feed_rest(r, &batch, &cursor), INGEST_ALL);
	builder_end(r->profile);
	vec_clear(&r->records.bytes);
}

enum perf_fed rig_feed(struct rig *r)
{
	struct ingest_cursor cursor = { 0 };
	struct perf_records batch = look(r);
	enum perf_fed fed;

	builder_begin(r->profile);
	fed = rig_feed_rest(r, &batch, &cursor);
	ingest_settle(r->feed);
	ingest_end(r->feed);
	builder_end(r->profile);
	return fed;
}

void expect_text(const struct rig *r, const char *want, const char *what)
{
	char *got = made_text_of(r->profile);

	cr_expect_str_eq(got, want, "%s:\n%swanted:\n%s", what, got, want);
	free(got);
}

void put_sample(struct rig *r, int32_t pid, int32_t tid, uint64_t time, uint64_t ip)
{
	struct made_sample s = { .misc = PERF_CPU_USER,
				 .ip = ip,
				 .pid = pid,
				 .tid = tid,
				 .time = time,
				 .period = 1,
				 .n_chain = digested,
				 .chain = { ip } };

	made_sample(&r->records, &s);
}
