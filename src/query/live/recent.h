/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What functions, places of the call tree and threads weighed over the last stretch of time, in equal slots: the rows' sparklines
 * of what is being recorded.
 *
 * It is the call tree of that time, or one of processes and their threads, through the same lens but for its time terms. What it
 * has is asked for by ids of keys and by paths, which mean the same in every analysis, so that one serves all of them until
 * another slot is over.
 */
#ifndef PROFTOP_QUERY_LIVE_RECENT_H
#define PROFTOP_QUERY_LIVE_RECENT_H

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/core/lens.h"

#include <stdint.h>

struct progress;

/* Slots of time that are over; their borders stand still while time goes on. */
#define RECENT_SLOTS 12

/* Of column 0, oldest first: weights, or where the metric is of what is there of a heap, what is at the ends of slots. */
struct recent_line {
	int64_t slot[RECENT_SLOTS];
};

struct recent;
struct recent_kept;

/* What was found out last, for those who ask for the same. One thread at a time. */
struct recent_kept *recent_kept_new(void);
void recent_kept_free(struct recent_kept *k);

/* How much is wanted of it. */
enum recent_parts {
	RECENT_ALL,
	RECENT_LEAVES, /* recent_self() of functions, whoever called them, alone; of heaps it is all the same */
	RECENT_THREADS /* recent_thread() alone */
};

/*
 * Of lens->recent_ns before the newest sample, see w, or the same as the cache of lens has of it. k is of frames, or of threads. 0,
 * when *out is NULL where the lens wants none, or compares, or there are no times, or -ECANCELED; the caller ends with
 * recent_free(*out), by any thread.
 */
int recent_new(const struct profile *p, const struct profile_counts *counts,
	       const struct lens *lens, const struct groups *k, const struct weights *w,
	       enum recent_parts parts, struct progress *progress, struct recent **out);
void recent_free(struct recent *r);

/* What ends in a function that was called by the second one, and that by the third, and so on: id, [n]. */
struct recent_line recent_self(const struct recent *r, const uint32_t *id, uint32_t n);
/* What the node with that path has, and all below it. */
struct recent_line recent_node(const struct recent *r, uint64_t path);
/* What a function and all that it calls have, each sample once. */
struct recent_line recent_total(const struct recent *r, uint32_t id);
/* The part of it that was called by another one, or by nothing (ID_NONE); and the part in one that it calls. */
struct recent_line recent_caller(const struct recent *r, uint32_t id, uint32_t caller);
struct recent_line recent_callee(const struct recent *r, uint32_t id, uint32_t callee);
/* What a thread has, by the id of its key; ID_NONE: all of its process, of which there is ID_NONE, too. */
struct recent_line recent_thread(const struct recent *r, uint32_t process, uint32_t thread);

#endif
