/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flame: the tree as widths. Arrows move along the screen, Enter zooms, back zooms out one step; the
 * cell of narrow siblings zooms into just these.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/row.h"
#include "tui/rows/row_change.h"
#include "tui/views/flame_legend.h"
#include "tui/views/flame_view.h"

/* A frame that is searched or carried here gets at least so many columns. */
#define SEEN_COLS 12

/* Columns and rows before the first layout. */
#define COLS_AT_FIRST 80

static const struct tree_source *source_of(const struct flame_view *v)
{
	return v->mode == FLAME_LEAVES ? &tree_of_callers : &tree_of_calls;
}

static const struct flame_cell *cell_of(const struct flame_view *v, uint32_t i)
{
	return &v->layout.cells.at[i];
}

static int middle(const struct flame_view *v, uint32_t i)
{
	return (cell_of(v, i)->begin + cell_of(v, i)->end) / 2;
}

static void *flame_new(void)
{
	struct flame_view *v = xcalloc(1, sizeof(*v));

	v->cell = FLAME_NONE;
	v->node = TREE_NONE;
	v->cols = COLS_AT_FIRST;
	v->rows = 1;
	return v;
}

static void flame_free(void *state)
{
	struct flame_view *v = state;

	if (!v)
		return;
	flame_layout_done(&v->layout);
	tree_zoom_done(&v->zoom);
	tree_zoom_done(&v->other);
	tree_zoom_done(&v->place);
	free(v);
}

/* Levels of the parents of what is zoomed into. */
static uint32_t n_context(const struct flame_view *v)
{
	return v->rows >= 9 ? (uint32_t)v->rows / 3 : 1;
}

/* Scrolls so that the selected cell is in sight; the level below it, too, if possible. */
static void keep_in_sight(struct flame_view *v, const struct scene *s)
{
	uint32_t rows = v->rows > 0 ? (uint32_t)v->rows : 1, level, n;

	if (v->cell == FLAME_NONE)
		return;
	level = cell_of(v, v->cell)->level;
	n = flame_layout_need(&v->layout, s->analysis, v->scroll + rows + 1);
	if (level < v->scroll)
		v->scroll = level;
	else if (level - v->scroll >= rows)
		v->scroll = level - rows + 1;
	n = flame_layout_need(&v->layout, s->analysis, v->scroll + rows + 1);
	if (v->scroll > 0 && n < v->scroll + rows)
		v->scroll = n > rows ? n - rows : 0;
}

/* Selects a cell and remembers it by its path. */
static void go_to_cell(struct flame_view *v, const struct scene *s, uint32_t cell, uint32_t node)
{
	v->cell = cell;
	v->node = node;
	tree_zoom_reset(&v->place);
	if (node != TREE_NONE)
		tree_zoom_into(&v->place, source_of(v), s->analysis, node, 0);
	keep_in_sight(v, s);
}

/* Selects a cell by its last node, and moves the goal to it. */
static void pick(struct flame_view *v, const struct scene *s, uint32_t cell)
{
	v->goal = middle(v, cell);
	go_to_cell(v, s, cell, cell_of(v, cell)->n_merged > 0 ? TREE_NONE : cell_of(v, cell)->node);
}

/* Lays out what is zoomed into, and selects the base. */
static void lay_out(struct flame_view *v, const struct scene *s)
{
	struct flame_focus focus;

	focus.node = tree_zoom_node(&v->zoom, source_of(v), s->analysis);
	focus.n_skip = tree_zoom_skip(&v->zoom);
	flame_layout_init(&v->layout, source_of(v), s->analysis, focus, n_context(v), v->cols);
	v->scroll = 0;
	v->cell = FLAME_NONE;
	pick(v, s, v->layout.base);
}

/* Lays out anew and selects what shows node. */
static void lay_out_at(struct flame_view *v, const struct scene *s, uint32_t node)
{
	bool exact;
	uint32_t cell;

	lay_out(v, s);
	if (node == TREE_NONE)
		return;
	cell = flame_layout_find(&v->layout, s->analysis, node, &exact);
	if (cell == FLAME_NONE)
		return;
	pick(v, s, cell);
	if (exact)
		go_to_cell(v, s, cell, node);
}

