/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Build-ids of what is mapped, written into records that tell none. */
#include "config.h"

#include "base/mem.h"
#include "perf/abi/perf_put.h"
#include "record/cpu/build_id_cache.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_AT 40 /* in a MMAP2: which file it is */
#define NO_SUCH INT32_MAX

static char dir[] = "/tmp/proftop-file-ids-XXXXXX", path[64];

static void make_dir(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x", dir);
}

static void remove_dir(void)
{
	unlink(path);
	rmdir(dir);
}

/* A library with this build-id, or with none, written over what is there: the inode stays. */
static void make_library(const char *id)
{
	char command[512];

	snprintf(
		command, sizeof(command),
		"cd %s && cc -shared -nostdlib -o y -Wl,--build-id=%s -x c /dev/null && cat y >x && rm y",
		dir, id);
	cr_assert_eq(system(command), 0);
}

/* What the kernel tells of a mapping of path by a process that is gone, as the only record in to. */
static void put(struct perf_put *to, bool executable, bool marked, uint64_t inode)
{
	static const struct perf_attr a = { 0 };
	struct perf_mmap m = { .pid = NO_SUCH,
			       .tid = NO_SUCH,
			       .start = 0x400000,
			       .length = 0x1000,
			       .executable = executable,
			       .path = path,
			       .path_len = strlen(path) };
	uint16_t misc = PERF_CPU_USER | (marked ? PERF_MISC_MMAP_BUILD_ID : 0);
	uint32_t device[] = { 254, 1 };

	vec_clear(to);
	perf_put_mmap(to, misc, &a, &m, NULL);
	memcpy(to->at + FILE_AT, device, sizeof(device));
	memcpy(to->at + FILE_AT + sizeof(device), &inode, sizeof(inode));
}

static void expect(const char *what, const struct perf_put *records, const char *id)
{
	struct perf_record r;
	struct perf_mmap m;
	char hex[41] = "";

	cr_assert_eq(perf_record_at(records->at, false, &r), records->n);
	cr_assert(perf_mmap_decode(&r, 0, &m));
	for (size_t i = 0; i < m.n_build_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", m.build_id[i]);
	cr_expect_str_eq(hex, id, "%s: %s", what, hex);
	cr_expect_eq(!(r.misc & PERF_MISC_MMAP_BUILD_ID), *id == '\0', "%s", what);
	cr_expect_eq(m.path_len, strlen(path), "%s", what);
}

static uint64_t inode_of_path(void)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0);
	return (uint64_t)st.st_ino;
}

Test(file_ids, are_those_of_the_file_that_was_mapped, .init = make_dir, .fini = remove_dir)
{
	struct build_id_cache *f = build_id_cache_new();
	struct perf_put r = { 0 };
	uint64_t inode;

	make_library("0x0102030405060708");
	inode = inode_of_path();
	put(&r, true, false, inode + 1);
	build_id_cache_fill(f, r.at, r.n);
	expect("the name is another file's by now", &r, "");
	put(&r, false, false, inode);
	build_id_cache_fill(f, r.at, r.n);
	expect("data", &r, "");
	put(&r, true, true, inode);
	build_id_cache_fill(f, r.at, r.n);
	expect("marked for another recording", &r, "0102030405060708");
	make_library("0xa1a2a3a4a5a6a7a8");
	put(&r, true, false, inode);
	build_id_cache_fill(f, r.at, r.n);
	expect("written anew", &r, "a1a2a3a4a5a6a7a8");
	build_id_cache_fill(f, r.at, r.n);
	expect("told already", &r, "a1a2a3a4a5a6a7a8");
	unlink(path);
	put(&r, true, false, inode);
	build_id_cache_fill(f, r.at, r.n);
	expect("read before it went", &r, "a1a2a3a4a5a6a7a8");
	vec_done(&r);
	build_id_cache_free(f);
}

/* What records that come together are of is looked at once, but not given up when one of them knows it by another's name. */
Test(file_ids, of_records_that_come_together, .init = make_dir, .fini = remove_dir)
{
	struct build_id_cache *f = build_id_cache_new();
	struct perf_put all = { 0 }, r = { 0 };
	char *good = xstrdup(path);
	size_t first, n;

	make_library("0x0102030405060708");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%c", dir, i == 0 ? 'w' : 'x');
		put(&r, true, false, 0);
		n = r.n;
		snprintf(path, sizeof(path), "%s", good);
		memcpy(r.at + FILE_AT + 8, &(uint64_t){ inode_of_path() }, 8);
		perf_put_bytes(&all, r.at, r.n);
	}
	first = all.n - 2 * n;
	build_id_cache_fill(f, all.at, all.n);
	for (size_t i = 0; i < 2; i++) {
		vec_clear(&r);
		perf_put_bytes(&r, all.at + first + i * n, n);
		expect("its own name", &r, "0102030405060708");
	}
	free(good);
	vec_done(&all);
	vec_done(&r);
	build_id_cache_free(f);
}

Test(file_ids, that_are_not_there_are_not_marked, .init = make_dir, .fini = remove_dir)
{
	struct build_id_cache *f = build_id_cache_new();
	struct perf_put r = { 0 };

	make_library("none");
	put(&r, true, true, inode_of_path());
	build_id_cache_fill(f, r.at, r.n);
	expect("without a build-id", &r, "");
	vec_done(&r);
	build_id_cache_free(f);
}
