/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What reading a recording of copied stacks costs apart from symbols, on one core: finding and decoding
 * every record, and unwinding. Prints "scan GB/s N", then "unwind FRAMES/s N" for stacks whose rules are
 * known and "first FRAMES/s N" for the first time, tables of modules included.
 *
 * bench_unwind FILE
 */
#include "config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "input/input.h"
#include "perf/callchain/frame_marks.h"
#include "perf/callchain/user_stacks.h"
#include "perf/file/perf_header.h"
#include "perf/file/perf_stream.h"
#include "perf/ingest/ingest.h"
#include "perf/records/perf_events.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "symbols/resolver.h"

/* Stacks that are unwound again and again; more would measure the memory. */
#define KEPT_BYTES ((size_t)64 << 20)
#define SCANS      5
#define LEAST_S    1.0 /* of unwinding */

struct bench {
	struct input *in;
	struct perf_header header;
	struct perf_events events;
	struct profile *profile;
	struct resolver *resolver;
	struct ingest *feed;
	struct frame_marks marks;
	struct user_stacks *stacks;
	VEC(uint8_t) kept;               /* records, one behind the other */
	VEC(struct perf_sample) samples; /* of these */
	uint64_t n_bytes;                /* of all records */
	uint64_t check;                  /* so that nothing is optimised away */
};

/* Of the processor, all threads together: what else runs on the machine takes none of it. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(struct err *e)
{
	fprintf(stderr, "bench_unwind: %s\n", err_text(e));
	err_clear(e);
	return EXIT_FAILURE;
}

static struct perf_stream *open_stream(const struct bench *b)
{
	uint64_t begin = b->header.data.offset;

	return perf_stream_new(b->in, begin, begin + b->header.data.size, b->header.swap,
			       b->header.packed_max);
}

/* Decodes a sample; false for other records and for damaged ones. */
static bool decode(struct bench *b, const struct perf_record *r, struct perf_sample *out)
{
	uint32_t event;

	if (r->type != PERF_REC_SAMPLE)
		return false;
	event = perf_events_of_sample(&b->events, r);
	return event != PERF_EVENT_NONE &&
	       perf_sample_decode(&b->events.all.at[event].attr, r, out);
}

static void keep(struct bench *b, const struct perf_record *r)
{
	if (b->kept.n + r->size > KEPT_BYTES)
		return;
	vec_reserve(&b->kept, b->kept.n + r->size);
	memcpy(b->kept.at + b->kept.n, r->at, r->size);
	b->kept.n += r->size;
}

/* Everything is told to the resolver, and the first stacks are kept. */
static void look(struct bench *b)
{
	struct perf_stream *stream = open_stream(b);
	struct perf_records w;

	while (perf_stream_next(stream, &w, NULL) > 0) {
		struct perf_record r;
		struct perf_sample s;

		ingest_look(b->feed, &w, PRESCAN_COUNT | PRESCAN_TELL);
		b->n_bytes += w.n_bytes;
		for (size_t at = 0; at < w.n_bytes; at += r.size) {
			perf_record_at(w.at + at, w.swap, &r);
			if (decode(b, &r, &s) && s.stack_filled)
				keep(b, &r);
		}
	}
	perf_stream_free(stream);
}

static void find_samples(struct bench *b)
{
	struct perf_record r;
	struct perf_sample s;

	for (size_t at = 0; at < b->kept.n; at += r.size) {
		perf_record_at(b->kept.at + at, b->header.swap, &r);
		if (decode(b, &r, &s))
			vec_push(&b->samples, s);
	}
}

static double scan_once(struct bench *b)
{
	struct perf_stream *stream = open_stream(b);
	double begin = now();
	struct perf_records w;

	perf_stream_leave_gaps(stream, false);
	while (perf_stream_next(stream, &w, NULL) > 0) {
		struct perf_record r;
		struct perf_sample s;

		for (size_t at = 0; at < w.n_bytes; at += r.size) {
			perf_record_at(w.at + at, w.swap, &r);
			if (decode(b, &r, &s))
				b->check += s.ip;
		}
	}
	perf_stream_free(stream);
	return now() - begin;
}

/* The best of some: what else runs on the machine takes caches away, too, and only ever slows it down. */
static void bench_scan(struct bench *b)
{
	double best = scan_once(b);

	for (int i = 1; i < SCANS; i++) {
		double seconds = scan_once(b);

		best = seconds < best ? seconds : best;
	}
	printf("scan GB/s %.2f\n", (double)b->n_bytes / best / 1e9);
}

/* Unwinds all that was kept; returns how many frames. */
static uint64_t unwind_once(struct bench *b)
{
	uint64_t n_frames = 0;

	builder_begin(b->profile);
	for (size_t i = 0; i < b->samples.n; i++) {
		const struct perf_sample *s = &b->samples.at[i];
		size_t n;
		const struct perf_chain_part *parts = user_stacks_unwind(b->stacks, s,
									 (int64_t)s->time, &n);

		for (size_t j = 0; j < n; j++)
			n_frames += parts[j].ips.n;
	}
	builder_end(b->profile);
	return n_frames;
}

static void bench_unwind(struct bench *b)
{
	double begin = now(), best = 0, seconds, end;
	uint64_t n_frames = unwind_once(b);

	printf("first FRAMES/s %.0f\n", (double)n_frames / (now() - begin));
	end = now() + LEAST_S;
	do {
		begin = now();
		n_frames = unwind_once(b);
		seconds = now() - begin;
		if ((double)n_frames / seconds > best)
			best = (double)n_frames / seconds;
	} while (now() < end);
	printf("unwind FRAMES/s %.0f\n", best);
}

static void close_bench(struct bench *b)
{
	user_stacks_free(b->stacks);
	ingest_free(b->feed);
	resolver_free(b->resolver);
	profile_free(b->profile);
	perf_events_done(&b->events);
	perf_header_done(&b->header);
	vec_done(&b->samples);
	vec_done(&b->kept);
	input_close(b->in);
}

static int open_bench(struct bench *b, const char *path, struct err *e)
{
	static const struct resolver_options options = { .same_machine = true, .no_inlines = true };
	capture_id capture;
	int rc = input_open(path, &b->in, e);

	if (rc == 0)
		rc = perf_header_read(b->in, &b->header, e);
	if (rc == 0)
		rc = perf_header_read_sections(b->in, &b->header, &b->events, e);
	if (rc < 0)
		return rc;
	b->profile = profile_new();
	builder_begin(b->profile);
	capture = build_capture(b->profile, path, "perf.data");
	builder_end(b->profile);
	b->resolver = resolver_new(b->profile, capture, &options);
	perf_header_tell_build_ids(&b->header, b->resolver);
	b->feed = ingest_new(b->profile, capture, b->resolver, &b->events, b->header.arch);
	frame_marks_init(&b->marks, b->profile);
	b->stacks = user_stacks_new(b->profile, b->resolver, &b->marks,
				    b->header.arch ? b->header.arch : "x86_64");
	return 0;
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (argc != 2)
		return EXIT_FAILURE;
	rc = open_bench(&b, argv[1], &e);
	if (rc == 0) {
		look(&b);
		find_samples(&b);
		if (b.samples.n == 0)
			rc = err_set(&e, -1, "%s: holds no copied stack", argv[1]);
	}
	if (rc == 0) {
		bench_scan(&b);
		bench_unwind(&b);
	}
	close_bench(&b);
	if (rc < 0)
		return fail(&e);
	return b.check == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
