/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way back from where one is, and what views ask of the app. */
#ifndef PROFTOP_TUI_APP_APP_HISTORY_H
#define PROFTOP_TUI_APP_APP_HISTORY_H

#include "tui/app/app_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Shows another view with a place, or none; back returns to here. */
void app_go(struct app *a, enum view_kind view, const struct place *place);
/* The same where back returns to a step that was taken earlier. */
void app_go_from(struct app *a, const struct step *from, enum view_kind view,
		 const struct place *place);
/* Adds terms to the filter of the view on screen; back takes them away. As app_add_filter(). */
int app_narrow_here(struct app *a, const char *terms);
/* What is shown in place of what is. */
struct instead {
	const char *terms; /* of the filter */
	enum view_kind view;
	enum grouping grouping;
	const struct metric *metric; /* NULL: as it is */
};

/* Shows it; back shows again what was. -EINVAL with a sentence. */
int app_show_instead(struct app *a, const struct instead *i, struct err *e);
/* Shows this stretch of time alone (ns since the start), in place of any other; back undoes it. */
void app_show_time(struct app *a, int64_t from_ns, int64_t to_ns);
/* One step back, without the filter that the step added; false when there is none. */
bool app_back(struct app *a);
/* Back to the view that one came from; false when there is none. */
bool app_leave(struct app *a);
/* Forgets all steps but those that added terms which still filter. */
void app_clear_trail(struct app *a);
void app_free_trail(struct app *a);
/* A new analysis is there: the cursor goes where a step back wanted it. */
void app_land(struct app *a);
/* Does what a view asked for, and frees it. */
void app_apply(struct app *a, struct effect *fx);

#endif
