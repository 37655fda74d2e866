/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which sources stay open: this program's own symbols, as modules of equal size. */
#include "config.h"

#include "symbols/search/debug_file_search.h"
#include "symbols/space/dso.h"
#include "symbols/symbol_cache.h"
#include "symbols/symbol_source.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define MODULES 8u

static const struct resolver_options options = { .same_machine = true };

static struct symbol_source *open_own(void)
{
	const struct debug_file_search f = { .options = &options };
	const struct dso d = { .path = "/proc/self/exe", .kind = DSO_FILE };
	struct kernel *k = kernel_new();
	struct symbol_source *s = symbol_source_open(&f, &d, k, NULL);

	kernel_free(k);
	return s;
}

static uint64_t own_bytes(void)
{
	struct symbol_source *s = open_own();
	uint64_t bytes = symbol_source_bytes(s);

	symbol_source_free(s);
	cr_assert_gt(bytes, 0);
	return bytes;
}

static void use(struct symbol_cache *o, uint32_t module)
{
	if (!symbol_cache_find(o, module))
		symbol_cache_add(o, module, open_own());
	symbol_cache_used(o, module);
}

/* The modules that are open, "1 4 ". */
static const char *open_now(const struct symbol_cache *o)
{
	static char text[4 * MODULES];
	char *at = text;

	*at = '\0';
	for (uint32_t m = 0; m < MODULES; m++)
		if (symbol_cache_find(o, m))
			at += sprintf(at, "%u ", m);
	return text;
}

/* Room for two. */
Test(open_sources, those_used_last_stay)
{
	struct symbol_cache *o = symbol_cache_new(2 * own_bytes());
	const struct symbol_source *first;

	use(o, 3);
	first = symbol_cache_find(o, 3);
	use(o, 1);
	cr_expect_str_eq(open_now(o), "1 3 ");
	use(o, 3);
	cr_expect_eq(symbol_cache_find(o, 3), first, "opened again");
	use(o, 5);
	cr_expect_str_eq(open_now(o), "3 5 ");
	symbol_cache_close(o, 3);
	symbol_cache_close(o, 7);
	use(o, 1);
	cr_expect_str_eq(open_now(o), "1 5 ", "what was closed still takes room");
	symbol_cache_free(o);
}

/* All others would have to go for what is too large alone. */
Test(open_sources, too_large_is_closed_at_once)
{
	struct symbol_cache *o = symbol_cache_new(own_bytes() - 1);

	use(o, 2);
	cr_expect_str_eq(open_now(o), "");
	use(o, 2);
	cr_expect_str_eq(open_now(o), "");
	symbol_cache_free(o);
}

/* Unwind tables are read when a function without a symbol is asked for. */
Test(open_sources, what_was_read_since_counts)
{
	struct symbol_cache *o = symbol_cache_new(2 * own_bytes());
	uint64_t begin;

	use(o, 2);
	use(o, 4);
	symbol_source_begin(symbol_cache_find(o, 4), 0, &begin);
	use(o, 4);
	cr_expect_str_eq(open_now(o), "4 ");
	symbol_cache_free(o);
}
