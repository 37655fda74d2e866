/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 *   SELF %  TOTAL %            LINE  parse_line  demo
 *    12.3     34.5 ███▍          42  	while (*s)
 *             30.1 ███               › hash  prog.c:10  h = h * 33 + *s++;
 *     7.2      7.2 ▋         ┌→ 1730:  addq $1, %rcx
 */
#include "config.h"

#include "tui/views/annotate_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/diff/diff.h"
#include "query/tree/calltree.h"
#include "query/tree/search.h"
#include "tui/canvas/glyphs.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/name_set.h"
#include "tui/rows/row.h"
#include "tui/rows/row_shape.h"

#define PERCENT_COLS 5
#define AMOUNT_COLS  9
#define BAR_COLS     8
#define LANES_MAX    4  /* arrows of jumps side by side */
#define HOT_PART     10 /* a row of one part in so many of the function catches the eye */
#define TAB_COLS     8  /* as most read sources; */
#define TAB_NARROW   4  /* where there is little room */
#define NARROW_COLS  60
#define NAME_COLS    12 /* of the title's function, where its caller is named, too */
#define SCOPE_COLS   25 /* " · below " and that caller */
#define INLINE_COLS  40 /* of the name of a function that was inlined, … */
#define AT_COLS      32 /* … and of that an instruction is of */
#define WHAT_OF      ", which is 100 % here"

static bool is_heap(const struct scene *s, uint32_t column)
{
	return metric_is_heap(s->analysis->profile, s->analysis->lens.column[column].metric);
}

static void add_cell(struct annotate_shape *sh, enum annotate_cell_kind kind, uint32_t column,
		     const char *title, int cols, int *at, int most)
{
	struct annotate_cell *cell = &sh->cell[sh->n_cells];
	int width = (int)strlen(title) > cols ? (int)strlen(title) : cols;

	if (sh->n_cells == ANNOTATE_CELLS || (sh->n_cells > 0 && *at + width + 1 > most) ||
	    *at + width > 2 * most)
		return;
	*cell = (struct annotate_cell){ .kind = kind, .column = column, .col = *at, .cols = width };
	snprintf(cell->title, sizeof(cell->title), "%s", title);
	*at += width + 2;
	sh->n_cells++;
}

static void add_bar(struct annotate_shape *sh, int *at, int cols)
{
	if (cols < 80 || sh->n_cells == 0)
		return;
	sh->cell[sh->n_cells - 1].bar = BAR_COLS;
	*at += BAR_COLS;
}

/* The numbers of one column of the lens; further ones are called by their metric. */
static void add_column(struct annotate_shape *sh, const struct scene *s, uint32_t column, int *at,
		       int cols)
{
	int most = cols / 2, digits = s->percent ? PERCENT_COLS : AMOUNT_COLS;
	char *name = metric_name(s->analysis->profile, s->analysis->lens.column[column].metric);
	char title[16];

	snprintf(title, sizeof(title), "%.11s", name);
	free(name);
	if (is_heap(s, column))
		add_cell(sh, CELL_AMOUNT, column, column > 0 ? title : "AMOUNT", AMOUNT_COLS, at,
			 most);
	else if (column == 0 && cols >= 50)
		add_cell(sh, CELL_SELF, column, s->percent ? "SELF %" : "SELF", digits, at, most);
	if (column > 0 && !is_heap(s, column))
		add_cell(sh, CELL_TOTAL, column, title, digits, at, most);
	if (column > 0)
		return;
	add_cell(sh, CELL_TOTAL, column, s->percent ? "TOTAL %" : "TOTAL", digits, at, most);
	add_bar(sh, at, cols);
}

/* How many digits the last line has. */
static int line_cols(const struct annotation *a)
{
	uint32_t most = 9;
	int cols = 1;

	for (size_t i = 0; i < a->sources.n; i++)
		if (a->sources.at[i].line > most)
			most = a->sources.at[i].line;
	for (; most >= 10; most /= 10)
		cols++;
	return cols < 4 ? 4 : cols;
}

