/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The view of a tree as rows; see tree_view.h. */
#include "config.h"

#include "tui/views/tree_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/ratio.h"
#include "tui/rows/chain.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/rows/row_change.h"
#include "tui/views/tree_draw.h"

/* Names of many levels get so many columns before the last minute gets any. */
#define NAME_LEAST 34

/* The hottest path ends where less is left than one of so many of everything, or of the row where it began. */
#define HOT_LEAST 100
#define HOT_PART  10

static const struct row_wish wish = {
	.self = true,
	.total = true,
	.total_first = true,
	.module = true,
	.ratios = true,
};

static bool is_node(const struct tree_view *v)
{
	return v->list.cursor < v->rows.n && v->rows.at[v->list.cursor].n_more == 0;
}

/* The node under the cursor: the match, where a search went into a chain, else the one that counts. */
static uint32_t node_at(const struct tree_view *v, const struct scene *s)
{
	if (!is_node(v))
		return TREE_NONE;
	if (v->found != TREE_NONE)
		return v->found;
	return chain_main(v->rows.src, v->rows.at[v->list.cursor].node,
			  tree_rows_last(&v->rows, s->analysis, v->list.cursor));
}

/* The rows changed in number. */
static void fit(struct tree_view *v)
{
	list_fit(&v->list, (uint32_t)v->rows.n, (int)v->list.height);
}

static void go(struct tree_view *v, size_t row)
{
	fit(v);
	v->found = TREE_NONE;
	if (row < v->rows.n)
		list_go(&v->list, (uint32_t)row);
}

/* Remembers where the cursor is: its row's first node, and what that is below of. */
static void note_cursor(struct tree_view *v, const struct scene *s)
{
	const struct tree_source *src = v->rows.src;
	uint32_t node = is_node(v) ? v->rows.at[v->list.cursor].node : TREE_NONE;

	v->cursor_path = node == TREE_NONE ? 0 : src->path(s->analysis, node);
	v->n_above = 0;
	for (; node != TREE_NONE && v->n_above < TREE_ABOVE_MOST;
	     node = src->parent(s->analysis, node))
		v->above[v->n_above++] = src->path(s->analysis, node);
}

/* Which of the first `most` paths above the cursor is the nearest that the row has; most when it has none. */
static uint32_t nearness(const struct tree_view *v, struct analysis *a, size_t row, uint32_t most)
{
	uint32_t first = v->rows.at[row].node, node = tree_rows_last(&v->rows, a, row);

	for (;; node = v->rows.src->parent(a, node)) {
		uint64_t path = v->rows.src->path(a, node);

		for (uint32_t i = 0; i < most; i++)
			if (v->above[i] == path)
				most = i;
		if (node == first)
			return most;
	}
}

/* The row that begins with path; for the cursor's, else what is left of it: other names, or a filter, changed the rest. */
static size_t find_row(const struct tree_view *v, struct analysis *a, uint64_t path)
{
	size_t found = SIZE_MAX;
	uint32_t near = v->n_above;

	for (size_t i = 0; i < v->rows.n; i++)
		if (v->rows.at[i].n_more == 0 && v->rows.src->path(a, v->rows.at[i].node) == path)
			return i;
	for (size_t i = 0; path == v->cursor_path && i < v->rows.n; i++) {
		uint32_t this = v->rows.at[i].n_more == 0 ? nearness(v, a, i, near) : near;

		if (this < near) {
			near = this;
			found = i;
		}
	}
	return found;
}

/* Makes all rows anew and puts the cursor on the row of path, or on what that was below of. */
static void rebuild(struct tree_view *v, const struct scene *s, uint64_t path)
{
	struct analysis *a = s->analysis;
	struct list was = v->list;
	size_t row;

	v->found = TREE_NONE;
	v->rows.top = tree_zoom_node(&v->zoom, v->rows.src, a);
	tree_rows_build(&v->rows, a);
	fit(v);
	row = path != 0 ? find_row(v, a, path) : SIZE_MAX;
	if (row != SIZE_MAX)
		list_follow(&v->list, &was, (uint32_t)row, s->stays && path == v->cursor_path);
}

/* The path of the cursor's row, 0 when it has none. */
static uint64_t cursor_path(const struct tree_view *v, const struct scene *s)
{
	return is_node(v) ? v->rows.src->path(s->analysis, v->rows.at[v->list.cursor].node) : 0;
}

struct tree_view *tree_view_new(const struct tree_source *src)
{
	struct tree_view *v = xcalloc(1, sizeof(*v));

