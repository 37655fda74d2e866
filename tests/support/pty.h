/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program on a pseudo terminal, and libvterm as the terminal: what a person would see, and every
 * byte that it took. Waits for what is to appear, never for a time.
 */
#ifndef PROFTOP_TESTS_SUPPORT_PTY_H
#define PROFTOP_TESTS_SUPPORT_PTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>
#include <vterm.h>

struct pty {
	pid_t pid; /* of the program; 0 once waited for */
	int fd;    /* the terminal's side */
	VTerm *vt;
	VTermScreen *screen;
	int cols, rows;
	bool altscreen, cursor_visible, mouse, focus; /* modes the program has set */
	struct termios before;                        /* line modes as the program found them */
	size_t n_bytes;                               /* sent by the program so far */
	size_t n_when_typed;                          /* n_bytes when something was typed last */
	char *raw;                                    /* [n_bytes] all of them; owned */
	size_t cap;                                   /* of raw */
};

/* Starts argv with TERM=term and more variables ("NAME=value", NULL-terminated, or NULL). */
void pty_start(struct pty *p, int cols, int rows, const char *term, const char *const *env,
	       char *const argv[]);
/* The same with a function of this program; what it returns is the exit status. */
void pty_start_call(struct pty *p, int cols, int rows, const char *term, const char *const *env,
		    int (*call)(void *arg), void *arg);
/* Kills what is left. */
void pty_end(struct pty *p);

/* Types bytes. */
void pty_type(struct pty *p, const char *bytes);
void pty_resize(struct pty *p, int cols, int rows);

/* Takes in what the program writes until the text stands on the screen; fails the test after a minute. */
void pty_wait(struct pty *p, const char *text);
/* Until it stands there no more. */
void pty_wait_gone(struct pty *p, const char *text);
/* Until a row begins with the text. */
void pty_wait_row(struct pty *p, int row, const char *text);
/* Until the program has taken all input and sleeps, with nothing left to read. */
void pty_wait_idle(struct pty *p);
/* Bytes that come within so many milliseconds. */
size_t pty_bytes_within(struct pty *p, int ms);
/* Until the program has ended; its status as waitpid(2) gives it. */
int pty_wait_end(struct pty *p);

/* A row as UTF-8 without trailing blanks; malloc'd. All rows with line ends when row is -1. */
char *pty_text(struct pty *p, int row);
bool pty_shows(struct pty *p, const char *text);
VTermScreenCell pty_cell(struct pty *p, int row, int col);
/* Did the program ever send these bytes? */
bool pty_sent(const struct pty *p, const char *bytes);
/* Is the terminal as it was found: main screen, cursor, no mouse, no reports of focus, line modes? Fails the test if not. */
void pty_expect_restored(struct pty *p);

#endif
