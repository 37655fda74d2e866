/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In the place of Criterion where there is none, as for machines that programs are only cross-compiled for: as much of it
 * as the tests that tests/heap/aarch64.sh names make use of. What a check says besides is left out.
 */
#ifndef PROFTOP_TESTS_PLAIN_CRITERION_H
#define PROFTOP_TESTS_PLAIN_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_test {
	const char *suite, *name;
	void (*run)(void);
	struct plain_test *next;
};

/* Run by main in the order in which they were added; in plain_main.c, as is all that is declared here. */
void plain_add(struct plain_test *t);

/* ok is false: counts that, and says where; ends the program if the test cannot go on. */
void plain_check(bool ok, bool can_go_on, const char *what, const char *file, int line);

#define Test(suite_, name_, ...) \
	static void suite_##_##name_##_test(void); \
	__attribute__((constructor)) static void suite_##_##name_##_add(void) \
	{ \
		static struct plain_test t = { #suite_, #name_, suite_##_##name_##_test, NULL }; \
		plain_add(&t); \
	} \
	static void suite_##_##name_##_test(void)

#define PLAIN_EXPECT(ok, ...) plain_check((ok), true, #ok, __FILE__, __LINE__)
#define PLAIN_ASSERT(ok, ...) plain_check((ok), false, #ok, __FILE__, __LINE__)

#define cr_expect(ok, ...)                  PLAIN_EXPECT((ok) != 0)
#define cr_expect_not(ok, ...)              PLAIN_EXPECT((ok) == 0)
#define cr_expect_eq(a, b, ...)             PLAIN_EXPECT((a) == (b))
#define cr_expect_neq(a, b, ...)            PLAIN_EXPECT((a) != (b))
#define cr_expect_lt(a, b, ...)             PLAIN_EXPECT((a) < (b))
#define cr_expect_leq(a, b, ...)            PLAIN_EXPECT((a) <= (b))
#define cr_expect_gt(a, b, ...)             PLAIN_EXPECT((a) > (b))
#define cr_expect_geq(a, b, ...)            PLAIN_EXPECT((a) >= (b))
#define cr_expect_null(a, ...)              PLAIN_EXPECT((a) == NULL)
#define cr_expect_not_null(a, ...)          PLAIN_EXPECT((a) != NULL)
#define cr_expect_str_eq(a, b, ...)         PLAIN_EXPECT(strcmp((a), (b)) == 0)
#define cr_expect_float_eq(a, b, most, ...) PLAIN_EXPECT((a) - (b) <= (most) && (b) - (a) <= (most))
#define cr_assert(ok, ...)                  PLAIN_ASSERT((ok) != 0)
#define cr_assert_not(ok, ...)              PLAIN_ASSERT((ok) == 0)
#define cr_assert_eq(a, b, ...)             PLAIN_ASSERT((a) == (b))
#define cr_assert_neq(a, b, ...)            PLAIN_ASSERT((a) != (b))
#define cr_assert_lt(a, b, ...)             PLAIN_ASSERT((a) < (b))
#define cr_assert_leq(a, b, ...)            PLAIN_ASSERT((a) <= (b))
#define cr_assert_geq(a, b, ...)            PLAIN_ASSERT((a) >= (b))
#define cr_assert_not_null(a, ...)          PLAIN_ASSERT((a) != NULL)
#define cr_assert_fail(...)                 PLAIN_ASSERT(!"reached")

#endif
