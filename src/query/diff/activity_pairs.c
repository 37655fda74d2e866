/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/activity_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/profile.h"
#include "query/activity.h"
#include "query/core/name_rules.h"

/* A thread as it was before. */
struct part {
	const char *process, *name;           /* what they count as; in the arena */
	const char *real_process, *real_name; /* the profile's */
	struct activity_row row;
};

struct pairing {
	struct activity *a;
	struct activity_pairs *pairs;
	const struct profile *profile;
	const struct name_rules *rules; /* or NULL */
	struct part *part;              /* [n]; owned */
	uint32_t n;
	int64_t *slice;  /* of the next process; NULL: there are none */
	int64_t *column; /* likewise */
};

static const char *counts_as(struct pairing *g, const char *name)
{
	char *as;

	if (!g->rules)
		return name;
	as = name_rules_apply_thread(g->rules, name);
	name = arena_strndup(&g->pairs->made, as, strlen(as));
	free(as);
	return name;
}

static void take_parts(struct pairing *g)
{
	g->part = xcalloc((size_t)g->a->n_rows + 1, sizeof(*g->part));
	for (uint32_t i = 0; i < g->a->n_rows; i++) {
		const struct activity_row *row = &g->a->row[i];
		struct part *part = &g->part[g->n];

		if (activity_is_sum(row))
			continue;
		*part = (struct part){ .row = *row, .real_name = row->name };
		part->real_process = activity_process_name(g->profile, row->process);
		part->process = counts_as(g, part->real_process);
		part->name = counts_as(g, row->name);
		g->n++;
	}
}

static int by_names(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	int cmp = strcmp(a->process, b->process);

	cmp = cmp ? cmp : strcmp(a->name, b->name);
	cmp = cmp ? cmp : strcmp(a->real_process, b->real_process);
	return cmp ? cmp : strcmp(a->real_name, b->real_name);
}

static void add_all(int64_t *to, const int64_t *from, uint32_t n)
{
	for (uint32_t i = 0; to && from && i < n; i++)
		if (__builtin_add_overflow(to[i], from[i], &to[i]))
			to[i] = from[i] < 0 ? INT64_MIN : INT64_MAX;
}

/* Adds a row to one that owns its sums. */
static void add_row(const struct activity *a, struct activity_row *to,
		    const struct activity_row *from)
{
	add_all(&to->weight, &from->weight, 1);
	to->n_samples += from->n_samples;
	add_all(to->slice, from->slice, a->n_slices);
	add_all(to->column, from->column, a->n_columns);
}

/* The names of parts that one row is made of: of processes or of threads. */
static void note_names(struct pairing *g, const struct part *part, uint32_t n, bool processes)
{
	struct task_names *to = &g->pairs->names[g->a->n_rows];

	to->at = arena_alloc(&g->pairs->made, n * sizeof(*to->at));
	for (uint32_t i = 0; i < n; i++) {
		const char *name = processes ? part[i].real_process : part[i].real_name;
		bool known = false;

		for (uint32_t k = 0; k < to->n && !known; k++)
			known = strcmp(to->at[k], name) == 0;
		if (!known)
			to->at[to->n++] = name;
	}
}

static void put_row(struct pairing *g, const struct activity_row *row)
{
	g->a->row[g->a->n_rows++] = *row;
}

/* Threads of one name in processes of one name: the first of them has their sums then. */
static void put_thread(struct pairing *g, const struct part *part, uint32_t n, bool alone)
{
	struct activity_row sum = part[0].row;

	for (uint32_t i = 1; i < n; i++)
		add_row(g->a, &sum, &part[i].row);
	sum.name = part[0].name;
	sum.is_process = alone;
	for (uint32_t i = 0; sum.slice && i < g->a->n_slices; i++)
		g->a->most = sum.slice[i] > g->a->most ? sum.slice[i] : g->a->most;
	note_names(g, part, n, alone);
	put_row(g, &sum);
}

static void put_process(struct pairing *g, const struct part *part, uint32_t n)
{
	struct activity_row sum = { .name = part[0].process,
				    .process = part[0].row.process,
				    .thread = ID_NONE,
				    .is_process = true,
				    .slice = g->slice,
				    .column = g->column };

	if (g->slice)
		memset(g->slice, 0, g->a->n_slices * sizeof(*g->slice));
	memset(g->column, 0, g->a->n_columns * sizeof(*g->column));
	for (uint32_t i = 0; i < n; i++)
		add_row(g->a, &sum, &part[i].row);
	note_names(g, part, n, true);
	put_row(g, &sum);
	g->slice = g->slice ? g->slice + g->a->n_slices : NULL;
	g->column += g->a->n_columns;
}

