/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/findings/findings.h"

#include "base/compare.h"
#include "base/task.h"
#include "profile/heap/heap.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/regex.h"
#include "query/findings/findings_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct finding *findings_add(struct findings *f, const char *rule, const char *view, double share,
			     char *sentence)
{
	const struct finding one = {
		.rule = rule,
		.sentence = sentence,
		.rank = FINDING_SHARE,
		.share = share,
		.view = view,
		.key_id = ID_NONE,
		.filter = xstrdup(""),
	};

	vec_push(&f->list, one);
	return &f->list.at[f->list.n - 1];
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->list.n; i++) {
		free(f->list.at[i].sentence);
		free(f->list.at[i].filter);
	}
	vec_done(&f->list);
	free(f);
}

const char *findings_nothing(const struct analysis *a)
{
	struct heap_columns heap;

	profile_heap(a->profile, &heap);
	if (a->counts.n_samples == 0 && heap.n_allocations == 0)
		return "nothing was recorded: no samples and no allocations";
	/* findings are of both: what the filter lets pass of a heap is not counted here */
	if (a->weights.whole[0] > 0 && a->weights.total[0] == 0)
		return "nothing of the event passes the filter";
	return "nothing stands out";
}

double cpu_case_samples(const struct cpu_case *c, int64_t weight)
{
	const struct weights *w = &c->a->weights;
	double n = (double)w->n_samples / (double)w->sample_scale;

	return c->whole > 0 ? n * (double)weight / (double)c->whole : 0;
}

char *cpu_case_percent(int64_t part, int64_t whole)
{
	char text[FMT_SIZE];

	return xasprintf("%s %%", fmt_percent(text, part, whole));
}

/* Longer names are folded. */
#define NAME_COLS 48

/* Copies name without what is inside the outermost <> and (), which become <…> and (…). Operators keep theirs. */
static size_t fold_name(char *out, const char *name)
{
	size_t n = 0;
	int depth = 0;

	for (const char *s = name; *s; s++) {
		bool opens = *s == '<' || *s == '(';
		bool closes = (*s == '>' || *s == ')') && depth > 0;

		if (depth == 0 && strncmp(s, "operator", 8) == 0) {
			size_t skip = 8 + strspn(s + 8, "<>=()-");

			memcpy(out + n, s, skip);
			n += skip;
			s += skip - 1;
			continue;
		}
		depth -= closes;
		if (depth == 0)
			out[n++] = *s;
		if (opens && depth == 0 && s[1] && s[1] != '>' && s[1] != ')') {
			memcpy(out + n, "…", strlen("…"));
			n += strlen("…");
		}
		depth += opens;
	}
	out[n] = '\0';
	return n;
}

/* Is that what another function was called? */
static bool is_named(const struct cpu_case *c, uint32_t key, const char *name)
{
	for (size_t i = 0; i < c->named.n; i++)
		if (c->named.at[i].key != key && strcmp(c->named.at[i].name, name) == 0)
			return true;
	return false;
}

const char *cpu_case_name(struct cpu_case *c, uint32_t key)
{
	const struct key *k = &c->a->keys.key[key];
	struct named_key named = { key, k->label };
	size_t len = strlen(k->label);
	char *made;

	for (size_t i = 0; i < c->named.n; i++)
		if (c->named.at[i].key == key)
			return c->named.at[i].name;
	if (len > NAME_COLS) {
		/* Three bytes for what stood between two. */
		made = xmalloc(2 * len + 4);
		len = fold_name(made, k->label);
		/* A name of Rust is in its brackets: <T as Trait>::method. */
		if (strncmp(made, "<…>", strlen("<…>")) != 0 && !is_named(c, key, made))
			named.name = arena_strndup(&c->made, made, len);
		free(made);
	}
	if (is_named(c, key, named.name) && *k->module) {
		made = xasprintf("%s (%s)", named.name, k->module);
		named.name = arena_strndup(&c->made, made, strlen(made));
		free(made);
	}
	vec_push(&c->named, named);
	return named.name;
}

static const char *shares_of(struct cpu_case *c)
{
	const struct profile *p = c->a->profile;
	struct metric m = c->a->lens.column[0].metric;
	const struct event *e = profile_event(p, m.event);
	char *name;

	if (m.measure == MEASURE_WALL)
		return "of the wall time";
	if (m.measure == MEASURE_SAMPLES || !e->has_weight || e->is_counted)
		return "of the samples";
	if (e->unit == UNIT_NS)
		return e->is_derived ? "of the waiting time" : "of the CPU time";
	name = metric_name(p, m);
	c->of_made = xasprintf("of %s", name);
	free(name);
	return c->of_made;
}

