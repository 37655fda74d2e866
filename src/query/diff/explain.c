/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/explain.h"

#include "base/text.h"
#include "query/core/name_rules.h"
#include "query/diff/explain_words.h"
#include "query/diff/folded_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A child that has so much of the change is where to look, … */
#define MOST_OF_IT     0.7
/* … or so much where the node's own code is as it was: on a machine that was slower, all else has changed a little, too. */
#define MORE_THAN_HALF 0.5
/* What is accounted for from here on is "the change". */
#define ENOUGH         0.95
/* Reasons that explain less than this part of what others do are left out. */
#define LEAST          0.01
/* Frames below what is new or gone that are looked at for what moved. */
#define CHAIN_MOST     1000

/* What is not accounted for yet. */
struct amount {
	double change, before, after; /* the latter are means */
};

struct seeker {
	const struct diff *d;
	const struct groups *keys;
	struct folded_tree t;
	/* By node; owned, as are all: */
	struct noise_delta *total; /* its verdict's */
	struct amount *left;
	double *pull; /* see find_pull() */
	bool *beyond; /* beyond noise, by total */
	bool *taken;  /* something there or below is accounted for */
	bool *said;   /* all there is */
	bool *own;    /* what ends there is */
	/* By key: what ends in the function, and is accounted for; */
	struct amount *told;
	bool *unsaid; /* something beyond noise is not accounted for */
	double accounted;
};

static struct noise_delta self_of(const struct seeker *s, uint32_t node)
{
	struct noise_delta self;

	diff_delta(s->d, s->t.key[node], PART_SELF, &s->t.self[(size_t)node * s->t.n_columns],
		   &self);
	return self;
}

static struct amount self_amount(const struct seeker *s, uint32_t node)
{
	struct amount a;

	diff_means(s->d, &s->t.self[(size_t)node * s->t.n_columns], &a.before, &a.after);
	a.change = a.after - a.before;
	return a;
}

static bool is_comm(const struct seeker *s, uint32_t key)
{
	return s->keys->key[key].flags & FUNCTION_COMM;
}

/* Is so much left that noise does not explain it? Of what is exact, anything. */
static bool counts(double left, double half)
{
	return left != 0 && fabs(left) >= half;
}

/* Is what is left of a node beyond noise? */
static bool is_left(const struct seeker *s, uint32_t node)
{
	return s->beyond[node] && counts(s->left[node].change, s->total[node].half);
}

/* For each subtree the largest change that is left of a node beyond noise. */
static void find_pull(struct seeker *s)
{
	memset(s->pull, 0, s->t.n * sizeof(*s->pull));
	for (uint32_t i = s->t.n; i-- > 1;) {
		double *up = &s->pull[s->t.parent[i]];

		if (is_left(s, i))
			s->pull[i] = fmax(s->pull[i], fabs(s->left[i].change));
		*up = fmax(*up, s->pull[i]);
	}
}

/* The child with the largest change in it, or KEY_NONE; the first by name of equal ones. */
static uint32_t heaviest(const struct seeker *s, uint32_t node)
{
	const uint32_t *rank = s->keys->rank;
	uint32_t best = KEY_NONE;

	for (uint32_t c = s->t.first[node]; c != KEY_NONE; c = s->t.next[c])
		if (s->pull[c] > 0 &&
		    (best == KEY_NONE || s->pull[c] > s->pull[best] ||
		     (s->pull[c] == s->pull[best] && rank[s->t.key[c]] < rank[s->t.key[best]])))
			best = c;
	return best;
}

static bool changed_itself(const struct seeker *s, uint32_t node)
{
	const struct noise_delta self = self_of(s, node);

	return fabs(diff_change(&self)) > self.half;
}

/* Is so much of the node's change where to look, rather than at the node? */
static bool is_most(const struct seeker *s, uint32_t node, double part)
{
	double all = fabs(s->left[node].change);

	return part >= MOST_OF_IT * all ||
	       (part >= MORE_THAN_HALF * all && !changed_itself(s, node));
}

