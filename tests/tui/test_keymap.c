/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "tui/contract/keymap.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

#define TREE_CONTEXTS (IN_LIST | IN_TREE)

Test(keymap, key_names)
{
	static const struct {
		const char *in;
		uint32_t key;
		const char *rest, *name; /* what is left; how the key is called again */
	} cases[] = {
		{ "j", 'j', "", "j" },
		{ "jk", 'j', "k", "j" },
		{ "^Dx", 4, "x", "^D" },
		{ "^d", '^', "d", "^" },
		{ "^", '^', "", "^" },
		{ "<Caret>D", '^', "D", "^" },
		{ "^M", KEYCODE_ENTER, "", "<Enter>" },
		{ "^J", KEYCODE_ENTER, "", "<Enter>" },
		{ "\n", KEYCODE_ENTER, "", "<Enter>" },
		{ "^I", KEYCODE_TAB, "", "<Tab>" },
		{ "^H", KEYCODE_BACKSPACE, "", "<Backspace>" },
		{ "<Enter>j", KEYCODE_ENTER, "j", "<Enter>" },
		{ "<Down>", KEYCODE_DOWN, "", "<Down>" },
		{ "<S-Tab>", KEYCODE_S_TAB, "", "<S-Tab>" },
		{ "<F12>", KEYCODE_F12, "", "<F12>" },
		{ "<Space>", ' ', "", "<Space>" },
		{ " ", ' ', "", "<Space>" },
		{ "<lt>a", '<', "a", "<lt>" },
		{ "é!", 0xe9, "!", "é" },
		{ "漢", 0x6f22, "", "漢" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		const char *at = cases[i].in;
		char name[KEYCODE_NAME_SIZE];
		uint32_t key = keycode_take(&at, NULL);

		cr_assert_eq(key, cases[i].key, "%s: %x", cases[i].in, key);
		cr_assert_str_eq(at, cases[i].rest, "%s", cases[i].in);
		cr_assert_str_eq(keycode_name(key, name), cases[i].name, "%s: %s", cases[i].in,
				 name);
	}
}

Test(keymap, bad_key_names)
{
	static const char *const cases[] = { "<Nope>", "<", "<enter", "<>", "<Down", "<down>" };

	for (size_t i = 0; i < N(cases); i++) {
		const char *at = cases[i];
		struct err e = ERR_INIT;

		cr_assert_eq(keycode_take(&at, &e), (uint32_t)KEYCODE_NONE, "%s", cases[i]);
		cr_assert_eq(e.code, -EINVAL, "%s", cases[i]);
		err_clear(&e);
	}
}

Test(keymap, names_without_brackets)
{
	static const struct {
		const char *keys, *name; /* NULL: none */
	} cases[] = {
		{ "p Enter", "Enter" },
		{ "Down", "Down" },
		{ "j  Esc q", "Esc" },
		{ "F1 j", "F1" },
		{ "", NULL },
		{ "jj<Enter>", NULL },
		{ "p <Enter>", NULL },
		{ "/Enter", NULL },
		{ "/a lt b<Enter>", NULL },
		{ "/Entering it", NULL },
		{ "/End<Enter>", NULL },
		{ " ", NULL },
	};

	for (size_t i = 0; i < N(cases); i++) {
		const char *name = keycode_bare_name(cases[i].keys);

		cr_assert((name == NULL) == (cases[i].name == NULL), "%s", cases[i].keys);
		if (name)
			cr_assert_str_eq(name, cases[i].name, "%s", cases[i].keys);
	}
}

/* Every name that is printed can be read again; no two keys of one place do different things. */
Test(keymap, the_table_is_sound)
{
	static const struct {
		enum view_kind view;
		uint32_t contexts;
	} places[] = {
		{ VIEW_KIND_TOP, IN_LIST | IN_TOP },
		{ VIEW_KIND_TREE, TREE_CONTEXTS },
		{ VIEW_KIND_BUTTERFLY, IN_LIST | IN_BFLY },
		{ VIEW_KIND_FLAME, IN_FLAME },
		{ VIEW_KIND_INFO, IN_TEXT },
	};
	struct keymap none = { .n = 0 };

	for (size_t p = 0; p < N(places); p++)
		for (int a = ACTION_NONE + 1; a < N_ACTIONS; a++) {
			char keys[64], *one, *save;

			if (!(action_where((enum action)a) & places[p].contexts))
				continue;
			keymap_keys(&none, places[p].view, places[p].contexts, (enum action)a, keys,
				    sizeof(keys));
			cr_assert(keys[0] != '\0', "%s has no key there: another one took it",
				  action_name((enum action)a));
			for (one = strtok_r(keys, " ", &save); one;
			     one = strtok_r(NULL, " ", &save)) {
				const char *at = one;
				uint32_t key = keycode_take(&at, NULL);

				cr_assert_eq((int)keymap_find(&none, places[p].view,
							      places[p].contexts, key),
					     a, "%s", one);
			}
		}
}

Test(keymap, user_bindings)
{
	struct keymap m = { .n = 0 };
	struct err e = ERR_INIT;
	char keys[64];

	cr_assert_eq(keymap_bind(&m, "tree", "x", "hot-path", &e), 0, "%s", err_text(&e));
	cr_assert_eq(keymap_bind(&m, "all", "<F2>", "down", &e), 0);
	cr_assert_eq(keymap_bind(&m, "all", "j", "none", &e), 0);
	cr_assert_eq(keymap_bind(&m, "top", "j", "down", &e), 0);
	cr_assert_eq((int)keymap_find(&m, VIEW_KIND_TREE, TREE_CONTEXTS, 'x'), ACTION_HOT_PATH);
	cr_assert_eq((int)keymap_find(&m, VIEW_KIND_CALLERS, TREE_CONTEXTS, 'x'), ACTION_NONE);
	cr_assert_eq((int)keymap_find(&m, VIEW_KIND_TREE, TREE_CONTEXTS, 'j'), ACTION_NONE);
	cr_assert_eq((int)keymap_find(&m, VIEW_KIND_TOP, IN_LIST, 'j'), ACTION_DOWN);
	cr_assert_eq((int)keymap_find(&m, VIEW_KIND_INFO, IN_TEXT, KEYCODE_F2), ACTION_DOWN);
	keymap_keys(&m, VIEW_KIND_TREE, TREE_CONTEXTS, ACTION_DOWN, keys, sizeof(keys));
	cr_assert_str_eq(keys, "<F2> <Down> ^N", "%s", keys);
	keymap_keys(&m, VIEW_KIND_TREE, TREE_CONTEXTS, ACTION_HOT_PATH, keys, sizeof(keys));
	cr_assert_str_eq(keys, "x e", "%s", keys);
	/* an action that means nothing there does nothing */
	cr_assert_eq(keymap_bind(&m, "info", "x", "hot-path", &e), 0);
	cr_assert_eq((int)keymap_find(&m, VIEW_KIND_INFO, IN_TEXT, 'x'), ACTION_NONE);
	/* the newest wins */
	cr_assert_eq(keymap_bind(&m, "tree", "x", "close", &e), 0);
	cr_assert_eq((int)keymap_find(&m, VIEW_KIND_TREE, TREE_CONTEXTS, 'x'), ACTION_CLOSE);
	keymap_done(&m);
}

Test(keymap, bad_bindings)
{
	static const struct {
		const char *view, *key, *action, *error;
	} cases[] = {
		{ "trees", "x", "down", "no view is called 'trees'" },
		{ "tree", "<X>", "down", "no key is called <X>" },
		{ "tree", "xy", "down", "more than one key" },
		{ "tree", "", "down", "no key" },
		{ "tree", "x", "dwn", "no action is called 'dwn'" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct keymap m = { .n = 0 };
		struct err e = ERR_INIT;

		cr_assert_eq(keymap_bind(&m, cases[i].view, cases[i].key, cases[i].action, &e),
			     -EINVAL);
		cr_assert(strstr(err_text(&e), cases[i].error), "%s", err_text(&e));
		cr_assert_eq(m.n, (size_t)0);
		err_clear(&e);
		keymap_done(&m);
	}
}
