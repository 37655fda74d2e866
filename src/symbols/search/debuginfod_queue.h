/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files for the modules of one capture, asked for one after the other, and the fact that says how
 * far that is.
 */
#ifndef PROFTOP_SYMBOLS_SEARCH_DEBUGINFOD_QUEUE_H
#define PROFTOP_SYMBOLS_SEARCH_DEBUGINFOD_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/profile.h"

struct build_id;
struct debuginfod_queue;
struct progress;

/* Is about to ask for the files of n_modules modules. Borrows p and progress. */
struct debuginfod_queue *debuginfod_queue_new(struct profile *p, capture_id c, size_t n_modules,
					      struct progress *progress);
void debuginfod_queue_free(struct debuginfod_queue *g);

/* What follows is asked for this module; to be called once for each of n_modules. */
void debuginfod_queue_next(struct debuginfod_queue *g, module_id m);

/*
 * The debug file of the module, or where its program is not here either and there is no debug file,
 * the program: it may have symbols of its own. 0 and *path, which is the caller's; -ENOENT when servers
 * have none; another -errno when it was not asked for or did not come.
 */
int debuginfod_queue_debug_file(struct debuginfod_queue *g, const struct build_id *id,
				bool lacks_program, char **path);

/* What dwz moved out of the module's debug information: true when it is now where it is looked for. */
bool debuginfod_queue_shared(struct debuginfod_queue *g, const struct build_id *id);

/* States what came of all. */
void debuginfod_queue_state(const struct debuginfod_queue *g);

#endif
