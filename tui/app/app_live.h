/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is special about a profile that is being recorded: how fast it grows, which part of its time is shown, and
 * that it can be held still. The views are the same as for files.
 */
#ifndef PROFTOP_TUI_APP_APP_LIVE_H
#define PROFTOP_TUI_APP_APP_LIVE_H

#include "tui/contract/actions.h"

#include <stdbool.h>
#include <stdint.h>

struct app;

/* B was pressed where it is the end of a range: in live it is said what it is elsewhere. */
void app_live_marked(struct app *a);
/* Actions of live alone; false when it is none of them. */
bool app_live_act(struct app *a, enum action action);
/* Is the action for what comes, of a recording that has ended? Going on and leaving a baseline are not. */
bool app_live_is_over(const struct app *a, enum action action);

/* What time it is where it is recorded, by which windows go; what is asked for next is of that. */
void app_live_clock(struct app *a, int64_t now_ms);

/* Notes how much is there by now; more: and that more is yet to be counted. True when that changes what row 0 says. */
bool app_live_tick(struct app *a, int64_t now_ms, bool more);

/*
 * Is it time to show what changed? What somebody did, and what follows from it within a second, is shown at once; what comes
 * by itself four times a second, all of it together: an analysis, and what is beside it.
 */
bool app_live_shows(struct app *a, int64_t now_ms, bool at_once, bool analysis, bool beside);

/* When what is owed will be shown, at the latest. */
int64_t app_live_due_ms(const struct app *a, int64_t now_ms);

/* Once the recording has ended: milliseconds until the next app_live_tick() may have something to say; -1: it will not. */
int app_live_wait_ms(const struct app *a);

/*
 * The right end of row 0 in ever longer forms, as many as there is room for in out; the caller frees them. In this order: how
 * it is (paused, ended, exited or stopped, unfocused, live); what was lost, if anything was; the rate; that nothing was lost;
 * of what has ended, what that was; the cpu that it takes; the window, where that is not all; the cpu that we take. These are the
 * first *n_due forms, for which what stands on the left gives way. Then what goes on, how long, and that the window is all.
 */
int app_live_totals(const struct app *a, char **out, int most, int *n_due);

#endif
