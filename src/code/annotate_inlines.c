/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was inlined, as a small tree below each line of the function. */
#include "config.h"

#include "code/annotate_maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/path.h"
#include "query/analysis.h"

/* Of calls inlined into each other so many are told apart; what is deeper belongs to the last. */
#define MOST_INLINED 256u

/* What a node is found by: its function, below a line (parent ANNOTATION_NONE) or a node. */
struct node_key {
	uint32_t source, parent, function;
};

static bool is_node(const void *things, uint32_t value, const void *key)
{
	const struct maker *m = things;
	const struct inline_node *n = &m->nodes.at[value];
	const struct node_key *k = key;

	return n->function == k->function && n->parent == k->parent &&
	       (k->parent != ANNOTATION_NONE || n->source == k->source);
}

/* The node of a function below a line (parent ANNOTATION_NONE) or a node. */
static uint32_t node_of(struct maker *m, uint32_t source, uint32_t parent, uint32_t function)
{
	uint32_t *first = parent == ANNOTATION_NONE ? &m->first_node[source]
						    : &m->nodes.at[parent].first;
	const struct node_key key = { source, parent, function };
	bool below_line = parent == ANNOTATION_NONE;
	uint64_t hash = hash_pair(below_line ? source : ~parent, function);
	uint32_t at = map_find(&m->node_index, hash, is_node, m, &key);
	struct inline_node n = { .function = function,
				 .source = source,
				 .parent = parent,
				 .first = ANNOTATION_NONE,
				 .next = *first };

	if (at != ANNOTATION_NONE)
		return at;
	n.numbers = annotation_add_numbers(m->a);
	at = (uint32_t)m->nodes.n;
	*first = at;
	vec_push(&m->nodes, n);
	map_add(&m->node_index, hash, at);
	return at;
}

static void note_position(struct maker *m, struct inline_node *n, const struct frame *f,
			  int64_t total)
{
	uint32_t path;

	if (f->line == 0)
		return;
	path = listing_path(&m->l, maker_text(m, f->file));
	for (size_t i = 0; i < n->at.n; i++) {
		if (n->at.at[i].path != path || n->at.at[i].line != f->line)
			continue;
		n->at.at[i].total += total;
		return;
	}
	vec_push(&n->at, ((struct inline_at){ path, f->line, total }));
}

/* The first frame of the function itself from f[k] on; n: none. */
static uint32_t own_from(const struct maker *m, uint32_t module, const struct frame *f, uint32_t k,
			 uint32_t n)
{
	while (k < n && groups_of_frame(m->l.keys, f[k].function, module) != m->l.key)
		k++;
	return k;
}

/* The calls f(k..last] of address i below the line of f[k]; self: it ends in the last of them. */
static void add_calls(struct maker *m, uint32_t i, const struct frame *f, uint32_t k, uint32_t last,
		      bool self)
{
	uint32_t n_columns = m->w.n_columns, source, node = ANNOTATION_NONE;

	if (f[k].line == 0)
		return;
	source = maker_find_source(m, listing_path(&m->l, maker_text(m, f[k].file)), f[k].line);
	if (source == ANNOTATION_NONE)
		return;
	if (last > k + MOST_INLINED)
		last = k + MOST_INLINED;
	for (uint32_t j = k + 1; j <= last; j++) {
		int64_t *numbers;

		node = node_of(m, source, node, f[j].function);
		numbers = m->a->numbers.at + (size_t)m->nodes.at[node].numbers * 2 * n_columns;
		for (uint32_t col = 0; self && col < n_columns && j == last; col++)
			numbers[col] += m->w.address_self[(size_t)i * n_columns + col] -
					m->w.address_taken[(size_t)i * n_columns + col];
		vec_push(&m->in_node, node);
		note_position(m, &m->nodes.at[node], &f[j],
			      m->w.address_total[(size_t)i * n_columns]);
	}
}

/*
 * One address: it is in the sets of all inlined calls around it. A function that was inlined into itself begins anew: what is further
 * in stands below its own line there, and counts as self only once.
 */
