/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Enter on a row of a table, or a mark on a time axis, asks the app for. */
#ifndef PROFTOP_TUI_VIEWS_ROW_EFFECTS_H
#define PROFTOP_TUI_VIEWS_ROW_EFFECTS_H

#include "query/core/groups.h"
#include "tui/contract/view.h"
#include "tui/rows/time_axis.h"

/*
 * On a function: its butterfly. On a module, file, thread, process, command, event, cpu, cgroup or label: a filter for it,
 * and functions as rows. False where there is nothing that could be asked.
 */
bool row_effects_key(const struct scene *s, const struct groups *keys, uint32_t key,
		     struct effect *out);

/* Filters for threads of those names, and shows them in a view. */
bool row_effects_named_threads(const struct scene *s, char *const *name, uint32_t n,
			       enum view_kind view, struct effect *out);
/* Shows what a row of the footprint is of alone, where that is no function: the memory view of it. */
bool row_effects_heap_row(const struct scene *s, uint32_t key, struct effect *out);
/* The next rows of a table of a heap; sizes: it has such, too. */
void row_effects_heap_rows(const struct scene *s, bool sizes, struct effect *out);

/* Filters for a thread (in its process) or a process, keeps the grouping, and shows it in a view. */
/* The same for processes of those names, and for such threads in them. */
struct task_names;
bool row_effects_named_tasks(const struct scene *s, const struct task_names *processes,
			     const struct task_names *threads, enum view_kind view,
			     struct effect *out);
bool row_effects_thread(const struct scene *s, uint32_t thread, enum view_kind view,
			struct effect *out);
bool row_effects_process(const struct scene *s, uint32_t process, enum view_kind view,
			 struct effect *out);

/*
 * The same as a side of a comparison within the recording; of a range, when both its ends are marked. What cannot be one
 * is said in a message.
 */
void row_effects_side_key(const struct scene *s, const struct groups *keys, uint32_t key,
			  struct effect *out);
void row_effects_side_task(const struct scene *s, uint32_t process, uint32_t thread,
			   struct effect *out);
void row_effects_side_range(const struct time_axis *axis, struct effect *out);

/*
 * After a mark on a time axis: with both ends, that all views show what is between them; else a message that
 * says what is missing.
 */
void row_effects_range(const struct time_axis *axis, struct effect *out);

#endif
