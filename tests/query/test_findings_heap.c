/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that leaks, caches, churns and fragments in four places is said to do so there, and one that does none is not. */
#include "config.h"

#include "query/findings/findings.h"

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define STEPS   400
#define STEP_NS 100000000
#define PIECES  20000
#define CACHED  1000

/* What a program does. */
enum { LEAKS = 1, CACHES = 2, CHURNS = 4, FRAGMENTS = 8, STARTS = 16 };

struct made {
	struct profile *p;
	track_id track;
	struct heap_origin origin; /* of the thread and event */
	module_id module;
	int64_t now, live;
	allocation_id cached[CACHED], piece[PIECES];
};

static origin_id at(struct made *m, const char *name)
{
	function_id f = build_function(m->p, build_cstring(m->p, name), m->module, 0,
				       (string_id){ 0 }, 0);

	m->origin.stack = build_stack(m->p, (stack_id){ 0 }, build_symbol_location(m->p, f)).v;
	return build_heap_origin(m->p, &m->origin);
}

static allocation_id allocate(struct made *m, uint64_t size, const char *name)
{
	origin_id o = at(m, name);

	build_moment(m->p, m->track, m->now);
	m->live += (int64_t)size;
	return build_allocation(m->p, m->track, size, o);
}

static void release(struct made *m, allocation_id a, int64_t size, bool temporary)
{
	build_moment(m->p, m->track, m->now);
	build_release(m->p, a, m->track, temporary, (origin_id){ ID_NONE });
	m->live -= size;
}

static void fragment(struct made *m)
{
	for (int i = 0; i < PIECES; i++)
		m->piece[i] = allocate(m, 2000, "fragment_here");
	for (int i = 0; i < PIECES; i++)
		if (i % 40)
			release(m, m->piece[i], 2000, false);
}

static void step(struct made *m, int i, unsigned does)
{
	if (i == 10 && (does & FRAGMENTS))
		fragment(m);
	if (i == 0 && (does & STARTS))
		allocate(m, 5000000, "start_here");
	if (does & LEAKS)
		allocate(m, 20000, "leak_here");
	for (int k = 0; k < 20 && (does & CACHES); k++) {
		int slot = (i * 20 + k) % CACHED;

		if (i * 20 + k >= CACHED)
			release(m, m->cached[slot], 6000, false);
		m->cached[slot] = allocate(m, 6000, "cache_here");
	}
	for (int k = 0; k < 120 && (does & CHURNS); k++)
		release(m, allocate(m, 100, "churn_here"), 100, true);
}

static struct profile *make(unsigned does)
{
	struct made *m = calloc(1, sizeof(*m));
	struct profile *p = profile_new();
	capture_id c;
	process_id process;
	series_id rss;

	cr_assert_not_null(m);
	m->p = p;
	builder_begin(p);
	c = build_capture(p, "x", "heap trace");
	process = build_process(p, c, 1);
	m->track = build_heap_track(p, process, 0, 0);
	m->origin = (struct heap_origin){
		.thread = build_thread(p, process, 1, build_cstring(p, "prog")).v,
		.event = (uint16_t)build_heap_event(p, "malloc").v,
		.track = (uint16_t)m->track.v,
	};
	m->module = build_module(p, "prog", "", FAMILY_PROGRAM);
	rss = build_heap_series(p, c, "RSS", UNIT_BYTES);
	for (int i = 0; i < STEPS; i++) {
		m->now = (int64_t)(i + 1) * STEP_NS;
		step(m, i, does);
		/* Freed pieces stay resident. */
		if (i % 10 == 0)
			build_heap_reading(p, rss, m->now,
					   m->live + (6 << 20) +
						   (does & FRAGMENTS && i >= 10 ? 39000000 : 0));
	}
	cr_assert_eq(builder_end(p), 0);
	free(m);
	return p;
}

static const char *const rules[] = { "leak", "cache", "churn", "fragmentation" };
static const char *const functions[] = { "leak_here", "cache_here", "churn_here", "fragment_here" };

/* What is said of a program: bits of rules, each about the function that it should name. */
static unsigned said(const struct profile *p)
{
	struct analysis *a;
	struct findings *f;
	struct lens l;
	unsigned out = 0;

	lens_init(&l, p);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	cr_assert_eq(findings_new(a, NULL, &f), 0);
	for (size_t i = 0; i < f->list.n; i++) {
		const struct finding *one = &f->list.at[i];

		for (unsigned k = 0; k < 4; k++) {
			if (strcmp(one->rule, rules[k]) != 0)
				continue;
			cr_expect(strstr(one->sentence, functions[k]), "%s", one->sentence);
			cr_expect_neq(one->key_id, ID_NONE);
			cr_expect_eq(out & 1u << k, 0, "twice: %s", one->sentence);
			out |= 1u << k;
		}
	}
	cr_expect_eq((size_t)__builtin_popcount(out), f->list.n, "something else is said");
	findings_free(f);
	analysis_free(a);
	lens_done(&l);
	return out;
}

Test(findings_heap, each_place_is_named_and_nothing_else)
{
	for (unsigned does = 0; does < 16; does++) {
		struct profile *p = make(does | STARTS);
		unsigned found = said(p);

		cr_expect_eq(found, does, "does %u, said to do %u", does, found);
		profile_free(p);
	}
}