static void add_run(struct maker *m, uint32_t i)
{
	const struct code_address *c = &m->w.address[i];
	const struct frame *f = location_frames(&m->locations, c->location);
	int64_t taken = m->w.address_taken[(size_t)i * m->w.n_columns];
	uint32_t n, k, next;

	/* Transforms left no inlined frame there. */
	if (!f || (taken > 0 && taken == m->w.address_self[(size_t)i * m->w.n_columns]))
		return;
	n = f->n_more + 1;
	for (k = own_from(m, c->module, f, 0, n); k < n; k = next) {
		next = own_from(m, c->module, f, k + 1, n);
		add_calls(m, i, f, k, next < n ? next : n - 1, next == n);
	}
}

static int64_t weight_of(const struct maker *m, uint32_t node)
{
	return annotation_total(m->a, m->nodes.at[node].numbers)[0];
}

/* Siblings, the heaviest first. */
static uint32_t sorted(struct maker *m, uint32_t first)
{
	uint32_t out = ANNOTATION_NONE;

	while (first != ANNOTATION_NONE) {
		uint32_t node = first, *at = &out;

		first = m->nodes.at[node].next;
		while (*at != ANNOTATION_NONE && weight_of(m, *at) >= weight_of(m, node))
			at = &m->nodes.at[*at].next;
		m->nodes.at[node].next = *at;
		*at = node;
	}
	return out;
}

/* No deeper than MOST_INLINED. */
static void give_out(struct maker *m, uint32_t first, uint32_t depth)
{
	const struct profile *p = m->of->profile;

	for (uint32_t at = sorted(m, first); at != ANNOTATION_NONE; at = m->nodes.at[at].next) {
		const struct inline_node *n = &m->nodes.at[at];
		struct annotation_inline out = { .depth = depth, .numbers = n->numbers };
		const struct inline_at *best = NULL;

		for (size_t i = 0; i < n->at.n; i++)
			if (!best || n->at.at[i].total > best->total)
				best = &n->at.at[i];
		out.function = profile_string(
			p, profile_function(p, (function_id){ n->function })->name, NULL);
		if (best) {
			out.path = m->l.paths.at[best->path].path;
			out.file_name = path_last_part(out.path);
			out.line = best->line;
			out.text = maker_line_text(m, best->path, best->line);
		}
		vec_push(&m->a->inlines, out);
		give_out(m, n->first, depth + 1);
	}
}

/* first[i] is where the nodes of address i begin in in_node. */
static void total_inlines(struct maker *m, const uint32_t *first)
{
	uint32_t n = (uint32_t)m->nodes.n, columns = m->w.n_columns;
	int64_t *total = xcalloc((size_t)n * columns + 1, sizeof(*total));

	code_weights_of_sets(&m->w, first, m->in_node.at, n, total);
	for (uint32_t i = 0; i < n; i++)
		memcpy(m->a->numbers.at + ((size_t)m->nodes.at[i].numbers * 2 + 1) * columns,
		       total + (size_t)i * columns, columns * sizeof(*total));
	free(total);
}

void maker_inlines(struct maker *m)
{
	struct annotation *a = m->a;
	uint32_t *first;

	if (!m->of->lens.inlines || a->sources.n == 0)
		return;
	m->first_node = xmalloc(a->sources.n * sizeof(*m->first_node));
	for (size_t i = 0; i < a->sources.n; i++)
		m->first_node[i] = ANNOTATION_NONE;
	first = xmalloc(((size_t)m->w.n_addresses + 1) * sizeof(*first));
	for (uint32_t i = 0; i < m->w.n_addresses; i++) {
		first[i] = (uint32_t)m->in_node.n;
		add_run(m, i);
	}
	first[m->w.n_addresses] = (uint32_t)m->in_node.n;
	total_inlines(m, first);
	free(first);
	for (size_t i = 0; i < a->sources.n; i++) {
		a->sources.at[i].first_inline = (uint32_t)a->inlines.n;
		give_out(m, m->first_node[i], 1);
		a->sources.at[i].n_inlines = (uint32_t)a->inlines.n - a->sources.at[i].first_inline;
	}
}
