/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One function's outermost places in the call tree, what is above and what is below them. */
#include "config.h"

#include "query/tree/butterfly.h"

#include "base/mem.h"
#include "query/core/order.h"

#include <stdlib.h>
#include <string.h>

/* Rows being summed, by key. */
struct rows {
	VEC(struct butterfly_row) rows;
	uint32_t *row_of; /* [n_keys + 1] row + 1, or 0; the last is KEY_NONE's; owned */
	uint32_t n_keys;
};

static void rows_init(struct rows *r, uint32_t n_keys)
{
	*r = (struct rows){ .n_keys = n_keys };
	r->row_of = xcalloc((size_t)n_keys + 1, sizeof(*r->row_of));
}

static void add(int64_t *to, const int64_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] += from[i];
}

static void rows_add(struct rows *r, uint32_t key, const int64_t *total, uint32_t n_columns)
{
	uint32_t *row = &r->row_of[key == KEY_NONE ? r->n_keys : key];

	if (*row == 0) {
		vec_push(&r->rows, ((struct butterfly_row){ .key = key }));
		*row = (uint32_t)r->rows.n;
	}
	add(r->rows.at[*row - 1].total, total, n_columns);
}

static int compare_rows(const void *a, const void *b, void *keys)
{
	const struct butterfly_row *x = a, *y = b;
	int cmp = order_weights(x->total[0], y->total[0]);

	return cmp ? cmp : order_keys(keys, x->key, y->key);
}

/* Hands out the sorted rows. */
static struct butterfly_row *rows_take(struct rows *r, const struct groups *k, uint32_t *n)
{
	if (r->rows.n > 0)
		qsort_r(r->rows.at, r->rows.n, sizeof(*r->rows.at), compare_rows, (void *)k);
	free(r->row_of);
	*n = (uint32_t)r->rows.n;
	return r->rows.at;
}

void butterfly_init(struct butterfly *b, const struct calltree *t, const struct groups *k,
		    uint32_t key)
{
	uint32_t n_columns = t->n_columns;
	struct rows callers, callees;

	*b = (struct butterfly){ .key = key };
	rows_init(&callers, k->n);
	rows_init(&callees, k->n);
	for (uint32_t at = t->first_of[key]; at < t->first_of[key + 1]; at++) {
		uint32_t i = t->of_key[at];
		const int64_t *total = t->total + (size_t)i * n_columns;

		add(b->self, t->self + (size_t)i * n_columns, n_columns);
		if (!t->outer[i])
			continue;
		add(b->total, total, n_columns);
		rows_add(&callers, t->key[t->parent[i]], total, n_columns);
		for (uint32_t c = calltree_first(t, i); c != KEY_NONE; c = calltree_next(t, c))
			rows_add(&callees, t->key[c], t->total + (size_t)c * n_columns, n_columns);
	}
	b->callers = rows_take(&callers, k, &b->n_callers);
	b->callees = rows_take(&callees, k, &b->n_callees);
}

void butterfly_done(struct butterfly *b)
{
	free(b->callers);
	free(b->callees);
	*b = (struct butterfly){ 0 };
}
