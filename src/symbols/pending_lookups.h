/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locations of which something is to be found out, by module and address, so that what each module's files say is
 * read once and in order.
 */
#ifndef PROFTOP_SYMBOLS_PENDING_LOOKUPS_H
#define PROFTOP_SYMBOLS_PENDING_LOOKUPS_H

#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>

struct want {
	uint64_t address;  /* in its module */
	uint32_t module;   /* module_id */
	uint32_t location; /* location_id */
};

struct pending_lookups {
	VEC(struct want) all;
};

void pending_lookups_done(struct pending_lookups *w);

/* By module, those of one by address. */
void pending_lookups_sort(struct pending_lookups *w);

/* How many from number `at` on are of one module; at < w->all.n, and they are sorted. */
size_t pending_lookups_of_module(const struct pending_lookups *w, size_t at);

#endif
