/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* A child that has so much of the change is where to look, … */
#define MOST_OF_IT     0.7
/* … or so much where the node's own code is as it was: on a machine that was slower, all else has changed a little, too. */
#define MORE_THAN_HALF 0.5
/* What is accounted for up to here is enough. */
#define ENOUGH         0.95
/* Reasons that explain less of all change than this are left out. */
#define LEAST          0.01
/* Frames of the way there that a sentence has room for, and columns of each and of the function's own name. */
#define CALLERS        2
#define CALLER_COLS    32
#define NAME_COLS      56
/* Frames below what is new or gone that are looked at for what moved. */
#define CHAIN_MOST     1000

struct seeker {
	const struct diff *d;
	const struct calltree *t;
	double *left;           /* [n_nodes] change that is not accounted for; owned, as are: */
	double *before, *after; /* [n_nodes] means of the same */
	double *pull;           /* [n_nodes] see find_pull() */
	double *half;           /* [n_nodes] what is less is noise */
	bool *taken;            /* [n_nodes] something there or below is accounted for */
	bool *said;             /* [n_nodes] all there is */
	bool *seen;             /* [n_keys] for find_head() */
};

static struct noise_delta self_of(const struct diff *d, uint32_t node)
{
	const struct calltree *t = d->analysis->tree;
	struct noise_delta self;

	diff_delta(d, t->key[node], PART_SELF, &t->self[(size_t)node * t->n_columns], &self);
	return self;
}

static double self_change(const struct diff *d, uint32_t node)
{
	const struct noise_delta self = self_of(d, node);

	return diff_change(&self);
}

/* For each subtree the largest change that is left of a node beyond noise. */
static void find_pull(struct seeker *s)
{
	memset(s->pull, 0, s->t->n_nodes * sizeof(*s->pull));
	for (uint32_t i = s->t->n_nodes; i-- > 1;) {
		uint32_t up = s->t->parent[i];

		if (s->d->beyond[i] && fabs(s->left[i]) >= s->half[i])
			s->pull[i] = fmax(s->pull[i], fabs(s->left[i]));
		s->pull[up] = fmax(s->pull[up], s->pull[i]);
	}
}

/* The child with the largest change in it, or KEY_NONE. */
static uint32_t heaviest(const struct seeker *s, uint32_t node)
{
	uint32_t best = KEY_NONE;

	for (uint32_t c = calltree_first(s->t, node); c != KEY_NONE; c = calltree_next(s->t, c))
		if (s->pull[c] > 0 && (best == KEY_NONE || s->pull[c] > s->pull[best]))
			best = c;
	return best;
}

static bool changed_itself(const struct diff *d, uint32_t node)
{
	const struct noise_delta self = self_of(d, node);

	return fabs(diff_change(&self)) > self.half;
}

/* Is so much of the node's change where to look, rather than at the node? */
static bool is_most(const struct seeker *s, uint32_t node, double part)
{
	double all = fabs(s->left[node]);

	return part >= MOST_OF_IT * all ||
	       (part >= MORE_THAN_HALF * all && !changed_itself(s->d, node));
}

/* Is all of it on one side? */
static bool is_lone(const struct seeker *s, uint32_t node)
{
	double before, after;

	diff_means(s->d, &s->t->total[(size_t)node * s->t->n_columns], &before, &after);
	return (before == 0) != (after == 0);
}

/*
 * From the root down to where the largest change divides, or to what is new or gone as a whole; 0: there is none. At the
 * root and at threads' names nothing is said: there the largest child is followed whatever it has.
 */
static uint32_t seek(struct seeker *s)
{
	uint32_t node = 0, child;

	find_pull(s);
	while ((child = heaviest(s, node)) != KEY_NONE) {
		bool nowhere = node == 0 || !s->d->beyond[node] ||
			       (s->d->analysis->keys.key[s->t->key[node]].flags & FUNCTION_COMM);

		if (!nowhere &&
		    (is_lone(s, node) || !(is_most(s, node, s->pull[child]) || is_lone(s, child))))
			break;
		node = child;
	}
	return node;
}

/* What rounding leaves of so much is nothing. */
static double rounded(double left, double of)
{
	return fabs(left) < 1e-9 * fabs(of) ? 0 : left;
}

