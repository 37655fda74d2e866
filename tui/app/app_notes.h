/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes on rows: the line in which one is typed, and what the status says of the selected row's. */
#ifndef PROFTOP_TUI_APP_APP_NOTES_H
#define PROFTOP_TUI_APP_APP_NOTES_H

#include <stdint.h>

struct app;

/* Opens the line for the selected row, with the note that it has; or says why there can be none. */
void app_notes_open(struct app *a);
/* A key while it is open. */
void app_notes_key(struct app *a, uint32_t key);
/* What the selected row's note says, cleaned, or NULL; the caller frees. */
char *app_notes_text(struct app *a);
/* Frees what was being typed. */
void app_notes_done(struct app *a);

#endif
