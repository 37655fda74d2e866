/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The most that each site ever held, exact to the moment: lines over time do not see what comes and goes within a slot. */
#ifndef PROFTOP_QUERY_HEAP_SITE_PEAKS_H
#define PROFTOP_QUERY_HEAP_SITE_PEAKS_H

#include <stdint.h>

struct heap_asking;

/*
 * Bytes by row of the footprint into peak, [ask->n_sites]. Of several processes each has a peak of its own, and these are added
 * up, as FOOTPRINT_PEAK is: no site has less here than there. 0 or -ECANCELED.
 */
int heap_site_peaks(struct heap_asking *ask, int64_t *peak);

#endif
