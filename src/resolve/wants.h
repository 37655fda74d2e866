/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Locations of which something is to be found out, by module and address, so that what each module's files say is
 * read once and in order.
 */
#ifndef PROFTOP_RESOLVE_WANTS_H
#define PROFTOP_RESOLVE_WANTS_H

#include "mem.h"

#include <stddef.h>
#include <stdint.h>

struct want {
	uint64_t address;  /* in its module */
	uint32_t module;   /* module_id */
	uint32_t location; /* location_id */
};

struct wants {
	VEC(struct want) all;
};

void wants_done(struct wants *w);

/* By module, those of one by address. */
void wants_sort(struct wants *w);

/* How many from number `at` on are of one module; at < w->all.n, and they are sorted. */
size_t wants_of_module(const struct wants *w, size_t at);

#endif
