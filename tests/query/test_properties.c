/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What must hold of any profile through any lens, tried on profiles drawn by lot, and the answers of a
 * slow and simple reference: every sample's frames as a list of names, transformed as the manual says.
 */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/tree/search.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SEEDS     60
#define MOST_FRAMES 64

static const char *const filters[] = {
	"",
	"fn:a",
	"!fn:a",
	"module:x",
	"!module:x",
	"file:f",
	"!file:f",
	"in:x",
	"!in:x",
	"leaf:b",
	"!leaf:b",
	"thread:t1",
	"!thread:t1",
	"comm:t",
	"!comm:t",
	"process:t",
	"!process:t",
	"pid:1",
	"!pid:1",
	"tid:1,3",
	"!tid:1,3",
	"cpu:1-2",
	"!cpu:1-2",
	"event:cycles",
	"!event:cycles",
	"time:0.0000001,0.0000005",
	"!time:0.0000001,0.0000005",
	"focus:a",
	"merge:a",
	"collapse:a",
	"recursion:direct",
	"recursion:all",
	"focus-path:t1;a",
	"focus-path:a;[x]",
	"merge:b recursion:all",
	"recursion:all focus:c",
	"collapse:d recursion:direct merge:c",
	"fn:Eee !module:y recursion:all recursion:direct",
};

#define N_FILTERS (sizeof(filters) / sizeof(*filters))

static int64_t sum(const int64_t *at, uint32_t n, uint32_t n_columns, uint32_t c)
{
	int64_t s = 0;

	for (uint32_t i = 0; i < n; i++)
		s += at[(size_t)i * n_columns + c];
	return s;
}

static bool is_comm(const struct analysis *a, uint32_t key)
{
	return a->keys.key[key].flags & FUNCTION_COMM;
}

/* A lens of three columns: weights of both events, samples of one; the second with a filter. */
static void three_columns(struct lens *l, const struct profile *p, const char *filter)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	made_lens(l, p, filter);
	l->n_columns = 3;
	l->column[1].metric.event.v = counts.n_events - 1;
	cr_assert_eq(filter_parse("!cpu:3", &l->column[1].filter, NULL), 0);
	l->column[2].metric.measure = MEASURE_SAMPLES;
}

static void check_tree(const struct analysis *a)
{
	const struct calltree *t = a->tree;
	uint32_t n = t->n_columns;

	cr_assert_eq(t->end[0], t->n_nodes);
	for (uint32_t c = 0; c < n; c++)
		cr_assert_eq(t->total[c], sum(t->self, t->n_nodes, n, c));
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		int64_t below = t->self[(size_t)i * n], last = INT64_MAX;
		bool outer = true;

		cr_assert(i == 0 || t->parent[i] < i);
		cr_assert_leq(t->end[i], t->end[t->parent[i]]);
		cr_assert_eq(t->depth[i], i == 0 ? 0 : t->depth[t->parent[i]] + 1);
		cr_assert_leq(t->depth[i], t->max_depth);
		for (uint32_t c = calltree_first(t, i); c != KEY_NONE; c = calltree_next(t, c)) {
			cr_assert_eq(t->parent[c], i);
			cr_assert_leq(t->total[(size_t)c * n], last);
			last = t->total[(size_t)c * n];
			below += last;
		}
		cr_assert_eq(below, t->total[(size_t)i * n]);
		for (uint32_t up = i; i > 0 && (up = t->parent[up]) != 0;)
			outer &= t->key[up] != t->key[i];
		cr_assert_eq(outer, t->outer[i]);
		if (i > 0)
			cr_assert_eq(calltree_find(t, t->key[i], t->path[i]), i, "paths are names");
	}
}

