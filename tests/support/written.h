/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What profiles are as folded stacks. */
#ifndef PROFTOP_TESTS_SUPPORT_WRITTEN_H
#define PROFTOP_TESTS_SUPPORT_WRITTEN_H

#include <stdbool.h>

struct profile;
struct write_options;

/* The text of the first event, which the collapsing scripts take; samples: how many, else their weight. The caller frees. */
char *written_folded(const struct profile *p, const struct write_options *o, bool samples);

/* The lines of a text in order, in its place; takes it, the caller frees. */
char *written_sorted(char *text);

#endif
