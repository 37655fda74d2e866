/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal: the only module that knows curses. Puts canvases on the screen by sending what
 * changed, reads keys and the mouse, and gives the terminal back as it was, whatever happens.
 *
 * Signals that concern the terminal are taken from a descriptor and never interrupt: so none comes in the
 * middle of what curses does. There can be one terminal at a time.
 */
#ifndef PROFTOP_TUI_TERM_TERM_H
#define PROFTOP_TUI_TERM_TERM_H

#include "tui/canvas/canvas.h"
#include "tui/canvas/theme.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct term;

struct term_options {
	enum colour_mode colour; /* COLOUR_AUTO: what terminal and $NO_COLOR say */
	bool mouse;              /* take clicks and the wheel */
	bool sync;               /* synchronized output where the terminal may know it */
	bool focus;              /* tell of TERM_FOCUS where the terminal may know it */
};

enum term_event_kind {
	TERM_NOTHING,
	TERM_KEY,     /* `key` of keymap.h */
	TERM_PASTE,   /* `key` is a character of pasted text, where lines end a blank */
	TERM_CLICK,   /* first button pressed on row, col */
	TERM_RELEASE, /* and let go of there */
	TERM_WHEEL,   /* `notches`, down is positive */
	TERM_FOCUS,   /* the terminal, or the part of it that we have, `has_focus` from now on */
	TERM_RESIZE,  /* term_size() may be another; or everything has to be drawn anew */
	TERM_GONE     /* the terminal is gone, or we are told to end; see term_close() */
};

struct term_event {
	enum term_event_kind kind;
	uint32_t key;
	int row, col;
	int notches;
	bool has_focus;
};

/* Can the terminal of standard output show a screen? -ENOTTY with a sentence otherwise. */
int term_possible(struct err *e);

/* Takes the terminal over. 0, or -errno with a sentence; then the terminal is untouched. */
int term_open(const struct term_options *o, struct term **out, struct err *e);
/*
 * Gives it back. If a signal asked us to end, the program then dies of that signal, as its parent
 * expects; else it returns.
 */
void term_close(struct term *t);

void term_size(const struct term *t, int *cols, int *rows);
/* 256, 16, 8, or 0: canvases have to say everything by characters and attributes then. */
int term_colours(const struct term *t);

/* Sends what differs from the last canvas. */
void term_draw(struct term *t, const struct canvas *c);
/* The next term_draw() sends everything. */
void term_repaint(struct term *t);

/* Waits for input, a signal, one of n descriptors, or timeout_ms (-1: for ever). */
void term_wait(struct term *t, const int *fds, size_t n, int timeout_ms);
/* The next thing that happened, TERM_NOTHING when there is none; never blocks. */
void term_next(struct term *t, struct term_event *e);

/* Sets the clipboard by OSC 52; false when that would be too long for terminals. */
bool term_copy(struct term *t, const char *text);
/* Gives the terminal to a program until it ends. Its exit status, or -errno. */
int term_run(struct term *t, char *const argv[]);
/* Runs a shell command that reads the text and must not speak. Its exit status, or -errno. */
int term_feed(struct term *t, const char *command, const char *text);

#endif
