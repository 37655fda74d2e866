/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts of attrs, records and samples, of both byte orders, whole and cut. */
#include "config.h"

#include "perf/abi/perf_abi.h"
#include "tests/support/made_perf.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct perf_record record_at(const struct made *m, size_t at)
{
	struct perf_record r;

	cr_assert_neq(perf_record_at(m->bytes.at + at, made_swaps(m), &r), 0);
	return r;
}

Test(perf_abi, attrs_of_every_size_give_what_they_hold)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096 };
	const struct perf_attr whole = {
		.type = 5,
		.config = 0x0102030405060708,
		.sample_period = 997,
		.sample_type = PERF_S_IP | PERF_S_REGS_USER,
		.read_format = 0x1f,
		.flags = PERF_ATTR_FREQ | PERF_ATTR_INHERIT | PERF_ATTR_SAMPLE_ID_ALL |
			 UINT64_C(3) << PERF_ATTR_PRECISE_SHIFT | PERF_ATTR_EXCLUDE_GUEST,
		.bp_type = 3,
		.bp_addr = 0x404030,
		.branch_sample_type = 0x20001,
		.sample_regs_user = 0xff0fff,
		.sample_stack_user = 16384,
		.sample_regs_intr = 0xabc,
	};

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		uint32_t size = sizes[i / 2];
		struct made m = { .big = i % 2 };
		struct perf_attr a;
		struct bytes b;

		made_attr(&m, &whole, size);
		b = bytes_over(m.bytes.at, m.bytes.n, made_swaps(&m));
		cr_assert(perf_attr_decode(&b, size, &a));
		cr_expect_eq(bytes_left(&b), 0);
		cr_expect_eq(a.type, 5);
		cr_expect_eq(a.size, size);
		cr_expect_eq(a.config, whole.config);
		cr_expect_eq(a.sample_period, 997);
		cr_expect_eq(a.sample_type, whole.sample_type);
		cr_expect_eq(a.read_format, 0x1f);
		cr_expect_eq(a.flags, whole.flags, "size %u, big %d: %llx", size, m.big,
			     (unsigned long long)a.flags);
		cr_expect_eq(a.bp_type, 3);
		cr_expect_eq(a.bp_addr, 0x404030);
		cr_expect_eq(a.branch_sample_type, size >= 80 ? 0x20001 : 0, "size %u", size);
		cr_expect_eq(a.sample_regs_user, size >= 88 ? 0xff0fff : 0, "size %u", size);
		cr_expect_eq(a.sample_stack_user, size >= 92 ? 16384 : 0, "size %u", size);
		cr_expect_eq(a.sample_regs_intr, size >= 104 ? 0xabc : 0, "size %u", size);
		made_done(&m);
	}
}

Test(perf_abi, an_attr_that_says_it_is_smaller_than_its_room_is_smaller)
{
	const struct perf_attr whole = { .branch_sample_type = 7, .sample_regs_user = 9 };
	struct made m = { 0 };
	struct perf_attr a;
	struct bytes b;

	made_attr(&m, &whole, 128);
	m.bytes.at[4] = 80; /* its size */
	b = bytes_over(m.bytes.at, 128, made_swaps(&m));
	cr_assert(perf_attr_decode(&b, 128, &a));
	cr_expect_eq(a.branch_sample_type, 7);
	cr_expect_eq(a.sample_regs_user, 0);
	b = bytes_over(m.bytes.at, 63, made_swaps(&m));
	cr_expect_not(perf_attr_decode(&b, 63, &a), "shorter than the first version");
	b = bytes_over(m.bytes.at, 100, made_swaps(&m));
	cr_expect_not(perf_attr_decode(&b, 128, &a), "not all there");
	made_done(&m);
}

