/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What profiles are as folded stacks. */
#ifndef PROFTOP_TESTS_WRITTEN_H
#define PROFTOP_TESTS_WRITTEN_H

#include <stdbool.h>

struct profile;
struct write_options;

/* The text; samples: of the number of samples, else of the metric that a profile opens with. The caller frees. */
char *written_folded(const struct profile *p, const struct write_options *o, bool samples);

#endif
