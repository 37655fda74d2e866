/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys: their codes and names, and what they do where.
 *
 * A key is a code point, a control character (^D is 4), or one of KEYCODE_… above Unicode. Names are
 * those of the config file and of --keys: j ^D <Down> <S-Tab> <F4> <Space> <lt>.
 */
#ifndef PROFTOP_TUI_CONTRACT_KEYMAP_H
#define PROFTOP_TUI_CONTRACT_KEYMAP_H

#include "tui/contract/actions.h"
#include "tui/contract/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;

/* X(enum, name between < and >). */
/* clang-format off */
#define NAMED_KEYS(X) \
	X(UP,        "Up") \
	X(DOWN,      "Down") \
	X(LEFT,      "Left") \
	X(RIGHT,     "Right") \
	X(HOME,      "Home") \
	X(END,       "End") \
	X(PAGE_UP,   "PageUp") \
	X(PAGE_DOWN, "PageDown") \
	X(INSERT,    "Insert") \
	X(DELETE,    "Delete") \
	X(S_TAB,     "S-Tab") \
	X(F1,        "F1") \
	X(F2,        "F2") \
	X(F3,        "F3") \
	X(F4,        "F4") \
	X(F5,        "F5") \
	X(F6,        "F6") \
	X(F7,        "F7") \
	X(F8,        "F8") \
	X(F9,        "F9") \
	X(F10,       "F10") \
	X(F11,       "F11") \
	X(F12,       "F12")
/* clang-format on */

enum {
	KEYCODE_NONE = 0, /* no key; also what a bad name gives */
	KEYCODE_TAB = 0x09,
	KEYCODE_ENTER = 0x0d,
	KEYCODE_ESC = 0x1b,
	KEYCODE_BACKSPACE = 0x7f,
	KEYCODE_NAMED = 0x110000,
#define X(name, text) KEYCODE_##name,
	NAMED_KEYS(X)
#undef X
};

/* The code of control and a letter: KEYCODE_CTRL('D'). */
#define KEYCODE_CTRL(c) ((uint32_t)(c)&0x1fu)

/*
 * Takes the first key off *keys ("jj<Enter>^D"), where keys simply follow each other. KEYCODE_NONE at
 * the end, and, with a sentence in e, for a name that is none. '^' and a capital is a control key, '^'
 * before anything else is itself.
 */
uint32_t keycode_take(const char **keys, struct err *e);

/*
 * The first key name that stands in keys as a word between blanks and without its < and >: "p Enter" is
 * seven letters and a blank. Static, or NULL.
 */
const char *keycode_bare_name(const char *keys);

#define KEYCODE_NAME_SIZE 16
/* The key's name, as keycode_take() reads it. Returns out. */
const char *keycode_name(uint32_t key, char out[KEYCODE_NAME_SIZE]);

/* What the table says of an action. Borrowed, static. */
const char *action_name(enum action a);
const char *action_help(enum action a);
/* "" when it is not for the last line. */
const char *action_hint(enum action a);
/* The same in a view of these contexts, in its own words. */
const char *action_help_in(enum action a, uint32_t contexts);
const char *action_hint_in(enum action a, uint32_t contexts);
/* IN_…: where it works. */
uint32_t action_where(enum action a);

struct binding {
	uint32_t key;       /* KEYCODE_… or a code point */
	int view;           /* enum view_kind, -1: all */
	enum action action; /* ACTION_NONE: the key does nothing */
};

/* The user's bindings, oldest first, over those of the table. Zeroed: the table alone. */
struct keymap {
	struct binding *at; /* owned */
	size_t n, cap;
};

void keymap_done(struct keymap *m);

/*
 * Binds a key by names: view ("all" or a view's), key, action ("none" unbinds). 0, or -EINVAL with a
 * sentence.
 */
int keymap_bind(struct keymap *m, const char *view, const char *key, const char *action,
		struct err *e);

/* What key does in a view of these contexts: the user's own for that view, for all, the table's. */
enum action keymap_find(const struct keymap *m, enum view_kind view, uint32_t contexts,
			uint32_t key);

/* The keys that do `a` there: "j <Down> ^N", at most size bytes with its NUL. Returns out. */
const char *keymap_keys(const struct keymap *m, enum view_kind view, uint32_t contexts,
			enum action a, char *out, size_t size);

/* doc/keys.md, from the table alone. */
void keymap_write_markdown(FILE *to);

#endif