static void check_butterfly(const struct analysis *a, uint32_t row)
{
	const struct calltree *t = a->tree;
	uint32_t n = t->n_columns, key = a->table.key[row];
	struct butterfly b;

	butterfly_init(&b, t, &a->keys, key);
	for (uint32_t c = 0; c < n; c++) {
		int64_t above = 0, below = 0;

		cr_assert_eq(b.self[c], a->table.self[(size_t)row * n + c]);
		cr_assert_eq(b.total[c], a->table.total[(size_t)row * n + c]);
		for (uint32_t i = 0; i < b.n_callers; i++)
			above += b.callers[i].total[c];
		for (uint32_t i = 0; i < b.n_callees; i++)
			below += b.callees[i].total[c];
		for (uint32_t i = 1; i < t->n_nodes; i++)
			if (t->key[i] == key && t->outer[i])
				below += t->self[(size_t)i * n + c];
		cr_assert_eq(above, b.total[c]);
		cr_assert_eq(below, b.total[c]);
	}
	butterfly_done(&b);
}

/* Opens all of the inverted tree: each sample's self is found once at each level of its stack. */
static void check_inverted(struct analysis *a)
{
	struct inverted *v = analysis_inverted(a);
	const struct calltree *t = a->tree;
	uint32_t n = t->n_columns, next = 0;
	int64_t by_depth[MOST_FRAMES] = { 0 }, expected[MOST_FRAMES] = { 0 };

	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		uint32_t root = inverted_root(v, a->table.key[i]);

		cr_assert_lt(root, inverted_n_roots(v));
		for (uint32_t c = 0; c < n; c++) {
			cr_assert_eq(inverted_self(v, root)[c], a->table.self[(size_t)i * n + c]);
			cr_assert_eq(inverted_total(v, root)[c], a->table.total[(size_t)i * n + c]);
		}
	}
	cr_assert_eq(inverted_n_roots(v), a->table.n_rows);
	for (uint32_t end = inverted_n_roots(v); next < end && end < 100000; next++) {
		const struct inverted_node *node;
		bool called = inverted_has_callers(v, next);
		uint32_t only = inverted_only_caller(v, next);
		int64_t self = 0;

		cr_assert_eq(inverted_node(v, next)->expanded, only != KEY_NONE);
		inverted_expand(v, next);
		inverted_expand(v, next);
		node = inverted_node(v, next);
		cr_assert_eq(called, node->n_children > 0);
		cr_assert_eq(only, node->n_children == 1 ? node->first_child : KEY_NONE);
		by_depth[node->depth] += inverted_self(v, next)[0];
		if (node->n_children) {
			cr_assert_eq(node->first_child, end);
			end += node->n_children;
		}
		for (uint32_t i = 0; i < node->n_children; i++) {
			cr_assert_eq(inverted_node(v, node->first_child + i)->parent, next);
			self += inverted_self(v, node->first_child + i)[0];
			cr_assert_leq(inverted_total(v, node->first_child + i)[0],
				      inverted_total(v, next)[0]);
			cr_assert_geq(inverted_total(v, node->first_child + i)[0],
				      inverted_self(v, node->first_child + i)[0]);
		}
		cr_assert_leq(self, inverted_self(v, next)[0]);
	}
	for (uint32_t i = 1; i < t->n_nodes; i++)
		for (uint32_t d = 0; d < t->depth[i] && !is_comm(a, t->key[i]); d++)
			expected[d] += t->self[(size_t)i * n];
	for (int d = 0; d < MOST_FRAMES; d++)
		cr_assert_eq(by_depth[d], expected[d], "depth %d", d);
}

static void check_table(const struct analysis *a)
{
	const struct calltree *t = a->tree;
	const struct table *r = &a->table;
	uint64_t n_samples = 0, in_tree = 0;
	uint32_t n = t->n_columns;

	for (uint32_t c = 0; c < n; c++) {
		int64_t other = 0;

		for (uint32_t i = 0; i < t->n_nodes; i++)
			if (i == 0 || is_comm(a, t->key[i]))
				other += t->self[(size_t)i * n + c];
		cr_assert_eq(sum(r->self, r->n_rows, n, c) + other, t->total[c]);
	}
	for (uint32_t i = 0; i < r->n_rows; i++)
		n_samples += r->n_samples[i];
	for (uint32_t i = 0; i < a->keys.n; i++)
		in_tree += is_comm(a, i) ? 0 : t->samples[i];
	cr_assert_eq(n_samples, in_tree);
}