/* Is all of it on one side? */
static bool is_lone(const struct seeker *s, uint32_t node)
{
	return (s->total[node].before == 0) != (s->total[node].after == 0);
}

/* What a part of a node says of whether all of it changed by this factor. */
static bool fits(const struct noise_delta *part, double factor, bool beyond, int *n_beyond)
{
	*n_beyond += beyond && (diff_change(part) > 0) == (factor > 1);
	return fabs(part->after - factor * part->before) <= part->half;
}

/* Did its own code and all it calls change by one factor, several of them beyond noise? Then it is called more often, or less. */
static bool is_alike(const struct seeker *s, uint32_t node)
{
	const struct noise_delta *all = &s->total[node], self = self_of(s, node);
	double factor = all->after / all->before;
	int n_beyond = 0;

	if (s->taken[node] || is_lone(s, node) ||
	    !fits(&self, factor, self.tested && self.chance <= NOISE_LEVEL, &n_beyond))
		return false;
	for (uint32_t c = s->t.first[node]; c != KEY_NONE; c = s->t.next[c])
		if (!fits(&s->total[c], factor, s->beyond[c], &n_beyond))
			return false;
	return n_beyond > 1;
}

/* At the root and at threads' names nothing is said. */
static bool is_sayable(const struct seeker *s, uint32_t node)
{
	return node != 0 && s->beyond[node] && !is_comm(s, s->t.key[node]);
}

/* Does a caller have little but that child, and is not everything? */
static bool is_of_one(const struct seeker *s, uint32_t caller, uint32_t child)
{
	const struct noise_delta *all = &s->total[caller], *one = &s->total[child];

	return is_sayable(s, caller) && !all->all && !s->taken[caller] &&
	       one->before >= ENOUGH * all->before && one->after >= ENOUGH * all->after;
}

/*
 * From the root down to where the largest change divides, or to what is new or gone as a whole; 0: there is none. Where
 * nothing is said the largest child is followed whatever it has.
 */
static uint32_t seek(struct seeker *s)
{
	uint32_t node = 0, child;

	find_pull(s);
	while ((child = heaviest(s, node)) != KEY_NONE) {
		if (is_sayable(s, node) &&
		    (is_lone(s, node) || is_alike(s, node) ||
		     !(is_most(s, node, s->pull[child]) || is_lone(s, child))))
			break;
		node = child;
	}
	/* What is called more often is called by what is: the outermost of those that call little else is said. */
	if (node != 0 && is_alike(s, node))
		while (is_of_one(s, s->t.parent[node], node))
			node = s->t.parent[node];
	return node;
}

/* What rounding leaves of so much is nothing. */
static double rounded(double left, double of)
{
	return fabs(left) < 1e-9 * fabs(of) ? 0 : left;
}

static void subtract(struct amount *from, struct amount a)
{
	from->change = rounded(from->change - a.change, a.change);
	from->before = rounded(from->before - a.before, a.before);
	from->after = rounded(from->after - a.after, a.after);
}

static void add(struct amount *to, struct amount a)
{
	to->change += a.change;
	to->before += a.before;
	to->after += a.after;
}

/* All above has so much less left. */
static void take_above(struct seeker *s, uint32_t node, struct amount a)
{
	for (uint32_t up = node;; up = s->t.parent[up]) {
		subtract(&s->left[up], a);
		s->taken[up] = true;
		if (up == 0)
			break;
	}
}

/* What ends there is said. */
static struct amount take_self(struct seeker *s, uint32_t node)
{
	struct amount self = self_amount(s, node);

	s->own[node] = true;
	add(&s->told[s->t.key[node]], self);
	return self;
}

/* What the node says is said: its subtree has nothing left, and all above it so much less. */
static void take(struct seeker *s, uint32_t node)
{
	take_above(s, node, s->left[node]);
	for (uint32_t i = node; i < s->t.n; i++) {
		if (i != node && !s->said[s->t.parent[i]])
			continue;
		s->said[i] = true;
		s->left[i] = (struct amount){ 0 };
		if (!s->own[i])
			take_self(s, i);
	}
}