void annotate_shape_make(struct annotate_shape *sh, const struct scene *s,
			 const struct annotation *a, enum annotation_mode mode, int cols)
{
	int at = 3;

	*sh = (struct annotate_shape){ .n_cells = 0 };
	if (s->analysis->diff) {
		add_cell(sh, CELL_BEFORE, 0, "BEFORE %", PERCENT_COLS, &at, cols / 2);
		add_cell(sh, CELL_AFTER, 0, "AFTER %", PERCENT_COLS, &at, cols / 2);
		add_bar(sh, &at, cols);
	} else {
		for (uint32_t i = 0;
		     i < a->n_columns && i < lens_n_shown(&s->analysis->lens) && i < 4; i++)
			add_column(sh, s, i, &at, cols);
	}
	sh->line = at;
	sh->line_cols = mode == ANNOTATION_ASSEMBLY ? 0 : line_cols(a);
	sh->arrows = mode == ANNOTATION_ASSEMBLY ? (cols >= 60 ? LANES_MAX + 1 : 2) : 0;
	sh->text = at + sh->line_cols + (sh->line_cols ? 2 : 0);
	if (sh->text > cols)
		sh->text = cols;
	if (sh->line + sh->line_cols > cols)
		sh->line_cols = 0;
	sh->text_cols = cols - sh->text;
}

/* What a cell says of a row of numbers. */
static int64_t cell_value(const struct scene *s, const struct annotation *a,
			  const struct annotate_cell *cell, uint32_t numbers)
{
	const int64_t *total = annotation_total(a, numbers);

	switch (cell->kind) {
	case CELL_SELF:
		return annotation_self(a, numbers)[cell->column];
	case CELL_TOTAL:
	case CELL_AMOUNT:
		return total[cell->column];
	case CELL_BEFORE:
		return lens_side_sum(&s->analysis->lens, total, SIDE_BEFORE);
	case CELL_AFTER:
		return lens_side_sum(&s->analysis->lens, total, SIDE_AFTER);
	}
	return 0;
}

/* Lines of a comparison are shares of all of their side: a function that became twice as slow has the same lines. */
static int64_t cell_whole(const struct scene *s, const struct annotation *a,
			  const struct annotate_cell *cell)
{
	switch (cell->kind) {
	case CELL_SELF:
	case CELL_TOTAL:
	case CELL_AMOUNT:
		return a->total[cell->column];
	case CELL_BEFORE:
		return lens_side_sum(&s->analysis->lens, s->analysis->weights.total, SIDE_BEFORE);
	case CELL_AFTER:
		return lens_side_sum(&s->analysis->lens, s->analysis->weights.total, SIDE_AFTER);
	}
	return 0;
}

void annotate_scale_bars(struct annotate_view *v, const struct scene *s, const struct annotation *a)
{
	for (int i = 0; i < v->shape.n_cells; i++) {
		struct annotate_cell *cell = &v->shape.cell[i];

		cell->bar_whole = 0;
		for (size_t k = 0; k < v->rows.all.n && cell->bar > 0; k++) {
			uint32_t n = annotation_row_numbers(a, &v->rows.all.at[k]);
			int64_t value = n == ANNOTATION_NONE ? 0 : cell_value(s, a, cell, n);

			cell->bar_whole = value > cell->bar_whole ? value : cell->bar_whole;
		}
	}
}

static void draw_numbers(const struct annotate_view *v, const struct scene *s,
			 const struct annotation *a, struct canvas *c, struct rect r, int line,
			 uint32_t numbers, bool part)
{
	for (int i = 0; i < v->shape.n_cells && numbers != ANNOTATION_NONE; i++) {
		const struct annotate_cell *cell = &v->shape.cell[i];
		int64_t value = cell_value(s, a, cell, numbers);
		int64_t whole = cell_whole(s, a, cell);
		bool compared = cell->kind == CELL_BEFORE || cell->kind == CELL_AFTER;
		uint16_t style = part && value > whole / HOT_PART && whole > 0 ? STYLE_HOT
									       : STYLE_NUMBER;
		char text[FMT_SIZE];

		if (value == 0)
			continue;
		if (cell->kind == CELL_AMOUNT || (!s->percent && !compared))
			fmt_weight(text, value,
				   metric_unit(s->analysis->profile,
					       s->analysis->lens.column[cell->column].metric),
				   a->scale[cell->column]);
		else
			fmt_percent(text, value, whole);
		canvas_puts_right(c, r.row + line, r.col + cell->col, cell->cols, style, text);
		if (cell->bar > 0)
			canvas_bar(c, r.row + line, r.col + cell->col + cell->cols + 1, cell->bar,
				   part ? STYLE_BAR : STYLE_DIM, value, cell->bar_whole);
	}
}