/* What the node says is said: its subtree has nothing left, and all above it so much less. */
static void take(struct seeker *s, uint32_t node)
{
	double change = s->left[node], before = s->before[node], after = s->after[node];
	size_t size = (s->t->end[node] - node) * sizeof(*s->left);

	for (uint32_t up = node;; up = s->t->parent[up]) {
		s->left[up] = rounded(s->left[up] - change, change);
		s->before[up] = rounded(s->before[up] - before, before);
		s->after[up] = rounded(s->after[up] - after, after);
		s->taken[up] = true;
		if (up == 0)
			break;
	}
	memset(&s->said[node], true, s->t->end[node] - node);
	memset(&s->left[node], 0, size);
	memset(&s->before[node], 0, size);
	memset(&s->after[node], 0, size);
}

/* All change, ups and downs, of nodes beyond noise as far as it is not in such below them. */
static double all_change(const struct seeker *s)
{
	double *part = xmalloc(s->t->n_nodes * sizeof(*part)), sum = 0;

	memcpy(part, s->d->change, s->t->n_nodes * sizeof(*part));
	for (uint32_t i = 1; i < s->t->n_nodes; i++)
		if (s->d->beyond[i])
			part[s->t->parent[i]] -= s->d->change[i];
	for (uint32_t i = 1; i < s->t->n_nodes; i++)
		if (s->d->beyond[i] && fabs(part[i]) >= s->half[i])
			sum += fabs(part[i]);
	free(part);
	return sum;
}

static void seeker_init(struct seeker *s, const struct diff *d)
{
	const struct calltree *t = d->analysis->tree;
	struct noise_delta delta;

	*s = (struct seeker){ .d = d, .t = t };
	s->left = xmalloc(t->n_nodes * sizeof(*s->left));
	s->before = xmalloc(t->n_nodes * sizeof(*s->before));
	s->after = xmalloc(t->n_nodes * sizeof(*s->after));
	s->pull = xmalloc(t->n_nodes * sizeof(*s->pull));
	s->half = xmalloc(t->n_nodes * sizeof(*s->half));
	s->taken = xcalloc(t->n_nodes, sizeof(*s->taken));
	s->said = xcalloc(t->n_nodes, sizeof(*s->said));
	s->seen = xcalloc((size_t)d->analysis->keys.n + 1, sizeof(*s->seen));
	memcpy(s->left, d->change, t->n_nodes * sizeof(*s->left));
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		diff_delta(d, t->key[i], PART_TOTAL, &t->total[(size_t)i * t->n_columns], &delta);
		s->half[i] = delta.half;
		s->before[i] = delta.before;
		s->after[i] = delta.after;
	}
}

static void seeker_done(struct seeker *s)
{
	free(s->left);
	free(s->before);
	free(s->after);
	free(s->pull);
	free(s->half);
	free(s->taken);
	free(s->said);
	free(s->seen);
}

/* The outermost function on the way to a node that is on that way again, and so recursive; KEY_NONE: none is. */
static uint32_t find_head(struct seeker *s, uint32_t node)
{
	uint32_t head = KEY_NONE;

	for (uint32_t up = node; up != 0; up = s->t->parent[up]) {
		if (s->seen[s->t->key[up]])
			head = up;
		s->seen[s->t->key[up]] = true;
	}
	for (uint32_t up = node; up != 0; up = s->t->parent[up])
		s->seen[s->t->key[up]] = false;
	return head;
}

static void add_place(const struct seeker *s, struct reason *r, uint32_t node)
{
	vec_push(&r->places, node);
	r->change += s->left[node];
}

/* All subtrees of the node's function below the head, none within another. */
static void add_places(const struct seeker *s, uint32_t head, uint32_t node, struct reason *r)
{
	const struct calltree *t = s->t;
	uint32_t key = t->key[node], end = 0;

	for (uint32_t i = t->first_of[key]; i < t->first_of[key + 1]; i++) {
		uint32_t at = t->of_key[i];

		if (at < head || at >= t->end[head] || at < end || s->said[at])
			continue;
		end = t->end[at];
		add_place(s, r, at);
	}
}

/*
 * A change below a recursive function is in pieces, one for each depth. r becomes all places of the node's function there where
 * these have most of what changed there; else the recursion as a whole; or the node, where these say less together.
 */
static void find_places(struct seeker *s, uint32_t node, struct reason *r)
{
	uint32_t head = find_head(s, node);
	double least = fabs(s->left[node]);

	r->head = head;
	if (head != KEY_NONE)
		add_places(s, head, node, r);
	if (head != KEY_NONE && !is_most(s, head, fabs(r->change))) {
		vec_clear(&r->places);
		r->change = 0;
		add_place(s, r, head);
	}
	if (head == KEY_NONE || r->change * s->left[node] <= 0 || fabs(r->change) < least) {
		vec_clear(&r->places);
		r->change = 0;
		r->head = KEY_NONE;
		add_place(s, r, node);
	}
	r->node = r->places.at[0];
}

