/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Row 1 of the frame: the views that this profile has. */
#ifndef PROFTOP_TUI_APP_APP_TABS_H
#define PROFTOP_TUI_APP_APP_TABS_H

struct app;
struct canvas;

void app_draw_tabs(struct app *a, struct canvas *c, int row);

#endif
