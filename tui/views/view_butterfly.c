/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * butterfly: one function between its callers and its callees. Enter on one of these makes it the
 * centre; back walks the way one came.
 *
 * The cursor counts callers, the centre, and callees through; each half scrolls by itself.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/diff/diff.h"
#include "tui/canvas/glyphs.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/rows/row_change.h"
#include "tui/rows/row_sparkline.h"

/* Below this many lines there are no titles and rules. */
#define LINES_FOR_TITLES 10

/* Names get so many columns before the last minute gets any. */
#define NAME_LEAST 28

/* A window over one half's rows. */
struct half {
	uint32_t top; /* first row in sight */
	int rows;     /* that fit */
};

struct bfly_view {
	struct butterfly b; /* of the centre in the present analysis; owned */
	uint32_t key;       /* the centre, KEY_NONE: there is none */
	struct {
		/* [n] key ids of the centres so far, the last is the present; owned */
		uint32_t *at;
		size_t n, cap;
	} way;
	struct list list; /* callers, centre, callees */
	struct half callers, callees;
	struct row_shape shape; /* as of the last layout */
	struct row_sparkline minute;
	bool titles;        /* there is room for titles and rules */
	uint32_t cursor_id; /* key id of the cursor's row, ID_NONE: nothing */
	bool cursor_below;  /* it is among the callees */
};

static const struct row_wish wish = {
	.total = true, .total_first = true, .module = true, .ratios = true
};

static void *bfly_new(void)
{
	struct bfly_view *v = xcalloc(1, sizeof(*v));

	v->key = KEY_NONE;
	v->cursor_id = ID_NONE;
	return v;
}

static void bfly_free(void *state)
{
	struct bfly_view *v = state;

	if (!v)
		return;
	butterfly_done(&v->b);
	vec_done(&v->way);
	free(v);
}

static uint32_t n_rows(const struct bfly_view *v)
{
	return v->key == KEY_NONE ? 0 : v->b.n_callers + 1 + v->b.n_callees;
}

/* The key of a row; KEY_NONE where nothing calls. */
static uint32_t key_of(const struct bfly_view *v, uint32_t row)
{
	if (row < v->b.n_callers)
		return v->b.callers[row].key;
	if (row == v->b.n_callers)
		return v->key;
	return v->b.callees[row - v->b.n_callers - 1].key;
}

static uint32_t id_of(const struct bfly_view *v, const struct scene *s, uint32_t row)
{
	uint32_t key = row < n_rows(v) ? key_of(v, row) : KEY_NONE;

	return key == KEY_NONE ? ID_NONE : s->analysis->keys.key[key].id;
}

/* What to look at when nobody said so: the function with the most self weight. */
static uint32_t hottest(const struct analysis *a)
{
	const struct calltree *t = a->tree;
	int64_t *self = xcalloc((size_t)a->keys.n + 1, sizeof(*self));
	uint32_t best = KEY_NONE;

	for (uint32_t n = 1; n < t->n_nodes; n++)
		self[t->key[n]] += t->self[(size_t)n * t->n_columns];
	for (uint32_t k = 0; k < a->keys.n; k++) {
		if (a->keys.key[k].flags & (FUNCTION_MARK | FUNCTION_COMM) || self[k] == 0)
			continue;
		if (best == KEY_NONE || self[k] > self[best])
			best = k;
	}
	free(self);
	return best;
}

/* Puts the cursor on the row of a key, looking below the centre first or above it, else on it. */
static void go_to_id(struct bfly_view *v, const struct scene *s, uint32_t id, bool below)
{
	uint32_t n = n_rows(v), found = v->b.n_callers;

	for (uint32_t i = 0; i < n; i++) {
		if (i == v->b.n_callers || id == ID_NONE || id_of(v, s, i) != id)
			continue;
		found = i;
		if ((i > v->b.n_callers) == below)
			break;
	}
	list_fit(&v->list, n, (int)v->list.height);
	v->list.cursor = n > 0 ? found : 0;
}

static void remember(struct bfly_view *v, const struct scene *s)
{
	v->cursor_id = ID_NONE;
	if (v->list.cursor != v->b.n_callers)
		v->cursor_id = id_of(v, s, v->list.cursor);
	v->cursor_below = v->list.cursor > v->b.n_callers;
}

/* Without the rows that only ratios count. */
static uint32_t keep_shown(const struct lens *l, struct butterfly_row *row, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (lens_shows(l, row[i].total))
			row[kept++] = row[i];
	return kept;
}