static void check_search(const struct analysis *a)
{
	struct search s;
	int64_t total = 0;

	cr_assert_eq(search_init(&s, "^[ab]$", &a->keys, a->tree, NULL), 0);
	for (uint32_t i = 1; i < a->tree->n_nodes; i++) {
		bool found = false;

		for (uint32_t up = i; up != 0; up = a->tree->parent[up])
			found |= s.matches[a->tree->key[up]];
		total += found ? a->tree->self[(size_t)i * a->tree->n_columns] : 0;
	}
	cr_assert_eq(s.total[0], total);
	search_done(&s);
}

/* Two trees of the same lens. */
static void check_same_tree(const struct calltree *want, const struct calltree *got)
{
	size_t n_sums = (size_t)want->n_nodes * want->n_columns;

	cr_assert_eq(got->n_nodes, want->n_nodes);
	cr_assert_eq(memcmp(got->key, want->key, want->n_nodes * sizeof(*want->key)), 0);
	cr_assert_eq(memcmp(got->path, want->path, want->n_nodes * sizeof(*want->path)), 0);
	cr_assert_eq(memcmp(got->inlined, want->inlined, want->n_nodes * sizeof(*want->inlined)),
		     0);
	cr_assert_eq(memcmp(got->self, want->self, n_sums * sizeof(*want->self)), 0);
	cr_assert_eq(memcmp(got->total, want->total, n_sums * sizeof(*want->total)), 0);
	cr_assert_eq(memcmp(got->samples, want->samples, want->n_keys * sizeof(*want->samples)), 0);
}

/* Without a tree the table is the same, and so is the tree that is asked for later. */
static void check_table_alone(const struct profile *p, const struct lens *l,
			      const struct analysis *with, bool later)
{
	const struct table *want = &with->table, *got;
	size_t n_sums = (size_t)want->n_rows * want->n_columns;
	struct analysis *a;

	cr_assert_eq(analysis_new_parts(p, l, later ? ANALYSIS_LATER : 0, NULL, &a), 0);
	got = &a->table;
	cr_assert_eq(got->n_rows, want->n_rows);
	cr_assert_eq(got->n_columns, want->n_columns);
	cr_assert_eq(memcmp(got->key, want->key, want->n_rows * sizeof(*want->key)), 0);
	cr_assert_eq(memcmp(got->self, want->self, n_sums * sizeof(*want->self)), 0);
	cr_assert_eq(memcmp(got->total, want->total, n_sums * sizeof(*want->total)), 0);
	cr_assert_eq(
		memcmp(got->n_samples, want->n_samples, want->n_rows * sizeof(*want->n_samples)),
		0);
	for (uint32_t i = 0; i < want->n_rows; i++)
		cr_assert_eq(got->inlined[got->key[i]], want->inlined[want->key[i]]);
	if (later)
		check_same_tree(with->tree, analysis_tree(a));
	analysis_free(a);
}