static void flame_update(void *state, const struct scene *s)
{
	struct flame_view *v = state;

	lay_out_at(v, s, tree_zoom_node(&v->place, source_of(v), s->analysis));
}

static void flame_layout(void *state, const struct scene *s, struct rect r)
{
	struct flame_view *v = state;
	int cols = r.cols > 0 ? r.cols : 1;

	r = flame_legend_above(s, r);
	if (v->cols != cols || v->rows != r.rows) {
		v->cols = cols;
		v->rows = r.rows;
		lay_out_at(v, s, v->node);
	}
	keep_in_sight(v, s);
}

static void flame_view_draw(const void *state, const struct scene *s, struct canvas *c,
			    struct rect r)
{
	flame_draw(state, s, c, r);
}

/* Away from the roots: the child under the goal column, else the widest. */
static bool go_deeper(struct flame_view *v, const struct scene *s)
{
	uint32_t level = cell_of(v, v->cell)->level, child, best;

	flame_layout_need(&v->layout, s->analysis, level + 2);
	best = child = flame_layout_child(&v->layout, v->cell);
	if (child == FLAME_NONE)
		return false;
	for (; child < v->layout.cells.n && cell_of(v, child)->parent == v->cell; child++)
		if (cell_of(v, child)->begin <= v->goal && v->goal < cell_of(v, child)->end)
			best = child;
	if (v->goal < cell_of(v, best)->begin || v->goal >= cell_of(v, best)->end)
		v->goal = middle(v, best);
	go_to_cell(v, s, best, cell_of(v, best)->n_merged > 0 ? TREE_NONE : cell_of(v, best)->node);
	return true;
}

static bool go_up(struct flame_view *v, const struct scene *s)
{
	uint32_t parent = cell_of(v, v->cell)->parent;

	if (parent == FLAME_NONE)
		return false;
	go_to_cell(v, s, parent, cell_of(v, parent)->node);
	return true;
}

static bool go_many(struct flame_view *v, const struct scene *s, uint32_t levels, bool deeper)
{
	bool moved = false;

	while (levels-- > 0 && (deeper ? go_deeper(v, s) : go_up(v, s)))
		moved = true;
	return moved;
}

/* To the cell beside it on the same level. */
static bool go_beside(struct flame_view *v, const struct scene *s, bool right)
{
	uint32_t first, end, to = v->cell;

	flame_layout_level(&v->layout, cell_of(v, v->cell)->level, &first, &end);
	if (right ? to + 1 >= end : to == first)
		return false;
	pick(v, s, right ? to + 1 : to - 1);
	return true;
}

/* What Enter on the cell of narrow siblings does: only these, or a list where that is no better. */
static bool enter_merged(struct flame_view *v, const struct scene *s, struct effect *out)
{
	const struct flame_cell *cell = cell_of(v, v->cell);
	const struct tree_source *src = source_of(v);
	uint32_t focus = tree_zoom_node(&v->zoom, src, s->analysis);

	if (focus == cell->node && tree_zoom_skip(&v->zoom) == cell->n_before &&
	    (cell->n_before > 0 || cell_of(v, v->layout.base)->weight == cell->weight)) {
		out->kind = EFFECT_OPEN;
		out->view = src->by_self ? VIEW_KIND_CALLERS : VIEW_KIND_TREE;
		out->place.key_id = tree_key(src, s->analysis, cell->first)->id;
		out->place.path = src->by_self ? 0 : src->path(s->analysis, cell->first);
		return true;
	}
	if (cell->n_before > 0)
		tree_zoom_into(&v->zoom, src, s->analysis, cell->node, cell->n_before);
	else if (cell->node != TREE_NONE)
		tree_zoom_into(&v->zoom, src, s->analysis, cell->node, 0);
	lay_out(v, s);
	go_deeper(v, s);
	return true;
}

static bool enter(struct flame_view *v, const struct scene *s, struct effect *out)
{
	const struct flame_cell *cell = cell_of(v, v->cell);
	uint32_t node = cell->node;

	if (cell->n_merged > 0)
		return enter_merged(v, s, out);
	if (v->cell == v->layout.base)
		return false;
	if (node == TREE_NONE)
		tree_zoom_reset(&v->zoom);
	else
		tree_zoom_into(&v->zoom, source_of(v), s->analysis, cell->first, 0);
	lay_out_at(v, s, node);
	return true;
}

