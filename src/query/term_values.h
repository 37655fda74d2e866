/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values that terms of a filter may have in a profile: what stands behind "tid:" or "module:", most samples first, for completion.
 *
 * The order is of all samples, or of a part of them in a long recording, whatever is filtered; of a heap it is that of the profile.
 */
#ifndef PROFTOP_QUERY_TERM_VALUES_H
#define PROFTOP_QUERY_TERM_VALUES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

struct term_value_found {
	const char *text;   /* a name as it is, not as an expression; or a number */
	const char *beside; /* what a number stands for: the name of a thread; else "" */
	uint64_t n_samples; /* of those that were looked at */
};

struct term_values {
	struct term_value_found *at; /* [n]; owned, texts are the profile's or made's */
	size_t n, cap;
	struct arena made;
};

/* Are there lists of values of a kind of that name? Not of numbers that may be any, such as time. */
bool term_values_has(const char *kind);

/* All values of such a kind, "tid" or "module", that begin with a text. The caller ends with term_values_done(). */
void term_values_init(struct term_values *v, const struct profile *p, const char *kind,
		      const char *begin);
/* The same that have the text anywhere, in upper or lower case. */
void term_values_init_with(struct term_values *v, const struct profile *p, const char *kind,
			   const char *part);
void term_values_done(struct term_values *v);

#endif