/* Makes the answer for the last function of the way. */
static void look_at(struct bfly_view *v, const struct scene *s)
{
	const struct analysis *a = s->analysis;

	butterfly_done(&v->b);
	v->b = (struct butterfly){ .n_callers = 0 };
	v->key = KEY_NONE;
	if (v->way.n > 0)
		v->key = row_key_of_id(&a->keys, v->way.at[v->way.n - 1]);
	if (v->key == KEY_NONE)
		v->key = hottest(a);
	if (v->key == KEY_NONE)
		return;
	if (v->way.n == 0)
		vec_push(&v->way, a->keys.key[v->key].id);
	butterfly_init(&v->b, a->tree, &a->keys, v->key);
	v->b.n_callers = keep_shown(&a->lens, v->b.callers, v->b.n_callers);
	v->b.n_callees = keep_shown(&a->lens, v->b.callees, v->b.n_callees);
	if (s->analysis->diff) {
		diff_sort_neighbours(s->analysis->diff, v->b.callers, v->b.n_callers);
		diff_sort_neighbours(s->analysis->diff, v->b.callees, v->b.n_callees);
	}
	v->callers.top = v->callees.top = 0;
}

static void bfly_update(void *state, const struct scene *s)
{
	struct bfly_view *v = state;

	look_at(v, s);
	go_to_id(v, s, v->cursor_id, v->cursor_below);
}

static void keep_in_sight(struct half *h, uint32_t n, uint32_t cursor)
{
	uint32_t rows = h->rows > 0 ? (uint32_t)h->rows : 1;
	uint32_t last_top = n > rows ? n - rows : 0;

	if (h->top > last_top)
		h->top = last_top;
	if (cursor >= n)
		return;
	if (cursor < h->top)
		h->top = cursor;
	else if (cursor - h->top >= rows)
		h->top = cursor - rows + 1;
}

static int least_int(uint32_t a, int b)
{
	return a < (uint32_t)(b > 0 ? b : 0) ? (int)a : b > 0 ? b : 0;
}

static void bfly_layout(void *state, const struct scene *s, struct rect r)
{
	struct bfly_view *v = state;
	struct row_wish w = wish;
	int room;

	w.whole = v->b.total;
	w.beside = row_sparkline_wish(s->analysis->recent);
	v->titles = r.rows >= LINES_FOR_TITLES;
	/* A number without a title says nothing. */
	w.ratios = wish.ratios && v->titles;
	row_shape_init(&v->shape, s, &w, r.cols);
	if (v->titles)
		row_sparkline_init(&v->minute, &v->shape, s->analysis->recent, MINUTE_BEHIND_NAME,
				   NAME_LEAST);
	else
		v->minute = (struct row_sparkline){ 0 };
	room = r.rows - (v->titles ? 5 : 1);
	v->callers.rows = least_int(v->b.n_callers, (room + 1) / 2);
	v->callees.rows = least_int(v->b.n_callees, room - v->callers.rows);
	v->callers.rows = least_int(v->b.n_callers, room - v->callees.rows);
	list_fit(&v->list, n_rows(v), r.rows / 2);
	keep_in_sight(&v->callers, v->b.n_callers, v->list.cursor);
	keep_in_sight(&v->callees, v->b.n_callees,
		      v->list.cursor > v->b.n_callers ? v->list.cursor - v->b.n_callers - 1
						      : UINT32_MAX);
	remember(v, s);
}

static enum change_verdict verdict_of(const struct bfly_view *v, const struct scene *s,
				      const struct butterfly_row *row)
{
	return s->analysis->diff ? row_change_verdict(&v->shape, row->key, row->total, row->total)
				 : VERDICT_BEYOND;
}

/* What a row weighed in the last minute, all of it as part of the centre. */
static void draw_minute(const struct bfly_view *v, const struct scene *s, struct canvas *c,
			struct rect r, int line, uint32_t row)
{
	const struct recent *recent = s->analysis->recent;
	uint32_t centre = id_of(v, s, v->b.n_callers), id = id_of(v, s, row);
	struct recent_line l;

	if (v->minute.cols == 0)
		return;
	l = row == v->b.n_callers  ? recent_total(recent, centre)
	    : row < v->b.n_callers ? recent_caller(recent, centre, id)
				   : recent_callee(recent, centre, id);
	row_sparkline_draw(&v->minute, c, r, line, &l);
}

