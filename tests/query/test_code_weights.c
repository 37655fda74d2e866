/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"
#include "query/code_weights.h"
#include "query/core/filter.h"
#include "tests/support/made_profile.h"

/* A program of places in code: an address, and the frames that it stands for. */
struct place {
	uint64_t address;
	struct {
		const char *function;
		uint32_t line;
	} frame[3];
};

/* main calls work at 0x11 and 0x12, work calls itself at 0x21; step is inlined into work at 0x22 and 0x23. */
static const struct place places[] = {
	{ 0x11, { { "main", 10 } } },
	{ 0x12, { { "main", 11 } } },
	{ 0x21, { { "work", 20 } } },
	{ 0x22, { { "work", 21 }, { "step", 5 } } },
	{ 0x23, { { "work", 21 }, { "step", 6 } } },
	{ 0x24, { { "work", 22 } } },
};

/* Stacks as numbers of places, from the outermost; ends at -1. */
static const struct {
	int at[5];
	int64_t weight;
} samples[] = {
	{ { 0, 3, -1 }, 4 },       /* main:10 > work:21 > step:5 */
	{ { 0, 4, -1 }, 2 },       /* main:10 > work:21 > step:6 */
	{ { 1, 5, -1 }, 1 },       /* main:11 > work:22 */
	{ { 0, 2, 2, 3, -1 }, 8 }, /* recursion: work:20 twice above work:21 */
	{ { 1, -1 }, 16 },         /* main:11 */
};

static struct profile *make(void)
{
	struct profile *p = profile_new();
	location_id at[sizeof(places) / sizeof(places[0])];
	module_id m;
	event_id e;
	string_id file;

	builder_begin(p);
	m = build_module(p, "/bin/prog", "", FAMILY_PROGRAM);
	e = build_event(p, "cycles", UNIT_COUNT, true);
	file = build_cstring(p, "/src/prog.c");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct frame run[3];
		uint32_t n = 0;

		for (; n < 3 && places[i].frame[n].function; n++) {
			function_id f = build_function(
				p, build_cstring(p, places[i].frame[n].function), m, 0, file, 1);

			run[n] = (struct frame){ .function = f.v,
						 .file = file.v,
						 .line = places[i].frame[n].line };
		}
		at[i] = build_location(p, m, places[i].address);
		build_location_function(p, at[i], (function_id){ run[0].function });
		build_location_inlines(p, at[i], run, n);
	}
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct sample s = { .thread = { ID_NONE },
				    .cpu = CPU_NONE,
				    .event = e,
				    .weight = samples[i].weight,
				    .time_ns = TIME_NONE };

		for (size_t k = 0; samples[i].at[k] >= 0; k++)
			s.stack = build_stack(p, s.stack, at[samples[i].at[k]]);
		build_sample(p, &s);
	}
	builder_end(p);
	return p;
}

static uint32_t key_id(const struct analysis *a, const char *label)
{
	for (uint32_t i = 0; i < a->keys.n; i++)
		if (strcmp(a->keys.key[i].label, label) == 0)
			return a->keys.key[i].id;
	cr_assert_fail("no %s", label);
	return ID_NONE;
}

/* "self/total, A21 self/total …, L20 self/total …": all that is known of a function. */
static char *text_of(const struct analysis *a, const char *function, uint64_t path)
{
	struct code_wish wish = { key_id(a, function), path };
	struct code_weights w;
	char *out = NULL;
	size_t n;
	FILE *to = open_memstream(&out, &n);

	cr_assert_eq(code_weights_init(a, &wish, NULL, &w), 0);
	fprintf(to, "%ld/%ld code %ld", (long)w.self[0], (long)w.total[0], (long)w.code[0]);
	for (uint32_t i = 0; i < w.n_addresses; i++)
		fprintf(to, " A%lx %ld/%ld", (long)w.address[i].address, (long)w.address_self[i],
			(long)w.address_total[i]);
	for (uint32_t i = 0; i < w.n_lines; i++)
		fprintf(to, " L%u %ld/%ld", w.line[i].line, (long)w.line_self[i],
			(long)w.line_total[i]);
	code_weights_done(&w);
	fclose(to);
	return out;
}

