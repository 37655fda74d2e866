/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of rows and the numbers in them; see row_shape.h. */
#include "config.h"

#include "tui/rows/row_shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/analysis.h"
#include "query/core/ratio.h"
#include "tui/canvas/glyphs.h"
#include "tui/rows/row_change.h"

#define BAR_COLS        10 /* a column is ten per cent */
#define BAR_COLS_NARROW 5

/* Of an event's name in a title. */
#define METRIC_COLS  12
#define METRIC_BYTES 20

/* Of a ratio. */
#define RATIO_COLS 5

/* Rows that are narrower have an eighth for modules. */
#define MODULE_WIDE_COLS 110

/* Columns that modules keep where names are long: "libc.so.6". */
#define MODULE_LEAST 9

/* Functions that are looked through for names that are cut. */
#define NAMES_MOST 512u

/* Modules that are looked through for the longest name. */
#define MODULES_MOST 512u

/* One way to share the columns out; the first that leaves the name its least is taken. */
struct fit {
	int bar;        /* columns of bars */
	int n_numbers;  /* how many columns of numbers */
	int least_name; /* columns that the name must have */
	bool samples, module;
	bool extras; /* self and total of every event, not of the first alone */
};

static const struct fit fits[] = {
	{ BAR_COLS, ROW_MAX_NUMBERS, 34, true, true, true },
	{ BAR_COLS, ROW_MAX_NUMBERS, 34, false, true, true },
	{ BAR_COLS_NARROW, ROW_MAX_NUMBERS, 26, false, true, true },
	{ BAR_COLS_NARROW, ROW_MAX_NUMBERS, 26, false, true, false },
	{ BAR_COLS_NARROW, ROW_MAX_NUMBERS, 24, false, false, false },
	{ 0, ROW_MAX_NUMBERS, 20, false, false, false },
	{ 0, 2, 16, false, false, false },
	{ 0, 1, 6, false, false, false },
	{ 0, 0, 0, false, false, false },
};

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

static int width_of(const char *s)
{
	return (int)text_width(s, strlen(s));
}

void row_unit(const struct scene *s, uint32_t column, enum unit *unit, int64_t *scale)
{
	const struct analysis *a = s->analysis;
	struct metric m = a->lens.column[column].metric;

	*unit = metric_unit(a->profile, m);
	*scale = a->weights.scale[column] > 1 ? a->weights.scale[column] : 1;
}

const char *row_number(char out[FMT_SIZE], const struct number_column *n, bool percent,
		       int64_t value)
{
	if (n->kind == NUMBER_SAMPLES)
		return fmt_weight(out, value, UNIT_COUNT, n->scale);
	if (percent)
		return fmt_percent(out, value, n->whole);
	return fmt_weight(out, value, n->unit, n->scale);
}

/* Columns that the largest number takes. */
static int digits_of(const struct number_column *n, bool percent)
{
	char out[FMT_SIZE];

	if (n->kind != NUMBER_SAMPLES && percent)
		return 5;
	if (n->kind != NUMBER_SAMPLES && n->unit != UNIT_COUNT)
		return 9;
	return max_int(width_of(row_number(out, n, percent, n->whole)), 6);
}

/* Writes the name of a column's metric, cut to METRIC_COLS, and returns its bytes. */
static size_t put_metric(const struct scene *s, uint32_t of, char title[32])
{
	char *metric = metric_name(s->analysis->profile, s->analysis->lens.column[of].metric);
	size_t n = strlen(metric), got, bytes = text_clip(metric, n, METRIC_COLS, &got);

	if (bytes < n)
		bytes = text_clip(metric, n, METRIC_COLS - 1, &got);
	/* few bytes a column at most, or else the rest is no title */
	bytes = bytes < METRIC_BYTES ? bytes : 0;
	snprintf(title, 32, "%.*s%s", (int)bytes, metric, bytes < n ? "…" : "");
	free(metric);
	return strlen(title);
}

static void add_number(struct row_shape *sh, const struct scene *s, const struct row_wish *w,
		       enum number_kind kind, uint32_t of)
{
	struct metric m = s->analysis->lens.column[0].metric;
	const char *const titles[] = { "SELF", "TOTAL",
				       metric_is_heap(s->analysis->profile, m)     ? "BLOCKS"
				       : metric_is_summed(s->analysis->profile, m) ? "STACKS"
										   : "SAMPLES" };
	const int64_t *whole = w->whole ? w->whole : s->analysis->weights.total;
	struct number_column *n = &sh->number[sh->n_numbers++];
	const char *unit = kind != NUMBER_SAMPLES && s->percent ? " %" : "";
	size_t used = 0;

