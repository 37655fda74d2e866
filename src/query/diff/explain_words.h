/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentences of an explanation. Names in them are untrusted; the caller frees them. */
#ifndef PROFTOP_QUERY_DIFF_EXPLAIN_WORDS_H
#define PROFTOP_QUERY_DIFF_EXPLAIN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff;
struct folded_tree;
struct reason;

/* "parse (prog), called by main, in thread worker": what reads the same of two reasons does not tell them apart. */
char *explain_name(const struct diff *d, const struct folded_tree *t, const struct reason *r);

/* "parse (prog), called by main, grew from 3,000 to 3,540: +540 ± 31 (+18.0 %), in itself". */
char *explain_change(const struct diff *d, const struct folded_tree *t, const struct reason *r);

/* A function that went at one node and came at another, perhaps by another name: one sentence of both. */
char *explain_move(const struct diff *d, const struct folded_tree *t, const struct reason *gone,
		   uint32_t from, const struct reason *came, uint32_t to, bool renamed);

/* A function's own code that is in [n] parts now, which it calls, or was; with what all of it changed by. */
char *explain_parts(const struct diff *d, const struct folded_tree *t, const struct reason *own,
		    const uint32_t *parts, size_t n, double change);

#endif
