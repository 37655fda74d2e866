/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What to send to a terminal to make it show a canvas: the difference to the last one, in the cheapest
 * of several ways. It is bytes only, and knows no terminal but by what it can do.
 */
#ifndef PROFTOP_TUI_PAINT_H
#define PROFTOP_TUI_PAINT_H

#include <stdbool.h>
#include <stddef.h>

struct canvas;
struct paint;
struct terminal_can;

/* can is copied. Nothing is known of the screen at first. The caller frees. */
struct paint *paint_new(const struct terminal_can *can);
void paint_free(struct paint *p);

/* Nobody knows what the screen shows: the next frame clears it. */
void paint_forget(struct paint *p);

/*
 * The bytes for a canvas, *n of them, until the next call; the cursor is where the canvas has it then. The
 * screen is taken to show it from now on.
 */
const char *paint_frame(struct paint *p, const struct canvas *c, size_t *n);

/* Likewise what makes the pen plain, for others who write to the terminal. */
const char *paint_plain(struct paint *p, size_t *n);

#endif
