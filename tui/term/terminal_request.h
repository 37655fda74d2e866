/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only a terminal can do: the app asks for it, tui.c does it. */
#ifndef PROFTOP_TUI_TERM_TERMINAL_REQUEST_H
#define PROFTOP_TUI_TERM_TERMINAL_REQUEST_H

#include <stdint.h>

enum terminal_request_kind {
	REQUEST_NONE,
	REQUEST_COPY,   /* `text` into the clipboard */
	REQUEST_EDIT,   /* `text` in an editor, at `line` */
	REQUEST_REPAINT /* everything anew */
};

struct terminal_request {
	enum terminal_request_kind kind; /* what is to be done */
	char *text;                      /* malloc'd; the taker frees */
	uint32_t line;                   /* 1-based, 0: unknown */
};

#endif
