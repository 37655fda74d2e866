/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/rows/row_change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/name_rules.h"
#include "query/diff/diff.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"

/* Columns of numbers: signs and units included. */
#define PERCENT_DIGITS 7
#define UNIT_DIGITS    9
#define COUNT_DIGITS   7
/* Bars are of parts of this. */
#define BAR_WHOLE      1000000
/* Flame cells are as strong as the change is large against what was there: these are the limits of shades. */
#define WEAK_CHANGE    0.02
#define STRONG_CHANGE  0.2

/* Is the column in per cent? Changes and intervals are only where shares are compared: else both sides' shares are of their own. */
static bool in_percent(const struct row_shape *sh, enum number_kind kind)
{
	bool of_side = kind == NUMBER_BEFORE || kind == NUMBER_AFTER;

	return sh->percent && (of_side || sh->diff->normalise == NORMALISE_TOTAL);
}

static void add(struct row_shape *sh, enum number_kind kind, bool of_total, const char *title)
{
	struct number_column *n = &sh->number[sh->n_numbers++];
	bool percent = in_percent(sh, kind);

	*n = (struct number_column){ .kind = kind, .of_total = of_total, .scale = 1 };
	n->unit = sh->diff->unit;
	n->whole = BAR_WHOLE;
	n->digits = percent ? PERCENT_DIGITS : n->unit == UNIT_COUNT ? COUNT_DIGITS : UNIT_DIGITS;
	snprintf(n->title, sizeof(n->title), "%s%s", title, percent ? " %" : "");
}

/* The interval's unit stands with its number, or is that of the change beside it. */
static void add_interval(struct row_shape *sh, bool of_total)
{
	add(sh, NUMBER_NOISE, of_total, "");
	snprintf(sh->number[sh->n_numbers - 1].title, sizeof(sh->number[0].title), "± 95 %%");
}

void row_change_add(struct row_shape *sh, const struct scene *s, const struct row_wish *w)
{
	bool total = w->total_first || !w->self;

	sh->diff = s->analysis->diff;
	sh->family = w->share ? &sh->diff->total : total ? &sh->diff->nodes : &sh->diff->self;
	add(sh, NUMBER_CHANGE, total, w->share ? "Δ" : total ? "Δ TOTAL" : "Δ SELF");
	add(sh, NUMBER_BEFORE, total, "BEFORE");
	add(sh, NUMBER_AFTER, total, "AFTER");
	add_interval(sh, total);
	if (w->self && w->total && !w->share)
		add(sh, NUMBER_CHANGE, !total, total ? "Δ SELF" : "Δ TOTAL");
	/* What is second to all the rest. */
	for (int i = 1; i < sh->n_numbers; i++)
		sh->number[i].second = sh->number[i].kind == NUMBER_CHANGE;
}

bool row_change_fits(const struct number_column *n, bool details, bool bars, int n_numbers)
{
	if (n->kind == NUMBER_NOISE)
		return details || bars;
	if (n->kind == NUMBER_CHANGE)
		return n->second ? details : n_numbers > 0;
	return n->kind == NUMBER_BEFORE ? n_numbers > 2 : n_numbers > 1;
}

/* What shares of a column are of. Where changes are in per cent both sides have as much. */
static double whole_of(const struct diff *d, enum number_kind kind)
{
	return kind == NUMBER_AFTER ? d->whole.after : d->whole.before;
}

static const char *amount(char out[FMT_SIZE], const struct row_shape *sh, enum number_kind kind,
			  double v)
{
	double whole = whole_of(sh->diff, kind);

	if (!in_percent(sh, kind) || !(whole > 0))
		return fmt_amount(out, v, sh->diff->unit);
	fmt_change_percent(out, fabs(v), whole);
	return out[0] == '+' ? out + 1 : out;
}

