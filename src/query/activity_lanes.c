/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/activity_lanes.h"

#include <stdlib.h>

#include "base/mem.h"
#include "profile/profile.h"
#include "query/activity.h"
#include "query/analysis.h"
#include "query/core/sample_scan.h"

/* What there is beside the chosen functions. */
#define PARTS (LANES_MOST + 1)

/* With more sums than this there are no lanes: 64 MB of them. */
#define SUMS_MOST ((size_t)1 << 23)

struct making {
	const struct analysis *a;
	const struct activity *act;
	struct time_span span;
	int64_t whole_ns;
	struct activity_lanes *lanes;
	uint8_t *rank_of_key;   /* [keys.n] 1 + which, 0: none; owned */
	uint8_t *rank_of_stack; /* [n_stacks] likewise, of the innermost; owned */
	int64_t *sum;           /* [threads' keys][span.n][PARTS]; owned */
};

/* Takes a function in, if it has more than the last of those that are there. */
static void offer(struct activity_lanes *l, int64_t self[LANES_MOST], uint32_t key, int64_t weight)
{
	uint32_t at = l->n;

	while (at > 0 && self[at - 1] < weight)
		at--;
	if (at >= LANES_MOST || weight <= 0)
		return;
	l->n += l->n < LANES_MOST;
	for (uint32_t i = l->n - 1; i > at; i--) {
		l->key[i] = l->key[i - 1];
		self[i] = self[i - 1];
	}
	l->key[at] = key;
	self[at] = weight;
}

static void choose(struct making *m)
{
	const struct table *t = &m->a->table;
	const struct groups *keys = &m->a->keys;
	int64_t self[LANES_MOST] = { 0 };

	for (uint32_t i = 0; i < t->n_rows; i++)
		if (!(keys->key[t->key[i]].flags & FUNCTION_MARK))
			offer(m->lanes, self, t->key[i], t->self[(size_t)i * t->n_columns]);
	m->rank_of_key = xcalloc((size_t)keys->n + 1, 1);
	for (uint32_t i = 0; i < m->lanes->n; i++)
		m->rank_of_key[m->lanes->key[i]] = (uint8_t)(i + 1);
}

static uint8_t rank_of(const struct making *m, uint32_t function, uint32_t module)
{
	return m->rank_of_key[groups_of_frame(&m->a->keys, function, module)];
}

static void rank_stacks(struct making *m)
{
	const struct analysis *a = m->a;
	struct location_columns l;
	struct stack_columns s;

	profile_locations(a->profile, &l);
	profile_stacks_of(a->profile, &a->counts, &s);
	m->rank_of_stack = xcalloc((size_t)a->counts.n_stacks + 1, 1);
	for (uint32_t i = 1; i < a->counts.n_stacks; i++) {
		uint32_t location = s.location[i], module = l.module[location];
		const struct frame *fr = a->lens.inlines ? location_frames(&l, location) : NULL;
		uint8_t rank = 0;

		if (!fr)
			rank = rank_of(m, location_function(&l, location), module);
		/* the innermost is the last of them */
		for (uint32_t k = fr ? fr->n_more + 1 : 0; k > 0 && rank == 0; k--)
			rank = rank_of(m, fr[k - 1].function, module);
		m->rank_of_stack[i] = rank ? rank : m->rank_of_stack[s.parent[i]];
	}
}

/* A row that stands for several samples, or lasts, counts alike in all slices that it is in. */
static void add_row(struct making *m, const struct sample_scan *r, uint64_t row)
{
	uint32_t thread = sample_rows_thread(&r->rows, row);
	size_t key = groups_of_row(&m->act->keys, thread), n = m->span.n;
	double per_ns = (double)n / (double)(m->span.to_ns - m->span.from_ns), from, to;
	int64_t since = activity_time(r, m->whole_ns, row), first, last;
	int64_t weight = sample_scan_weight(&r->column[0], row);

	/* what is at the end counts, as in activity */
	if (since == TIME_NONE || since > m->span.to_ns ||
	    (since == m->span.to_ns && since != m->whole_ns))
		return;
	from = (double)(since - m->span.from_ns) * per_ns;
	to = from + sample_scan_span_ns(r, row) * per_ns;
	if (from < 0 && to < 0)
		return;
	first = from < 0 ? 0 : from >= (double)n ? (int64_t)n - 1 : (int64_t)from;
	last = to >= (double)n ? (int64_t)n - 1 : (int64_t)to;
	for (int64_t i = first; i <= last; i++)
		m->sum[(key * n + (size_t)i) * PARTS + m->rank_of_stack[r->rows.stack[row]]] +=
			weight / (last - first + 1);
}

