/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two prompts: searching as one types, and adding to the filter. */
#ifndef PROFTOP_TUI_APP_APP_PROMPT_H
#define PROFTOP_TUI_APP_APP_PROMPT_H

#include "tui/app/app_state.h"

#include <stdint.h>

void app_prompt_open(struct app *a, enum prompt_kind kind);
/* A key while one is open. */
void app_prompt_key(struct app *a, uint32_t key);

#endif
