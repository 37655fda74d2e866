/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where everything goes. */
#ifndef PROFTOP_TUI_APP_APP_CHROME_H
#define PROFTOP_TUI_APP_APP_CHROME_H

#include "base/fmt.h"
#include "tui/contract/actions.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct app;
struct chrome;
struct time_axis;
struct weights;

/* Has what is shown a time axis? */
bool app_has_times(const struct weights *w);
/* Does info say that something is missing? */
bool app_has_losses(const struct analysis *an);
/* Is there any term in the filter? */
bool app_is_filtered(const struct app *a);
/* The rows of the frame, and the view's place. */
void app_chrome(const struct app *a, struct chrome *f);
/*
 * The activity row of a screen of so many columns as an axis, whose column 0 is column 1 of the screen,
 * and what stands behind it; false: there is no room, or there are no times.
 */
bool app_activity_axis(const struct app *a, int cols, struct time_axis *t,
		       char label[3 * FMT_SIZE]);
/* The stretch of time between two columns of the activity row; false: they are not in it. */
bool app_activity_range(const struct app *a, int from_col, int to_col, int64_t *from_ns,
			int64_t *to_ns);

/* A piece of the frame of this drawing that acts when it is clicked. */
void app_add_hit(struct app *a, int row, int col, int cols, enum action action);

#endif
