/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison within one recording: the user chooses two ranges of time, threads, processes or events as its sides, looks
 * at it, and goes back to where he was.
 */
#ifndef PROFTOP_TUI_APP_APP_COMPARISON_H
#define PROFTOP_TUI_APP_APP_COMPARISON_H

#include "query/core/lens.h"

#include <stdbool.h>

struct app;

/* What is selected in the view on screen becomes a side; with the second one the comparison opens, once it is counted. */
void app_comparison_choose(struct app *a, enum side side);
/* Opens what was counted meanwhile, or says why not; false: it is not there yet, or nothing was asked for. */
bool app_comparison_take(struct app *a);
/* Stops the counting, which speaks to the worker's descriptor; false: nothing is counted. */
bool app_comparison_stop(struct app *a);
/* Back to the recording, stops the counting, or forgets what was chosen; false when there is neither. */
bool app_comparison_leave(struct app *a);
void app_comparison_done(struct app *a);

/* "time:2,5 → time:6,9" while they are compared, else ""; the caller frees. */
char *app_comparison_name(const struct app *a);

#endif
