/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/diff.h"

#include "base/hash.h"
#include "base/mem.h"
#include "query/core/order.h"
#include "query/diff/diff_spread.h"
#include "query/diff/diff_whole.h"
#include "query/diff/distributions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that have so much of everything in every run are everything: main, as a rule. */
#define NEARLY_ALL 0.99

static const struct lens_sides *sides_of(const struct diff *d)
{
	return &d->analysis->lens.sides;
}

/* The number of a side's first run. */
static uint32_t first_run(const struct diff *d, enum side side)
{
	return lens_side(&d->analysis->lens, side) - SIDES_FIRST;
}

static uint32_t n_runs(const struct diff *d)
{
	return sides_of(d)->n_runs[SIDE_BEFORE] + sides_of(d)->n_runs[SIDE_AFTER];
}

/* All runs become as large as they are on average, so that it is the same from either side. */
static void find_factors(struct diff *d)
{
	const double *amount = d->analysis->amounts.run[d->normalise];
	double sum = 0;

	for (uint32_t i = 0; i < n_runs(d); i++)
		sum += amount[i];
	for (uint32_t i = 0; i < n_runs(d); i++)
		d->factor[i] = sum / (double)n_runs(d) / amount[i];
}

/* What numbers are multiplied with to be in the unit. */
static double in_unit(const struct diff *d, uint32_t column)
{
	return 1 / (double)d->analysis->weights.scale[column];
}

bool diff_is_single(const struct diff *d)
{
	return n_runs(d) == N_SIDES;
}

static void find_parts(struct diff *d)
{
	uint32_t after = first_run(d, SIDE_AFTER);

	for (uint32_t i = 0; i < n_runs(d); i++)
		d->part[i] = d->factor[i] * in_unit(d, SIDES_FIRST + i) /
			     sides_of(d)->n_runs[i < after ? SIDE_BEFORE : SIDE_AFTER];
}

void diff_means(const struct diff *d, const int64_t *numbers, double *before, double *after)
{
	uint32_t n_before = first_run(d, SIDE_AFTER), n = n_runs(d);

	*before = *after = 0;
	for (uint32_t i = 0; i < n_before; i++)
		*before += (double)numbers[SIDES_FIRST + i] * d->part[i];
	for (uint32_t i = n_before; i < n; i++)
		*after += (double)numbers[SIDES_FIRST + i] * d->part[i];
}

void diff_measured(const struct diff *d, const int64_t *numbers, double *before, double *after)
{
	uint32_t n_before = first_run(d, SIDE_AFTER), n = n_runs(d);

	*before = *after = 0;
	for (uint32_t i = 0; i < n_before; i++)
		*before += diff_of_run(d, numbers, i) / n_before;
	for (uint32_t i = n_before; i < n; i++)
		*after += diff_of_run(d, numbers, i) / (n - n_before);
}

char *diff_say_typical(const struct diff *d)
{
	const struct analysis *a = d->analysis;

	return a->amounts.typical.differs
		       ? common_factor_say(&a->amounts.typical,
					   metric_is_heap(a->profile, a->lens.column[0].metric))
		       : NULL;
}

char *diff_say_rest(const struct diff *d)
{
	const struct common_factor *t = &d->analysis->amounts.typical;
	event_id reference = sides_of(d)->reference;
	const char *name = normalise_name(d->normalise);

	if (!t->differs || d->normalise == NORMALISE_NONE || d->normalise == NORMALISE_TYPICAL)
		return NULL;
	if (d->normalise == NORMALISE_EVENT)
		name = profile_string(d->analysis->profile,
				      profile_event(d->analysis->profile, reference)->name, NULL);
	return common_factor_say_rest(t, sides_of(d)->n_runs, d->factor, name);
}

double diff_of_run(const struct diff *d, const int64_t *numbers, uint32_t run)
{
	return (double)numbers[SIDES_FIRST + run] * in_unit(d, SIDES_FIRST + run);
}

