/* SPDX-License-Identifier: GPL-3.0-or-later */
/* top: one row per function, or per whatever the lens groups by. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/ratio.h"
#include "query/diff/diff.h"
#include "query/diff/diff_moves.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/row.h"
#include "tui/rows/row_change.h"
#include "tui/rows/row_sparkline.h"
#include "tui/views/row_effects.h"

/* Columns that Left and Right scroll names by. */
#define SHIFT_COLS 8

/* Names get so many columns before the last minute gets any. */
#define NAME_LEAST 24

/* Rows are not sorted by a ratio. */
#define RATIO_NONE UINT32_MAX

struct top_view {
	struct list list;
	struct row_shape shape; /* as of the last layout */
	struct row_sparkline minute;
	uint32_t *row; /* [list.n] the table's rows in the order that is shown; owned */
	enum table_order order;
	uint32_t column; /* of the lens, whose numbers rule */
	uint32_t ratio;  /* of the lens, which rules instead; RATIO_NONE: none does */
	bool reverse;
	int shift;               /* columns of the names that are scrolled out */
	enum grouping grouping;  /* of the rows, as of the last update */
	uint32_t cursor_id;      /* id of the cursor's key, ID_NONE */
	struct diff_move *moves; /* [n_keys] of a comparison of functions; else NULL; owned */
};

static const struct row_wish of_frames = {
	.self = true,
	.total = true,
	.two_bars = true,
	.samples = true,
	.module = true,
	.ratios = true,
};

static const struct row_wish of_groups = {
	.self = true,
	.total = true,
	.two_bars = true,
	.samples = true,
	.ratios = true,
};

static const struct row_wish of_samples = {
	.self = true, .samples = true, .share = true, .ratios = true
};

static const struct row_wish *wish_for(enum grouping g)
{
	switch (g) {
	case GROUP_FUNCTION:
	case GROUP_LINE:
		return &of_frames;
	case GROUP_MODULE:
	case GROUP_FILE:
		return &of_groups;
	case GROUP_THREAD:
	case GROUP_PROCESS:
	case GROUP_COMM:
	case GROUP_EVENT:
	case GROUP_CPU:
	case GROUP_CGROUP:
	case GROUP_LABELS:
	case GROUP_CAPTURE:
	case GROUP_HOST:
		break;
	}
	return &of_samples;
}

static const char *title_of(enum grouping g)
{
	static const char *const titles[N_GROUPINGS] = {
#define X(id, name, title) title " ▾",
		GROUPINGS(X)
#undef X
	};

	return g == GROUP_COMM ? "COMMAND ▾" : titles[g];
}

static int top_line(struct rect r)
{
	return r.rows >= 3;
}

static void *top_new(void)
{
	struct top_view *v = xcalloc(1, sizeof(*v));

	v->cursor_id = ID_NONE;
	v->ratio = RATIO_NONE;
	return v;
}

static void top_free(void *state)
{
	struct top_view *v = state;

	if (!v)
		return;
	free(v->row);
	free(v->moves);
	free(v);
}

/* The key of what is shown as row number i. */
static uint32_t key_number(const struct top_view *v, const struct scene *s, uint32_t i)
{
	return s->analysis->table.key[v->row[i]];
}

static const struct key *key_at(const struct top_view *v, const struct scene *s, uint32_t i)
{
	return &s->analysis->table_keys->key[key_number(v, s, i)];
}

/* The cursor goes where its key went. False when it has none any more. */
static bool follow(struct top_view *v, const struct scene *s)
{
	const struct table *t = &s->analysis->table;

	list_fit(&v->list, t->n_rows, (int)v->list.height);
	for (uint32_t i = 0; v->cursor_id != ID_NONE && i < t->n_rows; i++) {
		if (key_at(v, s, i)->id != v->cursor_id)
			continue;
		list_go(&v->list, i);
		return true;
	}
	return false;
}

/* The cursor's row stands where it stood, whatever the numbers do to those around it: out of its order, then. */
static void stay(struct top_view *v, const struct scene *s, const struct list *was)
{
	struct list *l = &v->list;
	uint32_t row = was->cursor < l->n ? was->cursor : l->n - 1, moved;

	if (s->analysis->diff)
		return; /* changes are kept by row */
	moved = v->row[l->cursor];
	if (row > l->cursor)
		memmove(&v->row[l->cursor], &v->row[l->cursor + 1],
			(row - l->cursor) * sizeof(*v->row));
	else
		memmove(&v->row[row + 1], &v->row[row], (l->cursor - row) * sizeof(*v->row));
	v->row[row] = moved;
	l->cursor = row;
	l->top = was->top;
	list_fit(l, l->n, (int)l->height);
}

