/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_hottest.h"

#include <stdlib.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/code_weights.h"
#include "query/core/lens.h"
#include "tui/app/app_act.h"
#include "tui/app/app_history.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/app/app_window.h"
#include "tui/app/worker.h"
#include "tui/rows/row.h"

static bool is_line(const struct analysis *an, uint32_t row)
{
	return key_is_line(an->keys.key[an->table.key[row]].id);
}

/* What numbers of a row have of all; of a comparison, of the side where that is more. */
static double share_of(const struct analysis *an, const int64_t *numbers)
{
	return lens_share(&an->lens, numbers, an->weights.total);
}

/* The largest self of a row that is a line, or of one that is not, of the kernel or not; KEY_NONE: nothing has samples. */
static uint32_t hottest_of(const struct analysis *an, bool lines, bool kernel)
{
	const struct table *t = &an->table;
	uint32_t best = KEY_NONE;
	double most = 0;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct key *k = &an->keys.key[t->key[i]];
		double self = share_of(an, t->self + (size_t)i * t->n_columns);

		if (is_line(an, i) != lines || k->flags & (FUNCTION_COMM | FUNCTION_MARK) ||
		    (!kernel && k->family == FAMILY_KERNEL) || self <= most)
			continue;
		most = self;
		best = i;
	}
	return best;
}

/* What is on no line, of the kernel or without that. */
static int64_t without_line(const struct analysis *an, bool kernel)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < an->table.n_rows; i++)
		if (!is_line(an, i) &&
		    (kernel || an->keys.key[an->table.key[i]].family != FAMILY_KERNEL))
			sum += an->table.self[(size_t)i * an->table.n_columns];
	return sum;
}

/*
 * The hottest line. Where most of what programs do is on no line, the few that have one are not what is looked for: then the
 * hottest function without lines, if that is hotter. The kernel, whose code can seldom be had, counts only where nothing else
 * is. KEY_NONE: nothing has samples.
 */
static uint32_t hottest_row(const struct analysis *an)
{
	const struct table *t = &an->table;
	uint32_t line = hottest_of(an, true, true), function = hottest_of(an, false, false);
	int64_t on_lines = an->weights.total[0] - without_line(an, true);

	if (line == KEY_NONE)
		return function != KEY_NONE ? function : hottest_of(an, false, true);
	if (function == KEY_NONE || without_line(an, false) <= on_lines ||
	    share_of(an, t->self + (size_t)function * t->n_columns) <=
		    share_of(an, t->self + (size_t)line * t->n_columns))
		return line;
	return function;
}

/*
 * "4.1 % of all", or of a comparison "before 4.1 %, after 8.0 % of all". Nothing is said of a side that has none of it, as that
 * may have the line under another path. The caller frees.
 */
static char *say_share(const struct analysis *an, const int64_t *numbers)
{
	const struct lens *l = &an->lens;
	const int64_t *whole = an->weights.total;
	char share[N_SIDES][FMT_SIZE];
	int64_t part[N_SIDES];

	if (!an->diff)
		return xasprintf("%s %% of all", fmt_percent(share[0], numbers[0], whole[0]));
	for (int i = 0; i < N_SIDES; i++) {
		part[i] = lens_side_sum(l, numbers, (enum side)i);
		fmt_percent(share[i], part[i], lens_side_sum(l, whole, (enum side)i));
	}
	if (part[SIDE_BEFORE] == 0)
		return xasprintf("after %s %% of all", share[SIDE_AFTER]);
	if (part[SIDE_AFTER] == 0)
		return xasprintf("before %s %% of all", share[SIDE_BEFORE]);
	return xasprintf("before %s %%, after %s %% of all", share[SIDE_BEFORE], share[SIDE_AFTER]);
}

/* "the hottest line: sort.c:12, 4.1 % of all; …": its row has another share, of its function's total. */
static void say_row(struct app *a, uint32_t row, bool line)
{
	const struct analysis *an = a->analysis;
	const char *label = an->keys.key[an->table.key[row]].label;
	char *share = say_share(an, an->table.self + (size_t)row * an->table.n_columns);
	char rest[FMT_SIZE];
	int64_t unknown = without_line(an, true), whole = an->weights.total[0];
	const char *outside = hottest_of(an, false, true) != row ? " outside of the kernel" : "";

	fmt_percent(rest, unknown, whole);
	if (line && unknown > whole / 2)
		app_say_owned(a, false,
			      xasprintf("the hottest line: %s, %s; of %s %% no line is known",
					label, share, rest));
	else if (line)
		app_say_owned(a, false, xasprintf("the hottest line: %s, %s", label, share));
	else if (unknown < whole)
		app_say_owned(
			a, false,
			xasprintf("of %s %% no line is known: the hottest function of these%s, %s",
				  rest, outside, share));
	else
		app_say_owned(a, false,
			      xasprintf("no line is known here: the hottest function%s, %s",
					outside, share));
	free(share);
}

