/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A one-line editor: text typed on the last line but one, with a cursor and a history.
 *
 * It holds text only; what a change means (incremental search) is its owner's business.
 */
#ifndef PROFTOP_TUI_CONTRACT_PROMPT_H
#define PROFTOP_TUI_CONTRACT_PROMPT_H

#include "tui/canvas/canvas.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was typed before, oldest first; one per kind of prompt. Zeroed is empty. */
struct history {
	char **at; /* owned, and so are the texts */
	size_t n, cap;
};

struct prompt {
	const char *label;       /* drawn before the text: "/" or "& "; borrowed */
	struct history *history; /* borrowed */
	char *text;              /* UTF-8, NUL-terminated, clean; owned */
	size_t n, cap;           /* bytes of text without its NUL; bytes held */
	size_t cursor;           /* byte in text where the next character goes */
	size_t recalled;         /* entry of the history on show; history->n: none */
	bool touched;            /* something was typed or recalled, even if it is gone again */
	char *draft;             /* what was typed before recalling; owned, NULL: nothing */
};

enum prompt_result {
	PROMPT_UNCHANGED, /* the key moved the cursor, or meant nothing */
	PROMPT_CHANGED,   /* the text is another */
	PROMPT_DONE,      /* <Enter>: the text is final, and in the history */
	PROMPT_CANCELLED  /* <Esc>, ^C, or <Backspace> on nothing */
};

void prompt_init(struct prompt *p, const char *label, struct history *h);
void prompt_done(struct prompt *p);

/* Puts another text in, with the cursor behind it. */
void prompt_set(struct prompt *p, const char *text);

enum prompt_result prompt_key(struct prompt *p, uint32_t key);

/* Draws label and text in cols columns, scrolled so that the cursor shows, and puts the cursor. Returns columns used. */
int prompt_draw(const struct prompt *p, struct canvas *c, int row, int col, int cols);

void history_done(struct history *h);

#endif
