/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views on hand and which one is on screen. */
#ifndef PROFTOP_TUI_APP_APP_VIEWS_H
#define PROFTOP_TUI_APP_APP_VIEWS_H

#include "tui/app/app_state.h"

#include <stdbool.h>

/* The present view's state, up to date and laid out. */
void *app_state(struct app *a);
/* Lays out the views that show lines over time, for analyses to come with those that will be wanted. */
void app_expect_lines(struct app *a);
/* Has the view something to show of what was read? */
bool app_has_view(const struct app *a, enum view_kind view);

/* Are the rows of the table threads, processes, events, …: groups of samples and not of frames? */
bool app_rows_of_samples(const struct app *a);

/* Does the action mean nothing for rows as they are grouped now? Modules have no source lines, threads no callers. */
bool app_not_of_rows(const struct app *a, enum action action);

/* Are there rows, or is there time, of which two parts may be compared? */
bool app_has_sides(const struct app *a);

/* Is it not on hand because of a baseline? */
bool app_baseline_hides(const struct app *a, enum view_kind view);
/* A sentence that says so; the caller frees. */
char *app_baseline_text(const struct app *a, enum view_kind view);
/* Every view has to look at the scene again. */
void app_scene_changed(struct app *a);
/* Where the cursor is. */
struct step app_here(struct app *a);
/* Puts the cursor of the view on screen there. */
void app_select(struct app *a, const struct step *s);
/* Is the view still as it was when the step was taken? Then its state says more than the place. */
bool app_is_at(struct app *a, const struct step *s);
/* Shows a view as it was left. */
void app_show(struct app *a, enum view_kind view);
/* The label of a selected key, or NULL; borrowed from the profile. */
const char *app_label(const struct app *a, const struct place *place);

#endif
