/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that leaks, caches, churns and fragments in four places is said to do so there, and one that does none is not. */
#include "config.h"

#include "query/findings/findings.h"

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"
#include "query/heap/footprint.h"
#include "query/heap/heap_table.h"
#include "query/heap/suppressions.h"

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

/* A process of one thread. */
static capture_id begin(struct made *m)
{
	capture_id c = build_capture(m->p, "x", "heap trace");
	process_id process = build_process(m->p, c, 1);

	m->track = build_heap_track(m->p, process, 0, 0);
	m->origin = (struct heap_origin){
		.thread = build_thread(m->p, process, 1, build_cstring(m->p, "prog")).v,
		.event = (uint16_t)build_heap_event(m->p, "malloc").v,
		.track = (uint16_t)m->track.v,
	};
	m->module = build_module(m->p, "prog", "", FAMILY_PROGRAM);
	return c;
}

static void read_resident(const struct made *m, series_id rss, int64_t at, unsigned does, int i)
{
	/* Freed pieces stay resident. */
	build_heap_reading(m->p, rss, at,
			   m->live + (6 << 20) + (does & FRAGMENTS && i >= 10 ? 39000000 : 0));
}

/* Of a short program the resident set is read at its end only, after its last event. */
static struct profile *make(unsigned does, bool is_short)
{
	struct made *m = calloc(1, sizeof(*m));
	struct profile *p = profile_new();
	capture_id c;
	series_id rss;

	cr_assert_not_null(m);
	m->p = p;
	builder_begin(p);
	c = begin(m);
	rss = build_heap_series(p, c, "RSS", UNIT_BYTES);
	for (int i = 0; i < STEPS; i++) {
		m->now = (int64_t)(i + 1) * STEP_NS;
		step(m, i, does);
		if (i % 10 == 0 && !is_short)
			read_resident(m, rss, m->now, does, i);
	}
	if (is_short)
		read_resident(m, rss, m->now + 2, does, STEPS);
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
	size_t holders = 0;

	lens_init(&l, p);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
	for (size_t i = 0; i < f->list.n; i++) {
		const struct finding *one = &f->list.at[i];

		/* What a program starts with, and nothing else that is named, may hold most of it. */
		if (strcmp(one->rule, "peak") == 0) {
			cr_expect_eq(strncmp(one->sentence, "start_here holds 5.00 MB of the ", 32),
				     0, "%s", one->sentence);
			holders++;
			continue;
		}
		for (unsigned k = 0; k < 4; k++) {
			if (strcmp(one->rule, rules[k]) != 0)
				continue;
			cr_expect(strstr(one->sentence, functions[k]), "%s", one->sentence);
			cr_expect_neq(one->key_id, ID_NONE);
			cr_expect_eq(out & 1u << k, 0, "twice: %s", one->sentence);
			out |= 1u << k;
		}
	}
	cr_expect_eq((size_t)__builtin_popcount(out) + holders, f->list.n,
		     "something else is said");
	findings_free(f);
	analysis_free(a);
	lens_done(&l);
	return out;
}

Test(findings_heap, each_place_is_named_and_nothing_else)
{
	for (unsigned does = 0; does < 32; does++) {
		struct profile *p = make((does & 15) | STARTS, does & 16);
		unsigned found = said(p);

		cr_expect_eq(found, does & 15, "does %u, said to do %u", does, found);
		profile_free(p);
	}
}

