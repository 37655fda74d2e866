/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/term/terminal_type.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A terminfo of two entries. */
static bool knows_two(const char *term)
{
	return strcmp(term, "vt100") == 0 || strcmp(term, "xterm-256color") == 0;
}

static bool knows_none(const char *term)
{
	(void)term;
	return false;
}

static const struct {
	const char *term, *becomes; /* NULL: it is unknown */
} cases[] = {
	{ "vt100", "vt100" },
	{ "xterm-256color", "xterm-256color" },
	{ "xterm-kitty", "xterm-256color" },
	{ "alacritty-direct", "xterm-256color" },
	{ "foot", "xterm-256color" },
	{ "wyse50", NULL },
	{ "xtermish", NULL },
	{ "dumb", NULL },
};

Test(terminal_type, those_like_xterm_are_taken_for_it)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found;

		setenv("TERM", cases[i].term, 1);
		found = terminal_type_find(cases[i].term, knows_two);
		cr_expect_eq(found, cases[i].becomes != NULL, "%s", cases[i].term);
		cr_expect_str_eq(getenv("TERM"), found ? cases[i].becomes : cases[i].term);
	}
}

Test(terminal_type, without_any_entry_nothing_is_known)
{
	setenv("TERM", "xterm-kitty", 1);
	cr_expect(!terminal_type_find("xterm-kitty", knows_none));
	cr_expect_str_eq(getenv("TERM"), "xterm-kitty");
}