static void remember(struct top_view *v, const struct scene *s)
{
	v->cursor_id = v->list.cursor < v->list.n ? key_at(v, s, v->list.cursor)->id : ID_NONE;
}

/* qsort_r's third argument. */
struct by_ratio {
	const struct analysis *a;
	const struct ratio *ratio;
	bool reverse;
};

static int compare_ratios(const void *x, const void *y, void *arg)
{
	const struct by_ratio *by = arg;
	const struct table *t = &by->a->table;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	int c = ratio_compare(by->ratio, t->self + (size_t)i * t->n_columns,
			      t->self + (size_t)k * t->n_columns, &by->a->weights, by->reverse);

	if (c == 0)
		c = t->self[(size_t)i * t->n_columns] < t->self[(size_t)k * t->n_columns]   ? 1
		    : t->self[(size_t)i * t->n_columns] > t->self[(size_t)k * t->n_columns] ? -1
											    : 0;
	return c ? c : i < k ? -1 : i > k;
}

/* False when the cursor's key is not there. */
static bool sort(struct top_view *v, const struct scene *s)
{
	const struct analysis *a = s->analysis;

	free(v->row);
	v->row = a->diff ? diff_ordered(a->diff, v->order, v->reverse)
			 : table_ordered(&a->table, a->table_keys, v->order, v->column, v->reverse);
	if (v->ratio != RATIO_NONE && a->table.n_rows > 1) {
		struct by_ratio by = { a, &a->lens.ratios->at[v->ratio], v->reverse };

		qsort_r(v->row, a->table.n_rows, sizeof(*v->row), compare_ratios, &by);
	}
	return follow(v, s);
}

static void top_update(void *state, const struct scene *s)
{
	struct top_view *v = state;
	const struct analysis *a = s->analysis;
	struct list was;

	if (a->table_keys->grouping != v->grouping) {
		v->grouping = a->table_keys->grouping;
		v->cursor_id = ID_NONE;
		v->list.cursor = v->list.top = 0;
		v->shift = 0;
	}
	if (v->column >= lens_n_shown(&a->lens))
		v->column = 0;
	if (!a->lens.ratios || v->ratio >= a->lens.ratios->n)
		v->ratio = RATIO_NONE;
	free(v->moves);
	v->moves = a->diff ? diff_moves_find(a->diff) : NULL;
	if (v->list.cursor == 0 && v->list.top == 0)
		v->cursor_id = ID_NONE;
	was = v->list;
	if (sort(v, s) && s->stays && !a->diff)
		stay(v, s, &was);
}

/* Bars are of the largest of all rows, so that scrolling changes none. */
static void scale_bars(struct top_view *v, const struct scene *s)
{
	const struct table *t = &s->analysis->table;

	row_shape_no_bars(&v->shape);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct row_values values = { .self = t->self + i * t->n_columns,
						   .total = t->total + i * t->n_columns };

		row_shape_bars(&v->shape, &values);
	}
}

static void top_layout(void *state, const struct scene *s, struct rect r)
{
	struct top_view *v = state;

	row_shape_init(&v->shape, s, wish_for(v->grouping), r.cols);
	v->minute = (struct row_sparkline){ 0 };
	if (s->analysis->table_keys == &s->analysis->keys)
		row_sparkline_init(&v->minute, &v->shape, s->analysis->recent, MINUTE_BEFORE_NAME,
				   NAME_LEAST);
	list_fit(&v->list, s->analysis->table.n_rows, r.rows - top_line(r));
	remember(v, s);
	scale_bars(v, s);
}

/* The index of the number column that rules, or ROW_BY_…. */
static int sorted_column(const struct top_view *v)
{
	enum number_kind kind = v->order == ORDER_SELF ? NUMBER_SELF : NUMBER_TOTAL;

	for (int i = 0; v->ratio != RATIO_NONE && i < v->shape.n_numbers; i++)
		if (v->shape.number[i].kind == NUMBER_RATIO && v->shape.number[i].of == v->ratio)
			return i;
	if (v->ratio != RATIO_NONE)
		return ROW_UNSORTED;
	if (v->order == ORDER_LABEL)
		return ROW_BY_NAME;
	if (v->order == ORDER_MODULE)
		return ROW_BY_MODULE;
	for (int i = 0; i < v->shape.n_numbers; i++)
		if ((v->shape.number[i].kind == kind && v->shape.number[i].of == v->column) ||
		    (v->shape.number[i].kind == NUMBER_CHANGE &&
		     v->shape.number[i].of_total == (kind == NUMBER_TOTAL)))
			return i;
	return ROW_UNSORTED;
}