/* What stands in the name's cell of a row that has a key. */
static struct row_key name_of(const struct bfly_view *v, const struct scene *s,
			      const struct butterfly_row *row)
{
	const struct groups *keys = &s->analysis->keys;
	struct row_key name = { .keys = keys, .key = row->key };
	enum change_verdict verdict = verdict_of(v, s, row);

	name.dim = (keys->key[row->key].flags & FUNCTION_COMM) != 0 || verdict != VERDICT_BEYOND;
	name.tag = s->analysis->diff ? row_change_tag(&v->shape, s, &keys->key[row->key], verdict)
				     : NULL;
	return name;
}

/* A row above or below the centre, its number n; label: what its name is written as, or NULL. */
static void draw_row(const struct bfly_view *v, const struct scene *s, struct canvas *c,
		     struct rect r, int line, const struct butterfly_row *row, uint32_t n,
		     const char *label)
{
	const struct groups *keys = &s->analysis->keys;
	struct row_values values = {
		.key = row->key, .self = row->total, .total = row->total, .bar = STYLE_BAR
	};
	bool selected = n == v->list.cursor;

	if (row->key != KEY_NONE) {
		struct row_key name = name_of(v, s, row);

		name.selected = selected;
		name.label = label;
		values.bar = row_bar_style(&keys->key[row->key]);
		row_draw_key(&v->shape, c, r, line, s, &name);
	} else {
		canvas_puts(c, r.row + line, r.col + v->shape.name, v->shape.name_cols,
			    (uint16_t)(STYLE_DIM | (selected ? STYLE_SELECTED : 0)),
			    "(called by nothing)");
	}
	row_draw_numbers(&v->shape, c, r, line, &values);
	draw_minute(v, s, c, r, line, n);
	if (selected)
		row_draw_marker(c, r, line);
}

static void draw_half(const struct bfly_view *v, const struct scene *s, struct canvas *c,
		      struct rect r, int line, const struct half *h, bool below)
{
	const struct butterfly_row *rows = (below ? v->b.callees : v->b.callers) + h->top;
	uint32_t n = (below ? v->b.n_callees : v->b.n_callers) - h->top, first = h->top, shown = 0;
	struct seen_name *seen = xcalloc(r.rows > 0 ? (size_t)r.rows : 1, sizeof(*seen));
	char **label;

	first += below ? v->b.n_callers + 1 : 0;
	for (; (int)shown < h->rows && line + (int)shown < r.rows && shown < n; shown++) {
		struct row_key name;

		if (rows[shown].key == KEY_NONE)
			continue;
		name = name_of(v, s, &rows[shown]);
		seen[shown] = row_seen_name(&v->shape, c, s, &name);
	}
	label = names_apart(seen, shown, c->ascii);
	for (uint32_t i = 0; i < shown; i++)
		draw_row(v, s, c, r, line + (int)i, &rows[i], first + i, label[i]);
	names_apart_free(label, shown);
	free(seen);
}

/* The function itself: its shares of everything, where it is written, its module. */
static void draw_centre(const struct bfly_view *v, const struct scene *s, struct canvas *c,
			struct rect r, int line)
{
	const struct row_shape *sh = &v->shape;
	const struct groups *keys = &s->analysis->keys;
	struct row_key name = { .keys = keys, .key = v->key, .hot = true };
	struct number_column n = sh->number[0];
	char out[FMT_SIZE], *source;

	name.selected = v->list.cursor == v->b.n_callers;
	source = row_source(s, keys, v->key);
	name.tag = *source ? source : NULL;
	n.whole = s->analysis->weights.total[0];
	if (sh->diff)
		row_change_draw(sh, c, r, line, v->key, v->b.self, v->b.total);
	else if (n.digits > 0)
		canvas_puts_right(c, r.row + line, r.col + n.col, n.digits, STYLE_HOT,
				  row_number(out, &n, sh->percent, v->b.total[0]));
	if (n.bar >= 10 && !sh->diff)
		canvas_printf(c, r.row + line, r.col + n.col + n.digits + 1, n.bar + 1,
			      STYLE_NUMBER, "self %s",
			      row_number(out, &n, sh->percent, v->b.self[0]));
	row_draw_ratios(sh, c, r, line, &(struct row_values){ .total = v->b.total });
	row_draw_key(sh, c, r, line, s, &name);
	draw_minute(v, s, c, r, line, v->b.n_callers);
	if (name.selected)
		row_draw_marker(c, r, line);
	free(source);
}

/* "+500": how much numbers changed. */
static void change_of(const struct scene *s, const int64_t *numbers, char out[FMT_SIZE])
{
	struct noise_delta delta;

	diff_delta(s->analysis->diff, KEY_NONE, PART_TOTAL, numbers, &delta);
	fmt_change(out, diff_change(&delta), s->analysis->diff->unit);
}

