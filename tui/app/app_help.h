/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The help overlay: the keys that work in this view now, then those that work everywhere. */
#ifndef PROFTOP_TUI_APP_APP_HELP_H
#define PROFTOP_TUI_APP_APP_HELP_H

#include "tui/contract/view.h"

#include <stdbool.h>

struct app;

/* Draws the overlay, scrolled to a->help.top, which is kept in range. */
void app_draw_help(struct canvas *c, struct rect r, struct app *a);
/* Searches a regular expression in it, or nothing when NULL; false, and a sentence on screen, when it is bad. */
bool app_help_search(struct app *a, const char *pattern);
/* To the first match (0), the next or the previous one. */
void app_help_find(struct app *a, int step);

#endif
