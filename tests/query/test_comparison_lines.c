/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two sides over time: what must hold of any two recordings, against a replay of what they were made of. */
#include "config.h"

#include "base/err.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"
#include "query/diff/comparison.h"
#include "query/diff/comparison_lines.h"
#include "query/diff/comparison_time.h"
#include "query/diff/diff.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define N_DEEDS 900
#define N_SITES 4
#define N_SLOTS 23
#define N_MARKS 2
#define SAMPLES 500

/* Something that a process did to its heap. */
struct deed {
	int64_t at_ns;
	int64_t bytes; /* below 0: they went */
};

/* Two processes, one after the other. */
struct told {
	struct profile *p;
	struct deed deed[N_SIDES][N_DEEDS];
	int64_t mark_ns[N_SIDES][N_MARKS];
	event_id heap, cpu;
	double cpu_ns[N_SIDES]; /* in all */
	const char *after;      /* what the program is called after; NULL: as before */
};

struct telling {
	struct told *t;
	capture_id c;
	thread_id thread;
	track_id track;
	origin_id origin[N_SITES];
	stack_id stack[N_SITES];
	unsigned lot;
};

static void tell_names(struct telling *g, int side)
{
	struct profile *p = g->t->p;
	module_id module = build_module(p, "prog", "", FAMILY_PROGRAM);
	const char *program = side && g->t->after ? g->t->after : "prog";
	process_id process;

	g->c = build_capture(p, side ? "b" : "a", "heap");
	process = build_process(p, g->c, 10 + side);
	build_process_name(p, process, build_cstring(p, program));
	g->thread = build_thread(p, process, 10 + side, build_cstring(p, program));
	g->track = build_heap_track(p, process, 0, 0);
	for (int i = 0; i < N_SITES; i++) {
		char name[] = { 'f', (char)('0' + i), '\0' };
		function_id f = build_function(p, build_cstring(p, name), module, 0,
					       build_cstring(p, ""), 0);
		struct heap_origin o = { .thread = g->thread.v,
					 .event = (uint16_t)g->t->heap.v,
					 .track = (uint16_t)g->track.v };

		g->stack[i] = build_stack(p, (stack_id){ 0 }, build_symbol_location(p, f));
		o.stack = g->stack[i].v;
		g->origin[i] = build_heap_origin(p, &o);
	}
}

static void tell_deeds(struct telling *g, int side)
{
	struct {
		allocation_id id;
		int64_t size;
	} live[N_DEEDS];
	int64_t at = 0;
	size_t n_live = 0;

	for (int i = 0; i < N_DEEDS; i++) {
		struct deed *d = &g->t->deed[side][i];

		at += i == 0 ? 0 : 3000 + made_number(&g->lot, side ? 40000 : 25000);
		d->at_ns = at;
		build_moment(g->t->p, g->track, at);
		if (n_live > 0 && made_number(&g->lot, 5) < 2) {
			size_t k = made_number(&g->lot, (unsigned)n_live);

			d->bytes = -live[k].size;
			build_release(g->t->p, live[k].id, g->track, false, (origin_id){ ID_NONE });
			live[k] = live[--n_live];
			continue;
		}
		d->bytes = 1 + made_number(&g->lot, 5000);
		live[n_live].size = d->bytes;
		live[n_live++].id = build_allocation(g->t->p, g->track, (uint64_t)d->bytes,
						     g->origin[made_number(&g->lot, N_SITES)]);
	}
	for (int i = 0; i < N_MARKS; i++) {
		g->t->mark_ns[side][i] = g->t->deed[side][N_DEEDS / 4 * (i + 1) + 50 * side].at_ns;
		build_heap_mark(g->t->p, &(struct heap_mark){
						 .capture = g->c,
						 .name = build_cstring(g->t->p, i ? "two" : "one"),
						 .thread = ID_NONE,
						 .time_ns = g->t->mark_ns[side][i] });
	}
}

static void tell_samples(struct telling *g, int side)
{
	int64_t end = g->t->deed[side][N_DEEDS - 1].at_ns;

	for (int i = 0; i < SAMPLES; i++) {
		struct sample s = { .thread = g->thread, .event = g->t->cpu };

		s.stack = g->stack[made_number(&g->lot, N_SITES)];
		s.time_ns = made_number(&g->lot, (unsigned)end);
		s.weight = 1 + made_number(&g->lot, 1000);
		g->t->cpu_ns[side] += (double)s.weight;
		build_sample(g->t->p, &s);
	}
}