	*n = (struct number_column){ .kind = kind, .of = of, .scale = 1 };
	n->whole = kind == NUMBER_SAMPLES ? (int64_t)s->analysis->weights.n_samples : whole[of];
	if (kind == NUMBER_SAMPLES)
		n->scale = s->analysis->weights.sample_scale;
	else
		row_unit(s, of, &n->unit, &n->scale);
	if (kind != NUMBER_SAMPLES && lens_n_shown(&s->analysis->lens) > 1) {
		n->name_bytes = put_metric(s, of, n->title);
		n->second = kind != (w->total_first ? NUMBER_TOTAL : NUMBER_SELF);
		used = n->name_bytes;
		n->title[used++] = ' ';
	}
	if (used < sizeof(n->title))
		snprintf(n->title + used, sizeof(n->title) - used, "%s%s",
			 w->share && kind == NUMBER_SELF ? "SHARE" : titles[kind], unit);
	n->digits = digits_of(n, sh->percent);
}

/* A column for each ratio, as wide as its title and what ratios are: "0.93", "12,345". */
static void add_ratios(struct row_shape *sh, const struct scene *s, const struct row_wish *w)
{
	const struct ratios *r = s->analysis->lens.ratios;

	for (uint32_t i = 0; r && i < r->n; i++) {
		struct number_column *n = &sh->number[sh->n_numbers++];
		char *name = text_clean(r->at[i].name, strlen(r->at[i].name), false);
		size_t got, bytes = text_clip(name, strlen(name), METRIC_COLS, &got);

		*n = (struct number_column){ .kind = NUMBER_RATIO, .of = i, .scale = 1 };
		if (bytes >= sizeof(n->title))
			bytes = 0;
		snprintf(n->title, sizeof(n->title), "%.*s", (int)bytes, name);
		n->digits = RATIO_COLS;
		free(name);
	}
	sh->ratios = r;
	sh->weights = &s->analysis->weights;
	sh->ratios_of_total = w->total_first;
}

static void add_numbers(struct row_shape *sh, const struct scene *s, const struct row_wish *w)
{
	if (s->analysis->diff) {
		row_change_add(sh, s, w);
		return;
	}
	for (uint32_t i = 0; i < lens_n_shown(&s->analysis->lens); i++) {
		if (w->total && w->total_first)
			add_number(sh, s, w, NUMBER_TOTAL, i);
		if (w->self)
			add_number(sh, s, w, NUMBER_SELF, i);
		if (w->total && !w->total_first)
			add_number(sh, s, w, NUMBER_TOTAL, i);
	}
	if (w->samples)
		add_number(sh, s, w, NUMBER_SAMPLES, 0);
	if (w->ratios)
		add_ratios(sh, s, w);
}

/* Columns that modules' names want: the longest of them, but narrow rows leave them less, as functions need it more. */
static int module_cols(const struct scene *s, int cols)
{
	uint32_t n = s->analysis->counts.n_modules;
	int want = 6, most = cols < MODULE_WIDE_COLS ? cols / 8 : cols / 5;

	for (uint32_t i = 0; i < n && i < MODULES_MOST && want < most; i++) {
		const struct module *m = profile_module(s->analysis->profile, (module_id){ i });
		size_t len;
		const char *name = profile_string(s->analysis->profile, m->name, &len);
		size_t got;

		text_clip(name, len, (size_t)most, &got);
		want = max_int(want, (int)got);
	}
	return want < most ? want : most;
}

/* Does number column i get a bar? Only those of the lens's first column do. */
static bool has_bar(const struct row_shape *sh, const struct row_wish *w, int i)
{
	if (sh->diff)
		return i == 0;
	return sh->number[i].kind != NUMBER_SAMPLES && sh->number[i].kind != NUMBER_RATIO &&
	       sh->number[i].of == 0 && (i == 0 || w->two_bars);
}

/*
 * The title without the event or without the kind: "page-faults" for what leads, "TOTAL" beside it. NULL
 * where neither stands in it.
 */
static const char *brief_title(const struct number_column *n, size_t *len)
{
	if (n->name_bytes == 0)
		return NULL;
	if (n->second) {
		*len = strcspn(n->title + n->name_bytes + 1, " ");
		return n->title + n->name_bytes + 1;
	}
	*len = n->name_bytes;
	return n->title;
}

