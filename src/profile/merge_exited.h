/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that ended long ago, as one for each name; private to this room. See struct build_folding. */
#ifndef PROFTOP_PROFILE_MERGE_EXITED_H
#define PROFTOP_PROFILE_MERGE_EXITED_H

#include "profile/store.h"

/* Have so many ended that a fold is due? */
bool merge_exited_due(const struct profile *p);

/*
 * The pen is held. What becomes of each thread, [n_threads] as of before, the caller frees; NULL: nothing is to. Only samples
 * older than old_ns are of threads that become others. Those are in the profile then.
 */
uint32_t *merge_exited_threads(struct profile *p, int64_t old_ns);

#endif