/* Tabs as blanks, without what is scrolled out; the caller frees. */
static char *shifted(const struct annotate_view *v, const char *text)
{
	size_t tab = v->shape.text_cols < NARROW_COLS ? TAB_NARROW : TAB_COLS;
	size_t n = strlen(text), at = 0, got, cut;
	char *out = xmalloc(n * TAB_COLS + 1), *kept;

	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\t') {
			out[at++] = text[i];
			continue;
		}
		do
			out[at++] = ' ';
		while (at % tab != 0);
	}
	out[at] = '\0';
	cut = text_clip(out, at, (size_t)v->shift, &got);
	kept = xstrdup(out + cut);
	free(out);
	return kept;
}

static void draw_source(const struct annotate_view *v, const struct annotation_source *src,
			struct canvas *c, struct rect r, int line, uint16_t flags)
{
	const struct annotate_shape *sh = &v->shape;
	char number[16], *text = shifted(v, src->text ? src->text : "");

	snprintf(number, sizeof(number), "%" PRIu32, src->line);
	canvas_puts_right(c, r.row + line, r.col + sh->line, sh->line_cols,
			  (uint16_t)(STYLE_DIM | flags), number);
	canvas_puts(c, r.row + line, r.col + sh->text, sh->text_cols,
		    (uint16_t)(STYLE_NORMAL | flags), text);
	free(text);
}

static int inline_indent(const struct annotation_inline *in)
{
	return 2 + 2 * (int)(in->depth < 8 ? in->depth : 8);
}

static struct seen_name seen_inline(const struct annotate_view *v,
				    const struct annotation_inline *in, bool ascii)
{
	int room = v->shape.text_cols - inline_indent(in) - 2;
	int cols = room > INLINE_COLS ? INLINE_COLS : room;
	char *name = name_in_row(in->function, cols > 0 ? cols : 0, ascii);
	int left = room - (int)text_width(name, strlen(name)) - 2;

	free(name);
	return (struct seen_name){ .label = in->function,
				   .module = in->file_name ? in->file_name : "",
				   .cols = cols,
				   .module_cols = left > 0 ? left : 0 };
}

/* label: what its function is written as, or NULL. */
static void draw_inline(const struct annotate_view *v, const struct annotation_inline *in,
			struct canvas *c, struct rect r, int line, uint16_t flags,
			const char *label)
{
	const struct annotate_shape *sh = &v->shape;
	int indent = inline_indent(in), col = sh->text + indent;
	int room = sh->text_cols - indent, used;
	char *name;

	if (room <= 2)
		return;
	canvas_fill(c, r.row + line, r.col + col, 1, (uint16_t)(STYLE_DIM | flags), GLYPH_INTO);
	name = label ? xstrdup(label)
		     : name_in_row(in->function, room - 2 > INLINE_COLS ? INLINE_COLS : room - 2,
				   c->ascii);
	used = 2 + canvas_puts(c, r.row + line, r.col + col + 2, room - 2,
			       (uint16_t)(STYLE_FAMILY_PROGRAM | flags), name);
	free(name);
	if (!in->file_name)
		return;
	canvas_printf(c, r.row + line, r.col + col + used, room - used,
		      (uint16_t)(STYLE_DIM | flags), "  %s:%" PRIu32 "  %s", in->file_name,
		      in->line, in->text ? in->text + strspn(in->text, " \t") : "");
}

/* Where a jump leads, of what is not told by an arrow. */
static char *note_of(const struct annotate_view *v, const struct annotation *a,
		     const struct annotation_code *code)
{
	if (code->note)
		return xasprintf("<%s>", code->note);
	if (code->target == ANNOTATION_NONE || v->rows.mode == ANNOTATION_ASSEMBLY)
		return NULL;
	return xstrdup(a->code.at[code->target].shown > code->shown ? "↓" : "↑");
}

/* Of two builds both have their code: the marks of diff say whose it is, where there is any of one side alone. */
static const char *side_mark(const struct scene *s, const struct annotation *a,
			     const struct annotation_code *code)
{
	const bool *has = a->blocks.at[code->block].of_side;
	bool any = false;

	for (size_t i = 0; s->analysis->diff && i < a->blocks.n; i++)
		any = any ||
		      a->blocks.at[i].of_side[SIDE_BEFORE] != a->blocks.at[i].of_side[SIDE_AFTER];
	if (!any)
		return "";
	return has[SIDE_BEFORE] == has[SIDE_AFTER] ? "  " : has[SIDE_BEFORE] ? "- " : "+ ";
}