/* Columns of a title. */
static int title_cols(const struct number_column *n, bool brief)
{
	size_t len;
	const char *title = brief ? brief_title(n, &len) : NULL;

	return title ? (int)text_width(title, len) : width_of(n->title);
}

/* Lays the columns out by f and returns what is left for the name. */
static int try_fit(struct row_shape *sh, const struct row_wish *w, const struct fit *f, int cols,
		   int module)
{
	int col = f->bar > 0 ? 3 : 2, shown = 0;

	for (int i = 0; i < sh->n_numbers; i++) {
		struct number_column *n = &sh->number[i];
		bool wanted = n->kind == NUMBER_SAMPLES ? f->samples
			      : sh->diff ? row_change_fits(n, f->samples, f->bar > 0, f->n_numbers)
					 : shown < f->n_numbers;
		int digits = n->digits;
		int title = title_cols(n, !f->extras) + (n->kind != NUMBER_SAMPLES);
		/* Of a comparison some columns are shares and some are not: each title says which. */
		bool with_unit = sh->percent && !sh->diff && n->kind != NUMBER_RATIO &&
				 (f->extras || n->name_bytes == 0);

		wanted = wanted && (f->extras || !n->second || n->of == 0);

		n->col = wanted ? col : -1;
		if (!wanted)
			continue;
		shown++;
		n->bar = has_bar(sh, w, i) ? f->bar : 0;
		if (n->bar == 0 && f->bar > 0)
			digits = max_int(digits, title);
		else if (f->bar == 0)
			digits = max_int(digits, title - (with_unit ? 2 : 0));
		n->digits = digits;
		col += digits + (n->bar > 0 ? 1 + n->bar : 0) + 1;
	}
	sh->name = shown > 0 ? col + (f->bar > 0) : col;
	sh->module_cols = f->module ? module : 0;
	sh->name_cols = cols - sh->name - (sh->module_cols > 0 ? sh->module_cols + 2 : 0);
	sh->module = cols - sh->module_cols;
	return sh->name_cols;
}

/* "page-faults" instead of "page-faults SELF %". */
static void name_events(struct row_shape *sh)
{
	for (int i = 0; i < sh->n_numbers; i++) {
		struct number_column *n = &sh->number[i];
		size_t len;
		const char *title = brief_title(n, &len);

		if (!title)
			continue;
		memmove(n->title, title, len);
		n->title[len] = '\0';
		n->name_bytes = 0;
	}
}

/*
 * Modules are narrowed before any function's name is cut, down to what narrow rows give them. The same functions are looked at
 * whatever is in sight, so that scrolling moves no column.
 */
static void narrow_module(struct row_shape *sh, const struct scene *s, int cols)
{
	const struct groups *keys = &s->analysis->keys;
	int spare = sh->module_cols - max_int(cols / 8, MODULE_LEAST), most = sh->name_cols, by;

	for (uint32_t i = 0; i < keys->n && i < NAMES_MOST && most < sh->name_cols + spare; i++)
		most = max_int(most,
			       (int)strnlen(keys->key[i].label, (size_t)(sh->name_cols + spare)));
	by = most - sh->name_cols;
	if (spare <= 0 || by <= 0)
		return;
	sh->name_cols += by;
	sh->module_cols -= by;
	sh->module += by;
}

void row_shape_init(struct row_shape *sh, const struct scene *s, const struct row_wish *w, int cols)
{
	int module = w->module && !s->wide ? module_cols(s, cols) : 0;
	int digits[ROW_MAX_NUMBERS];

	*sh = (struct row_shape){ .percent = s->percent };
	add_numbers(sh, s, w);
	for (int i = 0; i < sh->n_numbers; i++)
		digits[i] = sh->number[i].digits;
	for (size_t k = 0; k < sizeof(fits) / sizeof(fits[0]); k++) {
		int least = fits[k].least_name + (fits[k].bar == BAR_COLS ? w->beside : 0);

		for (int i = 0; i < sh->n_numbers; i++)
			sh->number[i].digits = digits[i];
		if (try_fit(sh, w, &fits[k], cols, module) < least)
			continue;
		if (!fits[k].extras)
			name_events(sh);
		break;
	}
	for (int i = 0; i < sh->n_numbers; i++)
		sh->number[i].bar_whole = sh->number[i].whole;
	for (int i = 0; i < sh->n_numbers; i++)
		if (sh->number[i].col < 0)
			sh->number[i].digits = sh->number[i].bar = 0;
	sh->name_cols = max_int(sh->name_cols, 0);
	narrow_module(sh, s, cols);
}