static double variance_of(const struct diff *d, enum side side, const int64_t *numbers, double sum)
{
	const struct analysis *a = d->analysis;

	return normalize_variance(a->profile, &a->lens, &a->weights, side, numbers, sum);
}

/* What dividing by a measured amount adds to the noise. */
static double reference_of(const struct diff *d, enum side side)
{
	const struct normalize *a = &d->analysis->amounts;
	double sum = 0;

	for (uint32_t i = 0; i < sides_of(d)->n_runs[side]; i++)
		sum += a->run[d->normalise][first_run(d, side) + i];
	switch (d->normalise) {
	case NORMALISE_SAMPLES:
		return -1 / sum;
	case NORMALISE_EVENT:
		return a->reference_squares[side] / sum / sum;
	case NORMALISE_TYPICAL:
		return a->typical.error * a->typical.error / N_SIDES;
	case NORMALISE_NONE:
	case NORMALISE_TOTAL:
	case NORMALISE_TIME:
	case N_NORMALISATIONS:
		break;
	}
	return 0;
}

/* equal[runs] makes the runs of a side equally fast; NULL: they are as they were. */
static void add_runs(const struct diff *d, enum side side, const int64_t *numbers,
		     const double *equal, struct noise_side *out)
{
	uint32_t first = first_run(d, side), n = sides_of(d)->n_runs[side];
	double least = 0, alike = 0;

	for (uint32_t i = first; i < first + n; i++) {
		double x = diff_of_run(d, numbers, i);

		out->sum += x;
		out->mean += x * d->factor[i] / n;
		out->factor += d->factor[i] / n;
		alike += x * d->factor[i] * (equal ? equal[i] : 1) / n;
		least = i == first || x < least ? x : least;
	}
	out->least_samples = least;
	for (uint32_t i = first; n > 1 && i < first + n; i++) {
		double by = d->factor[i] * (equal ? equal[i] : 1);
		double off = diff_of_run(d, numbers, i) * by - alike;

		out->between += off * off / (n - 1);
	}
}

static void fill_side(const struct diff *d, enum side side, const int64_t *numbers,
		      const double *equal, struct noise_side *out)
{
	const int64_t *whole = d->analysis->weights.whole;
	uint32_t first = first_run(d, side);

	*out = (struct noise_side){ .n_runs = sides_of(d)->n_runs[side] };
	add_runs(d, side, numbers, equal, out);
	out->variance = variance_of(d, side, numbers, out->sum);
	/* From the unit to samples of equal weight; one run alone says nothing. */
	out->least_samples *= out->n_runs > 1 && out->variance > 0 ? out->sum / out->variance : 0;
	if (sides_of(d)->system)
		out->system = (double)numbers[lens_system(&d->analysis->lens, side)] *
			      d->part[first];
	out->reference = reference_of(d, side);
	if (d->normalise != NORMALISE_TOTAL)
		return;
	for (uint32_t i = first; i < first + out->n_runs; i++)
		out->whole += diff_of_run(d, whole, i);
	out->whole_square = variance_of(d, side, whole, out->whole);
}

/* What earlier runs say of a key widens what all functions say of these. */
static struct noise_spread spread_of(const struct diff *d, uint32_t key, enum row_part part)
{
	const struct own_spread *h = d->learned[part] && key != KEY_NONE ? &d->learned[part][key]
									 : NULL;
	struct noise_spread s = d->spread;

	if (h && h->square > s.square) {
		s.square = h->square;
		s.freedom = h->freedom;
	}
	if (h && N_SIDES * h->square > s.own) {
		s.own = N_SIDES * h->square;
		s.own_freedom = h->freedom;
	}
	return s;
}

uint32_t diff_n_by_calls(const struct diff *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++)
		n += diff_is_beyond(&d->total, &d->row_total[i]) &&
		     !diff_is_beyond(&d->self, &d->row_self[i]);
	return n;
}

