/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/diff/diff_rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/err.h"
#include "cli/report/find_function.h"
#include "query/activity.h"
#include "query/analysis.h"
#include "query/diff/activity_pairs.h"
#include "query/diff/diff_moves.h"

static const struct analysis *analysis_of(const struct diff_rows *r)
{
	return r->diff->analysis;
}

static bool by_self(const struct diff_rows *r)
{
	return r->view == VIEW_KIND_TOP || r->view == VIEW_KIND_CALLERS;
}

const struct diff_family *diff_rows_family(const struct diff_rows *r)
{
	if (r->view == VIEW_KIND_THREADS)
		return &analysis_of(r)->over[OVER_THREADS]->activity->pairs->family;
	return by_self(r)                  ? &r->diff->self
	       : r->view == VIEW_KIND_TREE ? &r->diff->nodes
					   : &r->diff->total;
}

const char *diff_rows_name(const struct diff_rows *r, const struct diff_row *row)
{
	if (row->name)
		return row->name;
	return row->key == KEY_NONE ? "(no caller)"
				    : analysis_of(r)->table_keys->key[row->key].label;
}

const struct noise_delta *diff_rows_ruling(const struct diff_rows *r, const struct diff_row *row)
{
	return by_self(r) ? &row->self : &row->total;
}

const char *diff_relative(char out[FMT_SIZE], const struct noise_delta *d)
{
	if (diff_change(d) == 0)
		out[0] = '\0';
	else if (d->before == 0 || d->after == 0)
		snprintf(out, FMT_SIZE, "%s", d->before == 0 ? "new" : "gone");
	else
		fmt_change_percent(out, diff_change(d), d->before);
	return out;
}

const char *diff_rows_relative(char out[FMT_SIZE], const struct diff_rows *r,
			       const struct diff_row *row)
{
	const struct noise_delta *d = diff_rows_ruling(r, row);

	if (d->before == 0 && d->after != 0 && row->total.before != 0)
		snprintf(out, FMT_SIZE, "from 0");
	else if (d->after == 0 && d->before != 0 && row->total.after != 0)
		fmt_change_percent(out, diff_change(d), d->before);
	else
		diff_relative(out, d);
	return out;
}

enum change_verdict diff_rows_verdict(const struct diff_rows *r, const struct diff_row *row)
{
	if (!by_self(r) || diff_change(&row->self) == 0)
		return row->total_verdict;
	return row->self_verdict;
}

bool diff_rows_beyond(const struct diff_rows *r, const struct diff_row *row)
{
	return diff_rows_verdict(r, row) == VERDICT_BEYOND;
}

/* The least change that is shown. */
static double least(const struct diff_rows *r)
{
	const struct noise_delta *w = &r->diff->whole;

	return fmax(fabs(w->before), fabs(w->after)) * r->min_percent / 100;
}

static bool has_room(const struct diff_rows *r)
{
	return !r->max_rows || r->rows.n < (uint64_t)r->max_rows;
}

/* The verdict, and the interval of the same. */
static enum change_verdict judge(const struct diff_family *f, struct noise_delta *d)
{
	diff_interval(f, d);
	return diff_verdict(f, d);
}

/* Fills the changes of a row whose numbers are these; self may be NULL. */
static void set_changes(const struct diff_rows *r, struct diff_row *row, const int64_t *self,
			const int64_t *total)
{
	const struct diff *d = r->diff;

	row->has_self = self;
	diff_delta(d, row->key, PART_TOTAL, total, &row->total);
	row->total_verdict = judge(r->view == VIEW_KIND_TREE ? &d->nodes : &d->total, &row->total);
	if (!self)
		return;
	diff_delta(d, row->key, PART_SELF, self, &row->self);
	row->self_verdict = judge(&d->self, &row->self);
}

