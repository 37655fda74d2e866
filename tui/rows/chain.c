/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of single calls; see chain.h. */
#include "config.h"

#include "tui/rows/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"

/*
 * Columns that a name beside the main one is folded to, of the mark between two, of the mark for names
 * that are left out between two; and the fewest that tell the first name of a run.
 */
#define PART_COLS 28
#define INTO_COLS 3
#define GAP_COLS  7
#define HEAD_COLS 6

/* What is being drawn. */
struct chain {
	struct canvas *c;
	struct chain_cell at;
	int used; /* columns so far */
	const struct scene *s;
	const struct tree_source *src;
	const struct chain_look *look;
	uint32_t *node; /* [n] the main one first, then outward */
	size_t n;
	size_t n_cut;  /* how many are left out: the outermost, or those behind the outermost */
	int main_cols; /* of the main one's cell */
	int head_cols; /* of the outermost, which is there although others are left out; or 0 */
};

static void list_nodes(struct chain *ch, uint32_t first, uint32_t last)
{
	VEC(uint32_t) node = { 0 };

	for (uint32_t n = last;; n = ch->src->parent(ch->s->analysis, n)) {
		vec_push(&node, n);
		if (n == first)
			break;
	}
	if (ch->src->by_self)
		mem_reverse(node.at, node.n, sizeof(*node.at));
	ch->node = node.at;
	ch->n = node.n;
}

static const char *label_of(const struct chain *ch, size_t i)
{
	return tree_key(ch->src, ch->s->analysis, ch->node[i])->label;
}

static int width_of(const char *label, size_t fold)
{
	char *name = text_fold_name(label, fold, false);
	int cols = (int)text_width(name, strlen(name));

	free(name);
	return cols;
}

/* As many of the nearest names as there is room for beside want columns; returns the columns left. */
static int fit_nearest(struct chain *ch, int left, int want, int cut_cols)
{
	size_t i = 1;

	for (; i < ch->n; i++) {
		int cols = width_of(label_of(ch, i), PART_COLS) + INTO_COLS;

		if (left - cols - (i + 1 < ch->n ? cut_cols : 0) < want)
			break;
		left -= cols;
	}
	ch->n_cut = ch->n - i;
	return ch->n_cut > 0 ? left - cut_cols : left;
}

/*
 * Room for the first call of the run, without which rows that end in the same function look the same; the main
 * name goes down to half of all columns for it. False when there is none.
 */
static bool fit_head(struct chain *ch, int want)
{
	int gap = ch->n == 2 ? INTO_COLS : GAP_COLS, half = ch->at.cols / 2;
	int head = width_of(label_of(ch, ch->n - 1), PART_COLS);
	int room = ch->at.cols - gap - want;

	if (room < head && want > half)
		room = ch->at.cols - gap - half;
	if (room < head && room < name_least_cols(label_of(ch, ch->n - 1), HEAD_COLS))
		return false;
	ch->head_cols = room < head ? room : head;
	return true;
}

/* Decides how many names there is room for; returns the columns left for the main one. */
static int fit(struct chain *ch)
{
	int cols = ch->at.cols, most = cols * 2 / 3, want, left;
	size_t n = ch->n;

	if (n == 1)
		return cols;
	want = width_of(label_of(ch, 0), most > 0 ? (size_t)most : 1);
	left = fit_nearest(ch, cols, want, 1 + INTO_COLS);
	if (ch->n_cut == 0 || ch->src->by_self || !fit_head(ch, want))
		return left;
	if (n == 2) {
		ch->n_cut = 0;
		return cols - INTO_COLS - ch->head_cols;
	}
	if (want > cols - GAP_COLS - ch->head_cols)
		want = cols - GAP_COLS - ch->head_cols;
	ch->n = n - 1;
	left = fit_nearest(ch, cols - ch->head_cols - INTO_COLS, want, 1 + INTO_COLS);
	ch->n = n;
	return left;
}

/* What joins name i to the next; it has the colour of the name, which is cheaper than one of its own. */
static void put_text(struct chain *ch, size_t i, const char *text)
{
	const struct groups *keys = &ch->s->analysis->keys;
	uint16_t style = ch->look->style;

	if (ch->look->by_family)
		style = row_joint_style(&keys->key[ch->src->key(ch->s->analysis, ch->node[i])]);
	ch->used += canvas_puts(ch->c, ch->at.row, ch->at.col + ch->used, ch->at.cols - ch->used,
				style, text);
}

