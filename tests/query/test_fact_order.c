/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of a capture and the thread that names addresses state facts in any order: what is shown is one. */
#include "config.h"

#include "profile/builder.h"
#include "query/core/fact_order.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof(*(array)))

/* A letter states a fact: the reader's are small, those of names large. In each order that may happen. */
static const struct {
	char letter, capture;
	const char *section, *name;
	enum fact_kind kind;
} facts[] = {
	{ 'a', 0, "file", "size", FACT_PLAIN },       { 'b', 0, "losses", "lost", FACT_LOSS },
	{ 'c', 0, "stacks", "cut", FACT_MISSING },    { 'd', 0, "file", "host", FACT_PLAIN },
	{ 'e', 1, "losses", "lost", FACT_LOSS },      { 'N', 0, "symbols", "names", FACT_PLAIN },
	{ 'P', 0, "symbols", "libz", FACT_MISSING },  { 'O', 0, "symbols", "libc", FACT_MISSING },
	{ 'Q', 1, "symbols", "names", FACT_MISSING },
};

static const char *const stated[] = { "abcdeNOPQ", "NOPabcdeQ", "aNPbcOdQe", "aNPbcOQde" };

static void state(struct profile *p, char letter)
{
	for (size_t i = 0; i < N(facts); i++)
		if (facts[i].letter == letter)
			build_fact(p, (capture_id){ (uint32_t)facts[i].capture }, facts[i].section,
				   facts[i].name, facts[i].kind, "%c", letter);
}

Test(fact_order, whoever_comes_first)
{
	for (size_t k = 0; k < N(stated); k++) {
		struct profile *p = profile_new();
		struct profile_counts counts;
		uint32_t *order;
		char shown[N(facts) + 1] = "";

		builder_begin(p);
		build_capture(p, "a", "made");
		build_capture(p, "b", "made");
		for (const char *s = stated[k]; *s; s++)
			state(p, *s);
		builder_end(p);
		profile_counts_read(p, &counts);
		cr_assert_eq(counts.n_facts, N(facts));
		order = fact_order(p, &counts);
		for (uint32_t i = 0; i < counts.n_facts; i++)
			strcat(shown, profile_string(p, profile_fact(p, order[i]).text, NULL));
		cr_expect_str_eq(shown, "adbcNOPeQ", "%s: %s", stated[k], shown);
		free(order);
		profile_free(p);
	}
}

/* One recording that was written to two files: each has facts of its own, also of one name, and all else is of both. */
Test(fact_order, parts_of_a_capture)
{
	struct profile *p = profile_new();
	struct profile_counts counts;
	process_id first, second;
	uint32_t *order;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x/data", "perf.data");
	first = build_process(p, c, 7);
	build_fact(p, c, "file", "size", FACT_PLAIN, "1");
	build_part(p, c, "x/data.heap", "heap");
	second = build_process(p, c, 7);
	build_fact(p, c, "file", "size", FACT_PLAIN, "2");
	build_fact(p, c, "file", "size", FACT_PLAIN, "3");
	builder_end(p);
	profile_counts_read(p, &counts);
	cr_expect_eq(first.v, second.v);
	cr_expect_eq(counts.n_captures, 1);
	cr_expect_eq(counts.n_parts, 2);
	cr_assert_eq(counts.n_facts, 2);
	order = fact_order(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++) {
		struct fact f = profile_fact(p, order[i]);

		cr_expect_eq(f.part.v, i);
		cr_expect_str_eq(profile_string(p, f.text, NULL), i ? "3" : "1");
		cr_expect_eq(profile_part(p, f.part)->capture.v, c.v);
	}
	free(order);
	profile_free(p);
}