/* What is freed for the end is resident when the program is read there, and fragments nothing. */
Test(findings_heap, what_a_short_program_frees_at_its_end_is_no_fragmentation)
{
	struct made *m = calloc(1, sizeof(*m));
	struct profile *p = profile_new();
	struct analysis *a;
	struct findings *f;
	struct lens l;
	series_id rss;

	cr_assert_not_null(m);
	m->p = p;
	builder_begin(p);
	rss = build_heap_series(p, begin(m), "RSS", UNIT_BYTES);
	for (int i = 0; i < STEPS; i++) {
		m->now = (int64_t)(i + 1) * STEP_NS;
		if (i == 10)
			for (int k = 0; k < PIECES; k++)
				m->piece[k] = allocate(m, 2000, "hold_here");
	}
	for (int k = 0; k < PIECES; k++)
		if (k % 3)
			release(m, m->piece[k], 2000, false);
	build_heap_reading(p, rss, m->now + 2, 2000 * PIECES + (6 << 20));
	cr_assert_eq(builder_end(p), 0);
	lens_init(&l, p);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
	for (size_t i = 0; i < f->list.n; i++)
		cr_expect_neq(strcmp(f->list.at[i].rule, "fragmentation"), 0);
	findings_free(f);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
	free(m);
}

/* What else may be planted, each in a program of its own that does little else. */
enum {
	REALLOCS,
	VECTORS,
	FILLS_ONCE,
	HANDS_OVER,
	WASTES,
	BESIDE,
	UNTOUCHED,
	LOSES,
	MIXES,
	NOTHING,
	N_PLANTED
};

static const char *const six[] = { "a", "b", "c", "d", "e", "f" };

/* 11 reallocs, each of twice the size. */
static void grow_by_realloc(struct made *m)
{
	allocation_id a = allocate(m, 1024, "grow_here");

	for (uint64_t size = 2048; size <= 1 << 21; size *= 2) {
		m->origin.flags = ORIGIN_REALLOC;
		build_moment(m->p, m->track, m->now);
		build_release(m->p, a, m->track, false, (origin_id){ ID_NONE });
		a = build_allocation(m->p, m->track, size, at(m, "grow_here"));
		m->origin.flags = 0;
	}
	release(m, a, 1024, false);
}

/* The same as a vector of C++ does it: a new block, a copy, a free. */
static void grow_vector(struct made *m)
{
	function_id inner = build_function(
		m->p, build_cstring(m->p, "std::vector<int>::_M_realloc_insert<int>(int)"),
		m->module, 0, (string_id){ 0 }, 0);
	allocation_id a = { ID_NONE };

	for (uint64_t size = 1024; size <= 1 << 21; size *= 2) {
		allocation_id before = a;

		at(m, "fill_here");
		m->origin.stack = build_stack(m->p, (stack_id){ m->origin.stack },
					      build_symbol_location(m->p, inner))
					  .v;
		build_moment(m->p, m->track, m->now);
		a = build_allocation(m->p, m->track, size, build_heap_origin(m->p, &m->origin));
		if (before.v != ID_NONE)
			release(m, before, 0, false);
	}
	release(m, a, 0, false);
}

/* 20 vectors that get their room once and keep it: nothing grows again. */
static void fill_vectors(struct made *m)
{
	function_id inner = build_function(
		m->p, build_cstring(m->p, "std::vector<int>::_M_default_append(unsigned long)"),
		m->module, 0, (string_id){ 0 }, 0);
	allocation_id a[20];

	for (int i = 0; i < 20; i++) {
		at(m, "fill_here");
		m->origin.stack = build_stack(m->p, (stack_id){ m->origin.stack },
					      build_symbol_location(m->p, inner))
					  .v;
		build_moment(m->p, m->track, m->now);
		a[i] = build_allocation(m->p, m->track, 100000,
					build_heap_origin(m->p, &m->origin));
	}
	for (int i = 0; i < 20; i++)
		release(m, a[i], 0, false);
}

static void hand_over(struct made *m, thread_id other)
{
	allocation_id a = allocate(m, 200, "send_here");
	struct heap_origin by = m->origin;

	by.thread = other.v;
	build_moment(m->p, m->track, m->now);
	build_release(m->p, a, m->track, false, build_heap_origin(m->p, &by));
}