uint32_t diff_n_widened(const struct diff *d)
{
	uint32_t n = 0;

	for (uint32_t key = 0; d->learned[PART_SELF] && key < d->analysis->keys.n; key++) {
		bool wider = false;

		for (int part = 0; part < N_PARTS; part++) {
			struct noise_spread s = spread_of(d, key, (enum row_part)part);

			wider |= diff_is_single(d) ? s.own > d->spread.own
						   : s.square > d->spread.square;
		}
		n += wider;
	}
	return n;
}

/* Has it all of every run, but what was spent before the program began and the like? */
static bool is_all(const struct diff *d, const int64_t *numbers)
{
	const int64_t *all = d->analysis->weights.total;

	for (uint32_t c = SIDES_FIRST; c < SIDES_FIRST + n_runs(d); c++)
		if (all[c] <= 0 || (double)numbers[c] < NEARLY_ALL * (double)all[c])
			return false;
	return true;
}

void diff_delta(const struct diff *d, uint32_t key, enum row_part part, const int64_t *numbers,
		struct noise_delta *out)
{
	struct noise_spread spread;
	struct noise_side before, after;

	if (is_all(d, numbers)) {
		diff_whole_delta(d, numbers, out);
		return;
	}
	spread = spread_of(d, key, part);
	fill_side(d, SIDE_BEFORE, numbers, d->alike, &before);
	fill_side(d, SIDE_AFTER, numbers, d->alike, &after);
	noise_compare(&before, &after, &spread, out);
}

void diff_whole_delta(const struct diff *d, const int64_t *numbers, struct noise_delta *out)
{
	struct noise_side before, after;

	/* What runs differ by in speed is not taken off: the whole is what was measured. */
	fill_side(d, SIDE_BEFORE, numbers, NULL, &before);
	fill_side(d, SIDE_AFTER, numbers, NULL, &after);
	noise_compare(&before, &after, &d->whole_spread, out);
	out->all = true;
}

/* Chances of many rows, to find the limit of: those that are low enough to be believed at all. */
struct chances {
	double *p;     /* [n] */
	double *alone; /* [n_alone] by chance alone */
	uint32_t n, n_alone;
};

static void chances_init(struct chances *c, uint32_t most)
{
	*c = (struct chances){ .p = xcalloc((size_t)most + 1, sizeof(*c->p)),
			       .alone = xcalloc((size_t)most + 1, sizeof(*c->alone)) };
}

static void chances_done(struct chances *c)
{
	free(c->p);
	free(c->alone);
}

/* Of what cannot be told from noise: no chance is as large. */
#define UNTESTED 2.0

static double chance_of(const struct noise_delta *d)
{
	return d->tested ? d->p : UNTESTED;
}

static void note(struct chances *c, struct diff_family *f, double change, double p, double alone)
{
	f->n_changed += change != 0;
	f->n_tested += p != UNTESTED;
	/* Nothing above the level is believed at any rank. */
	if (p <= NOISE_LEVEL)
		c->p[c->n++] = p;
	if (alone <= NOISE_LEVEL)
		c->alone[c->n_alone++] = alone;
}

static void note_delta(struct chances *c, struct diff_family *f, const struct noise_delta *d)
{
	/* What is everything is judged by itself. */
	if (d->all)
		f->n_changed += diff_change(d) != 0;
	else
		note(c, f, diff_change(d), chance_of(d), d->tested ? d->chance : UNTESTED);
}

static void settle(struct chances *c, struct diff_family *f)
{
	f->n_judged = f->n_tested;
	f->limit = distributions_limit(c->p, c->n, f->n_tested, f->level);
	f->chance_limit = distributions_limit(c->alone, c->n_alone, f->n_tested, f->level);
	c->n = c->n_alone = 0;
}

static void count_verdict(struct diff_family *f, const struct noise_delta *d)
{
	enum change_verdict v = diff_verdict(f, d);

	f->n_beyond += v == VERDICT_BEYOND;
	f->n_own += v == VERDICT_OWN;
}

/*
 * A comparison asks whether everything changed and whether rows did, and is to be wrong of either no more often than NOISE_LEVEL. Of
 * several runs each has half of that. One run a side does not tell a change of everything from the machine's speed, and asks of rows.
 */
