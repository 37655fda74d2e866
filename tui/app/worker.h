/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Analyses made beside the terminal: the newest request wins, an older one is cancelled.
 */
#ifndef PROFTOP_TUI_APP_WORKER_H
#define PROFTOP_TUI_APP_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "query/over_time.h"

struct analysis;
struct err;
struct lens;
struct profile;
struct profile_counts;
struct worker;

/* p is borrowed. NULL with a sentence when the system has no descriptors left. */
struct worker *worker_new(const struct profile *p, struct err *e);
/* Cancels and waits. */
void worker_free(struct worker *w);

/* What an analysis comes with that is made when it is asked for otherwise: each with those before it. */
enum ready_parts {
	READY_TABLE,
	READY_TREE,   /* of analysis_tree() */
	READY_CALLERS /* of analysis_inverted() */
};

/* Wants an analysis of the profile as it then is, through a copy of lens; with what is wished for as far as it can be. */
void worker_request(struct worker *w, const struct lens *lens,
		    const struct over_time_wishes *wishes, enum ready_parts ready);

/*
 * Wants more of an analysis that is there. It is borrowed until that was taken or the analysis dropped: what
 * only sorts its sites and moves its cursor may be done meanwhile.
 */
void worker_request_over(struct worker *w, const struct analysis *an,
			 const struct over_time_wish *wish);

/* Analyses to come are of this state of the profile, whose rows are held; NULL: of the newest, as at first. */
void worker_hold(struct worker *w, const struct profile_counts *counts);

/* Frees an analysis beside the terminal: of a large profile that takes a tenth of a second. */
void worker_drop(struct worker *w, struct analysis *an);

/* Readable when worker_take() may have something. */
int worker_fd(const struct worker *w);

/* The newest finished analysis, which is the caller's to free, or NULL. Starts what waits. */
struct analysis *worker_take(struct worker *w);
/* What the last analysis took of a processor, however long it had to wait for one. */
int64_t worker_cost_ns(const struct worker *w);

/* What was asked for over time, the caller's to free, or NULL; it is of the analysis last asked of. */
struct over_time *worker_take_over(struct worker *w);

/* Is an analysis being made or waiting to be? */
bool worker_busy(const struct worker *w);
/* Is something over time? */
bool worker_drawing(const struct worker *w);

#endif
