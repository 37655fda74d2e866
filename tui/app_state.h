/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The app's inside, for tui/app*.c only. */
#ifndef PROFTOP_TUI_APP_STATE_H
#define PROFTOP_TUI_APP_STATE_H

#include "app.h"
#include "err.h"
#include "keymap.h"
#include "prompt.h"
#include "search.h"
#include "view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;
struct regex;
struct worker;

/* A view once it has been looked at. */
struct instance {
	void *state; /* its ops' own; NULL until first needed */
	bool stale;  /* scene was replaced since its last update() */
};

/* A step of the trail: where one came from. */
struct step {
	enum view_kind view;
	bool has_place;         /* was something selected? */
	struct place place;     /* then this */
	char *terms;            /* the filter's terms that the step added; NULL: none; owned */
	char *gone;             /* terms that these took the place of; NULL: none; owned */
	enum grouping grouping; /* before a step that added terms */
	bool typed;             /* they were typed here: no other view to go back to */
};

enum prompt_kind { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER };

/* Rows of the frame; -1 where the screen has no room for one. */
struct chrome {
	int title, tabs, activity; /* from the top */
	int status, terms, prompt,
		hints; /* at the bottom; the prompt may share terms' or status' */
	struct rect view;
};

/* A piece of the frame that can be clicked. */
struct hit {
	int row, col, cols;
	enum action action;
};

/* What is searched. */
struct seeking {
	char *pattern; /* NULL: nothing; owned */
	struct search
		search; /* of pattern over the present analysis; valid while scene.search is set */
	uint32_t n, at; /* rows that match and which one the cursor is on; n 0: not counted */
	char *error;    /* what is wrong with what was typed, or NULL; owned */
	char *kept;     /* pattern when the prompt was opened; owned */
	struct step from; /* the cursor then */
};

/* The overlay of keys, and what is searched in it. */
struct help {
	bool open;
	int top;             /* first visible line */
	char *pattern;       /* NULL: nothing is searched; owned */
	struct regex *regex; /* of pattern; owned */
	uint32_t n, at;      /* lines that match, and which one was gone to; 0: none */
	uint32_t line;       /* that one */
};

struct app {
	const struct tui_source *source;
	const struct settings *settings;
	bool hints; /* show them */

	struct profile
		*nothing;      /* an empty profile, for the time before the first analysis; owned */
	struct worker *worker; /* owned */
	struct analysis *analysis; /* of what is on screen, never NULL; owned */
	struct lens lens;          /* what the user wants */
	bool follow;               /* the metric is whichever event is busiest so far */
	bool loading;              /* the source has not ended */
	struct err load_error;     /* how it ended */
	int64_t asked_ms;          /* when the newest analysis was asked for, INT64_MIN: never */
	int64_t took_ms;           /* from asking to getting it */
	bool asked;                /* an analysis is under way or waiting */
	bool changed;              /* something was done since the last app_tick() */
	int percent_loaded;        /* as last drawn */

	struct scene scene;                     /* what views see */
	struct instance instance[N_VIEW_KINDS]; /* made when first needed */
	enum view_kind view;                    /* on screen */
	bool view_open;                         /* nobody has chosen it */
	struct {
		struct step *at;
		size_t n, cap;
	} trail;             /* where one came from, newest last; owned */
	struct step landing; /* where the cursor goes in the next analysis; has_place: it does */

	struct seeking seeking;
	enum prompt_kind prompting; /* which prompt is open */
	struct prompt prompt;       /* while one is */
	struct history history[PROMPT_FILTER + 1];

	char *message; /* until the next key, or NULL; owned */
	bool message_bad;
	struct help help;

	int cols, rows;
	struct chrome chrome; /* of cols and rows; see app_chrome() */
	struct {
		struct hit *at;
		size_t n, cap;
	} hits;           /* of the last app_draw(); owned */
	int64_t click_ms; /* the last click's time, and its cell */
	int click_row, click_col;
	struct cell_at press; /* where the button went down; row -1: it did not, or on no use */

