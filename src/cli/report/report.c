/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only answers of src/query are copied here: nothing is added up anew. */
#include "config.h"

#include "cli/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/query_options.h"
#include "cli/report/find_function.h"
#include "query/activity.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/heap_pass.h"
#include "query/core/ratio.h"
#include "query/findings/findings.h"
#include "query/heap/heap_table.h"
#include "query/heat_map.h"
#include "query/over_time.h"

static const char *const view_names[N_VIEW_KINDS] = {
#define X(name, text) [VIEW_KIND_##name] = text,
	VIEWS(X)
#undef X
};

/* Says what views there are; the last one stands behind an "or". */
static int no_such_view(const char *name, struct err *e)
{
	char *list = xstrdup(view_names[0]);

	for (int i = 1; i < N_VIEW_KINDS; i++) {
		char *longer = xasprintf("%s%s%s", list, i + 1 < N_VIEW_KINDS ? ", " : " or ",
					 view_names[i]);

		free(list);
		list = longer;
	}
	err_set(e, -EINVAL, "--view takes %s, not \"%s\"", list, name);
	free(list);
	return -EINVAL;
}

int report_find_view(const char *name, enum view_kind *out, struct err *e)
{
	for (int i = 0; i < N_VIEW_KINDS; i++) {
		if (strcmp(name ? name : view_names[VIEW_KIND_TOP], view_names[i]) != 0)
			continue;
		*out = (enum view_kind)i;
		return 0;
	}
	return no_such_view(name, e);
}

const char *report_role_name(enum report_role role)
{
	static const char *const names[] = {
		[ROLE_ROW] = "",
		[ROLE_CALLER] = "caller",
		[ROLE_CENTRE] = "function",
		[ROLE_CALLEE] = "callee",
	};

	return names[role];
}

bool report_is_estimated(const struct report *r)
{
	const struct analysis *a = r->analysis;

	return metric_is_heap(a->profile, a->lens.column[0].metric) &&
	       heap_manner_of(a->profile, &a->counts).sampled;
}

const int64_t *report_self(const struct report *r, size_t row)
{
	return &r->numbers.at[row * 2 * r->n_sums];
}

const int64_t *report_total(const struct report *r, size_t row)
{
	return report_self(r, row) + r->n_sums;
}

const struct groups *report_keys(const struct report *r, const struct report_row *row)
{
	return row->of_process ? &r->processes : r->keys;
}

const int64_t *report_whole(const struct report *r, const struct report_row *row)
{
	for (size_t i = 0; row->role != ROLE_ROW && row->role != ROLE_CENTRE && i < r->rows.n; i++)
		if (r->rows.at[i].role == ROLE_CENTRE)
			return report_total(r, i);
	return r->analysis->weights.total;
}

/* May another row follow? */
static bool has_room(const struct report *r)
{
	return !r->max_rows || r->rows.n < (uint64_t)r->max_rows;
}

static void add_row(struct report *r, struct report_row row, const int64_t *self,
		    const int64_t *total)
{
	vec_reserve(&r->numbers, r->numbers.n + 2 * (size_t)r->n_sums);
	for (uint32_t i = 0; i < r->n_sums; i++)
		r->numbers.at[r->numbers.n + i] = self ? self[i] : 0;
	r->numbers.n += r->n_sums;
	for (uint32_t i = 0; i < r->n_sums; i++)
		r->numbers.at[r->numbers.n + i] = total[i];
	r->numbers.n += r->n_sums;
	vec_push(&r->rows, row);
}

uint32_t report_n_ratios(const struct report *r)
{
	return r->ratios ? r->ratios->n : 0;
}

bool report_ratio(const struct report *r, size_t row, uint32_t k, bool total,
		  struct ratio_value *out)
{
	const int64_t *sums = total ? report_total(r, row) : report_self(r, row);

	return ratio_of(&r->ratios->at[k], sums, &r->analysis->weights, out);
}

