/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Letters and meanings are those of Firefox Profiler where it has such a transform. Each adds one term to the filter, which
 * the menu shows, so that one learns to type it; a step back takes it away.
 */
#include "config.h"

#include "tui/app/app_menu.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "tui/app/app_history.h"
#include "tui/app/app_hints.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/contract/keymap.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"

/* What a term is made of. */
enum subject {
	OF_FUNCTION, /* kind:^name$ */
	OF_MODULE,   /* the same of the module */
	OF_PATH,     /* kind:A;B;C, of a node */
	OF_NOTHING   /* the term as it is */
};

/* X(key, term or its kind, what it is made of, what it does) */
/* clang-format off */
#define MENU(X) \
	X('f', "focus",           OF_FUNCTION, "focus on it: stacks begin with it") \
	X('F', "focus-path",      OF_PATH,     "focus on this node: only what comes through here") \
	X('s', "leaf",            OF_FUNCTION, "only samples that end in it: its self") \
	X('g', "focus-module",    OF_MODULE,   "focus on its module: others go to their callers") \
	X('d', "!fn",             OF_FUNCTION, "drop it: samples that have it are left out") \
	X('m', "merge",           OF_FUNCTION, "merge it: its cost goes to its callers") \
	X('M', "merge-path",      OF_PATH,     "merge this node only") \
	X('c', "collapse",        OF_FUNCTION, "collapse it: what it calls is part of it") \
	X('C', "collapse-module", OF_MODULE,   "collapse its module: runs of its frames are one") \
	X('r', "recursion:all",   OF_NOTHING,  "collapse recursion of all functions") \
	X('R', "recursion:direct", OF_NOTHING, "collapse direct recursion only") \
	X('a', "!is:alloc",       OF_NOTHING,  "leave out the allocator: samples that are in it") \
	X('i', "!is:idle",        OF_NOTHING,  "leave out idle processors")
/* clang-format on */

static const struct {
	uint32_t key;
	const char *kind;
	enum subject of;
	const char *help;
} entries[] = {
#define X(key, kind, of, help) { key, kind, of, help },
	MENU(X)
#undef X
};

#define N_ENTRIES ((int)(sizeof(entries) / sizeof(entries[0])))

/* Columns of the key in front, and of the sentence, behind which the term stands. */
#define KEY_COLS  5
#define HELP_COLS 50

/* Rows from which on the last one has the selected entry's term in full. */
#define ROWS_WITH_TERM 6

/* kind:"^name$", quoted as needed; the caller frees. */
static char *exactly(const char *kind, const char *name)
{
	char *regex = filter_exact(name), *value = filter_quote(regex);
	char *term = xasprintf("%s:%s", kind, value);

	free(regex);
	free(value);
	return term;
}

static uint32_t selected_key(struct app *a, struct step *here)
{
	*here = app_here(a);
	if (!here->has_place || here->place.key_id == ID_NONE ||
	    app_ops(a)->contexts & (IN_TASKS | IN_FINDINGS | IN_TEXT))
		return KEY_NONE;
	return row_key_of_id(&a->analysis->keys, here->place.key_id);
}

/* The names from the root to the selected node, or NULL where no node is selected; the caller frees. */
static char *path_term(struct app *a, const char *kind, const struct step *here, uint32_t key)
{
	const struct groups *keys = &a->analysis->keys;
	const struct calltree *t = analysis_tree(a->analysis);
	uint32_t node = here->place.path && t ? calltree_find(t, key, here->place.path) : KEY_NONE;

	if (node == KEY_NONE)
		return NULL;
	return row_path_term(keys, t, node,
			     strcmp(kind, "merge-path") == 0 ? TERM_MERGE_PATH : TERM_FOCUS_PATH);
}

static const char *module_of(const struct app *a, const struct key *k)
{
	const struct profile *p = a->analysis->profile;
	module_id m = { k->id & ~KEY_OF_MODULE };

	if (!(k->id & KEY_OF_MODULE))
		m = profile_function(p, (function_id){ k->id })->module;
	return profile_string(p, profile_module(p, m)->name, NULL);
}

