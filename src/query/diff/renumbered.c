/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/renumbered.h"

#include "base/hash.h"
#include "base/mem.h"
#include "query/core/name_rules.h"
#include "query/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many functions at most are called otherwise. */
#define MOST_FUNCTIONS 4000
/* Pairs of so many by so many at most are looked at in a group. */
#define MOST_ALIGNED   1000000
/* Callers and callees are told apart by so much of a hash of their names. */
#define N_SHARES       64
/* Less alike than this is no pair. */
#define LEAST_ALIKE    0.3
/* A function that is more alike by so much is another one, whatever it is called; by less than that much it cannot be told. */
#define CLEARLY        1.2
#define AS_WELL        0.9
/* What is looked for beside a known way is another one, as good as that. */
#define OF_KNOWN       0.97
/* What has fewer samples than this is no evidence. */
#define LEAST_SAMPLES  8

/* A function of one side. */
struct item {
	char *group;       /* module and name without numbers; owned */
	const char *label; /* of the analysis' keys */
	enum side side;
	bool shared; /* both sides have it in the same build of the module: it was not numbered anew */
	double weight;
	double samples;          /* that tell as much as these do; exact ones are without end */
	VEC(uint32_t) functions; /* function_id; owned */
	double callee[N_SHARES]; /* of its weight, itself included; by hash of the name */
	double caller[N_SHARES]; /* likewise */
};

struct finding {
	const struct diff *d;
	const struct name_rules *names; /* by which modules are the same */
	VEC(struct item) items;
	uint32_t *of_key; /* [n_keys] item + 1; owned */
	uint8_t *share;   /* [n_keys] of its name; owned */
};

/* Functions of one group, those before and those after, in the order of their numbers. */
struct group {
	struct item *const *before, *const *after;
	size_t n_before, n_after;
};

/* For each before, which after it is taken for, or SIZE_MAX; and the weight of what is alike in these. */
struct alignment {
	size_t *to; /* [n_before]; owned */
	double worth;
};

static const struct key *key_of(const struct diff *d, uint32_t key)
{
	return &d->analysis->keys.key[key];
}

static bool is_function(const struct key *k)
{
	return !(k->flags & (FUNCTION_COMM | FUNCTION_MARK | FUNCTION_UNRESOLVED));
}

/* The length of "ns::f" in "ns::f(int) const [clone .part.0]"; of a name without arguments, all of it. */
static size_t without_arguments(const char *name)
{
	const char *end = strstr(name, " [clone"), *begin;
	size_t n = end ? (size_t)(end - name) : strlen(name);
	static const char method[] = " const", call[] = "operator";
	int depth = 0;

	if (n > strlen(method) && strncmp(name + n - strlen(method), method, strlen(method)) == 0)
		n -= strlen(method);
	if (n == 0 || name[n - 1] != ')')
		return strlen(name);
	for (begin = name + n; begin > name;) {
		begin--;
		depth += *begin == ')' ? 1 : *begin == '(' ? -1 : 0;
		if (depth == 0)
			break;
	}
	n = (size_t)(begin - name);
	if (n == 0 || begin[-1] == ':' ||
	    (n >= strlen(call) && strncmp(begin - strlen(call), call, strlen(call)) == 0))
		return strlen(name);
	return n;
}

/* Module and name without numbers, and without arguments unless these count; the caller frees. */
static char *group_of(const struct name_rules *rules, const struct key *k, bool arguments)
{
	char *name = name_rules_unnumbered(k->label);
	char *module = name_rules_apply_module(rules, k->module);
	size_t n = arguments ? strlen(name) : without_arguments(name);
	char *group = xasprintf("%s\n%.*s", module, (int)n, name);

	free(module);
	free(name);
	return group;
}

static int by_group(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int cmp = strcmp(a->group, b->group);

	cmp = cmp ? cmp : (int)a->side - (int)b->side;
	return cmp ? cmp : strverscmp(a->label, b->label);
}

