/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory over time and by site, against a replay. */
#include "config.h"

#include "query/heap/footprint.h"

#include "profile/builder.h"
#include "query/analysis.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "query/heap/footprint_lines.h"
#include "query/heap/heap_table.h"
#include "tests/support/made_profile.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SLOTS 37

static struct footprint_lines *lines_over(const struct footprint *m, int64_t from_ns, int64_t to_ns)
{
	struct time_span span = { from_ns, to_ns, N_SLOTS, 0 };
	struct footprint_lines *l;

	cr_assert_eq(footprint_lines_new(m, &span, NULL, NULL, &l), 0);
	return l;
}

/* The sites, by their row. */
static uint32_t site_at_row(const struct footprint *m, uint32_t row)
{
	uint32_t i = 0;

	while (m->site[i].row != row)
		i++;
	return i;
}

/* Bytes of malloc there before a time since the start, of one stack or of all (-1). */
static int64_t live_before(const struct story *s, int64_t since_ns, int stack)
{
	int64_t live = 0;

	for (uint32_t i = 0; i < STORY_DEEDS; i++) {
		const struct block *b = &s->block[s->deed[i].block];

		if (s->deed[i].time_ns - s->deed[0].time_ns >= since_ns)
			break;
		if (!b->mapped && (stack < 0 || b->stack == (uint32_t)stack))
			live += s->deed[i].frees ? -(int64_t)b->size : (int64_t)b->size;
	}
	return live;
}

static const int64_t spans[][2] = {
	{ 0, 37000000 },
	{ 0, 370000000 },
	{ 4000000, 22500000 },
};

Test(footprint, a_line_is_a_replay_looked_at_now_and_then)
{
	struct story *s = story_new(3);
	struct footprint *m = made_footprint(s->p, "", s->event[0]);

	for (size_t k = 0; k < sizeof(spans) / sizeof(*spans); k++) {
		int64_t from = spans[k][0], to = spans[k][1], came = 0, went = 0;
		struct footprint_lines *l = lines_over(m, from, to);
		const struct footprint_slot *slot = l->slot;

		for (int i = 0; i < N_SLOTS; i++) {
			int64_t end = from + (to - from) * (i + 1) / N_SLOTS;

			cr_assert_eq(slot[i].live, live_before(s, end, -1), "span %zu slot %d", k,
				     i);
			cr_assert_geq(slot[i].most, slot[i].live);
			cr_assert_leq(slot[i].most, m->total[FOOTPRINT_PEAK]);
			came += slot[i].allocated;
			went += slot[i].freed;
		}
		cr_assert_eq(came - went, slot[N_SLOTS - 1].live - live_before(s, from, -1));
		footprint_lines_free(l);
	}
	footprint_free(m);
	story_free(s);
}

Test(footprint, the_peak_is_where_most_was_there)
{
	struct story *s = story_new(4);
	struct footprint *m = made_footprint(s->p, "", s->event[0]);
	struct footprint_lines *l = lines_over(m, 0, INT64_MAX);
	const struct footprint_slot *slot = l->slot;
	int64_t most = 0;
	int at = 0;

	cr_assert_eq(l->to_ns, m->whole_ns + 1);
	for (int i = 0; i < N_SLOTS; i++)
		if (slot[i].most > most)
			most = slot[at = i].most;
	cr_assert_eq(most, m->total[FOOTPRINT_PEAK]);
	cr_assert_eq(at, m->peak.time_ns * N_SLOTS / (m->whole_ns + 1));
	cr_assert_geq(live_before(s, m->peak.time_ns + 1000, -1), most * 9 / 10);
	footprint_lines_free(l);
	footprint_free(m);
	story_free(s);
}