static const struct {
	const char *filter, *function, *is;
	bool inlines;
} cases[] = {
	{ "", "main", "16/31 code 16 A11 0/14 A12 16/17 L10 0/14 L11 16/17", true },
	/* 0x21 twice in one stack counts once; what step spends is work's code, not its own line's self. */
	{ "", "work", "1/15 code 15 A21 0/8 A22 12/12 A23 2/2 A24 1/1 L20 0/8 L21 0/14 L22 1/1",
	  true },
	{ "", "step", "14/14 code 14 A22 12/12 A23 2/2 L5 12/12 L6 2/2", true },
	{ "", "work", "15/15 code 15 A21 0/8 A22 12/12 A23 2/2 A24 1/1 L20 0/8 L21 14/14 L22 1/1",
	  false },
	{ "fn:step", "main", "0/14 code 0 A11 0/14 L10 0/14", true },
	{ "!fn:step", "work", "1/1 code 1 A24 1/1 L22 1/1", true },
	{ "fn:nobody", "work", "0/0 code 0", true },
	/* Transforms: frames that they drop, and what they give to others. */
	{ "focus-path:main;work;work", "work", "0/8 code 8 A21 0/8 A22 8/8 L20 0/8 L21 0/8", true },
	{ "focus-path:main;work;step", "work", "0/0 code 0", true },
	{ "focus:^step$", "work", "0/0 code 0", true },
	{ "focus:^step$", "step", "14/14 code 14 A22 12/12 A23 2/2 L5 12/12 L6 2/2", true },
	{ "merge:^work$", "work", "0/0 code 0", true },
	{ "merge:^step$", "work",
	  "15/15 code 15 A21 0/8 A22 12/12 A23 2/2 A24 1/1 L20 0/8 L21 14/14 L22 1/1", true },
	{ "merge:^(step|work)$", "main", "31/31 code 31 A11 14/14 A12 17/17 L10 14/14 L11 17/17",
	  true },
	{ "collapse:^main$", "work", "0/0 code 0", true },
	{ "collapse:^main$", "main", "31/31 code 31 A11 14/14 A12 17/17 L10 14/14 L11 17/17",
	  true },
};

Test(code_weights, of_addresses_and_lines)
{
	struct profile *p = make();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis *a;
		struct lens lens;
		char *text;

		made_lens(&lens, p, cases[i].filter);
		lens.inlines = cases[i].inlines;
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		text = text_of(a, cases[i].function, 0);
		cr_expect_str_eq(text, cases[i].is, "case %zu: %s", i, text);
		free(text);
		analysis_free(a);
		lens_done(&lens);
	}
	profile_free(p);
}

static uint64_t path_of(const struct analysis *a, const char *const *names)
{
	uint64_t path = 0;

	for (; *names; names++)
		path = calltree_path(path, key_id(a, *names));
	return path;
}

/* Only what is below a node counts; the node may be inlined code, one of several of a recursion, or one of transforms. */
static const struct {
	const char *node[5];
	const char *function, *is;
	const char *filter; /* NULL: none */
} scopes[] = {
	{ { "main" },
	  "work",
	  "1/15 code 15 A21 0/8 A22 12/12 A23 2/2 A24 1/1 L20 0/8 L21 0/14 L22 1/1",
	  NULL },
	{ { "main", "work", "work" }, "work", "0/8 code 8 A21 0/8 A22 8/8 L20 0/8 L21 0/8", NULL },
	{ { "main", "work", "work", "work" }, "work", "0/8 code 8 A22 8/8 L21 0/8", NULL },
	{ { "main", "work", "step" }, "step", "6/6 code 6 A22 4/4 A23 2/2 L5 4/4 L6 2/2", NULL },
	/* Above the node, in the same instruction, is not below it. */
	{ { "main", "work", "step" }, "work", "0/0 code 0", NULL },
	{ { "work" },
	  "work",
	  "1/15 code 15 A21 0/8 A22 12/12 A23 2/2 A24 1/1 L20 0/8 L21 0/14 L22 1/1",
	  "focus:^work$" },
	{ { "work", "work" },
	  "work",
	  "0/8 code 8 A21 0/8 A22 8/8 L20 0/8 L21 0/8",
	  "focus:^work$" },
	{ { "work", "step" }, "step", "6/6 code 6 A22 4/4 A23 2/2 L5 4/4 L6 2/2", "merge:^main$" },
	{ { "work", "step" }, "work", "0/0 code 0", "merge:^main$" },
	{ { "main", "work", "work" },
	  "work",
	  "8/8 code 8 A21 0/8 A22 8/8 L20 0/8 L21 8/8",
	  "merge:^step$" },
	{ { "main", "work", "step" },
	  "step",
	  "6/6 code 6 A22 4/4 A23 2/2 L5 4/4 L6 2/2",
	  "merge:^nobody$" },
};

