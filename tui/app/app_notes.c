/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "notebook/notebook.h"
#include "query/analysis.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_prompt.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/contract/keymap.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/rows/row_note.h"

/* Columns of the name in front of the line, at least, and of a screen that has no room for more words. */
#define LEAST_COLS  8
#define NARROW_COLS 60

static void clear(struct keeping *k)
{
	for (int i = 0; i < k->n_on; i++)
		note_done(&k->on[i]);
	k->n_on = k->which = 0;
	free(k->label);
	k->label = NULL;
}

void app_notes_done(struct app *a)
{
	clear(&a->keeping);
}

static void add(struct keeping *k, const char *of, char *name, const char *module)
{
	k->on[k->n_on++] = (struct note){
		.of = xstrdup(of),
		.name = name,
		.module = module && *module ? xstrdup(module) : NULL,
	};
}

/* The node of the call tree that is selected. */
static void add_node(struct app *a, struct keeping *k, uint32_t key, uint64_t path)
{
	const struct calltree *t = path ? analysis_tree(a->analysis) : NULL;
	uint32_t node = t ? calltree_find(t, key, path) : KEY_NONE;

	if (node != KEY_NONE)
		add(k, NOTE_OF_NODE, row_path_term(&a->analysis->keys, t, node, TERM_FOCUS_PATH),
		    NULL);
}

/* What a note on the selected row may be on: its key first, then its node or site. False: nothing. */
static bool find_subjects(struct app *a, struct keeping *k)
{
	struct step here = app_here(a);
	bool of_rows = app_ops(a)->contexts & IN_TOP &&
		       a->analysis->table_keys != &a->analysis->keys;
	const struct groups *keys = of_rows ? a->analysis->table_keys : &a->analysis->keys;
	uint32_t key = here.has_place && here.place.key_id != ID_NONE
			       ? row_key_of_id(keys, here.place.key_id)
			       : KEY_NONE;
	char *site;

	if (key == KEY_NONE)
		return false;
	add(k, row_note_kind(keys, key), xstrdup(keys->key[key].label), keys->key[key].module);
	site = app_ops(a)->site ? app_ops(a)->site(app_state(a), &a->scene) : NULL;
	if (site && *site)
		add(k, NOTE_OF_SITE, row_note_site_name(&keys->key[key], site),
		    keys->key[key].module);
	else if (!of_rows)
		add_node(a, k, key, here.place.path);
	free(site);
	return true;
}

/* The note there is on one of what it may be on; one of another file that is open is not to be changed here. */
static const struct note *note_on(const struct app *a, int which)
{
	const struct note *on = &a->keeping.on[which];
	const struct note *note = notebook_note(a->notebook, on->of, on->name, on->module);

	return note && notebook_is_others(a->notebook, note) ? NULL : note;
}

static void label_prompt(struct app *a)
{
	struct keeping *k = &a->keeping;
	const struct note *on = &k->on[k->which];
	bool narrow = k->which > 0;
	const char *front = a->cols < NARROW_COLS ? !narrow ? "note on " : "note on this "
			    : !narrow             ? "note on "
			    : strcmp(on->of, NOTE_OF_SITE) == 0 ? "note on this site of "
								: "note on this node of ";
	int cols = a->cols / 2 - (int)strlen(front);
	char *name = name_in_row(k->on[0].name, cols > LEAST_COLS ? cols : LEAST_COLS, false);

	free(k->label);
	k->label = xasprintf("%s%s: ", front, name);
	a->prompt.label = k->label;
	free(name);
}

/* What is there so far, to go on from. */
static void take_text(struct app *a)
{
	const struct note *note = note_on(a, a->keeping.which);

	prompt_set(&a->prompt, note && note->text ? note->text : "");
	a->prompt.touched = true;
}

void app_notes_open(struct app *a)
{
	struct keeping *k = &a->keeping;

	clear(k);
	if (!a->notebook || !a->notebook->path[PAGE_BESIDE])
		app_say(a, false,
			"what is shown is no file, so that no note can be kept beside it");
	else if (!find_subjects(a, k))
		app_say(a, false, "no row is selected that a note could be on");
	else {
		/* That which is there is the one to change. */
		k->which = k->n_on > 1 && note_on(a, 1) ? 1 : 0;
		app_prompt_open(a, PROMPT_NOTE);
		label_prompt(a);
		take_text(a);
	}
}

static void save(struct app *a)
{
	struct keeping *k = &a->keeping;
	struct note *n = &k->on[k->which];
	bool was = note_on(a, k->which) != NULL, gone = a->prompt.n == 0;
	const char *path = NULL;
	struct err e = ERR_INIT;

	n->text = xstrdup(a->prompt.text);
	if (gone && !was)
		app_say(a, false, "nothing noted");
	else if (notebook_put_note(a->notebook, n, &path, &e))
		app_say(a, true, err_text(&e));
	else
		app_say_owned(a, false,
			      xasprintf(gone ? "the note is gone from %s" : "noted in %s",
					path ? path : ""));
	err_clear(&e);
	app_scene_changed(a);
}

void app_notes_key(struct app *a, uint32_t key)
{
	struct keeping *k = &a->keeping;

	if (key == KEYCODE_TAB) {
		const struct note *old = note_on(a, k->which);
		bool typed = strcmp(a->prompt.text, old ? old->text : "") != 0;

		if (k->n_on == 1) {
			app_say(a, false, "this row stands for one thing only");
			return;
		}
		k->which = (k->which + 1) % k->n_on;
		label_prompt(a);
		if (!typed) /* what was typed is for either */
			take_text(a);
		return;
	}
	switch (prompt_key(&a->prompt, key)) {
	case PROMPT_UNCHANGED:
	case PROMPT_CHANGED:
		break;
	case PROMPT_DONE:
		save(a);
		app_prompt_close(a);
		clear(k);
		break;
	case PROMPT_CANCELLED:
		/* Backspace on nothing is on the way to nothing, which Enter saves. */
		if (key == KEYCODE_BACKSPACE)
			break;
		app_prompt_close(a);
		clear(k);
		break;
	}
}

char *app_notes_text(struct app *a)
{
	struct keeping k = { .n_on = 0 };
	const struct note *note = NULL;
	char *text = NULL;

	if (!notebook_has_notes(a->notebook) || !(app_ops(a)->contexts & IN_FRAMES))
		return NULL;
	find_subjects(a, &k);
	for (int i = k.n_on; i-- > 0 && !note;)
		note = notebook_note(a->notebook, k.on[i].of, k.on[i].name, k.on[i].module);
	if (note)
		text = text_clean(note->text, strlen(note->text), false);
	clear(&k);
	return text;
}