static void item_done(struct item *i)
{
	free(i->group);
	vec_done(&i->functions);
}

/* Of equal weight, how many samples vary as much: that is no matter of what each stands for. */
static double samples_of(const struct diff *d, const int64_t *numbers, enum side side)
{
	const struct analysis *a = d->analysis;
	double sum = 0, variance;
	uint32_t first = lens_side(&a->lens, side);

	for (uint32_t c = first; c < first + a->lens.sides.n_runs[side]; c++)
		sum += diff_of_run(d, numbers, c - SIDES_FIRST);
	variance = normalize_variance(a->profile, &a->lens, &a->weights, side, numbers, sum);
	return variance > 0 ? sum * sum / variance : INFINITY;
}

/* A function that only one side has, which may be inlined there alone. */
struct lone {
	char *group; /* owned */
	uint32_t row;
	enum side side;
	bool bare; /* it has no arguments in its name */
};

static int by_lone_group(const void *x, const void *y)
{
	const struct lone *a = x, *b = y;
	int cmp = strcmp(a->group, b->group);

	return cmp ? cmp : (int)a->bare - (int)b->bare;
}

/*
 * Of functions that no other file sees, debug information has names without arguments, which is what they are called where they are
 * inlined. told[n_rows] becomes true of two of which one side alone has one with arguments, and the other alone one without.
 */
static void find_inlined(const struct finding *f, bool *told)
{
	const struct table *t = &f->d->analysis->table;
	VEC(struct lone) lone = { 0 };

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct key *k = key_of(f->d, t->key[i]);
		const struct noise_delta *total = &f->d->row_total[i];
		struct lone one = { .row = i,
				    .side = total->before > 0 ? SIDE_BEFORE : SIDE_AFTER };

		if (!is_function(k) || (total->before > 0) == (total->after > 0))
			continue;
		one.bare = without_arguments(k->label) == strlen(k->label);
		one.group = group_of(f->names, k, false);
		vec_push(&lone, one);
	}
	if (lone.n > 1)
		qsort(lone.at, lone.n, sizeof(*lone.at), by_lone_group);
	for (size_t i = 0, n; i < lone.n; i += n) {
		const struct lone *one = &lone.at[i];

		for (n = 1; i + n < lone.n && strcmp(one->group, one[n].group) == 0; n++)
			;
		if (n != 2 || one[0].bare == one[1].bare || one[0].side == one[1].side)
			continue;
		told[one[0].row] = told[one[1].row] = true;
	}
	for (size_t i = 0; i < lone.n; i++)
		free(lone.at[i].group);
	vec_done(&lone);
}

/* An item of each row and side that has weight there. */
static void find_items(struct finding *f)
{
	const struct table *t = &f->d->analysis->table;
	bool *inlined = xcalloc((size_t)t->n_rows + 1, sizeof(*inlined));

	find_inlined(f, inlined);
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct key *k = key_of(f->d, t->key[i]);
		const struct noise_delta *total = &f->d->row_total[i];
		bool tells = inlined[i] || (is_function(k) && name_rules_numbered(k->label));

		for (int side = 0; side < N_SIDES && tells; side++) {
			double weight = side == SIDE_BEFORE ? total->before : total->after;
			struct item one = { .label = k->label,
					    .side = (enum side)side,
					    .weight = weight,
					    .samples = samples_of(
						    f->d, &t->total[(size_t)i * t->n_columns],
						    (enum side)side),
					    .shared = total->before > 0 && total->after > 0 };

			if (!(weight > 0))
				continue;
			one.group = group_of(f->names, k, !inlined[i]);
			vec_push(&one.functions, k->id);
			vec_push(&f->items, one);
		}
	}
	free(inlined);
	if (f->items.n > 1)
		qsort(f->items.at, f->items.n, sizeof(*f->items.at), by_group);
}

