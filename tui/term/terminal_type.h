/* SPDX-License-Identifier: GPL-3.0-or-later */
/* $TERM, where the machine's terminfo has no entry for it: as in a container, or reached from a new terminal by ssh. */
#ifndef PROFTOP_TUI_TERM_TERMINAL_TYPE_H
#define PROFTOP_TUI_TERM_TERMINAL_TYPE_H

#include <stdbool.h>

/* Has terminfo an entry of that name, as tgetent(3) says? */
typedef bool terminal_described(const char *term);

/*
 * Makes terminfo know a terminal of that name. A program that is one file has some descriptions in itself; and terminals that
 * understand all of xterm's are described by xterm-256color. Sets TERM and TERMINFO for curses and for programs that are run
 * later. False: nothing describes it.
 */
bool terminal_type_find(const char *term, terminal_described *described);

#endif
