/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_hottest.h"

#include "base/fmt.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/code_weights.h"
#include "tui/app/app_history.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/app/app_window.h"
#include "tui/rows/row.h"

static bool is_line(const struct analysis *an, uint32_t row)
{
	return (an->keys.key[an->table.key[row]].id & (KEY_OF_LINE | KEY_OF_MODULE)) == KEY_OF_LINE;
}

/* The largest self of a row that is a line, or of any where no line is known; KEY_NONE: nothing has samples. */
static uint32_t hottest_row(const struct analysis *an, bool lines)
{
	const struct table *t = &an->table;
	uint32_t best = KEY_NONE;
	int64_t most = 0;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct key *k = &an->keys.key[t->key[i]];
		int64_t self = t->self[(size_t)i * t->n_columns];

		if (is_line(an, i) != lines || k->flags & (FUNCTION_COMM | FUNCTION_MARK) ||
		    self <= most)
			continue;
		most = self;
		best = i;
	}
	return best;
}

/* "the hottest line: sort.c:12, 4.1 % of all; …": its row has another share, of what ended in the code of its function. */
static void say_row(struct app *a, uint32_t row, bool line)
{
	const struct analysis *an = a->analysis;
	const char *label = an->keys.key[an->table.key[row]].label;
	char share[FMT_SIZE], rest[FMT_SIZE];
	int64_t unknown = 0;

	for (uint32_t i = 0; i < an->table.n_rows; i++)
		if (!is_line(an, i))
			unknown += an->table.self[(size_t)i * an->table.n_columns];
	fmt_percent(rest, unknown, an->weights.total[0]);
	fmt_percent(share, an->table.self[(size_t)row * an->table.n_columns], an->weights.total[0]);
	if (line && unknown > an->weights.total[0] / 2)
		app_say_owned(
			a, false,
			xasprintf("the hottest line: %s, %s %% of all; of %s %% no line is known",
				  label, share, rest));
	else if (line)
		app_say_owned(
			a, false,
			xasprintf(
				"the hottest line: %s, %s %% of all; SELF is of its function's code",
				label, share));
	else
		app_say_owned(a, false,
			      xasprintf("no line is known here: the hottest function, %s %% of all",
					share));
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
	uint32_t row = hottest_row(an, true);
	bool line = row != KEY_NONE;
	struct place place = { .key_id = ID_NONE };

	if (!line)
		row = hottest_row(an, false);
	if (row == KEY_NONE) {
		app_say(a, false, "nothing here has samples");
	} else {
		uint32_t id = an->keys.key[an->table.key[row]].id;

		place = line ? row_line_place(&a->scene, id) : (struct place){ .key_id = id };
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

uint32_t app_hottest_line_of(struct app *a, uint32_t file)
{
	const struct profile *p = a->analysis->profile;
	struct location_columns l;
	struct analysis *lines;
	int64_t most[2] = { -1, -1 };
	uint32_t best = 0;
	struct lens lens;

	app_window_lens(a, &lens);
	lens.grouping = GROUP_LINE;
	if (analysis_new_parts(p, &lens, 0, NULL, &lines) != 0) {
		lens_done(&lens);
		return 0;
	}
	profile_locations(p, &l);
	for (uint32_t i = 0; i < lines->table.n_rows; i++) {
		uint32_t id = lines->keys.key[lines->table.key[i]].id;
		size_t at = (size_t)i * lines->table.n_columns;
		int64_t self = lines->table.self[at], total = lines->table.total[at];

		if (!is_line(lines, i) || l.frames[id & ~KEY_OF_LINE].file != file ||
		    self < most[0] || (self == most[0] && total <= most[1]))
			continue;
		most[0] = self;
		most[1] = total;
		best = l.frames[id & ~KEY_OF_LINE].line;
	}
	analysis_free(lines);
	lens_done(&lens);
	return best;
}

void app_hottest_forget(struct app *a)
{
	if (a->hottest.asked)
		group_as_before(a);
}

void app_hottest_land(struct app *a)
{
	if (a->hottest.asked && a->analysis->keys.grouping == GROUP_LINE &&
	    a->analysis->profile == a->source->profile)
		show(a);
}