	tree_rows_init(&v->rows, src);
	v->found = TREE_NONE;
	return v;
}

void tree_view_free(void *state)
{
	struct tree_view *v = state;

	if (!v)
		return;
	tree_rows_done(&v->rows);
	tree_zoom_done(&v->zoom);
	free(v);
}

/* Opens rows until they say something. */
static void open_first(struct tree_view *v, const struct scene *s)
{
	v->list.cursor = v->list.top = 0;
	tree_view_open_hot(v, s);
}

void tree_view_update(void *state, const struct scene *s)
{
	struct tree_view *v = state;
	const struct ratios *ratios = s->analysis->lens.ratios;

	if (v->rows.order == TREE_BY_RATIO && (!ratios || v->rows.ratio >= ratios->n))
		v->rows.order = v->rows.src->by_self ? TREE_BY_SELF : TREE_BY_TOTAL;
	rebuild(v, s, v->cursor_path);
	if (!v->touched)
		open_first(v, s);
	note_cursor(v, s);
}

/* Nearest rows that this one is below of, outermost first; returns how many there are, or most + 1. */
static uint32_t find_ancestors(const struct tree_view *v, size_t row, uint32_t most,
			       uint32_t out[TREE_PINS_MOST])
{
	uint32_t n = 0, nearest[TREE_PINS_MOST];
	size_t up = tree_rows_parent(&v->rows, row);

	for (; up != SIZE_MAX && n < most; up = tree_rows_parent(&v->rows, up))
		nearest[n++] = (uint32_t)up;
	for (uint32_t i = 0; i < n; i++)
		out[i] = nearest[n - 1 - i];
	return up == SIZE_MAX ? n : most + 1;
}

/* The row that this one is below of and that is below of none. */
static uint32_t outermost(const struct tree_view *v, size_t row)
{
	for (size_t up; (up = tree_rows_parent(&v->rows, row)) != SIZE_MAX;)
		row = up;
	return (uint32_t)row;
}

/*
 * Rows that scrolled away stay on the first lines where rows below them are in sight: as few as say
 * where the next line is, at most `most`, and then the outermost, which says whose rows these are, and the nearest.
 */
static uint32_t pins_of(struct tree_view *v, uint32_t most)
{
	uint32_t n = 0;

	for (uint32_t k = 0; v->list.top > 0 && k <= most && v->list.top + k < v->rows.n; k++) {
		n = find_ancestors(v, v->list.top + k, k, v->pin);
		if (n <= k)
			return n;
		n = k;
	}
	if (n > 0)
		v->pin[0] = outermost(v, v->list.top + n);
	return n;
}

/* The cursor must not be under them. */
static void pin_rows(struct tree_view *v, int lines)
{
	uint32_t most = lines > 0 ? (uint32_t)lines / TREE_PIN_PART : 0;

	most = most < TREE_PINS_MOST ? most : TREE_PINS_MOST;
	v->list.pinned = pins_of(v, most);
	while (v->list.cursor < v->list.top + v->list.pinned) {
		v->list.top--;
		v->list.pinned = pins_of(v, most);
	}
}

/* Bars are of the largest of the outermost rows, so that scrolling changes none. */
static void scale_bars(struct tree_view *v, struct analysis *a)
{
	const struct tree_source *src = v->rows.src;
	uint32_t top = v->rows.top;

	row_shape_no_bars(&v->shape);
	for (uint32_t n = top != TREE_NONE ? top : src->first(a, top); n != TREE_NONE;
	     n = top != TREE_NONE ? TREE_NONE : src->next(a, n)) {
		const struct row_values values = { .self = src->self(a, n),
						   .total = src->total(a, n) };

		row_shape_bars(&v->shape, &values);
	}
}

void tree_view_layout(void *state, const struct scene *s, struct rect r)
{
	struct tree_view *v = state;

	struct row_wish w = wish;

	/* What callers of a comparison are judged by is what ends in the function. */
	w.total_first = !(s->analysis->diff && v->rows.src->by_self);
	w.beside = row_sparkline_wish(s->analysis->recent);
	row_shape_init(&v->shape, s, &w, r.cols);
	row_sparkline_init(&v->minute, &v->shape, s->analysis->recent, MINUTE_BEFORE_NAME,
			   NAME_LEAST);
	list_fit(&v->list, (uint32_t)v->rows.n, r.rows - tree_draw_top(r));
	pin_rows(v, r.rows - tree_draw_top(r));
	tree_draw_fit(v);
	scale_bars(v, s->analysis);
	note_cursor(v, s);
}

void tree_view_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	tree_draw(state, s, c, r);
}