static void put_name(struct chain *ch, size_t i, int cols)
{
	const struct groups *keys = &ch->s->analysis->keys;
	uint32_t key = ch->src->key(ch->s->analysis, ch->node[i]);
	struct name_look look = { .style = ch->look->style };
	const char *label;

	if (ch->look->by_family)
		look.style |= row_key_style(&keys->key[key]);
	if (ch->look->by_family && row_matches(ch->s, keys, key))
		look.style |= STYLE_MATCH;
	if (i == 0) {
		look.wide = ch->look->wide;
		look.style |= ch->look->bold ? STYLE_BOLD : 0;
	} else if (ch->look->by_family) {
		/* what is selected is the main one */
		look.style &= (uint16_t)~STYLE_SELECTED;
	}
	if (cols > ch->at.cols - ch->used)
		cols = ch->at.cols - ch->used;
	if (i == 0)
		ch->main_cols = cols;
	label = i == 0 && ch->look->label ? ch->look->label : keys->key[key].label;
	ch->used += name_draw_detailed(ch->c, ch->at.row, ch->at.col + ch->used, cols, label,
				       i == 0 && ch->look->detail ? ch->look->detail : "", &look);
}

static void put_inward(struct chain *ch)
{
	size_t i = ch->n - ch->n_cut;

	if (ch->head_cols > 0) {
		put_name(ch, ch->n - 1, ch->head_cols);
		put_text(ch, ch->n - 1, " › ");
		i = ch->n - 1 - ch->n_cut;
	}
	if (ch->n_cut > 0)
		put_text(ch, i, "… › ");
	while (i-- > 1) {
		put_name(ch, i, PART_COLS);
		put_text(ch, i, " › ");
	}
	put_name(ch, 0, ch->at.cols);
}

static void put_outward(struct chain *ch, int cols)
{
	put_name(ch, 0, cols);
	for (size_t i = 1; i < ch->n - ch->n_cut; i++) {
		put_text(ch, i - 1, " ‹ ");
		put_name(ch, i, PART_COLS);
	}
	if (ch->n_cut > 0)
		put_text(ch, ch->n - ch->n_cut - 1, " ‹ …");
}

/* What the main name leaves of its columns, as it is written shorter, the first call gets. */
static void widen_head(struct chain *ch, int cols)
{
	const char *label = ch->look->label ? ch->look->label : label_of(ch, 0);
	int head = width_of(label_of(ch, ch->n - 1), PART_COLS), spare;
	char *shown = name_in_row(label, cols > 0 ? cols : 0, ch->c->ascii);

	spare = cols - (int)text_width(shown, strlen(shown));
	free(shown);
	if (spare > head - ch->head_cols)
		spare = head - ch->head_cols;
	if (spare > 0)
		ch->head_cols += spare;
}

static void draw(struct chain *ch, uint32_t first, uint32_t last)
{
	int cols;

	if (ch->at.cols <= 0)
		return;
	list_nodes(ch, first, last);
	cols = fit(ch);
	if (cols < 4 && ch->n > 1) {
		ch->n = 1;
		cols = ch->at.cols;
		ch->n_cut = 0;
		ch->head_cols = 0;
	}
	if (ch->head_cols > 0 && !ch->look->wide && !(ch->look->detail && *ch->look->detail))
		widen_head(ch, cols);
	if (ch->src->by_self)
		put_outward(ch, cols);
	else
		put_inward(ch);
	free(ch->node);
}

int chain_draw(struct canvas *c, struct chain_cell at, const struct scene *s,
	       const struct tree_source *src, uint32_t first, uint32_t last,
	       const struct chain_look *look)
{
	struct chain ch = { .c = c, .at = at, .s = s, .src = src, .look = look };

	draw(&ch, first, last);
	return ch.used;
}

int chain_name_cols(struct chain_cell at, bool ascii, const struct scene *s,
		    const struct tree_source *src, uint32_t first, uint32_t last,
		    const struct chain_look *look)
{
	struct canvas scratch;
	struct chain ch = { .c = &scratch, .s = s, .src = src, .look = look };

	if (first == last)
		return at.cols;
	canvas_init(&scratch, at.cols > 0 ? at.cols : 1, 1, ascii);
	ch.at = (struct chain_cell){ 0, 0, at.cols };
	draw(&ch, first, last);
	canvas_done(&scratch);
	return ch.main_cols;
}