static void make_top(struct diff_rows *r)
{
	const struct diff *d = r->diff;
	const struct table *t = &analysis_of(r)->table;
	double min = least(r);

	for (uint32_t i = 0; i < t->n_rows; i++) {
		double most = fmax(fabs(diff_change(&d->row_self[i])),
				   fabs(diff_change(&d->row_total[i])));
		struct diff_row row = {
			.key = t->key[i],
			.parent = ROW_NONE,
			.has_self = true,
			.self = d->row_self[i],
			.total = d->row_total[i],
			.self_verdict = diff_verdict(&d->self, &d->row_self[i]),
			.total_verdict = diff_verdict(&d->total, &d->row_total[i]),
		};

		if (most == 0)
			continue;
		if (most >= min && has_room(r))
			vec_push(&r->rows, row);
		else
			r->n_left_out++;
	}
}

/* The largest change of each subtree, of total or self; the caller frees. */
static double *find_most(const struct diff_rows *r)
{
	const struct calltree *t = analysis_of(r)->tree;
	double *most = xcalloc(t->n_nodes, sizeof(*most));
	struct noise_delta self;

	for (uint32_t i = t->n_nodes; i-- > 0;) {
		diff_delta(r->diff, t->key[i], PART_SELF, &t->self[(size_t)i * t->n_columns],
			   &self);
		most[i] = fmax(most[i], fmax(fabs(r->diff->change[i]), fabs(diff_change(&self))));
		most[t->parent[i]] = fmax(most[t->parent[i]], most[i]);
	}
	return most;
}

/* Are the subtrees of the children of a node, but this one, without change? */
static bool is_alone(const struct diff *d, const double *most, uint32_t parent, uint32_t child)
{
	for (uint32_t c = d->first[parent]; c != KEY_NONE; c = d->next[c])
		if (c != child && most[c] > 0)
			return false;
	return true;
}

/* A node of a tree that is yet to be shown. */
struct pending {
	uint32_t node;
	uint32_t parent_row;
	uint32_t depth;
};

struct walk {
	struct diff_rows *r;
	const double *most;
	double min;
	VEC(struct pending) todo; /* newest last */
	VEC(uint32_t) children;   /* of the node at hand, in order */
};

/* Notes the children that changed, so that the first is taken first. */
static void push_children(struct walk *w, uint32_t node, uint32_t row, uint32_t depth)
{
	const struct diff *d = w->r->diff;

	w->children.n = 0;
	for (uint32_t c = d->first[node]; c != KEY_NONE; c = d->next[c])
		if (w->most[c] > 0)
			vec_push(&w->children, c);
	for (size_t i = w->children.n; i-- > 0;)
		vec_push(&w->todo, ((struct pending){ w->children.at[i], row, depth }));
}

static void make_tree(struct diff_rows *r)
{
	const struct calltree *t = analysis_of(r)->tree;
	double *most = find_most(r);
	struct walk w = { .r = r, .most = most, .min = least(r) };

	push_children(&w, 0, ROW_NONE, 0);
	while (w.todo.n) {
		struct pending next = w.todo.at[--w.todo.n];
		uint32_t i = next.node;
		struct diff_row row = {
			.key = t->key[i],
			.parent = next.parent_row,
			.depth = next.depth,
			.only_child = next.depth && is_alone(r->diff, most, t->parent[i], i),
		};

		if (most[i] < w.min || !has_room(r)) {
			r->n_left_out++;
			continue;
		}
		set_changes(r, &row, &t->self[(size_t)i * t->n_columns],
			    &t->total[(size_t)i * t->n_columns]);
		vec_push(&r->rows, row);
		push_children(&w, i, (uint32_t)r->rows.n - 1, next.depth + 1);
	}
	vec_done(&w.todo);
	vec_done(&w.children);
	free(most);
}

/* Rows of one parent, to be sorted. */
struct sortable {
	struct diff_row row;
	uint32_t node;
};