static bool same_process(const struct part *a, const struct part *b)
{
	return strcmp(a->process, b->process) == 0;
}

/* Of no process every thread stands for itself. */
static void put_family(struct pairing *g, const struct part *part, uint32_t n)
{
	bool one = strcmp(part[0].name, part[n - 1].name) == 0;
	bool alone = part[0].row.process == ID_NONE ||
		     (one && strcmp(part[0].name, part[0].process) == 0);
	uint32_t end;

	if (!alone)
		put_process(g, part, n);
	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(part[i].name, part[end].name) == 0;)
			end++;
		put_thread(g, part + i, end - i, alone);
	}
}

void activity_pair(struct activity *a, const struct profile *p, const struct name_rules *rules)
{
	struct pairing g = { .a = a, .profile = p, .rules = rules };
	size_t most = 2 * (size_t)a->n_rows + 1;
	uint32_t end;

	a->pairs = g.pairs = xcalloc(1, sizeof(*g.pairs));
	arena_init(&g.pairs->made);
	g.pairs->names = xcalloc(most, sizeof(*g.pairs->names));
	take_parts(&g);
	qsort(g.part, g.n, sizeof(*g.part), by_names);
	/* Sums of processes stand behind those of threads, which are one for each key. */
	if (a->slices)
		g.slice = a->slices + (size_t)a->keys.n * a->n_slices;
	g.column = a->columns + (size_t)a->keys.n * a->n_columns;
	free(a->row);
	a->row = xcalloc(most, sizeof(*a->row));
	a->n_rows = 0;
	for (uint32_t i = 0; i < g.n; i = end) {
		for (end = i + 1; end < g.n && same_process(&g.part[i], &g.part[end]);)
			end++;
		put_family(&g, g.part + i, end - i);
	}
	free(g.part);
	g.pairs->change = xcalloc((size_t)a->n_rows + 1, sizeof(*g.pairs->change));
	g.pairs->made_as = xcalloc((size_t)a->n_rows + 1, sizeof(*g.pairs->made_as));
	for (uint32_t i = 0; i < a->n_rows; i++)
		g.pairs->made_as[i] = i;
}

/* A row being sorted. */
struct sortable {
	struct activity_row row;
	struct noise_delta change, process; /* its own, and that of the row that it stands below */
	const char *process_name;
	uint32_t made_as;
};

static int by_change(const void *x, const void *y, void *family)
{
	const struct sortable *a = x, *b = y;
	int cmp = strcmp(a->process_name, b->process_name);

	if (cmp != 0) {
		int order = diff_order(family, &a->process, &b->process);

		return order ? order : cmp;
	}
	if (activity_is_sum(&a->row) != activity_is_sum(&b->row))
		return activity_is_sum(&a->row) ? -1 : 1;
	cmp = diff_order(family, &a->change, &b->change);
	return cmp ? cmp : strcmp(a->row.name, b->row.name);
}

void activity_pairs_order(struct activity *a, const struct diff *d)
{
	struct activity_pairs *p = a->pairs;
	struct sortable *s = xcalloc((size_t)a->n_rows + 1, sizeof(*s));
	uint32_t above = 0;

	for (uint32_t i = 0; i < a->n_rows; i++) {
		s[i] = (struct sortable){ .row = a->row[i], .made_as = p->made_as[i] };
		diff_delta(d, KEY_NONE, PART_TOTAL, a->row[i].column, &s[i].change);
		p->change[i] = s[i].change;
		above = a->row[i].is_process ? i : above;
		s[i].process = s[above].change;
		s[i].process_name = a->row[above].name;
	}
	diff_find_family(d, p->change, a->n_rows, &p->family);
	if (a->n_rows > 1)
		qsort_r(s, a->n_rows, sizeof(*s), by_change, &p->family);
	for (uint32_t i = 0; i < a->n_rows; i++) {
		a->row[i] = s[i].row;
		p->change[i] = s[i].change;
		p->made_as[i] = s[i].made_as;
	}
	free(s);
}

const struct task_names *activity_pairs_names(const struct activity *a, uint32_t i)
{
	return &a->pairs->names[a->pairs->made_as[i]];
}

void activity_pairs_free(struct activity_pairs *p)
{
	if (!p)
		return;
	arena_done(&p->made);
	free(p->names);
	free(p->made_as);
	free(p->change);
	free(p);
}