Test(footprint, sites_add_up_and_are_sorted)
{
	struct story *s = story_new(5);
	struct footprint *m = made_footprint(s->p, "thread:worker", s->event[0]);
	int64_t sum[FOOTPRINT_N_COLUMNS] = { 0 };

	cr_assert_eq(m->n_sites, STORY_STACKS);
	for (uint32_t i = 0; i < m->n_sites; i++)
		for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
			sum[c] += m->site[i].sum[c];
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
		cr_assert_eq(sum[c], m->total[c]);
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++) {
		footprint_sort(m, (enum footprint_column)c);
		for (uint32_t i = 1; i < m->n_sites; i++)
			cr_assert_geq(m->site[i - 1].sum[c], m->site[i].sum[c]);
		for (uint32_t i = 0; i < m->n_sites; i++)
			cr_assert_eq(m->row_of_thing[m->site[i].stack], m->site[i].row);
	}
	footprint_free(m);
	story_free(s);
}

Test(footprint, lines_of_sites_are_replays_of_their_stacks)
{
	struct story *s = story_new(6);
	struct footprint *m = made_footprint(s->p, "", s->event[0]);
	struct footprint_lines *l = lines_over(m, 0, 37000000);

	cr_assert_eq(l->n_rows, STORY_STACKS);
	cr_assert_eq(l->n_row_slots, N_SLOTS);
	for (uint32_t row = 0; row < l->n_rows; row++) {
		const int64_t *line = footprint_row_line(l, row);
		int stack = 0;

		while (s->stack[stack].v != m->site[site_at_row(m, row)].stack)
			stack++;
		for (int i = 0; i < N_SLOTS; i++)
			cr_assert_eq(line[i], live_before(s, (int64_t)(i + 1) * 1000000, stack));
	}
	footprint_lines_free(l);
	footprint_free(m);
	story_free(s);
}

/* As the view moves its cursor: from lines that it has of all sites, in any order and from any zoom. */
Test(footprint, any_time_is_as_its_slot_in_lines_says)
{
	struct story *s = story_new(8);
	struct footprint *m = made_footprint(s->p, "", s->event[0]);
	unsigned lot = 3;

	for (int k = 0; k < 20; k++) {
		int64_t from = made_number(&lot, 30000) * INT64_C(1000);
		int64_t to = from + (1 + made_number(&lot, 20000)) * INT64_C(1000) * N_SLOTS / 20;

		struct footprint_lines *l = lines_over(m, from, to);

		cr_assert_eq(m->n_sites, STORY_STACKS);
		for (int j = 0; j < 5; j++) {
			uint32_t slot = made_number(&lot, N_SLOTS);
			int64_t end = from + (to - from) * (slot + 1) / N_SLOTS;

			cr_assert(footprint_move_in_lines(m, end, l, slot));
			cr_assert_eq(m->total[FOOTPRINT_LIVE], live_before(s, end, -1));
			for (int i = 0; i < STORY_STACKS; i++)
				cr_assert_eq(m->site[site_at_row(m, m->row_of_thing[s->stack[i].v])]
						     .sum[FOOTPRINT_LIVE],
					     live_before(s, end, i), "%lld ns, stack %d",
					     (long long)end, i);
		}
		footprint_lines_free(l);
		footprint_sort(m, (enum footprint_column)made_number(&lot, FOOTPRINT_N_SUMS));
	}
	footprint_free(m);
	story_free(s);
}