static struct diff_family new_family(const struct diff *d)
{
	double level = diff_is_single(d) ? NOISE_LEVEL : NOISE_LEVEL / 2;

	return (struct diff_family){ .level = level };
}

/* What is in one place alone is the same there and in the table: it goes by the limit of that. */
static void judge_as(struct diff_family *f, const struct diff_family *other)
{
	f->n_judged = other->n_judged;
	f->limit = other->limit;
	f->chance_limit = other->chance_limit;
}

void diff_find_family(const struct diff *d, const struct noise_delta *delta, uint32_t n,
		      struct diff_family *out)
{
	*out = new_family(d);
	judge_as(out, &d->nodes);
	for (uint32_t i = 0; i < n; i++) {
		out->n_changed += diff_change(&delta[i]) != 0;
		out->n_tested += !delta[i].all && delta[i].tested;
		count_verdict(out, &delta[i]);
	}
}

double diff_level(const struct diff_family *f, const struct noise_delta *d)
{
	return d->all ? f->level : f->limit;
}

void diff_interval(const struct diff_family *f, struct noise_delta *d)
{
	d->half = noise_half(d, diff_level(f, d));
}

/* What rows of the table are sorted by. */
struct row_order {
	const struct diff *diff;
	enum table_order order;
	bool reverse;
};

double diff_rank(const struct diff *d, const struct noise_delta *self)
{
	if (diff_is_beyond(&d->self, self))
		return UNTESTED + fabs(diff_change(self));
	return diff_change(self) != 0 ? UNTESTED - (double)(float)chance_of(self) : -1;
}

/* A change as rows are ordered by it. */
struct place {
	double change;
	float chance; /* as chance_of(), without the digits in which mathematical libraries differ */
	enum change_verdict verdict;
};

/* What is beyond noise by its size; then what is the least likely to be chance, as the size of what is tells nothing. */
static int order_changes(const struct place *a, const struct place *b)
{
	bool beyond = a->verdict == VERDICT_BEYOND;

	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	if (!beyond && (a->change == 0) != (b->change == 0))
		return b->change == 0 ? -1 : 1;
	if (!beyond && a->chance != b->chance)
		return a->chance < b->chance ? -1 : 1;
	if (fabs(a->change) != fabs(b->change))
		return fabs(a->change) > fabs(b->change) ? -1 : 1;
	return (b->change > a->change) - (b->change < a->change);
}

int diff_order(const struct diff_family *f, const struct noise_delta *a,
	       const struct noise_delta *b)
{
	struct place x = { diff_change(a), (float)chance_of(a), diff_verdict(f, a) };
	struct place y = { diff_change(b), (float)chance_of(b), diff_verdict(f, b) };

	return order_changes(&x, &y);
}

