/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What to send to a terminal to make it show a canvas: the difference to the last one, in the cheapest
 * of several ways. It is bytes only, and knows no terminal but by what it can do.
 */
#ifndef PROFTOP_TUI_TERM_FRAME_DIFF_H
#define PROFTOP_TUI_TERM_FRAME_DIFF_H

#include <stdbool.h>
#include <stddef.h>

struct canvas;
struct frame_diff;
struct terminal_can;

/* can is copied. Nothing is known of the screen at first. The caller frees. */
struct frame_diff *frame_diff_new(const struct terminal_can *can);
void frame_diff_free(struct frame_diff *p);

/* Nobody knows what the screen shows: the next frame clears it. */
void frame_diff_forget(struct frame_diff *p);

/*
 * The bytes for a canvas, *n of them, until the next call; the cursor is where the canvas has it then. The
 * screen is taken to show it from now on.
 */
const char *frame_diff_frame(struct frame_diff *p, const struct canvas *c, size_t *n);

/* Likewise what makes the pen plain, for others who write to the terminal. */
const char *frame_diff_plain(struct frame_diff *p, size_t *n);

#endif
