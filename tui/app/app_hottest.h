/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hottest line of code of all functions, or of a file: keys that lead there from anywhere. */
#ifndef PROFTOP_TUI_APP_APP_HOTTEST_H
#define PROFTOP_TUI_APP_APP_HOTTEST_H

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct app;

/* Asks for sums by line; the code is shown when they are there. */
void app_hottest_ask(struct app *a);
/* Opens the editor at the line of a file (string_id) with the largest self, else total, of what is shown; else at `line`. */
void app_hottest_edit(struct app *a, uint32_t file, uint32_t line);
/* Another key was pressed meanwhile: rows are grouped as before. */
void app_hottest_forget(struct app *a);
/* A new analysis is there, perhaps that one. */
void app_hottest_land(struct app *a);
/* Was it made for app_hottest_edit() alone? Then it has been used, and is gone. */
bool app_hottest_takes(struct app *a, struct analysis *made);

#endif
