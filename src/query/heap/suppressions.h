/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaks that are known and accepted, as LeakSanitizer's suppression files name them: lines "leak:PATTERN", of which a stack
 * has a function, a source file or a module that contains PATTERN. In it * stands for anything, ^ and $ for the ends.
 * Lines that begin with # and empty ones say nothing.
 */
#ifndef PROFTOP_QUERY_HEAP_SUPPRESSIONS_H
#define PROFTOP_QUERY_HEAP_SUPPRESSIONS_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct suppressions;

/* Parses n bytes of a file of that name. -EINVAL with a sentence that names file and line; the caller frees *out. */
int suppressions_parse(const char *name, const char *text, size_t n, struct suppressions **out,
		       struct err *e);
void suppressions_free(struct suppressions *s);

/*
 * Which stacks have a frame that matches s, which may be NULL, or a suppression that the program has itself, as a file of heaptrack
 * says (facts "suppression 1", … of the section "file"): [n_stacks], the caller frees. NULL: there are no suppressions.
 */
bool *suppressions_stacks(const struct suppressions *s, const struct profile *p,
			  const struct profile_counts *counts);

/* Does the pattern match somewhere in text? */
bool suppressions_match_text(const char *pattern, const char *text);

#endif
