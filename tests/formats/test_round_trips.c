/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a format says that it holds is found again in what was written and read, from any format into any other: nothing is lost
 * that both can hold.
 */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/heaptrack/heaptrack.h"
#include "formats/pack/pack.h"
#include "formats/pack/pack_write.h"
#include "formats/pprof/pprof.h"
#include "formats/write/export_losses.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/lens.h"
#include "query/tree/table.h"
#include "tests/support/made_everything.h"
#include "tests/support/made_story.h"
#include "tests/support/written.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS       INT64_C(1000000)
#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Writing and reading. */

static struct analysis *analyse(const struct profile *p, const char *filter, const char *measure,
				struct lens *lens)
{
	struct err e = ERR_INIT;
	struct analysis *a;
	struct metric m;

	lens_init(lens, p);
	if (measure) {
		cr_assert_eq(metric_find(p, "malloc", measure, &m, &e), 0, "%s", err_text(&e));
		lens_choose(lens, p, m);
	}
	cr_assert_eq(filter_parse(filter, &lens->filter, &e), 0, "%s", err_text(&e));
	cr_assert_eq(analysis_new(p, lens, NULL, &a), 0);
	return a;
}

/* measure: of malloc, which is shown; NULL: what opens is shown. */
static struct profile *again_of(const struct profile *p, const struct format *f, const char *filter,
				const char *measure)
{
	const struct write_options options = { .whole_names = true };
	struct profile *read = profile_new();
	const struct format *found;
	struct err e = ERR_INIT;
	struct input *in;
	struct lens lens;
	struct analysis *a = analyse(p, filter, measure, &lens);
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);
	capture_id c;

	if (f == &format_pack)
		cr_assert_eq(pack_write(p, NULL, 0, to, &(unsigned){ 0 }, &e), 0, "%s",
			     err_text(&e));
	else
		cr_assert_eq(f->write(a, &options, to, &e), 0, "%s: %s", f->name, err_text(&e));
	fclose(to);
	in = input_of_bytes(text, n, "again");
	found = format_probe(in, &e);
	cr_assert(found && found->read, "%s is not read: %s", f->name, err_text(&e));
	builder_begin(read);
	c = build_capture(read, "again", found->name);
	builder_end(read);
	cr_assert_eq(found->read(in, read, c, NULL, NULL, &e), 0, "%s: %s\n%.2000s", f->name,
		     err_text(&e), text);
	input_close(in);
	analysis_free(a);
	lens_done(&lens);
	free(text);
	return read;
}

static struct profile *again(const struct profile *p, const struct format *f, const char *filter)
{
	return again_of(p, f, filter, NULL);
}

/* What a profile has, as lines. */

/* The event of that name; not all formats say which one opens. */
static void choose_event(struct lens *l, const struct profile *p, const char *name)
{
	struct profile_counts c;

	profile_counts_read(p, &c);
	for (uint16_t i = 0; name && i < c.n_events; i++)
		if (strcmp(profile_string(p, profile_event(p, (event_id){ i })->name, NULL),
			   name) == 0)
			lens_choose(l, p, (struct metric){ .event = { i } });
}

static void rows_by(FILE *to, const struct profile *p, enum grouping g, const char *what,
		    unsigned holds, const char *event)
{
	struct lens lens;
	struct analysis *a;

	lens_init(&lens, p);
	choose_event(&lens, p, event);
	lens.grouping = g;
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *k = &a->table_keys->key[a->table.key[i]];

		/* a graph of calls has no totals of functions that call each other */
		if (a->table.self[i] != 0 || (holds & HOLDS(STACKS) && a->table.total[i] != 0))
			fprintf(to, "%s %s %" PRId64 " %" PRId64 "\n", what, k->label,
				a->table.self[i], holds & HOLDS(STACKS) ? a->table.total[i] : 0);
	}
	analysis_free(a);
	lens_done(&lens);
}

