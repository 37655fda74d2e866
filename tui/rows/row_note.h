/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes of people on rows: which one a row has, and its mark. */
#ifndef PROFTOP_TUI_ROWS_ROW_NOTE_H
#define PROFTOP_TUI_ROWS_ROW_NOTE_H

#include "tui/canvas/canvas.h"

#include <stdint.h>

struct groups;
struct key;
struct note;
struct row_shape;
struct scene;
struct tree_source;

/* All of these are NULL where there is no note, and else borrowed until one is put in. */
const struct note *row_note_of_key(const struct scene *s, const struct groups *keys, uint32_t key);
/* Of the nodes from last up to first: the first that has one itself, or whose function has one. */
const struct note *row_note_of_nodes(const struct scene *s, const struct tree_source *src,
				     uint32_t first, uint32_t last);
/* Of an allocation site in a function, or of the function; source is "cache.cc:88" or "". */
const struct note *row_note_of_site(const struct scene *s, const struct key *function,
				    const char *source);

/* What a note on a key is said to be of; borrowed for ever. */
const char *row_note_kind(const struct groups *keys, uint32_t key);
/* What a note on a site is called; the caller frees. */
char *row_note_site_name(const struct key *function, const char *source);

/* What is left of so many columns beside the mark; all of them where there is no room for it. */
int row_note_cols(int left);
/* Draws the mark at the right end of what is left of the name's cell; returns the columns left of it. */
int row_draw_note(const struct row_shape *sh, struct canvas *c, struct rect r, int line, int left);

#endif