static int add_samples(struct making *m, struct progress *progress)
{
	struct sample_scan *r;
	int rc = sample_scan_new(m->a->profile, &m->a->counts, &m->a->lens, progress, &r);

	if (rc < 0)
		return rc;
	while ((rc = sample_scan_next(r, progress)) > 0) {
		const bool *lens = sample_scan_any_time(r), *own = sample_scan_own(r, 0);

		for (uint64_t i = 0; i < r->n; i++)
			if ((!lens || lens[i]) && (!own || own[i]) &&
			    sample_scan_counts(&r->column[0], r->event ? r->event[i] : 0))
				add_row(m, r, i);
	}
	sample_scan_free(r);
	return rc;
}

/* Which part has most; what has no name among them only where it has more than all others. */
static uint8_t largest(const int64_t part[PARTS])
{
	uint8_t at = 0;

	for (uint8_t i = 1; i < PARTS; i++)
		if (part[i] > part[at] || (at == 0 && part[i] > 0 && part[i] == part[0]))
			at = i;
	return part[at] > 0 ? at : 0;
}

/* Rows of threads, and of processes from the rows of their threads, which follow them. */
static void decide(struct making *m)
{
	const struct activity *act = m->act;
	size_t n = m->span.n;

	for (uint32_t i = 0; i < act->n_rows; i++) {
		uint32_t from = i, to = i + 1;

		if (activity_is_sum(&act->row[i])) {
			from = to;
			while (to < act->n_rows && act->row[to].process == act->row[i].process)
				to++;
		}
		for (size_t k = 0; k < n; k++) {
			int64_t part[PARTS] = { 0 };

			for (uint32_t t = from; t < to; t++) {
				size_t key = groups_of_row(&act->keys, act->row[t].thread);

				for (size_t j = 0; j < PARTS; j++)
					part[j] += m->sum[(key * n + k) * PARTS + j];
			}
			m->lanes->of[i * n + k] = largest(part);
		}
	}
}

static bool is_possible(const struct analysis *a, const struct activity *act, uint32_t n)
{
	return act->slices && a->table_keys == &a->keys && a->table.n_rows > 0 &&
	       !metric_is_heap(a->profile, a->lens.column[0].metric) &&
	       act->keys.n <= SUMS_MOST / PARTS / n && act->n_rows <= SUMS_MOST / n;
}

int activity_lanes_new(const struct analysis *a, const struct activity *act,
		       const struct time_span *span, struct progress *progress,
		       struct activity_lanes **out)
{
	struct making m = { .a = a,
			    .act = act,
			    .span = *span,
			    .whole_ns = a->weights.end_ns - a->weights.begin_ns };
	int rc;

	*out = NULL;
	if (!is_possible(a, act, span->n))
		return 0;
	m.lanes = xcalloc(1, sizeof(*m.lanes));
	m.lanes->n_slices = span->n;
	m.lanes->of = xcalloc((size_t)act->n_rows + 1, span->n);
	m.sum = xcalloc((size_t)act->keys.n * span->n, PARTS * sizeof(*m.sum));
	choose(&m);
	rank_stacks(&m);
	rc = add_samples(&m, progress);
	if (rc == 0)
		decide(&m);
	free(m.rank_of_key);
	free(m.rank_of_stack);
	free(m.sum);
	if (rc == 0)
		*out = m.lanes;
	else
		activity_lanes_free(m.lanes);
	return rc;
}

void activity_lanes_free(struct activity_lanes *l)
{
	if (!l)
		return;
	free(l->of);
	free(l);
}
