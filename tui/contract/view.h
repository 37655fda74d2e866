/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The view contract.
 *
 * A view shows one kind of answer. It is its ops, its state (cursor, scroll, what is open), and the
 * scene that the app hands to every call: the answers and how the user wants them shown. A view
 * draws what scene and state say and nothing else: no clock, no I/O, no terminal, no thread. What
 * it wants to happen beyond itself (another view, a filter) it asks for by an effect.
 *
 * Life of a view: new, then any number of {update, layout, draw, act, click, select}, then free.
 * update() comes before anything else and again whenever the scene's analysis or search was
 * replaced: by then the old ones are gone, so state must hold nothing that points into them. Places
 * are kept as path hashes and key ids, which mean the same in every analysis of a profile.
 */
#ifndef PROFTOP_TUI_CONTRACT_VIEW_H
#define PROFTOP_TUI_CONTRACT_VIEW_H

#include "query/core/lens.h"
#include "query/tree/search.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/actions.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct annotation;
struct code_wish;
struct notebook;
struct over_time_wish;

/*
 * X(enum, name) — in the order of tabs: the first has the key 1 and the tenth 0, in every profile, whichever of them it has. Those from leaks
 * on are the tables of query/heap/heap_table.h, in its order; they share one tab and one key.
 */
/* clang-format off */
#define VIEWS(X) \
	X(TOP,       "top") \
	X(TREE,      "tree") \
	X(CALLERS,   "callers") \
	X(BUTTERFLY, "butterfly") \
	X(FLAME,     "flame") \
	X(THREADS,   "threads") \
	X(TIMELINE,  "timeline") \
	X(INFO,      "info") \
	X(MEMORY,    "memory") \
	X(FINDINGS,  "findings") \
	X(ANNOTATE,  "annotate") /* of a function that was chosen elsewhere: it has a tab only while it is shown */ \
	X(HEAT,     "heat") /* of the timeline: likewise */ \
	X(LEAKS,       "leaks") \
	X(LIFETIMES,   "lifetimes") \
	X(SIZES,       "sizes") \
	X(TEMPORARIES, "temporaries") \
	X(HANDOFFS,    "handoffs") \
	X(REALLOCS,    "reallocs") \
	X(WASTE,       "waste") \
	X(BLOCKS,      "blocks") \
	X(ALLOCATORS,  "allocators")
/* clang-format on */

enum view_kind {
#define X(name, text) VIEW_KIND_##name,
	VIEWS(X)
#undef X
		N_VIEW_KINDS
};

/* Views of the table of heap_table.h. */
static inline bool view_is_of_heap(enum view_kind view)
{
	return view >= VIEW_KIND_LEAKS && view <= VIEW_KIND_ALLOCATORS;
}

/* The cases of a switch that are such views. */
#define CASES_OF_HEAP \
	case VIEW_KIND_LEAKS: \
	case VIEW_KIND_LIFETIMES: \
	case VIEW_KIND_SIZES: \
	case VIEW_KIND_TEMPORARIES: \
	case VIEW_KIND_HANDOFFS: \
	case VIEW_KIND_REALLOCS: \
	case VIEW_KIND_WASTE: \
	case VIEW_KIND_BLOCKS: \
	case VIEW_KIND_ALLOCATORS

/* What a view may look at. Everything is borrowed for the call. */
struct scene {
	/* never NULL; may be of an empty profile. Not const: lazy parts */
	struct analysis *analysis;
	const struct search *search; /* NULL: nothing is searched */
	bool percent;                /* shares, or weights in their unit */
	bool wide;                   /* names in full */
	bool loading;                /* more will come */
	const char *side_a; /* terms of the side that was chosen first; NULL: none was; borrowed */
	/* where there is nothing to show: why; NULL: as views see it; borrowed */
	const char *nothing;
	/* lines and instructions of a function, the newest that was asked for; NULL: there are none yet */
	const struct annotation *code;
	const char *no_code; /* why they will not come, or NULL; borrowed */
	enum view_kind view; /* on screen */
	bool live;           /* it is being recorded */
	bool windowed; /* no time was chosen: what the analysis says is live's window, or none */
	const struct notebook *notes; /* on rows; NULL: there are none; borrowed */
	bool stays; /* numbers change while one looks: the cursor's row stays where it is */
};

/* Something that can be carried from view to view. */
struct place {
	/* struct key's id (a function), ID_NONE: none, only its own view knows it */
	uint32_t key_id;
	uint64_t path; /* call tree path of the very node, 0: any of that function */
	uint32_t line; /* of source, in the view of code: where to; 0: its hottest, by total */
};

/* A place's line: what has most of its own, line or instruction. */
#define PLACE_HOTTEST_SELF UINT32_MAX

/* A cell of the canvas. */
struct cell_at {
	int row, col;
};