/* Where the other side has a function of a comparison; NULL: nothing is known of that. The caller frees. */
static char *move_text(const struct top_view *v, const struct scene *s, uint32_t key)
{
	return v->moves ? diff_move_text(s->analysis->diff, &v->moves[key]) : NULL;
}

/* The same where there is no room for it. */
static const char *move_tag(const struct diff_move *m)
{
	return m->move == MOVE_MODULE ? "moved" : m->gone ? "inlined?" : "outlined?";
}

/* What stands in the name's cell of a row, and in *moved its remark, which the caller frees. */
static struct row_key name_of(const struct top_view *v, const struct scene *s, uint32_t i,
			      char **moved)
{
	const struct analysis *a = s->analysis;
	const struct table *t = &a->table;
	uint32_t key = key_number(v, s, i);
	size_t at = (size_t)v->row[i] * t->n_columns;
	struct row_key name = { .keys = a->table_keys, .key = key, .shift = v->shift };
	enum change_verdict verdict = VERDICT_BEYOND;

	*moved = move_text(v, s, key);
	name.hot = row_is_hot(s, t->self + at);
	name.selected = i == v->list.cursor;
	if (a->diff) {
		verdict = row_change_verdict(&v->shape, key, t->self + at, t->total + at);
		name.tag = row_change_tag(&v->shape, s, key_at(v, s, i), verdict);
	}
	name.dim = verdict != VERDICT_BEYOND;
	if (*moved && !name.dim)
		name.tag = (int)text_width(*moved, strlen(*moved)) > row_tag_most(&v->shape)
				   ? move_tag(&v->moves[key])
				   : *moved;
	else if (!name.tag && v->grouping == GROUP_FUNCTION && t->inlined && t->inlined[key])
		name.tag = "inl";
	return name;
}

/* label: what its name is written as, or NULL. */
static void draw_row(const struct top_view *v, const struct scene *s, struct canvas *c,
		     struct rect r, int line, uint32_t i, const char *label)
{
	const struct analysis *a = s->analysis;
	const struct table *t = &a->table;
	size_t at = (size_t)v->row[i] * t->n_columns;
	struct row_values values = { .key = key_number(v, s, i),
				     .self = t->self + at,
				     .total = t->total + at };
	char *moved;
	struct row_key name = name_of(v, s, i, &moved);

	values.n_samples = t->n_samples[v->row[i]];
	values.hot = name.hot;
	values.bar = row_bar_style(key_at(v, s, i));
	name.label = label;
	row_draw_numbers(&v->shape, c, r, line, &values);
	if (v->minute.cols > 0) {
		struct recent_line l = recent_self(a->recent, &key_at(v, s, i)->id, 1);

		row_sparkline_draw(&v->minute, c, r, line, &l);
	}
	row_draw_key(&v->shape, c, r, line, s, &name);
	if (name.selected)
		row_draw_marker(c, r, line);
	free(moved);
}

/* Draws the rows in sight, whose names are told apart, from a line on. */
static void draw_rows(const struct top_view *v, const struct scene *s, struct canvas *c,
		      struct rect r, int top)
{
	size_t n = 0, most = r.rows > top ? (size_t)(r.rows - top) : 0;
	struct seen_name *seen = xcalloc(most + 1, sizeof(*seen));
	char **label;

	for (; n < most && list_at(&v->list, (int)n) != UINT32_MAX; n++) {
		char *moved;
		struct row_key name = name_of(v, s, list_at(&v->list, (int)n), &moved);

		seen[n] = row_seen_name(&v->shape, c, s, &name);
		free(moved);
	}
	label = names_apart(seen, n, c->ascii);
	for (size_t line = 0; line < n; line++)
		draw_row(v, s, c, r, (int)line + top, list_at(&v->list, (int)line), label[line]);
	names_apart_free(label, n);
	free(seen);
}

static void top_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct top_view *v = state;
	int top = top_line(r);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (top > 0)
		row_draw_header(&v->shape, c, r, 0, sorted_column(v), v->reverse,
				title_of(v->grouping), "MODULE");
	if (top > 0)
		row_sparkline_draw_title(&v->minute, c, r, 0);
	if (v->list.n == 0)
		row_draw_nothing(c, r, s);
	draw_rows(v, s, c, r, top);
}

/* Sorts for the user, who wants to see what comes first. */
static bool resort(struct top_view *v, const struct scene *s)
{
	v->list.cursor = v->list.top = 0;
	v->cursor_id = ID_NONE;
	sort(v, s);
	return true;
}