static void seeker_init(struct seeker *s, const struct diff *d)
{
	const struct analysis *a = d->analysis;
	size_t n, n_keys = (size_t)a->keys.n + 1;

	*s = (struct seeker){ .d = d, .keys = &a->keys };
	folded_tree_init(&s->t, a->tree);
	n = s->t.n;
	s->total = xcalloc(n, sizeof(*s->total));
	s->left = xcalloc(n, sizeof(*s->left));
	s->pull = xcalloc(n, sizeof(*s->pull));
	s->beyond = xcalloc(n, sizeof(*s->beyond));
	s->taken = xcalloc(n, sizeof(*s->taken));
	s->said = xcalloc(n, sizeof(*s->said));
	s->own = xcalloc(n, sizeof(*s->own));
	s->told = xcalloc(n_keys, sizeof(*s->told));
	s->unsaid = xcalloc(n_keys, sizeof(*s->unsaid));
	for (uint32_t i = 0; i < n; i++) {
		struct noise_delta *t = &s->total[i];

		diff_delta(d, s->t.key[i], PART_TOTAL, &s->t.total[i * s->t.n_columns], t);
		s->left[i] = (struct amount){ diff_change(t), t->before, t->after };
	}
	for (uint32_t i = 1; i < n; i++)
		s->beyond[i] = diff_is_beyond(&d->nodes, &s->total[i]);
}

static void seeker_done(struct seeker *s)
{
	folded_tree_done(&s->t);
	free(s->total);
	free(s->left);
	free(s->pull);
	free(s->beyond);
	free(s->taken);
	free(s->said);
	free(s->own);
	free(s->told);
	free(s->unsaid);
}

static const char *label_of(const struct seeker *s, uint32_t node)
{
	return s->keys->key[s->t.key[node]].label;
}

/* The child with the most on both sides, or KEY_NONE where that is little: what interrupts some samples says nothing of a function. */
static uint32_t main_callee(const struct seeker *s, uint32_t node)
{
	double most = (1 - MOST_OF_IT) * (s->total[node].before + s->total[node].after);
	uint32_t best = KEY_NONE;

	for (uint32_t c = s->t.first[node]; c != KEY_NONE; c = s->t.next[c]) {
		double both = s->total[c].before + s->total[c].after;

		if (both > most) {
			best = c;
			most = both;
		}
	}
	return best;
}

/* The one child that has all that its caller has, or KEY_NONE. */
static uint32_t only_child(const struct folded_tree *t, uint32_t node)
{
	uint32_t child = t->first[node];

	return child != KEY_NONE && t->next[child] == KEY_NONE &&
			       memcmp(&t->total[(size_t)node * t->n_columns],
				      &t->total[(size_t)child * t->n_columns],
				      t->n_columns * sizeof(*t->total)) == 0
		       ? child
		       : KEY_NONE;
}

/* But for what compilers add to the name of a clone. */
static bool same_name(const struct seeker *s, uint32_t a, uint32_t b)
{
	char *x, *y;
	bool same = strcmp(label_of(s, a), label_of(s, b)) == 0;

	if (same)
		return true;
	x = name_rules_loose(label_of(s, a));
	y = name_rules_loose(label_of(s, b));
	same = strcmp(x, y) == 0;
	free(x);
	free(y);
	return same;
}

/* Below two nodes each on one side, the function that all of either goes into. */
static bool find_same(const struct seeker *s, uint32_t gone, uint32_t came, uint32_t *from,
		      uint32_t *to)
{
	int left = CHAIN_MOST;

	for (*from = gone; *from != KEY_NONE && left-- > 0; *from = only_child(&s->t, *from))
		for (*to = came; *to != KEY_NONE && left-- > 0; *to = only_child(&s->t, *to))
			if (same_name(s, *from, *to))
				return true;
	return false;
}

