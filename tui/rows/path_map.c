/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Path hash → number, open addressing; what is put to 0 keeps its slot until the map next grows. */
#include "config.h"

#include "tui/rows/path_map.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

struct path_slot {
	uint64_t path;
	uint32_t value;
	uint32_t used; /* 0 or 1: any path is possible */
};

/* The slot of path, or the empty one where it belongs. n_slots > n. */
static struct path_slot *find(const struct path_map *m, uint64_t path)
{
	size_t mask = m->n_slots - 1, i = (size_t)hash_u64(path) & mask;

	while (m->slot[i].used && m->slot[i].path != path)
		i = (i + 1) & mask;
	return &m->slot[i];
}

/* Doubles the room, or only sweeps out the zeroes when these are many. */
static void grow(struct path_map *m)
{
	struct path_map old = *m;
	size_t live = 0;

	for (size_t i = 0; i < old.n_slots; i++)
		live += old.slot[i].used && old.slot[i].value != 0;
	m->n_slots = 16;
	while (m->n_slots < live * 4)
		m->n_slots *= 2;
	m->slot = xcalloc(m->n_slots, sizeof(*m->slot));
	m->n = live;
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].used && old.slot[i].value != 0)
			*find(m, old.slot[i].path) = old.slot[i];
	free(old.slot);
}

void path_map_done(struct path_map *m)
{
	free(m->slot);
	*m = (struct path_map){ .n = 0 };
}

uint32_t path_map_get(const struct path_map *m, uint64_t path)
{
	return m->n_slots > 0 ? find(m, path)->value : 0;
}

void path_map_put(struct path_map *m, uint64_t path, uint32_t value)
{
	struct path_slot *s;

	if (value == 0 && path_map_get(m, path) == 0)
		return;
	if ((m->n + 1) * 4 > m->n_slots * 3)
		grow(m);
	s = find(m, path);
	m->n += !s->used;
	*s = (struct path_slot){ .path = path, .value = value, .used = 1 };
}
