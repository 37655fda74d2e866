/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that we write are read back as they were meant. */
#include "config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "perf/abi/perf_put.h"

static const struct perf_attr attr = {
	.type = PERF_T_SOFTWARE,
	.config = 1,
	.sample_period = 999,
	.sample_type = PERF_S_IDENTIFIER | PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_CPU |
		       PERF_S_PERIOD | PERF_S_CALLCHAIN,
	.read_format = PERF_RF_ID,
	.flags = PERF_ATTR_SAMPLE_ID_ALL | PERF_ATTR_FREQ | PERF_ATTR_BUILD_ID,
	.wakeup = 4096,
	.sample_stack_user = 8192,
	.clockid = 1,
};
static const struct perf_trailer trailer = { .pid = 7, .tid = 8, .time = 9, .id = 10, .cpu = 11 };

static struct perf_record only_record(const struct perf_put *b)
{
	struct perf_record r;

	cr_assert_eq(perf_record_at(b->at, false, &r), b->n);
	cr_expect_eq(b->n % 8, 0, "records are whole words");
	return r;
}

static void expect_trailer(const struct perf_record *r)
{
	struct perf_trailer t;

	cr_assert(perf_trailer_decode(&attr, r, &t));
	cr_expect_eq(t.pid, 7);
	cr_expect_eq(t.tid, 8);
	cr_expect_eq(t.time, 9);
	cr_expect_eq(t.id, 10);
	cr_expect_eq(t.cpu, 11);
}

Test(perf_put, attrs_come_back)
{
	uint8_t bytes[PERF_ATTR_BYTES];
	struct bytes b = bytes_over(bytes, sizeof(bytes), false);
	struct perf_attr back;

	perf_attr_encode(&attr, bytes);
	cr_assert(perf_attr_decode(&b, sizeof(bytes), &back));
	cr_expect_eq(back.size, PERF_ATTR_BYTES);
	back.size = attr.size;
	cr_expect_eq(memcmp(&back, &attr, sizeof(attr)), 0);
}

Test(perf_put, names_of_any_length_end_within_whole_words)
{
	for (size_t n = 0; n < 17; n++) {
		struct perf_comm c = { .pid = 1, .tid = 2, .name = "abcdefghijklmnopq" }, back;
		struct perf_put b = { 0 };
		struct perf_record r;

		c.name_len = n;
		perf_put_comm(&b, &attr, &c, &trailer);
		r = only_record(&b);
		cr_assert(perf_comm_decode(&r, perf_trailer_bytes(&attr), &back));
		cr_expect_eq(back.tid, 2);
		cr_expect_eq(back.name_len, n);
		expect_trailer(&r);
		vec_done(&b);
	}
}

Test(perf_put, cgroups_have_their_paths)
{
	struct perf_cgroup g = { .number = 77, .path = "/a/b", .path_len = 4 }, back;
	struct perf_put b = { 0 };
	struct perf_record r;

	perf_put_cgroup(&b, &attr, &g, &trailer);
	r = only_record(&b);
	cr_expect_eq(r.type, PERF_REC_CGROUP);
	cr_assert(perf_cgroup_decode(&r, perf_trailer_bytes(&attr), &back));
	cr_expect_eq(back.number, 77);
	cr_expect_eq(back.path_len, 4);
	cr_expect_eq(memcmp(back.path, "/a/b", 4), 0);
	expect_trailer(&r);
	vec_done(&b);
}

Test(perf_put, mappings_have_their_build_ids)
{
	struct perf_mmap m = { .pid = 5,
			       .tid = 5,
			       .start = 0x1000,
			       .length = 0x2000,
			       .file_offset = 0x3000,
			       .executable = true,
			       .n_build_id = 20,
			       .path = "/bin/x",
			       .path_len = 6 },
			 back;
	struct perf_put b = { 0 };
	struct perf_record r;

	memset(m.build_id, 0xab, sizeof(m.build_id));
	perf_put_mmap(&b, PERF_CPU_USER, &attr, &m, &trailer);
	r = only_record(&b);
	cr_expect_eq(r.type, PERF_REC_MMAP2);
	cr_assert(perf_mmap_decode(&r, perf_trailer_bytes(&attr), &back));
	cr_expect_eq(back.start, m.start);
	cr_expect_eq(back.length, m.length);
	cr_expect_eq(back.file_offset, m.file_offset);
	cr_expect(back.executable);
	cr_expect_eq(back.n_build_id, 20);
	cr_expect_eq(memcmp(back.build_id, m.build_id, 20), 0);
	cr_expect_eq(back.path_len, 6);
	expect_trailer(&r);
	vec_done(&b);
}

Test(perf_put, the_kernel_is_mapped_without_one)
{
	struct perf_mmap m = {
		.pid = -1, .start = 1, .length = 2, .executable = true, .path = "[k]", .path_len = 3
	};
	struct perf_mmap back;
	struct perf_put b = { 0 };
	struct perf_record r;

	perf_put_mmap(&b, PERF_CPU_KERNEL, &attr, &m, &trailer);
	r = only_record(&b);
	cr_expect_eq(r.type, PERF_REC_MMAP);
	cr_expect_eq(r.misc, PERF_CPU_KERNEL);
	cr_assert(perf_mmap_decode(&r, perf_trailer_bytes(&attr), &back));
	cr_expect_eq(back.pid, -1);
	cr_expect_eq(back.path_len, 3);
	vec_done(&b);
}

Test(perf_put, the_kernel_is_mapped_with_its_build_id)
{
	struct perf_mmap m = { .pid = -1,
			       .start = 1,
			       .length = 2,
			       .executable = true,
			       .build_id = { 7, 8, 9 },
			       .n_build_id = 20,
			       .path = "[k]",
			       .path_len = 3 };
	struct perf_mmap back;
	struct perf_put b = { 0 };
	struct perf_record r;

	perf_put_mmap(&b, PERF_CPU_KERNEL, &attr, &m, &trailer);
	r = only_record(&b);
	cr_expect_eq(r.type, PERF_REC_MMAP2);
	cr_expect_eq(r.misc, PERF_CPU_KERNEL | PERF_MISC_MMAP_BUILD_ID);
	cr_assert(perf_mmap_decode(&r, perf_trailer_bytes(&attr), &back));
	cr_expect_eq(back.pid, -1);
	cr_expect_eq(back.n_build_id, 20);
	cr_expect_eq(memcmp(back.build_id, m.build_id, 20), 0);
	cr_expect_eq(back.path_len, 3);
	vec_done(&b);
}

Test(perf_put, forks_come_back)
{
	struct perf_task k = { .pid = 1, .ppid = 2, .tid = 3, .ptid = 4, .time = 5 }, back;
	struct perf_put b = { 0 };
	struct perf_record r;

	perf_put_task(&b, PERF_REC_FORK, &attr, &k, &trailer);
	r = only_record(&b);
	cr_assert(perf_task_decode(&r, &back));
	cr_expect_eq(memcmp(&back, &k, sizeof(k)), 0);
	expect_trailer(&r);
	vec_done(&b);
}