/* Is it a subtree of which others tell nothing, and no other sentence? */
static bool is_whole(const struct reason *r)
{
	return !r->own && !r->rest && r->sentence;
}

static bool is_gone(const struct reason *r)
{
	return is_whole(r) && r->total.after == 0;
}

static bool is_new(const struct reason *r)
{
	return is_whole(r) && r->total.before == 0;
}

/* Has what is new the caller, the module and the size of what is gone, and do both call nothing, or what has one name? */
static bool may_be_renamed(const struct seeker *s, const struct reason *gone,
			   const struct reason *came)
{
	uint32_t a = main_callee(s, gone->node), b = main_callee(s, came->node);

	return s->t.parent[gone->node] == s->t.parent[came->node] &&
	       strcmp(s->keys->key[gone->key].module, s->keys->key[came->key].module) == 0 &&
	       fabs(gone->change + came->change) <= fmax(gone->total.half, came->total.half) &&
	       (a == KEY_NONE || b == KEY_NONE ? a == b : same_name(s, a, b));
}

/* The only one that may be the other one's new name, and the other way round; or NULL. */
static struct reason *find_renamed(const struct seeker *s, const struct explanation *x,
				   const struct reason *gone)
{
	struct reason *found = NULL;
	int n_new = 0, n_gone = 0;

	for (size_t i = 0; i < x->reasons.n; i++)
		if (is_new(&x->reasons.at[i]) && may_be_renamed(s, gone, &x->reasons.at[i])) {
			found = &x->reasons.at[i];
			n_new++;
		}
	for (size_t i = 0; found && i < x->reasons.n; i++)
		n_gone += is_gone(&x->reasons.at[i]) && may_be_renamed(s, &x->reasons.at[i], found);
	return n_new == 1 && n_gone == 1 ? found : NULL;
}

/* The reason of a function that is new under the name of one that is gone, or NULL. */
static struct reason *find_come(const struct seeker *s, const struct explanation *x,
				const struct reason *gone, uint32_t *from, uint32_t *to)
{
	for (size_t i = 0; i < x->reasons.n; i++)
		if (is_new(&x->reasons.at[i]) &&
		    find_same(s, gone->node, x->reasons.at[i].node, from, to))
			return &x->reasons.at[i];
	return NULL;
}

/* One reason of two: it stands where the larger of both stood. */
static void join(const struct seeker *s, struct reason *gone, uint32_t from, struct reason *came,
		 uint32_t to, bool renamed)
{
	char *sentence = explain_move(s->d, &s->t, gone, from, came, to, renamed);
	struct reason *first = came < gone ? came : gone, *second = came < gone ? gone : came;

	free(gone->sentence);
	free(came->sentence);
	gone->change += came->change;
	if (first == came)
		*first = *gone;
	first->sentence = sentence;
	second->sentence = NULL;
}

/* Of equal name, one gone and one new: that is one function, which changed by what both did, and one reason. */
static void join_moves(const struct seeker *s, struct explanation *x)
{
	for (size_t i = 0; i < x->reasons.n; i++) {
		struct reason *gone = &x->reasons.at[i], *came;
		uint32_t from, to;

		if (!is_gone(gone))
			continue;
		came = find_come(s, x, gone, &from, &to);
		if (came) {
			join(s, gone, from, came, to, false);
			continue;
		}
		came = find_renamed(s, x, gone);
		if (came)
			join(s, gone, gone->node, came, came->node, true);
	}
}

/* Is it a function that is on one side alone, called by what changed itself the other way? */
static bool is_part_of(const struct seeker *s, const struct reason *part, const struct reason *own)
{
	return (own->change < 0 ? is_new(part) : is_gone(part)) &&
	       s->t.parent[part->node] == own->node;
}

