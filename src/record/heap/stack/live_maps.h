/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is mapped in this process, as the kernel tells it; for code that the loader does not know. */
#ifndef PROFTOP_RECORD_HEAP_STACK_LIVE_MAPS_H
#define PROFTOP_RECORD_HEAP_STACK_LIVE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct live_map {
	uint64_t begin, end;
	uint64_t offset;  /* in the file */
	bool runs;        /* it holds code */
	const char *path; /* "" for memory of no file; borrowed for the call */
};

/* Calls each() for every mapping, in order of address, until it returns false. Reads a file of /proc. */
void live_maps_each(bool (*each)(void *arg, const struct live_map *m), void *arg);

#endif
