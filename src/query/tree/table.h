/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A flat table: one row per key with self and total; of frames or of samples, as the keys are. */
#ifndef PROFTOP_QUERY_TREE_TABLE_H
#define PROFTOP_QUERY_TREE_TABLE_H

#include "query/tree/calltree.h"

#include <stdbool.h>

struct table {
	uint32_t n_rows;
	uint32_t n_columns;
	uint32_t *key;       /* [n_rows] */
	int64_t *self;       /* [n_rows][n_columns] samples that end in the key */
	int64_t *total;      /* [n_rows][n_columns] samples with the key anywhere */
	uint64_t *n_samples; /* [n_rows] that end in the key, of column 0, in its sample_scale */
	bool *inlined; /* [n_keys] stands in stacks, never as code of its own; NULL: not of frames */
};

/*
 * From a call tree, for frame groupings. Comm keys are left out; marks and unresolved ones stay. beyond (or NULL) is added
 * to totals, see truncated_totals_sums(). Rows by falling self of column 0, then total, then label.
 */
void table_of_frames(const struct calltree *t, const struct groups *k, const int64_t *beyond,
		     struct table *out);

/*
 * For GROUP_THREAD, _PROCESS, _COMM, _EVENT, _CPU, _CGROUP, _LABELS: from the samples that pass lens; total = self. Under
 * GROUP_EVENT rows of events that no column counts have their samples in n_samples and no weight, as
 * weights of different events do not compare.
 */
int table_of_samples(const struct profile *p, const struct profile_counts *counts,
		     const struct lens *lens, const struct groups *k, struct progress *progress,
		     struct table *out);
void table_done(struct table *t);

/* All zero. */
void table_sums_init(struct table_sums *s, const struct groups *k, uint32_t n_columns);
void table_sums_done(struct table_sums *s);
void table_of_sums(const struct table_sums *s, struct table *out);

enum table_order { ORDER_SELF, ORDER_TOTAL, ORDER_LABEL, ORDER_MODULE };

/* "self", "total", "name" or "module": as --sort and saved views call it. */
const char *table_order_name(enum table_order order);
/* False where no order has that name; *out stays. */
bool table_order_of(const char *name, enum table_order *out);

/* Takes rows away that have neither samples nor anything in the columns that the lens shows. */
void table_keep_shown(struct table *t, const struct lens *lens);

/* Puts the rows in another order: row[i] is the row that becomes the i-th, [n_rows]. */
void table_permute(struct table *t, const uint32_t *row);

/*
 * The rows in an order, [n_rows], for whoever shows a table that others look at, too; column says whose numbers. Ties: self,
 * total, label. The caller frees.
 */
uint32_t *table_ordered(const struct table *t, const struct groups *k, enum table_order order,
			uint32_t column, bool reverse);
/* Sorts the rows of a table that nobody else has. */
void table_sort(struct table *t, const struct groups *k, enum table_order order, uint32_t column,
		bool reverse);

#endif