/* A title with the arrow of the column that rules. */
static void draw_title(struct canvas *c, int row, int col, int cols, const char *title, bool sorted,
		       bool reverse)
{
	uint16_t style = sorted ? STYLE_HEADER_SORTED : STYLE_HEADER;
	int used = canvas_puts(c, row, col, cols, style, title);

	if (sorted && used < cols)
		canvas_fill(c, row, col + used, 1, style, reverse ? GLYPH_UP : GLYPH_DOWN);
}

/* Columns of the lens of which no number has room. */
static int n_hidden(const struct row_shape *sh)
{
	bool shown[LENS_MAX_COLUMNS] = { false };
	bool known[LENS_MAX_COLUMNS] = { false };
	int n = 0;

	for (int i = 0; i < sh->n_numbers; i++) {
		if (sh->number[i].kind == NUMBER_RATIO)
			continue;
		known[sh->number[i].of] = true;
		shown[sh->number[i].of] |= sh->number[i].digits > 0;
	}
	for (int i = 0; i < LENS_MAX_COLUMNS; i++)
		n += known[i] && !shown[i];
	return n;
}

/* At the right of the name's title, where it leaves room. */
static void draw_hidden(const struct row_shape *sh, struct canvas *c, int row, int col, int cols,
			const char *name)
{
	int n = n_hidden(sh), width;
	char text[32];

	if (n == 0)
		return;
	snprintf(text, sizeof(text), "+%d event%s", n, n == 1 ? "" : "s");
	width = width_of(text);
	if (width + width_of(name) + 2 <= cols)
		canvas_puts(c, row, col + cols - width, width, STYLE_HEADER, text);
}

/* The title in cols columns, if it can be had: without its unit, then without its event or its kind. */
static void fit_title(const struct number_column *n, int cols, char out[sizeof(n->title)])
{
	size_t len = strlen(n->title);
	const char *brief;

	memcpy(out, n->title, len + 1);
	if (width_of(out) > cols && len > 2 && strcmp(out + len - 2, " %") == 0)
		out[len - 2] = '\0';
	brief = width_of(out) > cols ? brief_title(n, &len) : NULL;
	if (!brief)
		return;
	memcpy(out, brief, len);
	out[len] = '\0';
}

/* Ends a title of a buffer of room bytes in dots where it is wider than cols. */
static void cut_title(char *title, size_t room, int cols)
{
	size_t got, bytes;

	if (width_of(title) <= cols || cols < 2)
		return;
	bytes = text_clip(title, strlen(title), (size_t)cols - 1, &got);
	snprintf(title + bytes, room - bytes, "…");
}

/* Above its numbers; col is where the view begins. */
static void draw_number_title(const struct number_column *n, struct canvas *c, int row, int col,
			      bool sorted, bool reverse)
{
	int cols = n->digits + (n->bar ? 1 + n->bar : 0), title;
	char narrow[sizeof(n->title)];

	fit_title(n, cols - 1, narrow);
	cut_title(narrow, sizeof(narrow), cols - sorted);
	title = width_of(narrow);
	if (n->bar == 0 && title < cols) {
		int arrow = n->kind != NUMBER_SAMPLES;

		draw_title(c, row, col + n->col + cols - arrow - title, title + arrow, narrow,
			   sorted, reverse);
	} else {
		draw_title(c, row, col + n->col, cols, narrow, sorted, reverse);
	}
}

bool row_draw_ratio_titles(const struct row_shape *sh, struct canvas *c, struct rect r, int line)
{
	bool any = false;

	for (int i = 0; i < sh->n_numbers; i++) {
		if (sh->number[i].kind != NUMBER_RATIO || sh->number[i].digits == 0)
			continue;
		draw_number_title(&sh->number[i], c, r.row + line, r.col, false, false);
		any = true;
	}
	return any;
}