/* A line for each frame of each stack that has a sample, of what its location says. */
static void positions(FILE *to, const struct profile *p, unsigned holds)
{
	struct stack_columns stacks;
	struct location_columns l;
	struct sample_columns rows;
	struct profile_counts c;

	profile_counts_read(p, &c);
	profile_stacks(p, &stacks);
	profile_locations(p, &l);
	profile_samples(p, &rows);
	for (uint64_t i = 0; i < c.n_samples; i++) {
		for (uint32_t s = rows.stack[i]; s != 0; s = stacks.parent[s]) {
			uint32_t at = stacks.location[s], id = location_function(&l, at);
			const struct frame *run = location_frames(&l, at);
			const struct frame alone = { .function = id };

			if (id == ID_NONE ||
			    profile_function(p, (function_id){ id })->flags & FUNCTION_COMM)
				continue;
			run = run ? run : &alone;
			for (uint32_t k = 0; k <= run->n_more; k++) {
				const struct function *f =
					profile_function(p, (function_id){ run[k].function });

				fprintf(to, "at %s", profile_string(p, f->name, NULL));
				if (holds & HOLDS(ADDRESSES))
					fprintf(to, " %" PRIx64, l.address[at]);
				if (holds & HOLDS(LINES) && run[k].line > 0)
					fprintf(to, " line %s:%" PRIu32,
						profile_string(p, (string_id){ run[k].file }, NULL),
						run[k].line);
				if (holds & HOLDS(INLINED))
					fprintf(to, " depth %" PRIu32, k);
				fputc('\n', to);
			}
		}
	}
}

/* Of the event that opens: the axis of speedscope is time only where weights are. */
static void times(FILE *to, const struct profile *p, const char *name)
{
	struct sample_columns rows;
	struct profile_counts c;
	int64_t first = INT64_MAX;
	struct lens lens;
	uint16_t event;

	lens_init(&lens, p);
	choose_event(&lens, p, name);
	event = (uint16_t)lens.column[0].metric.event.v;
	lens_done(&lens);
	profile_counts_read(p, &c);
	profile_samples(p, &rows);
	for (int pass = 0; pass < 2 && rows.time_ns; pass++)
		for (uint64_t i = 0; i < c.n_samples; i++) {
			if (rows.time_ns[i] == TIME_NONE ||
			    (rows.event ? rows.event[i] : 0) != event)
				continue;
			if (pass == 1)
				fprintf(to, "time %" PRId64 "\n", rows.time_ns[i] - first);
			first = pass == 0 && rows.time_ns[i] < first ? rows.time_ns[i] : first;
		}
}

static void build_ids(FILE *to, const struct profile *p)
{
	struct profile_counts c;

	profile_counts_read(p, &c);
	for (uint32_t i = 0; i < c.n_modules; i++) {
		const struct module *m = profile_module(p, (module_id){ i });

		if (m->build_id.v)
			fprintf(to, "build-id %s %s\n", profile_string(p, m->path, NULL),
				profile_string(p, m->build_id, NULL));
	}
}

static void count_samples(FILE *to, const struct profile *p, const char *event)
{
	struct analysis *a;
	struct lens lens;

	lens_init(&lens, p);
	choose_event(&lens, p, event);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);

	fprintf(to, "samples %" PRIu64 "\n",
		a->weights.n_samples / (uint64_t)a->weights.sample_scale);
	analysis_free(a);
	lens_done(&lens);
}

/* Leaves one of each line that is there several times; they are sorted. */
static void leave_one_of_each(char *lines)
{
	char *to = lines, *last = NULL;

	for (char *at = lines, *next; *at; at = next) {
		size_t n = strcspn(at, "\n") + 1;

		next = at + n;
		if (last && (size_t)(to - last) == n && memcmp(last, at, n) == 0)
			continue;
		memmove(to, at, n);
		last = to;
		to += n;
	}
	*to = '\0';
}

/* In order, as far as it is held. */
static char *lines_of(const struct profile *p, unsigned holds, const char *event)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	rows_by(to, p, GROUP_FUNCTION, "function", holds, event);
	if (holds & HOLDS(MODULES))
		rows_by(to, p, GROUP_MODULE, "module", holds, event);
	if (holds & HOLDS(THREADS))
		rows_by(to, p, GROUP_THREAD, "thread", holds, event);
	if (holds & HOLDS(CPUS))
		rows_by(to, p, GROUP_CPU, "cpu", holds, event);
	if (holds & HOLDS(LABELS))
		rows_by(to, p, GROUP_LABELS, "label", holds, event);
	if (holds & HOLDS(CGROUPS))
		rows_by(to, p, GROUP_CGROUP, "cgroup", holds, event);
	if (holds & HOLDS(TIMES))
		times(to, p, event);
	if (holds & HOLDS(BUILD_IDS))
		build_ids(to, p);
	if (holds & HOLDS(SAMPLES))
		count_samples(to, p, event);
	/* in a graph of calls, callers have the lines of their declarations */
	if (holds & HOLDS(STACKS) && holds & (HOLDS(ADDRESSES) | HOLDS(LINES)))
		positions(to, p, holds);
	fclose(to);
	text = written_sorted(text);
	/* of sums it is not known how many samples have a frame */
	if (!(holds & HOLDS(SAMPLES)))
		leave_one_of_each(text);
	return text;
}

