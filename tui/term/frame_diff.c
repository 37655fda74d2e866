/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The difference of two screens as bytes; see frame_diff.h.
 *
 * Most bytes of a coloured screen are colours, not letters. A frame can be written row by row, or pen
 * by pen: all that has one look, wherever it is, then the next. Which is shorter depends on how the
 * looks are mixed, and whether rows were scrolled is seen best by what it costs otherwise; so a frame
 * is made in each of these ways, and the shortest is sent.
 */
#include "config.h"

#include "tui/term/frame_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/glyphs.h"
#include "tui/term/cursor_output.h"
#include "tui/term/sgr.h"

/* Style bits that matter here: a base and four flags. */
#define N_STYLE_CODES 0x1000u

/* No pass has painted the cell's look yet. */
#define NO_PASS UINT32_MAX

struct frame_diff {
	struct terminal_can can;
	int cols, rows;     /* of the grids below */
	struct glyph *want; /* [rows][cols]; all owned */
	struct glyph *was;  /* what is shown before a frame */
	struct glyph *try;  /* what a try would have made of it */
	struct glyph *row;  /* [cols], a row before a try */
	int *where;         /* [cols], the letter with which a blank is painted, or -1 */
	uint32_t *pass;     /* [rows][cols], look with which a cell is painted */
	uint64_t *
		due; /* [rows], the passes in which anything of it is painted: a bit each, the last of all others */
	uint64_t *hash;         /* [2][rows], of rows that are wanted, and that are there */
	VEC(struct look) looks; /* all that occur */
	uint32_t look_of[N_STYLE_CODES][2]; /* index + 1 of a style's, blanks second; 0: none yet */
	struct cursor_output start, brush, best; /* before a frame, of a try, of the best one */
	bool known;                              /* what the screen shows */
	bool tried;                              /* there is a best one */
};

static uint32_t intern(struct frame_diff *p, struct look look)
{
	for (size_t i = 0; i < p->looks.n; i++) {
		const struct look *l = &p->looks.at[i];

		if (l->fg == look.fg && l->bg == look.bg && l->attrs == look.attrs)
			return (uint32_t)i;
	}
	vec_push(&p->looks, look);
	return (uint32_t)p->looks.n - 1;
}

/* The look of a style, of which blanks only show a part. */
static uint32_t look_of(struct frame_diff *p, uint16_t style, bool blank)
{
	uint32_t *known = &p->look_of[style % N_STYLE_CODES][blank];
	struct look look;

	if (*known != 0)
		return *known - 1;
	look = theme_look(style, p->can.n_colours);
	if (look.fg >= 0 || look.bg >= 0)
		look.attrs &= (uint16_t)~p->can.clash;
	if (blank && (look.attrs & (LOOK_REVERSE | LOOK_UNDERLINE)) == 0)
		look = (struct look){ .fg = PEN_ANY, .bg = look.bg };
	*known = intern(p, look) + 1;
	return *known - 1;
}

/* What the canvas wants, in terms of the terminal. */
static void take_canvas(struct frame_diff *p, const struct canvas *c)
{
	for (int i = 0; i < c->cols * c->rows; i++) {
		const struct cell *cell = &c->cell[i];
		struct glyph *g = &p->want[i];

		g->cp = p->can.cp437 ? glyph_cp437(cell->cp) : cell->cp;
		g->mark = cell->mark;
		g->look = look_of(p, cell->style, g->cp == ' ' && g->mark == 0);
	}
}

static void fit(struct frame_diff *p, int cols, int rows)
{
	size_t n = (size_t)cols * (size_t)rows;

	if (p->want && p->cols == cols && p->rows == rows)
		return;
	p->cols = cols;
	p->rows = rows;
	p->want = xreallocarray(p->want, n + 1, sizeof(*p->want));
	p->was = xreallocarray(p->was, n + 1, sizeof(*p->was));
	p->try = xreallocarray(p->try, n + 1, sizeof(*p->try));
	p->row = xreallocarray(p->row, (size_t)cols + 1, sizeof(*p->row));
	p->where = xreallocarray(p->where, (size_t)cols + 1, sizeof(*p->where));
	p->pass = xreallocarray(p->pass, n + 1, sizeof(*p->pass));
	p->due = xreallocarray(p->due, (size_t)rows + 1, sizeof(*p->due));
	p->hash = xreallocarray(p->hash, 2 * (size_t)rows + 1, sizeof(*p->hash));
	p->known = false;
}

