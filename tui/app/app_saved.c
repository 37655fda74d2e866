/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_saved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "notebook/notebook.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/regex.h"
#include "tui/app/app_history.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_prompt.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/contract/keymap.h"
#include "tui/rows/row.h"

/* Columns of a name in the list, and of whose the view is. */
#define NAME_COLS  24
#define WHOSE_COLS 11

void app_saved_want(struct app *a, const char *sort, const char *function, const char *zoom)
{
	free(a->wanted.sort);
	free(a->wanted.function);
	free(a->wanted.zoom);
	a->wanted = (struct wanted){ .sort = sort ? xstrdup(sort) : NULL,
				     .function = function ? xstrdup(function) : NULL,
				     .zoom = zoom ? xstrdup(zoom) : NULL };
}

static bool select_function(struct app *a, const char *pattern)
{
	const struct groups *keys = &a->analysis->keys;
	struct regex *regex = regex_new(pattern, NULL);
	struct step there = { .view = a->view, .has_place = true };
	bool found = false;

	for (uint32_t i = 0; regex && i < keys->n && !found; i++) {
		const char *label = keys->key[i].label;

		found = regex_matches(regex, label, strlen(label));
		there.place = (struct place){ .key_id = keys->key[i].id };
	}
	regex_free(regex);
	if (found)
		app_select(a, &there);
	return found;
}

void app_saved_land(struct app *a)
{
	struct wanted *w = &a->wanted;

	if (a->analysis->profile != a->source->profile || a->analysis->counts.n_samples == 0)
		return;
	if (w->sort && app_ops(a)->sort)
		app_ops(a)->sort(app_state(a), &a->scene, w->sort);
	free(w->sort);
	w->sort = NULL;
	if (w->zoom && app_ops(a)->zoom_to &&
	    (app_ops(a)->zoom_to(app_state(a), &a->scene, w->zoom) || !a->loading)) {
		free(w->zoom);
		w->zoom = NULL;
	}
	if (w->function && (select_function(a, w->function) || !a->loading)) {
		free(w->function);
		w->function = NULL;
	}
}

static int n_views(const struct app *a)
{
	size_t n = 0;

	for (int i = 0; i < N_PAGES; i++)
		n += a->notebook->page[i].views.n;
	return (int)n;
}

/* The view of an entry of the list; *where is whose it is. */
static const struct saved_view *view_at(const struct app *a, int entry, enum notebook_page *where)
{
	size_t at = (size_t)entry;

	for (int i = 0; i < N_PAGES; at -= a->notebook->page[i++].views.n)
		if (at < a->notebook->page[i].views.n) {
			*where = (enum notebook_page)i;
			return &a->notebook->page[i].views.at[at];
		}
	return NULL;
}

void app_saved_open(struct app *a)
{
	if (!a->notebook)
		app_say(a, false, "views cannot be saved here");
	else
		a->menu = (struct menu){ .open = true, .of_views = true };
	if (a->notebook && a->notebook->complaint)
		app_say(a, true, a->notebook->complaint);
}

static bool find_view(const struct app *a, const char *word, enum view_kind *out)
{
	for (int i = 0; i < N_VIEW_KINDS; i++)
		if (strcmp(views[i]->name, word) == 0) {
			*out = (enum view_kind)i;
			return app_has_view(a, *out);
		}
	return false;
}

/* Which metric a view wants: *has says whether it wants one. */
static int find_metric(const struct app *a, const struct saved_view *v, bool *has,
		       struct metric *out, struct err *e)
{
	const struct profile *p = a->source->profile;

	*has = v->event || v->metric;
	*out = a->lens.column[0].metric;
	if (v->event)
		return metric_find(p, v->event, v->metric ? v->metric : "", out, e);
	return v->metric ? metric_find_measure(p, v->metric, out, e) : 0;
}

/* Shows it in place of what is shown; Esc goes back to that. */
static int show(struct app *a, const struct saved_view *v, struct err *e)
{
	enum grouping grouping = GROUP_FUNCTION;
	enum view_kind view = a->view;
	struct metric metric;
	bool has_metric;
	int rc;

	if (v->group && !grouping_find(v->group, &grouping))
		return err_set(e, -EINVAL, "rows cannot be grouped by \"%s\"", v->group);
	if (v->view && !find_view(a, v->view, &view))
		return err_set(e, -EINVAL, "this profile has no view \"%s\"", v->view);
	rc = find_metric(a, v, &has_metric, &metric, e);
	if (rc)
		return rc;
	app_saved_want(a, v->sort, v->function, v->zoom);
	return app_show_instead(a,
				&(struct instead){ .terms = v->filter ? v->filter : "",
						   .view = view,
						   .grouping = grouping,
						   .metric = has_metric ? &metric : NULL },
				e);
}