Test(perf_abi, record_headers)
{
	static const struct {
		const char *what;
		uint32_t type;
		uint16_t misc, size;
		uint64_t returns;
	} cases[] = {
		{ "a sample", 9, 2, 40, 40 },
		{ "no body", 68, 0, 8, 8 },
		{ "shorter than its header", 9, 0, 7, 0 },
		{ "no size at all", 9, 0, 0, 0 },
		{ "simpleperf's sizes have 32 bits", 32769, 2, 16, 0x20010 },
		{ "beyond simpleperf's types they do not", 32800, 2, 16, 16 },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { .big = i % 2 };
		struct perf_record r;

		made_u32(&m, cases[i / 2].type);
		made_u16(&m, cases[i / 2].misc);
		made_u16(&m, cases[i / 2].size);
		cr_expect_eq(perf_record_at(m.bytes.at, made_swaps(&m), &r), cases[i / 2].returns,
			     "%s", cases[i / 2].what);
		cr_expect_eq(r.type, cases[i / 2].type);
		cr_expect_eq(r.misc, cases[i / 2].misc);
		made_done(&m);
	}
}

/* A sample with every field there is, each of another value. */
static struct perf_attr make_full_sample(struct made *m)
{
	struct perf_attr a = {
		.sample_type = (UINT64_C(1) << 25) - 1 - PERF_S_WEIGHT_STRUCT,
		.read_format = PERF_RF_ENABLED | PERF_RF_RUNNING | PERF_RF_ID | PERF_RF_GROUP |
			       PERF_RF_LOST,
		.branch_sample_type = PERF_BR_HW_INDEX | PERF_BR_COUNTERS,
		.sample_regs_user = 0x105,
		.sample_regs_intr = 0x3,
	};
	size_t at = made_begin(m, PERF_REC_SAMPLE, PERF_CPU_USER);

	made_u64(m, 1000);                                    /* IDENTIFIER */
	made_u64(m, 1001);                                    /* IP */
	made_u32(m, 1002), made_u32(m, 1003);                 /* TID */
	made_u64(m, 1004);                                    /* TIME */
	made_u64(m, 1005);                                    /* ADDR */
	made_u64(m, 1000);                                    /* ID */
	made_u64(m, 1006);                                    /* STREAM_ID */
	made_u32(m, 1007), made_u32(m, 0);                    /* CPU */
	made_u64(m, 1008);                                    /* PERIOD */
	made_u64(m, 2), made_u64(m, 1), made_u64(m, 1);       /* READ: nr, enabled, running */
	made_u64(m, 1009), made_u64(m, 1010), made_u64(m, 0); /* value, id, lost */
	made_u64(m, 1011), made_u64(m, 1012), made_u64(m, 0);
	made_u64(m, 2), made_u64(m, 1013), made_u64(m, 1014); /* CALLCHAIN */
	made_u32(m, 4), made_bytes(m, "raw!", 4);             /* RAW */
	made_u64(m, 1), made_u64(m, 7);                       /* BRANCH_STACK: nr, hw_idx */
	made_u64(m, 1015), made_u64(m, 1016), made_u64(m, 1017);
	made_u64(m, 99);                                                         /* counters */
	made_u64(m, 2), made_u64(m, 1018), made_u64(m, 1019), made_u64(m, 1020); /* REGS_USER */
	made_u64(m, 8), made_bytes(m, "stackstk", 8), made_u64(m, 5);            /* STACK_USER */
	made_u64(m, 1021);                                                       /* WEIGHT */
	made_u64(m, 1022);                                                       /* DATA_SRC */
	made_u64(m, 1023);                                                       /* TRANSACTION */
	made_u64(m, 2), made_u64(m, 1024), made_u64(m, 1025);                    /* REGS_INTR */
	made_u64(m, 1026);                                                       /* PHYS_ADDR */
	made_u64(m, 1027);                                                       /* CGROUP */
	made_u64(m, 4096);                            /* DATA_PAGE_SIZE */
	made_u64(m, 65536);                           /* CODE_PAGE_SIZE */
	made_u64(m, 8), made_bytes(m, "auxauxau", 8); /* AUX */
	made_end(m, at);
	return a;
}

