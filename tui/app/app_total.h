/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of what the screen is about, as row 0 says it. */
#ifndef PROFTOP_TUI_APP_APP_TOTAL_H
#define PROFTOP_TUI_APP_APP_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "query/core/lens.h"

struct app;

/* Has the screen all measures of a heap, so that what the lens' own one counts is not what it is about? */
bool app_is_of_all_measures(const struct app *a);

/* Is the screen about allocations, and column 0 about samples? */
bool app_is_beside_samples(const struct app *a);

/* The metric of column 0; on a screen that has all measures of a heap, where that is of samples, the heap's usual one. */
struct metric app_shown_metric(const struct app *a);

/*
 * The time that is shown, in ns since the recording's begin: what was chosen, in a heat map's cell too, or else from the first to
 * the last sample. Only where samples with times are shown.
 */
void app_shown_span(const struct app *a, int64_t *from_ns, int64_t *to_ns);
/* How long what is counted took; of a heap, whose measures count what was allocated at any time, the recording. */
int64_t app_total_ns(const struct app *a);

/*
 * "61,143 samples", or the weight where a folded file counts its samples by it. Of a heap "6,426 allocations" where the
 * screen has all measures, as the sum of its CALLS; else those that its measure counts. The caller frees.
 */
char *app_total_text(const struct app *a);

/* What a share of all is of, where that is not what row 0 counts: " bytes at this peak" of a heap; "" of samples. */
const char *app_share_of(const struct app *a);

/* The events that are not shown: " (mmap too: m)" of one of a heap's, else " +3 events"; "" for none. The caller frees. */
char *app_more_text(const struct app *a);

#endif
