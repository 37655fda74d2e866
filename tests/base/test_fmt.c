/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/fmt.h"

#include <criterion/criterion.h>
#include <math.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

Test(fmt, counted)
{
	static const struct {
		int64_t n;
		const char *out;
	} cases[] = {
		{ 0, "0 samples" },
		{ 1, "1 sample" },
		{ 1204, "1,204 samples" },
		{ INT64_MAX, "9,223,372,036,854,775,807 samples" },
	};
	char out[FMT_COUNTED_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(fmt_counted(out, cases[i].n, "sample"), cases[i].out);
}

Test(fmt, short_counts)
{
	static const struct {
		int64_t n;
		const char *out;
	} cases[] = {
		{ 0, "0" },
		{ 9999, "9,999" },
		{ 10000, "10.0 k" },
		{ 3817678, "3.82 M" },
		{ -61143, "-61.1 k" },
	};
	char out[FMT_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(fmt_short(out, cases[i].n), cases[i].out);
}

Test(fmt, about)
{
	static const struct {
		int64_t n;
		const char *out;
	} cases[] = {
		{ 0, "0 samples" },
		{ 1, "1 sample" },
		{ 999, "999 samples" },
		{ 1000, "about 1,000 samples" },
		{ 12345, "about 12,300 samples" },
		{ 12399, "about 12,300 samples" },
		{ -61143, "about -61,100 samples" },
		{ INT64_MAX, "about 9,220,000,000,000,000,000 samples" },
		{ INT64_MIN, "about -9,220,000,000,000,000,000 samples" },
	};
	char out[FMT_COUNTED_SIZE];

	for (size_t i = 0; i < N(cases); i++)
		cr_expect_str_eq(fmt_about(out, cases[i].n, "sample"), cases[i].out);
}

Test(fmt, count)
{
	static const struct {
		int64_t n;
		const char *out;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ -61143, "-61,143" },
		{ INT64_MAX, "9,223,372,036,854,775,807" },
		{ INT64_MIN, "-9,223,372,036,854,775,808" },
	};
	char out[FMT_SIZE];

	for (size_t i = 0; i < N(cases); i++)
		cr_assert_str_eq(fmt_count(out, cases[i].n), cases[i].out);
}

Test(fmt, bytes_and_times)
{
	static const struct {
		int64_t n;
		const char *bytes, *ns;
	} cases[] = {
		{ 0, "0 B", "0 ns" },
		{ 512, "512 B", "512 ns" },
		{ 812, "812 B", "812 ns" },
		{ 1000, "1.00 kB", "1.00 µs" },
		{ -1250000, "-1.25 MB", "-1.25 ms" },
		{ 182400000, "182 MB", "182 ms" },
		{ 18240000, "18.2 MB", "18.2 ms" },
		{ 999999999, "1.00 GB", "1.00 s" },
		{ INT64_C(36000000000), "36.0 GB", "36.0 s" },
		{ INT64_C(59940000000), "59.9 GB", "59.9 s" },
		{ INT64_C(59960000000), "60.0 GB", "1 m 00 s" },
		{ INT64_C(200000000000), "200 GB", "3 m 20 s" },
		{ INT64_C(3599600000000), "3.60 TB", "1 h 00 m" },
		{ INT64_C(7500000000000), "7.50 TB", "2 h 05 m" },
		{ INT64_MIN, "-9.22 EB", "-2562047 h 47 m" },
	};
	char out[FMT_SIZE];

	for (size_t i = 0; i < N(cases); i++) {
		cr_assert_str_eq(fmt_bytes(out, cases[i].n), cases[i].bytes, "%s", out);
		cr_assert_str_eq(fmt_ns(out, cases[i].n), cases[i].ns, "%s", out);
	}
}

Test(fmt, percent)
{
	static const struct {
		int64_t part, whole;
		const char *out;
	} cases[] = {
		{ 342, 1000, "34.2" },
		{ 0, 0, "0.0" },
		{ 5, 0, "0.0" },
		{ 1, 3, "33.3" },
		{ 2, 3, "66.7" },
		{ 1, 2000, "0.1" },
		{ 1, 2001, "0.0" },
		{ -1, 4000, "0.0" },
		{ -1, 8, "-12.5" },
		{ 1, -8, "-12.5" },
		{ INT64_MAX, INT64_MAX, "100.0" },
		{ INT64_MIN, INT64_MIN, "100.0" },
		{ INT64_MAX, 1, "9223372036854775807.0" },
	};
	char out[FMT_SIZE];

	for (size_t i = 0; i < N(cases); i++)
		cr_assert_str_eq(fmt_percent(out, cases[i].part, cases[i].whole), cases[i].out,
				 "case %zu: %s", i, out);
}

Test(fmt, ratio)
{
	static const struct {
		double v;
		const char *out;
	} ratios[] = {
		{ 0, "0.00" },          { 0.93, "0.93" },  { 0.1, "0.10" },   { 0.0625, "0.062" },
		{ 0.00012, "0.00012" }, { 1, "1.00" },     { 9.994, "9.99" }, { 9.999, "10.0" },
		{ 12.44, "12.4" },      { 99.94, "99.9" }, { 99.96, "100" },  { 1240.4, "1,240" },
	};
	char out[FMT_SIZE];

	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
		cr_expect_str_eq(fmt_ratio(out, ratios[i].v), ratios[i].out);
}

Test(fmt, weight_and_exact)
{
	static const struct {
		int64_t weight, scale;
		enum unit unit;
		const char *weight_out, *exact_out;
	} cases[] = {
		{ 61143, 1, UNIT_COUNT, "61,143", "61143" },
		{ 61143, 0, UNIT_COUNT, "61,143", "61143" },
		{ 12500000, 1000000, UNIT_COUNT, "12.5", "12.5" },
		{ 12000000, 1000000, UNIT_COUNT, "12", "12" },
		{ -500000, 1000000, UNIT_COUNT, "-0.50", "-0.5" },
		{ 1, 1000000, UNIT_COUNT, "0.000001", "0.000001" },
		{ INT64_C(1234567890), 1000000, UNIT_COUNT, "1,235", "1234.56789" },
		{ 999999999, 1000000, UNIT_COUNT, "1000", "999.999999" },
		{ 1250, 1, UNIT_NS, "1.25 µs", "1250" },
		{ 1250, 1, UNIT_BYTES, "1.25 kB", "1250" },
		{ INT64_MIN, 1000000, UNIT_COUNT, "-9,223,372,036,855", "-9223372036854.775808" },
		{ INT64_MIN, 1, UNIT_COUNT, "-9,223,372,036,854,775,808", "-9223372036854775808" },
		{ 1, 3, UNIT_COUNT, "0.33", "0.33333333333333333333333333333" },
	};
	char out[FMT_SIZE];

	for (size_t i = 0; i < N(cases); i++) {
		fmt_weight(out, cases[i].weight, cases[i].unit, cases[i].scale);
		cr_assert_str_eq(out, cases[i].weight_out, "case %zu: %s", i, out);
		fmt_exact(out, cases[i].weight, cases[i].scale);
		cr_assert_str_eq(out, cases[i].exact_out, "case %zu: %s", i, out);
	}
}