/* Takes the lines of functions that are names of threads out. */
static void drop_threads(char *lines)
{
	static const char *const names[] = { "function prog ", "function other ", "function worker",
					     "function node " };

	for (size_t i = 0; i < N(names); i++) {
		char *at = strstr(lines, names[i]), *end = at ? strchr(at, '\n') : NULL;

		if (end)
			memmove(at, end + 1, strlen(end + 1) + 1);
	}
}

static bool has_addresses(const struct profile *p)
{
	struct profile_counts c;
	struct location_columns l;
	bool has = false;

	profile_counts_read(p, &c);
	profile_locations(p, &l);
	for (uint32_t i = 0; i < c.n_locations; i++)
		has |= l.address[i] != 0;
	return has;
}

static void expect_same(const struct profile *p, const struct profile *read, unsigned holds,
			const char *from, const struct format *f)
{
	bool folded = strcmp(f->name, "folded") == 0;
	char *before, *after;
	const char *event;
	struct lens lens;

	/* names of threads are frames of folded stacks */
	holds &= folded ? ~HOLDS(THREADS) : ~0u;
	/* one address is one line there: of a profile without addresses nobody can tell lines apart */
	if (strcmp(f->name, "perf-script") == 0 && !has_addresses(p))
		holds &= ~HOLDS(LINES);
	lens_init(&lens, p);
	event = profile_string(p, profile_event(p, lens.column[0].metric.event)->name, NULL);
	lens_done(&lens);
	before = lines_of(p, holds, event);
	after = lines_of(read, holds, event);
	if (folded) {
		drop_threads(before);
		drop_threads(after);
	}
	cr_expect_str_eq(before, after, "%s as %s:\n--- before\n%s--- after\n%s", from, f->name,
			 before, after);
	free(before);
	free(after);
}

/* A format that is written, and read again. */
static bool goes_around(const struct format *f)
{
	return f->write && f->read && !f->compares && !f->heaps_only;
}

/* A pack holds all of a recording, whatever it was read from. */
static unsigned holdings(const struct format *f, const struct profile *p)
{
	unsigned holds = f->holds;
	struct analysis *a;
	struct lens lens;

	if (f == &format_pack)
		return ~0u;
	a = analyse(p, "", NULL, &lens);
	holds |= f->holds_also ? f->holds_also(a) : 0;
	analysis_free(a);
	lens_done(&lens);
	return holds;
}

static void any_into_any_other(struct profile *p, const char *what)
{
	for (size_t i = 0; formats[i]; i++) {
		struct profile *once;

		if (!goes_around(formats[i]) && formats[i] != &format_pack)
			continue;
		once = again(p, formats[i], "");
		expect_same(p, once, holdings(formats[i], p), what, formats[i]);
		for (size_t k = 0; formats[k]; k++) {
			struct profile *twice;

			if (!goes_around(formats[k]) && formats[k] != &format_pack)
				continue;
			twice = again(once, formats[k], "");
			expect_same(once, twice,
				    holdings(formats[k], once) & holdings(formats[i], p),
				    formats[i]->name, formats[k]);
			profile_free(twice);
		}
		profile_free(once);
	}
	profile_free(p);
}

Test(round_trips, any_into_any_other)
{
	any_into_any_other(made_everything(), "everything");
}

Test(round_trips, scripts_into_any_other)
{
	any_into_any_other(made_script(), "a script");
}

/* Heaps. */

static const struct format *const heaps[] = { &format_heaptrack, &format_pprof, &format_pack };

/* What functions allocated, and have at the end. */
static char *heap_lines(const struct profile *p)
{
	static const char *const measures[] = { "bytes", "calls", "leaked" };
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	for (size_t m = 0; m < N(measures); m++) {
		struct lens lens;
		struct analysis *a = analyse(p, "", measures[m], &lens);

		for (uint32_t i = 0; i < a->table.n_rows; i++)
			if (a->table.total[i] != 0)
				fprintf(to, "%s %s %" PRId64 " %" PRId64 "\n", measures[m],
					a->table_keys->key[a->table.key[i]].label, a->table.self[i],
					a->table.total[i]);
		analysis_free(a);
		lens_done(&lens);
	}
	fclose(to);
	return written_sorted(text);
}