static bool zoom_out(struct flame_view *v, const struct scene *s)
{
	uint32_t from = tree_zoom_node(&v->zoom, source_of(v), s->analysis);

	if (!tree_zoom_out(&v->zoom))
		return false;
	lay_out_at(v, s, from);
	return true;
}

/* Selects a node, zooming so that it has some columns. */
static void go_to_node(struct flame_view *v, const struct scene *s, uint32_t node)
{
	const struct tree_source *src = source_of(v);
	int64_t weight = tree_weight(src, s->analysis, node);
	uint32_t focus = node;
	bool exact = false;
	uint32_t cell = flame_layout_find(&v->layout, s->analysis, node, &exact);

	if (cell != FLAME_NONE && exact &&
	    cell_of(v, cell)->end - cell_of(v, cell)->begin >= SEEN_COLS) {
		pick(v, s, cell);
		go_to_cell(v, s, cell, node);
		return;
	}
	for (uint32_t up = node; up != TREE_NONE; up = src->parent(s->analysis, up)) {
		if ((double)weight * v->cols <
		    (double)tree_weight(src, s->analysis, up) * SEEN_COLS)
			break;
		focus = up;
	}
	tree_zoom_reset(&v->zoom);
	if ((double)weight * v->cols < (double)s->analysis->weights.total[0] * SEEN_COLS)
		tree_zoom_into(&v->zoom, src, s->analysis, focus, 0);
	lay_out_at(v, s, node);
}

/* Where a key is in the graph's tree: where it weighs most, or its root. */
static uint32_t node_of_key(const struct flame_view *v, const struct scene *s, uint32_t key_id)
{
	uint32_t key = row_key_of_id(&s->analysis->keys, key_id);

	if (key == KEY_NONE)
		return TREE_NONE;
	if (v->mode == FLAME_LEAVES)
		return inverted_root(analysis_inverted(s->analysis), key);
	return calltree_hottest(s->analysis->tree, key);
}

/* Turns to or from leaves first; each of the two keeps its own zoom. */
static void turn(struct flame_view *v, const struct scene *s, enum flame_mode mode)
{
	struct tree_zoom zoom = v->zoom;

	v->mode = mode;
	v->zoom = v->other;
	v->other = zoom;
	v->node = TREE_NONE;
	lay_out(v, s);
}

/* The next way round; the selected function stays selected where it is in sight. */
static bool invert(struct flame_view *v, const struct scene *s)
{
	const struct tree_source *was = source_of(v);
	uint32_t id = ID_NONE, node = v->node;

	if (node != TREE_NONE)
		id = tree_key(was, s->analysis, node)->id;
	if (v->mode == FLAME_ICICLE) {
		v->mode = FLAME_FLAME;
		keep_in_sight(v, s);
		return true;
	}
	turn(v, s, v->mode == FLAME_LEAVES ? FLAME_ICICLE : FLAME_LEAVES);
	node = id != ID_NONE ? node_of_key(v, s, id) : TREE_NONE;
	if (node != TREE_NONE && tree_weight(source_of(v), s->analysis, node) > 0)
		lay_out_at(v, s, node);
	return true;
}

static bool go_first_or_last(struct flame_view *v, const struct scene *s, bool last)
{
	if (last)
		return go_many(v, s, UINT32_MAX, true);
	pick(v, s, 0);
	return true;
}

static bool flame_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct flame_view *v = state;
	bool down = v->mode != FLAME_FLAME; /* is that where levels get deeper? */
	uint32_t page = v->rows > 1 ? (uint32_t)v->rows - 1 : 1, half = (page + 1) / 2;

	if (v->cell == FLAME_NONE)
		return false;
	switch ((int)a) {
	case ACTION_DOWN:
	case ACTION_UP:
		return go_many(v, s, 1, (a == ACTION_DOWN) == down);
	case ACTION_PAGE_DOWN:
	case ACTION_PAGE_UP:
		return go_many(v, s, page, (a == ACTION_PAGE_DOWN) == down);
	case ACTION_HALF_DOWN:
	case ACTION_HALF_UP:
		return go_many(v, s, half, (a == ACTION_HALF_DOWN) == down);
	case ACTION_LEFT:
	case ACTION_RIGHT:
		return go_beside(v, s, a == ACTION_RIGHT);
	case ACTION_FIRST:
	case ACTION_LAST:
		return go_first_or_last(v, s, (a == ACTION_LAST) == down);
	case ACTION_ENTER:
		return enter(v, s, out);
	case ACTION_BACK:
		return zoom_out(v, s);
	case ACTION_INVERT:
		return invert(v, s);
	default:
		return false;
	}
}