/* Is what rules on the screen? */
static bool shows_order(const struct top_view *v)
{
	int i = sorted_column(v);

	if (i == ROW_BY_MODULE)
		return v->shape.module_cols > 0;
	return i == ROW_BY_NAME || (i >= 0 && v->shape.number[i].digits > 0);
}

/* The next of self and total of each of the lens's columns, then of its ratios, then name, then module. */
static void step_order(struct top_view *v, const struct scene *s)
{
	bool frames = v->grouping == GROUP_FUNCTION || v->grouping == GROUP_LINE;
	bool has_total = wish_for(v->grouping)->total;
	const struct ratios *ratios = s->analysis->lens.ratios;

	if (v->ratio != RATIO_NONE) {
		v->ratio = v->ratio + 1 < ratios->n ? v->ratio + 1 : RATIO_NONE;
		if (v->ratio == RATIO_NONE)
			v->order = ORDER_LABEL;
		return;
	}
	switch (v->order) {
	case ORDER_SELF:
		v->order = ORDER_TOTAL;
		if (has_total)
			break;
		/* fall through */
	case ORDER_TOTAL:
		v->order = ORDER_SELF;
		if (!s->analysis->diff && ++v->column < lens_n_shown(&s->analysis->lens))
			break;
		v->column = 0;
		if (ratios) {
			v->ratio = 0;
			break;
		}
		v->order = ORDER_LABEL;
		break;
	case ORDER_LABEL:
		v->order = frames ? ORDER_MODULE : ORDER_SELF;
		break;
	case ORDER_MODULE:
		v->order = ORDER_SELF;
		break;
	}
}

/* The next of them that is on the screen; the name always is. */
static bool next_order(struct top_view *v, const struct scene *s)
{
	do
		step_order(v, s);
	while (!shows_order(v));
	v->reverse = false;
	return resort(v, s);
}

/* Names scroll as far as the longest in sight needs. */
static bool scroll_names(struct top_view *v, const struct scene *s, int by)
{
	int most = 0, shift = v->shift + by;

	for (uint32_t i = v->list.top; i < v->list.n && i - v->list.top < v->list.height; i++) {
		const char *label = key_at(v, s, i)->label;
		int cols = (int)text_width(label, strnlen(label, 4096));

		most = cols > most ? cols : most;
	}
	if (shift > most - v->shape.name_cols + SHIFT_COLS)
		shift = v->shift;
	if (shift < 0)
		shift = 0;
	if (shift == v->shift)
		return false;
	v->shift = shift;
	return true;
}

static const char *top_order(const void *state, const struct scene *s)
{
	const struct top_view *v = state;
	bool named = !v->reverse && v->column == 0 && v->ratio == RATIO_NONE;

	(void)s;
	return named ? table_order_name(v->order) : NULL;
}

static bool top_sort(void *state, const struct scene *s, const char *by)
{
	struct top_view *v = state;

	if (!table_order_of(by, &v->order))
		return false;
	v->column = 0;
	v->ratio = RATIO_NONE;
	v->reverse = false;
	return resort(v, s);
}

static bool top_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct top_view *v = state;

	if (list_act(&v->list, a)) {
		remember(v, s);
		return true;
	}
	switch ((int)a) {
	case ACTION_LEFT:
		return scroll_names(v, s, -SHIFT_COLS);
	case ACTION_RIGHT:
		return scroll_names(v, s, SHIFT_COLS);
	case ACTION_SORT:
		return next_order(v, s);
	case ACTION_REVERSE:
		v->reverse = !v->reverse;
		return resort(v, s);
	case ACTION_GROUP:
		out->kind = EFFECT_GROUP;
		out->grouping = grouping_next(v->grouping, s->analysis->profile);
		return true;
	case ACTION_ENTER:
		return v->list.cursor < v->list.n &&
		       row_effects_key(s, s->analysis->table_keys, key_number(v, s, v->list.cursor),
				       out);
	case ACTION_SIDE_A:
	case ACTION_SIDE_B:
		if (v->list.cursor >= v->list.n)
			return false;
		row_effects_side_key(s, s->analysis->table_keys, key_number(v, s, v->list.cursor),
				     out);
		return true;
	default:
		return false;
	}
}

