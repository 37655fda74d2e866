/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ratios of events: what is read as one, which are made by themselves, their values and intervals in reports. */
#include "config.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/options/query_options.h"
#include "cli/report/report.h"
#include "cli/report/report_json.h"
#include "cli/report/report_text.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/ratio.h"
#include "tests/support/read_recording.h"

/* n samples of an event of so many periods each, all in one function. */
struct run {
	int n;
	long period;
	const char *event, *function;
};

/* As perf script prints them; malloc'd. */
static char *script_of(const struct run *runs, size_t n_runs)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int at = 0;

	for (size_t i = 0; i < n_runs; i++)
		for (int k = 0; k < runs[i].n; k++, at++)
			fprintf(f, "app 7 [000] 1.%06d: %10ld %s: \n\t10 %s (/bin/app)\n\n", at,
				runs[i].period, runs[i].event, runs[i].function);
	fclose(f);
	return text;
}

static struct profile *read_runs(const struct run *runs, size_t n_runs)
{
	char *text = script_of(runs, n_runs);
	struct profile *p = read_as("perf-script", text);

	free(text);
	return p;
}

/* The report with these ratios, or "error: SENTENCE"; malloc'd. */
static char *answer(struct profile *p, const char *const *ratios, size_t n_ratios,
		    enum view_kind view, const char *filter, bool json)
{
	struct ratios made = { .n = 0 };
	struct filter *f = NULL;
	struct report r = { .view = view, .ascii = true };
	struct lens_wish w = {
		.metric = "", .ratios = ratios, .n_ratios = n_ratios, .made = &made
	};
	struct err e = ERR_INIT;
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	cr_assert_eq(filter_parse(filter, &f, &e), 0);
	w.filter = f;
	if (query_options_analysis(&w, p, ANALYSIS_TREE, &r.analysis, &e) == 0) {
		r.ratios = made.n ? &made : NULL;
		cr_assert_eq(report_make_rows(&r, NULL, &e), 0, "%s", err_text(&e));
		if (json)
			report_json(&r, to);
		else
			report_text(&r, to);
		report_done(&r);
		analysis_free(r.analysis);
	} else {
		fprintf(to, "error: %s", err_text(&e));
	}
	fclose(to);
	ratios_done(&made);
	filter_free(f);
	err_clear(&e);
	return text;
}

