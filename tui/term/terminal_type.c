/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curses takes a compiled description in $TERMINFO, too ("b64:…", terminfo(5)): none need be written to a file. */
#include "config.h"

#include "tui/term/terminal_type.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LIKE_XTERM "xterm-256color"

#ifdef ONE_FILE
/* made by infocmp(1), see Makefile.am */
static const struct {
	const char *name, *entry;
} inside[] = {
#include <terminal_entries.h>
};

static bool find_inside(const char *term, terminal_described *described)
{
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		if (strcmp(term, inside[i].name) == 0) {
			setenv("TERMINFO", inside[i].entry, 1);
			return described(term);
		}
	return false;
}
#else
static bool find_inside(const char *term, terminal_described *described)
{
	(void)term;
	(void)described;
	return false;
}
#endif

/* Terminals that have a name of their own in new terminfos only, and take what xterm takes. */
static bool is_like_xterm(const char *term)
{
	static const char *const begins[] = { "xterm-", "alacritty", "contour", "foot",
					      "gnome",  "iterm",     "kitty",   "konsole",
					      "mintty", "st-",       "vte",     "wezterm" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(term, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

bool terminal_type_find(const char *term, terminal_described *described)
{
	if (described(term) || find_inside(term, described))
		return true;
	if (!is_like_xterm(term) || !(described(LIKE_XTERM) || find_inside(LIKE_XTERM, described)))
		return false;
	setenv("TERM", LIKE_XTERM, 1);
	return true;
}