/* Several builds have one function of a name: together they are one item of their side. */
static void join_items(struct finding *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->items.n; i++) {
		struct item *one = &f->items.at[i], *last = n ? &f->items.at[n - 1] : NULL;

		if (last && by_group(last, one) == 0) {
			vec_push(&last->functions, one->functions.at[0]);
			last->weight += one->weight;
			last->samples += one->samples;
			last->shared |= one->shared;
			item_done(one);
		} else {
			f->items.at[n++] = *one;
		}
	}
	f->items.n = n;
}

/* Numbered names are as much the same as their functions may be. */
static uint8_t share_of(const char *label)
{
	char *name = name_rules_unnumbered(label);
	uint64_t hash = hash_bytes(name, strlen(name));

	free(name);
	return (uint8_t)((hash >> 32) % N_SHARES);
}

/* Which of a side's functions a key is of; NULL: of none that count. */
static struct item *item_of(const struct finding *f, uint32_t key)
{
	return key != KEY_NONE && f->of_key[key] ? &f->items.at[f->of_key[key] - 1] : NULL;
}

static double weight_of(const struct finding *f, const int64_t *numbers, enum side side)
{
	double before, after;

	diff_means(f->d, numbers, &before, &after);
	return side == SIDE_BEFORE ? before : after;
}

/* Who calls the items and what they call, by nodes of the tree. */
static void find_shares(struct finding *f)
{
	const struct calltree *t = f->d->analysis->tree;
	size_t n = t->n_columns;

	for (uint32_t i = 1; i < t->n_nodes; i++) {
		uint32_t up = t->key[t->parent[i]];
		struct item *item = item_of(f, t->key[i]), *above = item_of(f, up);

		if (item) {
			item->caller[up == KEY_NONE ? 0 : f->share[up]] +=
				weight_of(f, &t->total[i * n], item->side);
			item->callee[0] += weight_of(f, &t->self[i * n], item->side);
		}
		if (above)
			above->callee[f->share[t->key[i]]] += weight_of(f, &t->total[i * n],
									above->side);
	}
}

static void find_keys(struct finding *f)
{
	const struct groups *k = &f->d->analysis->keys;
	uint32_t n_functions = k->n_functions;
	uint32_t *of_function = xcalloc((size_t)n_functions + 1, sizeof(*of_function));

	f->of_key = xcalloc((size_t)k->n + 1, sizeof(*f->of_key));
	f->share = xcalloc((size_t)k->n + 1, sizeof(*f->share));
	for (size_t i = 0; i < f->items.n; i++)
		for (size_t j = 0; j < f->items.at[i].functions.n; j++)
			if (f->items.at[i].functions.at[j] < n_functions && !f->items.at[i].shared)
				of_function[f->items.at[i].functions.at[j]] = (uint32_t)i + 1;
	for (uint32_t i = 0; i < k->n; i++) {
		f->share[i] = share_of(k->key[i].label);
		if (k->key[i].id < n_functions)
			f->of_key[i] = of_function[k->key[i].id];
	}
	free(of_function);
}

/* What two distributions have in common, 0..1. */
static double common(const double *a, const double *b)
{
	double of_a = 0, of_b = 0, sum = 0;

	for (int i = 0; i < N_SHARES; i++) {
		of_a += a[i];
		of_b += b[i];
	}
	for (int i = 0; of_a > 0 && of_b > 0 && i < N_SHARES; i++)
		sum += fmin(a[i] / of_a, b[i] / of_b);
	return sum;
}

static double alike(const struct item *a, const struct item *b)
{
	double size = fmin(a->weight, b->weight) / fmax(a->weight, b->weight);

	return sqrt(size) * common(a->callee, b->callee) * common(a->caller, b->caller);
}

static bool same_label(const struct item *a, const struct item *b)
{
	return strcmp(a->label, b->label) == 0;
}

