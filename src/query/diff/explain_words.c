/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/explain_words.h"

#include "base/mem.h"
#include "base/text.h"
#include "query/core/name_rules.h"
#include "query/diff/explain.h"
#include "query/diff/folded_tree.h"

#include <math.h>
#include <stdlib.h>

/* Frames of the way there that a sentence has room for, and columns of each and of the function's own name. */
#define CALLERS     2
#define CALLER_COLS 32
#define NAME_COLS   56

static const struct key *key_of(const struct diff *d, const struct folded_tree *t, uint32_t node)
{
	return &d->analysis->keys.key[t->key[node]];
}

/* Modules and files that call back into themselves are not called recursive. */
static bool is_recursive(const struct diff *d, const struct folded_tree *t, uint32_t node)
{
	enum grouping g = d->analysis->keys.grouping;

	return t->recursive[node] && (g == GROUP_FUNCTION || g == GROUP_LINE);
}

/* "main > serve (recursive)": the nearest callers, outermost first; the caller frees. */
static char *way_there(const struct diff *d, const struct folded_tree *t, uint32_t node)
{
	char *way = xstrdup("");
	uint32_t up = t->parent[node];

	for (int i = 0; i < CALLERS && up != 0 && !(key_of(d, t, up)->flags & FUNCTION_COMM);
	     up = t->parent[up], i++) {
		char *name = text_fold_name(key_of(d, t, up)->label, CALLER_COLS, false);
		char *longer = xasprintf("%s%s%s%s", name,
					 is_recursive(d, t, up) ? " (recursive)" : "",
					 i ? " > " : "", way);

		free(name);
		free(way);
		way = longer;
	}
	return way;
}

/* "parse (prog)", "walk (prog, recursive)"; the caller frees. */
static char *name_of_key(const struct key *key, bool recursive)
{
	char *label = text_fold_name(key->label, NAME_COLS, false), *out;

	if (!*key->module && !recursive)
		return label;
	out = xasprintf("%s (%s%s%s)", label, key->module, *key->module && recursive ? ", " : "",
			recursive ? "recursive" : "");
	free(label);
	return out;
}

/* "parse (prog), called by main"; the caller frees. */
static char *name_at(const struct diff *d, const struct folded_tree *t, uint32_t node)
{
	char *way = way_there(d, t, node);
	char *name = name_of_key(key_of(d, t, node), is_recursive(d, t, node));
	char *out = xasprintf("%s%s%s", name, *way ? ", called by " : "", way);

	free(name);
	free(way);
	return out;
}

/* ", in thread worker", or ", below serve" of a function; "" of node 0. The caller frees. */
static char *say_apart(const struct diff *d, const struct folded_tree *t, uint32_t node)
{
	const struct key *key;
	char *label, *out;

	if (node == 0)
		return xstrdup("");
	key = key_of(d, t, node);
	label = text_fold_name(key->label, NAME_COLS, false);
	out = xasprintf(", %s %s", key->flags & FUNCTION_COMM ? "in thread" : "below", label);
	free(label);
	return out;
}

char *explain_name(const struct diff *d, const struct folded_tree *t, const struct reason *r)
{
	char *name, *apart, *out;

	if (r->node == KEY_NONE) {
		name = name_of_key(&d->analysis->keys.key[r->key], false);
		out = xasprintf("%s, wherever it is called%s", name,
				r->rest ? ", excluding the other rows" : "");
		free(name);
		return out;
	}
	name = name_at(d, t, r->node);
	apart = say_apart(d, t, r->apart);
	out = xasprintf("%s%s%s", name, apart, r->rest ? ", excluding the other rows" : "");
	free(name);
	free(apart);
	return out;
}

static const char *where(const struct reason *r)
{
	return r->itself ? ", in itself" : r->in_callees ? ", in what it calls" : "";
}

/* "+500 ± 31"; the caller frees. */
static char *say_size(const struct diff *d, double change, double half)
{
	char number[FMT_SIZE], interval[FMT_SIZE];

	fmt_change(number, change, d->unit);
	return half > 0 ? xasprintf("%s ± %s", number, fmt_amount(interval, half, d->unit))
			: xstrdup(number);
}

char *explain_change(const struct diff *d, const struct folded_tree *t, const struct reason *r)
{
	char part[FMT_SIZE], before[FMT_SIZE], after[FMT_SIZE];
	const struct noise_delta *of = &r->total;
	char *name = explain_name(d, t, r), *size = say_size(d, r->change, of->half), *out;

	if (d->analysis->lens.names &&
	    name_rules_is_doubted(d->analysis->lens.names, d->analysis->keys.key[r->key].label)) {
		char *either = xasprintf("%s, or another that differs in its number (renamed?)",
					 name);

		free(name);
		name = either;
	}
	if (r->own && (of->before == 0 || of->after == 0))
		out = xasprintf("%s, in itself, %s from %s to %s: %s", name,
				r->change > 0 ? "grew" : "shrank",
				fmt_amount(before, of->before, d->unit),
				fmt_amount(after, of->after, d->unit), size);
	else if (of->before == 0 || of->after == 0)
		out = xasprintf("%s, is %s: %s", name, of->before == 0 ? "new" : "gone", size);
	else
		out = xasprintf("%s, %s from %s to %s: %s (%s %%)%s", name,
				r->change > 0 ? "grew" : "shrank",
				fmt_amount(before, of->before, d->unit),
				fmt_amount(after, of->after, d->unit), size,
				fmt_change_percent(part, diff_change(of), of->before), where(r));
	free(size);
	free(name);
	return out;
}

char *explain_move(const struct diff *d, const struct folded_tree *t, const struct reason *gone,
		   uint32_t from, const struct reason *came, uint32_t to, bool renamed)
{
	char before[FMT_SIZE], after[FMT_SIZE], change[FMT_SIZE];
	bool there = t->parent[from] == t->parent[to];
	char *old = name_at(d, t, from), *out;
	char *new = there ? name_of_key(key_of(d, t, to), is_recursive(d, t, to))
			  : name_at(d, t, to);

	out = xasprintf("%s, %s before, is now %s%s, %s: %s", old,
			fmt_amount(before, gone->total.before, d->unit), new,
			renamed ? " (renamed?)" : "", fmt_amount(after, came->total.after, d->unit),
			fmt_change(change, gone->change + came->change, d->unit));
	free(old);
	free(new);
	return out;
}

char *explain_parts(const struct diff *d, const struct folded_tree *t, const struct reason *own,
		    const uint32_t *parts, size_t n, double change)
{
	char amount[FMT_SIZE], all[FMT_SIZE];
	char *names = xstrdup(""), *name = name_at(d, t, own->node), *out;

	for (size_t i = 0; i < n; i++) {
		char *one = text_fold_name(key_of(d, t, parts[i])->label, CALLER_COLS, false);
		char *longer = xasprintf("%s%s%s", names,
					 i == 0      ? ""
					 : i + 1 < n ? ", "
						     : " and ",
					 one);

		free(one);
		free(names);
		names = longer;
	}
	fmt_amount(amount, fabs(own->change), d->unit);
	fmt_change(all, change, d->unit);
	if (own->change < 0)
		out = xasprintf("%s: %s of its own code is now in %s, which it calls: %s", name,
				amount, names, all);
	else
		out = xasprintf("%s: %s is now its own code (inlined?), %s more: %s", name, names,
				amount, all);
	free(names);
	free(name);
	return out;
}
