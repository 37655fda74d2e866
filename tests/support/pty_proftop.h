/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real program with a profile made for it, on a pty. */
#ifndef PROFTOP_TESTS_SUPPORT_PTY_PROFTOP_H
#define PROFTOP_TESTS_SUPPORT_PTY_PROFTOP_H

#include "tests/support/pty.h"

#include <stdbool.h>

/* What xterm sends in keypad mode. */
#define KEYS_DOWN      "\033OB"
#define KEYS_UP        "\033OA"
#define KEYS_RIGHT     "\033OC"
#define KEYS_PAGE_DOWN "\033[6~"

/* $PROFTOP, or ./proftop. */
const char *program(void);

/* Attributes of a test that uses them. */
#define WITH_PROFILE .init = make_profile, .fini = drop_profile, .timeout = 600

/* A folded file of some 300 stacks in /tmp, one per test process. */
void make_profile(void);
void drop_profile(void);
const char *profile_path(void);
/* Writes other contents into it. */
void write_profile(const char *text);

/* Starts the program on the profile, with one more option or NULL. */
void start_proftop_with(struct pty *p, int cols, int rows, const char *term, const char *const *env,
			const char *option);
/* At 120x40 on an xterm, and waits until it has loaded and rests. */
void start_proftop(struct pty *p);
/* Types Q, and wants success and the terminal as it was. Frees p. */
void quit_proftop(struct pty *p);

/* The row of the screen with the mark of the selected row, which stands in the first three columns; -1: none. */
int marked_row(struct pty *p);

/* Did it die of that signal (or of the sanitizer's own exit on it)? */
bool died_of(int status, int signal_number);

#endif
