/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copied user stacks of samples made by hand, walked by their frame pointers. */
#include "config.h"

#include "perf/ingest/ingest.h"
#include "perf/records/perf_events.h"
#include "profile/builder.h"
#include "symbols/resolver.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* All records, of a machine of that kind, as one batch; r is freed. */
static void feed(struct profile *p, capture_id c, struct resolver *r, const struct made *m,
		 const char *machine, bool stitch)
{
	struct perf_records batch = { .at = m->bytes.at, .n_bytes = m->bytes.n };
	struct ingest_cursor cursor = { 0 };
	struct perf_events events = { 0 };
	struct ingest *f;

	perf_events_add(&events, &m->attr, NULL);
	f = ingest_new(p, c, r, &events, machine);
	if (stitch)
		ingest_stitch(f);
	ingest_look(f, &batch, PRESCAN_COUNT | PRESCAN_TELL);
	builder_begin(p);
	cr_expect_eq(ingest_samples(f, &batch, &cursor, SIZE_MAX), INGEST_ALL);
	ingest_settle(f);
	ingest_end(f);
	builder_end(p);
	ingest_free(f);
	resolver_free(r);
	perf_events_done(&events);
}

/* What records give, as text; they are done with. */
static void expect_fed_of(const char *machine, struct made *m, bool stitch, const char *want)
{
	static const struct resolver_options options;
	struct profile *p = profile_new();
	capture_id c;
	char *got;

	builder_begin(p);
	c = build_capture(p, "made", "perf.data");
	builder_end(p);
	feed(p, c, resolver_new(p, c, &options), m, machine, stitch);
	got = made_text_of(p);
	cr_expect_str_eq(got, want, "got:\n%swanted:\n%s", got, want);
	free(got);
	made_done(m);
	profile_free(p);
}

static void expect_fed(struct made *m, bool stitch, const char *want)
{
	expect_fed_of("x86_64", m, stitch, want);
}

/* A sample at ip whose stack is a chain of frame pointers: its first n_bytes. */
static void put_stack(struct made *m, uint64_t ip, size_t n_bytes)
{
	static const uint64_t callers[] = { 0x1020, 0x1030, 0x1040, 0x1050, 0 };
	size_t at = made_begin(m, PERF_REC_SAMPLE, PERF_CPU_USER);

	made_u64(m, ip);
	made_u64(m, UINT64_C(7) << 32 | 7);
	made_u64(m, 2);      /* 64-bit */
	made_u64(m, 0x7000); /* frame pointer */
	made_u64(m, 0x7000); /* stack pointer */
	made_u64(m, ip);
	made_u64(m, sizeof(callers) * 2);
	for (uint64_t i = 0; i < sizeof(callers) / sizeof(*callers); i++) {
		made_u64(m, 0x7000 + 16 * (i + 1));
		made_u64(m, callers[i]);
	}
	made_u64(m, n_bytes);
	made_end(m, at);
}

/* A sample at ip of whose stack nothing could be copied: its size is 0, and nothing follows. */
static void put_no_stack(struct made *m, uint64_t ip)
{
	size_t at = made_begin(m, PERF_REC_SAMPLE, PERF_CPU_USER);

	made_u64(m, ip);
	made_u64(m, UINT64_C(7) << 32 | 7);
	made_u64(m, 2);
	made_u64(m, 0x7000);
	made_u64(m, 0x7000);
	made_u64(m, ip);
	made_u64(m, 0);
	made_end(m, at);
}

#define WHOLE "cycles 1 - a;[/bin/a]+4f;[/bin/a]+3f;[/bin/a]+2f;[/bin/a]+1f;[/bin/a]+10\n"
#define LEAF  "cycles 1 - a;[truncated];[/bin/a]+10\n"

/* What was not copied of a stack is known from the whole ones before it, when that is asked for. */
Test(perf_stacks, truncated_stacks_go_on_as_earlier_ones)
{
	struct perf_attr a = { .sample_type = PERF_S_IP | PERF_S_TID | PERF_S_REGS_USER |
					      PERF_S_STACK_USER,
			       .sample_regs_user = 1u << 6 | 1u << 7 | 1u << 8,
			       .flags = PERF_ATTR_EXCLUDE_GUEST };

	static const char *const wants[] = {
		WHOLE WHOLE WHOLE LEAF LEAF LEAF LEAF LEAF
		"cycles 1 - a;[truncated];[/bin/a]+3f;[/bin/a]+2f;[/bin/a]+1f;[/bin/a]+11\n",
		WHOLE WHOLE WHOLE
		"cycles 1 - a;[/bin/a]+4f;[stitched];[/bin/a]+3f;[/bin/a]+2f;[/bin/a]+1f;"
		"[/bin/a]+11\n" LEAF LEAF LEAF LEAF LEAF,
	};

	for (int stitch = 0; stitch < 2; stitch++) {
		struct made m = { .attr = a };

		made_comm(&m, 7, 7, 0, "a");
		made_mmap(&m, 7, 0, 0x1000, 0x1000, "/bin/a");
		for (int i = 0; i < 3; i++) {
			put_stack(&m, 0x1010, 80);
			put_stack(&m, 0x1010, 8);
		}
		put_stack(&m, 0x1010, 0);
		put_no_stack(&m, 0x1010);
		put_stack(&m, 0x1011, 56);
		expect_fed(&m, stitch, wants[stitch]);
	}
}

