/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/views/memory_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/analysis.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/resident.h"
#include "tui/canvas/glyphs.h"
#include "tui/rows/row.h"
#include "tui/rows/row_note.h"
#include "tui/views/where_cell.h"

/* Columns of a site's line over time, by what room there is; the mark of what grows is a word or a sign behind it. */
static const struct {
	int needs; /* columns of the screen */
	int line, mark;
	const char *title, *grows;
} line_forms[] = {
	{ 132, 12, 7, "OVER TIME", " grows" },
	{ 112, 12, 2, "OVER TIME", "▲" },
	{ 80, 6, 2, "TREND", "▲" },
};
#define LINE_IN_RANGE 12 /* columns more where there is a change */

/* Before the first column stands the marker; before the line over time and before names is a gap. */
#define MARKER_COLS 2
#define GAP         2

/* A column of the table: from the least telling to the most. */
struct table_column {
	const char *title;
	enum footprint_column of;
	int cols;      /* of its numbers */
	int needs;     /* columns of the screen below which it is left out */
	bool in_range; /* only where a range of time is shown */
};

/* The first two are of the cursor's moment. */
static const struct table_column table[MEMORY_TABLE_COLUMNS] = {
	{ "LIVE", FOOTPRINT_LIVE, 7, 0, false },
	{ "LIVE %", FOOTPRINT_LIVE, 6, 64, false },
	{ "CHANGE", FOOTPRINT_CHANGE, 8, 50, true },
	{ "PEAK", FOOTPRINT_PEAK, 7, 76, false },
	{ "TOTAL", FOOTPRINT_BYTES, 7, 104, false },
	{ "CALLS", FOOTPRINT_CALLS, 5, 84, false },
	{ "TEMP %", FOOTPRINT_TEMPORARY, 6, 92, false },
	{ "LEAKED", FOOTPRINT_LEAKED, 7, 52, false },
};
#define LIVE_SHARE  1
#define N_OF_MOMENT 2

#define CELL_SIZE (FMT_SIZE + 2)

static struct footprint *footprint_of(const struct scene *s)
{
	return s->analysis->footprint;
}

bool memory_table_has_leaks(const struct scene *s)
{
	const struct heap_manner *m = &footprint_of(s)->manner;

	return !s->loading && !m->lives_on && !m->goes_on;
}

/* The column that says the same as LIVE at the cursor; LIVE: none does. */
static enum footprint_column find_moment(const struct scene *s, bool at_peak)
{
	const struct footprint *f = footprint_of(s);

	if (at_peak && f->lens.cursor_ns == f->peak.time_ns + 1 &&
	    f->total[FOOTPRINT_LIVE] == f->total[FOOTPRINT_PEAK])
		return FOOTPRINT_PEAK;
	/* What lives to the end has leaked, so equal sums are of the same blocks. */
	if (f->lens.cursor_ns == INT64_MAX && memory_table_has_leaks(s) &&
	    f->total[FOOTPRINT_LIVE] == f->total[FOOTPRINT_LEAKED])
		return FOOTPRINT_LEAKED;
	return FOOTPRINT_LIVE;
}

static const char *title_of(const struct memory_table *t, int i)
{
	static const char *const titles[][N_OF_MOMENT] = {
		[FOOTPRINT_LIVE] = { "LIVE", "LIVE %" },
		[FOOTPRINT_PEAK] = { "PEAK", "PEAK %" },
		[FOOTPRINT_LEAKED] = { "LEAKED", "LEAK %" },
	};

	return i < N_OF_MOMENT ? titles[t->moment][i] : table[i].title;
}

/* Is there room and reason for a column? No two of them are the same, and long names need the room of most. */
static bool has_column(const struct memory_table *t, const struct scene *s, int i, int cols)
{
	const struct table_column *column = &table[i];

	if (s->wide && i >= N_OF_MOMENT && !column->in_range)
		return false;
	return cols >= column->needs && (!column->in_range || footprint_of(s)->in_range) &&
	       (i < N_OF_MOMENT || column->of != t->moment) &&
	       footprint_knows(footprint_of(s), column->of) &&
	       (column->of != FOOTPRINT_LEAKED || memory_table_has_leaks(s));
}

/* What stands before estimates. */
static const char *about(const struct footprint *f)
{
	return f->manner.sampled ? "~" : "";
}

/* A number of sum, a site's or all, in a column; returns out. */
static const char *cell_text(const struct footprint *f, const int64_t *sum, int i,
			     char out[CELL_SIZE])
{
	int64_t value = sum[table[i].of];
	char number[FMT_SIZE];

	if (i == LIVE_SHARE)
		return fmt_percent(out, value, f->total[FOOTPRINT_LIVE]);
	if (table[i].of == FOOTPRINT_TEMPORARY)
		return fmt_percent(out, value, sum[FOOTPRINT_CALLS]);
	if (table[i].of == FOOTPRINT_CALLS)
		fmt_count(number, value / f->scale[FOOTPRINT_CALLS]);
	else
		fmt_bytes(number, value);
	snprintf(out, CELL_SIZE, "%s%s%s", table[i].in_range && value > 0 ? "+" : "", about(f),
		 number);
	return out;
}