/* A function's own code that is in functions of their own now, or was: one reason where all of it is as large as it was. */
static void join_parts(const struct seeker *s, struct explanation *x)
{
	for (size_t i = 0; i < x->reasons.n; i++) {
		struct reason *own = &x->reasons.at[i];
		double change = own->change;
		uint32_t *parts;
		size_t n = 0;

		if (!own->own || own->node == KEY_NONE || own->rest)
			continue;
		parts = xcalloc(x->reasons.n, sizeof(*parts));
		for (size_t k = 0; k < x->reasons.n; k++)
			if (is_part_of(s, &x->reasons.at[k], own)) {
				parts[n++] = x->reasons.at[k].node;
				change += x->reasons.at[k].change;
			}
		if (n > 0 && !s->beyond[own->node] && fabs(change) < fabs(own->change)) {
			free(own->sentence);
			own->sentence = explain_parts(s->d, &s->t, own, parts, n, change);
			for (size_t k = 0; k < x->reasons.n; k++)
				if (is_part_of(s, &x->reasons.at[k], own)) {
					free(x->reasons.at[k].sentence);
					x->reasons.at[k].sentence = NULL;
				}
			own->change = change;
		}
		free(parts);
	}
}

/* Reasons without a sentence are in those of others. */
static void leave_joined_out(struct explanation *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->reasons.n; i++)
		if (x->reasons.at[i].sentence)
			x->reasons.at[n++] = x->reasons.at[i];
	x->reasons.n = n;
}

static void push(struct seeker *s, struct explanation *x, struct reason r)
{
	s->accounted += fabs(r.change);
	x->sum += r.change;
	vec_push(&x->reasons, r);
}

static void add_subtree(struct seeker *s, struct explanation *x, uint32_t node)
{
	struct amount left = s->left[node], self = self_amount(s, node);
	double own = s->own[node] ? 0 : self.change;
	struct reason r = {
		.node = node,
		.key = s->t.key[node],
		.change = left.change,
		.total = s->total[node],
		.rest = s->taken[node],
	};

	diff_interval(&s->d->nodes, &r.total);
	if (r.rest) {
		r.total.before = left.before;
		r.total.after = left.after;
	}
	r.itself = fabs(own) >= MOST_OF_IT * fabs(r.change);
	r.in_callees = fabs(own) < (1 - MOST_OF_IT) * fabs(r.change) &&
		       s->t.first[node] != KEY_NONE;
	take(s, node);
	push(s, x, r);
}

/* What is left of a row's own change. */
static double row_left(const struct seeker *s, uint32_t row)
{
	return diff_change(&s->d->row_self[row]) - s->told[s->d->analysis->table.key[row]].change;
}

/* Are rows of the table the functions that nodes are of? */
static bool has_rows(const struct seeker *s)
{
	return s->d->analysis->table_keys == s->keys;
}

static bool is_row_left(const struct seeker *s, uint32_t row)
{
	const struct noise_delta *d = &s->d->row_self[row];

	return !is_comm(s, s->d->analysis->table.key[row]) && diff_is_beyond(&s->d->self, d) &&
	       counts(row_left(s, row), d->half);
}

/* The row with the most left of its own change, beyond noise, or KEY_NONE. */
static uint32_t seek_row(const struct seeker *s)
{
	uint32_t best = KEY_NONE;

	for (uint32_t i = 0; has_rows(s) && i < s->d->analysis->table.n_rows; i++)
		if (is_row_left(s, i) &&
		    (best == KEY_NONE || fabs(row_left(s, i)) > fabs(row_left(s, best))))
			best = i;
	return best;
}

/* A function of which no single place says enough. */
static void add_row(struct seeker *s, struct explanation *x, uint32_t row)
{
	uint32_t key = s->d->analysis->table.key[row];
	struct amount told = s->told[key];
	uint32_t n = 0;
	struct reason r = {
		.node = KEY_NONE,
		.key = key,
		.own = true,
		.change = row_left(s, row),
		.total = s->d->row_self[row],
		.rest = told.before != 0 || told.after != 0,
		.itself = true,
	};

	r.total.before = rounded(r.total.before - told.before, r.total.before);
	r.total.after = rounded(r.total.after - told.after, r.total.after);
	for (uint32_t i = 1; i < s->t.n; i++) {
		if (s->t.key[i] != key || s->own[i])
			continue;
		take_above(s, i, take_self(s, i));
		r.node = n++ == 0 ? i : KEY_NONE;
	}
	push(s, x, r);
}