static void show_entry(struct app *a)
{
	enum notebook_page where;
	const struct saved_view *v = view_at(a, a->menu.cursor, &where);
	struct err e = ERR_INIT;

	if (!v) {
		app_say(a, false,
			"no view is saved yet: s in the list of views saves what is shown");
		return;
	}
	if (show(a, v, &e))
		app_say_owned(a, true, xasprintf("view %s: %s", v->name, err_text(&e)));
	else
		app_say_owned(a, false, xasprintf("view %s", v->name));
	err_clear(&e);
}

/* Asks once. */
static void delete_entry(struct app *a)
{
	struct menu *m = &a->menu;
	enum notebook_page where;
	const struct saved_view *v = view_at(a, m->cursor, &where);
	struct err e = ERR_INIT;
	char *name;

	if (!v)
		return;
	if (!m->asked) {
		m->asked = true;
		app_say_owned(a, false, xasprintf("d again deletes the view %s", v->name));
		return;
	}
	name = xstrdup(v->name);
	m->asked = false;
	if (notebook_drop_view(a->notebook, name, where, &e))
		app_say(a, true, err_text(&e));
	else
		app_say_owned(a, false, xasprintf("view %s deleted", name));
	if (m->cursor > 0 && m->cursor >= n_views(a))
		m->cursor--;
	err_clear(&e);
	free(name);
}

static void label_prompt(struct app *a)
{
	free(a->keeping.label);
	a->keeping.label = xstrdup(a->keeping.for_all ? "save view of all files as: "
						      : "save view of this file as: ");
	a->prompt.label = a->keeping.label;
}

static void ask_name(struct app *a)
{
	a->menu.open = false;
	a->keeping.for_all = !a->notebook->path[PAGE_BESIDE];
	a->keeping.asked = false;
	app_prompt_open(a, PROMPT_SAVE);
	label_prompt(a);
}

void app_saved_key(struct app *a, uint32_t key)
{
	struct menu *m = &a->menu;
	int n = n_views(a);
	enum action action = keymap_find(&a->settings->keymap, a->view, app_contexts(a), key);
	bool deletes = key == 'd';

	a->changed = true;
	if (deletes) {
		delete_entry(a);
		return;
	}
	m->asked = false;
	if (key == 's') {
		ask_name(a);
	} else if (action == ACTION_DOWN && n > 0) {
		m->cursor = (m->cursor + 1) % n;
	} else if (action == ACTION_UP && n > 0) {
		m->cursor = (m->cursor + n - 1) % n;
	} else if (key == KEYCODE_ENTER) {
		m->open = false;
		show_entry(a);
	} else if (action == ACTION_BACK || action == ACTION_QUIT || action == ACTION_QUIT_ALL ||
		   action == ACTION_SAVED) {
		m->open = false;
		a->over = a->over || action == ACTION_QUIT_ALL;
	} else {
		app_say(a, false,
			"Enter shows the view, s saves what is shown, d deletes, Esc closes");
	}
}

/* What is shown, as a view of that name, which the caller ends with saved_view_done(). */
static struct saved_view view_here(struct app *a, const char *name)
{
	const struct profile *p = a->analysis->profile;
	struct metric m = a->lens.column[0].metric;
	struct saved_view v = { .name = xstrdup(name), .view = xstrdup(views[a->view]->name) };
	const char *order = app_ops(a)->order ? app_ops(a)->order(app_state(a), &a->scene) : NULL;
	struct step here = app_here(a);
	const char *label = here.has_place ? app_label(a, &here.place) : NULL;

	if (a->lens.filter && filter_n_terms(a->lens.filter))
		v.filter = filter_text(a->lens.filter);
	if (a->lens.grouping != GROUP_FUNCTION)
		v.group = xstrdup(grouping_name(a->lens.grouping));
	if (order)
		v.sort = xstrdup(order);
	if (app_ops(a)->zoom)
		v.zoom = app_ops(a)->zoom(app_state(a), &a->scene);
	if (!a->follow && !a->sides && m.event.v < a->analysis->counts.n_events) {
		if (!m.all && a->analysis->counts.n_events > 1)
			v.event = xstrdup(metric_event_name(p, m));
		v.metric = xstrdup(metric_word(p, m));
	}
	if ((a->view == VIEW_KIND_ANNOTATE || a->view == VIEW_KIND_BUTTERFLY) && label)
		v.function = filter_exact(label);
	return v;
}

