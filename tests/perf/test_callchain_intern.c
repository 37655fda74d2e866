/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of src/perf/callchain/callchain_intern */
#include "config.h"

#include "perf/callchain/callchain_intern.h"
#include "perf/records/perf_tasks.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 11;
}

/*
 * Whatever is remembered of earlier chains, a stack is what locating and building each frame from the
 * root gives. Random chains of a few threads, over mappings that change.
 */
Test(perf_chains, remembered_chains_give_the_same_stacks)
{
	static const struct resolver_options options;
	uint64_t seed = 88172645463325252, words[40];
	stack_id want[PERF_CHAINS_MOST];
	struct callchain_intern *chains;
	struct perf_tasks *tasks;
	struct profile *p = profile_new();
	struct resolver *r;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "made", "perf.data");
	builder_end(p);
	r = resolver_new(p, c, &options);
	tasks = perf_tasks_new(p, c);
	chains = callchain_intern_new(p, r, tasks);
	for (int64_t t = 0; t < 600; t += 50) {
		for (int32_t pid = -1; pid < 2; pid++) {
			struct mapping_event m = { .time_ns = t,
						   .pid = pid,
						   .start = 0x1000,
						   .length = 0x1000 * (1 + next_random(&seed) % 3),
						   .path = pid < 0   ? "[kernel]"
							   : t % 100 ? "/lib/x"
								     : "/lib/y",
						   .executable = true };

			resolver_map(r, &m);
			perf_tasks_remapped(tasks, pid, t);
		}
	}
	builder_begin(p);
	for (int i = 0; i < 20000; i++) {
		struct perf_chain_owner o = { .pid = (int32_t)(next_random(&seed) % 2),
					      .tid = (int32_t)(next_random(&seed) % 3),
					      .time_ns = (int64_t)(next_random(&seed) % 600) };
		size_t n_parts = next_random(&seed) % 4, at = 0;
		struct perf_chain_part parts[4] = { 0 };
		uint32_t i_chain;

		for (size_t k = 0; k < n_parts; k++) {
			uint32_t n = (uint32_t)(next_random(&seed) % 8);

			parts[k].mode = next_random(&seed) % 2 ? MODE_USER : MODE_KERNEL;
			parts[k].ips = (struct perf_words){ .at = (uint8_t *)&words[at], .n = n };
			parts[k].ip = 0x1000 + next_random(&seed) % 3;
			for (; n > 0; n--)
				words[at++] = 0x1000 + 0x1000 * (next_random(&seed) % 4 == 0);
		}
		i_chain = callchain_intern_add(chains, &o, parts, n_parts);
		want[i_chain] = o.root;
		for (size_t k = n_parts; k-- > 0;)
			for (uint32_t n = parts[k].ips.n ? parts[k].ips.n : 1; n-- > 0;)
				want[i_chain] = build_stack(
					p, want[i_chain],
					resolver_locate(r, o.pid, o.time_ns,
							parts[k].ips.n ? perf_word(&parts[k].ips, n)
								       : parts[k].ip,
							parts[k].mode, n > 0));
		if (i_chain + 1 < PERF_CHAINS_MOST && next_random(&seed) % 40 > 0)
			continue;
		cr_assert_eq(callchain_intern_build(chains), i_chain + 1);
		for (uint32_t k = 0; k <= i_chain; k++)
			cr_assert_eq(callchain_intern_stack(chains, k).v, want[k].v,
				     "chain %d of %d", (int)k, i);
	}
	builder_end(p);
	callchain_intern_free(chains);
	perf_tasks_free(tasks);
	resolver_free(r);
	profile_free(p);
}