/* Is there more in it than what only ratios count? Without them all rows are shown. */
static bool is_shown(const struct report *r, const int64_t *total)
{
	if (r->n_sums == r->n_columns)
		return true;
	for (uint32_t i = 0; i < r->n_columns; i++)
		if (total[i])
			return true;
	return false;
}

/* The least weight of column 0 that is shown. */
static double least(const struct report *r)
{
	return (double)r->analysis->weights.total[0] * r->min_percent / 100;
}

static void make_table(struct report *r)
{
	const struct table *t = &r->analysis->table;
	uint32_t *order = table_ordered(t, r->keys, r->order, 0, false);
	double min = least(r);

	for (uint32_t k = 0; k < t->n_rows; k++) {
		uint32_t i = order[k];
		const int64_t *self = &t->self[(size_t)i * t->n_columns];
		const int64_t *total = &t->total[(size_t)i * t->n_columns];
		const struct report_row row = {
			.key = t->key[i],
			.parent = ROW_NONE,
			.has_samples = true,
			.n_samples = t->n_samples[i],
		};

		if (!is_shown(r, total) && !row.n_samples)
			continue;
		if ((double)total[0] >= min && has_room(r))
			add_row(r, row, self, total);
		else
			r->n_left_out++;
	}
	free(order);
}

/* The rows of one process: itself, and its threads where there are several. */
struct process_rows {
	struct report_row row;
	const int64_t *weight; /* [n_columns] */
	VEC(uint32_t) threads; /* rows of the table of threads */
};

static void add_process(struct report *r, const struct process_rows *process)
{
	const struct table *t = &r->analysis->table;
	uint32_t first = process->threads.n ? r->keys->key[t->key[process->threads.at[0]]].id
					    : ID_NONE;
	bool alone = process->threads.n < 2 &&
		     activity_stands_for_process(r->analysis->profile, first);
	size_t n_rows = alone ? 1 : 1 + process->threads.n;
	uint32_t parent = (uint32_t)r->rows.n;

	if ((double)process->weight[0] < least(r) || !has_room(r)) {
		r->n_left_out += n_rows;
		return;
	}
	add_row(r, process->row, process->weight, process->weight);
	for (size_t i = 0; i + 1 < n_rows; i++) {
		uint32_t at = process->threads.at[i];
		const int64_t *weight = &t->total[(size_t)at * t->n_columns];
		const struct report_row row = {
			.key = t->key[at],
			.parent = parent,
			.depth = 1,
			.has_samples = true,
			.n_samples = t->n_samples[at],
		};

		if ((double)weight[0] >= least(r) && has_room(r))
			add_row(r, row, weight, weight);
		else
			r->n_left_out++;
	}
}

/* Processes, and below each its threads. */
static int make_threads(struct report *r)
{
	struct analysis *a = r->analysis;
	const struct table *threads = &a->table;
	struct table processes;
	struct process_rows *of_key;
	uint32_t *order;
	int rc;

	groups_init(&r->processes, a->profile, &a->counts, GROUP_PROCESS);
	rc = table_of_samples(a->profile, &a->counts, &a->lens, &r->processes, NULL, &processes);
	if (rc)
		return rc;
	order = table_ordered(threads, r->keys, r->order, 0, false);
	table_sort(&processes, &r->processes, r->order, 0, false);
	of_key = xcalloc((size_t)r->processes.n + 1, sizeof(*of_key));
	for (uint32_t i = 0; i < threads->n_rows; i++) {
		uint32_t thread = r->keys->key[threads->key[order[i]]].id;
		uint32_t n = r->processes.n_ids;

		if (!is_shown(r, &threads->total[(size_t)order[i] * threads->n_columns]) &&
		    !threads->n_samples[order[i]])
			continue;
		vec_push(&of_key[r->processes.of_id[thread < n ? thread : n - 1]].threads,
			 order[i]);
	}
	free(order);
	for (uint32_t i = 0; i < processes.n_rows; i++) {
		struct process_rows *p = &of_key[processes.key[i]];

		p->weight = &processes.total[(size_t)i * processes.n_columns];
		p->row = (struct report_row){
			.key = processes.key[i],
			.of_process = true,
			.parent = ROW_NONE,
			.has_samples = true,
			.n_samples = processes.n_samples[i],
		};
		if (!is_shown(r, p->weight) && !p->row.n_samples)
			continue;
		add_process(r, p);
	}
	for (uint32_t i = 0; i < r->processes.n; i++)
		vec_done(&of_key[i].threads);
	free(of_key);
	table_done(&processes);
	return 0;
}