static int by_change(const void *a, const void *b, void *rows)
{
	const struct diff_row *x = &((const struct sortable *)a)->row;
	const struct diff_row *y = &((const struct sortable *)b)->row;
	double p = fabs(diff_change(diff_rows_ruling(rows, x)));
	double q = fabs(diff_change(diff_rows_ruling(rows, y)));
	enum change_verdict m = diff_rows_verdict(rows, x), n = diff_rows_verdict(rows, y);

	return COMPARE(n, m) ?: COMPARE(q, p) ?: COMPARE(x->key, y->key);
}

struct callers {
	struct diff_rows *r;
	struct inverted *tree;
	double min;
	VEC(struct sortable) todo; /* newest last */
};

static void push_caller(struct callers *c, uint32_t node, uint32_t parent)
{
	struct sortable s = { .node = node };
	double most;

	s.row = (struct diff_row){
		.key = inverted_node(c->tree, node)->key,
		.parent = parent,
		.depth = inverted_node(c->tree, node)->depth,
	};
	set_changes(c->r, &s.row, inverted_self(c->tree, node), inverted_total(c->tree, node));
	most = fabs(diff_change(&s.row.self));
	if (most == 0)
		return;
	if (most >= c->min)
		vec_push(&c->todo, s);
	else
		c->r->n_left_out++;
}

/* Sorts what was noted since `from`, so that what changed most is taken first. */
static void sort_pending(struct callers *c, size_t from)
{
	size_t n = c->todo.n - from;

	if (n > 1)
		qsort_r(c->todo.at + from, n, sizeof(*c->todo.at), by_change, c->r);
	mem_reverse(c->todo.at + from, n, sizeof(*c->todo.at));
	if (n == 1)
		c->todo.at[from].row.only_child = c->todo.at[from].row.depth > 0;
}

static int make_callers(struct diff_rows *r, const char *function, struct err *e)
{
	struct callers c = { .r = r, .min = least(r) };
	struct search s = { 0 };
	size_t from;

	if (function && find_functions(analysis_of(r), function, &s, e))
		return -EINVAL;
	c.tree = analysis_inverted(r->diff->analysis);
	for (uint32_t i = 0; i < inverted_n_roots(c.tree); i++)
		if (!function || s.matches[inverted_node(c.tree, i)->key])
			push_caller(&c, i, ROW_NONE);
	sort_pending(&c, 0);
	while (c.todo.n) {
		struct sortable next = c.todo.at[--c.todo.n];
		const struct inverted_node *n;

		if (!has_room(r)) {
			r->n_left_out++;
			continue;
		}
		vec_push(&r->rows, next.row);
		inverted_expand(c.tree, next.node);
		n = inverted_node(c.tree, next.node);
		from = c.todo.n;
		for (uint32_t i = 0; i < n->n_children; i++)
			push_caller(&c, n->first_child + i, (uint32_t)r->rows.n - 1);
		sort_pending(&c, from);
	}
	vec_done(&c.todo);
	if (function)
		search_done(&s);
	return 0;
}

static double change_of(const void *diff, uint32_t row)
{
	return fabs(diff_change(&((const struct diff *)diff)->row_total[row]));
}

static void add_neighbours(struct diff_rows *r, const struct butterfly_row *rows, uint32_t n,
			   enum report_role role)
{
	VEC(struct sortable) all = { 0 };
	double min = least(r);

	for (uint32_t i = 0; i < n; i++) {
		struct sortable s = { .row = { rows[i].key, .parent = ROW_NONE, .role = role } };
		double change;

		set_changes(r, &s.row, NULL, rows[i].total);
		change = fabs(diff_change(&s.row.total));
		if (change > 0 && change >= min)
			vec_push(&all, s);
		else
			r->n_left_out += change > 0;
	}
	if (all.n > 1)
		qsort_r(all.at, all.n, sizeof(*all.at), by_change, r);
	for (size_t i = 0; i < all.n; i++)
		if (!r->max_rows || i < (uint64_t)r->max_rows)
			vec_push(&r->rows, all.at[i].row);
		else
			r->n_left_out++;
	vec_done(&all);
}