static void draw_code(const struct annotate_view *v, const struct scene *s,
		      const struct annotation *a, const struct annotation_code *code,
		      struct canvas *c, struct rect r, int line, uint16_t flags)
{
	const struct annotate_shape *sh = &v->shape;
	bool both = v->rows.mode == ANNOTATION_BOTH;
	int col = sh->text + sh->arrows + (both ? 4 : 0),
	    room = sh->text_cols - sh->arrows - (both ? 4 : 0);
	char *note = note_of(v, a, code), *text = shifted(v, code->text);
	int used;

	if (room <= 0) {
		free(note);
		free(text);
		return;
	}
	used = canvas_printf(c, r.row + line, r.col + col, room, (uint16_t)(STYLE_DIM | flags),
			     "%s%6" PRIx64 "  ", side_mark(s, a, code), code->shown);
	used += canvas_puts(c, r.row + line, r.col + col + used, room - used,
			    (uint16_t)((both ? STYLE_DIM : STYLE_NORMAL) | flags), text);
	if (note)
		canvas_printf(c, r.row + line, r.col + col + used, room - used,
			      (uint16_t)(STYLE_DIM | flags), "  %s", note);
	free(note);
	free(text);
}

/* The source position from here on; label: what its function is written as, or NULL. */
static void draw_at(const struct annotate_view *v, const struct annotation_code *code,
		    struct canvas *c, struct rect r, int line, uint16_t flags, const char *label)
{
	const struct annotate_shape *sh = &v->shape;
	const char *slash = strrchr(code->path, '/');
	const char *text = code->at ? code->at + strspn(code->at, " \t") : "";
	char *name = label           ? xstrdup(label)
		     : code->inlined ? name_in_row(code->inlined, AT_COLS, c->ascii)
				     : NULL;
	int col = sh->text + sh->arrows, room = sh->text_cols - sh->arrows, used;

	if (room <= 0) {
		free(name);
		return;
	}
	used = canvas_printf(c, r.row + line, r.col + col, room, (uint16_t)(STYLE_HEADER | flags),
			     "%s:%" PRIu32, slash ? slash + 1 : code->path, code->line);
	if (name)
		used += canvas_printf(c, r.row + line, r.col + col + used, room - used,
				      (uint16_t)(STYLE_FAMILY_PROGRAM | flags), "  › %s", name);
	canvas_printf(c, r.row + line, r.col + col + used, room - used,
		      (uint16_t)(STYLE_DIM | flags), "  %s", text);
	free(name);
}

static int block_cols(const struct annotate_view *v)
{
	return v->shape.text_cols > 16 ? v->shape.text_cols - 8 : 8;
}

static void draw_block(const struct annotate_view *v, const struct scene *s,
		       const struct annotation_block *b, struct canvas *c, struct rect r, int line,
		       const char *label)
{
	int col = v->shape.text, room = v->shape.text_cols;
	char *name = label ? xstrdup(label) : name_in_row(b->function, block_cols(v), c->ascii);
	int used = canvas_puts(c, r.row + line, r.col + col, room, STYLE_TITLE, name);
	bool one_side = s->analysis->diff && b->of_side[SIDE_BEFORE] != b->of_side[SIDE_AFTER];

	used += canvas_printf(c, r.row + line, r.col + col + used, room - used, STYLE_DIM, "  %s%s",
			      !one_side                 ? ""
			      : b->of_side[SIDE_BEFORE] ? "- BEFORE  "
							: "+ AFTER  ",
			      b->module);
	if (b->inlined && used + (int)sizeof("  (inlined there)") - 1 <= room)
		canvas_puts(c, r.row + line, r.col + col + used, room - used, STYLE_DIM,
			    "  (inlined there)");
	else if (b->inlined)
		canvas_puts(c, r.row + line, r.col + col + used, room - used, STYLE_DIM, "  inl");
	free(name);
}