/* As wide as numbers of its kind get; no count is above that of all. */
static int cols_of(const struct footprint *f, int i)
{
	char text[CELL_SIZE];
	int cols = table[i].cols + (int)strlen(about(f));

	if (table[i].of == FOOTPRINT_CALLS) {
		int all = (int)strlen(cell_text(f, f->total, i, text));

		cols = all > cols ? all : cols;
	}
	return cols + GAP;
}

void memory_table_layout(struct memory_table *t, const struct scene *s, bool at_peak, int cols)
{
	const struct footprint *f = footprint_of(s);
	int col = MARKER_COLS;

	t->moment = find_moment(s, at_peak);
	for (int i = 0; i < MEMORY_TABLE_COLUMNS; i++) {
		t->cols[i] = has_column(t, s, i, cols) ? cols_of(f, i) : 0;
		col += t->cols[i];
	}
	t->line = t->name = col + GAP;
	t->line_form = -1;
	for (int i = (int)(sizeof(line_forms) / sizeof(*line_forms)); i-- > 0 && !s->wide;)
		if (cols >= line_forms[i].needs + (f->in_range ? LINE_IN_RANGE : 0))
			t->line_form = i;
	if (t->line_form >= 0)
		t->name += line_forms[t->line_form].line + line_forms[t->line_form].mark + GAP;
}

void memory_table_take_metric(struct memory_table *t, const struct scene *s)
{
	struct metric metric = s->analysis->lens.column[0].metric;
	enum footprint_column by = footprint_column_of(metric);

	/* The first column may be of the CPU. */
	if (!metric_same_event(metric, footprint_of(s)->lens.column[0].metric))
		return;
	/* Of what was freed there is no column. */
	if (metric.measure != t->measure &&
	    (by != FOOTPRINT_PEAK || metric.measure == MEASURE_PEAK)) {
		t->by = by;
		t->reverse = false;
	}
	t->measure = metric.measure;
}

void memory_table_sort(const struct memory_table *t, const struct scene *s)
{
	struct footprint_order order = { .by = t->by, .reverse = t->reverse };

	order.of_calls = t->by == FOOTPRINT_TEMPORARY;
	footprint_sort_by(footprint_of(s), &order);
}

const char *memory_table_order(const struct memory_table *t)
{
	return t->by < FOOTPRINT_N_COLUMNS && !t->reverse ? footprint_column_name(t->by) : NULL;
}

bool memory_table_sort_by(struct memory_table *t, const char *word)
{
	for (int c = 0; c < FOOTPRINT_N_COLUMNS; c++) {
		if (strcmp(footprint_column_name((enum footprint_column)c), word) != 0)
			continue;
		t->by = (enum footprint_column)c;
		t->reverse = false;
		return true;
	}
	return false;
}

/* Does a column show what the rows are sorted by? */
static bool is_sorted(const struct memory_table *t, int i)
{
	if (i < N_OF_MOMENT)
		return i != LIVE_SHARE && (t->by == FOOTPRINT_LIVE || t->by == t->moment);
	return table[i].of == t->by;
}

/* Sorts by column i, which is not the share. */
static void sort_by(struct memory_table *t, int i)
{
	t->reverse = false;
	t->by = table[i].of;
}

void memory_table_next(struct memory_table *t, const struct scene *s)
{
	int i = 0;

	while (i < MEMORY_TABLE_COLUMNS - 1 && !is_sorted(t, i))
		i++;
	do
		i = (i + 1) % MEMORY_TABLE_COLUMNS;
	while (i == LIVE_SHARE || t->cols[i] == 0);
	sort_by(t, i);
	memory_table_sort(t, s);
}

bool memory_table_click(struct memory_table *t, int col)
{
	int from = MARKER_COLS;

	for (int i = 0; i < MEMORY_TABLE_COLUMNS; from += t->cols[i++]) {
		bool reverse = is_sorted(t, i) && !t->reverse;

		if (col < from || col >= from + t->cols[i] || i == LIVE_SHARE)
			continue;
		sort_by(t, i);
		t->reverse = reverse;
		return true;
	}
	return false;
}

void memory_table_draw_titles(const struct memory_table *t, const struct scene *s, struct canvas *c,
			      struct rect r, int line)
{
	const char *title = footprint_rows_title(footprint_of(s));
	int at = r.row + line, col = r.col + MARKER_COLS;