static int make_butterfly(struct diff_rows *r, const char *function, struct err *e)
{
	struct diff_row row = { .parent = ROW_NONE, .role = ROLE_CENTRE };
	const struct analysis *a = analysis_of(r);
	struct butterfly b;

	if (!function)
		return err_set(e, -EINVAL, "--view butterfly wants a function: --function NAME");
	if (find_function(a, &a->table, change_of, r->diff, function, &row.key, e))
		return -EINVAL;
	butterfly_init(&b, a->tree, &a->keys, row.key);
	add_neighbours(r, b.callers, b.n_callers, ROLE_CALLER);
	set_changes(r, &row, b.self, b.total);
	vec_push(&r->rows, row);
	add_neighbours(r, b.callees, b.n_callees, ROLE_CALLEE);
	butterfly_done(&b);
	return 0;
}

/* The largest change of a process and its threads, which are the rows from i on; and where they end. */
static double most_of_process(const struct activity *t, uint32_t i, uint32_t *end)
{
	double most = fabs(diff_change(&t->pairs->change[i]));

	for (i++; i < t->n_rows && !t->row[i].is_process; i++)
		most = fmax(most, fabs(diff_change(&t->pairs->change[i])));
	*end = i;
	return most;
}

static void push_task(struct diff_rows *r, const struct activity *t, uint32_t i, uint32_t parent)
{
	struct diff_row row = {
		.key = KEY_NONE,
		.name = t->row[i].name,
		.parent = parent,
		.depth = parent == ROW_NONE ? 0 : 1,
		.total = t->pairs->change[i],
	};
	double change = fabs(diff_change(&row.total));

	row.total_verdict = judge(&t->pairs->family, &row.total);

	/* A process is there for its threads, too. */
	if (change == 0 && parent != ROW_NONE)
		return;
	if ((parent == ROW_NONE || change >= least(r)) && has_room(r))
		vec_push(&r->rows, row);
	else
		r->n_left_out++;
}

static void make_threads(struct diff_rows *r)
{
	struct over_time_wish wish = { OVER_THREADS, { 0, INT64_MAX, 1, 0 } };
	const struct activity *t;
	struct over_time *made;
	uint32_t end;

	if (over_time_new(analysis_of(r), &wish, NULL, NULL, &made) < 0)
		return; /* nobody cancels it */
	analysis_set_over(r->diff->analysis, made);
	t = made->activity;
	for (uint32_t i = 0; i < t->n_rows; i = end) {
		double most = most_of_process(t, i, &end);
		uint32_t parent = (uint32_t)r->rows.n;

		if (most > 0 && (most < least(r) || !has_room(r)))
			r->n_left_out++;
		if (most == 0 || most < least(r) || !has_room(r))
			continue;
		push_task(r, t, i, ROW_NONE);
		for (uint32_t k = i + 1; k < end; k++)
			push_task(r, t, k, parent);
	}
}

int diff_rows_make(struct diff_rows *r, const char *function, struct err *e)
{
	switch (r->view) {
	case VIEW_KIND_TOP:
		make_top(r);
		r->moves = diff_moves_find(r->diff);
		return 0;
	case VIEW_KIND_TREE:
		make_tree(r);
		return 0;
	case VIEW_KIND_CALLERS:
		return make_callers(r, function, e);
	case VIEW_KIND_BUTTERFLY:
		return make_butterfly(r, function, e);
	case VIEW_KIND_THREADS:
		make_threads(r);
		return 0;
	case VIEW_KIND_FLAME:
	case VIEW_KIND_TIMELINE:
	case VIEW_KIND_HEAT:
	case VIEW_KIND_MEMORY:
	case VIEW_KIND_INFO:
	case VIEW_KIND_FINDINGS:
	case VIEW_KIND_ANNOTATE:
CASES_OF_HEAP:
	case N_VIEW_KINDS:
		break;
	}
	return err_set(
		e, -EINVAL,
		"a report of a difference has the views top, tree, callers, butterfly, threads and annotate");
}

void diff_rows_done(struct diff_rows *r)
{
	vec_done(&r->rows);
	free(r->moves);
}