/* "main > serve": the nearest callers, outermost first, a recursive one once; the caller frees. */
static char *way_there(const struct diff *d, uint32_t node)
{
	const struct calltree *t = d->analysis->tree;
	const struct groups *k = &d->analysis->keys;
	char *way = xstrdup("");
	uint32_t up = t->parent[node], last = t->key[node];

	for (int i = 0; i < CALLERS && up != 0 && !(k->key[t->key[up]].flags & FUNCTION_COMM);
	     up = t->parent[up]) {
		char *name, *longer;

		if (t->key[up] == last)
			continue;
		last = t->key[up];
		name = text_fold_name(k->key[last].label, CALLER_COLS, false);
		longer = xasprintf("%s%s%s", name, i++ ? " > " : "", way);
		free(name);
		free(way);
		way = longer;
	}
	return way;
}

/* "parse (prog), called by main"; the caller frees. */
static char *name_at(const struct diff *d, uint32_t node)
{
	const struct key *key = &d->analysis->keys.key[d->analysis->tree->key[node]];
	char *way = way_there(d, node), *label = text_fold_name(key->label, NAME_COLS, false);
	char *name = xasprintf("%s%s%s%s%s%s", label, *key->module ? " (" : "", key->module,
			       *key->module ? ")" : "", *way ? ", called by " : "", way);

	free(label);
	free(way);
	return name;
}

/* ", in thread worker", or ", below serve" of a function; "" of node 0. The caller frees. */
static char *say_apart(const struct diff *d, uint32_t node)
{
	const struct key *key;
	char *label, *out;

	if (node == 0)
		return xstrdup("");
	key = &d->analysis->keys.key[d->analysis->tree->key[node]];
	label = text_fold_name(key->label, NAME_COLS, false);
	out = xasprintf(", %s %s", key->flags & FUNCTION_COMM ? "in thread" : "below", label);
	free(label);
	return out;
}