/* "CALLERS OF name (41.0 %)" with what the numbers are at the right. */
static void draw_title(const struct bfly_view *v, const struct scene *s, struct canvas *c,
		       struct rect r, int line, bool below)
{
	const char *label = s->analysis->keys.key[v->key].label;
	const char *right = s->analysis->diff ? "changes of its total"
			    : s->percent      ? "share of its total"
					      : "of its total";
	char share[FMT_SIZE], *name;
	int cols = v->minute.cols > 0 ? v->minute.col - 1 : r.cols;
	int col = r.col + 2, used, room = cols - 3;

	/* What titles ratios have stands to the left. */
	if (!below && row_draw_ratio_titles(&v->shape, c, r, line)) {
		col = r.col + v->shape.name;
		cols -= v->shape.name - 2;
		room = cols - 3;
	}
	if (below) {
		used = canvas_puts(c, r.row + line, col, room, STYLE_HEADER, "CALLEES");
		if (s->analysis->diff)
			return;
		canvas_printf(c, r.row + line, col + used, room - used, STYLE_DIM,
			      "  ·  %s in itself",
			      row_share(share, s, v->b.self[0], v->b.total[0]));
		return;
	}
	used = canvas_puts(c, r.row + line, col, room, STYLE_HEADER, "CALLERS OF ");
	if (s->analysis->diff)
		change_of(s, v->b.total, share);
	else
		row_share(share, s, v->b.total[0], s->analysis->weights.total[0]);
	room -= used + (int)text_width(share, strlen(share)) + 3;
	if (room >= 56)
		room -= 20;
	name = name_in_row(label, room > 1 ? room : 1, c->ascii);
	used += canvas_puts(c, r.row + line, col + used, room, STYLE_HEADER, name);
	used += canvas_printf(c, r.row + line, col + used, cols - 2 - used, STYLE_HEADER, " (%s)",
			      share);
	free(name);
	row_sparkline_draw_title(&v->minute, c, r, line);
	if (cols - 3 - used >= 20)
		canvas_puts_right(c, r.row + line, col + used, cols - 3 - used, STYLE_DIM, right);
}

static void bfly_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct bfly_view *v = state;
	int line = 0;

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (v->key == KEY_NONE) {
		row_draw_nothing(c, r, s);
		return;
	}
	if (v->titles)
		draw_title(v, s, c, r, line++, false);
	draw_half(v, s, c, r, line, &v->callers, false);
	line += v->callers.rows;
	if (v->titles)
		canvas_fill(c, r.row + line++, r.col + 1, r.cols - 2, STYLE_RULE, GLYPH_RULE);
	draw_centre(v, s, c, r, line++);
	if (v->titles) {
		canvas_fill(c, r.row + line++, r.col + 1, r.cols - 2, STYLE_RULE, GLYPH_RULE);
		draw_title(v, s, c, r, line++, true);
	}
	draw_half(v, s, c, r, line, &v->callees, true);
	if (v->titles && v->b.n_callees == 0)
		canvas_puts(c, r.row + line, r.col + v->shape.name, v->shape.name_cols, STYLE_DIM,
			    "(calls nothing)");
}

static bool make_centre(struct bfly_view *v, const struct scene *s)
{
	uint32_t id = id_of(v, s, v->list.cursor);

	if (id == ID_NONE || v->list.cursor == v->b.n_callers)
		return false;
	vec_push(&v->way, id);
	look_at(v, s);
	go_to_id(v, s, ID_NONE, false);
	return true;
}

static bool walk_back(struct bfly_view *v, const struct scene *s)
{
	uint32_t from;

	if (v->way.n < 2)
		return false;
	from = v->way.at[--v->way.n];
	look_at(v, s);
	go_to_id(v, s, from, true);
	return true;
}

/* The centre is gone into by its source. */
static bool open_code(const struct bfly_view *v, const struct scene *s, struct effect *out)
{
	if (s->analysis->keys.grouping != GROUP_FUNCTION)
		return false;
	*out = (struct effect){ .kind = EFFECT_OPEN,
				.view = VIEW_KIND_ANNOTATE,
				.place = { .key_id = id_of(v, s, v->list.cursor) } };
	return true;
}

static bool bfly_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct bfly_view *v = state;
	bool done;

	done = list_act(&v->list, a);
	if (a == ACTION_ENTER && v->key != KEY_NONE && v->list.cursor == v->b.n_callers)
		done = open_code(v, s, out);
	else if (a == ACTION_ENTER)
		done = n_rows(v) > 0 && make_centre(v, s);
	else if (a == ACTION_BACK)
		done = walk_back(v, s);
	remember(v, s);
	return done;
}