/* The function that a row names, to be told apart from others in sight. */
static struct seen_name seen_of(const struct annotate_view *v, const struct annotation *a,
				const struct annotation_row *row, bool ascii)
{
	switch (row->kind) {
	case ANNOTATION_ROW_INLINE:
		return seen_inline(v, &a->inlines.at[row->at], ascii);
	case ANNOTATION_ROW_AT:
		return (struct seen_name){ .label = a->code.at[row->at].inlined,
					   .module = "",
					   .cols = AT_COLS };
	case ANNOTATION_ROW_BLOCK:
		return (struct seen_name){ .label = a->blocks.at[row->at].function,
					   .module = a->blocks.at[row->at].module,
					   .cols = block_cols(v),
					   .module_cols = INLINE_COLS };
	case ANNOTATION_ROW_FILE:
	case ANNOTATION_ROW_WARNING:
	case ANNOTATION_ROW_GAP:
	case ANNOTATION_ROW_SOURCE:
	case ANNOTATION_ROW_CODE:
		break;
	}
	return (struct seen_name){ .label = NULL };
}

/* A warning, as far as its row has room. */
static void draw_warning(struct canvas *c, struct rect r, int line, uint16_t flags,
			 const char *text)
{
	int room = r.cols > WARNING_INDENT ? r.cols - WARNING_INDENT : 0;
	size_t next, n = text_first_line(text, strlen(text), (size_t)room, &next);

	canvas_put(c, r.row + line, r.col + WARNING_INDENT, room, (uint16_t)(STYLE_MARK | flags),
		   text, n);
}

/* label: what the function that it names is written as, or NULL. */
static void draw_row(const struct annotate_view *v, const struct scene *s,
		     const struct annotation *a, struct canvas *c, struct rect r, int line,
		     uint32_t at, const char *label)
{
	const struct annotation_row *row = &v->rows.all.at[at];
	bool selected = at == v->list.cursor;
	uint16_t flags = (uint16_t)((selected ? STYLE_SELECTED : 0) |
				    (s->search && annotate_matches(s, a, row) ? STYLE_MATCH : 0));
	int col = v->shape.text, room = v->shape.text_cols;

	draw_numbers(v, s, a, c, r, line, annotation_row_numbers(a, row),
		     annotation_row_is_part(&v->rows, row));
	switch (row->kind) {
	case ANNOTATION_ROW_SOURCE:
		draw_source(v, &a->sources.at[row->at], c, r, line, flags);
		break;
	case ANNOTATION_ROW_INLINE:
		draw_inline(v, &a->inlines.at[row->at], c, r, line, flags, label);
		break;
	case ANNOTATION_ROW_CODE:
		draw_code(v, s, a, &a->code.at[row->at], c, r, line, flags);
		break;
	case ANNOTATION_ROW_FILE:
		canvas_puts(c, r.row + line, r.col + col, room, (uint16_t)(STYLE_TITLE | flags),
			    a->files.at[row->at].path);
		break;
	case ANNOTATION_ROW_BLOCK:
		draw_block(v, s, &a->blocks.at[row->at], c, r, line, label);
		break;
	case ANNOTATION_ROW_AT:
		draw_at(v, &a->code.at[row->at], c, r, line, flags, label);
		break;
	case ANNOTATION_ROW_WARNING:
		draw_warning(c, r, line, flags, row->text + row->at);
		break;
	case ANNOTATION_ROW_GAP:
		canvas_fill(c, r.row + line, r.col + col, room > 0, STYLE_DIM, GLYPH_MORE);
		break;
	}
	if (selected)
		row_draw_marker(c, r, line);
}

/*
 * The caller of the node whose samples alone count, in cols columns: "below its_caller", "as a root", or "one node"
 * where names or groups have changed since. The function itself stands in front. The caller frees.
 */
static char *say_scope(const struct scene *s, const struct annotation *a, int cols, bool ascii)
{
	const struct analysis *an = s->analysis;
	const struct calltree *t = an->tree;
	uint32_t key = t ? row_key_of_id(&an->keys, a->wish.key_id) : KEY_NONE;
	uint32_t node = key == KEY_NONE ? KEY_NONE : calltree_find(t, key, a->wish.path);
	int room = cols - (int)strlen("below ");
	char *name, *out;

	if (node == KEY_NONE)
		return xstrdup("one node");
	if (t->parent[node] == 0)
		return xstrdup("as a root");
	name = name_in_row(an->keys.key[t->key[t->parent[node]]].label, room > 1 ? room : 1, ascii);
	out = xasprintf("below %s", name);
	free(name);
	return out;
}

