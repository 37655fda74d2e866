/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frame around the views, and the view in it. */
#ifndef PROFTOP_TUI_APP_APP_DRAW_H
#define PROFTOP_TUI_APP_APP_DRAW_H

struct app;
struct canvas;

/* Draws on a canvas of the size told to app_resize(). */
void app_draw(struct app *a, struct canvas *c);

#endif
