/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The menu of a row: what can be done with it, each with its key, as one term of the filter. */
#ifndef PROFTOP_TUI_APP_APP_MENU_H
#define PROFTOP_TUI_APP_APP_MENU_H

#include "tui/canvas/canvas.h"

#include <stdint.h>

struct app;

/* Opens it for the selected row, or says why there is none. */
void app_menu_open(struct app *a);
/* A key while it is open: does what it stands for, moves, or closes the menu; of others it says that they are not in it. */
void app_menu_key(struct app *a, uint32_t key);
/* Over the lower part of the view. */
void app_draw_menu(struct app *a, struct canvas *c, struct rect r);

#endif