/* Frames from the outermost on, NAME@MODULE; "?" has no name, "+10" begins at 0x10 and has none. Modules by their names: lib…, libc, else a program. */
static const struct {
	const char *what, *stack, *site;
} sites[] = {
	{ "the program asks a library, which asks the allocator",
	  "main@prog load@prog parse_xml@libxml strdup@libc", "load" },
	{ "wrappers speak for their callers", "main@prog read_all@prog xmalloc@prog", "read_all" },
	{ "so do those of any name", "main@prog open@prog bfd_zalloc@prog pool_alloc@libpool",
	  "open" },
	{ "what frees is none of them", "main@prog list_dealloc@prog malloc@libc", "list_dealloc" },
	{ "a language's library is not the program's own",
	  "main@prog fill@prog std::vector<int>::resize(unsigned_long)@prog operator_new@libstdc++",
	  "fill" },
	{ "nor are its headers, where source files stand for modules",
	  "main@a.cc fill@a.cc push_back@stl_vector.h grow@vector.tcc allocate@new_allocator.h",
	  "fill" },
	{ "a stripped program that calls a library",
	  "?@prog sqlite3_step@libsqlite sqlite3BtreeInsert@libsqlite ?@libsqlite "
	  "sqlite3Malloc@libsqlite ?@libsqlite",
	  "sqlite3BtreeInsert" },
	{ "of libraries it is the innermost", "?@prog png_read@libpng inflate@libz ?@libz",
	  "inflate" },
	{ "even without a name", "?@prog png_read@libpng ?@libz", "[libz]" },
	{ "and never what had called the program", "start_main@libc ?@prog ?@prog", "[prog]" },
	{ "the next name outward in the program",
	  "start_main@libc main@prog init@prog ?@prog ?@prog", "init" },
	{ "where it is known where functions begin, the innermost",
	  "start_main@libc ?@prog +10@prog +20@prog malloc@libc", "[prog+0x20]" },
	{ "within what has a name, too", "start_main@libc main@prog +10@prog malloc@libc",
	  "[prog+0x10]" },
	{ "but a name of what it called says more", "main@prog +10@prog opendir@libc malloc@libc",
	  "opendir" },
	{ "is told where nothing else is", "main@prog init@prog ?@prog opendir@libc", "opendir" },
	{ "a constructor of a library", "_dl_init@libld call_init@libld ?@libstdc++",
	  "[libstdc++]" },
	{ "wrappers alone", "xmalloc@prog malloc@libc", "malloc" },
	{ "where all programs start says nothing",
	  "_start@prog start_main@libc py_main@libpython list_resize@libpython", "list_resize" },
	{ "nor does a main() that is all there is of the program",
	  "_start@prog start_main@libc main@prog ruby_run@libruby rb_str_new@libruby",
	  "rb_str_new" },
	{ "but where it asks by itself", "_start@prog start_main@libc main(int,_char**)@prog",
	  "main(int,_char**)" },
};

static enum family family_of(const char *module)
{
	if (strcmp(module, "libc") == 0)
		return FAMILY_LIBC;
	return strncmp(module, "lib", 3) == 0 ? FAMILY_LIBRARY : FAMILY_PROGRAM;
}

static stack_id build_frames(struct profile *p, const char *frames)
{
	char *copy = strdup(frames), *rest = copy, *frame;
	stack_id at = { 0 };

	while ((frame = strsep(&rest, " "))) {
		char *module = strchr(frame, '@'), made_up[64];
		const char *name = frame;
		uint32_t flags = 0;
		module_id m;
		function_id f;

		*module++ = '\0';
		if (strcmp(frame, "?") == 0) {
			snprintf(made_up, sizeof(made_up), "[%s]", module);
			name = made_up;
			flags = FUNCTION_UNRESOLVED;
		} else if (*frame == '+') {
			snprintf(made_up, sizeof(made_up), "[%s+0x%s]", module, frame + 1);
			name = made_up;
			flags = FUNCTION_UNRESOLVED | FUNCTION_BEGIN;
		}
		m = build_module(p, module, "", family_of(module));
		f = build_function(p, build_cstring(p, name), m, flags, (string_id){ 0 }, 0);
		at = build_stack(p, at, build_symbol_location(p, f));
	}
	free(copy);
	return at;
}

Test(footprint, a_site_is_whose_the_allocation_is)
{
	for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++) {
		struct profile *p = profile_new();
		struct heap_origin o = { .thread = ID_NONE };
		struct footprint *m;
		track_id t;

		builder_begin(p);
		t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, 0);
		o.event = (uint16_t)build_heap_event(p, "malloc").v;
		o.stack = build_frames(p, sites[i].stack).v;
		build_moment(p, t, 5);
		build_allocation(p, t, 64, build_heap_origin(p, &o));
		builder_end(p);
		m = made_footprint(p, "", (event_id){ o.event });
		cr_assert_eq(m->n_sites, 1);
		cr_expect_str_eq(m->keys.key[m->site[0].key].label, sites[i].site, "%s: %s, not %s",
				 sites[i].what, m->keys.key[m->site[0].key].label, sites[i].site);
		cr_expect_eq(m->site[0].stack, o.stack);
		cr_expect_eq(m->site[0].sum[FOOTPRINT_LIVE], 64);
		footprint_free(m);
		profile_free(p);
	}
}

