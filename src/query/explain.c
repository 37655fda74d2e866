/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A child that has so much of the change is where to look, … */
#define MOST_OF_IT     0.7
/* … or so much where the node's own code is as it was: on a machine that was slower, all else has changed a little, too. */
#define MORE_THAN_HALF 0.5
/* What is accounted for up to here is enough. */
#define ENOUGH         0.95
/* Reasons that explain less of all change than this are left out. */
#define LEAST          0.01
/* Frames of the way there that a sentence has room for. */
#define CALLERS        2

struct seeker {
	const struct diff *d;
	const struct calltree *t;
	double *left; /* [n_nodes] change that is not accounted for; owned, as is: */
	double *pull; /* [n_nodes] see find_pull() */
	double *half; /* [n_nodes] what is less is noise */
};

static struct noise_delta self_of(const struct diff *d, uint32_t node)
{
	const struct calltree *t = d->analysis->tree;
	struct noise_delta self;

	diff_delta(d, &t->self[(size_t)node * t->n_columns], &self);
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

/* Is the child where the node's change is, rather than the node? */
static bool has_most(const struct seeker *s, uint32_t node, uint32_t child)
{
	double all = fabs(s->left[node]);

	return s->pull[child] >= MOST_OF_IT * all ||
	       (s->pull[child] >= MORE_THAN_HALF * all && !changed_itself(s->d, node));
}

/*
 * From the root down to where the largest change divides; 0: there is none. At the root and at threads' names nothing
 * is said: there the largest child is followed whatever it has.
 */
static uint32_t seek(struct seeker *s)
{
	uint32_t node = 0, child;

	find_pull(s);
	while ((child = heaviest(s, node)) != KEY_NONE) {
		bool nowhere = node == 0 || !s->d->beyond[node] ||
			       (s->d->analysis->keys.key[s->t->key[node]].flags & FUNCTION_COMM);

		if (!nowhere && !has_most(s, node, child))
			break;
		node = child;
	}
	return node;
}

/* What the node says is said: its subtree has nothing left, and all above it so much less. */
static void take(struct seeker *s, uint32_t node)
{
	double change = s->left[node];

	for (uint32_t up = node;; up = s->t->parent[up]) {
		s->left[up] -= change;
		/* What rounding leaves is nothing. */
		if (fabs(s->left[up]) < 1e-9 * fabs(change))
			s->left[up] = 0;
		if (up == 0)
			break;
	}
	memset(&s->left[node], 0, (s->t->end[node] - node) * sizeof(*s->left));
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

static void find_halves(struct seeker *s)
{
	struct noise_delta delta;

	for (uint32_t i = 0; i < s->t->n_nodes; i++) {
		diff_delta(s->d, &s->t->total[(size_t)i * s->t->n_columns], &delta);
		s->half[i] = delta.half;
	}
}

/* "main › serve › ": the nearest callers, outermost first; the caller frees. */
static char *way_there(const struct diff *d, uint32_t node)
{
	const struct calltree *t = d->analysis->tree;
	const struct keys *k = &d->analysis->keys;
	char *way = xstrdup("");
	uint32_t up = t->parent[node];

	for (int i = 0; i < CALLERS && up != 0 && !(k->key[t->key[up]].flags & FUNCTION_COMM);
	     i++, up = t->parent[up]) {
		char *longer = xasprintf("%s%s%s", k->key[t->key[up]].label, i ? " > " : "", way);

		free(way);
		way = longer;
	}
	return way;
}

/* "parse, called by main", or the rest of that; the caller frees. */
static char *name_of(const struct diff *d, uint32_t node, bool rest)
{
	const struct key *key = &d->analysis->keys.key[d->analysis->tree->key[node]];
	char *way = way_there(d, node), *name;

	name = xasprintf("%s%s%s%s%s%s%s", rest ? "the rest of " : "", key->label,
			 *key->module ? " (" : "", key->module, *key->module ? ")" : "",
			 *way ? ", called by " : "", way);
	free(way);
	return name;
}

static const char *where(const struct reason *r)
{
	return r->itself ? ", in itself" : r->in_callees ? ", in what it calls" : "";
}

/* The caller frees. */
static char *say_change(const struct diff *d, const struct reason *r)
{
	char change[FMT_SIZE], part[FMT_SIZE], half[FMT_SIZE], before[FMT_SIZE], after[FMT_SIZE];
	const struct noise_delta *t = &r->total;
	char *name = name_of(d, r->node, r->rest), *noise, *out;

	fmt_change(change, r->change, d->unit);
	noise = t->half > 0 ? xasprintf(" +- %s", fmt_amount(half, t->half, d->unit)) : xstrdup("");
	fmt_amount(before, t->before, d->unit);
	fmt_amount(after, t->after, d->unit);
	if (t->before == 0)
		out = xasprintf("%s%s: %s is new", change, noise, name);
	else if (t->after == 0)
		out = xasprintf("%s%s: %s is gone", change, noise, name);
	else
		out = xasprintf("%s%s: %s went from %s to %s (%s %%)%s", change, noise, name,
				before, after, fmt_change_percent(part, diff_change(t), t->before),
				where(r));
	free(noise);
	free(name);
	return out;
}

/* A function that went in one place and came in another: one sentence of both. The caller frees. */
static char *say_move(const struct diff *d, const struct reason *gone, const struct reason *came)
{
	char before[FMT_SIZE], after[FMT_SIZE];
	char *from = name_of(d, gone->node, false), *to = name_of(d, came->node, false), *out;

	out = xasprintf("%s, %s before, is now %s, %s", from,
			fmt_amount(before, gone->total.before, d->unit), to,
			fmt_amount(after, came->total.after, d->unit));
	free(from);
	free(to);
	return out;
}

static const char *label_of(const struct diff *d, const struct reason *r)
{
	return d->analysis->keys.key[d->analysis->tree->key[r->node]].label;
}

/* The function that is new under the name of one that is gone, or NULL. */
static struct reason *find_come(const struct diff *d, const struct explanation *x,
				const struct reason *gone)
{
	for (size_t i = 0; gone->total.after == 0 && !gone->rest && i < x->reasons.n; i++) {
		struct reason *r = &x->reasons.at[i];

		if (r->total.before == 0 && r->sentence && !r->rest &&
		    strcmp(label_of(d, gone), label_of(d, r)) == 0)
			return r;
	}
	return NULL;
}

/* Of equal name, one gone and one new: that is one function, which changed by what both did, and one reason. */
static void join_moves(const struct diff *d, struct explanation *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->reasons.n; i++) {
		struct reason *gone = &x->reasons.at[i],
			      *came = gone->sentence ? find_come(d, x, gone) : NULL;

		if (!came)
			continue;
		free(gone->sentence);
		gone->sentence = say_move(d, gone, came);
		gone->change += came->change;
		free(came->sentence);
		came->sentence = NULL;
		/* It stands where the larger of both stood. */
		if (came < gone) {
			*came = *gone;
			gone->sentence = NULL;
		}
	}
	for (size_t i = 0; i < x->reasons.n; i++)
		if (x->reasons.at[i].sentence)
			x->reasons.at[n++] = x->reasons.at[i];
	x->reasons.n = n;
}

/* Takes off what is said of nodes below by others. */
static void leave_rest(const struct calltree *t, const struct explanation *x, struct reason *r)
{
	double before = r->total.before, after = r->total.after;

	for (size_t i = 0; i < x->reasons.n; i++) {
		const struct reason *other = &x->reasons.at[i];

		if (other->node <= r->node || other->node >= t->end[r->node])
			continue;
		r->rest = true;
		r->total.before -= other->total.before;
		r->total.after -= other->total.after;
	}
	/* What rounding leaves is nothing. */
	if (r->total.before < 1e-9 * before)
		r->total.before = 0;
	if (r->total.after < 1e-9 * after)
		r->total.after = 0;
}

static void add_reason(struct seeker *s, struct explanation *x, uint32_t node)
{
	struct reason r = { .node = node, .change = s->left[node] };
	double own = self_change(s->d, node);

	diff_delta(s->d, &s->t->total[(size_t)node * s->t->n_columns], &r.total);
	diff_agree(&s->d->nodes, &r.total);
	leave_rest(s->t, x, &r);
	r.itself = fabs(own) >= MOST_OF_IT * fabs(r.change);
	r.in_callees = fabs(own) < (1 - MOST_OF_IT) * fabs(r.change) &&
		       calltree_first(s->t, node) != KEY_NONE;
	r.sentence = say_change(s->d, &r);
	vec_push(&x->reasons, r);
}

static int by_change(const void *a, const void *b)
{
	double x = fabs(((const struct reason *)a)->change),
	       y = fabs(((const struct reason *)b)->change);

	return (x < y) - (x > y);
}

void explain(const struct diff *d, uint32_t most, struct explanation *out)
{
	struct seeker s = { .d = d, .t = d->analysis->tree };
	double all, accounted = 0;

	*out = (struct explanation){ .accounted = 0 };
	s.left = xmalloc(s.t->n_nodes * sizeof(*s.left));
	s.pull = xmalloc(s.t->n_nodes * sizeof(*s.pull));
	s.half = xmalloc(s.t->n_nodes * sizeof(*s.half));
	memcpy(s.left, d->change, s.t->n_nodes * sizeof(*s.left));
	find_halves(&s);
	all = all_change(&s);
	while (out->reasons.n < most && accounted < ENOUGH * all) {
		uint32_t node = seek(&s);

		/* What is left below is noise, or too little to speak of. */
		if (node == 0 || !d->beyond[node] || fabs(s.left[node]) < LEAST * all)
			break;
		accounted += fabs(s.left[node]);
		add_reason(&s, out, node);
		take(&s, node);
	}
	free(s.left);
	free(s.pull);
	free(s.half);
	if (out->reasons.n)
		qsort(out->reasons.at, out->reasons.n, sizeof(*out->reasons.at), by_change);
	join_moves(d, out);
	out->accounted = all > 0 && accounted < all ? accounted / all : all > 0;
}

void explanation_done(struct explanation *x)
{
	for (size_t i = 0; i < x->reasons.n; i++)
		free(x->reasons.at[i].sentence);
	vec_done(&x->reasons);
}