/* Is it all that is shown below its parent? */
static bool is_only_child(const struct report *r, const struct calltree *t, uint32_t node)
{
	uint32_t n_shown = 0, end = t->end[t->parent[node]];

	for (uint32_t i = t->parent[node] + 1; i < end && n_shown < 2; i = t->end[i])
		n_shown += i == node || is_shown(r, &t->total[(size_t)i * t->n_columns]);
	return n_shown == 1;
}

static void make_tree(struct report *r)
{
	const struct calltree *t = r->analysis->tree;
	VEC(uint32_t) row_of_depth = { 0 }; /* the newest row of each depth */
	double min = least(r);

	vec_reserve(&row_of_depth, (size_t)t->max_depth + 1);
	for (uint32_t i = 1; i < t->n_nodes;) {
		uint32_t depth = t->depth[i] - 1;
		const struct report_row row = {
			.key = t->key[i],
			.parent = depth ? row_of_depth.at[depth - 1] : ROW_NONE,
			.depth = depth,
			.only_child = depth && is_only_child(r, t, i),
			.inlined = t->inlined[i],
		};

		const int64_t *self = &t->self[(size_t)i * t->n_columns];
		const int64_t *total = &t->total[(size_t)i * t->n_columns];

		if (!is_shown(r, total)) {
			i = t->end[i];
			continue;
		}
		row_of_depth.at[depth] = (uint32_t)r->rows.n;
		if ((double)total[0] >= min && has_room(r)) {
			add_row(r, row, self, total);
			i++;
			continue;
		}
		r->n_left_out += t->end[i] - i;
		i = t->end[i]; /* what is below weighs no more */
	}
	vec_done(&row_of_depth);
}

/* A node of the inverted tree that is yet to be shown. */
struct pending {
	uint32_t node;
	uint32_t parent_row;
	bool only_child;
};

struct callers {
	struct report *r;
	struct inverted *tree;
	bool by_total; /* a chosen function: of its total; else of what ends in the root */
	double min;
	VEC(struct pending) todo; /* newest last */
};

static int64_t caller_weight(const struct callers *c, uint32_t node)
{
	return c->by_total ? inverted_total(c->tree, node)[0] : inverted_self(c->tree, node)[0];
}

/* Notes the children worth showing, so that the heaviest is taken first. */
static void push_children(struct callers *c, uint32_t node, uint32_t row)
{
	const struct inverted_node *n;
	uint32_t first, count, n_weighty = 0;

	inverted_expand(c->tree, node);
	n = inverted_node(c->tree, node);
	first = n->first_child;
	count = n->n_children;
	for (uint32_t i = 0; i < count; i++)
		n_weighty += caller_weight(c, first + i) > 0;
	for (uint32_t i = count; i-- > 0;) {
		int64_t weight = caller_weight(c, first + i);

		if (weight > 0 && (double)weight >= c->min)
			vec_push(&c->todo, ((struct pending){ first + i, row, n_weighty == 1 }));
		else
			c->r->n_left_out += weight > 0;
	}
}

