/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A heap as an interpreted file of heaptrack's, of format version 3: what heaptrack_gui and heaptrack_print open. */
#ifndef PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_WRITE_H
#define PROFTOP_FORMATS_HEAPTRACK_HEAPTRACK_WRITE_H

#include <stdio.h>

struct analysis;
struct err;
struct write_options;

/* As format.write. The event of column 0 is written; it must be of a heap that is not sampled, and no filter may change stacks. */
int heaptrack_write(const struct analysis *a, const struct write_options *o, FILE *to,
		    struct err *e);

#endif