/* The row on a line of the rectangle, or UINT32_MAX. */
static uint32_t row_on(const struct bfly_view *v, int line)
{
	int centre = v->callers.rows + (v->titles ? 2 : 0);

	line -= v->titles;
	if (line >= 0 && line < v->callers.rows)
		return v->callers.top + (uint32_t)line;
	line += v->titles;
	if (line == centre)
		return v->b.n_callers;
	line -= centre + (v->titles ? 3 : 1);
	if (line >= 0 && line < v->callees.rows)
		return v->b.n_callers + 1 + v->callees.top + (uint32_t)line;
	return UINT32_MAX;
}

static void bfly_click(void *state, const struct scene *s, struct rect r, int row, int col,
		       bool twice, struct effect *out)
{
	struct bfly_view *v = state;
	uint32_t at = row_on(v, row - r.row);

	(void)col;
	(void)out;
	if (at >= n_rows(v))
		return;
	v->list.cursor = at;
	if (twice)
		make_centre(v, s);
	remember(v, s);
}

static void bfly_select(void *state, const struct scene *s, const struct place *p)
{
	struct bfly_view *v = state;

	if (p->key_id == ID_NONE || row_key_of_id(&s->analysis->keys, p->key_id) == KEY_NONE)
		return;
	if (v->way.n == 0 || v->way.at[v->way.n - 1] != p->key_id) {
		vec_clear(&v->way);
		vec_push(&v->way, p->key_id);
		look_at(v, s);
	}
	go_to_id(v, s, ID_NONE, false);
	remember(v, s);
}

static bool bfly_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct bfly_view *v = state;
	uint32_t id = id_of(v, s, v->list.cursor);

	if (id == ID_NONE)
		return false;
	*out = (struct place){ .key_id = id };
	return true;
}

static uint32_t bfly_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct bfly_view *v = state;
	struct match_cursor f;

	match_cursor_start(&f, v->list.cursor, step);
	for (uint32_t i = 0; i < n_rows(v); i++)
		if (key_of(v, i) != KEY_NONE && row_matches(s, &s->analysis->keys, key_of(v, i)))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes) {
		v->list.cursor = f.target;
		remember(v, s);
	}
	return f.n;
}

/* [n_columns] totals of a row. */
static const int64_t *numbers_of(const struct bfly_view *v, uint32_t row)
{
	if (row == v->b.n_callers)
		return v->b.total;
	return row < v->b.n_callers ? v->b.callers[row].total
				    : v->b.callees[row - v->b.n_callers - 1].total;
}

static char *bfly_status(const void *state, const struct scene *s)
{
	const struct bfly_view *v = state;
	uint32_t row = v->list.cursor, key;
	const struct groups *keys = &s->analysis->keys;
	char share[FMT_SIZE], *name, *out;
	int64_t total;

	if (row >= n_rows(v))
		return NULL;
	key = key_of(v, row);
	if (s->analysis->diff && key != KEY_NONE)
		return row_change_status(s, &s->analysis->diff->nodes, keys, key, PART_TOTAL,
					 numbers_of(v, row));
	if (row == v->b.n_callers)
		return row_status(s, keys, key, v->b.self[0], v->b.total[0], v->b.total);
	total = row < v->b.n_callers ? v->b.callers[row].total[0]
				     : v->b.callees[row - v->b.n_callers - 1].total[0];
	row_share(share, s, total, v->b.total[0]);
	if (key == KEY_NONE)
		return xasprintf("called by nothing: a root of its stacks, in %s", share);
	name = name_full(&keys->key[key]);
	out = xasprintf("%s of it  %s  %s", share,
			row < v->b.n_callers ? "when called by" : "by calling", name);
	free(name);
	return out;
}

static char *bfly_crumb(const void *state, const struct scene *s)
{
	const struct bfly_view *v = state;

	if (v->key == KEY_NONE)
		return NULL;
	return name_in_row(s->analysis->keys.key[v->key].label, 40, false);
}

const struct view_ops view_butterfly = {
	.name = "butterfly",
	.help = "one function between its callers and its callees",
	.contexts = IN_LIST | IN_BFLY,
	.of_tree = true,
	.new = bfly_new,
	.free = bfly_free,
	.update = bfly_update,
	.layout = bfly_layout,
	.draw = bfly_draw,
	.act = bfly_act,
	.click = bfly_click,
	.select = bfly_select,
	.selection = bfly_selection,
	.find = bfly_find,
	.status = bfly_status,
	.crumb = bfly_crumb,
};
