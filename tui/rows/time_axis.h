/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time laid over columns: what stretch of a recording is in sight, where its cursor is, what is marked,
 * which tick stands where. Knows numbers only; graphs of any kind are drawn along it.
 *
 * Times are nanoseconds since the recording's start. Column i stands for [time(i), time(i + 1)).
 *
 * Invariant after time_axis_fit(): 0 <= from < to <= whole, from <= cursor < to, cols >= 1.
 */
#ifndef PROFTOP_TUI_ROWS_TIME_AXIS_H
#define PROFTOP_TUI_ROWS_TIME_AXIS_H

#include "base/fmt.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/actions.h"

#include <stdbool.h>
#include <stdint.h>

struct filter;

/* Not marked. */
#define TIME_UNMARKED INT64_MIN

struct time_axis {
	int64_t whole_ns;  /* the recording's length, at least 1 */
	int64_t from_ns;   /* what is in sight: [from, to) */
	int64_t to_ns;     /* at least cols later, but for shorter recordings */
	int64_t cursor_ns; /* where a column begins */
	int64_t a_ns;      /* the range's begin, TIME_UNMARKED */
	int64_t b_ns;      /* the range's end, which is out of it, TIME_UNMARKED */
	int cols;
	bool exact;   /* columns begin at round times: marks are not rounded further */
	bool percent; /* a second stands for a percent, in what is said of it */
};

/* All of nothing, unmarked. */
void time_axis_init(struct time_axis *t);

/* The recording is so long now, and so many columns are there: what is in sight stays, if it was not all. */
void time_axis_fit(struct time_axis *t, int64_t whole_ns, int cols);

/* When a column begins; that of `cols` is where the last one ends. */
int64_t time_axis_at(const struct time_axis *t, int col);
/* The column of a time; -1 before, cols behind what is in sight. */
int time_axis_col(const struct time_axis *t, int64_t ns);

/* Puts the cursor on a column. */
void time_axis_go(struct time_axis *t, int col);
/* Puts it where a time is, which comes into sight. */
void time_axis_go_to(struct time_axis *t, int64_t ns);

/*
 * Moves and zooms for LEFT RIGHT FAR_LEFT FAR_RIGHT ZOOM_IN ZOOM_OUT, marks for MARK_A MARK_B. False for
 * other actions, and when there was nothing to zoom. The second mark of a range may be set
 * before the first: they change places. With both set, one beyond the other begins another range.
 */
bool time_axis_act(struct time_axis *t, enum action a);
/* Shows all again; false when it did. */
bool time_axis_unzoom(struct time_axis *t);

/* Marks columns [first, last], in either order. */
void time_axis_mark(struct time_axis *t, int first, int last);
void time_axis_unmark(struct time_axis *t);
/* Are both ends marked? Then the range in round numbers, never wider than by a column at each end. */
bool time_axis_range(const struct time_axis *t, int64_t *from_ns, int64_t *to_ns);
/*
 * The range becomes what the filter says, NULL where it is a window's; a mark without its other end stays. The cursor is wanted at the
 * begin of a new range that it is not in.
 */
void time_axis_follow(struct time_axis *t, const struct filter *filter, int64_t whole_ns,
		      int64_t *wanted_ns);

/* A moment, for people; returns out. */
const char *time_axis_text(char out[FMT_SIZE], int64_t ns);

/*
 * The range as filter term: "time:2.3,5.47"; the caller frees.
 */
char *time_axis_term(int64_t from_ns, int64_t to_ns);

/*
 * Ticks with their times, and the cursor unless that is below 0, A and B where they are, on one line of cols columns from col on; "a" where the
 * side of a comparison that was chosen first begins and ends, if these terms say a range of time; NULL: none.
 */
void time_axis_draw(const struct time_axis *t, struct canvas *c, int row, int col,
		    const char *side_a);

#endif
