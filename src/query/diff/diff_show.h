/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One size for both sides: column 0 of a comparison, which widths, shares and the weights of rows are made of, so that
 * views need not know that two things are compared.
 */
#ifndef PROFTOP_QUERY_DIFF_DIFF_SHOW_H
#define PROFTOP_QUERY_DIFF_DIFF_SHOW_H

#include "query/core/lens.h"

struct diff;

/* Fills column 0 of the tree, the table and the sums of d's analysis; totals of the tree are sums of what is below. */
void diff_show(const struct diff *d, enum shown_size shown);

#endif