static const struct glyph *wanted(const struct frame_diff *p, int row, int col)
{
	return &p->want[(size_t)row * (size_t)p->cols + (size_t)col];
}

static bool is_blank(const struct frame_diff *p, const struct glyph *g)
{
	return p->looks.at[g->look].fg == PEN_ANY;
}

/* How many blanks of one look begin at col: to the last that has to be painted, or to the row's end. */
static int blanks(const struct frame_diff *p, int row, int col)
{
	const struct glyph *first = wanted(p, row, col);
	int n = 1, end = col + 1;

	for (; end < p->cols && wanted(p, row, end)->look == first->look; end++)
		if (cursor_output_differs(&p->brush, row, end))
			n = end + 1 - col;
	return end == p->cols ? end - col : n;
}

/* Paints what differs in a row, or what of it belongs to one pass. */
static void paint_row(struct frame_diff *p, int row, uint32_t pass)
{
	const uint32_t *passes = &p->pass[(size_t)row * (size_t)p->cols];

	for (int col = 0; col < p->cols;) {
		bool due = cursor_output_differs(&p->brush, row, col) &&
			   (pass == NO_PASS || passes[col] == pass);
		int n = 1;

		if (due && is_blank(p, wanted(p, row, col))) {
			n = blanks(p, row, col);
			cursor_output_blank(&p->brush, row, col, n);
		} else if (due) {
			n = cursor_output_put(&p->brush, row, col);
		}
		col += n;
	}
}

/* Can a blank be written with the pen that paints another cell? */
static bool goes_with(const struct frame_diff *p, const struct glyph *blank, const struct glyph *g)
{
	return !is_blank(p, g) && sgr_fits(&p->looks.at[g->look], &p->looks.at[blank->look]);
}

/*
 * Gives the blanks of a row that are to be painted to the pass of the nearest letter that is, where its pen
 * can write them: to the left, or to the right (step 1 or -1) if that is nearer than where[].
 */
static void join_blanks(struct frame_diff *p, int row, int step, int *where)
{
	uint32_t *pass = &p->pass[(size_t)row * (size_t)p->cols];
	int last = -1;

	for (int col = step > 0 ? 0 : p->cols - 1; col >= 0 && col < p->cols; col += step) {
		const struct glyph *g = wanted(p, row, col);

		if (pass[col] == NO_PASS)
			continue;
		if (!is_blank(p, g)) {
			last = col;
		} else if (last >= 0 && goes_with(p, g, wanted(p, row, last)) &&
			   (where[col] < 0 || abs(where[col] - col) > abs(last - col))) {
			pass[col] = pass[last];
			where[col] = last;
		}
	}
}

/* Is anything of a row to be painted? Of a screen that goes on, little is. */
static bool is_due(const struct frame_diff *p, int row)
{
	for (int col = 0; col < p->cols; col++)
		if (cursor_output_differs(&p->brush, row, col))
			return true;
	return false;
}

/* Says in which pass the cells of a row are painted. */
static void plan_row(struct frame_diff *p, int row)
{
	uint32_t *pass = &p->pass[(size_t)row * (size_t)p->cols];

	for (int col = 0; col < p->cols; col++) {
		bool due = cursor_output_differs(&p->brush, row, col);

		pass[col] = due ? wanted(p, row, col)->look : NO_PASS;
		p->where[col] = -1;
	}
	join_blanks(p, row, 1, p->where);
	join_blanks(p, row, -1, p->where);
}

static uint64_t pass_bit(uint32_t pass)
{
	return UINT64_C(1) << (pass < 63 ? pass : 63);
}