/* Three calls of one function are three sites; what maps memory is one of all, and counts where all heaps do. */
Test(footprint, calls_of_one_function_are_sites_by_line)
{
	static const struct {
		uint32_t line, bytes;
		bool mapped;
	} calls[] = { { 9, 100, false }, { 13, 50, false }, { 9, 7, false }, { 16, 4096, true } };
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	struct profile_counts counts;
	struct footprint *m;
	event_id event[2];
	struct lens l;
	module_id mod;
	function_id f;
	track_id t;

	builder_begin(p);
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, 0);
	event[0] = build_heap_event(p, "malloc");
	event[1] = build_heap_event(p, "mmap");
	mod = build_module(p, "prog", "", FAMILY_PROGRAM);
	f = build_function(p, build_cstring(p, "main"), mod, 0, (string_id){ 0 }, 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct frame at = { f.v, build_cstring(p, "/src/main.c").v, calls[i].line, 0 };

		o.event = (uint16_t)event[calls[i].mapped].v;
		o.stack = build_stack(p, (stack_id){ 0 }, build_frames_location(p, &at, 1)).v;
		build_moment(p, t, 5 + (int64_t)i);
		build_allocation(p, t, calls[i].bytes, build_heap_origin(p, &o));
	}
	builder_end(p);
	lens_init(&l, p);
	cr_expect(l.column[0].metric.all);
	cr_expect_str_eq(metric_event_name(p, l.column[0].metric), "memory");
	profile_counts_read(p, &counts);
	cr_assert_eq(footprint_new(p, &counts, &l, l.column[0].metric, NULL, &m), 0);
	cr_assert_eq(m->n_sites, 3);
	cr_expect_eq(m->total[FOOTPRINT_PEAK], 4253);
	cr_expect_eq(m->site[0].line, 16);
	cr_expect_eq(m->site[0].sum[FOOTPRINT_PEAK], 4096);
	cr_expect_eq(m->site[1].line, 9);
	cr_expect_eq(m->site[1].sum[FOOTPRINT_PEAK], 107);
	cr_expect_eq(m->site[2].line, 13);
	cr_expect_str_eq(profile_string(p, (string_id){ m->site[2].file }, NULL), "/src/main.c");
	footprint_free(m);
	m = made_footprint(p, "", event[0]);
	cr_expect_eq(m->total[FOOTPRINT_PEAK], 157);
	footprint_free(m);
	lens_done(&l);
	profile_free(p);
}

/* A program that asks for 100 bytes in the beginning, and one that asks for 10 after 50 us; gone_us: since then, -1: not. */
static struct profile *two_programs(const int64_t gone_us[2])
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x", "y");
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	for (int32_t i = 0; i < 2; i++) {
		track_id t = build_heap_track(p, build_process(p, c, i + 1), 0, 0);

		o.track = (uint16_t)t.v;
		build_moment(p, t, 1000 + (i ? 50000 : 0));
		build_allocation(p, t, i ? 10 : 100, build_heap_origin(p, &o));
		if (gone_us[i] >= 0)
			build_heap_gone(p, t, 1000 + 1000 * gone_us[i]);
	}
	builder_end(p);
	return p;
}