static void make_caller_root(struct callers *c, uint32_t root)
{
	vec_push(&c->todo, ((struct pending){ root, ROW_NONE, false }));
	while (c->todo.n) {
		struct pending next = c->todo.at[--c->todo.n];
		const struct inverted_node *n = inverted_node(c->tree, next.node);
		const struct report_row row = {
			.key = n->key,
			.parent = next.parent_row,
			.depth = n->depth,
			.only_child = next.only_child,
		};

		if (!has_room(c->r)) {
			c->r->n_left_out++;
			continue;
		}
		add_row(c->r, row, inverted_self(c->tree, next.node),
			inverted_total(c->tree, next.node));
		push_children(c, next.node, (uint32_t)c->r->rows.n - 1);
	}
}

static int make_callers(struct report *r, const char *function, struct err *e)
{
	struct callers c = { .r = r, .by_total = function, .min = least(r) };
	struct search s = { 0 };
	uint32_t n_roots;

	if (function && find_functions(r->analysis, function, &s, e))
		return -EINVAL;
	c.tree = analysis_inverted(r->analysis);
	n_roots = inverted_n_roots(c.tree);
	for (uint32_t i = 0; i < n_roots; i++) {
		int64_t weight = caller_weight(&c, i);

		if (function && !s.matches[inverted_node(c.tree, i)->key])
			continue;
		if (weight > 0 && (double)weight >= c.min)
			make_caller_root(&c, i);
		else
			r->n_left_out += weight >
					 0; /* what costs nothing has no callers to blame */
	}
	vec_done(&c.todo);
	if (function)
		search_done(&s);
	return 0;
}

static double total_of(const void *table, uint32_t row)
{
	const struct table *t = table;

	return (double)t->total[(size_t)row * t->n_columns];
}

/* The function with the largest total of those that match. */
static int choose_key(struct report *r, const char *function, uint32_t *out, struct err *e)
{
	const struct analysis *a = r->analysis;
	struct table all;
	int rc;

	table_of_frames(a->tree, &a->keys, NULL, &all);
	rc = find_function(a, &all, total_of, &all, function, out, e);
	table_done(&all);
	return rc;
}

static void add_neighbours(struct report *r, const struct butterfly_row *rows, uint32_t n,
			   enum report_role role)
{
	double min = least(r);

	for (uint32_t i = 0; i < n; i++) {
		const struct report_row row = {
			.key = rows[i].key,
			.parent = ROW_NONE,
			.role = role,
		};

		if (!is_shown(r, rows[i].total))
			continue;
		if ((double)rows[i].total[0] < min || (r->max_rows && i >= (uint64_t)r->max_rows))
			r->n_left_out++;
		else
			add_row(r, row, NULL, rows[i].total);
	}
}

static int make_butterfly(struct report *r, const char *function, struct err *e)
{
	struct report_row row = { .parent = ROW_NONE, .role = ROLE_CENTRE };
	struct butterfly b;

	if (!function)
		return err_set(e, -EINVAL, "--view butterfly wants a function: --function NAME");
	if (choose_key(r, function, &row.key, e))
		return -EINVAL;
	butterfly_init(&b, r->analysis->tree, &r->analysis->keys, row.key);
	add_neighbours(r, b.callers, b.n_callers, ROLE_CALLER);
	add_row(r, row, b.self, b.total);
	add_neighbours(r, b.callees, b.n_callees, ROLE_CALLEE);
	butterfly_done(&b);
	return 0;
}

/* The stretch of time that is shown, in equal slices. */
static struct time_span span_of(const struct report *r)
{
	const struct weights *w = &r->analysis->weights;
	int64_t whole = w->end_ns - w->begin_ns;
	struct time_span span = { .n = REPORT_SLICES };

	if (r->max_rows > 0 && r->max_rows < WEIGH_N_SLICES)
		span.n = (uint32_t)r->max_rows;
	filter_times(r->analysis->lens.filter, &span.from_ns, &span.to_ns);
	if (span.to_ns > whole)
		span.to_ns = whole > 0 ? whole : 1;
	if (span.from_ns >= span.to_ns)
		span.from_ns = span.to_ns - 1;
	return span;
}

