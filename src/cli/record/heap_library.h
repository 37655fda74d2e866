/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of the heap tracer, libproftop-heap.so, as a recorded program loads it. */
#ifndef PROFTOP_CLI_RECORD_HEAP_LIBRARY_H
#define PROFTOP_CLI_RECORD_HEAP_LIBRARY_H

#include <stdbool.h>

#include "cli/options/scratch.h"

struct heap_library {
	char *path; /* NULL: there is none; owned */
	struct scratch
		scratch; /* where the file was written, if this program has the library in itself */
};

/* Finds the library, or writes it. False: there is none, which is said. */
bool heap_library_take(struct heap_library *l);

/* Removes what was written, unless a process still runs with it: its file stays then, which is said. */
void heap_library_release(struct heap_library *l);

#endif