static void flame_click(void *state, const struct scene *s, struct rect r, int row, int col,
			bool twice, struct effect *out)
{
	struct flame_view *v = state;
	int rows = flame_legend_above(s, r).rows;
	int line = v->mode == FLAME_FLAME ? r.row + rows - 1 - row : row - r.row;
	uint32_t first, end;

	col -= r.col;
	if (v->cell == FLAME_NONE || line < 0 || line >= rows ||
	    v->scroll + (uint32_t)line >= v->layout.levels.n)
		return;
	flame_layout_level(&v->layout, v->scroll + (uint32_t)line, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		if (col < cell_of(v, i)->begin || col >= cell_of(v, i)->end)
			continue;
		pick(v, s, i);
		v->goal = col;
		if (twice)
			enter(v, s, out);
		return;
	}
}

static void flame_select(void *state, const struct scene *s, const struct place *p)
{
	struct flame_view *v = state;
	uint32_t node = TREE_NONE;

	if (p->path != 0 && v->mode == FLAME_LEAVES)
		turn(v, s, FLAME_ICICLE);
	if (p->path != 0)
		node = calltree_find(s->analysis->tree,
				     row_key_of_id(&s->analysis->keys, p->key_id), p->path);
	if (node == TREE_NONE)
		node = node_of_key(v, s, p->key_id);
	if (node == TREE_NONE || v->cell == FLAME_NONE || (node == 0 && v->mode != FLAME_LEAVES))
		return;
	go_to_node(v, s, node);
}

static bool flame_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct flame_view *v = state;
	const struct tree_source *src = source_of(v);

	if (v->cell == FLAME_NONE || v->node == TREE_NONE)
		return false;
	out->key_id = tree_key(src, s->analysis, v->node)->id;
	out->path = src->by_self ? 0 : src->path(s->analysis, v->node);
	return true;
}

/* The selected node as a search counts it: leaves first, its root. */
static uint32_t node_here(const struct flame_view *v, const struct scene *s)
{
	const struct tree_source *src = source_of(v);
	uint32_t from = v->node;

	for (uint32_t n = v->node; n != TREE_NONE && src->by_self; n = src->parent(s->analysis, n))
		from = n;
	return from;
}

/* A pass over matches in the order of their weight, of which one is picked as in match_cursor.h. */
struct heaviest {
	uint32_t here, next, previous, first, last; /* nodes, or TREE_NONE */
	uint32_t n, n_before;                       /* matches; those that come before here */
};

/* Does node x come before y: is it heavier, or as heavy and nearer to the root or the left? */
static bool comes_before(const struct tree_source *src, struct analysis *a, uint32_t x, uint32_t y)
{
	int64_t of_x = tree_weight(src, a, x), of_y = tree_weight(src, a, y);

	return of_x != of_y ? of_x > of_y : x < y;
}

static void add_match(struct heaviest *h, const struct tree_source *src, struct analysis *a,
		      uint32_t node)
{
	h->n++;
	if (h->first == TREE_NONE || comes_before(src, a, node, h->first))
		h->first = node;
	if (h->last == TREE_NONE || comes_before(src, a, h->last, node))
		h->last = node;
	if (h->here == TREE_NONE || node == h->here)
		return;
	if (comes_before(src, a, node, h->here)) {
		h->n_before++;
		if (h->previous == TREE_NONE || comes_before(src, a, h->previous, node))
			h->previous = node;
	} else if (h->next == TREE_NONE || comes_before(src, a, node, h->next)) {
		h->next = node;
	}
}

/* What tree_each_match() is to be told. */
struct match_pass {
	struct heaviest *heaviest;
	const struct tree_source *src;
	struct analysis *a;
};

static void add_heavy(void *arg, uint32_t node)
{
	const struct match_pass *m = arg;

	if (tree_weight(m->src, m->a, node) > 0)
		add_match(m->heaviest, m->src, m->a, node);
}