/* Paints rows first to end - 1 pen by pen, beginning with the one in use. */
static void paint_by_pen(struct frame_diff *p, int first, int end)
{
	VEC(uint32_t) passes = { 0 };

	for (int row = first; row < end; row++) {
		p->due[row] = 0;
		if (!is_due(p, row))
			continue;
		plan_row(p, row);
		for (int col = 0; col < p->cols; col++) {
			uint32_t pass = p->pass[(size_t)row * (size_t)p->cols + (size_t)col];
			size_t i = 0;

			while (i < passes.n && passes.at[i] != pass)
				i++;
			if (pass == NO_PASS)
				continue;
			if (i == passes.n)
				vec_push(&passes, pass);
			p->due[row] |= pass_bit(pass);
		}
	}
	for (size_t i = 1; i < passes.n; i++)
		if (sgr_fits(&p->brush.pen, &p->looks.at[passes.at[i]])) {
			uint32_t in_use = passes.at[i];

			passes.at[i] = passes.at[0];
			passes.at[0] = in_use;
		}
	for (size_t i = 0; i < passes.n; i++)
		for (int row = first; row < end; row++)
			if (p->due[row] & pass_bit(passes.at[i]))
				paint_row(p, row, passes.at[i]);
	vec_done(&passes);
}

/* Where a try is before a row, to go back to. */
static struct cursor_output remember(struct frame_diff *p, int row)
{
	memcpy(p->row, &p->try[(size_t)row * (size_t)p->cols], (size_t)p->cols * sizeof(*p->row));
	return p->brush;
}

static void go_back(struct frame_diff *p, int row, const struct cursor_output *to)
{
	struct sent out = p->brush.out;

	out.n = to->out.n;
	memcpy(&p->try[(size_t)row * (size_t)p->cols], p->row, (size_t)p->cols * sizeof(*p->row));
	p->brush = *to;
	p->brush.out = out;
}

/* Paints rows one after the other, each in the shorter way. */
static void paint_by_row(struct frame_diff *p)
{
	for (int row = 0; row < p->rows; row++) {
		struct cursor_output before = remember(p, row);
		size_t n;

		if (!is_due(p, row))
			continue;
		paint_by_pen(p, row, row + 1);
		n = p->brush.out.n;
		go_back(p, row, &before);
		paint_row(p, row, NO_PASS);
		if (p->brush.out.n <= n)
			continue;
		go_back(p, row, &before);
		paint_by_pen(p, row, row + 1);
	}
}

/* Which rows move by how much. */
struct shift {
	int first, end, by; /* as cursor_output_scroll()'s; by 0: none */
};

static bool is_blank_row(const struct frame_diff *p, int row)
{
	for (int col = 0; col < p->cols; col++)
		if (wanted(p, row, col)->cp != ' ')
			return false;
	return true;
}

/* The shift that brings most rows to where they are wanted. */
static struct shift find_shift(struct frame_diff *p)
{
	size_t row_size = (size_t)p->cols * sizeof(*p->want);
	uint64_t *want = p->hash, *was = p->hash + p->rows;
	struct shift best = { .by = 0 };
	int most = 0;

	for (int row = 0; row < p->rows; row++) {
		want[row] = is_blank_row(p, row) ? 0 : hash_bytes(wanted(p, row, 0), row_size);
		was[row] = hash_bytes(&p->was[(size_t)row * (size_t)p->cols], row_size);
	}
	for (int by = 1 - p->rows; by < p->rows; by++) {
		struct shift s = { p->rows, 0, by };
		int n = 0;

		for (int row = by < 0 ? -by : 0; row < p->rows && row + by < p->rows; row++) {
			if (want[row] == 0 || want[row] != was[row + by] || want[row] == was[row])
				continue;
			n++;
			s.first = row < s.first ? row : s.first;
			s.end = row + 1;
		}
		if (n <= most)
			continue;
		most = n;
		best = s;
	}
	if (best.by > 0)
		best.end += best.by;
	else
		best.first += best.by;
	return best;
}