static void group_as_before(struct app *a)
{
	a->hottest.asked = false;
	if (a->lens.grouping == a->hottest.before)
		return;
	a->lens.grouping = a->hottest.before;
	app_reanalyse(a);
}

/* Shows the code; the way back leads to where the key was pressed. */
static void show(struct app *a)
{
	const struct analysis *an = a->analysis;
	uint32_t row = hottest_row(an);
	bool line = row != KEY_NONE && is_line(an, row);
	struct place place = { .key_id = ID_NONE };

	if (row == KEY_NONE) {
		app_say(a, false, "nothing here has samples");
	} else {
		uint32_t id = an->keys.key[an->table.key[row]].id;

		place = line ? row_line_place(&a->scene, id)
			     : (struct place){ .key_id = id, .line = PLACE_HOTTEST_SELF };
		app_go_from(a, &a->hottest.from, VIEW_KIND_ANNOTATE, &place);
		say_row(a, row, line);
	}
	group_as_before(a);
}

void app_hottest_ask(struct app *a)
{
	struct step from = app_here(a);

	/* Of a heap the hottest place is one that allocates. */
	if (metric_is_heap(a->analysis->profile, a->lens.column[0].metric)) {
		struct place place = { .key_id = code_hottest(a->analysis) };

		app_go(a, VIEW_KIND_ANNOTATE, &place);
		return;
	}
	a->hottest.from = from;
	a->hottest.before = a->lens.grouping;
	a->hottest.asked = true;
	a->lens.grouping = GROUP_LINE;
	if (a->analysis->keys.grouping == GROUP_LINE && !a->asked)
		show(a);
	else
		app_reanalyse(a);
}

/* Sums by line, beside what is shown. */
static void ask_lines(struct app *a)
{
	const struct over_time_wishes none = { 0 };
	struct lens lens;

	app_window_lens(a, &lens);
	lens.grouping = GROUP_LINE;
	worker_request(a->worker, &lens, &none, READY_TABLE);
	lens_done(&lens);
	a->asked = true;
	a->hottest.lines = true;
}

void app_hottest_edit(struct app *a, uint32_t file, uint32_t line)
{
	a->hottest.edits = true;
	a->hottest.file = file;
	a->hottest.line = line;
	ask_lines(a);
}

/* Of a file; 0: none is known. */
static uint32_t hottest_line_of(const struct analysis *lines, uint32_t file)
{
	struct location_columns l;
	double most[2] = { -1, -1 };
	uint32_t best = 0;

	profile_locations(lines->profile, &l);
	for (uint32_t i = 0; i < lines->table.n_rows; i++) {
		uint32_t id = lines->keys.key[lines->table.key[i]].id;
		size_t at = (size_t)i * lines->table.n_columns;
		double self = share_of(lines, lines->table.self + at);
		double total = share_of(lines, lines->table.total + at);

		if (!is_line(lines, i) || l.frames[id & ~KEY_OF_LINE].file != file ||
		    self < most[0] || (self == most[0] && total <= most[1]))
			continue;
		most[0] = self;
		most[1] = total;
		best = l.frames[id & ~KEY_OF_LINE].line;
	}
	return best;
}

bool app_hottest_takes(struct app *a, struct analysis *made)
{
	uint32_t line;

	if (!a->hottest.lines || made->keys.grouping != GROUP_LINE)
		return false;
	a->hottest.lines = false;
	line = a->hottest.edits ? hottest_line_of(made, a->hottest.file) : 0;
	if (a->hottest.edits)
		app_wish(a, REQUEST_EDIT,
			 profile_string(made->profile, (string_id){ a->hottest.file }, NULL),
			 line > 0 ? line : a->hottest.line);
	a->hottest.edits = false;
	/* Rows are lines by now: it is one of those. */
	if (a->lens.grouping == GROUP_LINE)
		return false;
	worker_drop(a->worker, made);
	return true;
}

void app_hottest_forget(struct app *a)
{
	a->hottest.edits = false;
	if (a->hottest.asked)
		group_as_before(a);
}

void app_hottest_land(struct app *a)
{
	/* Another analysis was made in the place of that for the editor. */
	if (a->hottest.edits)
		ask_lines(a);
	if (a->hottest.asked && a->analysis->keys.grouping == GROUP_LINE &&
	    a->analysis->profile == a->source->profile)
		show(a);
}
