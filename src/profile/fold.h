/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old samples that differ in their times only → one row; private to this room. See build_folding(). */
#ifndef PROFTOP_PROFILE_FOLD_H
#define PROFTOP_PROFILE_FOLD_H

#include "store.h"

/* The pen is held. True: *out is to take the place of the samples; false: nothing was to be done, or there was no room. */
bool fold_rows(struct profile *p, struct store_rows *out);

/* What a sample adds to row_square. */
static inline double fold_square(int64_t weight, int64_t scale)
{
	double units = (double)weight / (double)scale;

	return units * units;
}

#endif
