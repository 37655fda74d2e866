/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of two numbers, for qsort(). */
#ifndef PROFTOP_BASE_COMPARE_H
#define PROFTOP_BASE_COMPARE_H

/* Below, at or above 0, as a is before b, equal or behind it. Where one number after the other counts: COMPARE(…) ?: COMPARE(…). */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#endif