/* Functions that one side lacks are new or gone, not those that lack time of their own. */
static const char *text_of(char out[FMT_SIZE], const struct row_shape *sh, enum number_kind kind,
			   const struct noise_delta *d, const struct noise_delta *total)
{
	switch (kind) {
	case NUMBER_CHANGE:
		return in_percent(sh, kind) && whole_of(sh->diff, kind) > 0
			       ? fmt_change_percent(out, diff_change(d), whole_of(sh->diff, kind))
			       : fmt_change(out, diff_change(d), sh->diff->unit);
	case NUMBER_BEFORE:
		return d->before == 0 && d->after > 0 && total->before == 0
			       ? "new"
			       : amount(out, sh, kind, d->before);
	case NUMBER_AFTER:
		return d->after == 0 && d->before > 0 && total->after == 0
			       ? "gone"
			       : amount(out, sh, kind, d->after);
	case NUMBER_NOISE:
		return d->half > 0 ? amount(out, sh, kind, d->half) : "";
	case NUMBER_SELF:
	case NUMBER_TOTAL:
	case NUMBER_RATIO:
	case NUMBER_SAMPLES:
		break;
	}
	return "";
}

static uint16_t style_of(double change)
{
	return change > 0 ? STYLE_WORSE : change < 0 ? STYLE_BETTER : STYLE_NUMBER;
}

/* The row's tag is the first change's: the other one has a letter behind it, as in reports. */
static void draw_mark(struct canvas *c, struct rect r, int line, const struct number_column *n,
		      const struct noise_delta *d, enum change_verdict verdict)
{
	static const char *const marks[] = {
		[VERDICT_NOISE] = "~", [VERDICT_OWN] = "?", [VERDICT_BEYOND] = ""
	};

	if (diff_change(d) != 0)
		canvas_puts(c, r.row + line, r.col + n->col + n->digits, 1, STYLE_DIM,
			    marks[verdict]);
}

static void draw_number(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
			const struct number_column *n, const struct noise_delta *d,
			const struct noise_delta *total, enum change_verdict verdict)
{
	double change = diff_change(d), most = fabs(sh->diff->most);
	bool noise = verdict != VERDICT_BEYOND;
	uint16_t style = noise ? STYLE_DIM : STYLE_NUMBER;
	char out[FMT_SIZE];

	if (n->digits == 0)
		return;
	if (n->kind == NUMBER_CHANGE && !noise)
		style = (uint16_t)(style_of(change) | (n->second ? 0 : STYLE_BOLD));
	else if (n->kind == NUMBER_NOISE)
		style = STYLE_DIM;
	canvas_puts_right(c, r.row + line, r.col + n->col, n->digits, style,
			  text_of(out, sh, n->kind, d, total));
	if (n->second)
		draw_mark(c, r, line, n, d, verdict);
	if (n->bar > 0 && most > 0)
		canvas_bar(c, r.row + line, r.col + n->col + n->digits + 1, n->bar,
			   noise ? STYLE_DIM : style_of(change),
			   (int64_t)(fmin(fabs(change) / most, 1) * BAR_WHOLE), BAR_WHOLE);
}

enum change_verdict row_change_verdict(const struct row_shape *sh, uint32_t key,
				       const int64_t *self, const int64_t *total)
{
	bool by_self = sh->family == &sh->diff->self;
	struct noise_delta d;

	diff_delta(sh->diff, key, by_self ? PART_SELF : PART_TOTAL, by_self ? self : total, &d);
	if (!by_self || diff_change(&d) != 0)
		return diff_verdict(sh->family, &d);
	diff_delta(sh->diff, key, PART_TOTAL, total, &d);
	return diff_verdict(&sh->diff->total, &d);
}

/* Rows of other groupings have no functions' names. */
static bool is_renamed(const struct scene *s, const struct key *k)
{
	const struct analysis *a = s->analysis;

	return a->lens.names && a->table_keys->grouping == GROUP_FUNCTION &&
	       name_rules_was(a->lens.names, k->label);
}

const char *row_change_tag(const struct row_shape *sh, const struct scene *s, const struct key *k,
			   enum change_verdict verdict)
{
	static const struct {
		const char *alone, *renamed;
	} tags[] = {
		[VERDICT_NOISE] = { "noise", "renamed? noise" },
		[VERDICT_OWN] = { "run?", "renamed? run?" },
		[VERDICT_BEYOND] = { NULL, "renamed?" },
	};
	const char *both = tags[verdict].renamed;