static void expect_head(const struct perf_sample *s)
{
	cr_expect_eq(s->id, 1000);
	cr_expect_eq(s->ip, 1001);
	cr_expect_eq(s->pid, 1002);
	cr_expect_eq(s->tid, 1003);
	cr_expect_eq(s->time, 1004);
	cr_expect_eq(s->addr, 1005);
	cr_expect_eq(s->stream_id, 1006);
	cr_expect_eq(s->cpu, 1007);
	cr_expect(s->has_period);
	cr_expect_eq(s->period, 1008);
}

static void expect_arrays(const struct perf_sample *s)
{
	uint64_t reg = 0;

	cr_assert_eq(s->read.n, 2);
	cr_expect_eq(perf_read_value(&s->read, 0).value, 1009);
	cr_expect_eq(perf_read_value(&s->read, 0).id, 1010);
	cr_expect_eq(perf_read_value(&s->read, 1).value, 1011);
	cr_expect_eq(perf_read_value(&s->read, 1).id, 1012);
	cr_assert_eq(s->chain.n, 2);
	cr_expect_eq(perf_word(&s->chain, 0), 1013);
	cr_expect_eq(perf_word(&s->chain, 1), 1014);
	cr_assert_eq(s->raw_bytes, 4);
	cr_expect_arr_eq(s->raw, "raw!", 4);
	cr_assert_eq(s->branches.n, 3);
	cr_expect_eq(perf_word(&s->branches, 2), 1017);
	cr_expect_eq(s->regs_user.abi, 2);
	cr_expect(perf_reg(&s->regs_user, 0, &reg) && reg == 1018);
	cr_expect(perf_reg(&s->regs_user, 2, &reg) && reg == 1019);
	cr_expect(perf_reg(&s->regs_user, 8, &reg) && reg == 1020);
	cr_expect_not(perf_reg(&s->regs_user, 1, &reg));
	cr_expect_not(perf_reg(&s->regs_user, 64, &reg));
	cr_assert_eq(s->stack_bytes, 8);
	cr_expect_arr_eq(s->stack, "stackstk", 8);
	cr_expect_eq(s->stack_filled, 5);
}

static void expect_tail(const struct perf_sample *s)
{
	uint64_t reg = 0;

	cr_expect_eq(s->weight, 1021);
	cr_expect_eq(s->data_src, 1022);
	cr_expect_eq(s->transaction, 1023);
	cr_expect(perf_reg(&s->regs_intr, 1, &reg) && reg == 1025);
	cr_expect_eq(s->phys_addr, 1026);
	cr_expect_eq(s->cgroup, 1027);
	cr_expect_eq(s->data_page_size, 4096);
	cr_expect_eq(s->code_page_size, 65536);
}

Test(perf_abi, a_sample_with_every_field)
{
	for (int big = 0; big < 2; big++) {
		struct made m = { .big = big };
		struct perf_attr a = make_full_sample(&m);
		struct perf_record r = record_at(&m, 0);
		struct perf_sample s;

		cr_assert(perf_sample_decode(&a, &r, &s));
		expect_head(&s);
		expect_arrays(&s);
		expect_tail(&s);
		made_done(&m);
	}
}

/* Every field is needed: a record that ends anywhere inside them cannot be decoded. */
Test(perf_abi, a_sample_that_is_cut_anywhere_is_refused)
{
	struct made m = { 0 };
	struct perf_attr a = make_full_sample(&m);
	size_t n = m.bytes.n;

	for (size_t cut = 8; cut < n; cut++) {
		/* In a block of its own, so that reading past the end is seen. */
		uint8_t *bytes = xmalloc(cut);
		struct perf_record r = record_at(&m, 0);
		struct perf_sample s;

		memcpy(bytes, m.bytes.at, cut);
		r.at = bytes;
		r.size = (uint32_t)cut;
		cr_expect_not(perf_sample_decode(&a, &r, &s), "cut at %zu", cut);
		free(bytes);
	}
	made_done(&m);
}

