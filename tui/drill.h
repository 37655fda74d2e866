/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Enter on a row of a table asks the app for. */
#ifndef PROFTOP_TUI_DRILL_H
#define PROFTOP_TUI_DRILL_H

#include "keys.h"
#include "view.h"

/*
 * On a function: its butterfly. On a module, file, thread, process, command, event or cpu: a filter for it,
 * and functions as rows. False where there is nothing that could be asked.
 */
bool drill_key(const struct scene *s, const struct keys *keys, uint32_t key, struct effect *out);

/* Filters for a thread (in its process) or a process, keeps the grouping, and shows it in a view. */
bool drill_thread(const struct scene *s, uint32_t thread, enum view_kind view, struct effect *out);
bool drill_process(const struct scene *s, uint32_t process, enum view_kind view,
		   struct effect *out);

#endif