/* Other order of siblings; the cursor stays on its row. */
static bool reorder(struct tree_view *v, const struct scene *s, enum tree_order order, bool reverse)
{
	v->rows.order = order;
	v->rows.reverse = reverse;
	rebuild(v, s, cursor_path(v, s));
	return true;
}

/* What is zoomed into now, opened. */
static void show_zoomed(struct tree_view *v, const struct scene *s)
{
	rebuild(v, s, 0);
	if (!tree_rows_is_open(&v->rows, s->analysis, 0))
		tree_rows_open(&v->rows, s->analysis, 0);
	go(v, 0);
}

static bool zoom_into(struct tree_view *v, const struct scene *s, uint32_t node)
{
	if (node == TREE_NONE || node == v->rows.top)
		return false;
	tree_zoom_into(&v->zoom, v->rows.src, s->analysis, node, 0);
	show_zoomed(v, s);
	return true;
}

static bool zoom_out(struct tree_view *v, const struct scene *s)
{
	uint32_t from = v->rows.top;

	if (!tree_zoom_out(&v->zoom))
		return false;
	rebuild(v, s, 0);
	go(v, tree_rows_reveal(&v->rows, s->analysis, from));
	return true;
}

/* To the row above that this one is below of. */
static bool go_up(struct tree_view *v)
{
	size_t up = tree_rows_parent(&v->rows, v->list.cursor);

	if (up == SIZE_MAX)
		return false;
	go(v, up);
	return true;
}

/* Opens the row, or goes into what is open already. */
static bool open_or_enter(struct tree_view *v, const struct scene *s)
{
	size_t row = v->list.cursor;

	if (tree_rows_open(&v->rows, s->analysis, row))
		go(v, row);
	else if (tree_rows_is_open(&v->rows, s->analysis, row))
		go(v, row + 1);
	else
		return false;
	return true;
}

/* Enter opens what is closed and zooms into what is open or cannot be opened. */
static bool enter(struct tree_view *v, const struct scene *s)
{
	size_t row = v->list.cursor;

	if (is_node(v) && (tree_rows_is_open(&v->rows, s->analysis, row) ||
			   !tree_rows_has_more(&v->rows, s->analysis, row)))
		return zoom_into(v, s, node_at(v, s));
	if (!tree_rows_open(&v->rows, s->analysis, row))
		return false;
	go(v, row);
	return true;
}

static bool open_all(struct tree_view *v, const struct scene *s, struct effect *out)
{
	size_t row = v->list.cursor, n = v->rows.n;

	if (!tree_rows_open_all(&v->rows, s->analysis, row)) {
		char most[FMT_SIZE];

		out->kind = EFFECT_MESSAGE;
		out->text = xasprintf("opened %s rows, the rest is still closed",
				      fmt_count(most, TREE_ROWS_MOST));
	}
	go(v, row);
	return v->rows.n != n || out->kind == EFFECT_MESSAGE;
}

/* Opens the hottest path down to where it splits or weighs little, and goes to its end. */
static bool open_hot(struct tree_view *v, const struct scene *s)
{
	int64_t share = s->analysis->weights.total[0] / HOT_LEAST + 1, heat, least;

	if (!is_node(v))
		return false;
	heat = tree_heat(v->rows.src, s->analysis, v->rows.at[v->list.cursor].node);
	least = heat / HOT_PART + 1;
	/* Who is at a row of less wants to see below it all the same. */
	if (heat >= share && share > least)
		least = share;
	go(v, tree_rows_open_hot(&v->rows, s->analysis, v->list.cursor, least));
	return true;
}

static bool act_on_row(struct tree_view *v, const struct scene *s, enum action a,
		       struct effect *out)
{
	bool closed;

	switch ((int)a) {
	case ACTION_RIGHT:
		return open_or_enter(v, s);
	case ACTION_OPEN:
		closed = tree_rows_open(&v->rows, s->analysis, v->list.cursor);
		go(v, v->list.cursor);
		return closed;
	case ACTION_LEFT:
	case ACTION_CLOSE:
		closed = tree_rows_close(&v->rows, s->analysis, v->list.cursor);
		if (closed)
			go(v, v->list.cursor);
		return closed || go_up(v);
	case ACTION_ENTER:
		return enter(v, s);
	case ACTION_OPEN_ALL:
		return open_all(v, s, out);
	case ACTION_HOT_PATH:
		return open_hot(v, s);
	default:
		return false;
	}
}