static void plant(struct made *m, int what, thread_id other)
{
	allocation_id a[400];

	/* 40 MB of six sites, of which none holds much. */
	for (int i = 0; i < 400 && what >= BESIDE; i++)
		a[i] = allocate(m, 100000, six[i % 6]);
	if (what == REALLOCS)
		grow_by_realloc(m);
	if (what == VECTORS)
		grow_vector(m);
	if (what == FILLS_ONCE)
		fill_vectors(m);
	for (int i = 0; i < 12000 && what == HANDS_OVER; i++)
		hand_over(m, other);
	for (int i = 0; i < 400000 && what == WASTES; i++)
		allocate(m, 1, six[i % 6]);
	for (int i = 0; i < 40; i++) {
		m->now += STEP_NS;
		for (int k = 0; k < 100 && what == LOSES && i % 13 == 12; k++)
			allocate(m, 2000, "lose_here");
		for (int k = 0; k < 600 && what == MIXES; k++)
			release(m, allocate(m, 40, six[k % 6]), 40, true);
		build_moment(m->p, m->track, m->now);
	}
	for (int i = 0; i < 400 && what >= BESIDE; i++)
		release(m, a[i], 100000, false);
}

static struct profile *make_planted(int what)
{
	static const int64_t resident[N_PLANTED] = {
		[BESIDE] = 120000000, [UNTOUCHED] = 5000000, [NOTHING] = 46000000
	};
	struct made *m = calloc(1, sizeof(*m));
	struct profile *p = profile_new();
	thread_id other;
	capture_id c;

	cr_assert_not_null(m);
	m->p = p;
	builder_begin(p);
	c = begin(m);
	other = build_thread(p, (process_id){ 0 }, 2, build_cstring(p, "other"));
	m->now = STEP_NS;
	plant(m, what, other);
	if (resident[what] > 0)
		build_heap_reading(p, build_heap_series(p, c, "RSS", UNIT_BYTES), STEP_NS * 20,
				   resident[what]);
	cr_assert_eq(builder_end(p), 0);
	free(m);
	return p;
}

/* What is said of each; NULL: nothing. */
static const struct {
	const char *rule, *view, *sentence;
} planted[N_PLANTED] = {
	[REALLOCS] = { "realloc", "reallocs",
		       "grow_here grows a block by realloc up to 11 times, from 1.02 kB to 2.10 MB. "
		       "Its reallocs copy up to 2.10 MB, which a larger size at once would save." },
	[VECTORS] = { "regrowth", "memory",
		      "fill_here makes room in vectors 12 times, by 4.19 MB of the 4.19 MB ever allocated (100.0 %): reserve() saves that of vectors that grow again and again." },
	[FILLS_ONCE] = { NULL, NULL, NULL },
	[HANDS_OVER] = { "handoff", "handoffs",
			 "100.0 % of 12,000 blocks were freed by another thread than the one that "
			 "allocated them, most of them prog → other." },
	[WASTES] = { "waste", "waste",
		     "Headers and rounding of malloc take 12.4 MB beside the 400 kB asked for at the "
		     "peak (3100.0 %), 12.4 MB of it for blocks of 1 B." },
	[BESIDE] = { "beyond", "memory",
		     "Up to 120 MB were resident, 80.0 MB more than the 40.0 MB of the peak: code, "
		     "stacks, memory that no recorded call asked for, and what malloc keeps of freed "
		     "blocks." },
	[UNTOUCHED] = { "absent", "waste",
			"At 1.90 s, at least 35.0 MB of the 40.0 MB in use were not resident: the "
			"program has not touched them yet, or they were swapped out." },
	[LOSES] = { "unfreed", "leaks",
		    "Hardly anything frees what lose_here allocates: 300 blocks of 600 kB are left at "
		    "the end." },
	[MIXES] = { "temporaries", "temporaries",
		    "98.4 % of 24,400 allocations are temporary: the next heap call of their thread "
		    "frees them. Most of them, 4,000, are of " },
	[NOTHING] = { NULL, NULL, NULL },
};

