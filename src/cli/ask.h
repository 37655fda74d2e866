/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options as a lens: what the user asked to be counted, of which samples, by what. */
#ifndef PROFTOP_CLI_ASK_H
#define PROFTOP_CLI_ASK_H

#include "lens.h"

struct analysis;
struct err;
struct options;
struct profile;

/* "function", "module", …: as --group takes it and JSON says it. */
const char *ask_group_name(enum grouping g);

/* "count", "ns", "bytes": as JSON says it. */
const char *ask_unit_name(enum unit u);

/* "FUNCTION", "MODULE", …: above a column of such rows. */
const char *ask_group_title(enum grouping g);

/* Are rows of that grouping made of frames, so that trees have them too? */
bool ask_group_of_frames(enum grouping g);

/* Fills l, which the caller ends with lens_done(). 0, or -errno with a sentence; l needs nothing then. */
int ask_lens(const struct options *o, const struct profile *p, struct lens *l, struct err *e);

/*
 * The answers for ask_lens(), with these ANALYSIS_… parts; says on stderr when they are in doubt. *out is
 * the caller's to free.
 */
int ask_analysis(const struct options *o, const struct profile *p, unsigned parts,
		 struct analysis **out, struct err *e);

#endif