/* hot has 64 samples of each event, cold four, and idle none of cycles. */
static const struct run both[] = {
	{ 64, 1000, "cycles:u", "hot" },        { 64, 1500, "instructions:u", "hot" },
	{ 4, 1000, "cycles:u", "cold" },        { 4, 1500, "instructions:u", "cold" },
	{ 20, 1500, "instructions:u", "idle" },
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

Test(ratio, ipc_is_made_by_itself_with_an_interval_and_blank_where_samples_are_few)
{
	struct profile *p = read_runs(both, N(both));
	char *text = answer(p, NULL, 0, VIEW_KIND_TOP, "", false);

	/* 1.5 times and by exp(1.96 * sqrt(2 / 64)) */
	cr_expect_str_eq(
		text,
		"#  SELF %  TOTAL %      SAMPLES       IPC (95 %)           FUNCTION          MODULE\n"
		"     94.1     94.1           64      1.50 (1.06-2.12)      hot               app\n"
		"      5.9      5.9            4                            cold              app\n"
		"# IPC = instructions:u / cycles:u\n"
		"# ratios are of what ends in the row (SELF); blank where samples are too few\n",
		"%s", text);
	free(text);
	profile_free(p);
}

Test(ratio, rows_are_those_of_a_report_without_ratios)
{
	static const char *const none[] = { "none" };
	struct profile *p = read_runs(both, N(both));
	char *text = answer(p, none, 1, VIEW_KIND_TREE, "", false);
	char *with = answer(p, NULL, 0, VIEW_KIND_TREE, "", false);

	cr_expect_str_eq(text,
			 "# TOTAL %   SELF %  CALL TREE         MODULE\n"
			 "    100.0      0.0  app\n"
			 "     94.1     94.1    hot             app\n"
			 "      5.9      5.9    cold            app\n",
			 "%s", text);
	cr_expect(strstr(with, "     94.1     94.1      1.50 (1.06-2.12)        hot"), "%s", with);
	cr_expect_null(strstr(with, "idle"), "%s", with);
	free(text);
	free(with);
	profile_free(p);
}

Test(ratio, json_has_value_and_interval_or_null)
{
	static const char *const given[] = { "CPI = cycles/instructions * 1000" };
	struct profile *p = read_runs(both, N(both));
	char *text = answer(p, given, 1, VIEW_KIND_TOP, "", true), *at;
	double value = 0, low = 0, high = 0;

	cr_expect(strstr(text, "\"ratios\": [{\"name\": \"CPI\", \"numerator\": \"cycles:u\", "
			       "\"denominator\": \"instructions:u\", \"factor\": 1000}]"),
		  "%s", text);
	at = strstr(text, "\"ratios\": [{\"self\": [");
	cr_assert(at, "%s", text);
	cr_assert_eq(sscanf(at, "\"ratios\": [{\"self\": [%lf, %lf, %lf]", &value, &low, &high), 3);
	cr_expect_float_eq(value, 1000 / 1.5, 1e-9);
	cr_expect_float_eq(low, value / exp(1.96 * sqrt(2.0 / 64)), 1e-6);
	cr_expect_float_eq(high, value * exp(1.96 * sqrt(2.0 / 64)), 1e-6);
	cr_expect(strstr(text, "\"ratios\": [{\"self\": null, \"total\": null}]"), "%s", text);
	free(text);
	profile_free(p);
}

/* One sample that holds nearly all of the periods is as good as one. */
Test(ratio, periods_that_differ_widen_the_interval)
{
	static const struct run uneven[] = {
		{ 64, 1000, "cycles", "hot" },
		{ 64, 10, "instructions", "hot" },
		{ 1, 100000, "instructions", "hot" },
	};
	struct profile *p = read_runs(uneven, N(uneven));
	char *text = answer(p, NULL, 0, VIEW_KIND_TOP, "", true);

	cr_expect(strstr(text, "\"ratios\": [{\"self\": null, \"total\": null}]"), "%s", text);
	free(text);
	profile_free(p);
}

Test(ratio, events_of_other_modes_or_without_periods_make_none)
{
	static const struct run modes[] = { { 64, 1000, "cycles:k", "hot" },
					    { 64, 1000, "instructions:u", "hot" } };
	struct profile *p = read_runs(modes, N(modes));
	char *text = answer(p, NULL, 0, VIEW_KIND_TOP, "", true);

	cr_expect_null(strstr(text, "\"ratios\""), "%s", text);
	free(text);
	text = answer(p, NULL, 0, VIEW_KIND_TOP, "event:cycles", true);
	cr_expect_null(strstr(text, "\"ratios\""), "%s", text);
	free(text);
	profile_free(p);
}

/* Of sums nobody knows how many samples they are: there is a value, without an interval. */
Test(ratio, sums_have_no_interval)
{
	static const char *const given[] = { "R=Dr/Ir*100" };
	struct profile *p = read_as("callgrind", "events: Ir Dr\nfn=main\n1 200 30\n");
	char *text = answer(p, given, 1, VIEW_KIND_TOP, "", true);

	cr_expect(strstr(text, "\"ratios\": [{\"self\": [15], \"total\": [15]}]"), "%s", text);
	free(text);
	profile_free(p);
}

Test(ratio, names_of_events_may_hold_slashes)
{
	static const struct run hybrid[] = {
		{ 64, 1000, "cpu_core/cycles/u", "hot" },
		{ 64, 2000, "cpu_core/instructions/u", "hot" },
	};
	static const char *const given[] = { "R=cpu_core/instructions/u/cpu_core/cycles/u" };
	struct profile *p = read_runs(hybrid, N(hybrid));

	for (size_t n = 0; n < 2; n++) {
		char *text = answer(p, given, n, VIEW_KIND_TOP, "", false);

		cr_expect(strstr(text, "      2.00 (1.41-2.83)"), "%s", text);
		free(text);
	}
	profile_free(p);
}

Test(ratio, refusals_say_why)
{
	static const char *const bad[] = {
		"",       "IPC",     "=a/b",     "IPC=a",   "IPC=/b",
		"IPC=a/", "X=a/b*0", "X=a/b*-1", "X=a/b*x", "X=a/b*1e999"
	};
	static const char *const unknown[] = { "X=cycles/nothing" };
	static const char *const many[] = { "none",
					    "a=cycles/instructions",
					    "b=cycles/instructions",
					    "c=cycles/instructions",
					    "d=cycles/instructions",
					    "e=cycles/instructions" };
	struct profile *p = read_runs(both, N(both));
	struct err e = ERR_INIT;
	char *text;

	for (size_t i = 0; i < N(bad); i++) {
		cr_expect_lt(ratio_check(bad[i], &e), 0, "%s", bad[i]);
		cr_expect(strstr(err_text(&e), "--ratio wants NAME="), "%s", err_text(&e));
		err_clear(&e);
	}
	cr_expect_eq(ratio_check("none", &e), 0);
	cr_expect_eq(ratio_check("IPC = a/b * 1e3 ", &e), 0, "%s", err_text(&e));
	text = answer(p, unknown, 1, VIEW_KIND_TOP, "", false);
	cr_expect_str_eq(text, "error: no event is called \"nothing\"; there are: "
			       "cycles:u, instructions:u");
	free(text);
	text = answer(p, many, N(many), VIEW_KIND_TOP, "", false);
	cr_expect_str_eq(text, "error: --ratio can be given 4 times at most");
	free(text);
	text = answer(p, many + 1, 1, VIEW_KIND_TOP, "event:cycles", false);
	cr_expect(strstr(text, "needs samples of two events in a row"), "%s", text);
	free(text);
	profile_free(p);
}