/* False: the name is to be mended, or to be confirmed. */
static bool save(struct app *a)
{
	struct keeping *k = &a->keeping;
	enum notebook_page where = N_PAGES;
	bool there = notebook_view(a->notebook, a->prompt.text, &where) &&
		     (where == PAGE_ALL) == k->for_all;
	struct saved_view v;
	const char *path = NULL;
	struct err e = ERR_INIT;
	bool good = true;

	if (there && !k->asked) {
		k->asked = true;
		app_say_owned(a, false,
			      xasprintf("there is a view %s: Enter again writes over it",
					a->prompt.text));
		return false;
	}
	v = view_here(a, a->prompt.text);
	if (notebook_put_view(a->notebook, &v, k->for_all, &path, &e)) {
		app_say(a, true, err_text(&e));
		good = false;
	} else {
		app_say_owned(a, false, xasprintf("view %s saved in %s", v.name, path));
	}
	saved_view_done(&v);
	err_clear(&e);
	return good;
}

void app_saved_name_key(struct app *a, uint32_t key)
{
	if (key == KEYCODE_TAB) {
		if (!a->notebook->path[PAGE_BESIDE])
			app_say(a, false, "what is shown is no file: the view is for all files");
		else
			a->keeping.for_all = !a->keeping.for_all;
		label_prompt(a);
		return;
	}
	switch (prompt_key(&a->prompt, key)) {
	case PROMPT_UNCHANGED:
		break;
	case PROMPT_CHANGED:
		a->keeping.asked = false;
		break;
	case PROMPT_DONE:
		if (a->prompt.n == 0 || save(a))
			app_prompt_close(a);
		break;
	case PROMPT_CANCELLED:
		app_prompt_close(a);
		break;
	}
}

/* "alloc    this file  view=flame filter=is:alloc". */
static void draw_entry(struct app *a, struct canvas *c, struct rect r, int line, int entry)
{
	enum notebook_page where;
	const struct saved_view *v = view_at(a, entry, &where);
	uint16_t selected = entry == a->menu.cursor ? STYLE_SELECTED : 0;
	char *text = saved_view_text(v), *clean = text_clean(text, strlen(text), c->ascii);
	int row = r.row + line, col = r.col + 2, end = r.col + r.cols - 1;
	const char *says = strchr(clean, ' ');

	canvas_puts(c, row, col, NAME_COLS, (uint16_t)(STYLE_NORMAL | selected), v->name);
	col += (int)text_width(v->name, strlen(v->name)) < NAME_COLS
		       ? NAME_COLS
		       : (int)text_width(v->name, strlen(v->name)) + 1;
	if (r.cols > NAME_COLS + 2 * WHOSE_COLS) {
		canvas_puts(c, row, col, WHOSE_COLS, STYLE_DIM,
			    where == PAGE_ALL ? "all files" : "this file");
		col += WHOSE_COLS;
	}
	if (says && col < end)
		canvas_puts(c, row, col, end - col, STYLE_DIM, says + 1);
	if (selected) {
		c->cursor_row = row;
		c->cursor_col = r.col + 2;
	}
	free(clean);
	free(text);
}

void app_saved_draw(struct app *a, struct canvas *c, struct rect r)
{
	int n = n_views(a), rows = (n > 0 ? n : 1) + 1, shown, first = 0;
	struct rect box;

	rows = rows < r.rows ? rows : r.rows;
	shown = rows - 1;
	box = (struct rect){ r.row + r.rows - rows, r.col, rows, r.cols };
	if (rows < 2)
		return;
	if (a->menu.cursor >= shown)
		first = a->menu.cursor - shown + 1;
	for (int i = 0; i < rows; i++)
		canvas_fill(c, box.row + i, box.col, box.cols, STYLE_NORMAL, ' ');
	canvas_puts(c, box.row, box.col + 1, box.cols - 1, STYLE_HEADER_SORTED, "SAVED VIEWS");
	if (n == 0)
		canvas_puts(c, box.row + 1, box.col + 2, box.cols - 2, STYLE_DIM,
			    "none yet: s saves what is shown");
	for (int i = 0; i < shown && first + i < n; i++)
		draw_entry(a, c, box, i + 1, first + i);
}
