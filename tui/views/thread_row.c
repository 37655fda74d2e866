/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of processes and threads; see thread_row.h. */
#include "config.h"

#include "tui/views/thread_row.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/diff/activity_pairs.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/views/row_effects.h"

/* Is it a process, or the only thread of one? */
static bool stands_for_process(const struct activity_row *row)
{
	return row->is_process;
}

void thread_row_detail(const struct scene *s, const struct activity_row *row,
		       char out[THREAD_ROW_DETAIL])
{
	const struct profile *p = s->analysis->profile;
	int32_t pid = -1, tid = -1;

	out[0] = '\0';
	/* Of a comparison a row is of several. */
	if (s->analysis->diff)
		return;
	if (row->process != ID_NONE)
		pid = profile_process(p, (process_id){ row->process })->pid;
	if (row->thread != ID_NONE)
		tid = profile_thread(p, (thread_id){ row->thread })->tid;
	if (stands_for_process(row) && pid >= 0)
		snprintf(out, THREAD_ROW_DETAIL, "pid %d", (int)pid);
	else if (tid >= 0)
		snprintf(out, THREAD_ROW_DETAIL, "tid %d", (int)tid);
}

/* Draws the name, which may be another than the row's, and the detail behind it. */
static void draw_name(const struct scene *s, const struct activity_row *row, const char *name,
		      const char *detail, struct canvas *c, struct rect at, uint16_t style)
{
	struct name_look look = { .style = style, .wide = s->wide };
	int indent = stands_for_process(row) ? 0 : THREAD_ROW_INDENT;

	if (stands_for_process(row))
		look.style |= STYLE_BOLD;
	if (thread_row_matches(s, row))
		look.style |= STYLE_MATCH;
	name_draw_detailed(c, at.row, at.col + indent, at.cols - indent, name, detail, &look);
}

void thread_row_draw_name(const struct scene *s, const struct activity_row *row, struct canvas *c,
			  int line, int col, int cols, uint16_t style)
{
	char detail[THREAD_ROW_DETAIL];

	thread_row_detail(s, row, detail);
	draw_name(s, row, row->name, detail, c, (struct rect){ line, col, 1, cols }, style);
}

/* Has another thread of its process the name of the row's? */
static bool has_namesake(const struct profile *p, uint32_t n_threads, uint32_t thread)
{
	const struct thread *t = profile_thread(p, (thread_id){ thread });

	for (uint32_t i = 0; i < n_threads; i++) {
		const struct thread *other = profile_thread(p, (thread_id){ i });

		if (other->process.v == t->process.v && other->tid != t->tid &&
		    other->name.v == t->name.v)
			return true;
	}
	return false;
}

void thread_row_draw_brief(const struct scene *s, const struct activity_row *row, struct canvas *c,
			   int line, int col, int cols, uint16_t style)
{
	const struct analysis *an = s->analysis;
	struct rect at = { line, col, 1, cols };
	char detail[THREAD_ROW_DETAIL];
	const char *number;
	int needs;

	thread_row_detail(s, row, detail);
	number = strrchr(detail, ' ');
	needs = stands_for_process(row) ? 0 : THREAD_ROW_INDENT;
	needs += (int)text_width(row->name, strlen(row->name)) + 1;
	needs += number ? (int)strlen(number) : 0;
	if (number && needs <= cols)
		draw_name(s, row, row->name, number + 1, c, at, style);
	else if (number && needs - 1 > cols && !stands_for_process(row) &&
		 has_namesake(an->profile, an->counts.n_threads, row->thread))
		draw_name(s, row, detail, "", c, at, style);
	else
		draw_name(s, row, row->name, detail, c, at, style);
}

bool thread_row_matches(const struct scene *s, const struct activity_row *row)
{
	return s->search && search_matches(s->search, row->name, strlen(row->name));
}

int64_t thread_row_found(const struct activity *a, const struct scene *s)
{
	uint32_t counted = ID_NONE - 1; /* the process whose threads are in the sum already */
	int64_t sum = 0;

	for (uint32_t i = 0; i < a->n_rows; i++) {
		const struct activity_row *row = &a->row[i];

		if (row->process == counted || !thread_row_matches(s, row))
			continue;
		sum += row->weight;
		if (row->thread == ID_NONE)
			counted = row->process;
	}
	return sum;
}

/* Rows of a comparison are shown by their names. */
static bool show_named(const struct scene *s, const struct activity_row *row, enum view_kind view,
		       struct effect *out)
{
	const struct activity *a = s->analysis->over[OVER_THREADS]->activity;
	uint32_t i = (uint32_t)(row - a->row), above = i;

	while (!a->row[above].is_process)
		above--;
	return row_effects_named_tasks(s, activity_pairs_names(a, above),
				       above < i ? activity_pairs_names(a, i) : NULL, view, out);
}

bool thread_row_show(const struct scene *s, const struct activity_row *row, enum view_kind view,
		     struct effect *out)
{
	const struct weights *w = &s->analysis->weights;

	if (!row)
		return false;
	if (row->weight == w->total[0] && row->n_samples == w->n_samples) {
		out->kind = EFFECT_OPEN;
		out->view = view;
		out->place = (struct place){ .key_id = ID_NONE };
		return true;
	}
	if (row->process != ID_NONE && s->analysis->diff)
		return show_named(s, row, view, out);
	if (row->process != ID_NONE && stands_for_process(row))
		return row_effects_process(s, row->process, view, out);
	if (row->process != ID_NONE)
		return row_effects_thread(s, row->thread, view, out);
	out->kind = EFFECT_MESSAGE;
	out->text = xstrdup("whose samples these are is not known");
	return true;
}

bool thread_row_side(const struct scene *s, const struct activity_row *row, struct effect *out)
{
	if (row)
		row_effects_side_task(s, row->process,
				      stands_for_process(row) ? ID_NONE : row->thread, out);
	return row != NULL;
}

struct place thread_row_place(const struct activity_row *row)
{
	return (struct place){ .key_id = ID_NONE,
			       .path = (uint64_t)row->process << 32 | row->thread };
}
