/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "profile/builder.h"
#include "query/activity.h"
#include "query/activity_lanes.h"
#include "tests/support/made_profile.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* "name tid, sum, process or thread, weight samples\n". */
static char *rows_text(const struct activity *a, const struct profile *p)
{
	char *out = xstrdup("");

	for (uint32_t i = 0; i < a->n_rows; i++) {
		const struct activity_row *r = &a->row[i];
		int tid = -1;
		char *more;

		if (r->thread != ID_NONE)
			tid = profile_thread(p, (thread_id){ r->thread })->tid;
		more = xasprintf("%s%s %d %s %lld %llu\n", out, r->name, tid,
				 activity_is_sum(r) ? "sum"
				 : r->is_process    ? "process"
						    : "thread",
				 (long long)r->weight, (unsigned long long)r->n_samples);
		free(out);
		out = more;
	}
	return out;
}

static const struct {
	const char *what, *profile, *filter, *rows;
} cases[] = {
	{ "threads below their process, the heaviest first",
	  "a 3 pid=1 tid=1 name=main\na 2 pid=1 tid=2 name=io\nb 9 pid=7 tid=7 name=db\n", "",
	  "db 7 process 9 1\nmain -1 sum 5 2\nmain 1 thread 3 1\nio 2 thread 2 1\n" },
	{ "only what passes the filter",
	  "a 3 pid=1 tid=1 name=main\na 2 pid=1 tid=2 name=io\nb 9 pid=7 tid=7 name=db\n", "fn:a",
	  "main -1 sum 5 2\nmain 1 thread 3 1\nio 2 thread 2 1\n" },
	{ "without threads there is one row", "a 3\nb 4\n", "", "[unknown] -1 process 7 2\n" },
	{ "a thread alone stands below its process, which keeps its name",
	  "a 3 pid=1 tid=1 name=main\na 2 pid=1 tid=2 name=io\n", "thread:io",
	  "main -1 sum 2 1\nio 2 thread 2 1\n" },
	{ "a main thread has its process's name whatever it was called then",
	  "a 3 pid=1 tid=1 name=env\na 2 pid=1 tid=1 name=sh\n", "thread:env",
	  "sh 1 process 3 1\n" },
	{ "another thread is called as it was last",
	  "a 3 pid=1 tid=1 name=x\na 1 pid=1 tid=2 name=io\na 1 pid=1 tid=2 name=db\n", "tid:2",
	  "x -1 sum 2 2\ndb 2 thread 2 2\n" },
	{ "nothing", "a 3\n", "fn:x", "" },
};

Test(activity, rows)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = made_profile(cases[i].profile);
		struct activity act;
		struct analysis *a;
		struct lens lens;
		char *text;

		made_lens(&lens, p, cases[i].filter);
		a = made_analysis(p, &lens);
		cr_assert_eq(activity_of_threads(p, &a->counts, &lens, &a->weights, 64, NULL, &act),
			     0);
		text = rows_text(&act, p);
		cr_expect_str_eq(text, cases[i].rows, "%s: got\n%s", cases[i].what, text);
		free(text);
		activity_done(&act);
		analysis_free(a);
		lens_done(&lens);
		profile_free(p);
	}
}

