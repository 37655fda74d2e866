/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The app's inside, for tui/app/app*.c only. */
#ifndef PROFTOP_TUI_APP_APP_STATE_H
#define PROFTOP_TUI_APP_APP_STATE_H

#include "base/err.h"
#include "notebook/page.h"
#include "query/diff/comparison.h"
#include "query/over_time.h"
#include "query/tree/search.h"
#include "tui/app/live_rate.h"
#include "tui/app/settings.h"
#include "tui/app/tui.h"
#include "tui/contract/keymap.h"
#include "tui/contract/prompt.h"
#include "tui/contract/view.h"
#include "tui/term/terminal_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis;
struct coming_sides;
struct regex;
struct annotation;
struct annotator;
struct notebook;
struct worker;

/* A view once it has been looked at. */
struct instance {
	const struct view_ops *ops; /* whose state that is: of comparisons it is another one's */
	void *state;                /* its ops' own; NULL until first needed */
	bool stale;                 /* scene was replaced since its last update() */
	uint32_t n_filters;         /* the app's n_shown at its last update() */
};

/* A step of the trail: where one came from. */
struct step {
	enum view_kind view;
	bool has_place;         /* was something selected? */
	struct place place;     /* then this */
	char *terms;            /* the filter's terms that the step added; NULL: none; owned */
	char *gone;             /* terms that these took the place of; NULL: none; owned */
	bool has_metric;        /* the step changed it: it was … */
	struct metric metric;   /* … this one */
	enum grouping grouping; /* before a step that added terms */
	bool typed;             /* they were typed here: no other view to go back to */
};

enum prompt_kind {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER,
	PROMPT_EXPORT,
	PROMPT_NOTE,
	PROMPT_SAVE,
	N_PROMPTS
};

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
	/* of pattern over the present analysis; valid while scene.search is set */
	struct search search;
	uint32_t n, at;   /* rows that match and which one the cursor is on; n 0: not counted */
	char *error;      /* what is wrong with what was typed, or NULL; owned */
	char *kept;       /* pattern when the prompt was opened; owned */
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

/* Which part of one cpu somebody takes. */
struct cpu_share {
	int64_t ms,
		ns; /* when it was looked at, and the time that was taken by then; ms 0: it was not */
	int permille; /* -1: not known */
};

/* The menu of the selected row, or the list of saved views. */
struct menu {
	bool open;
	bool of_views;
	bool asked; /* the last key would have deleted the view: once more does */
	int cursor; /* entry */
};

/* The note, or the name of a view, that is being typed. */
struct keeping {
	struct note on[2]; /* what the note may be on, without text; owned */
	int n_on, which;   /* how many, and which of them it is on */
	bool for_all;      /* the view is for all files */
	bool asked;        /* Enter would write over a view of that name: once more does */
	char *label;       /* of the prompt; owned */
};

/* What is to be done as soon as there is an analysis that it means something in. */
struct wanted {
	char *sort;     /* of the view on screen, or NULL; owned */
	char *function; /* regular expression of what is selected there, or NULL; owned */
	char *zoom;     /* focus-path: term of what it is zoomed into, or NULL; owned */
};

/* Of a profile that is being recorded. */
struct live {
	bool frozen;         /* what is on screen stays while more comes */
	bool unfocused;      /* likewise, as the terminal has not the focus */
	bool glance;         /* though it has not, once: something was done to the screen */
	size_t window;       /* which part of its time is shown: index of app_window.c's */
	int64_t from_ns;     /* nothing before is shown, since the start */
	int64_t baseline_ns; /* what comes later is compared with what was before; -1: nothing is */
	int64_t newest_ns;   /* the newest sample's time since the start; -1: unknown */
	int64_t now_ns; /* how long it has been recorded, where that goes on by the clock; else newest_ns; -1: unknown */
	int64_t ahead_ns;          /* of the terminal's clock, where now_ns is known */
	int64_t asked_ns;          /* now_ns when an analysis was asked for last */
	struct tui_target target;  /* what is recorded, and how it is */
	int64_t target_ms;         /* when that was asked; 0: it was not */
	int n_late;                /* how often it was asked since the recording ended */
	struct cpu_share own, its; /* that we ourselves take, and what is recorded */
	int64_t cpu_ns;            /* that we have taken of processors by now */
	int64_t asked_cpu_ns;      /* and when the newest analysis was asked for */
	bool owed;                 /* something has changed that is not shown yet */
	bool owed_analysis;        /* all of it has */
	int64_t shown_ms;          /* when the screen was made anew; 0: it was not */
	int64_t touched_ms;        /* when somebody did something; 0: nobody did */
	int64_t made_ms;           /* when the analysis that is owed came */
	int64_t early_ms;          /* so long the last one was there before its frame was due */
	char *nothing;             /* why there is nothing to show, or NULL; the scene's; owned */
	int64_t begun_ms;          /* when it was first looked at; 0: it was not */
	struct live_rate growth;   /* how much there was when */
	struct live_pace pace;     /* as it is told */
	uint32_t behind_s; /* what is written was read so far behind; 0: hardly; as it is told */
};

