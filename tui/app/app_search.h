/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is searched in the views. */
#ifndef PROFTOP_TUI_APP_APP_SEARCH_H
#define PROFTOP_TUI_APP_APP_SEARCH_H

#include <stdbool.h>

struct app;

/* Searches a regular expression from now on, or nothing when NULL; false, and seeking.error, when it is bad. */
bool app_search(struct app *a, const char *pattern);
/* Searches the same in another analysis, which the views have to show from now on. */
void app_search_again(struct app *a);
/* To the match at the cursor (0), the next or the previous one. */
void app_find(struct app *a, int step);

#endif
