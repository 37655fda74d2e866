/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers for people; the one place where they are made. All return out, which holds FMT_SIZE bytes where nothing else is said.
 * No locale: digits group with ',' and the decimal mark is '.'.
 */
#ifndef PROFTOP_BASE_FMT_H
#define PROFTOP_BASE_FMT_H

#include <stdbool.h>
#include <stdint.h>

#define FMT_SIZE         32
#define FMT_COUNTED_SIZE 96

/* What a weight counts. */
enum unit { UNIT_COUNT, UNIT_NS, UNIT_BYTES };

/* 61,143 */
const char *fmt_count(char out[FMT_SIZE], int64_t n);
/* "1 sample", "1,204 samples": with what is counted, which gets an s. */
const char *fmt_counted(char out[FMT_COUNTED_SIZE], int64_t n, const char *one);
/* "about 1,200 samples", "12 samples": of three digits, for what is said again and again of what grows. */
const char *fmt_about(char out[FMT_COUNTED_SIZE], int64_t n, const char *one);
/* "9,999", then "3.82 M": three digits, where there is little room. */
const char *fmt_short(char out[FMT_SIZE], int64_t n);
/* 182.4 MB (powers of 1,000, as in heaptrack), exact below 1,000: 512 B */
const char *fmt_bytes(char out[FMT_SIZE], int64_t n_bytes);
/* 36.0 s, 1.25 ms, 812 ns, 3 m 20 s, 2 h 05 m */
const char *fmt_ns(char out[FMT_SIZE], int64_t ns);
/* 34.2 for part 342 of 1000; 0.0 of 0; "<0.1" never: rounds half up at one decimal */
const char *fmt_percent(char out[FMT_SIZE], int64_t part, int64_t whole);
/* By unit; scale says how many of the stored integers make one (1 except for fractional counts). */
const char *fmt_weight(char out[FMT_SIZE], int64_t weight, enum unit unit, int64_t scale);
/* The same of what was worked out and is no integer: 12.5 of a count, 182.4 MB. */
const char *fmt_amount(char out[FMT_SIZE], double v, enum unit unit);
/* "+2.20 s", "-12", "0": an amount with its sign, for differences. */
const char *fmt_change(char out[FMT_SIZE], double v, enum unit unit);
/* "+12.3", "-0.4", "0.0": what part of whole a change is, in per cent. */
const char *fmt_change_percent(char out[FMT_SIZE], double part, double whole);
/* "0.93", "12.4", "1,240": a ratio, three digits of it. */
const char *fmt_ratio(char out[FMT_SIZE], double v);
/* Every digit: "12.5", "61143"; no grouping; for export and JSON. */
const char *fmt_exact(char out[FMT_SIZE], int64_t weight, int64_t scale);

#endif
