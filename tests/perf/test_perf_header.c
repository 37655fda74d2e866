/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What features say of the cpu, of both byte orders and cut. */
#include "config.h"

#include "perf/file/perf_header.h"
#include "perf/records/perf_events.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <string.h>

static void put_string(struct made *m, const char *s)
{
	char padded[64] = "";

	strcpy(padded, s);
	made_u32(m, sizeof(padded));
	made_bytes(m, padded, sizeof(padded));
}

static void put_branches(struct made *m, const char *branches)
{
	made_u32(m, 2);
	put_string(m, "max_precise");
	put_string(m, "3");
	put_string(m, "branches");
	put_string(m, branches);
}

/* The depth by a record in a pipe, of which n bytes of the body count. */
static uint32_t depth_of(const struct made *body, uint64_t feature, size_t n, bool *damaged)
{
	struct made m = { .big = body->big };
	struct perf_events events = { 0 };
	struct perf_header h = { .pipe = true };
	struct perf_record record;
	uint32_t depth;
	size_t begun = made_begin(&m, PERF_REC_HEADER_FEATURE, 0);

	made_u64(&m, feature);
	made_bytes(&m, body->bytes.at, n);
	made_end(&m, begun);
	cr_assert_gt(perf_record_at(m.bytes.at, made_swaps(&m), &record), 0);
	perf_header_record(&h, &record, &events);
	depth = h.branch_depth;
	*damaged = h.n_features_damaged > 0;
	perf_header_done(&h);
	made_done(&m);
	return depth;
}

Test(perf_header, depth_of_branches)
{
	for (int big = 0; big < 2; big++) {
		struct made one = { .big = big }, two = { .big = big };
		bool damaged;

		put_branches(&one, "32");
		made_u32(&two, 2);
		put_branches(&two, "16");
		put_string(&two, "cpu_core");
		put_branches(&two, "8");
		put_string(&two, "cpu_atom");
		cr_expect_eq(depth_of(&one, PERF_FEATURE_CPU_PMU_CAPS, one.bytes.n, &damaged), 32);
		cr_expect_not(damaged);
		cr_expect_eq(depth_of(&two, PERF_FEATURE_PMU_CAPS, two.bytes.n, &damaged), 16);
		cr_expect_not(damaged);
		for (size_t n = 0; n < two.bytes.n; n++) {
			uint32_t depth = depth_of(&two, PERF_FEATURE_PMU_CAPS, n, &damaged);

			cr_expect(damaged, "%zu", n);
			cr_expect(depth == 0 || depth == 16, "%zu", n);
		}
		made_done(&one);
		made_done(&two);
	}
}
