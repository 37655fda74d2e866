/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_tabs.h"

#include <stdio.h>
#include <string.h>

#include "tui/app/app_chrome.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/canvas/canvas.h"

/* Views with a number, which is their key. */
#define N_NUMBERED 10

/*
 * How the views that are not shown are called in their tabs: the widest that fits is taken. The one on screen has its short name only where
 * the others would else have none.
 */
enum tab_names {
	TAB_NAMES,
	TAB_SHORT_NAMES,
	TAB_CLOSE_NAMES,
	TAB_ALL_SHORT,
	TAB_BEGINNINGS,
	TAB_NUMBERS
};

/* Of a short name, where there is room for no more. */
#define BEGINNING_BYTES 3

/* Names for narrow screens; the others are short already. */
static const char *short_name(enum view_kind kind)
{
	switch (kind) {
	case VIEW_KIND_CALLERS:
		return "call";
	case VIEW_KIND_BUTTERFLY:
		return "bfly";
	case VIEW_KIND_THREADS:
		return "thr";
	case VIEW_KIND_TIMELINE:
		return "time";
	case VIEW_KIND_MEMORY:
		return "mem";
	case VIEW_KIND_FINDINGS:
		return "find";
	case VIEW_KIND_LIFETIMES:
		return "lives";
	case VIEW_KIND_TEMPORARIES:
		return "temps";
	case VIEW_KIND_HANDOFFS:
		return "handoff";
	case VIEW_KIND_REALLOCS:
		return "realloc";
	case VIEW_KIND_ALLOCATORS:
		return "alloc";
	default:
		return views[kind]->name;
	}
}

/* Tables about a heap share a tab: that of the one on screen, or of the first. */
static bool has_tab(const struct app *a, enum view_kind view)
{
	return !view_is_of_heap(view) || a->view == view ||
	       (view == VIEW_KIND_LEAKS && !view_is_of_heap(a->view));
}

/* The tab of a view whose key is a letter. */
static void put_key_tab(const struct app *a, enum view_kind view, enum action action,
			enum tab_names names, char *text, size_t n)
{
	char key[32];

	keymap_keys(&a->settings->keymap, a->view, app_contexts(a), action, key, sizeof(key));
	if (a->view == view)
		snprintf(text, n, "[%s %s]", key,
			 names == TAB_ALL_SHORT || names == TAB_BEGINNINGS ? short_name(view)
									   : views[view]->name);
	else if (names == TAB_NUMBERS)
		snprintf(text, n, " %s ", key);
	else
		snprintf(text, n, " %s %s ", key, views[view]->name);
}

/* " 1 top [2 tree] 3 callers", or shorter. Returns the columns; draws nothing in row -1. */
static int draw_tabs_in(struct app *a, struct canvas *c, int row, enum tab_names names)
{
	bool losses = app_has_losses(a->analysis);
	bool close = names == TAB_CLOSE_NAMES || names == TAB_ALL_SHORT || names == TAB_BEGINNINGS;
	int col = 0;

	for (int i = 0; i < N_VIEW_KINDS; i++) {
		bool active = (int)a->view == i;
		const char *mark = i == VIEW_KIND_INFO && losses ? " !" : "";
		uint16_t style = active ? STYLE_TAB_ACTIVE : STYLE_TAB;
		char text[128];
		int used;

		if (!app_has_view(a, (enum view_kind)i) || !has_tab(a, (enum view_kind)i))
			continue;
		if (view_is_of_heap((enum view_kind)i))
			put_key_tab(a, (enum view_kind)i, ACTION_HEAP_VIEW, names, text,
				    sizeof(text));
		else if (i == VIEW_KIND_HEAT)
			put_key_tab(a, (enum view_kind)i, ACTION_HEAT_MAP, names, text,
				    sizeof(text));
		else if (i >= N_NUMBERED)
			snprintf(text, sizeof(text), active ? "[%s]" : " %s ", views[i]->name);
		else if (active)
			snprintf(text, sizeof(text), "[%d %s%s]", (i + 1) % 10,
				 names == TAB_ALL_SHORT || names == TAB_BEGINNINGS
					 ? short_name((enum view_kind)i)
					 : views[i]->name,
				 mark);
		else if (names == TAB_NUMBERS)
			snprintf(text, sizeof(text), " %d%s ", (i + 1) % 10, mark);
		else
			snprintf(text, sizeof(text), " %d %.*s%s ", (i + 1) % 10,
				 names == TAB_BEGINNINGS ? BEGINNING_BYTES : 99,
				 names == TAB_NAMES ? views[i]->name
						    : short_name((enum view_kind)i),
				 mark);
		if (close && !active)
			text[strlen(text) - 1] = '\0'; /* without the blank behind it */
		else if (close && col > 0)
			col++;
		used = (int)strlen(text);
		if (row >= 0) {
			canvas_puts(c, row, col, c->cols - col, style, text);
			if (view_is_of_heap((enum view_kind)i))
				app_add_hit(a, row, col, used, ACTION_HEAP_VIEW);
			if (i < N_NUMBERED)
				app_add_hit(a, row, col, used,
					    (enum action)((int)ACTION_VIEW_1 + i));
		}
		col += used;
	}
	return col;
}

void app_draw_tabs(struct app *a, struct canvas *c, int row)
{
	enum tab_names names = TAB_NAMES;

	while (names < TAB_NUMBERS && draw_tabs_in(a, c, -1, names) > c->cols)
		names++;
	draw_tabs_in(a, c, row, names);
}
