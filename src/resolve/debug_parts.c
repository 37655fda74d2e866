/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where split units may lie; see split_places.h. */
#include "config.h"

#include "split_places.h"

#include <stdlib.h>
#include <string.h>

void split_places_add(struct split_places *p, const char *program)
{
	for (size_t i = 0; i < p->all.n; i++)
		if (strcmp(p->all.at[i], program) == 0)
			return;
	vec_push(&p->all, xstrdup(program));
}

void split_places_copy(struct split_places *to, const struct split_places *from)
{
	for (size_t i = 0; i < from->all.n; i++)
		split_places_add(to, from->all.at[i]);
}

void split_places_done(struct split_places *p)
{
	for (size_t i = 0; i < p->all.n; i++)
		free(p->all.at[i]);
	vec_done(&p->all);
}
