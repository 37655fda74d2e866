/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/system_limits.h"
#include "tests/support/limits_work.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

Test(machine, has_memory)
{
	cr_assert_gt(system_limits_memory_bytes(), 1 << 20);
}

static const struct {
	const char *text;
	bool good;
	uint64_t bytes;
} sizes[] = {
	{ "0", true, 0 },     { "4095", true, 4095 },    { "3k", true, 3072 },
	{ "3K", true, 3072 }, { "64M", true, 64 << 20 }, { "5G", true, UINT64_C(5) << 30 },
	{ "", false, 0 },     { "M", false, 0 },         { "-1", false, 0 },
	{ "1kB", false, 0 },  { "1T", false, 0 },        { "99999999999G", false, 0 },
};

Test(machine, sizes_have_units)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t bytes = 0;

		cr_assert_eq(system_limits_parse_bytes(sizes[i].text, &bytes), sizes[i].good, "%s",
			     sizes[i].text);
		cr_assert_eq(bytes, sizes[i].bytes, "%s", sizes[i].text);
	}
}

/* What is left of the limit while a thread has something of malloc's. */
static void *allocate(void *left)
{
	void *p = malloc(100);

	cr_assert(p);
	*(uint64_t *)left = system_limits_address_space_left();
	free(p);
	return NULL;
}

Test(machine, threads_take_no_heaps_under_a_limit, .disabled = !LIMITS_WORK)
{
	struct rlimit limit;
	uint64_t before, with = 0;
	pthread_attr_t small;
	pthread_t thread;

	cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = (rlim_t)1 << 30;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
	system_limits_settle_malloc();
	before = system_limits_address_space_left();
	cr_assert_eq(pthread_attr_init(&small), 0);
	cr_assert_eq(pthread_attr_setstacksize(&small, 1 << 20), 0);
	cr_assert_eq(pthread_create(&thread, &small, allocate, &with), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&small);
	cr_expect_lt(before - with, (uint64_t)16 << 20, "a thread takes %llu bytes",
		     (unsigned long long)(before - with));
}
