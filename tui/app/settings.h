/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The user's config file: read, never written.
 *
 *   set name = value        one of SETTINGS; a value may be "quoted"
 *   bind view key action    view may be all; keys and actions as in doc/keys.md, action may be none
 *   # comment
 */
#ifndef PROFTOP_TUI_APP_SETTINGS_H
#define PROFTOP_TUI_APP_SETTINGS_H

#include "tui/app/tui.h"
#include "tui/contract/keymap.h"

#include <stdbool.h>

struct err;

/* X(field, name, kind, default, help); kind: BOOL, COLOUR or TEXT */
/* clang-format off */
#define SETTINGS(X) \
	X(colour,    "colour",    COLOUR, COLOUR_AUTO, "auto, never, 8, 16 or 256") \
	X(ascii,     "ascii",     BOOL,   false,       "draw with ASCII only") \
	X(mouse,     "mouse",     BOOL,   true,        "take the mouse; Shift still selects text") \
	X(hints,     "hints",     BOOL,   true,        "keys in the last line") \
	X(percent,   "percent",   BOOL,   true,        "shares rather than numbers in their unit") \
	X(wide,      "wide",      BOOL,   false,       "names in full") \
	X(sync,      "sync",      BOOL,   true,        "synchronized output where the terminal may know it") \
	X(focus,     "focus",     BOOL,   true,        "live is still while its terminal is not the one that keys go to") \
	X(cache,     "cache",     BOOL,   true,        "files that take long to read leave an index in $XDG_CACHE_HOME/proftop") \
	X(view,      "view",      TEXT,   NULL,        "name of the first view") \
	X(clipboard, "clipboard", TEXT,   NULL,        "command that takes what is copied, instead of OSC 52")
/* clang-format on */

struct settings {
	enum colour_mode colour; /* --color's choice unless that was given */
	bool ascii;
	bool mouse;
	bool hints;
	bool percent;
	bool wide;
	bool sync;
	bool focus;
	bool cache;
	char *view;           /* NULL: none; owned */
	char *clipboard;      /* NULL: none; owned */
	struct keymap keymap; /* what was bound */
};

void settings_init(struct settings *s);
void settings_done(struct settings *s);

/*
 * Applies n bytes of a config file called name. Lines that are wrong are left out; they make -EINVAL and
 * "NAME:LINE: …" of the first of them, with the numbers of the others behind it.
 */
int settings_parse(struct settings *s, const char *text, size_t n, const char *name, struct err *e);

/*
 * Reads a file. 0, also when path is NULL (then it is $XDG_CONFIG_HOME/proftop/config or
 * ~/.config/proftop/config) and there is none; -errno with a sentence.
 */
int settings_read(struct settings *s, const char *path, struct err *e);

#endif
