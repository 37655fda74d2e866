/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/column.h"
#include "base/tmpfile.h"
#include "tests/support/limits_work.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

Test(column, grows_in_place_and_reads_zero)
{
	struct column c;
	uint32_t *first;

	column_init(&c, sizeof(uint32_t), UINT64_C(1) << 32);
	cr_assert_null(c.base);
	cr_assert_eq(column_extend(&c, 1), 0);
	first = c.base;
	for (uint64_t n = 1; n <= 5000000; n = n * 3 + 1) {
		cr_assert_eq(column_extend(&c, n), 0);
		cr_assert_eq(c.base, (void *)first);
		cr_assert_eq(first[n - 1], 0);
		first[n - 1] = (uint32_t)n;
	}
	cr_assert_eq(first[0], 1);
	cr_assert_geq(c.usable_bytes, 5000000u / 3 * 4);
	column_done(&c);
	cr_assert_null(c.base);
	cr_assert_eq(c.usable_bytes, 0);
}

Test(column, refuses_what_never_fits)
{
	struct column c;

	column_init(&c, 8, 1000);
	cr_assert_eq(column_extend(&c, 1001), -EFBIG);
	cr_assert_null(c.base, "a refusal changes nothing");
	cr_assert_eq(column_extend(&c, 1000), 0);
	cr_assert_eq(column_extend(&c, 1001), -EFBIG);
	cr_assert_eq(((uint64_t *)c.base)[999], 0);
	column_done(&c);
	column_init(&c, 1 << 20, UINT64_MAX);
	cr_assert_eq(column_extend(&c, UINT64_MAX / 2), -EFBIG, "the product would overflow");
	column_done(&c);
}

#define N_COLUMNS 40 /* of a profile */

Test(column, lives_with_a_limited_address_space, .disabled = !LIMITS_WORK)
{
	const struct rlimit limit = { (rlim_t)512 << 20, (rlim_t)512 << 20 };
	struct column c[N_COLUMNS];
	void *p;

	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		column_init(&c[i], 8, UINT64_C(1) << 32);
		cr_assert_eq(column_extend(&c[i], 1), 0, "column %zu", i);
	}
	p = malloc(150 << 20);
	cr_assert_not_null(p, "columns leave room for others");
	free(p);
	cr_assert_eq(column_extend(&c[0], UINT64_C(1) << 30), -EFBIG);
	*(uint64_t *)c[0].base = 1;
	cr_assert_eq(column_extend(&c[0], 100000), 0, "a failure leaves it usable");
	for (size_t i = 0; i < N_COLUMNS; i++)
		column_done(&c[i]);
	column_init(&c[0], 1, UINT64_C(1) << 40);
	cr_assert_eq(column_extend(&c[0], 100 << 20), 0, "what is needed may pass the usual part");
	column_done(&c[0]);
}

/* Nobody says how much there is, but there is not enough: a column takes little of it. */
Test(column, leaves_the_most_of_what_is_there, .disabled = !LIMITS_WORK)
{
	struct column c[N_COLUMNS];
	uint64_t sum = 0;

	for (size_t i = 0; i < N_COLUMNS; i++) {
		column_init(&c[i], 1, UINT64_C(1) << 60);
		cr_assert_eq(column_extend(&c[i], 1), 0);
		sum += c[i].reserved_bytes;
	}
	/* 47 bits are what user space has */
	cr_expect_lt(sum, UINT64_C(1) << 47);
	cr_expect_lt(c[N_COLUMNS - 1].reserved_bytes * 4, UINT64_C(1) << 47);
	cr_expect_gt(c[N_COLUMNS - 1].reserved_bytes, UINT64_C(1) << 32);
	for (size_t i = 0; i < N_COLUMNS; i++)
		column_done(&c[i]);
}

/* What was there stays where it was, and is written to the file; what comes is there too. */
Test(column, goes_on_in_a_file)
{
	enum { FIRST = 300000, ALL = 2000000 };
	struct column c;
	uint32_t *at, there;
	int fd = tmpfile_open("the test", NULL);

	cr_assert_geq(fd, 0);
	column_init(&c, sizeof(uint32_t), UINT64_C(1) << 32);
	cr_assert_eq(column_extend(&c, FIRST), 0);
	at = c.base;
	for (uint32_t i = 0; i < FIRST; i++)
		at[i] = i * 7;
	cr_assert_eq(column_to_file(&c, fd), 0);
	cr_assert_eq(column_to_file(&c, fd), -EALREADY);
	for (uint32_t n = FIRST; n < ALL; n += 1000)
		cr_assert_eq(column_extend(&c, n + 1000), 0);
	cr_assert_eq(c.base, at);
	cr_assert_eq(at[ALL - 1], 0);
	for (uint32_t i = FIRST; i < ALL; i++)
		at[i] = i * 7;
	for (uint32_t i = 0; i < ALL; i += 999) {
		cr_assert_eq(at[i], i * 7);
		cr_assert_eq(pread(c.fd, &there, sizeof(there), (off_t)i * 4), 4);
		cr_assert_eq(there, i * 7);
	}
	column_done(&c);
	cr_assert_eq(fcntl(fd, F_GETFD), -1, "the descriptor was the column's");
}
