/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line as a comparison: what is before and what is after. */
#ifndef PROFTOP_CLI_OPTIONS_COMPARISON_OPTIONS_H
#define PROFTOP_CLI_OPTIONS_COMPARISON_OPTIONS_H

#include "query/diff/comparison.h"

struct err;
struct lens;
struct lens_wish;
struct options;
struct profile;

/* What is wrong with the words, before anything is read. 0, or -EINVAL with a sentence. */
int comparison_options_check(const struct options *o, struct err *e);

/* The sides of files that were read. 0, or -EINVAL with a sentence; the caller ends with comparison_done() in any case. */
int comparison_options(const struct options *o, const struct profile *p, struct comparison *s,
		       struct err *e);

/*
 * The lens of w that compares, by a metric ("": the events' own) and by w's normalisation, which the caller ends with
 * lens_done(). 0, or -errno with a sentence; l needs nothing then.
 */
int comparison_options_lens(const struct lens_wish *w, const struct comparison *s,
			    const struct profile *p, const char *metric, struct lens *l,
			    struct err *e);

#endif