void row_draw_header(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     int sorted, bool reverse, const char *name, const char *module)
{
	int row = r.row + line, tight;

	if (line >= r.rows)
		return;
	for (int i = 0; i < sh->n_numbers; i++)
		if (sh->number[i].digits > 0)
			draw_number_title(&sh->number[i], c, row, r.col, sorted == i, reverse);
	draw_title(c, row, r.col + sh->name, sh->name_cols, name, sorted == ROW_BY_NAME, reverse);
	draw_hidden(sh, c, row, r.col + sh->name, sh->name_cols, name);
	/* its arrow may need a column of the gap before it */
	tight = sorted == ROW_BY_MODULE && width_of(module) == sh->module_cols;
	if (sh->module_cols > 0)
		draw_title(c, row, r.col + sh->module - tight, sh->module_cols + tight, module,
			   sorted == ROW_BY_MODULE, reverse);
}

int row_column_at(const struct row_shape *sh, int col)
{
	for (int i = 0; i < sh->n_numbers; i++) {
		const struct number_column *n = &sh->number[i];
		int cols = n->digits + (n->bar > 0 ? 1 + n->bar : 0);

		if (n->digits > 0 && col >= n->col && col < n->col + cols)
			return i;
	}
	if (col >= sh->name && col < sh->name + sh->name_cols)
		return ROW_BY_NAME;
	if (sh->module_cols > 0 && col >= sh->module)
		return ROW_BY_MODULE;
	return ROW_UNSORTED;
}

static int64_t value_of(const struct number_column *n, const struct row_values *v)
{
	switch (n->kind) {
	case NUMBER_SELF:
		return v->self[n->of];
	case NUMBER_TOTAL:
		return v->total[n->of];
	case NUMBER_RATIO:
		return 0;
	case NUMBER_SAMPLES:
	case NUMBER_CHANGE:
	case NUMBER_BEFORE:
	case NUMBER_AFTER:
	case NUMBER_NOISE:
		break;
	}
	return (int64_t)v->n_samples;
}

void row_draw_number(const struct row_shape *sh, struct canvas *c, struct rect r, int line, int i,
		     int64_t value, uint16_t style, uint16_t bar)
{
	const struct number_column *n = &sh->number[i];
	char out[FMT_SIZE];

	if (n->digits == 0)
		return;
	canvas_puts_right(c, r.row + line, r.col + n->col, n->digits, style,
			  row_number(out, n, sh->percent, value));
	if (n->bar > 0)
		canvas_bar(c, r.row + line, r.col + n->col + n->digits + 1, n->bar, bar, value,
			   n->bar_whole);
}

void row_shape_no_bars(struct row_shape *sh)
{
	for (int i = 0; i < sh->n_numbers; i++)
		sh->number[i].bar_whole = 0;
}

void row_shape_bars(struct row_shape *sh, const struct row_values *v)
{
	for (int i = 0; !sh->diff && i < sh->n_numbers; i++) {
		struct number_column *n = &sh->number[i];
		int64_t value = n->bar > 0 ? value_of(n, v) : 0;

		n->bar_whole = value > n->bar_whole ? value : n->bar_whole;
	}
}

/* Nothing where the row's samples are too few to say. */
static void draw_ratio(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		       const struct number_column *n, const struct row_values *v)
{
	struct ratio_value value = { .value = 0 };
	char out[FMT_SIZE];

	if (n->digits > 0 &&
	    ratio_of(&sh->ratios->at[n->of], sh->ratios_of_total ? v->total : v->self, sh->weights,
		     &value))
		canvas_puts_right(c, r.row + line, r.col + n->col, n->digits, STYLE_NUMBER,
				  fmt_ratio(out, value.value));
}

void row_draw_ratios(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		     const struct row_values *v)
{
	for (int i = 0; i < sh->n_numbers; i++)
		if (sh->number[i].kind == NUMBER_RATIO)
			draw_ratio(sh, c, r, line, &sh->number[i], v);
}

void row_draw_numbers(const struct row_shape *sh, struct canvas *c, struct rect r, int line,
		      const struct row_values *v)
{
	if (sh->diff) {
		row_change_draw(sh, c, r, line, v->key, v->self, v->total);
		return;
	}
	for (int i = 0; i < sh->n_numbers; i++) {
		const struct number_column *n = &sh->number[i];
		int64_t value = value_of(n, v);
		uint16_t style = STYLE_NUMBER;

		if (n->kind == NUMBER_RATIO) {
			draw_ratio(sh, c, r, line, n, v);
			continue;
		}
		if (v->hot && n->kind == NUMBER_SELF)
			style = STYLE_HOT;
		else if (n->kind != NUMBER_SAMPLES && value < n->whole / 2000 + 1)
			style = STYLE_DIM;
		row_draw_number(sh, c, r, line, i, value, style, v->bar);
	}
}
