/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers for people, made from integers so that no locale has a say. "At most three digits" means
 * 1.23, 12.3, 123; when rounding makes 1,000 of 999.6 the next larger unit is taken.
 */
#include "config.h"

#include "base/fmt.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#define NS_PER_S     1e9
#define S_PER_MINUTE 60u
#define S_PER_HOUR   3600u
#define FRACTIONS    1000 /* parts of one that are shown of a count */

static uint64_t magnitude(int64_t n)
{
	return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

/* Digits in groups of three into out, after a sign; returns the length. */
static int put_grouped(char out[FMT_SIZE], bool negative, uint64_t n)
{
	char digits[FMT_SIZE];
	int n_digits = snprintf(digits, sizeof(digits), "%" PRIu64, n), used = 0;

	if (negative)
		out[used++] = '-';
	for (int i = 0; i < n_digits; i++) {
		if (i > 0 && (n_digits - i) % 3 == 0)
			out[used++] = ',';
		out[used++] = digits[i];
	}
	out[used] = '\0';
	return used;
}

/*
 * A value >= 0 with three digits and a suffix. False, and nothing written, when it rounds to more
 * than `most` and so needs a larger unit.
 */
static bool put_three(char out[FMT_SIZE], bool negative, double v, double most, const char *suffix)
{
	const char *sign = negative ? "-" : "";
	unsigned n;

	if (round(v) >= most)
		return false;
	if (v < 9.995) {
		n = (unsigned)lround(v * 100);
		snprintf(out, FMT_SIZE, "%s%u.%02u%s", sign, n / 100, n % 100, suffix);
	} else if (v < 99.95) {
		n = (unsigned)lround(v * 10);
		snprintf(out, FMT_SIZE, "%s%u.%u%s", sign, n / 10, n % 10, suffix);
	} else {
		snprintf(out, FMT_SIZE, "%s%u%s", sign, (unsigned)lround(v), suffix);
	}
	return true;
}

/* A value >= 1,000 with a prefix of powers of 1,000 and a unit. */
static void put_prefixed(char out[FMT_SIZE], bool negative, double v, const char *unit)
{
	static const char prefix[] = "kMGTPE";
	char suffix[8];

	for (size_t i = 0; prefix[i]; i++) {
		v /= 1000;
		snprintf(suffix, sizeof(suffix), " %c%s", prefix[i], unit);
		if (put_three(out, negative, v, 1000, suffix))
			return;
	}
	snprintf(out, FMT_SIZE, "%s>999 E%s", negative ? "-" : "", unit);
}

/* Takes zeroes and then a mark off the end of the digits that end at used. */
static void trim_zeroes(char *out, int used)
{
	while (used > 0 && out[used - 1] == '0')
		used--;
	if (used > 0 && out[used - 1] == '.')
		used--;
	out[used] = '\0';
}

const char *fmt_count(char out[FMT_SIZE], int64_t n)
{
	put_grouped(out, n < 0, magnitude(n));
	return out;
}

const char *fmt_counted(char out[FMT_COUNTED_SIZE], int64_t n, const char *one)
{
	char number[FMT_SIZE];

	snprintf(out, FMT_COUNTED_SIZE, "%s %s%s", fmt_count(number, n), one, n == 1 ? "" : "s");
	return out;
}

const char *fmt_about(char out[FMT_COUNTED_SIZE], int64_t n, const char *one)
{
	char number[FMT_SIZE];
	int64_t unit = 1;

	while (magnitude(n / unit) >= 1000)
		unit *= 10;
	if (unit == 1)
		return fmt_counted(out, n, one);
	snprintf(out, FMT_COUNTED_SIZE, "about %s %ss", fmt_count(number, n / unit * unit), one);
	return out;
}

const char *fmt_short(char out[FMT_SIZE], int64_t n)
{
	uint64_t most = magnitude(n);

	if (most < 10000)
		put_grouped(out, n < 0, most);
	else
		put_prefixed(out, n < 0, (double)most, "");
	return out;
}

const char *fmt_bytes(char out[FMT_SIZE], int64_t n_bytes)
{
	uint64_t n = magnitude(n_bytes);

	if (n < 1000)
		snprintf(out, FMT_SIZE, "%s%d B", n_bytes < 0 ? "-" : "", (int)n);
	else
		put_prefixed(out, n_bytes < 0, (double)n, "B");
	return out;
}

const char *fmt_ns(char out[FMT_SIZE], int64_t ns)
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t n = magnitude(ns), s;

	if (n < 1000) {
		snprintf(out, FMT_SIZE, "%s%d ns", sign, (int)n);
		return out;
	}
	if (put_three(out, ns < 0, (double)n / 1e3, 1000, " µs") ||
	    put_three(out, ns < 0, (double)n / 1e6, 1000, " ms"))
		return out;
	if ((double)n < 59.95 * NS_PER_S) {
		put_three(out, ns < 0, (double)n / NS_PER_S, 1000, " s");
		return out;
	}
	s = (uint64_t)llround((double)n / NS_PER_S);
	if (s < S_PER_HOUR)
		snprintf(out, FMT_SIZE, "%s%u m %02u s", sign, (unsigned)(s / S_PER_MINUTE),
			 (unsigned)(s % S_PER_MINUTE));
	else
		snprintf(out, FMT_SIZE, "%s%" PRIu64 " h %02u m", sign, s / S_PER_HOUR,
			 (unsigned)(s % S_PER_HOUR / S_PER_MINUTE));
	return out;
}

