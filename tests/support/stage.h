/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stage for views: a profile, a scene of it, the views and a canvas, with neither app nor terminal.
 */
#ifndef PROFTOP_TESTS_SUPPORT_STAGE_H
#define PROFTOP_TESTS_SUPPORT_STAGE_H

#include "profile/profile.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/view.h"

#include <stdbool.h>

struct stage {
	struct profile *profile; /* borrowed */
	struct lens lens;        /* what the analysis is of */
	struct scene scene;
	struct search search; /* valid while scene.search is set */
	enum view_kind view;
	void *state[N_VIEW_KINDS];
	struct rect rect;        /* of the view on the canvas */
	struct canvas canvas;    /* has a margin of STAGE_MARGIN on each side */
	struct annotation *code; /* the scene's; owned */
	bool no_sources;         /* it has none */
	bool no_code;            /* nothing comes */
	char *message;           /* what the view asked for last: "filter tid:3 function"; owned */
	uint32_t at, n;          /* of the last find() */
};

#define STAGE_MARGIN 2

/* Made-up code of any function, of such a cost; without sources there is assembly alone. The caller frees. */
struct annotation *stage_code(const struct analysis *an, const struct code_wish *wish,
			      bool sources);

/* A made-up service: two processes, three threads, kernel and libraries, C++ names, 36 s. */
struct profile *stage_profile(void);
/* Its heap: what it loads at first, a cache that grows, batches, temporaries; readings and marks; 120 s. */
struct profile *stage_heap(void);

/* The same, where it is known who frees: the flusher frees batches, and the cache all else. */
struct profile *stage_heap_freed(void);

/* What the service does from one moment until before another one (ns), added to p; after the change or before. */
void stage_profile_add(struct profile *p, int64_t from_ns, int64_t to_ns, bool changed);
/* What goes on in its heap: begun on an empty profile, continued until a moment (ns), freed. */
struct stage_heap_life *stage_heap_begin(struct profile *p);
void stage_heap_go_on(struct stage_heap_life *life, int64_t to_ns);
void stage_heap_end(struct stage_heap_life *life);

/* The service before and after a change: a capture each, of which stage_init() makes a comparison. */
struct profile *stage_changed(void);
/* The same of its heap: it takes longer, and the cache grows twice as fast. */
struct profile *stage_heap_changed(void);

/* Opens a view on what p shows through a filter (NULL: everything). */
void stage_init(struct stage *st, const struct profile *p, const char *filter, enum view_kind view,
		int cols, int rows);
void stage_done(struct stage *st);

/* Another size of the view. */
void stage_resize(struct stage *st, int cols, int rows);

/* Names that match stand out from now on, and n and N go to them; NULL: no more. */
void stage_search(struct stage *st, const char *regex);

/* Plays keys as the app would: "jj<Enter>t". */
void stage_keys(struct stage *st, const char *keys);
bool stage_act(struct stage *st, enum action a);
void stage_click(struct stage *st, int row, int col, bool twice);

/* Counts that of a heap, by its word for --metric. */
void stage_metric(struct stage *st, const char *measure, const char *filter);

/* Analyses anew, as after more was read. */
void stage_reanalyse(struct stage *st, const char *filter);

/* Draws; fails the test when a cell outside of the rectangle was touched. */
void stage_draw(struct stage *st);

/* The view's cells as text and as styles; the caller frees. */
char *stage_text(struct stage *st);
char *stage_styles(struct stage *st);
/* How these look on a terminal of so many colours; the caller frees. */
char *stage_looks(struct stage *st, int colours);
/* "0: 3-7 1 on 7 bold": cells that are not as the terminal's text is; the caller frees. */
char *stage_canvas_looks(const struct canvas *c, int colours);

#endif
