/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/tree/branches.h"

#include "base/mem.h"
#include "query/tree/calltree.h"

#include <math.h>
#include <stdlib.h>

/* A callee that has so much of its caller goes on with the trunk. */
#define TRUNK 0.9
/* A branch that has so much of everything can say how fast the machine was. */
#define LARGE 0.1

static double of_side(const struct lens *lens, const int64_t *numbers, enum side side)
{
	uint32_t first = lens_side(lens, side);
	double sum = 0;

	for (uint32_t c = first; c < first + lens->sides.n_runs[side]; c++)
		sum += (double)numbers[c];
	return sum / lens->sides.n_runs[side];
}

/* Both sides together, each as much as the other. */
static double weight_of(const struct calltree *t, const struct lens *lens, const int64_t *numbers)
{
	double sum = 0;

	for (int side = 0; side < N_SIDES; side++) {
		double all = of_side(lens, t->total, (enum side)side);

		sum += all > 0 ? of_side(lens, numbers, (enum side)side) / all / N_SIDES : 0;
	}
	return sum;
}

static double total_weight(const struct calltree *t, const struct lens *lens, uint32_t node)
{
	return weight_of(t, lens, &t->total[(size_t)node * t->n_columns]);
}

static uint32_t heaviest_child(const struct calltree *t, const struct lens *lens, uint32_t node)
{
	uint32_t best = KEY_NONE;
	double most = 0;

	for (uint32_t c = calltree_first(t, node); c != KEY_NONE; c = calltree_next(t, c))
		if (total_weight(t, lens, c) > most) {
			most = total_weight(t, lens, c);
			best = c;
		}
	return best;
}

/* The node at which the program divides. */
static uint32_t trunk_end(const struct calltree *t, const struct lens *lens)
{
	uint32_t node = 0, child;

	while ((child = heaviest_child(t, lens, node)) != KEY_NONE &&
	       total_weight(t, lens, child) >= TRUNK * total_weight(t, lens, node))
		node = child;
	return node;
}

/* [n_nodes] the branch that a node is below, or is; 0: none. The caller frees. */
static uint32_t *branch_of_nodes(const struct calltree *t, uint32_t trunk)
{
	uint32_t *of = xcalloc(t->n_nodes, sizeof(*of));

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t up = t->parent[i];

		if (i <= trunk && trunk < t->end[i])
			continue;
		of[i] = up <= trunk && trunk < t->end[up] ? i : of[up];
	}
	return of;
}

/* What a node has outside the kernel. */
static double outside_kernel(const struct calltree *t, const struct lens *lens,
			     const struct weights *w, uint32_t node, enum side side)
{
	const int64_t *numbers = &t->total[(size_t)node * t->n_columns];
	uint32_t column = lens_side(lens, side);
	int64_t kernel = lens->sides.system ? numbers[lens_system(lens, side)] : 0;

	return (of_side(lens, numbers, side) - (double)kernel) / (double)w->scale[column];
}

static double least_alike(const struct calltree *t, const struct lens *lens,
			  const struct weights *w, const uint32_t *branch)
{
	double least = NAN;
	uint32_t n = 0;

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		double before, after, by;

		if (branch[i] != i || total_weight(t, lens, i) < LARGE)
			continue;
		before = outside_kernel(t, lens, w, i, SIDE_BEFORE);
		after = outside_kernel(t, lens, w, i, SIDE_AFTER);
		by = before > 0 && after > 0 ? log(after / before) : 0;
		if (n++ > 0 && by * least <= 0)
			by = 0;
		least = isnan(least) || fabs(by) < fabs(least) ? by : least;
	}
	return n > 1 ? least : NAN;
}

uint32_t *branches_find(const struct calltree *t, const struct lens *lens, const struct weights *w,
			double *alike)
{
	uint32_t *of_node = branch_of_nodes(t, trunk_end(t, lens));
	uint32_t *of_key = xcalloc((size_t)t->n_keys + 1, sizeof(*of_key));
	double *most = xcalloc((size_t)t->n_keys + 1, sizeof(*most));

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		double weight = weight_of(t, lens, &t->self[(size_t)i * t->n_columns]);

		/* The heaviest place of a function stands for all of them. */
		if (weight > most[t->key[i]]) {
			most[t->key[i]] = weight;
			of_key[t->key[i]] = of_node[i];
		}
	}
	*alike = least_alike(t, lens, w, of_node);
	free(of_node);
	free(most);
	return of_key;
}