	if (!is_renamed(s, k))
		return tags[verdict].alone;
	/* Where there is no room for both, the verdict stays. */
	return tags[verdict].alone && (int)strlen(both) > row_tag_most(sh) ? tags[verdict].alone
									   : both;
}

/* The rows that a change of total is judged among. */
static const struct diff_family *family_of_total(const struct row_shape *sh)
{
	return sh->family == &sh->diff->self ? &sh->diff->total : sh->family;
}

void row_change_draw(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     uint32_t key, const int64_t *self, const int64_t *total)
{
	const struct diff_family *family[] = { &sh->diff->self, family_of_total(sh) };
	struct noise_delta of[2];

	diff_delta(sh->diff, key, PART_SELF, self, &of[0]);
	diff_delta(sh->diff, key, PART_TOTAL, total, &of[1]);
	for (int i = 0; i < 2; i++)
		diff_interval(family[i], &of[i]);
	for (int i = 0; i < sh->n_numbers; i++) {
		bool t = sh->number[i].of_total;

		draw_number(sh, c, r, line, &sh->number[i], &of[t], &of[1],
			    diff_verdict(family[t], &of[t]));
	}
}

char *row_change_say(const struct scene *s, const struct diff_family *f, const char *name,
		     const char *module, uint32_t key, enum row_part which, const int64_t *numbers)
{
	const struct diff *d = s->analysis->diff;
	char change[FMT_SIZE], part[FMT_SIZE], half[FMT_SIZE], before[FMT_SIZE], after[FMT_SIZE];
	struct noise_delta delta;
	char *relative, *noise, *out;

	diff_delta(d, key, which, numbers, &delta);
	diff_interval(f, &delta);
	relative = delta.before > 0
			   ? xasprintf(" (%s %%)",
				       fmt_change_percent(part, diff_change(&delta), delta.before))
			   : xstrdup("");
	noise = delta.half > 0 ? xasprintf(" ± %s", fmt_amount(half, delta.half, d->unit))
			       : xstrdup("");
	out = xasprintf("%s%s%s, from %s to %s%s%s  %s",
			fmt_change(change, diff_change(&delta), d->unit), relative, noise,
			fmt_amount(before, delta.before, d->unit),
			fmt_amount(after, delta.after, d->unit), *module ? "  " : "", module, name);
	free(relative);
	free(noise);
	return out;
}

char *row_change_status(const struct scene *s, const struct diff_family *f,
			const struct groups *keys, uint32_t key, enum row_part part,
			const int64_t *numbers)
{
	const struct key *k = &keys->key[key];
	char *name = name_full(k), *module = text_clean(k->module, strlen(k->module), false);
	char *out = row_change_say(s, f, name, module, key, part, numbers);

	free(name);
	free(module);
	return out;
}

uint16_t row_change_flame_style(const struct scene *s, uint32_t key, const int64_t *total,
				char label[FMT_SIZE])
{
	const struct diff *d = s->analysis->diff;
	struct noise_delta delta;
	double change, size;

	diff_delta(d, key, PART_TOTAL, total, &delta);
	change = diff_change(&delta);
	label[0] = '\0';
	if (change != 0 && (delta.before == 0 || delta.after == 0))
		snprintf(label, FMT_SIZE, "%s", delta.before == 0 ? "new" : "gone");
	if (!diff_is_beyond(&d->nodes, &delta) || change == 0)
		return STYLE_DIFF_SAME;
	if (delta.before == 0 || delta.after == 0)
		return delta.before == 0 ? STYLE_DIFF_WORSE_3 : STYLE_DIFF_BETTER_3;
	size = fabs(change) / fmax(delta.before, delta.after);
	fmt_change_percent(label, change, delta.before);
	strncat(label, " %", FMT_SIZE - strlen(label) - 1);
	if (change > 0)
		return size < WEAK_CHANGE     ? STYLE_DIFF_WORSE_1
		       : size < STRONG_CHANGE ? STYLE_DIFF_WORSE_2
					      : STYLE_DIFF_WORSE_3;
	return size < WEAK_CHANGE     ? STYLE_DIFF_BETTER_1
	       : size < STRONG_CHANGE ? STYLE_DIFF_BETTER_2
				      : STYLE_DIFF_BETTER_3;
}
