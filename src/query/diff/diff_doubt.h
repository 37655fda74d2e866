/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What makes a comparison doubtful: names that one side lost, and counts that can be no samples. */
#ifndef PROFTOP_QUERY_DIFF_DIFF_DOUBT_H
#define PROFTOP_QUERY_DIFF_DIFF_DOUBT_H

struct diff;

/* Why, and what would help, in a sentence without its full stop; NULL: there is no reason to doubt. The caller frees. */
char *diff_say_doubt(const struct diff *d);

#endif
