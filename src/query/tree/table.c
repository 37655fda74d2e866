/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flat tables: sums by key, of a call tree's nodes or of samples. */
#include "config.h"

#include "query/tree/table.h"

#include "base/mem.h"
#include "query/core/heap_aggregate.h"
#include "query/core/sample_scan.h"

#include <stdlib.h>
#include <string.h>

static const char *const order_names[] = { [ORDER_SELF] = "self",
					   [ORDER_TOTAL] = "total",
					   [ORDER_LABEL] = "name",
					   [ORDER_MODULE] = "module" };

const char *table_order_name(enum table_order order)
{
	return order_names[order];
}

bool table_order_of(const char *name, enum table_order *out)
{
	for (size_t i = 0; i < sizeof(order_names) / sizeof(order_names[0]); i++) {
		if (strcmp(order_names[i], name) != 0)
			continue;
		*out = (enum table_order)i;
		return true;
	}
	return false;
}

static void table_init(struct table *t, uint32_t n_rows, uint32_t n_columns)
{
	size_t n_sums = (size_t)n_rows * n_columns;

	*t = (struct table){ .n_rows = n_rows, .n_columns = n_columns };
	t->key = xmalloc(n_rows * sizeof(*t->key));
	t->self = xcalloc(n_sums, sizeof(*t->self));
	t->total = xcalloc(n_sums, sizeof(*t->total));
	t->n_samples = xcalloc(n_rows, sizeof(*t->n_samples));
}

void table_done(struct table *t)
{
	free(t->key);
	free(t->self);
	free(t->total);
	free(t->n_samples);
	free(t->inlined);
	*t = (struct table){ 0 };
}

/* The row of each key that has one, or KEY_NONE; and the number of rows. The caller frees. */
static uint32_t *number_rows(const bool *wanted, uint32_t n_keys, uint32_t *n_rows)
{
	uint32_t *row = xmalloc(n_keys * sizeof(*row)), n = 0;

	for (uint32_t i = 0; i < n_keys; i++)
		row[i] = wanted[i] ? n++ : KEY_NONE;
	*n_rows = n;
	return row;
}

static void put_keys(struct table *t, const uint32_t *row, uint32_t n_keys)
{
	for (uint32_t i = 0; i < n_keys; i++)
		if (row[i] != KEY_NONE)
			t->key[row[i]] = i;
}

/* The rows of a call tree's keys, as number_rows(). */
static uint32_t *rows_of_frames(const struct calltree *t, const struct groups *k,
				const int64_t *beyond, uint32_t *n_rows)
{
	bool *wanted = xcalloc(k->n, sizeof(*wanted));
	uint32_t *row;

	for (uint32_t i = 1; i < t->n_nodes; i++)
		wanted[t->key[i]] = (k->key[t->key[i]].flags & FUNCTION_COMM) == 0;
	for (size_t i = 0; beyond && i < (size_t)k->n * t->n_columns; i++)
		wanted[i / t->n_columns] |= beyond[i] != 0;
	row = number_rows(wanted, k->n, n_rows);
	free(wanted);
	return row;
}

/* Of the nodes of each key all are inlined. The caller frees. */
static bool *find_inlined(const struct calltree *t, const struct groups *k)
{
	bool *inlined = xcalloc(k->n, sizeof(*inlined));

	for (uint32_t i = 1; i < t->n_nodes; i++)
		inlined[t->key[i]] |= t->inlined[i];
	for (uint32_t i = 1; i < t->n_nodes; i++)
		inlined[t->key[i]] &= t->inlined[i];
	return inlined;
}

void table_of_frames(const struct calltree *t, const struct groups *k, const int64_t *beyond,
		     struct table *out)
{
	uint32_t n_rows, *row = rows_of_frames(t, k, beyond, &n_rows);

	table_init(out, n_rows, t->n_columns);
	put_keys(out, row, k->n);
	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t r = row[t->key[i]];

		if (r == KEY_NONE)
			continue;
		for (uint32_t c = 0; c < t->n_columns; c++) {
			size_t to = (size_t)r * t->n_columns + c;
			size_t from = (size_t)i * t->n_columns + c;

			out->self[to] += t->self[from];
			out->total[to] += t->outer[i] ? t->total[from] : 0;
		}
	}
	for (uint32_t i = 0; i < n_rows; i++) {
		size_t from = (size_t)out->key[i] * t->n_columns, to = (size_t)i * t->n_columns;

		out->n_samples[i] = t->samples[out->key[i]];
		for (uint32_t c = 0; beyond && c < t->n_columns; c++)
			out->total[to + c] += beyond[from + c];
	}
	free(row);
	out->inlined = find_inlined(t, k);
	table_sort(out, k, ORDER_SELF, 0, false);
}