/* Classes of all keys in the tree; others are not asked. */
static int classify(struct cpu_case *c)
{
	const struct analysis *a = c->a;
	const struct groups *k = &a->keys;

	for (int i = 0; i < N_FRAME_CLASSES; i++) {
		struct regex *regex = frame_class_regex((enum frame_class)i);

		c->is[i] = xcalloc((size_t)k->n + 1, sizeof(bool));
		for (uint32_t at = 0; at < k->n; at++) {
			uint32_t id = k->key[at].id;

			if (progress_cancelled(c->progress)) {
				regex_free(regex);
				return -ECANCELED;
			}
			if (id == ID_NONE || a->tree->first_of[at] == a->tree->first_of[at + 1])
				continue;
			c->is[i][at] = id & KEY_OF_MODULE
					       ? frame_class_has_unnamed(
							 (enum frame_class)i, a->profile,
							 (module_id){ id & ~KEY_OF_MODULE })
					       : frame_class_has_function(
							 (enum frame_class)i, regex, a->profile,
							 profile_function(a->profile,
									  (function_id){ id }));
		}
		regex_free(regex);
	}
	return 0;
}

static int apply_rules(struct cpu_case *c)
{
	static int (*const rules[])(struct cpu_case *) = {
		find_classes, find_recursion, find_phases, find_hotspot, find_missing,
	};
	const struct calltree *t = c->a->tree;
	int rc = classify(c);

	arena_init(&c->made);
	c->of = shares_of(c);
	c->many = !strstr(c->of, " time");
	c->whole = c->a->weights.total[0];
	c->told = xcalloc((size_t)c->a->keys.n + 1, sizeof(*c->told));
	for (uint32_t i = 1; rc == 0 && i < t->n_nodes; i++)
		if (c->is[FRAME_CLASS_IDLE][t->key[i]])
			c->idle += t->self[(size_t)i * t->n_columns];
	for (size_t i = 0; rc == 0 && c->whole > 0 && i < sizeof(rules) / sizeof(*rules); i++)
		rc = rules[i](c);
	for (int i = 0; i < N_FRAME_CLASSES; i++)
		free(c->is[i]);
	free(c->told);
	free(c->of_made);
	arena_done(&c->made);
	vec_done(&c->named);
	return rc;
}

/* Are there a tree and a table of functions, of samples? */
static bool suits(const struct analysis *a)
{
	return a->tree && a->lens.grouping == GROUP_FUNCTION &&
	       !metric_is_heap(a->profile, a->lens.column[0].metric);
}

/* Rules about samples, of the analysis or, where that is of something else, of one of their own. */
static int find_in_samples(const struct analysis *a, struct progress *progress,
			   struct findings *out)
{
	struct cpu_case c = { .progress = progress, .out = out };
	struct analysis *own = NULL;
	struct lens usual, lens;
	int rc = 0;

	lens_init(&usual, a->profile);
	lens = a->lens; /* filters are borrowed */
	if (metric_is_heap(a->profile, lens.column[0].metric)) {
		lens.n_columns = 1;
		lens.column[0].metric = usual.column[0].metric;
	}
	lens_done(&usual);
	/* There are allocations only. */
	if (a->counts.n_events == 0 || metric_is_heap(a->profile, lens.column[0].metric))
		return 0;
	if (!suits(a)) {
		lens.grouping = GROUP_FUNCTION;
		lens.cache = NULL;
		lens.recent_ns = 0;
		rc = analysis_new_of(a->profile, &a->counts, &lens, ANALYSIS_TREE, progress, &own);
	}
	c.a = own ? own : a;
	if (rc == 0)
		rc = apply_rules(&c);
	analysis_free(own);
	return rc;
}

static int by_weight(const void *x, const void *y)
{
	const struct finding *a = x, *b = y;

	return COMPARE(a->rank, b->rank) ?: COMPARE(b->share, a->share) ?:
	       strcmp(a->sentence, b->sentence);
}

int findings_new(const struct analysis *a, const struct suppressions *suppress,
		 struct progress *progress, struct findings **out)
{
	struct findings *f = xcalloc(1, sizeof(*f));
	int rc = lens_compares(&a->lens) ? 0 : find_in_samples(a, progress, f);

	if (rc == 0 && !lens_compares(&a->lens))
		rc = find_in_heap(a, suppress, progress, f);

	if (rc < 0) {
		findings_free(f);
		return rc;
	}
	if (f->list.n > 1)
		qsort(f->list.at, f->list.n, sizeof(*f->list.at), by_weight);
	*out = f;
	return 0;
}