	for (int i = 0; i < MEMORY_TABLE_COLUMNS; i++) {
		uint16_t style = is_sorted(t, i) ? STYLE_HEADER_SORTED : STYLE_HEADER;

		if (t->cols[i] == 0)
			continue;
		canvas_puts_right(c, at, col, t->cols[i], style, title_of(t, i));
		col += t->cols[i];
		/* The gap before the next column has room for the arrow. */
		if (is_sorted(t, i))
			canvas_fill(c, at, col, 1, style, t->reverse ? GLYPH_UP : GLYPH_DOWN);
	}
	if (t->line_form >= 0)
		canvas_puts(c, at, r.col + t->line, line_forms[t->line_form].line, STYLE_HEADER,
			    line_forms[t->line_form].title);
	canvas_puts(c, at, r.col + t->name, r.cols - t->name, STYLE_HEADER, title);
}

/* A site's line over time, and whether it grows. */
static void draw_line(const struct memory_table *t, const struct scene *s, struct canvas *c,
		      int row, int col, const struct footprint_site *site)
{
	const struct footprint_lines *lines = analysis_lines(s->analysis);
	const struct key *key = &footprint_of(s)->rows->key[site->key];
	const int64_t *line = lines ? footprint_row_line(lines, site->row) : NULL;
	int cols = line_forms[t->line_form].line;

	if (!line)
		return;
	canvas_spark(c, row, col, cols, row_bar_style(key), line, lines->n_row_slots, 0);
	if (footprint_row_grows(lines, site->row, memory_table_has_leaks(s)))
		canvas_puts(c, row, col + cols + 1, line_forms[t->line_form].mark, STYLE_HOT,
			    line_forms[t->line_form].grows);
}

char *memory_table_source(const struct scene *s, const struct footprint_site *site)
{
	return site->line ? row_place(s, site->file, site->line)
			  : row_source(s, footprint_of(s)->rows, site->key);
}

/* The site's name, the line in its source and its module. */
static struct where_cell where_of(const struct scene *s, int line, uint32_t i, bool selected)
{
	const struct footprint_site *site = &footprint_of(s)->site[i];
	const struct key *key = &footprint_of(s)->rows->key[site->key];
	struct where_cell w = { .line = line, .name = key->label };
	char *source = memory_table_source(s, site);
	char *behind = footprint_rows_behind(footprint_of(s), i);

	w.style = (uint16_t)(row_key_style(key) | (selected ? STYLE_SELECTED : 0));
	w.note = row_note_of_site(s, key, source);
	w.behind = xasprintf("%s%s%s", source, *source ? "  " : "", behind);
	free(behind);
	free(source);
	return w;
}

void memory_table_draw_beyond(const struct memory_table *t, const struct scene *s, struct canvas *c,
			      struct rect r, int line)
{
	struct resident_beyond beyond;
	int col = MARKER_COLS, at = r.row + line;
	bool below = false; /* is such a number shown? */
	char text[FMT_SIZE];

	if (!resident_beyond(footprint_of(s), &beyond))
		return;
	for (int i = 0; i < MEMORY_TABLE_COLUMNS; i++) {
		int64_t value = table[i].of == FOOTPRINT_PEAK ||
						(i == 0 && t->moment == FOOTPRINT_PEAK)
					? beyond.peak
					: beyond.live;

		if (t->cols[i] > 0 && (i == 0 || table[i].of == FOOTPRINT_PEAK)) {
			canvas_puts_right(c, at, r.col + col, t->cols[i], STYLE_DIM,
					  fmt_bytes(text, value));
			below |= value < 0;
		}
		col += t->cols[i];
	}
	canvas_puts(c, at, r.col + t->name, r.cols - t->name, STYLE_DIM,
		    below ? RESIDENT_BEYOND "  " RESIDENT_BELOW : RESIDENT_BEYOND);
}

static void draw_site(const struct memory_table *t, const struct scene *s, struct canvas *c,
		      struct rect r, int line, const struct footprint_site *site)
{
	const struct footprint *f = footprint_of(s);
	int col = MARKER_COLS, at = r.row + line;
	char text[CELL_SIZE];

	for (int k = 0; k < MEMORY_TABLE_COLUMNS; k++) {
		if (t->cols[k] > 0)
			canvas_puts_right(c, at, r.col + col, t->cols[k], STYLE_NUMBER,
					  cell_text(f, site->sum, k, text));
		col += t->cols[k];
	}
	if (t->line_form >= 0)
		draw_line(t, s, c, at, r.col + t->line, site);
}

void memory_table_draw_sites(const struct memory_table *t, const struct scene *s, struct canvas *c,
			     struct rect r, int top, const struct list *list)
{
	struct where_cells where = { 0 };
	int marked = -1;

	for (int line = top; line < r.rows; line++) {
		uint32_t i = list_at(list, line - top);

		if (i >= list->n)
			continue;
		draw_site(t, s, c, r, line, &footprint_of(s)->site[i]);
		vec_push(&where, where_of(s, line, i, i == list->cursor));
		if (i == list->cursor)
			marked = line;
	}
	where_cells_draw(&where, s, c, r, t->name);
	if (marked >= 0)
		row_draw_marker(c, r, marked);
}
