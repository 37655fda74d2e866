/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion of the filter prompt: kinds of terms, and values that the profile has. */
#ifndef PROFTOP_TUI_APP_APP_COMPLETE_H
#define PROFTOP_TUI_APP_APP_COMPLETE_H

struct app;

/* Tab in the filter prompt: completes the term at its end as far as all that fit agree, and says what these are. */
void app_complete(struct app *a);

#endif
