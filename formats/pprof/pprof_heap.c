/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The types are those of Go's runtime/pprof, and of profiles that were converted from gperftools, which count what is in use
 * alone. Numbers are taken as they stand: Go has scaled its samples up already.
 */
#include "config.h"

#include "formats/pprof/pprof_heap.h"

#include "base/mem.h"
#include "formats/pprof/pprof_tables.h"
#include "formats/summed_heap.h"

#include <stdlib.h>
#include <string.h>

#define ABSENT SIZE_MAX

struct pprof_heap {
	struct summed_heap *heap;
	size_t at[N_SUMMED_NUMBERS]; /* place of each number among the values, or ABSENT */
};

static const struct {
	const char *name;
	enum summed_number number;
} types[] = {
	{ "inuse_objects", SUMMED_USED_BLOCKS }, { "objects", SUMMED_USED_BLOCKS },
	{ "inuse_space", SUMMED_USED_BYTES },    { "space", SUMMED_USED_BYTES },
	{ "alloc_objects", SUMMED_ALL_BLOCKS },  { "alloc_space", SUMMED_ALL_BYTES },
};

static void find_types(struct pprof_heap *h, const struct pprof_tables *t)
{
	for (int i = 0; i < N_SUMMED_NUMBERS; i++)
		h->at[i] = ABSENT;
	for (size_t i = 0; i < t->types.n; i++) {
		struct pprof_string s = pprof_string(t, t->types.at[i].type);

		for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++)
			if (s.n == strlen(types[k].name) && memcmp(s.s, types[k].name, s.n) == 0)
				h->at[types[k].number] = i;
	}
}

static bool counts_all(const struct pprof_heap *h)
{
	return h->at[SUMMED_ALL_BLOCKS] != ABSENT && h->at[SUMMED_ALL_BYTES] != ABSENT;
}

struct pprof_heap *pprof_heap_new(struct profile *p, capture_id c, const struct pprof_tables *t)
{
	struct pprof_heap *h = xcalloc(1, sizeof(*h));

	find_types(h, t);
	if (h->at[SUMMED_USED_BLOCKS] == ABSENT || h->at[SUMMED_USED_BYTES] == ABSENT) {
		free(h);
		return NULL;
	}
	h->heap = summed_heap_new(p, c, counts_all(h));
	return h;
}

void pprof_heap_add(struct pprof_heap *h, stack_id stack, thread_id thread, const int64_t *value,
		    size_t n)
{
	int64_t number[N_SUMMED_NUMBERS];

	for (int i = 0; i < N_SUMMED_NUMBERS; i++)
		number[i] = h->at[i] < n ? value[h->at[i]] : 0;
	summed_heap_add(h->heap, stack, thread, number);
}

void pprof_heap_tell(struct pprof_heap *h)
{
	summed_heap_tell(h->heap);
}

void pprof_heap_free(struct pprof_heap *h)
{
	if (!h)
		return;
	summed_heap_free(h->heap);
	free(h);
}