/* What the function has of all, of a comparison on each side; short: where there is little room. The caller frees. */
static char *say_shares(const struct scene *s, const struct annotation *a, bool is_short)
{
	const struct weights *w = &s->analysis->weights;
	const struct lens *l = &s->analysis->lens;
	const char *of = w->total[0] == w->whole[0] ? "of all"
			 : is_short                 ? "of shown"
						    : "of what is shown";
	char self[FMT_SIZE], total[FMT_SIZE];

	if (s->analysis->diff) {
		fmt_percent(self, lens_side_sum(l, a->total, SIDE_BEFORE),
			    lens_side_sum(l, w->total, SIDE_BEFORE));
		fmt_percent(total, lens_side_sum(l, a->total, SIDE_AFTER),
			    lens_side_sum(l, w->total, SIDE_AFTER));
		return xasprintf(is_short ? "%s and %s %% %s" : "before %s %%, after %s %% %s",
				 self, total, of);
	}
	fmt_percent(total, a->total[0], w->total[0]);
	if (is_short)
		return xasprintf("%s %% %s", total, of);
	if (is_heap(s, 0))
		return xasprintf("total %s %% %s", total, of);
	return xasprintf("self %s %%, total %s %% %s", fmt_percent(self, a->self[0], w->total[0]),
			 total, of);
}

static void draw_titles(const struct annotate_view *v, const struct scene *s,
			const struct annotation *a, struct canvas *c, struct rect r)
{
	int col = v->shape.line, room = r.cols - col, used, left;
	char *name, *shares, *scope = NULL;

	for (int i = 0; i < v->shape.n_cells; i++)
		canvas_puts_right(c, r.row, r.col + v->shape.cell[i].col, v->shape.cell[i].cols,
				  STYLE_HEADER, v->shape.cell[i].title);
	if (room <= 0)
		return;
	shares = say_shares(s, a, false);
	if (room < (int)strlen(shares) + 2 + NAME_COLS + (a->scoped ? SCOPE_COLS : 0)) {
		free(shares);
		shares = say_shares(s, a, true);
	}
	left = room - 4 - (int)strlen(shares);
	if (a->scoped) {
		int half = (left - 3) / 2, all = (int)text_width(a->function, strlen(a->function));

		scope = say_scope(s, a, left - 3 - (all < half ? all : half), c->ascii);
		left -= 3 + (int)text_width(scope, strlen(scope));
	}
	name = name_in_row(a->function, left > 8 ? left : 8, c->ascii);
	used = canvas_puts(c, r.row, r.col + col, room, STYLE_HEADER_SORTED, name);
	used += canvas_printf(c, r.row, r.col + col + used, room - used, STYLE_DIM, "  %s%s%s",
			      shares, scope ? " · " : "", scope ? scope : "");
	if (s->percent && !s->analysis->diff && a->total[0] < s->analysis->weights.whole[0] &&
	    room - used >= (int)sizeof(WHAT_OF))
		canvas_puts(c, r.row, r.col + col + used, room - used, STYLE_DIM, WHAT_OF);
	free(name);
	free(scope);
	free(shares);
}

static void draw_reason(struct canvas *c, struct rect r, const char *text)
{
	canvas_put_lines(c, r.row + r.rows / 3, r.col + 2, r.cols - 4, r.rows - r.rows / 3,
			 STYLE_DIM, text);
}

static void draw_rows(const struct annotate_view *v, const struct scene *s,
		      const struct annotation *a, struct canvas *c, struct rect r)
{
	size_t n = r.rows > v->title_rows ? (size_t)(r.rows - v->title_rows) : 0;
	struct seen_name *seen = xcalloc(n + 1, sizeof(*seen));
	char **label;

	for (size_t i = 0; i < n; i++) {
		uint32_t at = list_at(&v->list, (int)i);

		if (at < v->rows.all.n)
			seen[i] = seen_of(v, a, &v->rows.all.at[at], c->ascii);
	}
	label = names_apart(seen, n, c->ascii);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = list_at(&v->list, (int)i);

		if (at < v->rows.all.n)
			draw_row(v, s, a, c, r, (int)i + v->title_rows, at, label[i]);
	}
	names_apart_free(label, n);
	free(seen);
}

void annotate_draw(const struct annotate_view *v, const struct scene *s, struct canvas *c,
		   struct rect r)
{
	const struct annotation *a = annotate_shown(v, s);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (!a) {
		if (v->wish.key_id == ID_NONE)
			row_draw_nothing(c, r, s);
		else
			draw_reason(c, r, s->no_code ? s->no_code : "reading the code…");
		return;
	}
	if (v->title_rows)
		draw_titles(v, s, a, c, r);
	if (a->nothing) {
		draw_reason(c, r, a->nothing);
		return;
	}
	if (v->rows.mode == ANNOTATION_ASSEMBLY && v->shape.text_cols > v->shape.arrows)
		annotate_draw_arrows(v, a, c, r, v->title_rows);
	draw_rows(v, s, a, c, r);
}