/* What a view asks of the app. */
enum effect_kind {
	EFFECT_NONE,
	EFFECT_OPEN, /* go to view `view` with `place`; back returns here */
	/*
	 * Add the terms in `text` ("" or NULL: none), change the grouping to `grouping`, the metric to `metric` and
	 * the cursor to `place` if it has such, and go to `view`, at once; back undoes all of it.
	 */
	EFFECT_FILTER,
	EFFECT_GROUP, /* change the lens's grouping to `grouping`, and rows of heaps to `heap_rows` */
	EFFECT_TIME,   /* show the time from `from_ns` to `to_ns` alone; back shows what was */
	EFFECT_SIDE,   /* the terms in `text` are a side of a comparison within the recording */
	EFFECT_CURSOR, /* what is live is asked for at `from_ns` from now on */
	EFFECT_EDIT,   /* open the file `text` in the editor at line `line` */
	EFFECT_MESSAGE /* show `text` until the next key */
};

struct effect {
	enum effect_kind kind;
	enum view_kind view;
	struct place place;
	bool has_place;           /* of EFFECT_FILTER: go to place */
	int64_t from_ns, to_ns;   /* since the start; to is out of it */
	bool has_metric;          /* of EFFECT_FILTER: it is … */
	struct metric metric;     /* … this one */
	enum grouping grouping;   /* of EFFECT_GROUP and EFFECT_FILTER; the lens's own: no change */
	enum heap_rows heap_rows; /* of EFFECT_GROUP */
	uint32_t line;            /* of EFFECT_EDIT */
	char *text;               /* malloc'd; the app frees */
};

struct view_ops {
	const char *name;  /* in tabs, --view and config */
	const char *help;  /* one line for the help overlay */
	uint32_t contexts; /* IN_…: which actions mean something here */
	bool of_tree;      /* it looks at the call tree, which is there then */

	/* Does it have something to show of what was read? NULL: always. */
	bool (*applies)(const struct scene *s);

	void *(*new)(void);
	void (*free)(void *state);

	/* Other answers, or another search: keep the place as well as can be. */
	void (*update)(void *state, const struct scene *s);
	/* The rectangle that draw() will get: keep the cursor inside it. */
	void (*layout)(void *state, const struct scene *s, struct rect r);
	/*
	 * What it shows over time, as of layout(): that is made beside the terminal, and update() comes again when it is
	 * there. Until then the view shows what the scene has. False: nothing now. NULL: never.
	 */
	bool (*wish)(const void *state, struct over_time_wish *out);
	/* Which function's code it shows; that is made beside the terminal like what wish() wants. False, or NULL: none. */
	bool (*code)(const void *state, struct code_wish *out);
	/* Fills the rectangle; state is what layout() left. */
	void (*draw)(const void *state, const struct scene *s, struct canvas *c, struct rect r);

	/* True when the action did something (so BACK that could not step back is false). */
	bool (*act)(void *state, const struct scene *s, enum action a, struct effect *out);
	/*
	 * A click on a cell of the rectangle (row and col count from the canvas's corner, as r's
	 * do); twice: the second click of a double one. A wheel is act(ACTION_DOWN or _UP) thrice.
	 */
	void (*click)(void *state, const struct scene *s, struct rect r, int row, int col,
		      bool twice, struct effect *out);

	/* The button went down at one cell and up at another one; NULL: means nothing here. */
	void (*drag)(void *state, const struct scene *s, struct rect r, struct cell_at from,
		     struct cell_at to, struct effect *out);

	/* Go to a place carried here; nothing when it does not exist. */
	void (*select)(void *state, const struct scene *s, const struct place *p);
	/* What is selected; false when nothing is. */
	bool (*selection)(const void *state, const struct scene *s, struct place *out);

	/*
	 * Go to the first match at or after the cursor (step 0), the next (1) or previous (-1) one.
	 * Returns how many rows or nodes match in all and puts the current one's number in *at (0: the
	 * cursor is on none). With step 0 the cursor stays when nothing matches, and a picture stays as it
	 * is in any case; with FIND_STAY everything does.
	 */
	uint32_t (*find)(void *state, const struct scene *s, int step, uint32_t *at);

	/* What matches the search, in the unit of column 0; NULL: what the search says of frames. */
	int64_t (*found)(const void *state, const struct scene *s);

	/* The selected row in full, for the status line: malloc'd, or NULL. */
	char *(*status)(const void *state, const struct scene *s);
	/* "cache.cc:88": where the selected allocation site is in the source, malloc'd; NULL: rows are no sites. */
	char *(*site)(const void *state, const struct scene *s);
	/* What rows are sorted by, as --sort has it; NULL: as they come by themselves, or turned round. */
	const char *(*order)(const void *state, const struct scene *s);
	/* Sorts by such a word; false when it is none. */
	bool (*sort)(void *state, const struct scene *s, const char *by);
	/* The number of the cursor's row, from 1, and how many there are; NULL: no rows. */
	void (*position)(const void *state, uint32_t *at, uint32_t *of);
	/* What the view is zoomed into, for the breadcrumb: "main › parse"; malloc'd, or NULL. */
	char *(*crumb)(const void *state, const struct scene *s);
	/*
	 * The same for a saved view: a focus-path: term, malloc'd, or NULL; and zooming into such a one, false where it is not there.
	 * Both NULL: the view does not zoom.
	 */
	char *(*zoom)(const void *state, const struct scene *s);
	bool (*zoom_to)(void *state, const struct scene *s, const char *term);
};

extern const struct view_ops *const views[N_VIEW_KINDS];

/* A view as it is of this scene: itself, or what it is where two sides are compared. */
const struct view_ops *view_of(enum view_kind view, const struct scene *s);

#endif