/* Of heaps that are being followed nothing is said of times that one of them has not reached. */
Test(footprint, ends_where_all_heaps_are_known)
{
	static const struct {
		int64_t known_us[2]; /* since the start; -1: it is followed no more */
		int64_t whole_ns;
	} cases[] = {
		{ { -1, -1 }, 50000 }, { { 30, -1 }, 30000 }, { { -1, 20 }, 20000 },
		{ { 30, 20 }, 20000 }, { { 50, 60 }, 50000 }, { { 60, 70 }, 50000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = two_programs((const int64_t[]){ -1, -1 });
		struct footprint *m;

		builder_begin(p);
		for (uint32_t k = 0; k < 2; k++)
			if (cases[i].known_us[k] >= 0)
				build_heap_known(p, (track_id){ k },
						 1000 + 1000 * cases[i].known_us[k]);
		builder_end(p);
		m = made_footprint(p, "", (event_id){ 0 });
		cr_expect_eq(m->whole_ns, cases[i].whole_ns, "%zu: %ld", i, (long)m->whole_ns);
		footprint_free(m);
		profile_free(p);
	}
}

/* What is live is of who is there, what leaked is of both. */
Test(footprint, what_a_process_held_goes_with_it)
{
	static const struct {
		int64_t gone_us[2];
		int64_t at_ns, live; /* at that time, since the start */
		int64_t sixth,
			last; /* live in tenths of the first 100 us: the sixth is from 50 us on */
	} cases[] = {
		{ { 40, -1 }, 30000, 100, 10, 10 },       { { 40, -1 }, 45000, 0, 10, 10 },
		{ { 40, -1 }, 60000, 10, 10, 10 },        { { 40, -1 }, INT64_MAX, 10, 10, 10 },
		{ { 40, 80 }, INT64_MAX, 10, 10, 10 },    { { 80, 80 }, INT64_MAX, 110, 110, 110 },
		{ { -1, 80 }, INT64_MAX, 100, 110, 100 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = two_programs(cases[i].gone_us);
		struct time_span span = { 0, 100000, 10, 0 };
		struct footprint_lines *lines;
		struct profile_counts counts;
		struct footprint *m;
		struct lens l;

		profile_counts_read(p, &counts);
		made_lens(&l, p, "");
		l.cursor_ns = cases[i].at_ns;
		cr_assert_eq(
			footprint_new(p, &counts, &l, (struct metric){ .event = { 0 } }, NULL, &m),
			0);
		cr_expect_eq(m->total[FOOTPRINT_LIVE], cases[i].live, "%zu: %ld", i,
			     (long)m->total[FOOTPRINT_LIVE]);
		cr_expect_eq(m->total[FOOTPRINT_LEAKED], 110);
		cr_expect_eq(m->total[FOOTPRINT_PEAK], 110, "each had its own");
		cr_expect_eq(m->peak.n, 2);
		cr_expect_eq(m->peak.bytes, 100, "the highest");
		cr_expect_eq(m->manner.n_gone, cases[i].gone_us[0] != cases[i].gone_us[1]);
		cr_assert_eq(footprint_lines_new(m, &span, NULL, NULL, &lines), 0);
		for (uint32_t k = 0; k < span.n; k++)
			cr_expect_leq(lines->slot[k].most, cases[i].gone_us[0] == 40 ? 100 : 110,
				      "%zu: peaks of both were not there at once", i);
		cr_expect_eq(lines->slot[2].live, 100);
		cr_expect_eq(lines->slot[5].live, cases[i].sixth, "%zu: %ld", i,
			     (long)lines->slot[5].live);
		cr_expect_eq(lines->slot[9].live, cases[i].last, "%zu: %ld", i,
			     (long)lines->slot[9].live);
		footprint_lines_free(lines);
		footprint_free(m);
		lens_done(&l);
		profile_free(p);
	}
}

/* Both sides are of all blocks; of the one before, levels are of then. */
static struct analysis *compare_moments(const struct story *s, const char *metric, int64_t then_ns)
{
	const struct comparison_choice choice = { .event = "malloc",
						  .metric = metric,
						  .level_ns = then_ns };
	struct comparison sides = { 0 };
	struct analysis *a;
	struct lens l;

	cr_assert_eq(comparison_add(&sides, SIDE_BEFORE, "", NULL), 0);
	cr_assert_eq(comparison_add(&sides, SIDE_AFTER, "", NULL), 0);
	made_lens(&l, s->p, "");
	cr_assert_eq(comparison_lens(&sides, s->p, &choice, &l, NULL), 0);
	a = made_analysis(s->p, &l);
	lens_done(&l);
	comparison_done(&sides);
	return a;
}

static void expect_change(const struct analysis *a, int stack, int64_t want)
{
	char name[16];
	double change = 0;

	snprintf(name, sizeof(name), "f%d", stack);
	for (uint32_t i = 0; i < a->table.n_rows; i++)
		if (strcmp(a->table_keys->key[a->table.key[i]].label, name) == 0)
			change = diff_change(&a->diff->row_self[i]);
	cr_assert_eq(change, (double)want, "%s", name);
}

/* What is live at a cursor, by stack. */
static void live_at(const struct story *s, int64_t cursor_ns, int64_t live[STORY_STACKS])
{
	struct profile_counts counts;
	struct footprint *m;
	struct lens l;

	profile_counts_read(s->p, &counts);
	made_lens(&l, s->p, "");
	l.cursor_ns = cursor_ns;
	cr_assert_eq(
		footprint_new(s->p, &counts, &l, (struct metric){ .event = s->event[0] }, NULL, &m),
		0);
	for (int i = 0; i < STORY_STACKS; i++) {
		uint32_t row = m->row_of_thing[s->stack[i].v];

		live[i] = row == ID_NONE ? 0 : m->site[site_at_row(m, row)].sum[FOOTPRINT_LIVE];
	}
	footprint_free(m);
	lens_done(&l);
}

/* What was there then and what is there now, function by function: footprints at both cursors, and replays. */
Test(footprint, two_moments_compare_as_two_cursors)
{
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct story *s = story_new(seed);

		for (int64_t then_ns = 1000000; then_ns < 40000000; then_ns += 3700000) {
			int64_t then[STORY_STACKS], now[STORY_STACKS];
			struct analysis *live = compare_moments(s, "live", then_ns),
					*leaked = compare_moments(s, "leaked", then_ns);

			live_at(s, then_ns, then);
			live_at(s, INT64_MAX, now);
			for (int i = 0; i < STORY_STACKS; i++) {
				int64_t want = live_before(s, INT64_MAX, i) -
					       live_before(s, then_ns, i);

				cr_assert_eq(now[i] - then[i], want);
				expect_change(live, i, want);
				expect_change(leaked, i, want);
			}
			cr_assert_eq(live->diff->normalise, NORMALISE_NONE);
			cr_assert_eq(live->diff->whole.before, (double)live_before(s, then_ns, -1));
			analysis_free(live);
			analysis_free(leaked);
		}
		story_free(s);
	}
}

/* In a range of time: what is there at its end less what was at its beginning, whoever had asked for it. */
Test(footprint, a_change_is_the_difference_of_two_replays)
{
	static const int64_t ranges[][2] = { { 4000000, 22500000 },
					     { 0, 9000000 },
					     { 20000000, 36000000 } };

	for (size_t k = 0; k < sizeof(ranges) / sizeof(*ranges); k++) {
		struct story *s = story_new(7);
		char filter[64];
		struct footprint *m;
		int64_t total = 0;

		snprintf(filter, sizeof(filter), "time:%.4f,%.4f", (double)ranges[k][0] / 1e9,
			 (double)ranges[k][1] / 1e9);
		m = made_footprint(s->p, filter, s->event[0]);
		cr_assert(m->in_range);
		for (int i = 0; i < STORY_STACKS; i++) {
			int64_t want = live_before(s, ranges[k][1], i) -
				       live_before(s, ranges[k][0], i);
			uint32_t row = m->row_of_thing[s->stack[i].v];

			total += want;
			cr_assert_eq(row == ID_NONE
					     ? 0
					     : m->site[site_at_row(m, row)].sum[FOOTPRINT_CHANGE],
				     want, "%s, stack %d", filter, i);
		}
		cr_assert_eq(m->total[FOOTPRINT_CHANGE], total);
		footprint_free(m);
		story_free(s);
	}
}

/* A block of 100 MB of which one in so many bytes was recorded; the chance that it is there is known. */
Test(footprint, says_what_it_does_not_know)
{
	static const double means[] = { 0, 1e7, 1e8, 1e9 };

	for (size_t i = 0; i < sizeof(means) / sizeof(*means); i++) {
		struct profile *p = profile_new();
		struct heap_origin o = { .thread = ID_NONE };
		double there = means[i] > 0 ? -expm1(-1e8 / means[i]) : 1;
		struct footprint *m;
		track_id t;

		builder_begin(p);
		t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), means[i],
				     UINT64_MAX);
		build_heap_manner(p, t, i == 1, i == 2 ? 1000 : 0);
		o.event = (uint16_t)build_heap_event(p, "malloc").v;
		o.stack = build_frames(p, "main@prog").v;
		build_moment(p, t, 5);
		build_allocation(p, t, 100000000, build_heap_origin(p, &o));
		builder_end(p);
		m = made_footprint(p, "", (event_id){ o.event });
		cr_expect_eq(m->manner.sampled, means[i] > 0);
		cr_expect_eq(m->manner.attached, i == 1);
		cr_expect_eq(m->manner.culled_ns, i == 2 ? 1000 : 0);
		cr_expect_float_eq(m->error, 1.96 * sqrt(1 - there), 0.02, "%f, not %f", m->error,
				   1.96 * sqrt(1 - there));
		footprint_free(m);
		profile_free(p);
	}
}