void table_sums_init(struct table_sums *s, const struct groups *k, uint32_t n_columns)
{
	*s = (struct table_sums){ .keys = k, .n_columns = n_columns };
	s->self = xcalloc((size_t)k->n * n_columns, sizeof(*s->self));
	s->total = xcalloc((size_t)k->n * n_columns, sizeof(*s->total));
	s->n_samples = xcalloc(k->n, sizeof(*s->n_samples));
	s->wanted = xcalloc(k->n, sizeof(*s->wanted));
}

void table_sums_done(struct table_sums *s)
{
	free(s->self);
	free(s->total);
	free(s->n_samples);
	free(s->wanted);
	*s = (struct table_sums){ 0 };
}

void table_of_sums(const struct table_sums *s, struct table *out)
{
	const struct groups *k = s->keys;
	uint32_t n_rows, *row = number_rows(s->wanted, k->n, &n_rows);
	size_t bytes = s->n_columns * sizeof(*s->self);

	table_init(out, n_rows, s->n_columns);
	put_keys(out, row, k->n);
	for (uint32_t i = 0; i < k->n; i++) {
		size_t from = (size_t)i * s->n_columns, to = (size_t)row[i] * s->n_columns;

		if (row[i] == KEY_NONE)
			continue;
		memcpy(out->self + to, s->self + from, bytes);
		memcpy(out->total + to, s->total + from, bytes);
		out->n_samples[row[i]] = s->n_samples[i];
	}
	free(row);
	table_sort(out, k, ORDER_SELF, 0, false);
}

/* The key of a sample. */
static uint32_t key_of_row(const struct groups *k, const struct sample_scan *r, uint64_t i)
{
	const struct sample_rows *rows = &r->rows;
	uint32_t id = ID_NONE;

	switch (k->grouping) {
	case GROUP_THREAD:
	case GROUP_PROCESS:
	case GROUP_COMM:
	case GROUP_CGROUP:
	case GROUP_LABELS:
		id = sample_rows_thread(rows, i);
		break;
	case GROUP_EVENT:
		id = sample_rows_event(rows, i);
		break;
	case GROUP_CAPTURE:
	case GROUP_HOST:
		return groups_of_sample_capture(k, sample_rows_thread(rows, i), r->begin + i);
	case GROUP_CPU:
		id = rows->cpu ? rows->cpu[i] : ID_NONE;
		break;
	case GROUP_FUNCTION:
	case GROUP_MODULE:
	case GROUP_FILE:
	case GROUP_LINE:
		break;
	}
	return groups_of_row(k, id);
}

/* Samples of a row that no column counts, in the scale of column 0. */
static uint64_t samples_of_other(const struct sample_scan *r, const struct profile *p, uint64_t i)
{
	uint32_t event = r->event ? r->event[i] : 0;
	double scale = (double)sample_scan_sample_scale(r, 0);

	if (!profile_event(p, (event_id){ event })->is_counted || !r->rows.weight)
		return (uint64_t)scale * sample_scan_count(r, i);
	if (r->rows.weight[i] <= 0)
		return 0;
	return (uint64_t)((double)r->rows.weight[i] * scale / (double)r->columns.scale[event]);
}

static void add_column(const struct sample_scan *r, uint32_t c, const struct profile *p,
		       struct table_sums *s)
{
	const struct sample_scan_column *column = &r->column[c];
	const bool *lens = sample_scan_lens(r), *own = sample_scan_own(r, c);
	bool all_events = c == 0 && s->keys->grouping == GROUP_EVENT;

	for (uint64_t i = 0; i < r->n; i++) {
		bool other = !sample_scan_counts(column, r->event ? r->event[i] : 0);
		uint32_t key;

		if ((other && !all_events) || (lens && !lens[i]) || (own && !own[i]))
			continue;
		key = key_of_row(s->keys, r, i);
		s->wanted[key] = true;
		if (c == 0)
			s->n_samples[key] += other ? samples_of_other(r, p, i)
						   : sample_scan_samples(r, c, i);
		if (!other)
			s->self[(size_t)key * s->n_columns + c] += sample_scan_adds(r, column, i);
	}
}

int table_of_samples(const struct profile *p, const struct profile_counts *counts,
		     const struct lens *lens, const struct groups *k, struct progress *progress,
		     struct table *out)
{
	struct table_sums s;
	struct sample_scan *r;
	int rc;

	*out = (struct table){ 0 };
	rc = sample_scan_new(p, counts, lens, progress, &r);
	if (rc < 0)
		return rc;
	table_sums_init(&s, k, lens->n_columns);
	while ((rc = sample_scan_next(r, progress)) > 0)
		for (uint32_t c = 0; c < lens->n_columns; c++)
			add_column(r, c, p, &s);
	if (rc == 0)
		rc = heap_aggregate_table(p, r, progress, &s);
	sample_scan_free(r);
	memcpy(s.total, s.self, (size_t)k->n * s.n_columns * sizeof(*s.total));
	if (rc == 0)
		table_of_sums(&s, out);
	table_sums_done(&s);
	return rc;
}

