/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searching labels, and what part of the tree the found ones have. */
#include "config.h"

#include "query/tree/search.h"

#include "base/mem.h"
#include "query/core/regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Outermost matches only, so that a sample with two of them counts once. */
static void sum_matches(struct search *s, const struct calltree *t)
{
	for (uint32_t i = 1; i < t->n_nodes;) {
		if (!s->matches[t->key[i]]) {
			i++;
			continue;
		}
		for (uint32_t c = 0; c < t->n_columns; c++)
			s->total[c] += t->total[(size_t)i * t->n_columns + c];
		i = t->end[i];
	}
}

int search_init(struct search *s, const char *regex, const struct groups *k,
		const struct calltree *t, struct err *e)
{
	struct regex *r = regex_new(regex, e);

	if (!r)
		return -EINVAL;
	*s = (struct search){ .regex = r, .n_keys = k->n };
	s->matches = xmalloc(k->n * sizeof(*s->matches));
	for (uint32_t i = 0; i < k->n; i++) {
		const char *label = k->key[i].label;

		s->matches[i] = regex_matches(r, label, strlen(label));
		s->n_matching += s->matches[i];
	}
	if (t)
		sum_matches(s, t);
	return 0;
}

bool search_init_exact(struct search *s, const char *label, const struct groups *k,
		       const struct calltree *t)
{
	struct search found = { .n_keys = k->n, .matches = xcalloc(k->n, sizeof(bool)) };

	for (uint32_t i = 0; i < k->n; i++) {
		found.matches[i] = strcmp(k->key[i].label, label) == 0;
		found.n_matching += found.matches[i];
	}
	if (found.n_matching == 0) {
		search_done(&found);
		return false;
	}
	if (t)
		sum_matches(&found, t);
	*s = found;
	return true;
}

void search_done(struct search *s)
{
	regex_free(s->regex);
	free(s->matches);
	*s = (struct search){ 0 };
}

bool search_gave_up(const struct search *s)
{
	return regex_gave_up(s->regex);
}

bool search_matches(const struct search *s, const char *text, size_t n)
{
	return regex_matches(s->regex, text, n);
}
