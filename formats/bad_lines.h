/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a text format that could not be read: how many, and what is wrong with the first ones. */
#ifndef PROFTOP_FORMATS_BAD_LINES_H
#define PROFTOP_FORMATS_BAD_LINES_H

#include "profile/builder.h"

#include <stdint.h>

#define BAD_LINES_TOLD 5 /* so many are told one by one */

struct bad_line {
	uint64_t line;       /* from 1 */
	const char *problem; /* "has no count"; a constant */
};

/* Zeroed is none. */
struct bad_lines {
	uint64_t n;                           /* all of them */
	struct bad_line told[BAD_LINES_TOLD]; /* the first */
};

void bad_lines_add(struct bad_lines *b, uint64_t line, const char *problem);

/* States them as a loss, if there are any. Wants the pen. */
void bad_lines_tell(const struct bad_lines *b, struct profile *p, capture_id c);

#endif
