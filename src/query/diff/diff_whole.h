/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * By how much everything changed. That is what was measured, whether the machine or the program did it. One run a side cannot tell which it
 * was: the verdict and the interval know by how much the machine's speed may have changed besides.
 */
#ifndef PROFTOP_QUERY_DIFF_DIFF_WHOLE_H
#define PROFTOP_QUERY_DIFF_DIFF_WHOLE_H

struct diff;

/* Fills d->whole and d->whole_spread; of the table's rows those that are not everything have their verdicts. */
void diff_compare_whole(struct diff *d);

#endif
