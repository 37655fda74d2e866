/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prompts: searching as one types, adding to the filter, and the name of a file to be written. */
#ifndef PROFTOP_TUI_APP_APP_PROMPT_H
#define PROFTOP_TUI_APP_APP_PROMPT_H

#include "tui/app/app_state.h"

#include <stdint.h>

void app_prompt_open(struct app *a, enum prompt_kind kind);
void app_prompt_close(struct app *a);
/* A key while one is open. */
void app_prompt_key(struct app *a, uint32_t key);

#endif
