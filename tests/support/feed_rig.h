/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A feed of records made by hand, and what tests of it share. */
#ifndef PROFTOP_TESTS_SUPPORT_FEED_RIG_H
#define PROFTOP_TESTS_SUPPORT_FEED_RIG_H

#include "perf/ingest/ingest.h"
#include "perf/ingest/predecode.h"
#include "perf/records/perf_events.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>

#include <stdbool.h>

/*
 * What is fed may have been digested when it was read: that must make no difference, so each test runs
 * twice, the second time with digests and piece by piece.
 */
extern bool digested;

#define FEED_TEST(suite, name) \
	static void name(void); \
	Test(suite, name) \
	{ \
		name(); \
	} \
	Test(suite, name##_digested) \
	{ \
		digested = true; \
		name(); \
	} \
	static void name(void)

/* A feed and all it needs. */
struct rig {
	struct profile *profile;
	capture_id capture;
	struct resolver *resolver;
	struct perf_events events;
	struct ingest *feed;
	struct made records;
	struct perf_predecoded digests; /* of the batch at hand */
};

void rig_begin(struct rig *r);
void rig_end(struct rig *r);

/* What was made so far, digested or not. */
struct perf_records rig_batch(struct rig *r);
/* Feeds what is left of a batch that was looked at. */
enum perf_fed rig_feed_rest(struct rig *r, const struct perf_records *batch,
			    struct ingest_cursor *cursor);
/* Feeds all records as one batch. */
enum perf_fed rig_feed(struct rig *r);
/* Feeds them as one of many batches of a live recording, and drops them. */
void rig_feed_on(struct rig *r);

/* Everything in the profile, as text, is as wanted. */
void expect_text(const struct rig *r, const char *want, const char *what);

/* A sample in user mode; with a chain of one where samples are digested, as only those are that have one. */
void put_sample(struct rig *r, int32_t pid, int32_t tid, uint64_t time, uint64_t ip);

#endif