static void expect_same_heap(const struct profile *p, const struct profile *read, const char *from,
			     const struct format *f, unsigned seed)
{
	char *before = heap_lines(p), *after = heap_lines(read);

	cr_expect_str_eq(before, after, "%u: %s as %s:\n--- before\n%s--- after\n%s", seed, from,
			 f->name, before, after);
	free(before);
	free(after);
}

Test(round_trips, heaps_into_any_other)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct story *s = story_new(seed);

		for (size_t i = 0; i < N(heaps); i++) {
			struct profile *once = again_of(s->p, heaps[i], "", "bytes");

			expect_same_heap(s->p, once, "a story", heaps[i], seed);
			for (size_t k = 0; k < N(heaps); k++) {
				struct profile *twice = again_of(once, heaps[k], "", "bytes");

				expect_same_heap(once, twice, heaps[i]->name, heaps[k], seed);
				profile_free(twice);
			}
			profile_free(once);
		}
		story_free(s);
	}
}

/* What is written with a filter is what a screen shows with it, transforms and all. */
Test(round_trips, filters_apply)
{
	static const char *const filters[] = { "thread:worker",     "leaf:copy",
					       "merge:inner",       "focus:work",
					       "collapse:work",     "recursion:all",
					       "!fn:inner",         "time:,0.05",
					       "focus:inner cpu:1", "merge:main recursion:direct" };
	struct profile *p = made_everything();

	for (size_t i = 0; formats[i]; i++)
		for (size_t k = 0; k < N(filters) && goes_around(formats[i]); k++) {
			struct profile *read = again(p, formats[i], filters[k]);
			struct lens lens, plain;
			struct analysis *a = analyse(p, filters[k], NULL, &lens);
			struct analysis *b = analyse(read, "", NULL, &plain);

			cr_expect_eq(a->weights.total[0], b->weights.total[0],
				     "%s %s: %" PRId64 " became %" PRId64, formats[i]->name,
				     filters[k], a->weights.total[0], b->weights.total[0]);
			for (uint32_t r = 0; r < a->table.n_rows; r++) {
				const char *label = a->table_keys->key[a->table.key[r]].label;
				int64_t self = 0, total = 0;

				for (uint32_t q = 0; q < b->table.n_rows; q++)
					if (!strcmp(label,
						    b->table_keys->key[b->table.key[q]].label)) {
						self += b->table.self[q];
						total += b->table.total[q];
					}
				if (!(formats[i]->holds & HOLDS(STACKS)))
					total = a->table.total[r];
				cr_expect(self == a->table.self[r] && total == a->table.total[r],
					  "%s %s: %s had %" PRId64 " and %" PRId64 ", has %" PRId64
					  " and %" PRId64,
					  formats[i]->name, filters[k], label, a->table.self[r],
					  a->table.total[r], self, total);
			}
			analysis_free(a);
			analysis_free(b);
			lens_done(&lens);
			lens_done(&plain);
			profile_free(read);
		}
	profile_free(p);
}

/* What all samples of events weigh together, whatever the events are called; without time, which is the shown one's. */
static bool has_total(const struct profile *p, int64_t total)
{
	struct sample_columns rows;
	struct profile_counts c;

	profile_counts_read(p, &c);
	profile_samples(p, &rows);
	for (uint16_t e = 0; e < c.n_events; e++) {
		int64_t sum = 0;

		for (uint64_t i = 0; i < c.n_samples; i++)
			if ((rows.event ? rows.event[i] : 0) == e)
				sum += rows.weight ? rows.weight[i] : 1;
		if (sum == total)
			return true;
	}
	return false;
}

/* A transform of stacks leaves all events: 32 samples of a clock and 8 page faults. */
Test(round_trips, all_events_of_a_transform)
{
	struct profile *p = made_everything();

	for (size_t i = 0; formats[i]; i++) {
		struct profile *read;

		if (!goes_around(formats[i]) || formats[i]->one_event ||
		    strcmp(formats[i]->name, "heaptrack") == 0)
			continue;
		read = again(p, formats[i], "merge:inner");
		cr_expect(has_total(read, 8), "%s lost the page faults", formats[i]->name);
		cr_expect(has_total(read, 32000000), "%s lost the clock", formats[i]->name);
		profile_free(read);
	}
	profile_free(p);
}

