/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user wants to see of the profile, and what is said to him of it. */
#ifndef PROFTOP_TUI_APP_APP_LENS_H
#define PROFTOP_TUI_APP_APP_LENS_H

#include <stdbool.h>

struct app;

/* Says something until the next key. */
void app_say(struct app *a, bool bad, const char *text);
/* As app_say(); text becomes the app's. */
void app_say_owned(struct app *a, bool bad, char *text);
/* Asks for an analysis through the lens as it now is. */
void app_reanalyse(struct app *a);
/*
 * Adds terms to the filter; a sentence on screen when they are wrong. *added (may be NULL) is then how
 * they stand there, which the caller frees.
 */
int app_add_filter(struct app *a, const char *terms, char **added);
/* Takes terms that were added as one out of the filter, where they stand last; false when they are not there. */
bool app_take_filter(struct app *a, const char *terms);
/* Do these terms, one after the other, stand in the filter? */
bool app_has_filter(const struct app *a, const char *terms);

#endif
