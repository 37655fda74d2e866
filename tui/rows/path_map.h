/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a view remembers about places in a tree: a small number for each path hash. Places are named
 * by their paths because these mean the same after the tree was built anew.
 */
#ifndef PROFTOP_TUI_ROWS_PATH_MAP_H
#define PROFTOP_TUI_ROWS_PATH_MAP_H

#include <stddef.h>
#include <stdint.h>

struct path_map {
	struct path_slot *slot; /* [n_slots]; owned */
	size_t n_slots;         /* power of two, or 0 */
	size_t n;               /* slots in use, those of value 0 included */
};

/* Zeroed is a valid empty map. */
void path_map_done(struct path_map *m);

/* 0 for a path that was never put. */
uint32_t path_map_get(const struct path_map *m, uint64_t path);
void path_map_put(struct path_map *m, uint64_t path, uint32_t value);

#endif
