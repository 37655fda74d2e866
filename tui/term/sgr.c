/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Select graphic rendition; see sgr.h. */
#include "config.h"

#include "tui/term/sgr.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Attributes with the parameters that switch them on and off. */
static const struct {
	uint16_t attr;
	int on, off;
} attributes[] = {
	{ LOOK_BOLD, 1, 22 },
	{ LOOK_UNDERLINE, 4, 24 },
	{ LOOK_REVERSE, 7, 27 },
};
#define N_ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

/* A sequence while it is made. */
struct sgr {
	char at[PEN_SIZE]; /* "ESC [ 1 ; 39": all but the final */
	size_t n;          /* bytes of it */
};

static void add(struct sgr *s, int parameter)
{
	s->n += (size_t)snprintf(s->at + s->n, sizeof(s->at) - s->n, "%s%d", s->n > 2 ? ";" : "",
				 parameter);
}

/* base: 30 for letters, 40 for what is behind them. */
static void add_colour(struct sgr *s, int colour, int base)
{
	if (colour < 0) {
		add(s, base + 9);
	} else if (colour < 8) {
		add(s, base + colour);
	} else if (colour < 16) {
		add(s, base + 60 + colour - 8);
	} else {
		add(s, base + 8);
		add(s, 5);
		add(s, colour);
	}
}

static void add_changes(struct sgr *s, const struct look *from, const struct look *to)
{
	for (size_t i = 0; i < N_ATTRIBUTES; i++) {
		uint16_t attr = attributes[i].attr;

		if ((from->attrs ^ to->attrs) & attr)
			add(s, to->attrs & attr ? attributes[i].on : attributes[i].off);
	}
	if (from->fg != to->fg)
		add_colour(s, to->fg, 30);
	if (from->bg != to->bg)
		add_colour(s, to->bg, 40);
}

/* Does every change from one to the other switch something on? */
static bool only_adds(const struct look *from, const struct look *to)
{
	return (from->attrs & ~to->attrs) == 0 && (from->fg == to->fg || to->fg >= 0) &&
	       (from->bg == to->bg || to->bg >= 0);
}

bool sgr_fits(const struct look *pen, const struct look *look)
{
	if (look->fg == PEN_ANY)
		return pen->bg == look->bg && (pen->attrs & (LOOK_REVERSE | LOOK_UNDERLINE)) == 0;
	return pen->fg == look->fg && pen->bg == look->bg && pen->attrs == look->attrs;
}

struct look sgr_for(const struct look *pen, const struct look *look)
{
	if (look->fg != PEN_ANY)
		return *look;
	return (struct look){ .fg = pen->fg,
			      .bg = look->bg,
			      .attrs = (uint16_t)(pen->attrs & LOOK_BOLD) };
}

size_t sgr_switch(const struct look *from, const struct look *to, bool undo, char out[PEN_SIZE])
{
	static const struct look plain = { .fg = -1, .bg = -1 };
	struct sgr whole = { .at = "\033[", .n = 2 }, part = whole;
	const struct sgr *best = &whole;

	if (from->fg == to->fg && from->bg == to->bg && from->attrs == to->attrs)
		return 0;
	if (to->fg >= 0 || to->bg >= 0 || to->attrs != 0) {
		add(&whole, 0);
		add_changes(&whole, &plain, to);
	}
	if (undo || only_adds(from, to)) {
		add_changes(&part, from, to);
		if (part.n < whole.n)
			best = &part;
	}
	memcpy(out, best->at, best->n);
	out[best->n] = 'm';
	return best->n + 1;
}
