/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What actions do that reach beyond the view on screen. */
#ifndef PROFTOP_TUI_APP_APP_ACT_H
#define PROFTOP_TUI_APP_APP_ACT_H

#include "tui/contract/keymap.h"

struct app;

void app_act(struct app *a, enum action action);
/* Actions while the help overlay is open: they scroll, search or close it. */
void app_help_act(struct app *a, enum action action);

#endif
