/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames for locations that have names, module by module; some while more is being read. */
#ifndef PROFTOP_SYMBOLS_SYMBOLIZE_INLINES_H
#define PROFTOP_SYMBOLS_SYMBOLIZE_INLINES_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct build_id;
struct inline_lookup;
struct symbolize_inlines;
struct progress;

/* Borrows p; facts are written to c. */
struct symbolize_inlines *symbolize_inlines_new(struct profile *p, capture_id c);
void symbolize_inlines_free(struct symbolize_inlines *x);

/* What is to be asked for a module (module_id) that has none, from now on; taken over. NULL: nothing. */
void symbolize_inlines_take(struct symbolize_inlines *x, uint32_t module, struct inline_lookup *in);
bool symbolize_inlines_has(const struct symbolize_inlines *x, uint32_t module);
/* Lets go of that. */
void symbolize_inlines_drop(struct symbolize_inlines *x, uint32_t module);

/* Of what dwz moved out of a module's debug information, if that was not found; else NULL. Borrowed. */
const struct build_id *symbolize_inlines_lacks_shared(const struct symbolize_inlines *x,
						      uint32_t module);

/* As symbolize_inline() and symbolize_inline_ahead(), for locations (location_id) below end. */
int symbolize_inlines_run(struct symbolize_inlines *x, uint32_t end, struct progress *progress);
int symbolize_inlines_ahead(struct symbolize_inlines *x, uint32_t end, bool *few,
			    struct progress *progress);

#endif