/* Reasons that read the same but for their numbers say in which thread they are, or below which function. */
static void say_apart_all(const struct seeker *s, struct explanation *x)
{
	const struct folded_tree *t = &s->t;

	for (size_t i = 0; i < x->reasons.n; i++)
		for (size_t k = 0; k < i; k++) {
			struct reason *a = &x->reasons.at[i], *b = &x->reasons.at[k];
			char *name = explain_name(s->d, t, a), *other = explain_name(s->d, t, b);

			if (strcmp(name, other) == 0 && a->node != KEY_NONE) {
				a->apart = folded_tree_parting(t, a->node, b->node);
				b->apart = folded_tree_parting(t, b->node, a->node);
			}
			free(name);
			free(other);
		}
	for (size_t i = 0; i < x->reasons.n; i++)
		x->reasons.at[i].sentence = explain_change(s->d, t, &x->reasons.at[i]);
}

static int by_change(const void *a, const void *b)
{
	double x = fabs(((const struct reason *)a)->change),
	       y = fabs(((const struct reason *)b)->change);

	return (x < y) - (x > y);
}

/* Is it too little to speak of? */
static bool is_little(const struct seeker *s, double change)
{
	return fabs(change) < LEAST * s->accounted;
}

/* Is so much left that a reader has to know? All of what is exact is beyond noise, so that little of it is nothing. */
static bool matters(const struct seeker *s, double left, double half)
{
	return counts(left, half) && (half > 0 || !is_little(s, left));
}

/* What is left of nodes beyond noise, of each what is not in such below it; what belongs to such is noted. */
static double left_in_tree(struct seeker *s)
{
	double *part = xcalloc(s->t.n, sizeof(*part)), sum = 0;

	for (uint32_t i = s->t.n; i-- > 1;) {
		double left = s->left[i].change - part[i];

		if (is_left(s, i) && matters(s, left, s->total[i].half)) {
			sum += fabs(left);
			s->unsaid[s->t.key[i]] = true;
			part[s->t.parent[i]] += s->left[i].change;
		} else {
			part[s->t.parent[i]] += part[i];
		}
	}
	free(part);
	return sum;
}

static double left_in_rows(struct seeker *s)
{
	double sum = 0;

	for (uint32_t i = 0; has_rows(s) && i < s->d->analysis->table.n_rows; i++)
		if (is_row_left(s, i) && matters(s, row_left(s, i), s->d->row_self[i].half)) {
			sum += fabs(row_left(s, i));
			s->unsaid[s->d->analysis->table.key[i]] = true;
		}
	return sum;
}

/* Of a function's node with none of it above, else 0. */
static double left_outermost(const struct seeker *s, uint32_t node)
{
	uint32_t up = s->t.parent[node];

	while (up != 0 && s->t.key[up] != s->t.key[node])
		up = s->t.parent[up];
	return up == 0 ? s->left[node].change : 0;
}

/* Functions whose totals are beyond noise in all places together, and left. */
static void note_totals(struct seeker *s)
{
	const struct table *t = &s->d->analysis->table;
	const struct noise_delta *total = s->d->row_total;
	double *left = xcalloc((size_t)s->keys->n + 1, sizeof(*left));
	bool *asked = xcalloc((size_t)s->keys->n + 1, sizeof(*asked));

	for (uint32_t i = 0; has_rows(s) && i < t->n_rows; i++)
		asked[t->key[i]] = !is_comm(s, t->key[i]) &&
				   diff_is_beyond(&s->d->total, &total[i]);
	for (uint32_t i = 1; i < s->t.n; i++)
		if (asked[s->t.key[i]])
			left[s->t.key[i]] += left_outermost(s, i);
	for (uint32_t i = 0; has_rows(s) && i < t->n_rows; i++)
		if (asked[t->key[i]] && matters(s, left[t->key[i]], total[i].half))
			s->unsaid[t->key[i]] = true;
	free(left);
	free(asked);
}