/* Where slice k begins: the first nanosecond that is in it. */
static int64_t edge_of(const struct time_span *span, uint32_t k)
{
	__int128 part = (__int128)(span->to_ns - span->from_ns) * k + span->n - 1;

	return span->from_ns + (int64_t)(part / span->n);
}

/* Column 0 over time, of all threads together. */
static void add_slices(struct report *r, const struct activity *act, const struct time_span *span)
{
	for (uint32_t k = 0; act->slices && k < span->n; k++) {
		struct report_row row = { .key = KEY_NONE, .parent = ROW_NONE };
		int64_t weight = 0;

		for (uint32_t i = 0; i < act->n_rows; i++)
			if (!activity_is_sum(&act->row[i]))
				weight += act->row[i].slice[k];
		row.from_ns = edge_of(span, k);
		row.to_ns = edge_of(span, k + 1);
		add_row(r, row, NULL, &weight);
	}
}

static int make_timeline(struct report *r, struct err *e)
{
	const struct analysis *a = r->analysis;
	struct time_span span;
	struct activity act;

	r->n_columns = 1;
	r->n_sums = 1;
	if (a->weights.begin_ns == TIME_NONE)
		return err_set(e, -EINVAL,
			       "--view timeline wants times, and these samples have none");
	span = span_of(r);
	/* not cancelled by anyone */
	activity_within(a->profile, &a->counts, &a->lens, &a->weights, &span, NULL, &act);
	add_slices(r, &act, &span);
	activity_done(&act);
	return 0;
}

uint32_t report_heat_rows(const struct report *r)
{
	return r->max_rows > 0 && r->max_rows < REPORT_HEAT_MOST ? (uint32_t)r->max_rows
								 : REPORT_HEAT_ROWS;
}

/* All of the recording, whatever time terms say, as the view has it. */
static int make_heat(struct report *r, struct err *e)
{
	struct analysis *a = r->analysis;
	int64_t whole = a->weights.end_ns - a->weights.begin_ns;
	struct over_time_wish wish = { .kind = OVER_HEAT_MAP };
	struct heat_limits limits = { REPORT_HEAT_COLUMNS, report_heat_rows(r), 0 };
	struct heat_grid *g = xcalloc(1, sizeof(*g));
	struct over_time *made;

	r->heat = g;
	r->n_columns = 1;
	r->n_sums = 1;
	if (a->weights.begin_ns == TIME_NONE)
		return err_set(e, -EINVAL, "--view heat wants times, and these samples have none");
	whole = whole < HEAT_WHOLE_MOST ? whole + 1 : HEAT_WHOLE_MOST;
	limits.least_cell_ns = heat_least_cell(heat_sample_ns(a));
	heat_grid_choose(whole, &limits, g);
	wish.span = (struct time_span){ .to_ns = g->period_ns * g->n_columns,
					.n = g->n_columns * g->n_rows };
	over_time_new(a, &wish, NULL, NULL, &made); /* nobody cancels it */
	analysis_set_over(a, made);
	for (uint32_t i = 0; made->heat_map->cell && i < wish.span.n; i++) {
		struct report_row row = { .key = KEY_NONE, .parent = ROW_NONE };

		row.from_ns = heat_cell_ns(g) * i;
		row.to_ns = row.from_ns + heat_cell_ns(g);
		if (row.from_ns < whole)
			add_row(r, row, NULL, &made->heat_map->cell[i]);
	}
	return 0;
}