Test(code_weights, below_a_node)
{
	struct profile *p = make();

	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		struct analysis *a;
		struct lens lens;
		char *text;

		made_lens(&lens, p, scopes[i].filter ? scopes[i].filter : "");
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		text = text_of(a, scopes[i].function, path_of(a, scopes[i].node));
		cr_expect_str_eq(text, scopes[i].is, "scope %zu: %s", i, text);
		free(text);
		analysis_free(a);
		lens_done(&lens);
	}
	profile_free(p);
}

/* At each node of its function, what the tree has: a path of the transformed tree is one of the scope. */
static void agree_at_nodes(const struct profile *p, const char *filter)
{
	struct analysis *a;
	struct lens lens;
	const struct calltree *t;

	made_lens(&lens, p, filter);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	t = a->tree;
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		struct code_wish wish = { a->keys.key[t->key[i]].id, t->path[i] };
		struct code_weights w;

		if (code_key(&a->keys, wish.key_id) == KEY_NONE)
			continue;
		cr_assert_eq(code_weights_init(a, &wish, NULL, &w), 0);
		cr_expect(w.scoped);
		cr_expect_eq(w.total[0], t->total[(size_t)i * t->n_columns],
			     "%s: %s at %u: %ld, %ld", filter, a->keys.key[t->key[i]].label, i,
			     (long)w.total[0], (long)t->total[(size_t)i * t->n_columns]);
		code_weights_done(&w);
	}
	analysis_free(a);
	lens_done(&lens);
}

/* The totals of lines and addresses are those of the other views, on any profile. */
static void agree(const struct profile *p, const char *filter)
{
	struct analysis *a;
	struct lens lens;

	made_lens(&lens, p, filter);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct code_wish wish = { a->keys.key[a->table.key[i]].id, 0 };
		struct code_weights w;

		cr_assert_eq(code_weights_init(a, &wish, NULL, &w), 0);
		cr_expect_eq(w.self[0], a->table.self[(size_t)i * a->table.n_columns], "%s: %s",
			     filter, a->keys.key[a->table.key[i]].label);
		cr_expect_eq(w.total[0], a->table.total[(size_t)i * a->table.n_columns], "%s: %s",
			     filter, a->keys.key[a->table.key[i]].label);
		/* All of it is at an address, what was inlined there, too; but for a module that has become a frame. */
		if (!strstr(filter, "collapse-module"))
			cr_expect_geq(w.code[0], w.self[0], "%s", filter);
		for (uint32_t n = 0; n < w.n_addresses; n++)
			cr_expect(w.address_self[n] <= w.address_total[n] &&
					  w.address_total[n] <= w.total[0],
				  "%s", filter);
		code_weights_done(&w);
	}
	analysis_free(a);
	lens_done(&lens);
}

Test(code_weights, agree_with_the_table)
{
	static const char *const filters[] = {
		"",
		"focus:^a$",
		"focus:^[bc]$",
		"merge:^a$",
		"merge:^[ac]$|^g$",
		"collapse:^c$",
		"collapse:^[bd]$ focus:^a$",
		"recursion:direct",
		"recursion:all",
		"recursion:all merge:^d$",
		"merge:x",
		"focus-module:^x$",
		"collapse-module:^x$",
		"merge:^g$ recursion:all !leaf:^a$",
	};
	struct profile *p = made_profile_by_lot(7, 3000);

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		agree(p, filters[i]);
	profile_free(p);
	p = made_profile_by_lot(3, 60);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		agree_at_nodes(p, filters[i]);
	profile_free(p);
	p = make();
	agree(p, "focus-path:main;work");
	agree(p, "focus-path:main;work;work");
	agree(p, "merge-path:main;work");
	agree(p, "recursion:all merge:^main$");
	agree(p, "collapse:^step$");
	profile_free(p);
}