static void tell_renamed(struct told *t, unsigned seed, const char *after)
{
	*t = (struct told){ .p = profile_new(), .after = after };
	builder_begin(t->p);
	t->heap = build_heap_event(t->p, "malloc");
	t->cpu = build_event(t->p, "cpu-clock", UNIT_NS, true);
	for (int side = 0; side < N_SIDES; side++) {
		struct telling g = { .t = t, .lot = seed * 2 + (unsigned)side + 1 };

		tell_names(&g, side);
		tell_deeds(&g, side);
		tell_samples(&g, side);
	}
	builder_end(t->p);
}

static void tell(struct told *t, unsigned seed)
{
	tell_renamed(t, seed, NULL);
}

/* An analysis that compares, of an event and with filters for its sides. */
static struct analysis *compare_by(struct comparison *s, const struct told *t, const char *event,
				   const char *before, const char *after)
{
	struct comparison_choice choice = { .event = event, .metric = "" };
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;

	lens_init(&lens, t->p);
	cr_assert_eq(comparison_add(s, SIDE_BEFORE, before, &e), 0);
	cr_assert_eq(comparison_add(s, SIDE_AFTER, after, &e), 0);
	cr_assert_eq(comparison_lens(s, t->p, &choice, &lens, &e), 0, "%s", err_text(&e));
	cr_assert_eq(analysis_new_parts(t->p, &lens, ANALYSIS_TREE | ANALYSIS_MEMORY, NULL, &a), 0);
	cr_assert_not_null(a->sides_time);
	lens_done(&lens);
	return a;
}

static struct analysis *compare(const struct told *t, const char *event, const char *before,
				const char *after)
{
	struct comparison s = { 0 };
	struct analysis *a = compare_by(&s, t, event, before, after);

	comparison_done(&s);
	return a;
}

static struct comparison_lines *lines_over(const struct analysis *a, uint32_t align, double from,
					   double to)
{
	double length = (double)comparison_time_length(a->sides_time, align);
	struct time_span span = { (int64_t)(from * length), (int64_t)(to * length), N_SLOTS,
				  align };
	struct comparison_lines *l;

	cr_assert_eq(comparison_lines_new(a->sides_time, &span, NULL, &l), 0);
	return l;
}

/* Bytes there just before a time. */
static int64_t live_before(const struct told *t, int side, double ns)
{
	int64_t live = 0;

	for (int i = 0; i < N_DEEDS && (double)t->deed[side][i].at_ns < ns; i++)
		live += t->deed[side][i].bytes;
	return live;
}

/* Recordings keep times to a microsecond: what was there a little before and after that is right, too. */
static bool is_live(const struct told *t, int side, double ns, double value)
{
	return value == (double)live_before(t, side, ns - 1001) ||
	       value == (double)live_before(t, side, ns) ||
	       value == (double)live_before(t, side, ns + 1001);
}

static const double spans[][2] = { { 0, 1 }, { 0.2, 0.6 }, { 0.5, 1 } };

/* All alignments, at all spans: f(analysis, lines). */
static void try_all(const struct told *t, const struct analysis *a,
		    void (*check)(const struct told *, const struct analysis *,
				  const struct comparison_lines *))
{
	for (uint32_t align = 0; align < comparison_time_alignments(a->sides_time); align++)
		for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
			struct comparison_lines *l = lines_over(a, align, spans[i][0], spans[i][1]);

			check(t, a, l);
			comparison_lines_free(l);
		}
}

static double slot_end(const struct comparison_lines *l, uint32_t slot)
{
	return (double)l->span.from_ns +
	       ((double)l->to_ns - (double)l->span.from_ns) / l->span.n * (slot + 1);
}

static void check_replay(const struct told *t, const struct analysis *a,
			 const struct comparison_lines *l)
{
	for (uint32_t run = 0; run < N_SIDES; run++)
		for (uint32_t i = 0; i < l->span.n; i++) {
			double at = comparison_time_at(a->sides_time, l->span.align, run,
						       slot_end(l, i));
			double value = l->line[run][i];
			double end = (double)t->deed[run][N_DEEDS - 1].at_ns;

			if (isnan(value))
				cr_expect(at <= 1 || at > end, "run %u slot %u", run, i);
			else
				cr_expect(is_live(t, (int)run, at, value),
					  "align %u run %u slot %u at %.1f: %f, not %lld",
					  l->span.align, run, i, at, value,
					  (long long)live_before(t, (int)run, at));
		}
}