/* Of a stretch no slice has more than its length, and the time ends with the last one. */
Test(activity, stretches_last_for_what_they_weigh)
{
	struct profile *p = profile_new();
	struct sample s = { .cpu = CPU_NONE, .thread = { ID_NONE }, .weight = 5999 };
	struct activity act;
	struct analysis *a;
	struct lens lens;

	builder_begin(p);
	build_capture(p, "x", "y");
	s.event = build_summed_event(p, "time", UNIT_NS);
	cr_assert_eq(build_sample(p, &s), 0);
	s.time_ns = 5999;
	s.weight = 400;
	cr_assert_eq(build_sample(p, &s), 0);
	builder_end(p);
	made_lens(&lens, p, "");
	a = made_analysis(p, &lens);
	cr_expect_eq(a->weights.end_ns, 6399);
	cr_expect_eq(a->weights.last_ns, 6399);
	cr_assert_eq(activity_of_threads(p, &a->counts, &lens, &a->weights, 64, NULL, &act), 0);
	cr_assert_eq(act.n_rows, 1);
	for (uint32_t i = 0; i < act.n_slices; i++)
		cr_expect(act.row[0].slice[i] == 100 || (i == 63 && act.row[0].slice[i] == 99));
	activity_done(&act);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

static const char two_threads[] = "a 3 pid=1 tid=1 t=0\n"
				  "a 4 pid=1 tid=1 t=6399\n"
				  "a 5 pid=1 tid=2 t=3200\n";

/* What a time term lets pass is all the time that there is. */
Test(activity, slices_are_of_the_time_that_passes)
{
	struct profile *p = made_profile(two_threads);
	struct activity act;
	struct analysis *a;
	struct lens lens;

	made_lens(&lens, p, "time:3200ns,");
	a = made_analysis(p, &lens);
	cr_assert_eq(activity_of_threads(p, &a->counts, &lens, &a->weights, 64, NULL, &act), 0);
	cr_assert_eq(act.n_rows, 3);
	cr_expect_eq(act.span_ns, 3199);
	cr_expect_eq(act.row[0].slice[0], 5);
	cr_expect_eq(act.row[0].slice[act.n_slices - 1], 4);
	activity_done(&act);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

/* Slices add up to the weights of those samples that have a time, by thread and by process. */
Test(activity, slices)
{
	struct profile *p = made_profile(two_threads);
	struct activity act;
	struct analysis *a;
	struct lens lens;
	int64_t sum = 0;

	made_lens(&lens, p, "");
	a = made_analysis(p, &lens);
	cr_assert_eq(activity_of_threads(p, &a->counts, &lens, &a->weights, 64, NULL, &act), 0);
	cr_assert_eq(act.n_rows, 3);
	for (size_t i = 0; i < act.n_slices; i++)
		sum += act.row[0].slice[i];
	cr_expect_eq(sum, 12);
	cr_expect_eq(act.row[1].slice[0], 3);
	cr_expect_eq(act.row[1].slice[act.n_slices - 1], 4);
	cr_expect_eq(act.row[2].slice[act.n_slices / 2], 5);
	cr_expect_eq(act.most, 5);
	activity_done(&act);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

/* What several columns say of a row, its process's sum included, is what each says alone; a row has something in one of them. */
Test(activity, columns)
{
	struct profile *p = made_profile("a 3 pid=1 tid=1 name=main event=x\n"
					 "a 4 pid=1 tid=2 name=io event=y\n"
					 "a 5 pid=1 tid=1 name=main event=y\n"
					 "a 6 pid=2 tid=2 name=db event=x\n");
	static const char *const expected[] = { "db 6 0", "main 3 9", "main 3 5", "io 0 4" };
	struct activity act;
	struct analysis *a;
	struct lens lens;

	made_lens(&lens, p, "");
	lens.n_columns = 2;
	cr_assert_eq(metric_find(p, "x", "", &lens.column[0].metric, NULL), 0);
	cr_assert_eq(metric_find(p, "y", "", &lens.column[1].metric, NULL), 0);
	a = made_analysis(p, &lens);
	cr_assert_eq(activity_of_threads(p, &a->counts, &lens, &a->weights, 64, NULL, &act), 0);
	cr_assert_eq(act.n_rows, 4);
	for (uint32_t i = 0; i < act.n_rows; i++) {
		const struct activity_row *r = &act.row[i];
		char *text = xasprintf("%s %lld %lld", r->name, (long long)r->column[0],
				       (long long)r->column[1]);

		cr_expect_str_eq(text, expected[i]);
		cr_expect_eq(r->column[0], r->weight);
		free(text);
	}
	activity_done(&act);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

/* Of a span only what lies in it counts, whatever the filter says of time; its end is out. */
Test(activity, within_a_span)
{
	static const struct {
		struct time_span span;
		const char *filter, *rows, *slices;
	} spans[] = {
		{ { 0, 10, 5, 0 }, "", "a 1 process 3 1\n", "3 0 0 0 0 " },
		{ { 10, 30, 2, 0 }, "", "a -1 sum 9 2\nb 2 thread 9 2\n", "4 5 " },
		{ { 10, 30, 2, 0 }, "time:0,5ns", "a -1 sum 9 2\nb 2 thread 9 2\n", "4 5 " },
		{ { 10, 30, 4, 0 }, "!fn:y", "a -1 sum 5 1\nb 2 thread 5 1\n", "0 0 0 5 " },
		{ { 30, 40, 2, 0 }, "", "a 1 process 7 1\n", "0 7 " },
		{ { 31, 32, 1, 0 }, "", "", "" },
		{ { 12, 20, 1, 0 }, "fn:nothing", "", "" },
	};
	struct profile *p = made_profile("x 3 pid=1 tid=1 name=a t=0\n"
					 "y 4 pid=1 tid=2 name=b t=10\n"
					 "x 5 pid=1 tid=2 name=b t=25\n"
					 "x 7 pid=1 tid=1 name=a t=40\n");

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		struct activity act;
		struct analysis *a;
		struct lens lens;
		char *text, *slices = xstrdup("");

		made_lens(&lens, p, spans[i].filter);
		a = made_analysis(p, &lens);
		cr_assert_eq(activity_within(p, &a->counts, &lens, &a->weights, &spans[i].span,
					     NULL, &act),
			     0);
		text = rows_text(&act, p);
		cr_expect_str_eq(text, spans[i].rows, "span %zu: got\n%s", i, text);
		for (uint32_t k = 0; act.n_rows > 0 && k < act.n_slices; k++) {
			char *more = xasprintf("%s%lld ", slices, (long long)act.row[0].slice[k]);

			free(slices);
			slices = more;
		}
		cr_expect_str_eq(slices, spans[i].slices, "span %zu: got %s", i, slices);
		free(slices);
		free(text);
		activity_done(&act);
		analysis_free(a);
		lens_done(&lens);
	}
	profile_free(p);
}

/* Bytes of a thread that are there before a time since the start. */
static int64_t live_before(const struct story *s, uint32_t thread, int64_t since_ns)
{
	int64_t live = 0;

	for (uint32_t i = 0; i < STORY_DEEDS; i++) {
		const struct block *b = &s->block[s->deed[i].block];
		int64_t size = (int64_t)b->size;

		if (s->deed[i].time_ns - s->deed[0].time_ns >= since_ns)
			break;
		if (!b->mapped && s->thread[b->thread].v == thread)
			live += s->deed[i].frees ? -size : size;
	}
	return live;
}

/* What threads hold over time, and what they asked for within a span. */
Test(activity, of_a_heap_is_a_replay)
{
	struct story *s = story_new(11);
	struct time_span span = { 4000000, 22500000, 37, 0 };
	struct activity act;
	struct analysis *a;
	struct lens lens;

	made_lens(&lens, s->p, "");
	for (int within = 0; within < 2; within++) {
		lens.column[0].metric = (struct metric){ s->event[0],
							 within ? MEASURE_SAMPLES : MEASURE_LIVE,
							 false };
		a = made_analysis(s->p, &lens);
		cr_assert_eq(
			activity_within(s->p, &a->counts, &lens, &a->weights, &span, NULL, &act),
			0);
		cr_assert_eq(act.n_rows, 3, "the process and its threads");
		for (uint32_t r = 1; r < act.n_rows; r++) {
			const struct activity_row *row = &act.row[r];
			uint32_t calls = 0;
			int64_t sum = 0;

			for (uint32_t k = 0; k < span.n; k++) {
				int64_t end = span.from_ns +
					      (span.to_ns - span.from_ns) * (k + 1) / 37;

				sum += row->slice[k];
				if (!within)
					cr_expect_eq(row->slice[k],
						     live_before(s, row->thread, end), "%u", k);
			}
			for (uint32_t i = 0; i < s->n_blocks; i++) {
				const struct block *b = &s->block[i];
				int64_t at = s->deed[b->born].time_ns - s->deed[0].time_ns;

				calls += !b->mapped && s->thread[b->thread].v == row->thread &&
					 at >= span.from_ns && at < span.to_ns;
			}
			cr_expect_gt(calls, 100);
			if (!within)
				continue;
			cr_expect_eq(row->weight, calls);
			cr_expect_eq(row->n_samples, calls);
			cr_expect_eq(sum, calls);
		}
		activity_done(&act);
		analysis_free(a);
	}
	lens_done(&lens);
	story_free(s);
}

/* By what no stack tells, blocks are in tables of samples as samples are: [thread][column] and [event]. */
Test(activity, tables_of_a_heap_are_a_replay)
{
	static const enum grouping groupings[] = { GROUP_THREAD, GROUP_EVENT };
	struct story *s = story_new(12);

	for (int g = 0; g < 2; g++) {
		struct analysis *a;
		struct lens lens;

		made_lens(&lens, s->p, "");
		lens.grouping = groupings[g];
		lens.n_columns = 2;
		lens.column[0].metric = (struct metric){ s->event[0], MEASURE_SAMPLES, false };
		lens.column[1].metric = (struct metric){ s->event[0], MEASURE_WEIGHT, false };
		a = made_analysis(s->p, &lens);
		cr_expect_eq(a->table.n_rows, g == 0 ? 2 : 1);
		for (uint32_t r = 0; r < a->table.n_rows; r++) {
			uint32_t id = a->table_keys->key[a->table.key[r]].id;
			int64_t calls = 0, bytes = 0;

			for (uint32_t i = 0; i < s->n_blocks; i++) {
				const struct block *b = &s->block[i];

				if (b->mapped || (g == 0 && s->thread[b->thread].v != id))
					continue;
				calls++;
				bytes += (int64_t)b->size;
			}
			cr_expect_gt(calls, 0);
			cr_expect_eq(a->table.total[r * 2], calls);
			cr_expect_eq(a->table.total[r * 2 + 1], bytes);
			cr_expect_eq(a->table.n_samples[r], (uint64_t)calls);
		}
		analysis_free(a);
		lens_done(&lens);
	}
	story_free(s);
}

/* Letters of what ran in each slice, a line a row; "." another function, " " nothing. */
static char *lanes_text(const struct activity *act, const struct activity_lanes *l)
{
	char *out = xstrdup("");

	for (uint32_t i = 0; i < act->n_rows; i++) {
		for (uint32_t k = 0; k < l->n_slices; k++) {
			uint8_t which = l->of[(size_t)i * l->n_slices + k];
			char *more = xasprintf("%s%c", out,
					       which                  ? 'a' + which - 1
					       : act->row[i].slice[k] ? '.'
								      : ' ');

			free(out);
			out = more;
		}
		{
			char *more = xasprintf("%s|", out);

			free(out);
			out = more;
		}
	}
	return out;
}

Test(activity, lanes_show_phases)
{
	static const struct {
		const char *what, *profile, *filter, *lanes;
	} phases[] = {
		{ "one function after the other", "f 5 t=0\ng 4 t=100\nf 5 t=200\nf 5 t=400\n", "",
		  "abaa|" },
		{ "nothing ran", "f 5 t=0\nf 4 t=400\n", "", "a  a|" },
		{ "what is called is part of its phase, unless it is one itself",
		  "f 5 t=0\nf;x 1 t=100\nf;g 4 t=200\nf;h 3 t=200\nf;i 3 t=300\nf;j 2 t=300\n"
		  "f;k 2 t=400\ny 1 t=400\n",
		  "", "aabd|" },
		{ "threads, and what has most of their process",
		  "f 5 t=0 pid=1 tid=1\ng 4 t=0 pid=1 tid=2\ng 2 t=400 pid=1 tid=1\n"
		  "f 3 t=400 pid=1 tid=2\n",
		  "", "a  a|a  b|b  a|" },
		{ "whatever time terms say", "f 5 t=0\ng 4 t=200\nf 5 t=400\n", "time:0,1",
		  "a ba|" },
		{ "but by other terms", "f 5 t=0\ng 4 t=200\nf 5 t=400\n", "fn:g", "  a |" },
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		struct profile *p = made_profile(phases[i].profile);
		struct time_span span = { .to_ns = 400, .n = 4 };
		struct activity_lanes *l;
		struct activity act;
		struct analysis *a;
		struct lens lens;
		char *text;

		made_lens(&lens, p, phases[i].filter);
		a = made_analysis(p, &lens);
		cr_assert_eq(activity_within(p, &a->counts, &lens, &a->weights, &span, NULL, &act),
			     0);
		cr_assert_eq(activity_lanes_new(a, &act, &span, NULL, &l), 0);
		cr_assert(l, "%s", phases[i].what);
		text = lanes_text(&act, l);
		cr_expect_str_eq(text, phases[i].lanes, "%s: \"%s\"", phases[i].what, text);
		free(text);
		activity_lanes_free(l);
		activity_done(&act);
		analysis_free(a);
		lens_done(&lens);
		profile_free(p);
	}
}