Test(code_weights, of_nothing)
{
	struct profile *p = make();
	struct code_wish wish = { .key_id = 12345 };
	struct code_weights w;
	struct analysis *a;
	struct lens lens;

	made_lens(&lens, p, "");
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_expect_eq(code_weights_init(a, &wish, NULL, &w), -ENOENT);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

/* Rows by line: of the call where a frame calls, and of the function's name where no line is known. */
Test(code_weights, lines_as_a_grouping)
{
	static const struct {
		const char *label;
		int64_t self, total;
	} rows[] = {
		{ "prog.c:10", 0, 14 }, { "prog.c:11", 16, 17 }, { "prog.c:20", 0, 8 },
		{ "prog.c:21", 0, 14 }, { "prog.c:22", 1, 1 },   { "prog.c:5", 12, 12 },
		{ "prog.c:6", 2, 2 },
	};
	struct profile *p = make();
	struct analysis *a;
	struct lens lens;

	made_lens(&lens, p, "");
	lens.grouping = GROUP_LINE;
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_expect_eq(a->table.n_rows, sizeof(rows) / sizeof(rows[0]));
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *k = &a->keys.key[a->table.key[i]];
		size_t n = 0;

		while (n < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[n].label, k->label) != 0)
			n++;
		cr_assert_lt(n, sizeof(rows) / sizeof(rows[0]), "%s", k->label);
		cr_expect_eq(a->table.self[i], rows[n].self, "%s", k->label);
		cr_expect_eq(a->table.total[i], rows[n].total, "%s", k->label);
		cr_expect(k->id & KEY_OF_LINE);
	}
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

/* Kept frames keep their lines under transforms; a collapsed one has none, and a folded one that of its innermost frame. */
static const struct {
	const char *filter, *rows;
	bool inlines;
} transformed[] = {
	{ "focus:^work$",
	  "prog.c:20 0/8, prog.c:21 0/14, prog.c:22 1/1, prog.c:5 12/12, prog.c:6 2/2, ", true },
	{ "focus:^work$", "prog.c:20 0/8, prog.c:21 14/14, prog.c:22 1/1, ", false },
	{ "focus-path:main;work",
	  "prog.c:20 0/8, prog.c:21 0/14, prog.c:22 1/1, prog.c:5 12/12, prog.c:6 2/2, ", true },
	{ "merge:^step$",
	  "prog.c:10 0/14, prog.c:11 16/17, prog.c:20 0/8, prog.c:21 14/14, prog.c:22 1/1, ",
	  true },
	{ "merge-path:main;work",
	  "prog.c:10 0/14, prog.c:11 17/17, prog.c:20 0/8, prog.c:21 0/8, prog.c:5 12/12, prog.c:6 2/2, ",
	  true },
	{ "collapse:^work$", "prog.c:10 0/14, prog.c:11 16/17, work 15/15, ", true },
	{ "collapse:^step$ merge:^main$",
	  "prog.c:20 0/8, prog.c:21 0/14, prog.c:22 1/1, step 14/14, ", true },
	{ "recursion:all",
	  "prog.c:10 0/14, prog.c:11 16/17, prog.c:21 0/14, prog.c:22 1/1, prog.c:5 12/12, prog.c:6 2/2, ",
	  true },
	{ "recursion:direct",
	  "prog.c:10 0/14, prog.c:11 16/17, prog.c:21 0/14, prog.c:22 1/1, prog.c:5 12/12, prog.c:6 2/2, ",
	  true },
	{ "focus-module:prog focus:^step$", "prog.c:5 12/12, prog.c:6 2/2, ", true },
	{ "collapse-module:prog", "[prog] 31/31, ", true },
};

/* "label self/total, " of all rows, by label. */
static char *rows_text(const struct analysis *a)
{
	char *out = NULL;
	size_t size;
	FILE *to = open_memstream(&out, &size);

	for (uint32_t rank = 0; rank < a->keys.n; rank++)
		for (uint32_t i = 0; i < a->table.n_rows; i++)
			if (a->keys.rank[a->table.key[i]] == rank)
				fprintf(to, "%s %ld/%ld, ", a->keys.key[a->table.key[i]].label,
					(long)a->table.self[i], (long)a->table.total[i]);
	fclose(to);
	return out;
}