static const struct item *find_label(struct item *const *items, size_t n, const struct item *one)
{
	for (size_t i = 0; i < n; i++)
		if (same_label(items[i], one))
			return items[i];
	return NULL;
}

/* What both sides have by name is paired with that. */
static bool is_named(const struct group *g, const struct item *a, const struct item *b)
{
	return find_label(g->after, g->n_after, a) || find_label(g->before, g->n_before, b);
}

/* What a pair is worth; below 0: it is none. Names count, but where another way than a known one is looked for. */
static double worth_of(const struct group *g, size_t i, size_t j, const struct alignment *known)
{
	const struct item *a = g->before[i], *b = g->after[j];
	double w = alike(a, b);

	if (!known && is_named(g, a, b) ? !same_label(a, b) : w < LEAST_ALIKE)
		return -1;
	return w * (a->weight + b->weight) * (known && known->to[i] == j ? OF_KNOWN : 1);
}

/* The order-preserving pairs that are worth most. */
static struct alignment align(const struct group *g, const struct alignment *known)
{
	size_t width = g->n_after + 1, n = g->n_before;
	double *best = xcalloc((n + 1) * width, sizeof(*best));
	struct alignment out = { .to = xcalloc(n + 1, sizeof(*out.to)) };

	for (size_t i = n; i-- > 0;)
		for (size_t j = g->n_after; j-- > 0;) {
			double w = worth_of(g, i, j, known), skip;

			skip = fmax(best[(i + 1) * width + j], best[i * width + j + 1]);
			best[i * width + j] = w < 0 ? skip
						    : fmax(skip, w + best[(i + 1) * width + j + 1]);
		}
	for (size_t i = 0, j = 0; i < n; i++) {
		out.to[i] = SIZE_MAX;
		while (j < g->n_after && best[i * width + j] == best[i * width + j + 1])
			j++;
		if (j == g->n_after || best[i * width + j] == best[(i + 1) * width + j])
			continue;
		out.worth += alike(g->before[i], g->after[j]) *
			     (g->before[i]->weight + g->after[j]->weight);
		out.to[i] = j++;
	}
	free(best);
	return out;
}

/* Is anything with samples enough in no pair? */
static bool leaves_any(const struct group *g, const struct alignment *a)
{
	bool any = false;

	for (size_t i = 0; i < g->n_before; i++)
		any |= a->to[i] == SIZE_MAX && g->before[i]->samples >= LEAST_SAMPLES;
	for (size_t j = 0; j < g->n_after; j++) {
		bool paired = false;

		for (size_t i = 0; i < g->n_before; i++)
			paired |= a->to[i] == j;
		any |= !paired && g->after[j]->samples >= LEAST_SAMPLES;
	}
	return any;
}

static bool differ(const struct group *g, const struct alignment *a, const struct alignment *b)
{
	return memcmp(a->to, b->to, g->n_before * sizeof(*a->to)) != 0;
}

/* What has no pair, and a name that another one has after. */
static void part(struct name_rules *rules, const struct group *g, const struct item *gone)
{
	if (!find_label(g->after, g->n_after, gone))
		return;
	name_rules_part(rules, gone->label);
	for (size_t k = 0; k < gone->functions.n; k++)
		name_rules_part_function(rules, gone->functions.at[k]);
}

static void move(struct name_rules *rules, const struct item *from, const struct item *to)
{
	if (same_label(from, to) || fmax(from->samples, to->samples) < LEAST_SAMPLES)
		return;
	name_rules_move(rules, from->label, to->label);
	for (size_t k = 0; k < from->functions.n; k++)
		name_rules_move_function(rules, from->functions.at[k]);
}

/* anew: what both sides have by name may be two. */
static void take(struct name_rules *rules, const struct group *g, const struct alignment *a,
		 bool anew)
{
	for (size_t i = 0; i < g->n_before && rules->functions.n < MOST_FUNCTIONS; i++)
		if (a->to[i] != SIZE_MAX)
			move(rules, g->before[i], g->after[a->to[i]]);
		else if (anew)
			part(rules, g, g->before[i]);
}