Test(findings_heap, each_property_is_said_with_its_numbers)
{
	for (int what = 0; what < N_PLANTED; what++) {
		struct profile *p = make_planted(what);
		bool found = !planted[what].rule;
		struct analysis *a;
		struct findings *f;
		struct lens l;

		lens_init(&l, p);
		cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
		cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
		for (size_t j = 0; j < f->list.n; j++) {
			const struct finding *one = &f->list.at[j];
			const char *want = planted[what].sentence;

			/* Who grows holds the peak, too. */
			if (what != NOTHING && strcmp(one->rule, "peak") == 0)
				continue;
			cr_assert(planted[what].rule && strcmp(one->rule, planted[what].rule) == 0,
				  "%d: %s: %s", what, one->rule, one->sentence);
			found = true;
			cr_expect_eq(strncmp(one->sentence, want, strlen(want)), 0, "%s",
				     one->sentence);
			cr_expect_str_eq(one->view, planted[what].view);
		}
		cr_expect(found, "of %d nothing is said", what);
		findings_free(f);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

/* A leak that is accepted has no sentence, and the others keep theirs. */
Test(findings_heap, suppressed_leaks_are_not_told_of)
{
	static const char text[] = "leak:leak_here\n";
	struct profile *p = make(LEAKS | CHURNS, false);
	struct suppressions *known;
	struct analysis *a;
	struct findings *f;
	struct lens l;

	cr_assert_eq(suppressions_parse("known", text, strlen(text), &known, NULL), 0);
	lens_init(&l, p);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	cr_assert_eq(findings_new(a, known, NULL, &f), 0);
	for (size_t i = 0; i < f->list.n; i++)
		cr_expect_neq(strcmp(f->list.at[i].rule, "leak"), 0, "%s", f->list.at[i].sentence);
	cr_expect_geq(f->list.n, 1u);
	findings_free(f);
	analysis_free(a);
	lens_done(&l);
	suppressions_free(known);
	profile_free(p);
}

/* What grows: by so many bytes a step, in which blocks come and go, until all is freed or not. */
static const struct {
	const char *what;
	int64_t beside;       /* bytes that are there from the start */
	int64_t grows, comes; /* bytes a step */
	int64_t works;        /* bytes that three steps leave */
	bool frees;           /* all, at the end */
	const char *sentence; /* of the rule leak; NULL: there is none */
	bool attached;        /* it had run before */
	int64_t resident;     /* bytes by which the resident set then grows */
} growths[] = {
	{ "never freed", 0, 20000, 0, 0, false,
	  "grow_here grows by 719 MB an hour (± 2.51 MB), and 400 blocks of 8.00 MB were never freed.",
	  false, 0 },
	{ "freed at exit", 0, 20000, 0, 0, true,
	  "grow_here grows by 719 MB an hour (± 2.50 MB) until the end, where the teardown frees 7.96 MB.",
	  false, 0 },
	{ "beside a cache", 1000000000, 100, 0, 0, false,
	  "grow_here grows by 3.60 MB an hour (± 12.6 kB), and 400 blocks of 40.0 kB were never freed.",
	  false, 0 },
	{ "beside so much that it does not matter", 100000000000, 100, 0, 0, false, NULL, false,
	  0 },
	{ "beside work that leaves more", 1000000000, 100, 0, 2000000, false, NULL, false, 0 },
	{ "a saw that rises", 0, 20000, 10000000, 0, false,
	  "grow_here grows by 718 MB an hour (± 0 B), and 400 blocks of 8.00 MB were never freed.",
	  false, 0 },
	{ "a saw that does not", 0, 0, 10000000, 0, false, NULL, false, 0 },
	{ "replaces what was there before", 0, 20000, 0, 0, false, NULL, true, 100 },
	{ "replaces nothing", 0, 20000, 0, 0, false,
	  "grow_here grows by 719 MB an hour (± 2.51 MB), and 400 blocks of 8.00 MB were never freed.",
	  true, 8000000 },
};

static struct profile *make_growth(size_t at)
{
	struct made *m = calloc(1, sizeof(*m));
	struct profile *p = profile_new();
	series_id rss;

	cr_assert_not_null(m);
	m->p = p;
	builder_begin(p);
	rss = build_heap_series(p, begin(m), "RSS", UNIT_BYTES);
	build_heap_manner(p, m->track, growths[at].attached, 0);
	allocate(m, (uint64_t)growths[at].beside, "cache_here");
	for (int i = 0; i < STEPS; i++) {
		int64_t comes = growths[at].comes / 10;

		m->now = (int64_t)(i + 1) * STEP_NS;
		if (growths[at].grows > 0)
			m->piece[i] = allocate(m, (uint64_t)growths[at].grows, "grow_here");
		if (growths[at].works > 0 && (i == 150 || i == 300 || i == 380))
			allocate(m, (uint64_t)growths[at].works, "work_here");
		if (comes > 0)
			m->cached[i % 10] = allocate(m, (uint64_t)comes, "grow_here");
		for (int k = 0; k < 10 && comes > 0 && i % 10 == 9; k++)
			release(m, m->cached[k], comes, false);
	}
	for (int i = 0; i < STEPS && growths[at].frees; i++)
		release(m, m->piece[i], growths[at].grows, false);
	m->now += STEP_NS;
	build_moment(p, m->track, m->now);
	for (int i = 0; i < 2 && growths[at].attached; i++)
		build_heap_reading(p, rss, i * m->now, 20000000 + i * growths[at].resident);
	cr_assert_eq(builder_end(p), 0);
	free(m);
	return p;
}

Test(findings_heap, growth_is_told_whether_it_is_freed_small_or_below_a_saw)
{
	for (size_t at = 0; at < sizeof(growths) / sizeof(*growths); at++) {
		struct profile *p = make_growth(at);
		const char *want = growths[at].sentence;
		struct analysis *a;
		struct findings *f;
		struct lens l;
		int n = 0;

		lens_init(&l, p);
		cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
		cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
		for (size_t i = 0; i < f->list.n; i++) {
			const struct finding *one = &f->list.at[i];

			if (strcmp(one->rule, "leak") != 0)
				continue;
			n++;
			cr_expect(want && strncmp(one->sentence, want, strlen(want)) == 0, "%s: %s",
				  growths[at].what, one->sentence);
			cr_expect_str_eq(one->view, "leaks");
		}
		cr_expect_eq(n, want ? 1 : 0, "%s: %d", growths[at].what, n);
		findings_free(f);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

/* Numbers of a sampled heap are estimates, in sentences and in the tables that these name. */
Test(findings_heap, estimates_are_marked)
{
	struct made *m = calloc(1, sizeof(*m));
	struct profile *p = profile_new();
	struct footprint *of;
	struct heap_table *t;
	struct analysis *a;
	struct findings *f;
	char text[64];
	struct lens l;

	cr_assert_not_null(m);
	m->p = p;
	builder_begin(p);
	begin(m);
	build_heap_rate(p, m->track, 100, 0);
	for (int i = 0; i < STEPS; i++) {
		m->now = (int64_t)(i + 1) * STEP_NS;
		step(m, i, LEAKS | CHURNS);
	}
	cr_assert_eq(builder_end(p), 0);
	lens_init(&l, p);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	cr_assert_eq(findings_new(a, NULL, NULL, &f), 0);
	cr_assert_eq(f->list.n, 2);
	for (size_t i = 0; i < f->list.n; i++)
		cr_expect(strstr(f->list.at[i].sentence, "~400 blocks of ~8.00 MB") ||
				  strstr(f->list.at[i].sentence, "of ~75,9"),
			  "%s", f->list.at[i].sentence);
	cr_assert_eq(footprint_new(p, &a->counts, &l, lens_usual_metric(p, NULL), NULL, &of), 0);
	cr_assert_eq(heap_table_new(of, HEAP_ALLOCATORS, NULL, NULL, &t), 0);
	for (int c = 0; c < t->n_columns; c++)
		cr_expect_eq(heap_table_text(t, &t->rows.at[0], c, text)[0] == '~',
			     t->form->column[c].cell == CELL_BYTES ||
				     t->form->column[c].cell == CELL_COUNT,
			     "%s: %s", t->form->column[c].title, text);
	heap_table_free(t);
	footprint_free(of);
	findings_free(f);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
	free(m);
}
