/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The row of hints at the bottom: keys that do something here, or what a prompt takes. */
#ifndef PROFTOP_TUI_APP_APP_HINTS_H
#define PROFTOP_TUI_APP_APP_HINTS_H

#include "tui/contract/actions.h"

struct app;
struct canvas;

/* Room for the keys of one action. */
#define APP_KEYS_SIZE 64

/* Draws the row of the chrome, which there must be. */
void app_draw_hints(struct app *a, struct canvas *c);

/* The first key that does it, without < and >; "" when there is none. */
void app_first_key(const struct app *a, enum action action, char out[APP_KEYS_SIZE]);

#endif