const char *fmt_percent(char out[FMT_SIZE], int64_t part, int64_t whole)
{
	unsigned __int128 w = magnitude(whole), tenths;
	bool negative = (part < 0) != (whole < 0);

	if (whole == 0) {
		snprintf(out, FMT_SIZE, "0.0");
		return out;
	}
	tenths = ((unsigned __int128)magnitude(part) * 2000 + w) / (2 * w);
	if (tenths == 0)
		negative = false;
	if (tenths / 10 > INT64_MAX)
		tenths = (unsigned __int128)INT64_MAX * 10;
	snprintf(out, FMT_SIZE, "%s%" PRIu64 ".%u", negative ? "-" : "", (uint64_t)(tenths / 10),
		 (unsigned)(tenths % 10));
	return out;
}

/* A fractional count: three digits of it, every digit of its whole part. */
static void put_fraction(char out[FMT_SIZE], int64_t weight, int64_t scale)
{
	double v = (double)magnitude(weight) / (double)scale;
	uint64_t whole = magnitude(weight) / (uint64_t)scale;

	if (whole >= 1000) {
		put_grouped(out, weight < 0, (uint64_t)llround(v));
	} else if (v >= 0.005) {
		put_three(out, weight < 0, v, 2000, "");
	} else {
		fmt_exact(out, weight, scale);
	}
}

const char *fmt_weight(char out[FMT_SIZE], int64_t weight, enum unit unit, int64_t scale)
{
	int64_t whole = scale > 1 ? weight / scale : weight;

	switch (unit) {
	case UNIT_NS:
		return fmt_ns(out, whole);
	case UNIT_BYTES:
		return fmt_bytes(out, whole);
	case UNIT_COUNT:
		break;
	}
	if (scale > 1 && weight % scale != 0)
		put_fraction(out, weight, scale);
	else
		fmt_count(out, whole);
	return out;
}

/* The nearest integer that is surely one. */
static int64_t rounded(double v)
{
	return v >= 0x1p62 ? (int64_t)1 << 62 : v <= -0x1p62 ? -((int64_t)1 << 62) : llround(v);
}

const char *fmt_amount(char out[FMT_SIZE], double v, enum unit unit)
{
	if (unit == UNIT_COUNT && fabs(v) < 0x1p50 && fabs(v - round(v)) > 1e-6)
		return fmt_weight(out, rounded(v * FRACTIONS), unit, FRACTIONS);
	return fmt_weight(out, rounded(v), unit, 1);
}

const char *fmt_change(char out[FMT_SIZE], double v, enum unit unit)
{
	char amount[FMT_SIZE];

	fmt_amount(amount, v, unit);
	snprintf(out, FMT_SIZE, "%s%.*s", v > 0 ? "+" : "", FMT_SIZE - 2, amount);
	return out;
}

const char *fmt_change_percent(char out[FMT_SIZE], double part, double whole)
{
	double percent = whole != 0 ? 100 * part / whole : 0;

	if (fabs(percent) < 0.05)
		snprintf(out, FMT_SIZE, "0.0");
	else
		snprintf(out, FMT_SIZE, fabs(percent) < 999.95 ? "%+.1f" : "%+.0f",
			 fmax(fmin(percent, 1e12), -1e12));
	return out;
}

const char *fmt_ratio(char out[FMT_SIZE], double v)
{
	if (fabs(v) >= 99.95)
		return fmt_amount(out, round(v), UNIT_COUNT);
	if (fabs(v) >= 9.995)
		snprintf(out, FMT_SIZE, "%.1f", v);
	else if (fabs(v) >= 0.0995 || fabs(v) == 0)
		snprintf(out, FMT_SIZE, "%.2f", v);
	else
		snprintf(out, FMT_SIZE, "%.2g", v);
	return out;
}

const char *fmt_exact(char out[FMT_SIZE], int64_t weight, int64_t scale)
{
	uint64_t n = magnitude(weight), unit = scale > 1 ? (uint64_t)scale : 1;
	const char *sign = weight < 0 ? "-" : "";
	int used = snprintf(out, FMT_SIZE, "%s%" PRIu64, sign, n / unit);
	unsigned __int128 rest = n % unit;

	if (rest == 0)
		return out;
	out[used++] = '.';
	while (rest > 0 && used < FMT_SIZE - 1) {
		rest *= 10;
		out[used++] = (char)('0' + (int)(rest / unit));
		rest %= unit;
	}
	trim_zeroes(out, used);
	return out;
}