Test(properties, answers_agree_with_each_other)
{
	static const enum grouping groupings[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_FILE };

	for (unsigned i = 0; i < N_SEEDS * 6; i++) {
		struct profile *p = made_profile_by_lot(i, 1 + i % 40);
		struct analysis *a;
		struct lens l;
		bool transformed;

		three_columns(&l, p, filters[i % N_FILTERS]);
		l.grouping = groupings[i / N_FILTERS % 3];
		l.inlines = i % 2;
		a = made_analysis(p, &l);
		transformed = strstr(filters[i % N_FILTERS], "focus") != NULL;
		for (uint32_t c = 0; c < 3 && !transformed; c++)
			cr_assert_eq(a->tree->total[c], a->weights.total[c]);
		check_tree(a);
		check_table(a);
		check_table_alone(p, &l, a, false);
		check_table_alone(p, &l, a, true);
		for (uint32_t row = 0; row < a->table.n_rows; row++)
			check_butterfly(a, row);
		check_inverted(a);
		check_search(a);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

/* Grows the trie of a profile to many stacks with a sample in each: each upon one of the last thousand, or six deep. */
static void grow_trie(struct profile *p, uint32_t n, bool shallow)
{
	struct profile_counts counts;
	unsigned seed = 7;

	profile_counts_read(p, &counts);
	builder_begin(p);
	for (uint32_t i = counts.n_stacks; i < n; i++) {
		stack_id parent = { shallow ? i / 8
					    : i - 1 - made_number(&seed, i < 1000 ? i : 1000) };
		location_id l = { made_number(&seed, counts.n_locations) };
		struct sample s = { .stack = build_stack(p, parent, l),
				    .thread = { ID_NONE },
				    .cpu = CPU_NONE,
				    .time_ns = TIME_NONE,
				    .weight = 1 + i % 50 };

		/* It may be there: then the next one is new. */
		i -= s.stack.v < i;
		cr_assert_eq(build_sample(p, &s), 0);
	}
	cr_assert_eq(builder_end(p), 0);
}

/* A second thread helps with these, and there are branches that have more above them. */
Test(properties, tables_of_large_tries)
{
	for (unsigned i = 0; i < 4; i++) {
		struct profile *p = made_profile_by_lot(i, 40);
		struct analysis *a;
		struct lens l;

		grow_trie(p, 1 << 17, i / 2);
		three_columns(&l, p, filters[0]);
		l.inlines = i % 2;
		a = made_analysis(p, &l);
		check_table_alone(p, &l, a, true);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

Test(properties, the_same_question_has_the_same_answer)
{
	for (unsigned i = 0; i < N_SEEDS; i++) {
		struct profile *p = made_profile_by_lot(i, 30);
		struct analysis *a, *b;
		struct lens l;
		size_t n;

		three_columns(&l, p, filters[i % N_FILTERS]);
		a = made_analysis(p, &l);
		b = made_analysis(p, &l);
		n = a->tree->n_nodes;
		cr_assert_eq(n, b->tree->n_nodes);
		cr_assert_arr_eq(a->tree->key, b->tree->key, n * sizeof(uint32_t));
		cr_assert_arr_eq(a->tree->path, b->tree->path, n * sizeof(uint64_t));
		cr_assert_arr_eq(a->tree->total, b->tree->total, n * 3 * sizeof(int64_t));
		cr_assert_arr_eq(a->table.key, b->table.key, a->table.n_rows * sizeof(uint32_t));
		analysis_free(a);
		analysis_free(b);
		lens_done(&l);
		profile_free(p);
	}
}

/* Filters stand in pairs above: a term and its opposite. */
Test(properties, a_term_and_its_opposite_divide_the_whole)
{
	for (unsigned seed = 0; seed < N_SEEDS; seed++) {
		struct profile *p = made_profile_by_lot(seed, 50);
		int64_t whole[3], part[3];
		uint64_t n_samples = 0, n_whole;

		for (size_t i = 0; i < N_FILTERS; i++) {
			struct analysis *a;
			struct lens l;

			three_columns(&l, p, filters[i]);
			a = made_analysis(p, &l);
			if (i == 0) {
				memcpy(whole, a->weights.total, sizeof(whole));
				n_whole = a->weights.n_samples;
			}
			for (int c = 0; c < 3; c++) {
				cr_assert_eq(a->weights.whole[c], whole[c]);
				if (filters[i][0] == '!')
					cr_assert_eq(a->weights.total[c] + part[c], whole[c], "%s",
						     filters[i]);
				part[c] = a->weights.total[c];
			}
			if (filters[i][0] == '!')
				cr_assert_eq(a->weights.n_samples + n_samples, n_whole);
			n_samples = a->weights.n_samples;
			analysis_free(a);
			lens_done(&l);
		}
		profile_free(p);
	}
}

/* The reference. */

struct name {
	char label[32], module[16], file[16];
	bool comm;
};

struct stack {
	struct name frame[MOST_FRAMES];
	int n;
};

static struct name name_of(const struct profile *p, uint32_t function, uint32_t module)
{
	struct name name = { 0 };

	if (function != ID_NONE) {
		const struct function *f = profile_function(p, (function_id){ function });

		snprintf(name.label, sizeof(name.label), "%s", profile_string(p, f->name, NULL));
		snprintf(name.file, sizeof(name.file), "%s", profile_string(p, f->file, NULL));
		name.comm = f->flags & FUNCTION_COMM;
		module = f->module.v;
	}
	snprintf(name.module, sizeof(name.module), "%s",
		 profile_string(p, profile_module(p, (module_id){ module })->name, NULL));
	if (function == ID_NONE)
		snprintf(name.label, sizeof(name.label), "[%s]", name.module);
	return name;
}

static struct stack stack_of(const struct profile *p, uint32_t stack)
{
	struct stack_columns s;
	struct location_columns l;
	struct stack out = { 0 };
	uint32_t path[MOST_FRAMES];
	int n = 0;

	profile_stacks(p, &s);
	profile_locations(p, &l);
	for (; stack != 0; stack = s.parent[stack])
		path[n++] = s.location[stack];
	while (n-- > 0) {
		const struct frame *f = location_frames(&l, path[n]);

		if (!f)
			out.frame[out.n++] = name_of(p, l.function[path[n]], l.module[path[n]]);
		for (uint32_t i = 0; f && i <= f->n_more; i++)
			out.frame[out.n++] = name_of(p, f[i].function, 0);
	}
	return out;
}

static bool same(const struct name *a, const struct name *b)
{
	return strcmp(a->label, b->label) == 0 && strcmp(a->module, b->module) == 0 &&
	       a->comm == b->comm;
}

/* The reference's expressions are plain letters: lower case alone matches any case. */
static bool found(const char *text, const char *what)
{
	char low[64] = "";

	if (strpbrk(what, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		return strstr(text, what);
	for (size_t i = 0; text[i]; i++)
		low[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
	return strstr(low, what);
}

static bool frame_found(const struct name *f, const char *what)
{
	return !f->comm && found(f->label, what);
}

static void cut_front(struct stack *s, int n)
{
	memmove(s->frame, s->frame + n, (size_t)(s->n - n) * sizeof(*s->frame));
	s->n -= n;
}

static void cut_out(struct stack *s, int at)
{
	memmove(s->frame + at, s->frame + at + 1, (size_t)(s->n - at - 1) * sizeof(*s->frame));
	s->n--;
}

static bool reference_focus(struct stack *s, const char *what)
{
	for (int i = 0; i < s->n; i++) {
		if (!frame_found(&s->frame[i], what))
			continue;
		cut_front(s, i);
		return true;
	}
	return false;
}

static void reference_recursion(struct stack *s, bool all)
{
	for (int i = 0; i < s->n; i++) {
		int last = i;

		for (int j = i + 1; j < s->n && (all || j == last + 1); j++)
			if (same(&s->frame[i], &s->frame[j]))
				last = j;
		for (int n = last - i; n > 0; n--)
			cut_out(s, i + 1);
	}
}

static bool reference_path(struct stack *s, char *value)
{
	int n = 0;

	for (char *part = strtok(value, ";"); part; part = strtok(NULL, ";"), n++)
		if (n >= s->n || strcmp(s->frame[n].label, part) != 0)
			return false;
	cut_front(s, n - 1);
	return true;
}

/* One term applied to one sample; false drops it. */
static bool reference_term(const struct profile *p, struct stack *s, uint64_t row, const char *term)
{
	bool negated = *term == '!', yes = false;
	char kind[32], value[64];
	struct sample_columns rows;

	cr_assert_eq(sscanf(term + negated, "%31[^:]:%63s", kind, value), 2);
	profile_samples(p, &rows);
	(void)row;
	if (strcmp(kind, "focus") == 0)
		return reference_focus(s, value);
	if (strcmp(kind, "focus-path") == 0)
		return reference_path(s, value);
	if (strcmp(kind, "recursion") == 0) {
		reference_recursion(s, strcmp(value, "all") == 0);
		return true;
	}
	for (int i = 0; i < s->n; i++) {
		const struct name *f = &s->frame[i];
		bool hit = frame_found(f, value);

		yes |= strcmp(kind, "fn") == 0 && hit;
		yes |= strcmp(kind, "leaf") == 0 && i == s->n - 1 && hit;
		yes |= strcmp(kind, "module") == 0 && !f->comm && found(f->module, value);
		yes |= strcmp(kind, "in") == 0 && i == s->n - 1 && !f->comm &&
		       found(f->module, value);
		yes |= strcmp(kind, "file") == 0 && found(f->file, value);
		if (strcmp(kind, "collapse") == 0 && hit)
			s->n = i + 1;
		if (strcmp(kind, "merge") == 0 && hit)
			cut_out(s, i--);
	}
	return strcmp(kind, "merge") == 0 || strcmp(kind, "collapse") == 0 || yes != negated;
}

/* Filters first, as they see stacks as they are; then transforms in order. */
static bool reference_filter(const struct profile *p, struct stack *s, uint64_t row,
			     const char *filter)
{
	for (int pass = 0; pass < 2; pass++) {
		char *copy = xstrdup(filter), *save = NULL;
		bool kept = true;

		for (char *t = strtok_r(copy, " ", &save); t && kept;
		     t = strtok_r(NULL, " ", &save)) {
			bool transform = strncmp(t, "focus", 5) == 0 ||
					 strncmp(t, "merge", 5) == 0 ||
					 strncmp(t, "coll", 4) == 0 || strncmp(t, "rec", 3) == 0;

			if (transform == (pass == 1))
				kept = reference_term(p, s, row, t);
		}
		free(copy);
		if (!kept)
			return false;
	}
	return true;
}

struct line {
	char *path;
	int64_t weight;
};

struct lines {
	VEC(struct line) at;
};

static void add_line(struct lines *l, char *path, int64_t weight)
{
	if (weight == 0) {
		free(path);
		return;
	}
	for (size_t i = 0; i < l->at.n; i++) {
		if (strcmp(l->at.at[i].path, path) != 0)
			continue;
		l->at.at[i].weight += weight;
		free(path);
		return;
	}
	vec_push(&l->at, ((struct line){ path, weight }));
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->path, ((const struct line *)b)->path);
}

static char *joined(const char *up, const char *label, const char *module)
{
	return xasprintf("%s%s%s%s;", up, label, *module ? "@" : "", module);
}

static void reference_lines(const struct profile *p, const char *filter, uint32_t event,
			    struct lines *out)
{
	struct profile_counts counts;
	struct sample_columns rows;

	profile_counts_read(p, &counts);
	profile_samples(p, &rows);
	for (uint64_t i = 0; i < counts.n_samples; i++) {
		struct stack s = stack_of(p, rows.stack[i]);
		char *path = xstrdup("");

		if ((rows.event ? rows.event[i] : 0) == event &&
		    reference_filter(p, &s, i, filter)) {
			for (int j = 0; j < s.n; j++) {
				char *longer = joined(path, s.frame[j].label, s.frame[j].module);

				free(path);
				path = longer;
			}
			add_line(out, path, rows.weight ? rows.weight[i] : 1);
		} else {
			free(path);
		}
	}
}

static void tree_lines(const struct analysis *a, struct lines *out)
{
	const struct calltree *t = a->tree;
	char **path = xcalloc(t->n_nodes, sizeof(*path));

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		path[i] = i == 0 ? xstrdup("")
				 : joined(path[t->parent[i]], a->keys.key[t->key[i]].label,
					  a->keys.key[t->key[i]].module);
		add_line(out, xstrdup(path[i]), t->self[(size_t)i * t->n_columns]);
	}
	for (uint32_t i = 0; i < t->n_nodes; i++)
		free(path[i]);
	free(path);
}

static void lines_done(struct lines *l)
{
	for (size_t i = 0; i < l->at.n; i++)
		free(l->at.at[i].path);
	vec_done(&l->at);
}

static void compare_with_reference(const struct profile *p, const char *filter)
{
	struct lines expected = { 0 }, got = { 0 };
	struct analysis *a;
	struct lens l;

	made_lens(&l, p, filter);
	a = made_analysis(p, &l);
	reference_lines(p, filter, l.column[0].metric.event.v, &expected);
	tree_lines(a, &got);
	cr_assert_eq(expected.at.n, got.at.n, "%s", filter);
	if (got.at.n > 0) {
		qsort(expected.at.at, expected.at.n, sizeof(*expected.at.at), compare_lines);
		qsort(got.at.at, got.at.n, sizeof(*got.at.at), compare_lines);
	}
	for (size_t i = 0; i < got.at.n; i++) {
		cr_assert_str_eq(expected.at.at[i].path, got.at.at[i].path, "%s", filter);
		cr_assert_eq(expected.at.at[i].weight, got.at.at[i].weight, "%s: %s", filter,
			     got.at.at[i].path);
	}
	lines_done(&expected);
	lines_done(&got);
	analysis_free(a);
	lens_done(&l);
}

Test(properties, trees_are_those_of_the_reference)
{
	for (unsigned seed = 0; seed < N_SEEDS; seed++) {
		struct profile *p = made_profile_by_lot(seed, 60);

		for (size_t i = 0; i < N_FILTERS; i++) {
			static const char *const about_samples[] = { "thread:", "comm:", "process:",
								     "pid:",    "tid:",  "cpu:",
								     "event:",  "time:" };
			bool frames = true;

			for (size_t j = 0; j < 8; j++)
				frames &= !strstr(filters[i], about_samples[j]);
			if (frames && filters[i][0])
				compare_with_reference(p, filters[i]);
		}
		profile_free(p);
	}
}

/* Filters about samples, against what the rows say. */
static bool row_passes(const struct profile *p, const struct sample_columns *rows, uint64_t i,
		       const char *filter)
{
	uint32_t t = rows->thread ? rows->thread[i] : ID_NONE;
	uint16_t cpu = rows->cpu ? rows->cpu[i] : CPU_NONE;
	int64_t at = rows->time_ns ? rows->time_ns[i] : TIME_NONE;
	const struct thread *thread = t == ID_NONE ? NULL : profile_thread(p, (thread_id){ t });
	const struct process *process = thread ? profile_process(p, thread->process) : NULL;
	const char *name = thread ? profile_string(p, thread->name, NULL) : "";

	if (strcmp(filter, "thread:t1") == 0)
		return thread && strcmp(name, "t1") == 0;
	if (strcmp(filter, "pid:1") == 0)
		return process && process->pid == 1;
	if (strcmp(filter, "tid:1,3") == 0)
		return thread && (thread->tid == 1 || thread->tid == 3);
	if (strcmp(filter, "cpu:1-2") == 0)
		return cpu == 1 || cpu == 2;
	if (strcmp(filter, "event:cycles") == 0)
		return strcmp(profile_string(p,
					     profile_event(p, (event_id){ rows->event[i] })->name,
					     NULL),
			      "cycles") == 0;
	at = at == TIME_NONE ? TIME_NONE
			     : at - capture_begin(profile_capture(p, process ? process->capture
									     : (capture_id){ 0 }));
	return at >= 100 && at < 500;
}

Test(properties, samples_pass_as_their_rows_say)
{
	static const char *const tried[] = {
		"thread:t1", "pid:1",        "tid:1,3",
		"cpu:1-2",   "event:cycles", "time:0.0000001,0.0000005"
	};

	for (unsigned seed = 0; seed < N_SEEDS; seed++) {
		struct profile *p = made_profile_by_lot(seed, 60);
		struct profile_counts counts;
		struct sample_columns rows;

		profile_counts_read(p, &counts);
		profile_samples(p, &rows);
		for (size_t k = 0; k < sizeof(tried) / sizeof(*tried) && counts.n_captures == 1;
		     k++) {
			struct weights w;
			struct lens l;
			uint64_t n = 0;
			int64_t total = 0;

			made_lens(&l, p, tried[k]);
			cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
			for (uint64_t i = 0; i < counts.n_samples; i++) {
				if (rows.event[i] != l.column[0].metric.event.v ||
				    !row_passes(p, &rows, i, tried[k]))
					continue;
				n++;
				total += rows.weight[i];
			}
			cr_assert_eq(w.n_samples, n, "%s", tried[k]);
			cr_assert_eq(w.total[0], total, "%s", tried[k]);
			weights_done(&w);
			lens_done(&l);
		}
		profile_free(p);
	}
}