/* The heaviest matches come first: they are those that can be seen. */
static uint32_t flame_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct flame_view *v = state;
	const struct tree_source *src = source_of(v);
	uint32_t here = node_here(v, s), target;
	struct heaviest h = { TREE_NONE, TREE_NONE, TREE_NONE, TREE_NONE, TREE_NONE, 0, 0 };
	bool on_match;

	*at = 0;
	if (v->cell == FLAME_NONE || !s->search)
		return 0;
	on_match = here != TREE_NONE &&
		   row_matches(s, &s->analysis->keys, src->key(s->analysis, here));
	h.here = on_match ? here : TREE_NONE;
	tree_each_match(src, s, add_heavy, &(struct match_pass){ &h, src, s->analysis });
	if (h.n == 0)
		return 0;
	/* while one types, matches stand out and nothing moves */
	*at = on_match ? h.n_before + 1 : 0;
	if (step == 0 || step == FIND_STAY)
		return h.n;
	target = step > 0 ? h.next : h.previous;
	*at = step > 0 ? *at + 1 : *at - 1;
	if (target == TREE_NONE) {
		target = step > 0 ? h.first : h.last;
		*at = step > 0 ? 1 : h.n;
	}
	go_to_node(v, s, target);
	return h.n;
}

static char *flame_status(const void *state, const struct scene *s)
{
	const struct flame_view *v = state;
	const struct tree_source *src = source_of(v);
	int64_t whole = s->analysis->weights.total[0];
	char share[FMT_SIZE], count[FMT_SIZE];
	const struct flame_cell *cell;

	if (v->cell == FLAME_NONE || whole <= 0)
		return NULL;
	cell = cell_of(v, v->cell);
	row_share(share, s, cell->weight, whole);
	if (cell->n_merged > 0)
		return xasprintf("%s too narrow to show, %s together: Enter spreads them out",
				 fmt_count(count, cell->n_merged), share);
	if (v->node == TREE_NONE)
		return xasprintf("everything  %s", share);
	if (s->analysis->diff)
		return row_change_status(
			s, src->by_self ? &s->analysis->diff->self : &s->analysis->diff->nodes,
			&s->analysis->keys, src->key(s->analysis, v->node),
			src->by_self ? PART_SELF : PART_TOTAL,
			src->by_self ? src->self(s->analysis, v->node)
				     : src->total(s->analysis, v->node));
	return row_status(s, &s->analysis->keys, src->key(s->analysis, v->node),
			  src->self(s->analysis, v->node)[0], src->total(s->analysis, v->node)[0],
			  src->total(s->analysis, v->node));
}

/* Leaves first is a way to look, not a place: paths are those of the call tree. */
static char *flame_zoom(const void *state, const struct scene *s)
{
	const struct flame_view *v = state;

	return v->mode == FLAME_LEAVES ? NULL : tree_zoom_term(&v->zoom, &s->analysis->keys);
}

static bool flame_zoom_to(void *state, const struct scene *s, const char *term)
{
	struct flame_view *v = state;

	if (v->mode == FLAME_LEAVES || !tree_zoom_follow(&v->zoom, source_of(v), s->analysis, term))
		return false;
	lay_out(v, s);
	return true;
}

static char *flame_crumb(const void *state, const struct scene *s)
{
	const struct flame_view *v = state;
	char *zoom = tree_zoom_text(&v->zoom, &s->analysis->keys), *out;

	if (v->mode != FLAME_LEAVES)
		return zoom;
	out = xasprintf("leaves first%s%s", zoom ? " › " : "", zoom ? zoom : "");
	free(zoom);
	return out;
}

const struct view_ops view_flame = {
	.name = "flame",
	.help = "the call tree as widths; Enter zooms, i turns it round",
	.contexts = IN_FLAME,
	.of_tree = true,
	.new = flame_new,
	.free = flame_free,
	.update = flame_update,
	.layout = flame_layout,
	.draw = flame_view_draw,
	.act = flame_act,
	.click = flame_click,
	.select = flame_select,
	.selection = flame_selection,
	.find = flame_find,
	.status = flame_status,
	.crumb = flame_crumb,
	.zoom = flame_zoom,
	.zoom_to = flame_zoom_to,
};