/* The same of a reason: of a recursion's pieces together, and whether others tell a part of it. The caller frees. */
static char *name_of(const struct diff *d, const struct reason *r)
{
	const struct calltree *t = d->analysis->tree;
	const struct groups *k = &d->analysis->keys;
	char *name, *label, *apart, *out;

	if (r->head == KEY_NONE || r->places.n == 1) {
		name = name_at(d, r->node);
		label = xstrdup(r->head == KEY_NONE ? "" : ", recursive");
	} else {
		name = text_fold_name(k->key[t->key[r->node]].label, NAME_COLS, false);
		label = text_fold_name(k->key[t->key[r->head]].label, NAME_COLS, false);
		out = xasprintf(", below %s, recursive", label);
		free(label);
		label = out;
	}
	apart = say_apart(d, r->apart);
	out = xasprintf("%s%s%s%s", name, label, apart,
			r->rest ? ", excluding the other rows" : "");
	free(name);
	free(label);
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

/* The caller frees. */
static char *say_change(const struct diff *d, const struct reason *r)
{
	char part[FMT_SIZE], before[FMT_SIZE], after[FMT_SIZE];
	const struct noise_delta *t = &r->total;
	char *name = name_of(d, r), *size = say_size(d, r->change, t->half), *out;

	if (t->before == 0 || t->after == 0)
		out = xasprintf("%s, is %s: %s", name, t->before == 0 ? "new" : "gone", size);
	else
		out = xasprintf("%s, %s from %s to %s: %s (%s %%)%s", name,
				r->change > 0 ? "grew" : "shrank",
				fmt_amount(before, t->before, d->unit),
				fmt_amount(after, t->after, d->unit), size,
				fmt_change_percent(part, diff_change(t), t->before), where(r));
	free(size);
	free(name);
	return out;
}

/* A function that went in one place and came in another: one sentence of both. The caller frees. */
static char *say_move(const struct diff *d, const struct reason *gone, uint32_t from,
		      const struct reason *came, uint32_t to)
{
	char before[FMT_SIZE], after[FMT_SIZE], change[FMT_SIZE];
	char *old = name_at(d, from), *new = name_at(d, to), *out;

	out = xasprintf("%s, %s before, is now %s, %s: %s", old,
			fmt_amount(before, gone->total.before, d->unit), new,
			fmt_amount(after, came->total.after, d->unit),
			fmt_change(change, gone->change + came->change, d->unit));
	free(old);
	free(new);
	return out;
}

static const char *label_of(const struct diff *d, uint32_t node)
{
	return d->analysis->keys.key[d->analysis->tree->key[node]].label;
}

/* The one child that has all that its caller has, or KEY_NONE. */
static uint32_t only_child(const struct calltree *t, uint32_t node)
{
	uint32_t child = calltree_first(t, node);

	return child != KEY_NONE && calltree_next(t, child) == KEY_NONE &&
			       memcmp(&t->total[(size_t)node * t->n_columns],
				      &t->total[(size_t)child * t->n_columns],
				      t->n_columns * sizeof(*t->total)) == 0
		       ? child
		       : KEY_NONE;
}

/* Below two nodes each on one side, the function that all of either goes into. */
static bool find_same(const struct diff *d, uint32_t gone, uint32_t came, uint32_t *from,
		      uint32_t *to)
{
	const struct calltree *t = d->analysis->tree;
	int left = CHAIN_MOST;

	for (*from = gone; *from != KEY_NONE && left-- > 0; *from = only_child(t, *from))
		for (*to = came; *to != KEY_NONE && left-- > 0; *to = only_child(t, *to))
			if (strcmp(label_of(d, *from), label_of(d, *to)) == 0)
				return true;
	return false;
}

/* The reason of a function that is new under the name of one that is gone, or NULL. */
static struct reason *find_come(const struct diff *d, const struct explanation *x,
				const struct reason *gone, uint32_t *from, uint32_t *to)
{
	for (size_t i = 0; gone->total.after == 0 && !gone->rest && i < x->reasons.n; i++) {
		struct reason *r = &x->reasons.at[i];

		if (r->total.before == 0 && r->sentence && !r->rest &&
		    find_same(d, gone->node, r->node, from, to))
			return r;
	}
	return NULL;
}

static void reason_done(struct reason *r)
{
	free(r->sentence);
	r->sentence = NULL;
	vec_done(&r->places);
}

/* Of equal name, one gone and one new: that is one function, which changed by what both did, and one reason. */
static void join_moves(const struct diff *d, struct explanation *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->reasons.n; i++) {
		struct reason *gone = &x->reasons.at[i], *came = NULL, swap;
		uint32_t from, to;

		if (gone->sentence)
			came = find_come(d, x, gone, &from, &to);
		if (!came)
			continue;
		free(gone->sentence);
		gone->sentence = say_move(d, gone, from, came, to);
		gone->change += came->change;
		/* It stands where the larger of both stood. */
		if (came < gone) {
			swap = *came;
			*came = *gone;
			*gone = swap;
			came = gone;
		}
		reason_done(came);
	}
	for (size_t i = 0; i < x->reasons.n; i++)
		if (x->reasons.at[i].sentence)
			x->reasons.at[n++] = x->reasons.at[i];
	x->reasons.n = n;
}

/* Fills what is there of all places of a reason, and says it. */
static void measure(const struct seeker *s, struct reason *r)
{
	const struct calltree *t = s->t;
	int64_t *numbers = xcalloc(t->n_columns, sizeof(*numbers));
	double own = 0;
	bool leaf = true;

	for (size_t i = 0; i < r->places.n; i++) {
		uint32_t at = r->places.at[i];

		for (uint32_t c = 0; c < t->n_columns; c++)
			numbers[c] += t->total[(size_t)at * t->n_columns + c];
		/* Of a recursive function what it has itself at any depth. */
		for (uint32_t n = at; n < t->end[at]; n++)
			if (t->key[n] == t->key[at])
				own += self_change(s->d, n);
		leaf &= calltree_first(t, at) == KEY_NONE;
		r->rest |= s->taken[at];
	}
	diff_delta(s->d, t->key[r->places.at[0]], PART_TOTAL, numbers, &r->total);
	diff_agree(&s->d->nodes, &r->total);
	if (r->rest) {
		r->total.before = r->total.after = 0;
		for (size_t i = 0; i < r->places.n; i++) {
			r->total.before += s->before[r->places.at[i]];
			r->total.after += s->after[r->places.at[i]];
		}
	}
	r->itself = fabs(own) >= MOST_OF_IT * fabs(r->change);
	r->in_callees = fabs(own) < (1 - MOST_OF_IT) * fabs(r->change) && !leaf;
	free(numbers);
}