Test(code_weights, lines_under_transforms)
{
	struct profile *p = make();

	for (size_t i = 0; i < sizeof(transformed) / sizeof(transformed[0]); i++) {
		struct analysis *a;
		struct lens lens;
		char *text;

		made_lens(&lens, p, transformed[i].filter);
		lens.grouping = GROUP_LINE;
		lens.inlines = transformed[i].inlines;
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		text = rows_text(a);
		cr_expect_str_eq(text, transformed[i].rows, "%s: %s", transformed[i].filter, text);
		free(text);
		analysis_free(a);
		lens_done(&lens);
	}
	profile_free(p);
}

/* 0x21 and 0x22 are a set: the stack that has both, and one of them twice, pays once. */
Test(code_weights, sets_count_a_stack_once)
{
	struct profile *p = make();
	struct code_wish wish = { .path = 0 };
	struct code_weights w;
	struct analysis *a;
	struct lens lens;
	uint32_t first[5], set[4], n = 0;
	int64_t total[2] = { 0 };

	made_lens(&lens, p, "");
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	wish.key_id = key_id(a, "work");
	cr_assert_eq(code_weights_init(a, &wish, NULL, &w), 0);
	cr_assert_eq(w.n_addresses, 4);
	for (uint32_t i = 0; i < w.n_addresses; i++) {
		first[i] = n;
		if (w.address[i].address == 0x21 || w.address[i].address == 0x22)
			set[n++] = 0;
		else if (w.address[i].address == 0x23)
			set[n++] = 1;
	}
	first[w.n_addresses] = n;
	code_weights_of_sets(&w, first, set, 2, total);
	cr_expect_eq(total[0], 4 + 8);
	cr_expect_eq(total[1], 2);
	code_weights_done(&w);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

static origin_id allocator_below(struct profile *p, struct heap_origin *o, const char *const *names)
{
	o->stack = 0;
	for (; *names; names++) {
		bool allocates = strcmp(*names, "malloc") == 0;
		module_id m = allocates ? build_module(p, "/lib/libc.so.6", "", FAMILY_LIBC)
					: build_module(p, "/bin/prog", "", FAMILY_PROGRAM);
		function_id f = build_function(p, build_cstring(p, *names), m, 0, (string_id){ 0 },
					       0);

		o->stack = build_stack(p, (stack_id){ o->stack }, build_symbol_location(p, f)).v;
	}
	return build_heap_origin(p, o);
}

/* All self of a heap is malloc's; main has most of total. */
static struct profile *make_heap(void)
{
	static const char *const keep[] = { "main", "keep", "xmalloc", "malloc", NULL };
	static const char *const drop[] = { "main", "drop", "malloc", NULL };
	struct profile *p = profile_new();
	struct heap_origin o = { 0 };
	capture_id c;
	process_id process;
	track_id t;

	builder_begin(p);
	c = build_capture(p, "x", "heap trace");
	process = build_process(p, c, 1);
	t = build_heap_track(p, process, 0, 0);
	o.thread = build_thread(p, process, 1, build_cstring(p, "prog")).v;
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	o.track = (uint16_t)t.v;
	build_moment(p, t, 1000);
	build_allocation(p, t, 300, allocator_below(p, &o, keep));
	for (int i = 0; i < 20; i++) {
		build_moment(p, t, 2000 + i);
		build_release(p, build_allocation(p, t, 100, allocator_below(p, &o, drop)), t, true,
			      (origin_id){ ID_NONE });
	}
	cr_assert_eq(builder_end(p), 0);
	return p;
}

static const struct {
	enum measure measure;
	const char *is;
} heap_cases[] = {
	{ MEASURE_LIVE, "keep" },
	{ MEASURE_WEIGHT, "drop" },
	{ MEASURE_TEMPORARY, "drop" },
};

Test(code_weights, hottest_of_a_heap_is_its_largest_site)
{
	struct profile *p = make_heap();

	for (size_t i = 0; i < sizeof(heap_cases) / sizeof(heap_cases[0]); i++) {
		struct analysis *a;
		struct lens lens;
		uint32_t key;

		made_lens(&lens, p, "");
		lens.column[0].metric.measure = heap_cases[i].measure;
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		key = code_key(&a->keys, code_hottest(a));
		cr_assert_neq(key, KEY_NONE);
		cr_expect_str_eq(a->keys.key[key].label, heap_cases[i].is, "case %zu: %s", i,
				 a->keys.key[key].label);
		analysis_free(a);
		lens_done(&lens);
	}
	profile_free(p);
}
