/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files for the modules of one capture, asked for one after the other, and the fact that says how
 * far that is.
 */
#ifndef PROFTOP_RESOLVE_FETCHING_H
#define PROFTOP_RESOLVE_FETCHING_H

#include <stdbool.h>
#include <stddef.h>

#include "profile.h"

struct build_id;
struct fetching;
struct progress;

/* Is about to ask for the files of n_modules modules. Borrows p and progress. */
struct fetching *fetching_new(struct profile *p, capture_id c, size_t n_modules,
			      struct progress *progress);
void fetching_free(struct fetching *g);

/* What follows is asked for this module; to be called once for each of n_modules. */
void fetching_next(struct fetching *g, module_id m);

/*
 * The debug file of the module, or where its program is not here either and there is no debug file,
 * the program: it may have symbols of its own. 0 and *path, which is the caller's; -ENOENT when servers
 * have none; another -errno when it was not asked for or did not come.
 */
int fetching_debug_file(struct fetching *g, const struct build_id *id, bool lacks_program,
			char **path);

/* What dwz moved out of the module's debug information: true when it is now where it is looked for. */
bool fetching_shared(struct fetching *g, const struct build_id *id);

/* States what came of all. */
void fetching_state(const struct fetching *g);

#endif
