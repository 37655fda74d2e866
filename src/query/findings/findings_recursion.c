/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule about functions that call themselves, and such that others call again. */
#include "config.h"

#include "query/analysis.h"
#include "query/findings/findings.h"
#include "query/findings/findings_rules.h"

#include <stdlib.h>

/* Worth a sentence where so large a part of the whole is in it, and so deep, in so many samples. */
#define SHARE_LEAST 0.10
#define DEPTH_LEAST 3u

/* A walk of the tree from its root down, which finds nodes whose function is on their path for the second time. */
struct path {
	const struct calltree *t;
	uint32_t *key;     /* [max_depth + 1] by depth */
	uint32_t *on_path; /* [n keys] frames of each key there */
	uint32_t depth;
};

static struct path path_new(const struct cpu_case *c)
{
	const struct calltree *t = c->a->tree;

	return (struct path){ t, xmalloc(((size_t)t->max_depth + 1) * sizeof(uint32_t)),
			      xcalloc((size_t)c->a->keys.n + 1, sizeof(uint32_t)), 0 };
}

static void path_free(struct path *p)
{
	free(p->key);
	free(p->on_path);
}

/* How often the function of a node is on its path; nodes come in their order. */
static uint32_t path_enter(struct path *p, uint32_t node)
{
	for (; p->depth >= p->t->depth[node]; p->depth--)
		p->on_path[p->key[p->depth]]--;
	p->depth = p->t->depth[node];
	p->key[p->depth] = p->t->key[node];
	return ++p->on_path[p->t->key[node]];
}

static int64_t total_of(const struct calltree *t, uint32_t node)
{
	return t->total[(size_t)node * t->n_columns];
}

/* What calls a function again, most of the time: itself, or another. */
static uint32_t called_again_by(const struct cpu_case *c, uint32_t key)
{
	const struct calltree *t = c->a->tree;
	int64_t *by = xcalloc((size_t)c->a->keys.n + 1, sizeof(*by));
	struct path p = path_new(c);
	uint32_t most = key;

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		if (path_enter(&p, i) != 2 || t->key[i] != key)
			continue;
		by[p.key[p.depth - 1]] += total_of(t, i);
		if (by[p.key[p.depth - 1]] > by[most])
			most = p.key[p.depth - 1];
	}
	path_free(&p);
	free(by);
	return most;
}

static void say_recursion(struct cpu_case *c, uint32_t key, uint32_t by, int64_t weight,
			  uint32_t deepest, uint32_t n_others)
{
	const struct key *k = &c->a->keys.key[key];
	char *share = cpu_case_percent(weight, c->whole), times[FMT_SIZE];
	char *through = by == key ? xstrdup("") : xasprintf(" through %s", cpu_case_name(c, by));
	char *more = n_others ? xasprintf("; %u more function%s do%s so, too", (unsigned)n_others,
					  n_others == 1 ? "" : "s", n_others == 1 ? "es" : "")
			      : xstrdup("");
	char *own = cpu_case_tell(c, key);
	struct finding *f = findings_add(
		c->out, "recursion", "tree", (double)weight / (double)c->whole,
		xasprintf("%s calls itself%s, up to %s deep: %s %s is in such calls%s%s.", k->label,
			  through, fmt_count(times, deepest), share, c->of, own, more));

	f->key_id = k->id;
	free(f->filter);
	f->filter = xstrdup("recursion:all");
	free(share);
	free(through);
	free(more);
	free(own);
}

int find_recursion(struct cpu_case *c)
{
	const struct calltree *t = c->a->tree;
	uint32_t n = c->a->keys.n, best = KEY_NONE, n_such = 0, by;
	uint32_t *deepest = xcalloc((size_t)n + 1, sizeof(*deepest));
	int64_t *sum = xcalloc((size_t)n + 1, sizeof(*sum));
	bool *such = xcalloc((size_t)n + 1, sizeof(*such));
	struct path p = path_new(c);

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t times = path_enter(&p, i), key = t->key[i];

		if (times > 1 && times > deepest[key])
			deepest[key] = times;
		if (times == 2)
			sum[key] += total_of(t, i);
	}
	path_free(&p);
	for (uint32_t i = 0; i < n; i++) {
		if (!cpu_case_is_function(c, i) || cpu_case_is_of_language(c, i) ||
		    deepest[i] < DEPTH_LEAST || (double)sum[i] < SHARE_LEAST * (double)c->whole ||
		    cpu_case_samples(c, sum[i]) < CPU_SAMPLES_LEAST)
			continue;
		such[i] = true;
		n_such++;
		if (best == KEY_NONE || sum[i] > sum[best] ||
		    (sum[i] == sum[best] && deepest[i] > deepest[best]))
			best = i;
	}
	if (best != KEY_NONE) {
		by = called_again_by(c, best);
		/* What it calls itself through is named, and not counted again. */
		say_recursion(c, best, by, sum[best], deepest[best],
			      n_such - 1 - (by != best && such[by]));
	}
	free(deepest);
	free(sum);
	free(such);
	return 0;
}