/* The column of a ratio that is on the screen, from `from` on; ROW_UNSORTED: there is none. */
static int ratio_from(const struct tree_view *v, uint32_t from)
{
	for (int i = 0; i < v->shape.n_numbers; i++)
		if (v->shape.number[i].kind == NUMBER_RATIO && v->shape.number[i].digits > 0 &&
		    v->shape.number[i].of >= from)
			return i;
	return ROW_UNSORTED;
}

/* Total, self, each ratio on the screen, name. */
static bool next_order(struct tree_view *v, const struct scene *s)
{
	enum tree_order order = (v->rows.order + 1) % (TREE_BY_NAME + 1);
	int ratio = ROW_UNSORTED;

	if (v->rows.order == TREE_BY_SELF)
		ratio = ratio_from(v, 0);
	else if (v->rows.order == TREE_BY_RATIO)
		ratio = ratio_from(v, v->rows.ratio + 1);
	if (ratio != ROW_UNSORTED) {
		v->rows.ratio = v->shape.number[ratio].of;
		order = TREE_BY_RATIO;
	} else if (order == TREE_BY_RATIO) {
		order = TREE_BY_NAME;
	}
	return reorder(v, s, order, false);
}

bool tree_view_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct tree_view *v = state;
	bool done;

	v->touched = true;
	if (list_act(&v->list, a)) {
		v->found = TREE_NONE;
		return true;
	}
	switch ((int)a) {
	case ACTION_BACK:
		done = zoom_out(v, s);
		break;
	case ACTION_SORT:
		done = next_order(v, s);
		break;
	case ACTION_REVERSE:
		done = reorder(v, s, v->rows.order, !v->rows.reverse);
		break;
	default:
		done = v->list.cursor < v->rows.n && act_on_row(v, s, a, out);
		break;
	}
	note_cursor(v, s);
	return done;
}

static void click_header(struct tree_view *v, const struct scene *s, int col)
{
	int what = row_column_at(&v->shape, col);
	enum tree_order order = TREE_BY_NAME;
	bool same = true;

	if (what == ROW_UNSORTED || what == ROW_BY_MODULE)
		return;
	if (what >= 0)
		order = v->shape.number[what].kind == NUMBER_SELF    ? TREE_BY_SELF
			: v->shape.number[what].kind == NUMBER_RATIO ? TREE_BY_RATIO
								     : TREE_BY_TOTAL;
	if (order == TREE_BY_RATIO) {
		same = v->rows.ratio == v->shape.number[what].of;
		v->rows.ratio = v->shape.number[what].of;
	}
	reorder(v, s, order, same && order == v->rows.order && !v->rows.reverse);
}

void tree_view_click(void *state, const struct scene *s, struct rect r, int row, int col,
		     bool twice, struct effect *out)
{
	struct tree_view *v = state;
	int line = row - r.row - tree_draw_top(r), arrow;
	uint32_t i = list_at(&v->list, line);

	if (line >= 0 && (uint32_t)line < v->list.pinned)
		i = v->pin[line];
	v->touched = true;
	if (line < 0)
		click_header(v, s, col - r.col);
	if (i == UINT32_MAX)
		return;
	v->list.cursor = i;
	v->found = TREE_NONE;
	arrow = tree_draw_arrow_col(v, v->rows.at[i].indent);
	if (col - r.col == arrow && !tree_rows_close(&v->rows, s->analysis, i))
		tree_rows_open(&v->rows, s->analysis, i);
	else if (twice)
		act_on_row(v, s, ACTION_ENTER, out);
	fit(v);
}

void tree_view_go(struct tree_view *v, const struct scene *s, uint32_t node)
{
	size_t row;

	if (node == TREE_NONE)
		return;
	v->touched = true;
	row = tree_rows_reveal(&v->rows, s->analysis, node);
	if (row == SIZE_MAX && v->rows.top != TREE_NONE) {
		tree_zoom_reset(&v->zoom);
		rebuild(v, s, 0);
		row = tree_rows_reveal(&v->rows, s->analysis, node);
	}
	if (row == SIZE_MAX)
		return;
	go(v, row);
	if (tree_rows_last(&v->rows, s->analysis, row) != node)
		v->found = node;
}

void tree_view_open_hot(struct tree_view *v, const struct scene *s)
{
	uint32_t row = v->list.cursor;
	int64_t weight;

	if (!is_node(v))
		return;
	weight = tree_heat(v->rows.src, s->analysis, v->rows.at[row].node);
	if (weight > 0)
		tree_rows_open_hot(&v->rows, s->analysis, row, weight / 2 + 1);
	else
		tree_rows_open(&v->rows, s->analysis, row);
	fit(v);
}