	struct wish wish; /* not yet taken */
	bool over;        /* the user quit */
};

static inline const struct view_ops *app_ops(const struct app *a)
{
	return views[a->view];
}

/* app.c */

/* Asks for an analysis through the lens as it now is. */
void app_reanalyse(struct app *a);
/* As app_say(); text becomes the app's. */
void app_say_owned(struct app *a, bool bad, char *text);

/* app_act.c */

void app_act(struct app *a, enum action action);
/* The label of a selected key, or NULL; borrowed from the profile. */
const char *app_label(const struct app *a, const struct place *place);
/*
 * Adds terms to the filter; a sentence on screen when they are wrong. *added (may be NULL) is then how
 * they stand there, which the caller frees.
 */
int app_add_filter(struct app *a, const char *terms, char **added);
/* Takes terms that were added as one out of the filter, wherever they are; false when they are not there. */
bool app_take_filter(struct app *a, const char *terms);
/* Do these terms, one after the other, stand in the filter? */
bool app_has_filter(const struct app *a, const char *terms);

/* app_trail.c */

/* The present view's state, up to date and laid out. */
void *app_state(struct app *a);
/* Every view has to look at the scene again. */
void app_scene_changed(struct app *a);
/* Where the cursor is. */
struct step app_here(struct app *a);
/* Puts the cursor of the view on screen there. */
void app_select(struct app *a, const struct step *s);
/* Is the view still as it was when the step was taken? Then its state says more than the place. */
bool app_is_at(struct app *a, const struct step *s);
/* Shows a view as it was left. */
void app_show(struct app *a, enum view_kind view);
/* Has the view something to show of what was read? */
bool app_has_view(const struct app *a, enum view_kind view);
/* The place of a view's tab among those that there are, from 0. */
int app_tab_of(const struct app *a, enum view_kind view);
/* Shows another view with a place, or none; back returns to here. */
void app_go(struct app *a, enum view_kind view, const struct place *place);
/* Adds terms to the filter of the view on screen; back takes them away. As app_add_filter(). */
int app_narrow_here(struct app *a, const char *terms);
/* Shows this stretch of time alone (ns since the start), in place of any other; back undoes it. */
void app_show_time(struct app *a, int64_t from_ns, int64_t to_ns);
/* One step back, without the filter that the step added; false when there is none. */
bool app_back(struct app *a);
/* Back to the view that one came from; false when there is none. */
bool app_leave(struct app *a);
/* Forgets all steps but those that added terms which still filter. */
void app_clear_trail(struct app *a);
void app_free_trail(struct app *a);
/* A new analysis is there: the cursor goes where a step back wanted it. */
void app_land(struct app *a);
/* Does what a view asked for, and frees it. */
void app_apply(struct app *a, struct effect *fx);

/* app_search.c */

void app_prompt_open(struct app *a, enum prompt_kind kind);
void app_prompt_key(struct app *a, uint32_t key);
/* Searches a regular expression from now on, or nothing when NULL; false, and seeking.error, when it is bad. */
bool app_search(struct app *a, const char *pattern);
/* Searches the same in another analysis. */
void app_search_again(struct app *a);
/* To the match at the cursor (0), the next or the previous one. */
void app_find(struct app *a, int step);

/* app_draw.c */

/* The stretch of time between two columns of the activity row; false: they are not in it. */
bool app_activity_range(const struct app *a, int from_col, int to_col, int64_t *from_ns,
			int64_t *to_ns);
/* Where everything goes. */
void app_chrome(const struct app *a, struct chrome *f);

/* app_help.c */

/* Draws the overlay, scrolled to a->help.top, which is kept in range. */
void app_draw_help(struct canvas *c, struct rect r, struct app *a);
/* Keys while it is open: they scroll, search or close it. */
void app_help_act(struct app *a, enum action action);
/* Searches a regular expression in it, or nothing when NULL; false, and a sentence on screen, when it is bad. */
bool app_help_search(struct app *a, const char *pattern);
/* To the first match (0), the next or the previous one. */
void app_help_find(struct app *a, int step);

#endif
