/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which sources stay open: this program's own symbols, as modules of equal size. */
#include "config.h"

#include "dso.h"
#include "find.h"
#include "open_sources.h"
#include "source.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define MODULES 8u

static const struct resolver_options options = { .same_machine = true };

static struct source *open_own(void)
{
	const struct finder f = { .options = &options };
	const struct dso d = { .path = "/proc/self/exe", .kind = DSO_FILE };
	struct kernel *k = kernel_new();
	struct source *s = source_open(&f, &d, k, NULL);

	kernel_free(k);
	return s;
}

static uint64_t own_bytes(void)
{
	struct source *s = open_own();
	uint64_t bytes = source_bytes(s);

	source_free(s);
	cr_assert_gt(bytes, 0);
	return bytes;
}

static void use(struct open_sources *o, uint32_t module)
{
	if (!open_sources_find(o, module))
		open_sources_add(o, module, open_own());
	open_sources_used(o, module);
}

/* The modules that are open, "1 4 ". */
static const char *open_now(const struct open_sources *o)
{
	static char text[4 * MODULES];
	char *at = text;

	*at = '\0';
	for (uint32_t m = 0; m < MODULES; m++)
		if (open_sources_find(o, m))
			at += sprintf(at, "%u ", m);
	return text;
}

/* Room for two. */
Test(open_sources, those_used_last_stay)
{
	struct open_sources *o = open_sources_new(2 * own_bytes());
	const struct source *first;

	use(o, 3);
	first = open_sources_find(o, 3);
	use(o, 1);
	cr_expect_str_eq(open_now(o), "1 3 ");
	use(o, 3);
	cr_expect_eq(open_sources_find(o, 3), first, "opened again");
	use(o, 5);
	cr_expect_str_eq(open_now(o), "3 5 ");
	open_sources_close(o, 3);
	open_sources_close(o, 7);
	use(o, 1);
	cr_expect_str_eq(open_now(o), "1 5 ", "what was closed still takes room");
	open_sources_free(o);
}

/* All others would have to go for what is too large alone. */
Test(open_sources, too_large_is_closed_at_once)
{
	struct open_sources *o = open_sources_new(own_bytes() - 1);

	use(o, 2);
	cr_expect_str_eq(open_now(o), "");
	use(o, 2);
	cr_expect_str_eq(open_now(o), "");
	open_sources_free(o);
}

/* Unwind tables are read when a function without a symbol is asked for. */
Test(open_sources, what_was_read_since_counts)
{
	struct open_sources *o = open_sources_new(2 * own_bytes());
	uint64_t begin;

	use(o, 2);
	use(o, 4);
	source_begin(open_sources_find(o, 4), 0, &begin);
	use(o, 4);
	cr_expect_str_eq(open_now(o), "4 ");
	open_sources_free(o);
}