Test(sides_lines, a_line_is_a_replay)
{
	for (unsigned seed = 1; seed < 5; seed++) {
		struct analysis *a;
		struct told t;

		tell(&t, seed);
		a = compare(&t, "malloc", "capture:1", "capture:2");
		cr_assert_eq(comparison_time_alignments(a->sides_time), ALIGN_MARK + N_MARKS);
		try_all(&t, a, check_replay);
		analysis_free(a);
		profile_free(t.p);
	}
}

/* Rows add up to the lines, and so do their differences. */
static void check_sums(const struct told *t, const struct analysis *a,
		       const struct comparison_lines *l)
{
	(void)t;
	(void)a;
	cr_assert_eq(l->n_rows, l->heap ? N_SITES : 1);
	for (int side = 0; side < N_SIDES; side++)
		for (uint32_t i = 0; i < l->span.n; i++) {
			double sum = 0;

			for (uint32_t k = 0; k < l->n_rows; k++)
				sum += sides_row_at(l, &l->row[k], (enum side)side, i);
			if (!isnan(l->line[side][i]))
				cr_expect_float_eq(sum, l->line[side][i], 1e-6 * (1 + fabs(sum)));
		}
}

Test(sides_lines, rows_add_up)
{
	static const char *const events[] = { "malloc", "cpu-clock" };
	struct told t;

	tell(&t, 7);
	for (int i = 0; i < 2; i++) {
		struct analysis *a = compare(&t, events[i], "capture:1", "capture:2");

		try_all(&t, a, check_sums);
		analysis_free(a);
	}
	profile_free(t.p);
}

static bool same(double x, double y)
{
	return (isnan(x) && isnan(y)) || x == y;
}

/* Differences of the other way round are the negative ones: each side has what it had. */
Test(sides_lines, the_other_way_round)
{
	static const char *const events[] = { "malloc", "cpu-clock" };
	struct told t;

	tell(&t, 9);
	for (uint32_t k = 0; k < 2 * (ALIGN_MARK + N_MARKS); k++) {
		struct analysis *a = compare(&t, events[k % 2], "capture:1", "capture:2");
		struct analysis *b = compare(&t, events[k % 2], "capture:2", "capture:1");
		struct comparison_lines *x = lines_over(a, k / 2, 0, 1),
					*y = lines_over(b, k / 2, 0, 1);

		for (uint32_t i = 0; i < N_SLOTS; i++) {
			cr_expect(same(x->line[SIDE_BEFORE][i], y->line[SIDE_AFTER][i]));
			cr_expect(same(x->line[SIDE_AFTER][i], y->line[SIDE_BEFORE][i]));
		}
		comparison_lines_free(x);
		comparison_lines_free(y);
		analysis_free(a);
		analysis_free(b);
	}
	profile_free(t.p);
}

/* Nothing of what went on is lost or counted twice, however sides are aligned. */
Test(sides_lines, activity_adds_up_to_the_totals)
{
	struct analysis *a;
	struct told t;

	tell(&t, 11);
	a = compare(&t, "cpu-clock", "capture:1", "capture:2");
	for (uint32_t align = 0; align < comparison_time_alignments(a->sides_time); align++) {
		struct comparison_lines *l = lines_over(a, align, 0, 1);

		for (int side = 0; side < N_SIDES; side++) {
			double from = comparison_time_at(a->sides_time, align, (uint32_t)side, 0);
			double to = comparison_time_at(a->sides_time, align, (uint32_t)side,
						       (double)l->to_ns);
			double sum = 0;

			for (uint32_t i = 0; i < N_SLOTS; i++)
				if (!isnan(l->line[side][i]))
					sum += l->line[side][i] * (to - from) / 1e9 / N_SLOTS;
			cr_expect_float_eq(sum, t.cpu_ns[side], 1e-6 * sum,
					   "align %u side %d: %f %f", align, side, sum,
					   t.cpu_ns[side]);
		}
		comparison_lines_free(l);
	}
	analysis_free(a);
	profile_free(t.p);
}

/* The same comparison of sides that are made equal by n, in its place. */
static struct analysis *normalised(struct analysis *a, enum normalise n)
{
	struct analysis *made;
	struct lens l;

	lens_copy(&l, &a->lens);
	l.sides.normalise = n;
	l.sides.automatic = false;
	cr_assert_eq(analysis_new(a->profile, &l, NULL, &made), 0);
	analysis_footprint(made, NULL);
	lens_done(&l);
	analysis_free(a);
	return made;
}