/* A comparison within the recording, of what the user chose. */
struct own_sides {
	char *first; /* terms of the side that is chosen, while there is no other; owned */
	/* it and the other one are being counted; NULL: they are not; owned */
	struct coming_sides *coming;
	bool open;               /* both are compared; only then there is: */
	struct comparison sides; /* owned */
	struct lens whole;       /* the lens to go back to; owned */
	enum view_kind view;     /* likewise */
	size_t n_trail;          /* steps that were there before */
};

/* The way to the hottest line, while its analysis is made. */
struct hottest {
	bool asked;
	enum grouping before; /* of the lens, to go back to */
	struct step from;     /* where the key was pressed */
	bool lines;           /* an analysis by line is made beside what is shown, … */
	bool edits;           /* … and the editor waits for it, … */
	uint32_t file, line;  /* … for this file, and this line where none is known */
};

struct app {
	const struct tui_source *source;
	const struct settings *settings;
	bool hints; /* show them */

	/* an empty profile, for the time before the first analysis; owned */
	struct profile *nothing;
	struct worker *worker;       /* owned */
	struct annotator *annotator; /* owned */
	struct annotation *code;     /* the scene's, or NULL; owned */
	struct analysis *analysis;   /* of what is on screen, never NULL; owned */
	struct lens lens;            /* what the user wants, but for the columns of ratios */
	const char *const *ratios;   /* [n_ratios] as --ratio has them; borrowed */
	size_t n_ratios;
	char *filter_text; /* of the filter that was asked for last; NULL: none was; owned */
	uint32_t n_filters,
		n_shown; /* filters asked for so far, and up to which one they are shown */
	const struct comparison *sides; /* of a comparison, else NULL; borrowed, or those of own */
	struct own_sides own;
	bool cursor_moved;     /* that of the memory view, and no other view was shown since */
	bool follow;           /* the metric is whichever event is busiest so far */
	bool loading;          /* the source has not ended */
	struct err load_error; /* how it ended */
	struct over_time_wishes wishes; /* what views want over time; n 0: none has said so */
	int64_t asked_ms;       /* when the newest analysis was asked for, INT64_MIN: never */
	int64_t cost_ms;        /* what the last one took of a processor */
	bool asked;             /* an analysis is under way or waiting */
	bool changed;           /* something was done since the last app_tick() */
	int percent_loaded;     /* as last drawn */
	uint32_t whole_version; /* of the profile when all was loaded; older ones are parts */

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
	char *completed; /* of the filter: what Tab left when it listed what fits, or NULL; owned */
	struct history history[N_PROMPTS];

	char *message; /* until the next key, or NULL; owned */
	bool message_bad;
	struct help help;
	struct menu menu;
	struct notebook *notebook; /* NULL: nothing is kept; borrowed */
	struct keeping keeping;
	struct wanted wanted;
	struct hottest hottest;
	struct live live;

	int cols, rows;
	struct chrome chrome; /* of cols and rows; see app_chrome() */
	struct {
		struct hit *at;
		size_t n, cap;
	} hits;           /* of the last app_draw(); owned */
	int64_t click_ms; /* the last click's time, and its cell */
	int click_row, click_col;
	struct cell_at press; /* where the button went down; row -1: it did not, or on no use */

	struct terminal_request wish; /* not yet taken */
	bool over;                    /* the user quit */
	bool asked_to_quit; /* the last key would have ended the command: once more does */
};

static inline const struct view_ops *app_ops(const struct app *a)
{
	return view_of(a->view, &a->scene);
}

/* What actions may mean here and now. */
uint32_t app_contexts(const struct app *a);

#endif
