/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames before they are grouped: a function, or "no function known yet" in some module.
 *
 * Atom a below n_functions is that function, n_functions + m an unnamed frame of module m. What
 * regular expressions say of frames is said once per atom.
 */
#ifndef PROFTOP_QUERY_CORE_FRAME_IDS_H
#define PROFTOP_QUERY_CORE_FRAME_IDS_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct progress;
struct term;

static inline uint32_t frame_ids_n(const struct profile_counts *counts)
{
	return counts->n_functions + counts->n_modules;
}

/* The atom of a frame whose function may be ID_NONE or newer than the counts. */
static inline uint32_t frame_id_of_frame(const struct profile_counts *counts, uint32_t function,
					 uint32_t module)
{
	return function < counts->n_functions ? function : counts->n_functions + module;
}

/* What an unnamed frame of a module is called, "[libc.so.6]", whatever is known of its function; the caller frees. */
char *frame_id_made_label(const struct profile *p, module_id m);

/*
 * Which atoms a term with an expression about frames (fn, module, file, leaf, in and transforms) matches:
 * out is [frame_ids_n()]. Thread names match nothing. Returns 0 or -ECANCELED.
 */
int frame_ids_match(const struct profile *p, const struct profile_counts *counts,
		    const struct term *t, struct progress *progress, bool *out);

#endif
