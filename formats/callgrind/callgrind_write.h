/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes callgrind.out. */
#ifndef PROFTOP_FORMATS_CALLGRIND_CALLGRIND_WRITE_H
#define PROFTOP_FORMATS_CALLGRIND_CALLGRIND_WRITE_H

#include <stdio.h>

struct analysis;
struct err;
struct write_options;

/*
 * A function for each row, with its costs by source line and those of its calls; all events. How often something was called is not known,
 * and written as 1: callgrind_annotate takes costs of 0 calls for the caller's own. As format.write.
 */
int callgrind_write(const struct analysis *a, const struct write_options *o, FILE *to,
		    struct err *e);

#endif