void table_keep_shown(struct table *t, const struct lens *lens)
{
	uint32_t n = t->n_columns, kept = 0;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		size_t to = (size_t)kept * n, from = (size_t)i * n;

		if (t->n_samples[i] == 0 && !lens_shows(lens, t->total + from))
			continue;
		t->key[kept] = t->key[i];
		t->n_samples[kept] = t->n_samples[i];
		memmove(t->self + to, t->self + from, n * sizeof(*t->self));
		memmove(t->total + to, t->total + from, n * sizeof(*t->total));
		kept++;
	}
	t->n_rows = kept;
}

void table_permute(struct table *t, const uint32_t *row)
{
	uint32_t n = t->n_columns;
	struct table sorted;

	table_init(&sorted, t->n_rows, n);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		size_t to = (size_t)i * n, from = (size_t)row[i] * n;

		sorted.key[i] = t->key[row[i]];
		sorted.n_samples[i] = t->n_samples[row[i]];
		memcpy(sorted.self + to, t->self + from, n * sizeof(*t->self));
		memcpy(sorted.total + to, t->total + from, n * sizeof(*t->total));
	}
	sorted.inlined = t->inlined;
	t->inlined = NULL;
	table_done(t);
	*t = sorted;
}

/* A row by what it is sorted by, flat: of millions, looking each up in the table is what takes the time. */
struct sorted_row {
	uint64_t by[3]; /* the order asked for, then what parts equal rows */
	uint32_t rank;  /* of the key's label, then it */
	uint32_t row;
};

/* Rises where order_weights() falls. */
static uint64_t weight_order(int64_t w)
{
	uint64_t size = w < 0 ? -(uint64_t)w : (uint64_t)w;

	if (size > INT64_MAX)
		size = INT64_MAX;
	return ~(size << 1 | (w >= 0));
}

static int by_module(const void *x, const void *y, void *modules)
{
	const char *const *name = modules;
	const char *a = name[*(const uint32_t *)x], *b = name[*(const uint32_t *)y];

	return a == b ? 0 : strcmp(a, b);
}

/* Puts the place of each row's module among all of them in by[0]. */
static void rank_modules(const struct table *t, const struct groups *k, struct sorted_row *s)
{
	const char **name = xmalloc(t->n_rows * sizeof(*name));
	uint32_t *row = xmalloc(t->n_rows * sizeof(*row)), rank = 0;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		name[i] = k->key[t->key[i]].module;
		row[i] = i;
	}
	qsort_r(row, t->n_rows, sizeof(*row), by_module, name);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		rank += i > 0 && by_module(&row[i - 1], &row[i], name) != 0;
		s[row[i]].by[0] = rank;
	}
	free(row);
	free(name);
}

static int compare_rows(const void *x, const void *y)
{
	const struct sorted_row *a = x, *b = y;

	for (size_t i = 0; i < sizeof(a->by) / sizeof(a->by[0]); i++)
		if (a->by[i] != b->by[i])
			return a->by[i] < b->by[i] ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static struct sorted_row *rows_to_sort(const struct table *t, const struct groups *k,
				       enum table_order order, uint32_t column)
{
	struct sorted_row *s = xmalloc(t->n_rows * sizeof(*s));

	for (uint32_t i = 0; i < t->n_rows; i++) {
		size_t at = (size_t)i * t->n_columns + column;
		uint64_t self = weight_order(t->self[at]), total = weight_order(t->total[at]);

		s[i] = (struct sorted_row){ { 0, self, total }, k->rank[t->key[i]], i };
		s[i].by[0] = order == ORDER_SELF    ? self
			     : order == ORDER_TOTAL ? total
			     : order == ORDER_LABEL ? s[i].rank
						    : 0;
	}
	if (order == ORDER_MODULE)
		rank_modules(t, k, s);
	return s;
}

uint32_t *table_ordered(const struct table *t, const struct groups *k, enum table_order order,
			uint32_t column, bool reverse)
{
	struct sorted_row *s = rows_to_sort(t, k, order, column);
	uint32_t *row = xmalloc(t->n_rows * sizeof(*row));

	for (uint32_t i = 0; reverse && i < t->n_rows; i++)
		s[i].by[0] = ~s[i].by[0];
	qsort(s, t->n_rows, sizeof(*s), compare_rows);
	for (uint32_t i = 0; i < t->n_rows; i++)
		row[i] = s[i].row;
	free(s);
	return row;
}

void table_sort(struct table *t, const struct groups *k, enum table_order order, uint32_t column,
		bool reverse)
{
	uint32_t *row = table_ordered(t, k, order, column, reverse);

	table_permute(t, row);
	free(row);
}
