/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/run_history.h"

#include "base/err.h"
#include "tests/fuzz/fuzz.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "proftop history 1\nnoted 17\nmetric cpu-clock\ntotal 30\n"
#define ROWS "rows 00000000000000ab\n"
#define ONE  "f 0000000000000001 10 10 30 30\n"
#define TWO  "f 0000000000000002 20.5 20 20.5 20\n"

static int read_text(const char *text, size_t n, struct noted_run *out, struct err *e)
{
	return run_history_read(text, n, "x.run", out, e);
}

Test(run_history, is_written_as_it_was_read)
{
	static const char text[] = HEAD ROWS ONE TWO "end 2\n";
	struct noted_run r;
	struct err e = ERR_INIT;
	char *again;

	cr_assert_eq(read_text(text, sizeof(text) - 1, &r, &e), 0, "%s", err_text(&e));
	cr_assert_str_eq(r.metric, "cpu-clock");
	cr_assert_eq(r.function.n, (size_t)2);
	cr_assert_eq(r.rows, UINT64_C(0xab));
	again = run_history_write(&r);
	cr_assert_str_eq(again, text);
	cr_assert(run_history_same(&r, &r));
	free(again);
	noted_run_done(&r);
}

/* By its samples, whatever its functions are called; by its functions where samples are not known. */
Test(run_history, is_known_again)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{ HEAD ROWS ONE "end 1\n", HEAD ROWS TWO "end 1\n", true },
		{ HEAD ROWS ONE "end 1\n", HEAD "rows 00000000000000ac\n" ONE "end 1\n", false },
		{ HEAD ROWS ONE "end 1\n", HEAD ONE "end 1\n", true },
		{ HEAD ROWS ONE "end 1\n", HEAD TWO "end 1\n", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct noted_run a, b;

		cr_assert_eq(read_text(cases[i].a, strlen(cases[i].a), &a, NULL), 0);
		cr_assert_eq(read_text(cases[i].b, strlen(cases[i].b), &b, NULL), 0);
		cr_expect_eq(run_history_same(&a, &b), cases[i].same, "case %zu", i);
		noted_run_done(&a);
		noted_run_done(&b);
	}
}

Test(run_history, is_refused_with_the_line)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "x.run: line 1: the file ends too early" },
		{ "proftop history 2\n", "x.run: line 1: this is no history of proftop" },
		{ "proftop history 1\nnoted now\n", "x.run: line 2: the time is missing" },
		{ "proftop history 1\nnoted 9999999999999999999\n",
		  "x.run: line 2: the time is no number" },
		{ "proftop history 1\nnoted 1\nunit ns\n", "x.run: line 3: the metric is missing" },
		{ "proftop history 1\nnoted 1\nmetric x\ntotal -1\n",
		  "x.run: line 4: the total is no number" },
		{ "proftop history 1\nnoted 1\nmetric x\ntotal 1e999\n",
		  "x.run: line 4: the total is no number" },
		{ HEAD "rows 0000000000000000\nend 0\n",
		  "x.run: line 5: this is no function of a history" },
		{ HEAD ROWS ROWS "end 0\n", "x.run: line 6: this is no function of a history" },
		{ HEAD ONE ROWS "end 1\n", "x.run: line 6: this is no function of a history" },
		{ HEAD TWO ONE "end 2\n", "x.run: line 6: functions are not in order" },
		{ HEAD ONE ONE "end 2\n", "x.run: line 6: functions are not in order" },
		{ HEAD "f 1 1 1 1 1\nend 1\n", "x.run: line 5: this is no function of a history" },
		{ HEAD "f 0000000000000001 nan 1 1 1\nend 1\n",
		  "x.run: line 5: this is no function of a history" },
		{ HEAD "f 0000000000000001 1 1 1\nend 1\n",
		  "x.run: line 5: this is no function of a history" },
		{ HEAD ONE "end 2\n", "x.run: line 6: this is no function of a history" },
		{ HEAD ONE "end 1\nmore\n", "x.run: line 6: something follows the end" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct noted_run r;
		struct err e = ERR_INIT;

		cr_assert_lt(read_text(cases[i].text, strlen(cases[i].text), &r, &e), 0, "%s",
			     cases[i].text);
		cr_assert_str_eq(err_text(&e), cases[i].why);
		err_clear(&e);
	}
}

/* A file that was cut anywhere is no run with fewer functions. */
Test(run_history, is_refused_where_it_was_cut)
{
	static const char text[] = HEAD ROWS ONE TWO "end 2\n";

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		struct noted_run r;
		struct err e = ERR_INIT;
		char *cut = xmalloc(n + 1);

		memcpy(cut, text, n);
		cr_assert_lt(read_text(cut, n, &r, &e), 0, "cut at %zu", n);
		err_clear(&e);
		free(cut);
	}
	fuzz_vary(fuzz_run_history, text, sizeof(text) - 1, 2000);
}

Test(run_history, has_a_limit)
{
	size_t n = HISTORY_MOST_BYTES + 1;
	char *text = xmalloc(n);
	struct noted_run r;
	struct err e = ERR_INIT;

	memset(text, 'x', n);
	cr_assert_lt(read_text(text, n, &r, &e), 0);
	cr_assert_str_eq(err_text(&e), "x.run: too large for a history");
	err_clear(&e);
	free(text);
}
