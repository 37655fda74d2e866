/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/normalize_cache.h"

#include "base/mem.h"
#include "profile/profile.h"
#include "query/core/filter.h"
#include "query/core/lens.h"
#include "query/core/name_rules.h"
#include "query/diff/normalize.h"

#include <stdlib.h>
#include <string.h>

/* More than there are metrics that a user goes to and fro between. */
#define MOST_KEPT 8

struct kept {
	char *key; /* what it is of; NULL: nothing; owned */
	struct normalize amounts;
};

struct normalize_cache {
	uint32_t version; /* of the profile's counts */
	uint32_t next;    /* where the next one is put: in turns */
	struct kept of[MOST_KEPT];
};

/* text and more; text is freed. */
static char *joined(char *text, char *more)
{
	char *both = xasprintf("%s%s", text, more);

	free(text);
	free(more);
	return both;
}

/* All of a lens that amounts depend on, which its filter, grouping and normalisation are not. The caller frees. */
static char *key_of(const struct lens *l)
{
	const struct lens_sides *s = &l->sides;
	const struct name_rules *n = l->names;
	char *key = xasprintf("%u %u %d %u %d %lld %lld %lld %p %d %zu %zu %zu",
			      s->n_runs[SIDE_BEFORE], s->n_runs[SIDE_AFTER], s->squares,
			      s->reference.v, l->inlines, (long long)l->cursor_ns,
			      (long long)l->half_life_ns, (long long)l->now_ns, (const void *)n,
			      n && n->loose, n ? n->renamed.n : 0, n ? n->paired.n : 0,
			      n ? n->moved.n : 0);

	for (uint32_t i = SIDES_FIRST; i < l->n_columns; i++) {
		const struct lens_column *c = &l->column[i];
		char *filter = c->filter ? filter_text(c->filter) : xstrdup("");

		key = joined(key,
			     xasprintf("\n%u %d %d %lld ", c->metric.event.v,
				       (int)c->metric.measure, c->squares, (long long)c->level_ns));
		key = joined(key, xstrdup(c->stays ? "stays " : ""));
		key = joined(key, filter);
	}
	return key;
}

static void copy(const struct normalize *from, struct normalize *to)
{
	size_t n = from->rows.log.n;

	*to = *from;
	memset(&to->rows.log, 0, sizeof(to->rows.log));
	memset(&to->rows.chance, 0, sizeof(to->rows.chance));
	memset(&to->rows.key, 0, sizeof(to->rows.key));
	for (size_t i = 0; i < from->rows.key.n; i++)
		vec_push(&to->rows.key, from->rows.key.at[i]);
	for (size_t i = 0; i < n; i++) {
		vec_push(&to->rows.log, from->rows.log.at[i]);
		vec_push(&to->rows.chance, from->rows.chance.at[i]);
	}
}

static void forget(struct kept *k)
{
	if (!k->key)
		return;
	free(k->key);
	k->key = NULL;
	normalize_done(&k->amounts);
}

struct normalize_cache *normalize_cache_new(void)
{
	return xcalloc(1, sizeof(struct normalize_cache));
}

void normalize_cache_free(struct normalize_cache *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < MOST_KEPT; i++)
		forget(&k->of[i]);
	free(k);
}

bool normalize_cache_find(const struct normalize_cache *k, const struct profile_counts *counts,
			  const struct lens *lens, struct normalize *out)
{
	char *key = key_of(lens);
	bool found = false;

	for (uint32_t i = 0; i < MOST_KEPT && !found && k->version == counts->version; i++) {
		found = k->of[i].key && strcmp(k->of[i].key, key) == 0;
		if (found)
			copy(&k->of[i].amounts, out);
	}
	free(key);
	return found;
}

void normalize_cache_put(struct normalize_cache *k, const struct profile_counts *counts,
			 const struct lens *lens, const struct normalize *a)
{
	struct kept *to;

	for (uint32_t i = 0; i < MOST_KEPT && k->version != counts->version; i++)
		forget(&k->of[i]);
	k->version = counts->version;
	to = &k->of[k->next++ % MOST_KEPT];
	forget(to);
	to->key = key_of(lens);
	copy(a, &to->amounts);
}
