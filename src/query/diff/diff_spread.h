/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs differ by of themselves, as far as those of a comparison tell: of one run a side, what two runs as far apart in speed do as a
 * rule and what their functions say; of several, what runs of a side differ by.
 */
#ifndef PROFTOP_QUERY_DIFF_DIFF_SPREAD_H
#define PROFTOP_QUERY_DIFF_DIFF_SPREAD_H

struct diff;

/* Fills d->spread, d->alike and d->follow, of factors and parts that are known. */
void diff_find_spread(struct diff *d);

#endif