/* Of thread names, which are no functions. */
static char *thread_term(const struct key *k, int i)
{
	if (entries[i].key == 'f')
		return exactly("comm", k->label);
	return entries[i].key == 'd' ? exactly("!comm", k->label) : NULL;
}

/* The term of an entry for the selected row, or NULL where it means nothing there; the caller frees. */
static char *term_of(struct app *a, int i)
{
	struct step here;
	uint32_t key = selected_key(a, &here);
	const struct key *k;
	bool modules = a->analysis->keys.grouping == GROUP_MODULE;

	if (entries[i].of == OF_NOTHING)
		return xstrdup(entries[i].kind);
	if (key == KEY_NONE)
		return NULL;
	k = &a->analysis->keys.key[key];
	if (k->flags & FUNCTION_COMM)
		return entries[i].of == OF_PATH ? path_term(a, entries[i].kind, &here, key)
						: thread_term(k, i);
	switch (entries[i].of) {
	case OF_FUNCTION:
		if (modules)
			return entries[i].key == 'd' ? exactly("!module", module_of(a, k)) : NULL;
		return exactly(entries[i].kind, k->label);
	case OF_MODULE:
		return *module_of(a, k) ? exactly(entries[i].kind, module_of(a, k)) : NULL;
	case OF_PATH:
		return modules ? NULL : path_term(a, entries[i].kind, &here, key);
	case OF_NOTHING:
		break;
	}
	return NULL;
}

void app_menu_open(struct app *a)
{
	struct step here;
	enum grouping g = a->analysis->keys.grouping;
	bool of_rows = app_ops(a)->contexts & IN_TOP &&
		       a->analysis->table_keys != &a->analysis->keys;

	if (of_rows || (g != GROUP_FUNCTION && g != GROUP_MODULE))
		app_say(a, false,
			"these rows are no functions: o groups by function, Enter shows one row alone");
	else if (selected_key(a, &here) == KEY_NONE)
		app_say(a, false, "no function is selected");
	else
		a->menu = (struct menu){ .open = true };
}

static void do_entry(struct app *a, int i)
{
	char *term = term_of(a, i);

	if (term)
		app_narrow_here(a, term);
	else
		app_say(a, false,
			entries[i].of == OF_PATH
				? "that is of a node: the call tree (2) and the flame graph (5) have nodes"
				: "that means nothing for this row");
	free(term);
}

/* The menu stays open; what terminals send by themselves is no such key. */
static void say_no_entry(struct app *a, uint32_t key)
{
	char name[KEYCODE_NAME_SIZE], close[APP_KEYS_SIZE];

	if (key == KEYCODE_NONE)
		return;
	app_first_key(a, ACTION_BACK, close);
	app_say_owned(
		a, false,
		xasprintf("%s is not in this menu; %s closes it", keycode_name(key, name), close));
}

void app_menu_key(struct app *a, uint32_t key)
{
	struct menu *m = &a->menu;
	enum action action;

	a->changed = true;
	for (int i = 0; i < N_ENTRIES; i++) {
		if (entries[i].key != key)
			continue;
		m->open = false;
		do_entry(a, i);
		return;
	}
	action = keymap_find(&a->settings->keymap, a->view, app_contexts(a), key);
	if (action == ACTION_DOWN)
		m->cursor = (m->cursor + 1) % N_ENTRIES;
	else if (action == ACTION_UP)
		m->cursor = (m->cursor + N_ENTRIES - 1) % N_ENTRIES;
	else if (action == ACTION_ENTER || action == ACTION_BACK || action == ACTION_QUIT ||
		 action == ACTION_QUIT_ALL || action == ACTION_MENU)
		m->open = false;
	else
		say_no_entry(a, key);
	if (action == ACTION_ENTER)
		do_entry(a, m->cursor);
	if (action == ACTION_QUIT_ALL)
		a->over = true;
}

