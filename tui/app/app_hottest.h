/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hottest line of code of all functions: a key that leads there from anywhere. */
#ifndef PROFTOP_TUI_APP_APP_HOTTEST_H
#define PROFTOP_TUI_APP_APP_HOTTEST_H

#include <stdint.h>

struct app;

/* Asks for sums by line; the code is shown when they are there. */
void app_hottest_ask(struct app *a);
/* The line of a file (string_id) with the largest self, else total, of what is shown; 0: none is known. Takes a pass. */
uint32_t app_hottest_line_of(struct app *a, uint32_t file);
/* Another key was pressed meanwhile: rows are grouped as before. */
void app_hottest_forget(struct app *a);
/* A new analysis is there, perhaps that one. */
void app_hottest_land(struct app *a);

#endif
