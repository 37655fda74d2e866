/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of single calls; see chain.h. */
#include "config.h"

#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "mem.h"
#include "name_cell.h"
#include "row.h"
#include "text.h"

/* Columns that a name beside the main one is folded to, and of the mark between two. */
#define PART_COLS 28
#define INTO_COLS 3

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
	size_t n_cut; /* how many of the outermost are left out */
};

static void list_nodes(struct chain *ch, uint32_t first, uint32_t last)
{
	VEC(uint32_t) node = { 0 };

	for (uint32_t n = last;; n = ch->src->parent(ch->s->analysis, n)) {
		vec_push(&node, n);
		if (n == first)
			break;
	}
	for (size_t i = 0; ch->src->by_self && i < node.n / 2; i++) {
		uint32_t swap = node.at[i];

		node.at[i] = node.at[node.n - 1 - i];
		node.at[node.n - 1 - i] = swap;
	}
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

/* Decides how many names there is room for; returns the columns left for the main one. */
static int fit(struct chain *ch)
{
	int most = ch->at.cols * 2 / 3, want, left = ch->at.cols;
	size_t i = 1;

	if (ch->n == 1)
		return left;
	want = width_of(label_of(ch, 0), most > 0 ? (size_t)most : 1);
	for (; i < ch->n; i++) {
		int cols = width_of(label_of(ch, i), PART_COLS) + INTO_COLS;
		int cut = i + 1 < ch->n ? 1 + INTO_COLS : 0;

		if (left - cols - cut < want)
			break;
		left -= cols;
	}
	ch->n_cut = ch->n - i;
	return ch->n_cut > 0 ? left - 1 - INTO_COLS : left;
}

/* What joins name i to the next; it has the colour of the name, which is cheaper than one of its own. */
static void put_text(struct chain *ch, size_t i, const char *text)
{
	const struct keys *keys = &ch->s->analysis->keys;
	uint16_t style = ch->look->style;

	if (ch->look->by_family)
		style = row_joint_style(&keys->key[ch->src->key(ch->s->analysis, ch->node[i])]);
	ch->used += canvas_puts(ch->c, ch->at.row, ch->at.col + ch->used, ch->at.cols - ch->used,
				style, text);
}

static void put_name(struct chain *ch, size_t i, int cols)
{
	const struct keys *keys = &ch->s->analysis->keys;
	uint32_t key = ch->src->key(ch->s->analysis, ch->node[i]);
	struct name_look look = { .style = ch->look->style };

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
	ch->used += name_draw_detailed(ch->c, ch->at.row, ch->at.col + ch->used, cols,
				       keys->key[key].label,
				       i == 0 && ch->look->detail ? ch->look->detail : "", &look);
}

static void put_inward(struct chain *ch)
{
	if (ch->n_cut > 0)
		put_text(ch, ch->n - ch->n_cut - 1, "… › ");
	for (size_t i = ch->n - ch->n_cut; i-- > 1;) {
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

int chain_draw(struct canvas *c, struct chain_cell at, const struct scene *s,
	       const struct tree_source *src, uint32_t first, uint32_t last,
	       const struct chain_look *look)
{
	struct chain ch = { .c = c, .at = at, .s = s, .src = src, .look = look };
	int cols;

	if (at.cols <= 0)
		return 0;
	list_nodes(&ch, first, last);
	cols = fit(&ch);
	if (cols < 4 && ch.n > 1) {
		ch.n = 1;
		cols = at.cols;
		ch.n_cut = 0;
	}
	if (src->by_self)
		put_outward(&ch, cols);
	else
		put_inward(&ch);
	free(ch.node);
	return ch.used;
}
