/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saved views: their list, which shows and deletes them, and the line in which one gets its name. */
#ifndef PROFTOP_TUI_APP_APP_SAVED_H
#define PROFTOP_TUI_APP_APP_SAVED_H

#include "tui/canvas/canvas.h"

#include <stdint.h>

struct app;

/* Opens the list. */
void app_saved_open(struct app *a);
/* A key while it is open. */
void app_saved_key(struct app *a, uint32_t key);
/* Over the lower part of the view. */
void app_saved_draw(struct app *a, struct canvas *c, struct rect r);
/* A key while the name of a view is typed. */
void app_saved_name_key(struct app *a, uint32_t key);

/* What the view on screen is to be sorted by, zoomed into, and which function selected there, as soon as it can be; NULL: as it is. */
void app_saved_want(struct app *a, const char *sort, const char *function, const char *zoom);
/* A new analysis is there: does it. */
void app_saved_land(struct app *a);

#endif
