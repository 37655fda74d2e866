/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames for locations that have names, module by module; some while more is being read. */
#ifndef PROFTOP_RESOLVE_NAMING_INLINES_H
#define PROFTOP_RESOLVE_NAMING_INLINES_H

#include "profile.h"

#include <stdbool.h>
#include <stdint.h>

struct build_id;
struct inlines;
struct naming_inlines;
struct progress;

/* Borrows p; facts are written to c. */
struct naming_inlines *naming_inlines_new(struct profile *p, capture_id c);
void naming_inlines_free(struct naming_inlines *x);

/* What is to be asked for a module (module_id) that has none, from now on; taken over. NULL: nothing. */
void naming_inlines_take(struct naming_inlines *x, uint32_t module, struct inlines *in);
bool naming_inlines_has(const struct naming_inlines *x, uint32_t module);
/* Lets go of that. */
void naming_inlines_drop(struct naming_inlines *x, uint32_t module);

/* Of what dwz moved out of a module's debug information, if that was not found; else NULL. Borrowed. */
const struct build_id *naming_inlines_lacks_shared(const struct naming_inlines *x, uint32_t module);

/* As naming_inline() and naming_inline_ahead(), for locations (location_id) below end. */
int naming_inlines_run(struct naming_inlines *x, uint32_t end, struct progress *progress);
int naming_inlines_ahead(struct naming_inlines *x, uint32_t end, bool *few,
			 struct progress *progress);

#endif