/* Rows made as long as sides are on average are what the comparison of rates says in all, though sides are of different lengths. */
Test(sides_lines, activity_of_equal_time_is_that_of_the_comparison)
{
	struct comparison_lines *l;
	struct analysis *a;
	struct told t;

	tell(&t, 11);
	a = normalised(compare(&t, "cpu-clock", "capture:1", "capture:2"), NORMALISE_TIME);
	l = lines_over(a, ALIGN_START, 0, 1);
	cr_assert_neq(l->seconds[SIDE_BEFORE], l->seconds[SIDE_AFTER]);
	for (int side = 0; side < N_SIDES; side++) {
		double mean = (l->seconds[SIDE_BEFORE] + l->seconds[SIDE_AFTER]) / N_SIDES;
		double want = side == SIDE_BEFORE ? a->diff->whole.before : a->diff->whole.after;
		double sum = 0;

		for (uint32_t i = 0; i < l->n_rows; i++)
			sum += l->row[i].sum[side] * mean / l->seconds[side];
		cr_expect_float_eq(sum, want, 1e-6 * want, "side %d: %f %f", side, sum, want);
	}
	comparison_lines_free(l);
	analysis_free(a);
	profile_free(t.p);
}

/* Threads of a program of two names are two rows, and one where the names are taken for one. */
Test(sides_lines, threads_of_a_renamed_program_are_one_row)
{
	for (int paired = 0; paired < 2; paired++) {
		struct comparison_lines *l;
		struct comparison s = { 0 };
		struct analysis *a;
		struct told t;

		tell_renamed(&t, 5, "prog2");
		if (paired)
			name_rules_pair(&s.names, "prog", "prog2");
		a = compare_by(&s, &t, "cpu-clock", "capture:1", "capture:2");
		l = lines_over(a, ALIGN_START, 0, 1);
		cr_assert_eq(l->n_rows, paired ? 1 : 2);
		if (paired) {
			const struct sides_row *row = &l->row[0];

			cr_expect_str_eq(row->name, "prog2");
			cr_expect_str_eq(row->of, "prog2");
			cr_expect(row->sum[SIDE_BEFORE] > 0 && row->sum[SIDE_AFTER] > 0);
			cr_assert_eq(row->n_real, 2);
		}
		comparison_lines_free(l);
		analysis_free(a);
		comparison_done(&s);
		profile_free(t.p);
	}
}

/* A mark that both set is at the same place of the axis; one that only one side has is none to align by. */
Test(sides_lines, marks_meet)
{
	struct analysis *a;
	struct told t;

	tell(&t, 13);
	a = compare(&t, "malloc", "capture:1", "capture:2");
	for (uint32_t i = 0; i < N_MARKS; i++) {
		int64_t at = comparison_time_mark(a->sides_time, ALIGN_MARK + i);

		cr_expect_str_eq(comparison_time_name(a->sides_time, ALIGN_MARK + i),
				 i ? "two" : "one");
		for (uint32_t run = 0; run < N_SIDES; run++)
			cr_expect_eq((int64_t)comparison_time_at(a->sides_time, ALIGN_MARK + i, run,
								 (double)at),
				     t.mark_ns[run][i]);
	}
	analysis_free(a);
	a = compare(&t, "malloc", "capture:1 time:0,0.001", "capture:2");
	cr_expect_eq(a->sides_time->run[0].end_ns, t.deed[0][N_DEEDS - 1].at_ns + 1);
	analysis_free(a);
	profile_free(t.p);
}

/* Points of the axis are times of the runs: since their start, or the same part of them. */
Test(sides_lines, times_on_the_axis)
{
	struct analysis *a;
	struct told t;

	tell(&t, 15);
	a = compare(&t, "malloc", "capture:1", "capture:2");
	for (uint32_t run = 0; run < N_SIDES; run++) {
		double length = (double)t.deed[run][N_DEEDS - 1].at_ns + 1;

		cr_expect_eq(comparison_time_at(a->sides_time, ALIGN_START, run, 12345), 12345);
		cr_expect_float_eq(comparison_time_at(a->sides_time, ALIGN_PROGRESS, run,
						      0.25 * (double)PROGRESS_NS),
				   0.25 * length, 1);
	}
	analysis_free(a);
	a = compare(&t, "cpu-clock", "time:0.001,0.003", "time:0.004,0.005");
	cr_expect_eq(comparison_time_length(a->sides_time, ALIGN_START), 2000000);
	cr_expect_eq(comparison_time_at(a->sides_time, ALIGN_START, 0, 5), 1000005);
	cr_expect_eq(comparison_time_at(a->sides_time, ALIGN_START, 1, 5), 4000005);
	cr_expect_eq(comparison_time_common_end(a->sides_time, ALIGN_START), 999999);
	analysis_free(a);
	profile_free(t.p);
}
