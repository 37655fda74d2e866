/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "analysis_cache.h"

#include "amounts_kept.h"
#include "heap_kept.h"
#include "mem.h"
#include "recent.h"
#include "table_kept.h"

#include <stdlib.h>

struct analysis_cache *analysis_cache_new(void)
{
	struct analysis_cache *c = xcalloc(1, sizeof(*c));

	c->heap = heap_kept_new();
	c->amounts = amounts_kept_new();
	c->recent = recent_kept_new();
	c->table = table_kept_new();
	return c;
}

void analysis_cache_free(struct analysis_cache *c)
{
	if (!c)
		return;
	heap_kept_free(c->heap);
	amounts_kept_free(c->amounts);
	recent_kept_free(c->recent);
	table_kept_free(c->table);
	free(c);
}