bool tree_view_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct tree_view *v = state;
	uint32_t node = node_at(v, s);

	if (node == TREE_NONE)
		return false;
	out->key_id = tree_key(v->rows.src, s->analysis, node)->id;
	out->path = v->rows.src->by_self ? 0 : v->rows.src->path(s->analysis, node);
	return true;
}

uint32_t tree_view_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct tree_view *v = state;
	const struct tree_source *src = v->rows.src;
	uint32_t node = node_at(v, s), from = node == TREE_NONE ? 0 : node;
	struct match_cursor f;

	for (; node != TREE_NONE && src->by_self; node = src->parent(s->analysis, node))
		from = node;
	if (step == 0 && is_node(v) && v->found == TREE_NONE && !src->by_self)
		from = v->rows.at[v->list.cursor].node;
	match_cursor_start(&f, from, step);
	tree_find(src, s, v->rows.top, &f);
	*at = match_cursor_end(&f);
	if (f.goes)
		tree_view_go(v, s, f.target);
	return f.n;
}

/* "16.8 %  self 16.8 %  count_records  on the way to hash_path": what a caller's row says. */
static char *caller_status(const struct tree_view *v, const struct scene *s, uint32_t node)
{
	const struct tree_source *src = v->rows.src;
	struct analysis *a = s->analysis;
	int64_t whole = a->weights.total[0];
	uint32_t root = node;
	char total[FMT_SIZE], self[FMT_SIZE], *caller, *callee, *ratios, *out;

	while (src->parent(a, root) != TREE_NONE)
		root = src->parent(a, root);
	caller = name_full(tree_key(src, a, node));
	callee = name_full(tree_key(src, a, root));
	ratios = ratios_text(&a->lens, src->total(a, node), &a->weights);
	out = xasprintf("%s  self %s%s%s  %s  on the way to %s",
			row_share(total, s, src->total(a, node)[0], whole),
			row_share(self, s, src->self(a, node)[0], whole), *ratios ? "  " : "",
			ratios, caller, callee);
	free(ratios);
	free(caller);
	free(callee);
	return out;
}

char *tree_view_status(const void *state, const struct scene *s)
{
	const struct tree_view *v = state;
	const struct tree_source *src = v->rows.src;
	uint32_t node = node_at(v, s);

	if (v->list.cursor < v->rows.n && !is_node(v))
		return xstrdup("Enter shows more of them");
	if (node == TREE_NONE)
		return NULL;
	if (s->analysis->diff)
		return row_change_status(
			s, src->by_self ? &s->analysis->diff->self : &s->analysis->diff->nodes,
			&s->analysis->keys, src->key(s->analysis, node),
			src->by_self ? PART_SELF : PART_TOTAL,
			src->by_self ? src->self(s->analysis, node)
				     : src->total(s->analysis, node));
	if (src->by_self && src->parent(s->analysis, node) != TREE_NONE)
		return caller_status(v, s, node);
	return row_status(s, &s->analysis->keys, src->key(s->analysis, node),
			  src->self(s->analysis, node)[0], src->total(s->analysis, node)[0],
			  src->total(s->analysis, node));
}

static const char *const orders[] = {
	[TREE_BY_TOTAL] = "total",
	[TREE_BY_SELF] = "self",
	[TREE_BY_RATIO] = NULL, /* no option says which */
	[TREE_BY_NAME] = "name",
};

const char *tree_view_order(const void *state, const struct scene *s)
{
	const struct tree_view *v = state;

	(void)s;
	return v->rows.reverse ? NULL : orders[v->rows.order];
}

bool tree_view_sort(void *state, const struct scene *s, const char *by)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (orders[i] && strcmp(orders[i], by) == 0)
			return reorder(state, s, (enum tree_order)i, false);
	return false;
}

void tree_view_position(const void *state, uint32_t *at, uint32_t *of)
{
	list_position(&((const struct tree_view *)state)->list, at, of);
}

char *tree_view_zoom(const void *state, const struct scene *s)
{
	return tree_zoom_term(&((const struct tree_view *)state)->zoom, &s->analysis->keys);
}

bool tree_view_zoom_to(void *state, const struct scene *s, const char *term)
{
	struct tree_view *v = state;

	if (!tree_zoom_follow(&v->zoom, v->rows.src, s->analysis, term))
		return false;
	show_zoomed(v, s);
	return true;
}

char *tree_view_crumb(const void *state, const struct scene *s)
{
	const struct tree_view *v = state;

	return tree_zoom_text(&v->zoom, &s->analysis->keys);
}