/* Where half of a wide glyph differs, both halves are painted. */
static void widen(struct frame_diff *p)
{
	for (int i = 0; i + 1 < p->cols * p->rows; i++) {
		struct glyph *was = &p->was[i];

		if (p->want[i + 1].cp == 0 && memcmp(was, &p->want[i], 2 * sizeof(*was)) != 0)
			was[0].cp = was[1].cp = GLYPH_LOST;
	}
}

/* A new try, from what the screen shows or from nothing. */
static void begin(struct frame_diff *p)
{
	struct sent out = p->brush.out;

	out.n = 0;
	p->brush = p->start;
	p->brush.out = out;
	p->brush.can = &p->can;
	p->brush.looks = p->looks.at;
	p->brush.want = p->want;
	p->brush.have = p->try;
	p->brush.cols = p->cols;
	p->brush.rows = p->rows;
	if (p->known)
		memcpy(p->try, p->was, (size_t)p->cols * (size_t)p->rows * sizeof(*p->try));
	else
		cursor_output_clear(&p->brush);
}

/*
 * The shift with the row beside it, which differs: where a cursor goes to the next row at the end of a
 * list, the row that it leaves is to move too, and then to lose little more than what marks it.
 */
static struct shift grown(const struct frame_diff *p, struct shift s)
{
	if (s.by > 0 && s.end < p->rows)
		s.end++;
	else if (s.by < 0 && s.first > 0)
		s.first--;
	return s;
}

/* Makes the frame in one way and keeps it if it is the shortest so far. */
static void try_way(struct frame_diff *p, const struct canvas *c, struct shift shift, bool by_pen)
{
	struct cursor_output other;

	begin(p);
	if (shift.by != 0)
		cursor_output_scroll(&p->brush, shift.first, shift.end, shift.by);
	if (by_pen)
		paint_by_pen(p, 0, p->rows);
	else
		paint_by_row(p);
	if (c->cursor_row >= 0 && c->cursor_row < p->rows && c->cursor_col >= 0 &&
	    c->cursor_col < p->cols)
		cursor_output_move(&p->brush, c->cursor_row, c->cursor_col);
	if (p->tried && p->best.out.n <= p->brush.out.n)
		return;
	other = p->best;
	p->best = p->brush;
	p->brush = other;
	p->tried = true;
}

struct frame_diff *frame_diff_new(const struct terminal_can *can)
{
	struct frame_diff *p = xcalloc(1, sizeof(*p));

	p->can = *can;
	p->start.row = -1;
	/* the first look is that of a cleared screen */
	look_of(p, STYLE_NORMAL, true);
	return p;
}

void frame_diff_free(struct frame_diff *p)
{
	if (!p)
		return;
	free(p->want);
	free(p->was);
	free(p->try);
	free(p->row);
	free(p->where);
	free(p->pass);
	free(p->due);
	free(p->hash);
	vec_done(&p->looks);
	free(p->brush.out.at);
	free(p->best.out.at);
	free(p);
}

void frame_diff_forget(struct frame_diff *p)
{
	p->known = false;
}

const char *frame_diff_frame(struct frame_diff *p, const struct canvas *c, size_t *n)
{
	struct shift none = { .by = 0 }, shift = none;

	fit(p, c->cols, c->rows);
	take_canvas(p, c);
	if (p->known)
		widen(p);
	p->tried = false;
	try_way(p, c, none, false);
	try_way(p, c, none, true);
	if (p->known && p->can.scroll)
		shift = find_shift(p);
	if (shift.by != 0) {
		try_way(p, c, shift, false);
		try_way(p, c, shift, true);
		try_way(p, c, grown(p, shift), false);
		try_way(p, c, grown(p, shift), true);
	}
	memcpy(p->was, p->want, (size_t)p->cols * (size_t)p->rows * sizeof(*p->was));
	p->start = p->best;
	p->known = true;
	*n = p->best.out.n;
	return p->best.out.at;
}

const char *frame_diff_plain(struct frame_diff *p, size_t *n)
{
	p->brush.out.n = 0;
	cursor_output_send(&p->brush, "\033[m", 3);
	p->start.pen = (struct look){ .fg = -1, .bg = -1 };
	*n = p->brush.out.n;
	return p->brush.out.at;
}