Test(perf_abi, counts_that_do_not_fit_are_refused)
{
	static const struct {
		const char *what;
		uint64_t type, format, branch, n;
	} cases[] = {
		{ "callchain", PERF_S_CALLCHAIN, 0, 0, 2 },
		{ "callchain of 2^61", PERF_S_CALLCHAIN, 0, 0, UINT64_C(1) << 61 },
		{ "callchain of 2^64-1", PERF_S_CALLCHAIN, 0, 0, UINT64_MAX },
		{ "branches", PERF_S_BRANCH_STACK, 0, 0, 1 },
		{ "branches of 2^64/3", PERF_S_BRANCH_STACK, 0, 0, UINT64_MAX / 3 + 1 },
		{ "branch counters", PERF_S_BRANCH_STACK, 0, PERF_BR_COUNTERS, UINT64_MAX / 8 },
		{ "group", PERF_S_READ, PERF_RF_GROUP | PERF_RF_ID, 0, 1 },
		{ "group of 2^63", PERF_S_READ, PERF_RF_GROUP | PERF_RF_ID, 0, UINT64_C(1) << 63 },
		{ "stack", PERF_S_STACK_USER, 0, 0, 16 },
		{ "stack of 2^64-1", PERF_S_STACK_USER, 0, 0, UINT64_MAX },
		{ "aux", PERF_S_AUX, 0, 0, UINT64_MAX },
		{ "raw", PERF_S_RAW, 0, 0, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_attr a = { .sample_type = cases[i].type,
				       .read_format = cases[i].format,
				       .branch_sample_type = cases[i].branch };
		struct made m = { 0 };
		struct perf_sample s;
		struct perf_record r;
		size_t at = made_begin(&m, PERF_REC_SAMPLE, 0);

		made_u64(&m, cases[i].n);
		made_u64(&m, 0);
		made_end(&m, at);
		r = record_at(&m, 0);
		cr_expect_not(perf_sample_decode(&a, &r, &s), "%s", cases[i].what);
		made_done(&m);
	}
}

Test(perf_abi, values_of_one_counter_by_format)
{
	static const struct {
		uint64_t format;
		uint64_t n_words, value, id;
	} cases[] = {
		{ 0, 1, 10, 0 },
		{ PERF_RF_ID, 2, 10, 11 },
		{ PERF_RF_ENABLED | PERF_RF_ID, 3, 10, 12 },
		{ PERF_RF_ENABLED | PERF_RF_RUNNING | PERF_RF_ID | PERF_RF_LOST, 5, 10, 13 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_attr a = { .sample_type = PERF_S_READ, .read_format = cases[i].format };
		struct made m = { 0 };
		struct perf_sample s;
		struct perf_record r;
		size_t at = made_begin(&m, PERF_REC_SAMPLE, 0);

		for (uint64_t k = 0; k < cases[i].n_words; k++)
			made_u64(&m, 10 + k);
		made_end(&m, at);
		r = record_at(&m, 0);
		cr_assert(perf_sample_decode(&a, &r, &s));
		cr_assert_eq(s.read.n, 1);
		cr_expect_eq(perf_read_value(&s.read, 0).value, cases[i].value);
		cr_expect_eq(perf_read_value(&s.read, 0).id, cases[i].id, "case %zu", i);
		r.size -= 8;
		cr_expect_not(perf_sample_decode(&a, &r, &s), "case %zu, cut", i);
		made_done(&m);
	}
}

Test(perf_abi, where_ids_and_trailers_stand)
{
	static const struct {
		uint64_t type;
		int sample, trailer;
		size_t bytes;
	} cases[] = {
		{ PERF_S_IP | PERF_S_TID, -1, 0, 8 },
		{ PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_ID | PERF_S_PERIOD, 3, 1, 24 },
		{ PERF_S_IP | PERF_S_TID | PERF_S_ADDR | PERF_S_ID | PERF_S_CPU | PERF_S_STREAM_ID,
		  3, 3, 32 },
		{ PERF_S_IP | PERF_S_TIME | PERF_S_IDENTIFIER | PERF_S_ID | PERF_S_CPU, 0, 1, 32 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct perf_attr a = { .sample_type = cases[i].type,
				       .flags = PERF_ATTR_SAMPLE_ID_ALL };

		cr_expect_eq(perf_id_position(a.sample_type), cases[i].sample, "case %zu", i);
		cr_expect_eq(perf_trailer_id_position(&a), cases[i].trailer, "case %zu", i);
		cr_expect_eq(perf_trailer_bytes(&a), cases[i].bytes, "case %zu", i);
		a.flags = 0;
		cr_expect_eq(perf_trailer_id_position(&a), 0);
		cr_expect_eq(perf_trailer_bytes(&a), 0);
	}
}

Test(perf_abi, trailers_are_read_from_the_end)
{
	struct made m = { .attr = { .sample_type = PERF_S_TID | PERF_S_TIME | PERF_S_CPU |
						   PERF_S_IDENTIFIER,
				    .flags = PERF_ATTR_SAMPLE_ID_ALL } };
	struct perf_trailer t;
	struct perf_record r;
	struct perf_comm c;

	made_comm(&m, 3, 4, 55, "a longer name");
	made_u64_at(&m, m.bytes.n - 8, 77);
	r = record_at(&m, 0);
	cr_assert(perf_trailer_decode(&m.attr, &r, &t));
	cr_expect_eq(t.pid, 3);
	cr_expect_eq(t.tid, 4);
	cr_expect_eq(t.time, 55);
	cr_expect_eq(t.id, 77);
	cr_expect_eq(t.cpu, 0);
	cr_assert(perf_comm_decode(&r, perf_trailer_bytes(&m.attr), &c));
	cr_expect_eq(c.name_len, strlen("a longer name"));
	r.size = 8 + 24;
	cr_expect_not(perf_trailer_decode(&m.attr, &r, &t));
	cr_expect_not(perf_comm_decode(&r, perf_trailer_bytes(&m.attr), &c));
	made_done(&m);
}

/* Linux says so of some devices and inodes while another records build-ids. */
Test(perf_abi, what_is_no_build_id)
{
	static const struct {
		uint8_t file[24];
		uint8_t n;
	} cases[] = {
		{ { 254, 0, 0, 0, 0, 0, 0, 0, 0x29, 0xc8, 3 }, 0 },  /* virtual disk */
		{ { 8, 0, 0, 0, 1, 0, 0, 0, 0x29, 0xc8, 3 }, 0 },    /* SCSI disk */
		{ { 3, 1, 0, 0, 2, 0, 0, 0, 0x29, 0xc8, 3 }, 0 },    /* NVMe */
		{ { 0, 0, 0, 0, 0x2f, 0, 0, 0, 0x29, 0xc8, 3 }, 0 }, /* overlay */
		{ { 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 }, 8 },       /* lld's short ones */
		{ { 2, 0, 0, 0, 0x12, 0x34 }, 2 },                   /* --build-id=0x1234 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { .big = false };
		size_t at = made_begin(&m, PERF_REC_MMAP2, PERF_MISC_MMAP_BUILD_ID | 2);
		struct perf_record r;
		struct perf_mmap map;

		made_u32(&m, 1), made_u32(&m, 2);
		made_u64(&m, 0x1000), made_u64(&m, 0x2000), made_u64(&m, 0x3000);
		made_bytes(&m, cases[i].file, 24);
		made_u32(&m, 5), made_u32(&m, 2);
		made_text(&m, "/bin/x");
		made_end(&m, at);
		r = record_at(&m, 0);
		cr_assert(perf_mmap_decode(&r, 0, &map));
		cr_expect_eq(map.n_build_id, cases[i].n, "case %zu: %u", i, map.n_build_id);
		made_done(&m);
	}
}

/* As a Linux 3.10 wrote them: the path stands where others have what may be done there. */
Test(perf_abi, mappings_without_protection)
{
	for (int i = 0; i < 4; i++) {
		uint16_t misc = i & 2 ? PERF_MISC_MMAP_DATA | 2 : 2;
		struct made m = { .big = i & 1 };
		size_t at = made_begin(&m, PERF_REC_MMAP2, misc);
		struct perf_record r;
		struct perf_mmap map;

		made_u32(&m, 1), made_u32(&m, 2);
		made_u64(&m, 0x1000), made_u64(&m, 0x2000), made_u64(&m, 0x3000);
		made_u64(&m, 0), made_u64(&m, 4711), made_u64(&m, 5);
		made_text(&m, "[vdso]");
		made_end(&m, at);
		r = record_at(&m, 0);
		cr_assert(perf_mmap_decode(&r, 0, &map), "case %d", i);
		cr_expect_eq(map.path_len, 6);
		cr_expect_eq(strncmp(map.path, "[vdso]", 6), 0);
		cr_expect_eq(map.executable, !(i & 2));
		made_done(&m);
	}
}

/* `perf inject --jit` writes the mode of the file that it made where others say what may be done there. */
Test(perf_abi, mappings_with_a_mode_as_protection)
{
	static const struct {
		uint32_t may;
		bool executable;
	} cases[] = { { 0x81a4, true }, { 0x8180, true }, { 0xffff, true },
		      { 5, true },      { 0, false },     { 3, false } };

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { .big = i & 1 };
		size_t at = made_begin(&m, PERF_REC_MMAP2, 2);
		struct perf_record r;
		struct perf_mmap map;

		made_u32(&m, 1), made_u32(&m, 2);
		made_u64(&m, 0x1000), made_u64(&m, 0x2000), made_u64(&m, 0x80);
		made_u64(&m, 0), made_u64(&m, 4711), made_u64(&m, 5);
		made_u32(&m, cases[i / 2].may), made_u32(&m, 1);
		made_text(&m, "/tmp/jitted-812-5.so");
		made_end(&m, at);
		r = record_at(&m, 0);
		cr_assert(perf_mmap_decode(&r, 0, &map), "case %zu", i);
		cr_expect_eq(map.path_len, 20, "case %zu: %zu", i, map.path_len);
		cr_expect_eq(strncmp(map.path, "/tmp/jitted-812-5.so", 20), 0);
		cr_expect_eq(map.executable, cases[i / 2].executable, "case %zu", i);
		made_done(&m);
	}
}

Test(perf_abi, mappings_with_and_without_build_id)
{
	static const uint8_t id[20] = { 0xaa, 0xbb, 3,  4,  5,  6,  7,  8,  9,  10,
					11,   12,   13, 14, 15, 16, 17, 18, 19, 20 };

	for (int big = 0; big < 2; big++) {
		struct made m = { .big = big };
		struct perf_record r;
		struct perf_mmap map;
		size_t at = made_begin(&m, PERF_REC_MMAP2, PERF_MISC_MMAP_BUILD_ID | 2);

		made_u32(&m, 1), made_u32(&m, 2);
		made_u64(&m, 0x1000), made_u64(&m, 0x2000), made_u64(&m, 0x3000);
		made_bytes(&m, "\x14\0\0", 4), made_bytes(&m, id, 20);
		made_u32(&m, 5), made_u32(&m, 2); /* r-x, private */
		made_text(&m, "/bin/x");
		made_end(&m, at);
		r = record_at(&m, 0);
		cr_assert(perf_mmap_decode(&r, 0, &map));
		cr_expect_eq(map.pid, 1);
		cr_expect_eq(map.tid, 2);
		cr_expect_eq(map.start, 0x1000);
		cr_expect_eq(map.length, 0x2000);
		cr_expect_eq(map.file_offset, 0x3000);
		cr_expect(map.executable);
		cr_expect_eq(map.n_build_id, 20);
		cr_expect_arr_eq(map.build_id, id, 20);
		cr_expect_eq(map.path_len, 6);
		/* The same bytes are a device and an inode without the bit. */
		r.misc = 2;
		cr_assert(perf_mmap_decode(&r, 0, &map));
		cr_expect_eq(map.n_build_id, 0);
		/* A path that fills its record has no NUL. */
		r.size -= 2;
		cr_assert(perf_mmap_decode(&r, 0, &map));
		cr_expect_eq(map.path_len, 6);
		r.size = 8 + 63;
		cr_expect_not(perf_mmap_decode(&r, 0, &map));
		made_done(&m);
	}
}

Test(perf_abi, build_ids_with_and_without_size)
{
	static const struct {
		uint16_t misc;
		uint8_t size;
		int n_zeros;
		unsigned n;
	} cases[] = {
		{ PERF_MISC_BUILD_ID_SIZE | PERF_CPU_KERNEL, 16, 4, 16 },
		{ PERF_MISC_BUILD_ID_SIZE, 20, 4, 20 },
		{ PERF_CPU_USER, 0, 0, 20 },
		{ PERF_CPU_USER, 0, 4, 16 },
		{ PERF_CPU_USER, 0, 5, 16 },
		{ PERF_CPU_USER, 0, 20, 0 },
		/* a size that cannot be is none */
		{ PERF_MISC_BUILD_ID_SIZE, 200, 0, 20 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = { 0 };
		struct perf_build_id id;
		struct perf_record r;
		uint8_t bytes[24];
		size_t at = made_begin(&m, PERF_REC_HEADER_BUILD_ID, cases[i].misc);

		memset(bytes, 0x5a, sizeof(bytes));
		memset(bytes + 20 - cases[i].n_zeros, 0, (size_t)cases[i].n_zeros);
		bytes[20] = cases[i].size;
		made_u32(&m, (uint32_t)-1);
		made_bytes(&m, bytes, 24);
		made_text(&m, "[kernel.kallsyms]");
		made_end(&m, at);
		r = record_at(&m, 0);
		cr_assert(perf_build_id_decode(&r, &id));
		cr_expect_eq(id.n_build_id, cases[i].n, "case %zu: %u", i, id.n_build_id);
		cr_expect_eq(id.kernel, i == 0);
		cr_expect_eq(id.path_len, strlen("[kernel.kallsyms]"));
		r.size = 8 + 20;
		cr_expect_not(perf_build_id_decode(&r, &id));
		made_done(&m);
	}
}

Test(perf_abi, forks_losses_and_kernel_symbols)
{
	struct made m = { .big = true };
	struct perf_ksymbol k;
	struct perf_record r;
	struct perf_task t;
	uint64_t n;
	size_t at;

	made_fork(&m, 1, 2, 3, 4, 5);
	r = record_at(&m, 0);
	cr_assert(perf_task_decode(&r, &t));
	cr_expect(t.pid == 1 && t.ppid == 2 && t.tid == 3 && t.ptid == 4 && t.time == 5);
	at = made_begin(&m, PERF_REC_LOST, 0);
	made_u64(&m, 9), made_u64(&m, 461);
	made_end(&m, at);
	r = record_at(&m, at);
	cr_expect(perf_lost_decode(&r, &n) && n == 461);
	r.type = PERF_REC_LOST_SAMPLES;
	cr_expect(perf_lost_decode(&r, &n) && n == 9);
	at = made_begin(&m, PERF_REC_KSYMBOL, 0);
	made_u64(&m, 0xffffffffc0000000), made_u32(&m, 64), made_u16(&m, 1), made_u16(&m, 1);
	made_text(&m, "bpf_prog_1");
	made_end(&m, at);
	r = record_at(&m, at);
	cr_assert(perf_ksymbol_decode(&r, 0, &k));
	cr_expect(k.start == 0xffffffffc0000000 && k.length == 64 && k.unregister);
	cr_expect_eq(k.name_len, 10);
	made_done(&m);
}

Test(perf_abi, names)
{
	cr_expect_str_eq(perf_record_name(PERF_REC_SAMPLE), "SAMPLE");
	cr_expect_str_eq(perf_record_name(83), "COMPRESSED2");
	cr_expect_null(perf_record_name(0));
	cr_expect_null(perf_record_name(60));
}
