/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The annotation of a function: what its lines and instructions cost, from the profile and the files. */
#ifndef PROFTOP_CODE_ANNOTATE_H
#define PROFTOP_CODE_ANNOTATE_H

#include "code/source_file.h"
#include "query/code_weights.h"

struct analysis;
struct annotation;
struct progress;
struct resolver_options;

/* Where files are looked for; what it points to is borrowed. */
struct annotate_options {
	const struct resolver_options *symbols;
	struct source_options sources;
};

/*
 * Opens files, so not for the thread of a terminal. 0, -ECANCELED, or -ENOENT when the analysis does not
 * know the function; missing files are told in *out, which the caller frees.
 */
int annotate(const struct analysis *a, const struct annotate_options *o,
	     const struct code_wish *wish, struct progress *progress, struct annotation **out);

#endif