static int compare_rows_by(const struct diff *d, enum table_order order, uint32_t x, uint32_t y)
{
	const struct groups *k = d->analysis->table_keys;
	const struct table *t = &d->analysis->table;

	switch (order) {
	case ORDER_SELF:
		/* What did not change itself but calls what did is behind all that changed, by what it calls. */
		return diff_order(&d->self, &d->row_self[x], &d->row_self[y]);
	case ORDER_TOTAL:
		return diff_order(&d->total, &d->row_total[x], &d->row_total[y]);
	case ORDER_LABEL:
		return order_keys(k, t->key[x], t->key[y]);
	case ORDER_MODULE:
		return strcmp(k->key[t->key[x]].module, k->key[t->key[y]].module);
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *order)
{
	static const enum table_order ties[] = { ORDER_SELF, ORDER_TOTAL, ORDER_LABEL };
	const struct row_order *o = order;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int cmp = compare_rows_by(o->diff, o->order, x, y);

	if (o->reverse)
		cmp = -cmp;
	for (size_t i = 0; cmp == 0 && i < sizeof(ties) / sizeof(*ties); i++)
		cmp = compare_rows_by(o->diff, ties[i], x, y);
	return cmp;
}

static int compare_neighbours(const void *a, const void *b, void *diff)
{
	const struct butterfly_row *x = a, *y = b;
	const struct diff *d = diff;
	struct noise_delta p, q;
	int cmp;

	diff_delta(d, x->key, PART_TOTAL, x->total, &p);
	diff_delta(d, y->key, PART_TOTAL, y->total, &q);
	cmp = diff_order(&d->nodes, &p, &q);
	return cmp ? cmp : order_keys(&d->analysis->keys, x->key, y->key);
}

void diff_sort_neighbours(const struct diff *d, struct butterfly_row *rows, uint32_t n)
{
	if (n > 1)
		qsort_r(rows, n, sizeof(*rows), compare_neighbours, (void *)d);
}

/* Changes in another order; the old ones are freed. */
static struct noise_delta *permute(struct noise_delta *from, const uint32_t *row, uint32_t n)
{
	struct noise_delta *to = xcalloc(n, sizeof(*to));

	for (uint32_t i = 0; i < n; i++)
		to[i] = from[row[i]];
	free(from);
	return to;
}

uint32_t *diff_ordered(const struct diff *d, enum table_order order, bool reverse)
{
	struct row_order o = { d, order, reverse };
	uint32_t n = d->analysis->table.n_rows, *row = xcalloc(n, sizeof(*row));

	for (uint32_t i = 0; i < n; i++)
		row[i] = i;
	qsort_r(row, n, sizeof(*row), compare_rows, &o);
	return row;
}

/* While nobody else has it. */
static void sort_table(struct diff *d)
{
	uint32_t *row = diff_ordered(d, ORDER_SELF, false), n = d->analysis->table.n_rows;

	d->row_self = permute(d->row_self, row, n);
	d->row_total = permute(d->row_total, row, n);
	table_permute(&d->analysis->table, row);
	free(row);
}

/* Rows that are everything are compared when all others are: how fast the machine was is known by then. */
static void compare_part(struct diff *d, enum row_part part, bool all)
{
	const struct table *t = &d->analysis->table;
	struct noise_delta *row = part == PART_SELF ? d->row_self : d->row_total;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const int64_t *numbers = &(part == PART_SELF ? t->self
							     : t->total)[(size_t)i * t->n_columns];

		if (is_all(d, numbers) == all)
			diff_delta(d, t->key[i], part, numbers, &row[i]);
		else if (!all)
			diff_means(d, numbers, &row[i].before, &row[i].after);
	}
}

/* Self and total of all rows are one family: a function that calls none has the same of both, and either is a verdict of its row. */
static void judge_rows(struct diff *d, struct chances *c)
{
	struct diff_family both = new_family(d);

	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++) {
		note_delta(c, &d->self, &d->row_self[i]);
		note_delta(c, &d->total, &d->row_total[i]);
	}
	both.n_tested = d->self.n_tested + d->total.n_tested;
	settle(c, &both);
	judge_as(&d->self, &both);
	judge_as(&d->total, &both);
}

static void settle_rows(const struct diff *d, struct diff_family *f, struct noise_delta *row)
{
	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++) {
		count_verdict(f, &row[i]);
		diff_interval(f, &row[i]);
	}
}

static void compare_table(struct diff *d, struct chances *c)
{
	const struct table *t = &d->analysis->table;

	compare_part(d, PART_SELF, false);
	compare_part(d, PART_TOTAL, false);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		d->row_self[i].all = is_all(d, &t->self[(size_t)i * t->n_columns]);
		d->row_total[i].all = is_all(d, &t->total[(size_t)i * t->n_columns]);
	}
	judge_rows(d, c);
	diff_compare_whole(d);
	compare_part(d, PART_SELF, true);
	compare_part(d, PART_TOTAL, true);
	settle_rows(d, &d->self, d->row_self);
	settle_rows(d, &d->total, d->row_total);
	for (uint32_t i = 0; i < t->n_rows; i++)
		d->most = fmax(d->most, fmax(fabs(diff_change(&d->row_self[i])),
					     fabs(diff_change(&d->row_total[i]))));
	sort_table(d);
}

