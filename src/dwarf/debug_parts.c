/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rest of debug information; see debug_parts.h. */
#include "config.h"

#include "dwarf/debug_parts.h"

#include <stdlib.h>
#include <string.h>

void debug_parts_add(struct debug_parts *p, const char *program)
{
	for (size_t i = 0; i < p->all.n; i++)
		if (strcmp(p->all.at[i], program) == 0)
			return;
	vec_push(&p->all, xstrdup(program));
}

void debug_parts_copy(struct debug_parts *to, const struct debug_parts *from)
{
	for (size_t i = 0; i < from->all.n; i++)
		debug_parts_add(to, from->all.at[i]);
	free(to->shared);
	to->shared = from->shared ? xstrdup(from->shared) : NULL;
	to->shared_id = from->shared_id;
	to->consulted = from->consulted;
}

void debug_parts_done(struct debug_parts *p)
{
	for (size_t i = 0; i < p->all.n; i++)
		free(p->all.at[i]);
	vec_done(&p->all);
	free(p->shared);
	p->shared = NULL;
}
