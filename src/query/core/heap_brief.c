/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/heap_brief.h"

#include "base/mem.h"
#include "query/core/heap_pass.h"
#include "query/core/heap_scan.h"

#include <stdlib.h>

struct heap_brief {
	/* the state, where there are sums */
	uint32_t version, n_allocations, n_moments;
	const struct heap_group *group; /* not looked at */
	struct heap_freed *of;          /* [n_origins]; owned */
};

struct adding {
	const struct heap_columns *c;
	uint32_t n_moments;
	struct heap_freed *of[HEAP_SCAN_MOST]; /* [n_origins] of each thread; owned */
};

struct heap_brief *heap_brief_new(void)
{
	return xcalloc(1, sizeof(struct heap_brief));
}

void heap_brief_free(struct heap_brief *k)
{
	if (!k)
		return;
	free(k->of);
	free(k);
}

static void add_rows(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct adding *a = arg;
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = to - at > HEAP_GROUP ? at + HEAP_GROUP : to;
		heap_freed_add_brief(a->of[worker], a->c, at / HEAP_GROUP,
				     heap_brief_rows(a->c, at, end, a->n_moments));
	}
}

static struct heap_freed *add_up(const struct heap_state *s, struct progress *progress)
{
	const struct heap_columns *c = &s->columns;
	struct adding a = { .c = c, .n_moments = s->track[0].n_moments };
	unsigned n = heap_scan_threads(c->n_allocations);
	int rc;

	if (c->n_origins > c->n_allocations / 16)
		n = 1;
	for (unsigned i = 0; i < n; i++)
		a.of[i] = xcalloc(c->n_origins, sizeof(*a.of[i]));
	rc = heap_scan(c->n_allocations, n, progress, add_rows, &a);
	for (unsigned i = 1; i < n; i++) {
		for (uint32_t j = 0; j < c->n_origins; j++)
			heap_freed_sum(&a.of[0][j], &a.of[i][j], 1);
		free(a.of[i]);
	}
	if (rc == 0)
		return a.of[0];
	free(a.of[0]);
	return NULL;
}

const struct heap_freed *heap_brief_sums(struct heap_brief *k, const struct heap_state *s,
					 uint32_t version, struct progress *progress)
{
	const struct heap_columns *c = &s->columns;

	if (k->of && k->version == version && k->n_allocations == c->n_allocations &&
	    k->n_moments == s->track[0].n_moments && k->group == c->group)
		return k->of;
	free(k->of);
	k->of = add_up(s, progress);
	k->version = version;
	k->n_allocations = c->n_allocations;
	k->n_moments = s->track[0].n_moments;
	k->group = c->group;
	return k->of;
}