static void click_header(struct top_view *v, const struct scene *s, int col)
{
	int what = row_column_at(&v->shape, col);
	enum table_order was = v->order;
	uint32_t column = v->column, ratio = v->ratio;

	v->ratio = RATIO_NONE;
	if (what >= 0 && v->shape.number[what].kind == NUMBER_RATIO) {
		v->ratio = v->shape.number[what].of;
		v->order = ORDER_SELF;
		v->column = 0;
	} else if (what >= 0 && v->shape.diff) {
		v->order = v->shape.number[what].of_total ? ORDER_TOTAL : ORDER_SELF;
	} else if (what >= 0 && v->shape.number[what].kind != NUMBER_SAMPLES) {
		v->order = v->shape.number[what].kind == NUMBER_SELF ? ORDER_SELF : ORDER_TOTAL;
		v->column = v->shape.number[what].of;
	} else if (what == ROW_BY_NAME) {
		v->order = ORDER_LABEL;
	} else if (what == ROW_BY_MODULE) {
		v->order = ORDER_MODULE;
	} else {
		v->ratio = ratio;
		return;
	}
	v->reverse = was == v->order && column == v->column && ratio == v->ratio && !v->reverse;
	resort(v, s);
}

static void top_click(void *state, const struct scene *s, struct rect r, int row, int col,
		      bool twice, struct effect *out)
{
	struct top_view *v = state;
	int line = row - r.row - top_line(r);
	uint32_t i = list_at(&v->list, line);

	if (line < 0)
		click_header(v, s, col - r.col);
	if (i == UINT32_MAX)
		return;
	v->list.cursor = i;
	remember(v, s);
	if (twice)
		top_act(v, s, ACTION_ENTER, out);
}

static void top_select(void *state, const struct scene *s, const struct place *p)
{
	struct top_view *v = state;

	if ((v->grouping != GROUP_FUNCTION && v->grouping != GROUP_LINE) || p->key_id == ID_NONE)
		return;
	v->cursor_id = p->key_id;
	follow(v, s);
	remember(v, s);
}

static bool top_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct top_view *v = state;
	enum grouping g = s->analysis->table_keys->grouping;

	if (v->list.cursor >= s->analysis->table.n_rows)
		return false;
	if (s->analysis->table_keys != &s->analysis->keys || g != v->grouping)
		return false;
	out->key_id = key_at(v, s, v->list.cursor)->id;
	out->path = 0;
	return true;
}

static uint32_t top_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct top_view *v = state;
	struct match_cursor f;

	match_cursor_start(&f, v->list.cursor, step);
	for (uint32_t i = 0; i < s->analysis->table.n_rows; i++)
		if (row_matches(s, s->analysis->table_keys, key_number(v, s, i)))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes) {
		list_go(&v->list, f.target);
		remember(v, s);
	}
	return f.n;
}

/* What changed, and before it where the function is on the other side. */
static char *change_status(const struct top_view *v, const struct scene *s)
{
	const struct table *t = &s->analysis->table;
	uint32_t key = key_number(v, s, v->list.cursor);
	size_t at = (size_t)v->row[v->list.cursor] * t->n_columns;
	char *moved = move_text(v, s, key), *clean, *out;
	bool total = v->order == ORDER_TOTAL;
	char *change =
		row_change_status(s, total ? &s->analysis->diff->total : &s->analysis->diff->self,
				  s->analysis->table_keys, key, total ? PART_TOTAL : PART_SELF,
				  total ? &t->total[at] : &t->self[at]);

	if (!moved)
		return change;
	clean = text_clean(moved, strlen(moved), false);
	out = xasprintf("%s: %s", clean, change);
	free(clean);
	free(moved);
	free(change);
	return out;
}

static char *top_status(const void *state, const struct scene *s)
{
	const struct top_view *v = state;
	const struct table *t = &s->analysis->table;
	size_t at;

	if (v->list.cursor >= t->n_rows)
		return NULL;
	if (s->analysis->diff)
		return change_status(v, s);
	at = (size_t)v->row[v->list.cursor] * t->n_columns;
	return row_status(s, s->analysis->table_keys, key_number(v, s, v->list.cursor), t->self[at],
			  t->total[at], &t->self[at]);
}

static char *top_crumb(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return NULL;
}

static void top_position(const void *state, uint32_t *at, uint32_t *of)
{
	list_position(&((const struct top_view *)state)->list, at, of);
}

const struct view_ops view_top = {
	.name = "top",
	.help = "functions by what they cost themselves; o groups by module, file, thread, …",
	.contexts = IN_LIST | IN_TOP,
	.new = top_new,
	.free = top_free,
	.update = top_update,
	.layout = top_layout,
	.draw = top_draw,
	.act = top_act,
	.click = top_click,
	.select = top_select,
	.selection = top_selection,
	.find = top_find,
	.status = top_status,
	.order = top_order,
	.sort = top_sort,
	.position = top_position,
	.crumb = top_crumb,
};