/* The heap that views of one show; NULL with a sentence if there is none, or samples of the CPU are asked for. */
static const struct footprint *find_heap(struct report *r, struct err *e)
{
	const struct footprint *f = analysis_footprint(r->analysis, NULL);
	const struct profile *p = r->analysis->profile;
	struct metric asked = r->analysis->lens.column[0].metric;

	if (!f) {
		err_set(e, -EINVAL, "--view %s wants a recording of a heap", view_names[r->view]);
		return NULL;
	}
	if (metric_is_heap(p, asked))
		return f;
	err_set(e, -EINVAL, "--view %s shows blocks, of which %s has none; --event %s has",
		view_names[r->view], metric_event_name(p, asked),
		metric_event_name(p, f->lens.column[0].metric));
	return NULL;
}

static int make_heap(struct report *r, struct err *e)
{
	enum heap_question q = (enum heap_question)(r->view - VIEW_KIND_LEAKS);
	const struct footprint *f = find_heap(r, e);
	struct heap_table_wish wish = { 0 };

	if (!f)
		return -EINVAL;
	wish.suppress = r->analysis->lens.suppress;
	wish.most_blocks = r->most_blocks;
	return heap_table_new_as(f, q, &wish, NULL, &r->heap); /* nobody cancels it */
}

int report_make_rows(struct report *r, const char *function, struct err *e)
{
	r->n_sums = r->analysis->weights.n_columns;
	r->n_columns = r->ratios ? r->ratios->n_columns : r->n_sums;
	r->keys = &r->analysis->keys;
	if (r->analysis->lens.heap_rows == HEAP_ROWS_SIZES && r->view != VIEW_KIND_ALLOCATORS)
		return err_set(e, -EINVAL,
			       "--group size is for --view allocators; sizes and waste "
			       "have such rows anyway");
	if (r->analysis->lens.heap_rows == HEAP_ROWS_STACKS && r->view != VIEW_KIND_MEMORY &&
	    !view_is_of_heap(r->view))
		return err_set(e, -EINVAL,
			       "--group stack is for memory and the tables of heaps; the tree has "
			       "all stacks of --view %s",
			       view_names[r->view]);
	if (r->view != VIEW_KIND_TOP && r->view != VIEW_KIND_THREADS &&
	    r->view != VIEW_KIND_TIMELINE && r->view != VIEW_KIND_HEAT &&
	    r->view != VIEW_KIND_MEMORY && r->view != VIEW_KIND_FINDINGS &&
	    !view_is_of_heap(r->view) && !grouping_of_frames(r->analysis->lens.grouping))
		return err_set(e, -EINVAL,
			       "--view %s has frames; --group takes function, module or "
			       "file with it",
			       view_names[r->view]);
	switch (r->view) {
	case VIEW_KIND_TOP:
		r->keys = r->analysis->table_keys;
		make_table(r);
		return 0;
	case VIEW_KIND_THREADS:
		r->keys = r->analysis->table_keys;
		return make_threads(r);
	case VIEW_KIND_TREE:
	case VIEW_KIND_FLAME:
		make_tree(r);
		return 0;
	case VIEW_KIND_CALLERS:
		return make_callers(r, function, e);
	case VIEW_KIND_BUTTERFLY:
		return make_butterfly(r, function, e);
	case VIEW_KIND_TIMELINE:
		return make_timeline(r, e);
	case VIEW_KIND_HEAT:
		return make_heat(r, e);
	case VIEW_KIND_MEMORY:
		return find_heap(r, e) ? 0 : -EINVAL;
CASES_OF_HEAP:
		return make_heap(r, e);
	case VIEW_KIND_FINDINGS:
		findings_new(r->analysis, r->analysis->lens.suppress, NULL,
			     &r->findings); /* nobody cancels it */
		return 0;
	case VIEW_KIND_ANNOTATE: /* report_annotate.h */
	case VIEW_KIND_INFO:
	case N_VIEW_KINDS:
		break;
	}
	return 0;
}

void report_done(struct report *r)
{
	if (r->processes.key)
		groups_done(&r->processes);
	findings_free(r->findings);
	heap_table_free(r->heap);
	free(r->heat);
	vec_done(&r->rows);
	vec_done(&r->numbers);
}
