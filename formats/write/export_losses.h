/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a profile a format cannot hold, for a message to who exports. */
#ifndef PROFTOP_FORMATS_WRITE_EXPORT_LOSSES_H
#define PROFTOP_FORMATS_WRITE_EXPORT_LOSSES_H

#include "formats/format.h"

/*
 * HOLDS() of what the profile of the analysis has, as far as its filter leaves anything: with a filter that makes new stacks of frames,
 * no addresses and no lines are left to be held.
 */
unsigned export_has(const struct analysis *a);

/* "times, CPUs and modules": what of these HOLDS() is, or NULL for none; the caller frees. */
char *export_holdings(unsigned holds);

/* The same of what the analysis has, and a file of the format cannot hold. */
char *export_lost(const struct analysis *a, const struct format *f);

/* Does a filter, or a grouping, leave frames without the addresses and lines that the profile has? */
bool export_drops_positions(const struct analysis *a);

#endif
