/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A regular expression, or a whole name, over the labels of keys: which match, and what share they have of the total. */
#ifndef PROFTOP_QUERY_TREE_SEARCH_H
#define PROFTOP_QUERY_TREE_SEARCH_H

#include "query/tree/calltree.h"

#include <stddef.h>

struct err;
struct regex;

struct search {
	struct regex *regex; /* owned; NULL: of search_init_exact() */
	uint32_t n_keys;
	bool *matches;                   /* [n_keys]; owned */
	uint32_t n_matching;             /* keys that match */
	int64_t total[LENS_MAX_COLUMNS]; /* samples with a matching frame anywhere */
};

/* Smart-case PCRE2 as in filters. -EINVAL with a sentence for a bad expression. t may be NULL. */
int search_init(struct search *s, const char *regex, const struct groups *k,
		const struct calltree *t, struct err *e);
/* Matches labels that are the text to the letter. Returns whether any is; if not, s is untouched. t may be NULL. */
bool search_init_exact(struct search *s, const char *label, const struct groups *k,
		       const struct calltree *t);
void search_done(struct search *s);

/* Did the expression take too long on some texts, which do not match then? */
bool search_gave_up(const struct search *s);

/* Does any other text match the expression, as the labels do that `matches` is of? */
bool search_matches(const struct search *s, const char *text, size_t n);

#endif
