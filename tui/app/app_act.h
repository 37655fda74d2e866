/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What actions do that reach beyond the view on screen. */
#ifndef PROFTOP_TUI_APP_APP_ACT_H
#define PROFTOP_TUI_APP_APP_ACT_H

#include "tui/contract/keymap.h"
#include "tui/term/terminal_request.h"

struct app;

/* Asks the terminal for something; text is copied, or NULL. */
void app_wish(struct app *a, enum terminal_request_kind kind, const char *text, uint32_t line);

void app_act(struct app *a, enum action action);
/* Actions while the help overlay is open: they scroll, search or close it. */
void app_help_act(struct app *a, enum action action);

#endif