static void find_overlap(struct diff *d)
{
	double all = 0, common = 0;

	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++) {
		double before = fabs(d->row_self[i].before), after = fabs(d->row_self[i].after);

		all += before + after;
		if (before > 0 && after > 0)
			common += before + after;
	}
	/* Where there was nothing at all, there is nothing to have in common. */
	d->overlap = d->whole.before != 0 && d->whole.after != 0 && all > 0 ? common / all : 1;
}

/* Siblings being sorted. */
struct sibling {
	struct place place; /* beyond: something in its subtree is; else noise */
	uint32_t node;
};

static int compare_siblings(const void *a, const void *b, void *diff)
{
	const struct sibling *x = a, *y = b;
	const struct diff *d = diff;
	const uint32_t *key = d->analysis->tree->key;
	int cmp = order_changes(&x->place, &y->place);

	return cmp ? cmp : order_keys(&d->analysis->keys, key[x->node], key[y->node]);
}

/* What all nodes' children are sorted in. */
struct siblings {
	const bool *within; /* [n_nodes] something in the subtree is beyond noise */
	VEC(struct sibling) all;
};

/* The children of a node in order, linked. */
static void link_children(struct diff *d, uint32_t node, struct siblings *s)
{
	const struct calltree *t = d->analysis->tree;
	uint32_t only = calltree_first(t, node);

	/* Most nodes have one child or none. */
	if (only == KEY_NONE || calltree_next(t, only) == KEY_NONE) {
		d->first[node] = only;
		if (only != KEY_NONE)
			d->next[only] = KEY_NONE;
		return;
	}
	s->all.n = 0;
	for (uint32_t c = only; c != KEY_NONE; c = calltree_next(t, c))
		vec_push(&s->all,
			 ((struct sibling){ { d->change[c], (float)d->chance[c],
					      s->within[c] ? VERDICT_BEYOND : VERDICT_NOISE },
					    c }));
	qsort_r(s->all.at, s->all.n, sizeof(*s->all.at), compare_siblings, d);
	d->first[node] = s->all.at[0].node;
	for (size_t i = 0; i < s->all.n; i++)
		d->next[s->all.at[i].node] = i + 1 < s->all.n ? s->all.at[i + 1].node : KEY_NONE;
}

static void link_nodes(struct diff *d)
{
	const struct calltree *t = d->analysis->tree;
	bool *within = xcalloc(t->n_nodes, sizeof(*within));
	struct siblings s = { .within = within };

	for (uint32_t i = t->n_nodes; i-- > 0;) {
		within[i] |= d->beyond[i];
		within[t->parent[i]] |= within[i];
	}
	d->next[0] = KEY_NONE;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		link_children(d, i, &s);
	vec_done(&s.all);
	free(within);
}

/* Nodes whose numbers were compared, by a hash of these; 0, the root, is none. */
#define REMEMBERED (1u << 15)

static inline bool same_numbers(const struct calltree *t, uint32_t a, uint32_t b)
{
	const int64_t *x = &t->total[(size_t)a * t->n_columns];
	const int64_t *y = &t->total[(size_t)b * t->n_columns];

	for (uint32_t c = SIDES_FIRST; c < t->n_columns; c++)
		if (x[c] != y[c])
			return false;
	return true;
}

/* A node that was compared and has the numbers of node i: of deep stacks most have those of their caller. i: none. */
static uint32_t compared_before(const struct calltree *t, uint32_t i, uint32_t *remembered)
{
	const int64_t *numbers = &t->total[(size_t)i * t->n_columns];
	uint32_t *slot, other;
	uint64_t hash = 0;

	if (i == 0 || same_numbers(t, i, t->parent[i]))
		return i == 0 ? i : t->parent[i];
	for (uint32_t c = SIDES_FIRST; c < t->n_columns; c++)
		hash = hash_u64(hash ^ (uint64_t)numbers[c]);
	slot = &remembered[hash % REMEMBERED];
	other = *slot;
	*slot = i;
	return same_numbers(t, i, other) ? other : i;
}