static void count_left(struct seeker *s, struct explanation *x)
{
	double left = fmax(left_in_tree(s), left_in_rows(s));

	note_totals(s);
	for (uint32_t i = 0; i < s->keys->n; i++)
		x->n_left += s->unsaid[i];
	x->accounted = s->accounted > 0 ? s->accounted / (s->accounted + left) : x->n_left == 0;
}

static void find_reasons(struct seeker *s, uint32_t most, struct explanation *x)
{
	while (x->reasons.n < most) {
		uint32_t node = seek(s);

		if (node == 0 || !is_left(s, node) || is_little(s, s->left[node].change))
			break;
		add_subtree(s, x, node);
	}
	while (x->reasons.n < most) {
		uint32_t row = seek_row(s);

		if (row == KEY_NONE || is_little(s, row_left(s, row)))
			break;
		add_row(s, x, row);
	}
}

void explain(const struct diff *d, uint32_t most, struct explanation *out)
{
	struct seeker s;

	*out = (struct explanation){ .accounted = 0 };
	seeker_init(&s, d);
	find_reasons(&s, most, out);
	count_left(&s, out);
	if (out->reasons.n)
		qsort(out->reasons.at, out->reasons.n, sizeof(*out->reasons.at), by_change);
	say_apart_all(&s, out);
	join_parts(&s, out);
	join_moves(&s, out);
	leave_joined_out(out);
	seeker_done(&s);
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
	/* What its function does itself may be noise. */
	bool by_calls = d->self.n_beyond == 0;
	const char *kind = "subtree", *with;
	char share[FMT_SIZE], n[FMT_SIZE], *of, *out;

	for (size_t i = 0; i < x->reasons.n; i++)
		kind = x->reasons.at[i].node == KEY_NONE ? "cause" : kind;
	if (x->n_left > 0 && x->accounted < ENOUGH)
		of = xasprintf("%s %% of the change beyond noise",
			       fmt_percent(share, (int64_t)(x->accounted * 1000), 1000));
	else if (x->n_left > 0)
		of = xstrdup("most of the change beyond noise");
	else if (left <= (1 - ENOUGH) * change)
		of = xstrdup("the change");
	else
		of = xstrdup("the change beyond noise");
	with = by_calls && *kind == 's' ? ", with all that is called there," : "";
	if (x->reasons.n == 1)
		out = xasprintf("one %s%s explains %s", kind, with, of);
	else
		out = xasprintf("%s %ss%s explain %s", fmt_count(n, (int64_t)x->reasons.n), kind,
				with, of);
	free(of);
	return out;
}

char *explain_sum(const struct diff *d, const struct explanation *x)
{
	char sum[FMT_SIZE], all[FMT_SIZE], left[FMT_SIZE], n[FMT_SIZE];
	double rest = left_of(d, x);

	fmt_change(sum, x->sum, d->unit);
	fmt_change(all, diff_change(&d->whole), d->unit);
	fmt_change(left, rest, d->unit);
	if (x->n_left > 0)
		return xasprintf(
			"together %s of %s; the other %s is in %s more function%s beyond noise, smaller changes and noise",
			sum, all, left, fmt_count(n, x->n_left), x->n_left == 1 ? "" : "s");
	if (rest == 0)
		return xasprintf("together %s of %s: nothing is left", sum, all);
	return xasprintf("together %s of %s; the other %s is in smaller changes and noise", sum,
			 all, left);
}

void explanation_done(struct explanation *x)
{
	for (size_t i = 0; i < x->reasons.n; i++)
		free(x->reasons.at[i].sentence);
	vec_done(&x->reasons);
}