static void add_reason(struct seeker *s, struct explanation *x, uint32_t node)
{
	struct reason r = { 0 };

	find_places(s, node, &r);
	measure(s, &r);
	for (size_t i = 0; i < r.places.n; i++)
		take(s, r.places.at[i]);
	vec_push(&x->reasons, r);
}

/* The outermost node above a node that is not also above the other one: 0 where one of them is above the other. */
static uint32_t parting(const struct calltree *t, uint32_t node, uint32_t other)
{
	while (node != 0 && !(t->parent[node] <= other && other < t->end[t->parent[node]]))
		node = t->parent[node];
	return node;
}

/* Reasons that read the same but for their numbers say in which thread they are, or below which function. */
static void say_apart_all(const struct diff *d, struct explanation *x)
{
	for (size_t i = 0; i < x->reasons.n; i++)
		for (size_t k = 0; k < i; k++) {
			struct reason *a = &x->reasons.at[i], *b = &x->reasons.at[k];
			char *name = name_of(d, a), *other = name_of(d, b);

			if (strcmp(name, other) == 0) {
				a->apart = parting(d->analysis->tree, a->node, b->node);
				b->apart = parting(d->analysis->tree, b->node, a->node);
			}
			free(name);
			free(other);
		}
	for (size_t i = 0; i < x->reasons.n; i++) {
		struct reason *r = &x->reasons.at[i];

		free(r->sentence);
		r->sentence = say_change(d, r);
	}
}

static int by_change(const void *a, const void *b)
{
	double x = fabs(((const struct reason *)a)->change),
	       y = fabs(((const struct reason *)b)->change);

	return (x < y) - (x > y);
}

void explain(const struct diff *d, uint32_t most, struct explanation *out)
{
	struct seeker s;
	double all, accounted = 0;

	*out = (struct explanation){ .accounted = 0 };
	seeker_init(&s, d);
	all = all_change(&s);
	while (out->reasons.n < most && accounted < ENOUGH * all) {
		uint32_t node = seek(&s);

		/* What is left below is noise, or too little to speak of. */
		if (node == 0 || !d->beyond[node] || fabs(s.left[node]) < LEAST * all)
			break;
		add_reason(&s, out, node);
		accounted += fabs(out->reasons.at[out->reasons.n - 1].change);
	}
	seeker_done(&s);
	for (size_t i = 0; i < out->reasons.n; i++)
		out->sum += out->reasons.at[i].change;
	if (out->reasons.n)
		qsort(out->reasons.at, out->reasons.n, sizeof(*out->reasons.at), by_change);
	say_apart_all(d, out);
	join_moves(d, out);
	out->accounted = all > 0 && accounted < all ? accounted / all : all > 0;
}

/* What the sentences leave of the change of everything. */
static double left_of(const struct diff *d, const struct explanation *x)
{
	double change = diff_change(&d->whole);

	return rounded(change - x->sum, change);
}

char *explain_heading(const struct diff *d, const struct explanation *x)
{
	double left = fabs(left_of(d, x)), change = fabs(diff_change(&d->whole));
	char share[FMT_SIZE], n[FMT_SIZE], *of, *out;

	if (x->accounted >= ENOUGH && left <= (1 - ENOUGH) * change)
		of = xstrdup("the change");
	else if (x->accounted >= ENOUGH)
		of = xstrdup("the change beyond noise");
	else
		of = xasprintf("%s %% of the change beyond noise",
			       fmt_percent(share, (int64_t)(x->accounted * 1000), 1000));
	if (x->reasons.n == 1)
		out = xasprintf("one subtree explains %s", of);
	else
		out = xasprintf("%s subtrees explain %s", fmt_count(n, (int64_t)x->reasons.n), of);
	free(of);
	return out;
}

char *explain_sum(const struct diff *d, const struct explanation *x)
{
	char sum[FMT_SIZE], all[FMT_SIZE], left[FMT_SIZE];
	double rest = left_of(d, x);

	fmt_change(sum, x->sum, d->unit);
	fmt_change(all, diff_change(&d->whole), d->unit);
	if (rest == 0)
		return xasprintf("together %s of %s: nothing is left", sum, all);
	return xasprintf("together %s of %s; the other %s is in smaller changes and noise", sum,
			 all, fmt_change(left, rest, d->unit));
}

void explanation_done(struct explanation *x)
{
	for (size_t i = 0; i < x->reasons.n; i++)
		reason_done(&x->reasons.at[i]);
	vec_done(&x->reasons);
}