static void compare_nodes(struct diff *d, struct chances *c)
{
	const struct calltree *t = d->analysis->tree;
	uint32_t *remembered = xcalloc(REMEMBERED, sizeof(*remembered));
	double *p = d->chance, *alone = xcalloc(t->n_nodes, sizeof(*alone));
	bool *all = xcalloc(t->n_nodes, sizeof(*all));
	struct noise_delta delta;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		uint32_t same = compared_before(t, i, remembered);

		if (same != i && !d->learned[PART_TOTAL]) {
			d->change[i] = d->change[same];
			p[i] = p[same];
			alone[i] = alone[same];
			all[i] = all[same];
		} else {
			diff_delta(d, t->key[i], PART_TOTAL, &t->total[(size_t)i * t->n_columns],
				   &delta);
			d->change[i] = diff_change(&delta);
			p[i] = chance_of(&delta);
			alone[i] = delta.tested ? delta.chance : UNTESTED;
			all[i] = delta.all;
		}
		if (i > 0 && all[i])
			d->nodes.n_changed += d->change[i] != 0;
		else if (i > 0)
			note(c, &d->nodes, d->change[i], p[i], alone[i]);
	}
	settle(c, &d->nodes);
	if (d->analysis->table_keys == &d->analysis->keys)
		judge_as(&d->nodes, &d->self);
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		d->beyond[i] = p[i] <= (all[i] ? d->nodes.level : d->nodes.limit);
		d->nodes.n_beyond += d->beyond[i];
		d->nodes.n_own += !d->beyond[i] &&
				  alone[i] <= (all[i] ? d->nodes.level : d->nodes.chance_limit);
	}
	free(all);
	free(alone);
	free(remembered);
}

/* Everything that depends on what the sides are made equal by. */
static void find_changes(struct diff *d, enum normalise n)
{
	const struct analysis *a = d->analysis;
	uint32_t most = N_PARTS * a->table.n_rows;
	struct chances c;

	d->normalise = normalize_known(&a->amounts, &a->lens, n) ? n : NORMALISE_NONE;
	d->unit = metric_unit(a->profile, a->lens.column[0].metric);
	find_factors(d);
	find_parts(d);
	diff_find_spread(d);
	d->self = d->total = d->nodes = new_family(d);
	if (a->tree && a->tree->n_nodes > most)
		most = a->tree->n_nodes;
	chances_init(&c, most);
	compare_table(d, &c);
	find_overlap(d);
	if (a->tree) {
		compare_nodes(d, &c);
		link_nodes(d);
	}
	chances_done(&c);
}

struct diff *diff_new(struct analysis *a, enum normalise n)
{
	struct diff *d = xcalloc(1, sizeof(*d));
	uint32_t n_rows = a->table.n_rows, n_nodes = a->tree ? a->tree->n_nodes : 0;

	d->analysis = a;
	run_history_learn(a->lens.sides.history, a, d->learned, &d->n_history);
	d->row_self = xcalloc(n_rows, sizeof(*d->row_self));
	d->row_total = xcalloc(n_rows, sizeof(*d->row_total));
	if (a->tree) {
		d->change = xcalloc(n_nodes, sizeof(*d->change));
		d->chance = xcalloc(n_nodes, sizeof(*d->chance));
		d->beyond = xcalloc(n_nodes, sizeof(*d->beyond));
		d->first = xcalloc(n_nodes, sizeof(*d->first));
		d->next = xcalloc(n_nodes, sizeof(*d->next));
	}
	find_changes(d, n);
	return d;
}

void diff_free(struct diff *d)
{
	if (!d)
		return;
	for (int part = 0; part < N_PARTS; part++)
		free(d->learned[part]);
	free(d->row_self);
	free(d->row_total);
	free(d->change);
	free(d->chance);
	free(d->beyond);
	free(d->first);
	free(d->next);
	free(d);
}
