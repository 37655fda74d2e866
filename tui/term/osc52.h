/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The escape sequence by which terminals take text into the clipboard, also over SSH (OSC 52). */
#ifndef PROFTOP_TUI_TERM_OSC52_H
#define PROFTOP_TUI_TERM_OSC52_H

#include <stdbool.h>

/*
 * For a text; in tmux also as a passthrough, which works where its allow-passthrough is on, while
 * the plain one needs set-clipboard on. NULL when terminals would not take so much. Caller frees.
 */
char *osc52_sequence(const char *text, bool in_tmux);

#endif
