/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which part of the time of a profile that is being recorded is shown, and with what it is compared. */
#ifndef PROFTOP_TUI_APP_APP_WINDOW_H
#define PROFTOP_TUI_APP_APP_WINDOW_H

#include "query/core/lens.h"

#include <stdbool.h>

struct app;

/* "last 10 s", "since the start"; constant. */
const char *app_window_text(const struct app *a);

/* Is there a time in the user's own filter? Then no window goes on, as it would leave that time behind. */
bool app_window_is_chosen(const struct app *a);

/* The user's metric, or what a baseline takes for it where nobody chose one. */
struct metric app_window_metric(const struct app *a);

/* Is what is shown of a heap what is there at a moment, so that a baseline compares two moments and no two stretches of time? */
bool app_window_is_level(const struct app *a);

/* The next one of those that there are; whoever turns asks for an analysis then. */
void app_window_next(struct app *a);

/* Has the window gone on since it was asked for, so that what was in it is not, or what was behind it is? */
bool app_window_moves(const struct app *a);

/* What to ask for: the user's lens through the present window; the caller ends with lens_done(). */
void app_window_lens(const struct app *a, struct lens *out);

#endif
