/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of heaps by whatever they are grouped by. */
#include "config.h"

#include "query/heap/footprint_rows.h"

#include "query/heap/footprint.h"
#include "query/heap/heap_table.h"
#include "tests/support/made_profile.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* The sum of a column. */
static int64_t sum(const struct heap_table *t, int column)
{
	int64_t all = 0;

	for (size_t i = 0; i < t->rows.n; i++)
		all += t->rows.at[i].cell[column];
	return all;
}

static struct heap_table *allocators(const struct footprint *f)
{
	struct heap_table *t;

	cr_assert_eq(heap_table_new(f, HEAP_ALLOCATORS, NULL, NULL, &t), 0);
	return t;
}

static struct footprint *grouped(const struct profile *p, enum grouping g, enum heap_rows rows)
{
	struct profile_counts counts;
	struct footprint *f;
	struct lens l;

	profile_counts_read(p, &counts);
	made_lens(&l, p, "");
	l.grouping = g;
	l.heap_rows = rows;
	cr_assert_eq(footprint_new(p, &counts, &l, lens_usual_metric(p, NULL), NULL, &f), 0);
	lens_done(&l);
	return f;
}

/* Whatever rows are of, they are of all blocks, each of which is in one row. */
Test(footprint_rows, rows_of_any_group_add_up)
{
	static const struct {
		enum grouping grouping;
		enum heap_rows rows;
		const char *name;
		size_t n; /* rows; 0: of sizes */
	} cases[] = {
		{ GROUP_FUNCTION, HEAP_ROWS_GROUPS, "site", STORY_STACKS },
		{ GROUP_FUNCTION, HEAP_ROWS_FUNCTIONS, "function", STORY_STACKS },
		{ GROUP_MODULE, HEAP_ROWS_GROUPS, "module", 1 },
		{ GROUP_FILE, HEAP_ROWS_GROUPS, "file", 1 },
		{ GROUP_THREAD, HEAP_ROWS_GROUPS, "thread", 2 },
		{ GROUP_EVENT, HEAP_ROWS_GROUPS, "event", 2 },
		{ GROUP_FUNCTION, HEAP_ROWS_STACKS, "stack", STORY_STACKS },
		{ GROUP_FUNCTION, HEAP_ROWS_SIZES, "site", 0 },
	};
	static const int sums[] = { ALLOCATORS_CALLS, ALLOCATORS_BYTES,     ALLOCATORS_LEAKED,
				    ALLOCATORS_PEAK,  ALLOCATORS_TEMPORARY, ALLOCATORS_FREED,
				    ALLOCATORS_LIVE };
	struct story *s = story_new(3);
	struct footprint *by_site = grouped(s->p, GROUP_FUNCTION, HEAP_ROWS_GROUPS);
	struct heap_table *all = allocators(by_site);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct footprint *f = grouped(s->p, cases[i].grouping, cases[i].rows);
		struct heap_table *t = allocators(f);
		int64_t in_rows[FOOTPRINT_N_COLUMNS] = { 0 };

		cr_expect_str_eq(footprint_rows_name(f), cases[i].name);
		cr_expect(cases[i].n == 0 || t->rows.n == cases[i].n, "%s: %zu", cases[i].name,
			  t->rows.n);
		for (size_t k = 0; k < sizeof(sums) / sizeof(*sums); k++)
			cr_expect_eq(sum(t, sums[k]), sum(all, sums[k]), "%s: column %d",
				     cases[i].name, sums[k]);
		for (uint32_t k = 0; k < f->n_sites; k++)
			for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
				in_rows[c] += f->site[k].sum[c];
		for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++)
			cr_expect_eq(in_rows[c], f->total[c], "%s: column %d", cases[i].name, c);
		heap_table_free(t);
		footprint_free(f);
	}
	heap_table_free(all);
	footprint_free(by_site);
	story_free(s);
}

/* The largest ones, or all: a list that is cut says of how many it is. */
Test(footprint_rows, as_many_blocks_as_are_asked_for)
{
	static const uint32_t most[] = { 1, 7, 100, UINT32_MAX };
	struct story *s = story_new(4);
	struct footprint *f = grouped(s->p, GROUP_FUNCTION, HEAP_ROWS_GROUPS);
	int64_t largest = 0;

	for (uint32_t i = 0; i < s->n_blocks; i++)
		largest = (int64_t)s->block[i].size > largest ? (int64_t)s->block[i].size : largest;
	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
		const struct heap_table_wish wish = { .most_blocks = most[i] };
		bool cut = most[i] < s->n_blocks;
		struct heap_table *t;

		cr_assert_eq(heap_table_new_as(f, HEAP_BLOCKS, &wish, NULL, &t), 0);
		cr_expect_eq(t->rows.n, cut ? most[i] : s->n_blocks);
		cr_expect_eq(t->rows.at[0].cell[0], largest);
		for (size_t k = 1; k < t->rows.n; k++)
			cr_expect_leq(t->rows.at[k].cell[0], t->rows.at[k - 1].cell[0]);
		cr_expect_eq(t->notes.n, cut);
		heap_table_free(t);
	}
	footprint_free(f);
	story_free(s);
}
