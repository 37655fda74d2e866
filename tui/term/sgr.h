/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pen of a terminal, and the shortest sequence that changes it (ECMA-48 §8.3.117, SGR; colours
 * past the first 16 as xterm writes them).
 */
#ifndef PROFTOP_TUI_TERM_SGR_H
#define PROFTOP_TUI_TERM_SGR_H

#include "tui/canvas/theme.h"

#include <stdbool.h>
#include <stddef.h>

/* Colour of a look that does not show: letters where there is none. */
#define PEN_ANY (-2)

/* Bytes of the longest sequence. */
#define PEN_SIZE 64

/* Can what looks like this be written with the pen as it is? */
bool sgr_fits(const struct look *pen, const struct look *look);

/* What the pen becomes when something of that look is to be written: as little as can be changes. */
struct look sgr_for(const struct look *pen, const struct look *look);

/*
 * Writes the sequence that makes one pen another, and returns its bytes; 0: they are the same. undo:
 * the terminal can switch attributes and colours off one by one.
 */
size_t sgr_switch(const struct look *from, const struct look *to, bool undo, char out[PEN_SIZE]);

#endif