static void doubt(struct name_rules *rules, const struct group *g)
{
	char *name = name_rules_unnumbered(g->before[0]->label);

	if (!name_rules_is_doubted(rules, g->before[0]->label))
		name_rules_doubt(rules, name);
	free(name);
}

/* Equal names stay together unless another way is clearly better. Where one is as good, nobody knows which is new, or gone. */
static void pair_group(struct name_rules *rules, const struct group *g)
{
	struct alignment best = align(g, NULL), rival = align(g, &best);
	bool anew = rival.worth > CLEARLY * best.worth;

	if (anew) {
		free(best.to);
		best = rival;
		rival = align(g, &best);
	}
	take(rules, g, &best, anew);
	if (rival.worth >= AS_WELL * best.worth && differ(g, &best, &rival) && leaves_any(g, &best))
		doubt(rules, g);
	free(best.to);
	free(rival.to);
}

/* Is there an item of one side's alone, and of each side one? */
static bool wants_pairs(const struct group *g)
{
	bool lone = g->n_before != g->n_after;

	for (size_t i = 0; i < g->n_before + g->n_after; i++)
		if ((i < g->n_before ? g->before[i] : g->after[i - g->n_before])->shared)
			return false;
	for (size_t i = 0; i < g->n_before && !lone; i++)
		lone = !same_label(g->before[i], g->after[i]);
	return lone && g->n_before && g->n_after && g->n_before * g->n_after <= MOST_ALIGNED;
}

static void pair_all(struct finding *f, struct name_rules *rules)
{
	struct item **at = xcalloc(f->items.n + 1, sizeof(struct item *));

	for (size_t i = 0; i < f->items.n; i++)
		at[i] = &f->items.at[i];
	for (size_t i = 0, n; i < f->items.n; i += n) {
		struct group g = { .before = &at[i] };

		for (n = 0; i + n < f->items.n && strcmp(at[i]->group, at[i + n]->group) == 0; n++)
			g.n_before += at[i + n]->side == SIDE_BEFORE;
		g.after = &at[i + g.n_before];
		g.n_after = n - g.n_before;
		if (wants_pairs(&g))
			pair_group(rules, &g);
	}
	free(at);
}

static void finding_done(struct finding *f)
{
	for (size_t i = 0; i < f->items.n; i++)
		item_done(&f->items.at[i]);
	vec_done(&f->items);
	free(f->of_key);
	free(f->share);
}

/* Has the group that begins there functions on both sides, and some on one of them alone? *n becomes how many items it has. */
static bool may_group(const struct finding *f, size_t begin, size_t *n)
{
	const struct item *at = &f->items.at[begin];
	bool has[N_SIDES] = { false }, lone = false;

	for (*n = 0; begin + *n < f->items.n && strcmp(at->group, at[*n].group) == 0; ++*n) {
		has[at[*n].side] = true;
		lone |= !at[*n].shared;
	}
	return has[SIDE_BEFORE] && has[SIDE_AFTER] && lone;
}

bool renumbered_may(const struct diff *d, const struct name_rules *rules)
{
	struct finding f = { .d = d, .names = rules };
	bool found = false;

	find_items(&f);
	for (size_t i = 0, n; i < f.items.n && !found; i += n)
		found = may_group(&f, i, &n);
	finding_done(&f);
	return found;
}

size_t renumbered_find(const struct diff *d, struct name_rules *rules)
{
	struct finding f = { .d = d, .names = rules };
	size_t n = rules->moved.n + rules->unclear.n;

	if (!d->analysis->tree || d->analysis->table_keys != &d->analysis->keys)
		return 0;
	find_items(&f);
	join_items(&f);
	find_keys(&f);
	find_shares(&f);
	pair_all(&f, rules);
	finding_done(&f);
	return rules->moved.n + rules->unclear.n - n;
}
