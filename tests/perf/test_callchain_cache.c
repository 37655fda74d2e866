/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "perf/callchain/callchain_cache.h"

#include <criterion/criterion.h>

/* Number i of chains that differ. */
static struct known_chain chain_of(uint64_t i)
{
	return (struct known_chain){ .hash = { hash_u64(i), hash_u64(~i) },
				     .stack = (uint32_t)i,
				     .n_frames = (uint32_t)i + 1,
				     .leaf = (uint32_t)i + 2 };
}

static bool finds(const struct callchain_cache *k, uint64_t i)
{
	struct known_chain want = chain_of(i);
	const struct known_chain *c = callchain_cache_find(k, want.hash);

	if (c)
		cr_assert(c->stack == want.stack && c->n_frames == want.n_frames &&
				  c->leaf == want.leaf,
			  "%llu is another", (unsigned long long)i);
	return c;
}

/* The table keeps what came last, however many came before: a recording of hours goes on as it began. */
Test(perf_known, keeps_the_newest_of_many)
{
	static const struct {
		uint64_t n;      /* chains that are added */
		uint64_t newest; /* of these, so many last ones are looked for */
		uint64_t found;  /* and at least so many are there */
	} cases[] = {
		{ 1, 1, 1 },
		{ 500, 500, 450 },
		{ 100000, 100000, 90000 },
		{ 4000000, 300000, 290000 },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct callchain_cache *k = callchain_cache_new();
		uint64_t n_found = 0;

		cr_expect_not(finds(k, 0));
		for (uint64_t i = 0; i < cases[c].n; i++) {
			struct known_chain chain = chain_of(i);

			callchain_cache_add(k, &chain);
			cr_assert(finds(k, i));
		}
		for (uint64_t i = 0; i < cases[c].newest; i++)
			n_found += finds(k, cases[c].n - 1 - i);
		cr_expect_geq(n_found, cases[c].found, "%zu", c);
		cr_expect_not(finds(k, cases[c].n));
		cr_expect_leq(callchain_cache_n(k), cases[c].n);
		callchain_cache_forget(k);
		cr_expect_not(finds(k, cases[c].n - 1));
		cr_expect_eq(callchain_cache_n(k), 0);
		callchain_cache_free(k);
	}
}
