/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns as time; see time_axis.h. */
#include "config.h"

#include "tui/rows/time_axis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/core/filter.h"
#include "tui/canvas/glyphs.h"

#define NS_PER_S ((int64_t)1000000000)

/* Columns that the cursor jumps by. */
#define FAR_COLS 10

/* Blank columns between a tick's label and the next tick, at least. */
#define TICK_GAP 3

static int64_t clamp(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

static int64_t span_of(const struct time_axis *t)
{
	return t->to_ns - t->from_ns;
}

void time_axis_init(struct time_axis *t)
{
	*t = (struct time_axis){ .whole_ns = 1, .to_ns = 1, .cols = 1 };
	time_axis_unmark(t);
}

/* Shows [from, from + span), as far as there is such a thing, with the cursor in it. */
static void look_at(struct time_axis *t, int64_t from, int64_t span)
{
	span = clamp(span, 1, t->whole_ns);
	t->from_ns = clamp(from, 0, t->whole_ns - span);
	t->to_ns = t->from_ns + span;
	t->cursor_ns = clamp(t->cursor_ns, t->from_ns, t->to_ns - 1);
	t->cursor_ns = time_axis_at(t, time_axis_col(t, t->cursor_ns));
}

void time_axis_fit(struct time_axis *t, int64_t whole_ns, int cols)
{
	bool all = t->from_ns == 0 && t->to_ns == t->whole_ns;

	t->whole_ns = whole_ns > 1 ? whole_ns : 1;
	t->cols = cols > 1 ? cols : 1;
	look_at(t, t->from_ns, all ? t->whole_ns : span_of(t));
}

/* Rounded up, so that the column of a column's time is that column; never behind the end. */
int64_t time_axis_at(const struct time_axis *t, int col)
{
	__int128 part = (__int128)span_of(t) * col + t->cols - 1;

	part = t->from_ns + part / t->cols;
	return part < t->whole_ns ? (int64_t)part : t->whole_ns;
}

int time_axis_col(const struct time_axis *t, int64_t ns)
{
	if (ns < t->from_ns)
		return -1;
	if (ns >= t->to_ns)
		return t->cols;
	return (int)((__int128)(ns - t->from_ns) * t->cols / span_of(t));
}

void time_axis_go(struct time_axis *t, int col)
{
	int last = t->cols - 1;

	if (col < 0 || col > last) {
		int64_t by = time_axis_at(t, abs(col < 0 ? col : col - last)) - t->from_ns;
		int64_t left = t->whole_ns - t->to_ns;

		look_at(t, t->from_ns + (col < 0 ? -by : by < left ? by : left), span_of(t));
	}
	t->cursor_ns = clamp(time_axis_at(t, (int)clamp(col, 0, last)), t->from_ns, t->to_ns - 1);
}

void time_axis_go_to(struct time_axis *t, int64_t ns)
{
	ns = clamp(ns, 0, t->whole_ns - 1);
	if (ns < t->from_ns || ns >= t->to_ns)
		look_at(t, ns - span_of(t) / 2, span_of(t));
	time_axis_go(t, time_axis_col(t, ns));
}

/* The cursor's column stays where it is. */
static bool zoom(struct time_axis *t, bool in)
{
	int64_t span = span_of(t), before = t->cursor_ns - t->from_ns;

	if (in ? span / 2 < t->cols : span >= t->whole_ns)
		return false;
	if (in)
		look_at(t, t->cursor_ns - before / 2, span / 2);
	else if (span > t->whole_ns / 2)
		look_at(t, 0, t->whole_ns);
	else
		look_at(t, t->cursor_ns - before * 2, span * 2);
	return true;
}

/* What times are rounded to: the power of ten that a column holds. */
static int64_t grain(const struct time_axis *t)
{
	int64_t col = span_of(t) / t->cols, step = 1;

	while (!t->exact && step <= col / 10)
		step *= 10;
	return step;
}

static bool in_sight(const struct time_axis *t, int64_t ns)
{
	return ns >= t->from_ns && ns < t->to_ns;
}

/* Rounded down, and up. */
static int64_t begin_of(const struct time_axis *t, int col)
{
	int64_t at = time_axis_at(t, col);

	return at - at % grain(t);
}

static int64_t end_of(const struct time_axis *t, int col)
{
	int64_t at = time_axis_at(t, col + 1), rest = at % grain(t);

	return rest > 0 && at < INT64_MAX - grain(t) ? at - rest + grain(t) : at;
}

/* An end that stands before the begin is the begin, and that column the last one. */
static void mark_a(struct time_axis *t, int col)
{
	bool whole = t->a_ns != TIME_UNMARKED;

	t->a_ns = begin_of(t, col);
	if (t->b_ns == TIME_UNMARKED || t->b_ns > t->a_ns)
		return;
	if (!whole) {
		t->a_ns = in_sight(t, t->b_ns - 1) ? begin_of(t, time_axis_col(t, t->b_ns - 1))
						   : t->b_ns;
		t->b_ns = end_of(t, col);
	} else {
		t->b_ns = TIME_UNMARKED;
	}
}

static void mark_b(struct time_axis *t, int col)
{
	bool whole = t->b_ns != TIME_UNMARKED;

	t->b_ns = end_of(t, col);
	if (t->a_ns == TIME_UNMARKED || t->b_ns > t->a_ns)
		return;
	if (!whole) {
		t->b_ns = in_sight(t, t->a_ns) ? end_of(t, time_axis_col(t, t->a_ns)) : t->a_ns;
		t->a_ns = begin_of(t, col);
	} else {
		t->a_ns = TIME_UNMARKED;
	}
}

bool time_axis_act(struct time_axis *t, enum action a)
{
	int col = time_axis_col(t, t->cursor_ns);

	switch ((int)a) {
	case ACTION_LEFT:
		time_axis_go(t, col - 1);
		return true;
	case ACTION_RIGHT:
		time_axis_go(t, col + 1);
		return true;
	case ACTION_FAR_LEFT:
		time_axis_go(t, col - FAR_COLS);
		return true;
	case ACTION_FAR_RIGHT:
		time_axis_go(t, col + FAR_COLS);
		return true;
	case ACTION_ZOOM_IN:
	case ACTION_ZOOM_OUT:
		return zoom(t, a == ACTION_ZOOM_IN);
	case ACTION_MARK_A:
		mark_a(t, col);
		return true;
	case ACTION_MARK_B:
		mark_b(t, col);
		return true;
	default:
		return false;
	}
}

bool time_axis_unzoom(struct time_axis *t)
{
	if (span_of(t) >= t->whole_ns)
		return false;
	look_at(t, 0, t->whole_ns);
	return true;
}

void time_axis_mark(struct time_axis *t, int first, int last)
{
	time_axis_unmark(t);
	mark_a(t, (int)clamp(first < last ? first : last, 0, t->cols - 1));
	mark_b(t, (int)clamp(first < last ? last : first, 0, t->cols - 1));
}

void time_axis_unmark(struct time_axis *t)
{
	t->a_ns = t->b_ns = TIME_UNMARKED;
}

bool time_axis_range(const struct time_axis *t, int64_t *from_ns, int64_t *to_ns)
{
	if (t->a_ns == TIME_UNMARKED || t->b_ns == TIME_UNMARKED)
		return false;
	*from_ns = t->a_ns;
	*to_ns = t->b_ns;
	return true;
}

void time_axis_follow(struct time_axis *t, const struct filter *filter, int64_t whole_ns,
		      int64_t *wanted_ns)
{
	int64_t from, to;

	if (filter_times(filter, &from, &to)) {
		bool is_new = from != t->a_ns;

		t->a_ns = from;
		t->b_ns = to < whole_ns ? to : whole_ns;
		if (is_new && (t->cursor_ns < from || t->cursor_ns >= to))
			*wanted_ns = from;
	} else if (time_axis_range(t, &from, &to)) {
		time_axis_unmark(t);
	}
}

const char *time_axis_text(char out[FMT_SIZE], int64_t ns)
{
	if (ns != 0)
		return fmt_ns(out, ns);
	snprintf(out, FMT_SIZE, "0 s");
	return out;
}

char *time_axis_term(int64_t from_ns, int64_t to_ns)
{
	char from[FMT_SIZE], to[FMT_SIZE];

	return xasprintf("time:%s,%s", fmt_exact(from, from_ns, NS_PER_S),
			 fmt_exact(to, to_ns, NS_PER_S));
}

/* A tick's time: in the unit that suits all of them. */
static void tick_text(const struct time_axis *t, char out[FMT_SIZE + 4], int64_t ns, int64_t step)
{
	static const struct {
		int64_t scale;
		const char *unit;
	} units[] = { { NS_PER_S, "s" }, { 1000000, "ms" }, { 1000, "µs" }, { 1, "ns" } };
	char number[FMT_SIZE];
	size_t i = 0;

	if (t->percent) {
		snprintf(out, FMT_SIZE + 4, "%s %%", fmt_exact(number, ns, NS_PER_S));
		return;
	}
	if (ns > 0 && step >= 60 * NS_PER_S) {
		fmt_ns(out, ns);
		return;
	}
	while (units[i].scale > 1 && step < units[i].scale / 100)
		i++;
	fmt_exact(number, ns, units[i].scale);
	snprintf(out, FMT_SIZE + 4, "%s %s", number, units[i].unit);
}

static int width_of(const char *s)
{
	return (int)text_width(s, strlen(s));
}

static bool has_room(const struct time_axis *t, int64_t step)
{
	char text[FMT_SIZE + 4];

	tick_text(t, text, t->to_ns - t->to_ns % step, step);
	return (__int128)step * t->cols / span_of(t) >= width_of(text) + 2 + TICK_GAP;
}

/* The smallest round step whose labels have room: up to 10 s of digits, then of clocks. */
static int64_t tick_step(const struct time_axis *t)
{
	static const int digits[] = { 1, 2, 5 };
	static const int clock_s[] = {
		10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400
	};

	for (int64_t ten = 1; ten < 10 * NS_PER_S; ten *= 10)
		for (size_t i = 0; i < sizeof(digits) / sizeof(digits[0]); i++)
			if (has_room(t, ten * digits[i]))
				return ten * digits[i];
	for (size_t i = 0; i < sizeof(clock_s) / sizeof(clock_s[0]); i++)
		if (has_room(t, clock_s[i] * NS_PER_S))
			return clock_s[i] * NS_PER_S;
	for (int64_t day = 86400 * NS_PER_S; day < INT64_MAX / 2; day *= 2)
		if (has_room(t, day))
			return day;
	return INT64_MAX;
}

/* What stands on the axis in place of its line, from left to right by no order. */
struct marks {
	int col[5];
	uint32_t glyph[5];
	uint16_t style[5];
	int n;
};

static void add_mark(struct marks *m, int col, uint16_t style, uint32_t glyph)
{
	m->col[m->n] = col;
	m->style[m->n] = style;
	m->glyph[m->n++] = glyph;
}

/* A letter, where its time is in sight: that of a range's end is on the last column that is in. */
static void add_letter(const struct time_axis *t, struct marks *m, int64_t ns, char letter)
{
	int at = ns == TIME_UNMARKED ? -1 : time_axis_col(t, ns);

	if (at >= 0 && at < t->cols)
		add_mark(m, at, STYLE_HEADER_SORTED, (uint32_t)letter);
}

/* Of those on one column the last one is seen. */
static void add_marks(const struct time_axis *t, struct marks *m, const char *side_a)
{
	struct filter *f = NULL;
	int64_t from, to;

	if (t->cursor_ns >= 0)
		add_mark(m, time_axis_col(t, t->cursor_ns), STYLE_HOT, GLYPH_CURSOR);
	add_letter(t, m, t->a_ns, 'A');
	add_letter(t, m, t->b_ns == TIME_UNMARKED ? t->b_ns : t->b_ns - 1, 'B');
	if (side_a && filter_parse(side_a, &f, NULL) == 0 && filter_times(f, &from, &to)) {
		add_letter(t, m, from, 'a');
		add_letter(t, m, to - 1, 'a');
	}
	filter_free(f);
}

/* A time of which a digit is covered would be another time. */
static bool covers(const struct marks *m, int col, int cols)
{
	for (int i = 0; i < m->n; i++)
		if (m->col[i] >= col && m->col[i] < col + cols)
			return true;
	return false;
}

static void draw_ticks(const struct time_axis *t, const struct marks *m, struct canvas *c, int row,
		       int col)
{
	int64_t step = tick_step(t);
	int64_t before = t->from_ns % step ? t->from_ns - t->from_ns % step : t->from_ns - step;
	char text[FMT_SIZE + 4];

	while (before <= INT64_MAX - step && before + step < t->to_ns) {
		int64_t at = before += step;
		int tick = time_axis_col(t, at), cols;

		canvas_fill(c, row, col + tick, 1, STYLE_RULE, GLYPH_CROSS);
		tick_text(t, text, at, step);
		cols = width_of(text);
		if (tick + 2 + cols < t->cols && !covers(m, tick + 2, cols))
			canvas_puts(c, row, col + tick + 2, t->cols - tick - 2, STYLE_DIM, text);
	}
}

void time_axis_draw(const struct time_axis *t, struct canvas *c, int row, int col,
		    const char *side_a)
{
	struct marks m = { .n = 0 };

	add_marks(t, &m, side_a);
	canvas_fill(c, row, col, t->cols, STYLE_RULE, GLYPH_RULE);
	draw_ticks(t, &m, c, row, col);
	for (int i = 0; i < m.n; i++)
		canvas_fill(c, row, col + m.col[i], 1, m.style[i], m.glyph[i]);
}
