/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In the place of Criterion where there is none, as on machines that programs are only cross-compiled for: as much of it as our tests
 * make use of, by the same names.
 */
#ifndef PROFTOP_TESTS_PLAIN_CRITERION_H
#define PROFTOP_TESTS_PLAIN_CRITERION_H

/* Macros compare what a test gives them: no warnings of signs, as with headers of the system. */
#pragma GCC system_header

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_options {
	void (*init)(void), (*fini)(void); /* or NULL */
	double timeout;                    /* in seconds; 0: the suite's, or without limit */
	int signal;                        /* that ends the test as it should; 0: it returns */
	bool disabled;
};

/* A test, or with run NULL what holds for all of its suite. */
struct plain_test {
	const char *suite, *name;
	void (*run)(void);
	struct plain_options o;
	struct plain_test *next;
};

/* Run by main in the order in which they were added; in plain_main.c, as is all that is declared here. */
void plain_add(struct plain_test *t);

/* Says where something was not so; ends the program if the test cannot go on. */
__attribute__((format(printf, 5, 6))) void plain_failed(const char *file, int line, bool can_go_on,
							const char *what, const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void plain_skip(const char *format, ...);
__attribute__((format(printf, 1, 2))) void plain_say(const char *format, ...);

#define PLAIN_ADD(suite_, name_, run_, ...) \
	__attribute__((constructor)) static void suite_##_##name_##_add(void) \
	{ \
		static struct plain_test t = { #suite_, #name_, run_, { __VA_ARGS__ }, NULL }; \
		plain_add(&t); \
	}
#define Test(suite_, name_, ...) \
	static void suite_##_##name_##_test(void); \
	PLAIN_ADD(suite_, name_, suite_##_##name_##_test, ##__VA_ARGS__) \
	static void suite_##_##name_##_test(void)
#define TestSuite(suite_, ...) PLAIN_ADD(suite_, all_of_it, NULL, ##__VA_ARGS__) struct plain_test

#define PLAIN_CHECK(ok, can_go_on, ...) \
	do { \
		if (!(ok)) \
			plain_failed(__FILE__, __LINE__, can_go_on, #ok, " " __VA_ARGS__); \
	} while (0)
#define PLAIN_EXPECT(ok, ...) PLAIN_CHECK(ok, true, ##__VA_ARGS__)
#define PLAIN_ASSERT(ok, ...) PLAIN_CHECK(ok, false, ##__VA_ARGS__)

#define cr_expect(ok, ...)              PLAIN_EXPECT((ok) != 0, ##__VA_ARGS__)
#define cr_expect_not(ok, ...)          PLAIN_EXPECT((ok) == 0, ##__VA_ARGS__)
#define cr_expect_eq(a, b, ...)         PLAIN_EXPECT((a) == (b), ##__VA_ARGS__)
#define cr_expect_neq(a, b, ...)        PLAIN_EXPECT((a) != (b), ##__VA_ARGS__)
#define cr_expect_lt(a, b, ...)         PLAIN_EXPECT((a) < (b), ##__VA_ARGS__)
#define cr_expect_leq(a, b, ...)        PLAIN_EXPECT((a) <= (b), ##__VA_ARGS__)
#define cr_expect_gt(a, b, ...)         PLAIN_EXPECT((a) > (b), ##__VA_ARGS__)
#define cr_expect_geq(a, b, ...)        PLAIN_EXPECT((a) >= (b), ##__VA_ARGS__)
#define cr_expect_null(a, ...)          PLAIN_EXPECT((a) == NULL, ##__VA_ARGS__)
#define cr_expect_not_null(a, ...)      PLAIN_EXPECT((a) != NULL, ##__VA_ARGS__)
#define cr_expect_str_eq(a, b, ...)     PLAIN_EXPECT(strcmp((a), (b)) == 0, ##__VA_ARGS__)
#define cr_expect_str_neq(a, b, ...)    PLAIN_EXPECT(strcmp((a), (b)) != 0, ##__VA_ARGS__)
#define cr_expect_str_empty(a, ...)     PLAIN_EXPECT(*(a) == '\0', ##__VA_ARGS__)
#define cr_expect_str_not_empty(a, ...) PLAIN_EXPECT(*(a) != '\0', ##__VA_ARGS__)
#define cr_expect_arr_eq(a, b, bytes, ...) \
	PLAIN_EXPECT(memcmp((a), (b), (bytes)) == 0, ##__VA_ARGS__)
#define cr_expect_float_eq(a, b, most, ...) PLAIN_EXPECT(PLAIN_NEAR(a, b, most), ##__VA_ARGS__)
#define cr_expect_fail(...)                 PLAIN_EXPECT(!"reached", ##__VA_ARGS__)
#define cr_assert(ok, ...)                  PLAIN_ASSERT((ok) != 0, ##__VA_ARGS__)
#define cr_assert_not(ok, ...)              PLAIN_ASSERT((ok) == 0, ##__VA_ARGS__)
#define cr_assert_eq(a, b, ...)             PLAIN_ASSERT((a) == (b), ##__VA_ARGS__)
#define cr_assert_neq(a, b, ...)            PLAIN_ASSERT((a) != (b), ##__VA_ARGS__)
#define cr_assert_lt(a, b, ...)             PLAIN_ASSERT((a) < (b), ##__VA_ARGS__)
#define cr_assert_leq(a, b, ...)            PLAIN_ASSERT((a) <= (b), ##__VA_ARGS__)
#define cr_assert_gt(a, b, ...)             PLAIN_ASSERT((a) > (b), ##__VA_ARGS__)
#define cr_assert_geq(a, b, ...)            PLAIN_ASSERT((a) >= (b), ##__VA_ARGS__)
#define cr_assert_null(a, ...)              PLAIN_ASSERT((a) == NULL, ##__VA_ARGS__)
#define cr_assert_not_null(a, ...)          PLAIN_ASSERT((a) != NULL, ##__VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)         PLAIN_ASSERT(strcmp((a), (b)) == 0, ##__VA_ARGS__)
#define cr_assert_arr_eq(a, b, bytes, ...) \
	PLAIN_ASSERT(memcmp((a), (b), (bytes)) == 0, ##__VA_ARGS__)
#define cr_assert_float_eq(a, b, most, ...) PLAIN_ASSERT(PLAIN_NEAR(a, b, most), ##__VA_ARGS__)
#define cr_assert_fail(...)                 PLAIN_ASSERT(!"reached", ##__VA_ARGS__)
#define PLAIN_NEAR(a, b, most)              ((a) - (b) <= (most) && (b) - (a) <= (most))

#define cr_skip      plain_skip
#define cr_skip_test plain_skip
#define cr_log_info  plain_say
#define cr_log_error plain_say

#endif
