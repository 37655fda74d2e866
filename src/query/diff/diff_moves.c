/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/diff_moves.h"

#include "base/mem.h"
#include "query/diff/diff.h"

#include <stdlib.h>
#include <string.h>

/* A caller has to have changed by at least this part of what the function weighed, and at most by its inverse. */
#define CALLER_PART 0.5

/* A function on one side alone. */
struct lone {
	const char *label;
	uint32_t key;
	bool gone;
};

struct finding_moves {
	const struct diff *d;
	uint32_t *row; /* [n_keys] of the table, KEY_NONE: none; owned */
	VEC(struct lone) lone;
	struct diff_move *move; /* [n_keys] */
};

static const struct analysis *analysis_of(const struct finding_moves *f)
{
	return f->d->analysis;
}

static void delta_of(const struct finding_moves *f, uint32_t key, bool self,
		     struct noise_delta *out)
{
	const struct table *t = &analysis_of(f)->table;
	size_t at = (size_t)f->row[key] * t->n_columns;

	diff_delta(f->d, key, self ? PART_SELF : PART_TOTAL, self ? &t->self[at] : &t->total[at],
		   out);
}

static void find_lone(struct finding_moves *f)
{
	const struct table *t = &analysis_of(f)->table;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct key *key = &analysis_of(f)->keys.key[t->key[i]];
		struct lone lone = { key->label, t->key[i], false };
		struct noise_delta total;

		f->row[t->key[i]] = i;
		diff_delta(f->d, t->key[i], PART_TOTAL, &t->total[(size_t)i * t->n_columns],
			   &total);
		lone.gone = total.before > 0 && total.after == 0;
		if (lone.gone || (total.before == 0 && total.after > 0))
			vec_push(&f->lone, lone);
	}
}

static int by_label(const void *x, const void *y)
{
	const struct lone *a = x, *b = y;
	int c = strcmp(a->label, b->label);

	return c != 0 ? c : a->gone != b->gone ? (a->gone ? -1 : 1) : a->key < b->key ? -1 : 1;
}

/* One that is gone and one that is new, of a name that no other has: the function moved. */
static void pair_modules(struct finding_moves *f)
{
	const struct lone *at = f->lone.at;

	for (size_t i = 0, n; i < f->lone.n; i += n) {
		n = 1;
		while (i + n < f->lone.n && strcmp(at[i].label, at[i + n].label) == 0)
			n++;
		if (n != 2 || !at[i].gone || at[i + 1].gone)
			continue;
		f->move[at[i].key] = (struct diff_move){ MOVE_MODULE, true, at[i + 1].key };
		f->move[at[i + 1].key] = (struct diff_move){ MOVE_MODULE, false, at[i].key };
	}
}

/* The key that calls it everywhere, KEY_NONE: several do, or none. */
static uint32_t only_caller(const struct calltree *t, uint32_t key)
{
	uint32_t caller = KEY_NONE;

	for (uint32_t i = t->first_of[key]; i < t->first_of[key + 1]; i++) {
		uint32_t above = t->key[t->parent[t->of_key[i]]];

		if (above == KEY_NONE || above == key || (caller != KEY_NONE && above != caller))
			return KEY_NONE;
		caller = above;
	}
	return caller;
}

/* Did the caller's own weight take up what the function had itself, or give it away? */
static void find_caller(struct finding_moves *f, const struct lone *lone)
{
	uint32_t caller = only_caller(analysis_of(f)->tree, lone->key);
	struct noise_delta own, self, total;
	double part;

	if (caller == KEY_NONE || f->row[caller] == KEY_NONE || f->move[lone->key].move)
		return;
	delta_of(f, lone->key, true, &own);
	delta_of(f, caller, true, &self);
	delta_of(f, caller, false, &total);
	if (total.before == 0 || total.after == 0 || diff_change(&own) == 0 ||
	    !diff_is_beyond(&f->d->self, &own) || !diff_is_beyond(&f->d->self, &self))
		return;
	part = -diff_change(&self) / diff_change(&own);
	if (part >= CALLER_PART && part <= 1 / CALLER_PART)
		f->move[lone->key] = (struct diff_move){ MOVE_CALLER, lone->gone, caller };
}

struct diff_move *diff_moves_find(const struct diff *d)
{
	const struct analysis *a = d->analysis;
	struct finding_moves f = { .d = d };

	if (a->table_keys != &a->keys || a->keys.grouping != GROUP_FUNCTION || !a->tree)
		return NULL;
	f.row = xmalloc(((size_t)a->keys.n + 1) * sizeof(*f.row));
	memset(f.row, 0xff, ((size_t)a->keys.n + 1) * sizeof(*f.row));
	f.move = xcalloc((size_t)a->keys.n + 1, sizeof(*f.move));
	find_lone(&f);
	if (f.lone.n > 1)
		qsort(f.lone.at, f.lone.n, sizeof(*f.lone.at), by_label);
	pair_modules(&f);
	for (size_t i = 0; i < f.lone.n; i++)
		find_caller(&f, &f.lone.at[i]);
	free(f.row);
	vec_done(&f.lone);
	return f.move;
}

char *diff_move_text(const struct diff *d, const struct diff_move *m)
{
	const struct key *key = m->move ? &d->analysis->keys.key[m->key] : NULL;

	switch (m->move) {
	case MOVE_NONE:
		break;
	case MOVE_MODULE:
		return xasprintf("%s in %s", m->gone ? "now" : "was",
				 *key->module ? key->module : "no module");
	case MOVE_CALLER:
		return xasprintf("perhaps %s %s", m->gone ? "inlined into" : "taken out of",
				 key->label);
	}
	return NULL;
}
