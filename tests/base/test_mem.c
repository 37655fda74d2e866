/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

Test(mem, vectors_keep_their_contents)
{
	VEC(int) v = { 0 };

	for (int i = 0; i < 10000; i++)
		vec_push(&v, i * 3);
	cr_assert_eq(v.n, 10000);
	cr_assert_geq(v.cap, v.n);
	for (int i = 0; i < 10000; i++)
		cr_assert_eq(v.at[i], i * 3);
	vec_clear(&v);
	cr_assert_eq(v.n, 0);
	cr_assert_geq(v.cap, 10000);
	vec_done(&v);
	cr_assert_null(v.at);
	cr_assert_eq(v.cap, 0);
}

Test(mem, strings)
{
	char *a = xstrdup("abc"), *b = xstrndup("abc", 2), *c = xstrndup("ab", 9);
	char *d = xasprintf("%s-%d", "x", 7);

	cr_assert_str_eq(a, "abc");
	cr_assert_str_eq(b, "ab");
	cr_assert_str_eq(c, "ab");
	cr_assert_str_eq(d, "x-7");
	free(a);
	free(b);
	free(c);
	free(d);
}

Test(mem, reverse)
{
	struct {
		int n;
		char c;
	} at[] = { { 1, 'a' }, { 2, 'b' }, { 3, 'c' }, { 4, 'd' } };

	mem_reverse(at, 4, sizeof(*at));
	for (int i = 0; i < 4; i++)
		cr_expect(at[i].n == 4 - i && at[i].c == 'd' - i);
	mem_reverse(at, 3, sizeof(*at));
	cr_expect(at[0].n == 2 && at[1].n == 3 && at[2].n == 4 && at[3].n == 1);
	mem_reverse(at, 1, sizeof(*at));
	mem_reverse(NULL, 0, sizeof(*at));
	cr_expect_eq(at[0].n, 2);
}

Test(mem, zero_bytes_are_something)
{
	void *a = xmalloc(0), *b = xcalloc(0, 0), *c = xreallocarray(NULL, 0, 8);

	cr_assert(a && b && c);
	free(a);
	free(b);
	free(c);
}

Test(mem, overflow_aborts, .signal = SIGABRT)
{
	fclose(stderr);
	stderr = tmpfile();
	xreallocarray(NULL, SIZE_MAX / 2, 3);
}