/* What leads into memory that cannot be executed is no caller. */
Test(perf_stacks, return_addresses_are_not_in_data)
{
	static const struct {
		const char *path;
		uint16_t misc;
		const char *want;
	} cases[] = {
		{ "[stack]", PERF_MISC_MMAP_DATA,
		  "cycles 1 - a;[broken stack];[/bin/a]+3f;[/bin/a]+2f;[/bin/a]+1f;[/bin/a]+10\n" },
		{ "//anon", PERF_MISC_MMAP_DATA,
		  "cycles 1 - a;[broken stack];[/bin/a]+3f;[/bin/a]+2f;[/bin/a]+1f;[/bin/a]+10\n" },
		{ "[stack]", 0,
		  "cycles 1 - a;[no file];[/tmp/perf-7.map]+104f;[/bin/a]+3f;[/bin/a]+2f;[/bin/a]+1f;"
		  "[/bin/a]+10\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { .attr = { .sample_type = PERF_S_IP | PERF_S_TID |
							   PERF_S_REGS_USER | PERF_S_STACK_USER,
					    .sample_regs_user = 1u << 6 | 1u << 7 | 1u << 8,
					    .flags = PERF_ATTR_EXCLUDE_GUEST } };
		size_t at;

		made_comm(&m, 7, 7, 0, "a");
		made_mmap(&m, 7, 0, 0x1000, 0x40, "/bin/a");
		at = m.bytes.n;
		made_mmap(&m, 7, 0, 0x1040, 0x1000, cases[i].path);
		m.bytes.at[at + 5] |= (uint8_t)(cases[i].misc >> 8);
		put_stack(&m, 0x1010, 64);
		expect_fed(&m, false, cases[i].want);
	}
}

/* A recording that names no machine is of the one whose registers it has, whichever reads it. */
Test(perf_stacks, registers_tell_the_machine)
{
	static const struct {
		uint64_t mask;
		unsigned fp, sp, pc; /* perf's numbers */
	} cases[] = { { 0xff0fff, 6, 7, 8 }, { 0x1ffffffff, 29, 31, 32 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { .attr = { .sample_type = PERF_S_IP | PERF_S_TID |
							   PERF_S_REGS_USER | PERF_S_STACK_USER,
					    .sample_regs_user = cases[i].mask,
					    .flags = PERF_ATTR_EXCLUDE_GUEST } };
		size_t at;

		made_comm(&m, 7, 7, 0, "a");
		made_mmap(&m, 7, 0, 0x1000, 0x1000, "/bin/a");
		at = made_begin(&m, PERF_REC_SAMPLE, PERF_CPU_USER);
		made_u64(&m, 0x1010);
		made_u64(&m, UINT64_C(7) << 32 | 7);
		made_u64(&m, 2);
		for (unsigned reg = 0; reg < 64; reg++)
			if (cases[i].mask >> reg & 1)
				made_u64(&m, reg == cases[i].pc                         ? 0x1010
					     : reg == cases[i].fp || reg == cases[i].sp ? 0x7000
											: 0);
		made_u64(&m, 16);
		made_u64(&m, 0);
		made_u64(&m, 0x1020);
		made_u64(&m, 16);
		made_end(&m, at);
		expect_fed_of(NULL, &m, false, "cycles 1 - a;[no file];[/bin/a]+1f;[/bin/a]+10\n");
	}
}

/* Of machines whose rules of unwinding are not known the program counter is, whatever number it has among the registers. */
Test(perf_stacks, of_other_machines_have_their_leaf)
{
	static const struct {
		const char *machine;
		unsigned pc;  /* perf's number of it */
		uint64_t abi; /* as in samples: 1, 2 */
		const char *want;
	} cases[] = {
		{ "riscv64", 0, 2, "cycles 1 - a;[not unwound];[/bin/a]+10\n" },
		{ "loongarch64", 0, 2, "cycles 1 - a;[not unwound];[/bin/a]+10\n" },
		{ "mips64", 0, 2, "cycles 1 - a;[not unwound];[/bin/a]+10\n" },
		{ "ppc64le", 32, 2, "cycles 1 - a;[not unwound];[/bin/a]+10\n" },
		{ "s390x", 33, 2, "cycles 1 - a;[not unwound];[/bin/a]+10\n" },
		{ "armv7l", 15, 1, "cycles 1 - a;[32-bit];[/bin/a]+10\n" },
		{ "i686", 8, 1, "cycles 1 - a;[32-bit];[/bin/a]+10\n" },
		/* Of what nobody knows there is the sample's own address. */
		{ "pdp11", 7, 2, "cycles 1 - a;[/bin/a]+10\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t mask = UINT64_C(1) << cases[i].pc | 1u << 1 | 1u << 9 | UINT64_C(1) << 32;
		struct made m = { .attr = { .sample_type = PERF_S_IP | PERF_S_TID |
							   PERF_S_REGS_USER | PERF_S_STACK_USER,
					    .sample_regs_user = mask,
					    .flags = PERF_ATTR_EXCLUDE_GUEST } };
		size_t at;

		made_comm(&m, 7, 7, 0, "a");
		made_mmap(&m, 7, 0, 0x1000, 0x1000, "/bin/a");
		at = made_begin(&m, PERF_REC_SAMPLE, PERF_CPU_USER);
		made_u64(&m, 0x1010);
		made_u64(&m, UINT64_C(7) << 32 | 7);
		made_u64(&m, cases[i].abi);
		for (unsigned reg = 0; reg < 64; reg++)
			if (mask >> reg & 1)
				made_u64(&m, reg == cases[i].pc ? 0x1010 : 0x1020);
		made_u64(&m, 16);
		made_u64(&m, 0x7000);
		made_u64(&m, 0x1030);
		made_u64(&m, 16);
		made_end(&m, at);
		expect_fed_of(cases[i].machine, &m, false, cases[i].want);
	}
}