/* What there is no room for ends in "…". */
static void put_cut(struct canvas *c, int row, int col, int room, const char *text)
{
	canvas_puts(c, row, col, room, STYLE_DIM, text);
	if (text_width(text, strlen(text)) > (size_t)room && room > 0)
		canvas_puts(c, row, col + room - 1, 1, STYLE_DIM, c->ascii ? "~" : "…");
}

/* The term that the selected entry would add, in full: what is cut cannot be learned. */
static void draw_term(struct app *a, struct canvas *c, struct rect r, int row)
{
	char *term = term_of(a, a->menu.cursor);
	char *clean = term ? text_clean(term, strlen(term), c->ascii) : NULL;
	int col = r.col + 2;

	if (clean) {
		col += canvas_puts(c, row, col, r.cols - 2, STYLE_DIM, "Enter adds  ");
		put_cut(c, row, col, r.cols - (col - r.col) - 1, clean);
	} else {
		canvas_puts(c, row, col, r.cols - 2, STYLE_DIM, "means nothing for this row");
	}
	free(clean);
	free(term);
}

/* What an entry does; where that is too long, what stands before its colon. The caller frees. */
static char *help_of(int i, int cols)
{
	const char *help = entries[i].help;

	return text_width(help, strlen(help)) > (size_t)(cols > 0 ? cols : 0)
		       ? xstrndup(help, strcspn(help, ":"))
		       : xstrdup(help);
}

static void draw_entry(struct app *a, struct canvas *c, struct rect r, int line, int i)
{
	uint16_t selected = i == a->menu.cursor ? STYLE_SELECTED : 0;
	char *term = term_of(a, i), *clean = term ? text_clean(term, strlen(term), c->ascii) : NULL;
	uint16_t style = (uint16_t)((term ? STYLE_NORMAL : STYLE_DIM) | selected);
	char *help = help_of(i, r.cols - KEY_COLS);
	int row = r.row + line;

	canvas_printf(c, row, r.col + 2, KEY_COLS - 2, (uint16_t)(STYLE_HINT_KEY | selected), "%c",
		      (int)entries[i].key);
	canvas_puts(c, row, r.col + KEY_COLS, r.cols - KEY_COLS, style, help);
	if (clean && r.cols > KEY_COLS + HELP_COLS + 8)
		put_cut(c, row, r.col + KEY_COLS + HELP_COLS, r.cols - KEY_COLS - HELP_COLS - 1,
			clean);
	if (selected) {
		c->cursor_row = row;
		c->cursor_col = r.col + 2;
	}
	free(help);
	free(clean);
	free(term);
}

void app_draw_menu(struct app *a, struct canvas *c, struct rect r)
{
	bool with_term = r.rows >= ROWS_WITH_TERM;
	int most = N_ENTRIES + 1 + with_term, rows = most < r.rows ? most : r.rows;
	int shown = rows - 1 - with_term, first = 0;
	struct step here;
	uint32_t key = selected_key(a, &here);
	struct rect box = { r.row + r.rows - rows, r.col, rows, r.cols };
	char *more, *name;

	if (rows < 2 || key == KEY_NONE)
		return;
	if (a->menu.cursor >= shown)
		first = a->menu.cursor - shown + 1;
	for (int i = 0; i < rows; i++)
		canvas_fill(c, box.row + i, box.col, box.cols, STYLE_NORMAL, ' ');
	more = shown < N_ENTRIES ? xasprintf("  %d-%d of %d ", first + 1, first + shown, N_ENTRIES)
				 : xstrdup("");
	name = name_in_row(a->analysis->keys.key[key].label,
			   box.cols - 1 - (int)strlen("WITH ") - (int)strlen(more), c->ascii);
	canvas_printf(c, box.row, box.col + 1, box.cols - 1, STYLE_HEADER_SORTED, "WITH %s", name);
	canvas_puts_right(c, box.row, box.col, box.cols, STYLE_DIM, more);
	free(name);
	free(more);
	for (int i = 0; i < shown; i++)
		draw_entry(a, c, box, i + 1, first + i);
	if (with_term)
		draw_term(a, c, box, box.row + rows - 1);
}