/* A message says what is lost: nothing of what a profile lacks anyway. */
Test(round_trips, what_is_lost)
{
	static const struct {
		const char *format, *lost;
	} cases[] = {
		{ "speedscope", "CPUs, addresses, source lines, inlining, build-ids, labels and "
				"control groups" },
		{ "folded",
		  "single samples, times, CPUs, modules, addresses, source lines, inlining, "
		  "build-ids, labels and control groups" },
		{ "perf-script", "build-ids and labels" },
		{ "pprof", "single samples, times, CPUs and control groups" },
		{ "v8",
		  "times, threads, CPUs, modules, addresses, source lines, inlining, build-ids, labels and "
		  "control groups" },
	};
	struct profile *p = made_everything();
	struct lens lens;
	struct analysis *a = analyse(p, "", NULL, &lens);

	for (size_t i = 0; i < N(cases); i++) {
		char *lost = export_lost(a, format_by_name(cases[i].format));

		cr_expect_str_eq(lost, cases[i].lost, "%s: %s", cases[i].format, lost);
		free(lost);
	}
	cr_expect_null(export_holdings(0));
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

static char *written_by(const struct profile *p, const char *format)
{
	const struct write_options options = { .whole_names = true };
	struct err e = ERR_INIT;
	struct lens lens;
	struct analysis *a = analyse(p, "", NULL, &lens);
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	cr_assert_eq(format_by_name(format)->write(a, &options, to, &e), 0, "%s", err_text(&e));
	fclose(to);
	analysis_free(a);
	lens_done(&lens);
	return text;
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* A thread that sets a label for each request is one track of a viewer, in the order of its times; rows of samples have the labels. */
Test(round_trips, labels_make_no_tracks)
{
	struct profile *p = profile_new();
	stack_id root = { 0 };
	char label[16], *text;
	event_id clock;
	thread_id t;

	builder_begin(p);
	t = build_thread(p, build_process(p, build_capture(p, "x", "made"), 7), 7,
			 build_cstring(p, "server"));
	clock = build_event(p, "cpu-clock", UNIT_NS, true);
	for (int i = 0; i < 40; i++) {
		struct sample row = {
			.event = clock, .cpu = CPU_NONE, .weight = MS, .time_ns = (i + 1) * MS
		};

		snprintf(label, sizeof(label), "request=%d", i % 20);
		row.thread = build_thread_labelled(p, t, build_cstring(p, label));
		row.stack = build_stack(
			p, root,
			build_symbol_location(
				p, build_function(p, build_cstring(p, i % 2 ? "f" : "g"),
						  (module_id){ 0 }, 0, (string_id){ 0 }, 0)));
		cr_assert_eq(build_sample(p, &row), 0);
	}
	builder_end(p);
	text = written_by(p, "speedscope");
	cr_expect_eq(count_of(text, "\"type\":\"sampled\""), 1, "%s", text);
	cr_expect(strstr(text, "\"samples\":[[0],[1],[0],[1],[0],[1]"), "%s", text);
	free(text);
	text = written_by(p, "firefox");
	cr_expect_eq(count_of(text, "\"processName\""), 1, "%s", text);
	free(text);
	text = written_by(p, "samples-csv");
	cr_expect_eq(count_of(text, "request=7"), 2, "%s", text);
	free(text);
	profile_free(p);
}

/* What a profile of pprof says of the whole recording. */
static const struct {
	const char *name, *text;
} heads[] = {
	{ "period", "10000000 nanoseconds of cpu" },
	{ "recorded", "2023-11-14 22:13:20.000000007 UTC" },
	{ "duration", "5.25 s" },
	{ "unit of energy", "microjoules" },
	{ "comment", "a" },
	{ "comment 2", "b" },
	{ "documentation", "https://example.org/" },
	{ "label bytes", "kilobytes" },
	{ "label n", "numbers" },
};

static bool has_fact(const struct profile *p, const char *name, const char *text)
{
	struct profile_counts c;

	profile_counts_read(p, &c);
	for (uint32_t i = 0; i < c.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (strcmp(profile_string(p, f.name, NULL), name) == 0)
			return strcmp(profile_string(p, f.text, NULL), text) == 0;
	}
	return false;
}

Test(round_trips, heads_of_pprof)
{
	static const char labels[] = "bytes=-4 kilobytes, kind=12, n=7";
	struct sample row = { .cpu = CPU_NONE, .weight = 12, .time_ns = TIME_NONE };
	struct profile *p = profile_new(), *read;
	struct profile_counts counts;
	const struct thread *t;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "p", "made");
	for (size_t i = 0; i < N(heads); i++)
		build_fact(p, c, "file", heads[i].name, FACT_PLAIN, "%s", heads[i].text);
	row.event = build_summed_event(p, "energy", UNIT_COUNT);
	row.thread = build_thread(p, build_process_of_name(p, c, (string_id){ 0 }), -1,
				  (string_id){ 0 });
	row.thread = build_thread_labelled(p, row.thread, build_cstring(p, labels));
	row.stack = build_stack(p, (stack_id){ 0 }, build_comm_location(p, build_cstring(p, "f")));
	cr_assert_eq(build_sample(p, &row), 0);
	cr_assert_eq(builder_end(p), 0);
	read = again(p, &format_pprof, "");
	for (size_t i = 0; i < N(heads); i++)
		cr_expect(has_fact(read, heads[i].name, heads[i].text), "%s", heads[i].name);
	profile_counts_read(read, &counts);
	t = profile_thread(read, (thread_id){ counts.n_threads - 1 });
	cr_expect_str_eq(profile_string(read, t->labels, NULL), labels);
	profile_free(read);
	profile_free(p);
}

/* What a thread used of a CPU until each sample goes with its samples, as the profiler of Firefox draws it. */
Test(round_trips, use_of_cpus_in_firefox)
{
	struct profile *p = profile_new();
	stack_id stack;
	thread_id thread;
	event_id samples, cpu;
	char *text;

	builder_begin(p);
	thread = build_thread(p, build_process(p, build_capture(p, "x", "made"), 7), 7,
			      build_cstring(p, "t"));
	samples = build_counted_event(p, "samples");
	cpu = build_event(p, "cpu", UNIT_NS, true);
	stack = build_stack(
		p, (stack_id){ 0 },
		build_symbol_location(p, build_function(p, build_cstring(p, "f"), (module_id){ 0 },
							0, (string_id){ 0 }, 0)));
	for (int64_t i = 1; i <= 3; i++) {
		struct sample row = { .event = samples,
				      .stack = stack,
				      .cpu = CPU_NONE,
				      .weight = 1,
				      .time_ns = i * MS };

		row.thread = thread;
		cr_assert_eq(build_sample(p, &row), 0);
		row.event = cpu;
		row.weight = 100 * i;
		if (i != 2)
			cr_assert_eq(build_sample(p, &row), 0);
	}
	builder_end(p);
	text = written_by(p, "firefox");
	cr_expect(strstr(text, "\"threadCPUDelta\":[100,0,300]"), "%s", text);
	cr_expect_eq(count_of(text, "\"threadCPUDelta\":["), 1, "%s", text);
	free(text);
	profile_free(p);
}

Test(round_trips, many_inlined_frames_in_pprof)
{
	struct sample row = { .cpu = CPU_NONE, .weight = 1, .time_ns = TIME_NONE };
	struct profile *p = profile_new(), *read;
	struct location_columns l;
	struct profile_counts c;
	struct frame run[100];
	char name[16];

	builder_begin(p);
	build_capture(p, "x", "made");
	for (uint32_t i = 0; i < N(run); i++) {
		snprintf(name, sizeof(name), "f%u", (unsigned)i);
		run[i] = (struct frame){ .line = i + 1 };
		run[i].function = build_function(p, build_cstring(p, name), (module_id){ 0 }, 0,
						 (string_id){ 0 }, 0)
					  .v;
	}
	row.event = build_summed_event(p, "n", UNIT_COUNT);
	row.thread.v = ID_NONE;
	row.stack = build_stack(p, (stack_id){ 0 }, build_frames_location(p, run, N(run)));
	cr_assert_eq(build_sample(p, &row), 0);
	builder_end(p);
	read = again(p, &format_pprof, "");
	profile_counts_read(read, &c);
	profile_locations(read, &l);
	cr_assert_eq(c.n_locations, 1);
	cr_assert_not_null(location_frames(&l, 0));
	cr_expect_eq(location_frames(&l, 0)->n_more, N(run) - 1);
	profile_free(read);
	profile_free(p);
}