bool annotate_matches(const struct scene *s, const struct annotation *a,
		      const struct annotation_row *row)
{
	const char *text[2] = { NULL, NULL };

	switch (row->kind) {
	case ANNOTATION_ROW_SOURCE:
		text[0] = a->sources.at[row->at].text;
		break;
	case ANNOTATION_ROW_INLINE:
		text[0] = a->inlines.at[row->at].function;
		text[1] = a->inlines.at[row->at].text;
		break;
	case ANNOTATION_ROW_CODE:
		text[0] = a->code.at[row->at].text;
		text[1] = a->code.at[row->at].note;
		break;
	case ANNOTATION_ROW_FILE:
	case ANNOTATION_ROW_WARNING:
	case ANNOTATION_ROW_GAP:
	case ANNOTATION_ROW_BLOCK:
	case ANNOTATION_ROW_AT:
		break;
	}
	for (int i = 0; i < 2; i++)
		if (text[i] && search_matches(s->search, text[i], strlen(text[i])))
			return true;
	return false;
}

char *annotate_numbers(const struct scene *s, const struct annotation *a, uint32_t n)
{
	char share[FMT_SIZE], self[FMT_SIZE];

	if (n == ANNOTATION_NONE)
		return xstrdup("no sample");
	if (s->analysis->diff) {
		const struct annotate_cell before = { .kind = CELL_BEFORE },
					   after = { .kind = CELL_AFTER };

		fmt_percent(share, cell_value(s, a, &before, n), cell_whole(s, a, &before));
		fmt_percent(self, cell_value(s, a, &after, n), cell_whole(s, a, &after));
		return xasprintf("before %s %%, after %s %%", share, self);
	}
	row_share(share, s, annotation_total(a, n)[0], a->total[0]);
	row_share(self, s, annotation_self(a, n)[0], a->total[0]);
	return is_heap(s, 0) ? xstrdup(share) : xasprintf("%s, self %s", share, self);
}

char *annotate_status(const struct annotate_view *v, const struct scene *s,
		      const struct annotation *a)
{
	const struct annotation_row *row;
	char *numbers, *out = NULL;
	const struct annotation_inline *in;
	const struct annotation_code *code;

	if (v->list.cursor >= v->rows.all.n)
		return NULL;
	row = &v->rows.all.at[v->list.cursor];
	numbers = annotate_numbers(s, a, annotation_row_numbers(a, row));
	switch (row->kind) {
	case ANNOTATION_ROW_SOURCE:
		out = xasprintf("%s  %s:%" PRIu32, numbers,
				a->files.at[a->sources.at[row->at].file].path,
				a->sources.at[row->at].line);
		break;
	case ANNOTATION_ROW_INLINE:
		in = &a->inlines.at[row->at];
		out = xasprintf("%s  inlined here  %s", numbers, in->function);
		break;
	case ANNOTATION_ROW_CODE:
		code = &a->code.at[row->at];
		out = xasprintf("%s  %" PRIx64 " %s%s%s%s", numbers, code->shown, code->text,
				code->inlined ? "  of " : "", code->inlined ? code->inlined : "",
				code->target != ANNOTATION_NONE ? "  (Enter follows it)" : "");
		break;
	case ANNOTATION_ROW_AT:
		code = &a->code.at[row->at];
		out = xasprintf("%s:%" PRIu32 "%s%s", code->path, code->line,
				code->inlined ? "  " : "", code->inlined ? code->inlined : "");
		break;
	case ANNOTATION_ROW_FILE:
		out = xstrdup(a->files.at[row->at].found ? a->files.at[row->at].found
							 : a->files.at[row->at].path);
		break;
	case ANNOTATION_ROW_WARNING:
		out = xstrdup(row->text);
		break;
	case ANNOTATION_ROW_BLOCK:
		out = xasprintf("%s  %s", a->blocks.at[row->at].function,
				a->blocks.at[row->at].path);
		break;
	case ANNOTATION_ROW_GAP:
		break;
	}
	free(numbers);
	return out;
}