/* Lines need not know where the cursor is: of what was asked for, sums come back as they were. */
Test(footprint, moves_to_the_peak_and_back)
{
	for (unsigned seed = 1; seed < 6; seed++) {
		struct story *s = story_new(seed);
		struct footprint *m = made_footprint(s->p, "", s->event[0]);
		int64_t total = m->total[FOOTPRINT_LIVE];
		uint32_t n_elsewhere = 0;

		footprint_move_to_peak(m);
		footprint_sort(m, FOOTPRINT_LIVE);
		for (uint32_t i = 0; i < m->n_sites; i++)
			n_elsewhere += m->site[i].sum[FOOTPRINT_LIVE] !=
				       m->site[i].sum[FOOTPRINT_LEAKED];
		cr_expect_gt(n_elsewhere, 0);
		footprint_move_back(m);
		cr_expect_eq(m->lens.cursor_ns, INT64_MAX);
		cr_expect_eq(m->total[FOOTPRINT_LIVE], total);
		for (uint32_t i = 0; i < m->n_sites; i++)
			cr_expect_eq(m->site[i].sum[FOOTPRINT_LIVE],
				     m->site[i].sum[FOOTPRINT_LEAKED]);
		footprint_free(m);
		story_free(s);
	}
}

/* A share of calls is not the number of calls: one of one is more than ten of a hundred. */
Test(footprint, sorts_by_shares_of_calls_and_either_way)
{
	struct story *s = story_new(9);
	struct footprint *m = made_footprint(s->p, "", s->event[0]);

	for (int reverse = 0; reverse < 2; reverse++) {
		struct footprint_order order = { FOOTPRINT_TEMPORARY, true, reverse };

		for (uint32_t i = 0; i < m->n_sites; i++) {
			m->site[i].sum[FOOTPRINT_CALLS] = i % 2 ? 100 : 1;
			m->site[i].sum[FOOTPRINT_TEMPORARY] = i % 2 ? 10 + i : i == 0;
		}
		footprint_sort_by(m, &order);
		for (uint32_t i = 1; i < m->n_sites; i++) {
			const int64_t *a = m->site[i - 1].sum, *b = m->site[i].sum;
			int64_t x = a[FOOTPRINT_TEMPORARY] * b[FOOTPRINT_CALLS];
			int64_t y = b[FOOTPRINT_TEMPORARY] * a[FOOTPRINT_CALLS];

			cr_expect(reverse ? x <= y : x >= y, "row %u", i);
		}
	}
	footprint_free(m);
	story_free(s);
}
