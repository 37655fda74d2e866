/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/module_pairs.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "query/core/name_rules.h"
#include "query/diff/diff.h"

/* Functions of the same names have so much of the weight of either module. */
#define LEAST_SHARED 0.5

/* Names of threads are cut to so many bytes. */
#define COMM_BYTES 15

/* A module that one side has. */
struct lone {
	const char *name; /* of the analysis' keys */
	enum side side;
};

/* A candidate. */
struct pair {
	const struct lone *before, *after;
	double shared; /* of the weight of either, the smaller share */
};

static bool is_mark(char c)
{
	return c == '-' || c == '_' || c == '.';
}

/* Past a version that begins at s: "2", "-1.10.3", "_v2", ".1"; s: there is none. */
static const char *skip_version(const char *s)
{
	const char *at = s + is_mark(*s);

	at += at > s && *at == 'v';
	if (!isdigit((unsigned char)*at))
		return s;
	while (isdigit((unsigned char)*at) || (is_mark(*at) && isdigit((unsigned char)at[1])))
		at++;
	return at;
}

bool module_pairs_alike(const char *a, const char *b)
{
	while (*a || *b) {
		const char *p = skip_version(a), *q = skip_version(b);

		if (p != a || q != b) {
			a = p;
			b = q;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return true;
}

/* Are rows of this key functions that a program may have twice? What every program has says nothing. */
static bool tells(const struct key *k)
{
	return *k->module && !(k->flags & (FUNCTION_COMM | FUNCTION_MARK | FUNCTION_UNRESOLVED)) &&
	       strcmp(k->label, "main") != 0 && strcmp(k->label, "_start") != 0;
}

static const struct key *key_of(const struct diff *d, uint32_t row)
{
	return &d->analysis->table_keys->key[d->analysis->table.key[row]];
}

static double weight_of(const struct diff *d, uint32_t row, enum side side)
{
	const struct noise_delta *t = &d->row_total[row];

	return side == SIDE_BEFORE ? t->before : t->after;
}

/* All modules of the rows, and whether each side has them. */
struct modules {
	VEC(const char *) name;
	VEC(bool) has[N_SIDES];
	struct map by_name;
};

static bool same_name(const void *modules, uint32_t value, const void *name)
{
	return strcmp(((const struct modules *)modules)->name.at[value], name) == 0;
}

static void note_module(struct modules *m, const struct diff *d, uint32_t row)
{
	const char *name = key_of(d, row)->module;
	uint64_t hash = hash_bytes(name, strlen(name));
	uint32_t i = map_find(&m->by_name, hash, same_name, m, name);

	if (i == MAP_NONE) {
		i = (uint32_t)m->name.n;
		map_add(&m->by_name, hash, i);
		vec_push(&m->name, name);
		vec_push(&m->has[SIDE_BEFORE], false);
		vec_push(&m->has[SIDE_AFTER], false);
	}
	for (int side = 0; side < N_SIDES; side++)
		m->has[side].at[i] |= weight_of(d, row, (enum side)side) > 0;
}

/* The modules of one side; [*n], the caller frees. */
static struct lone *find_lone(const struct diff *d, size_t *n)
{
	struct modules m = { 0 };
	VEC(struct lone) lone = { 0 };

	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++)
		if (*key_of(d, i)->module)
			note_module(&m, d, i);
	for (size_t i = 0; i < m.name.n; i++)
		if (m.has[SIDE_BEFORE].at[i] != m.has[SIDE_AFTER].at[i])
			vec_push(&lone, ((struct lone){ m.name.at[i], m.has[SIDE_BEFORE].at[i]
									      ? SIDE_BEFORE
									      : SIDE_AFTER }));
	vec_done(&m.name);
	vec_done(&m.has[SIDE_BEFORE]);
	vec_done(&m.has[SIDE_AFTER]);
	map_done(&m.by_name);
	*n = lone.n;
	return lone.at;
}

/* What modules are called that are named by processes, without these. */
static const struct {
	const char *begin, *end, *name;
} generated[] = {
	{ "perf-", ".map", "perf-PID.map" },
	{ "jit-", ".dump", "jit-PID.dump" },
	{ "jitted-", ".so", "jitted-PID-N.so" },
};
#define N_GENERATED (sizeof(generated) / sizeof(*generated))

static bool is_generated(const char *module, size_t i)
{
	size_t begin = strlen(generated[i].begin), digits;

	if (strncmp(module, generated[i].begin, begin) != 0)
		return false;
	digits = strspn(module + begin, "0123456789-");
	return digits > 0 && strcmp(module + begin + digits, generated[i].end) == 0;
}

bool module_pairs_is_generated(const char *name)
{
	for (size_t i = 0; i < N_GENERATED; i++)
		if (strcmp(name, generated[i].name) == 0)
			return true;
	return false;
}

/* Takes those of both sides that are named by their processes for one; returns how many there are. */
static size_t pair_generated(const struct lone *lone, size_t n, size_t i, struct name_rules *rules)
{
	size_t n_of[N_SIDES] = { 0 };

	for (size_t k = 0; k < n; k++)
		n_of[lone[k].side] += is_generated(lone[k].name, i);
	if (n_of[SIDE_BEFORE] == 0 || n_of[SIDE_AFTER] == 0)
		return 0;
	for (size_t k = 0; k < n; k++)
		if (is_generated(lone[k].name, i))
			name_rules_pair(rules, lone[k].name, generated[i].name);
	return n_of[SIDE_BEFORE] + n_of[SIDE_AFTER];
}

/* Is it what some process runs, going by that one's name? */
static bool is_run(const struct analysis *a, const char *module)
{
	for (uint32_t i = 0; i < a->counts.n_processes; i++) {
		const struct process *p = profile_process(a->profile, (process_id){ i });
		const char *comm = profile_string(a->profile, process_name(p), NULL);

		if (*comm && strncmp(comm, module, COMM_BYTES) == 0)
			return true;
	}
	return false;
}

/* Rows of one module by their labels. */
struct labels {
	const struct diff *diff;
	struct map rows;
};

static bool same_label(const void *labels, uint32_t row, const void *label)
{
	return strcmp(key_of(((const struct labels *)labels)->diff, row)->label, label) == 0;
}

static bool is_of(const struct diff *d, uint32_t row, const struct lone *m)
{
	const struct key *k = key_of(d, row);

	return tells(k) && strcmp(k->module, m->name) == 0;
}

/* The share of a's weight that is in functions which b has by name, too. */
static double share_in(const struct diff *d, const struct lone *a, const struct lone *b)
{
	struct labels of_b = { .diff = d };
	double all = 0, shared = 0;

	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++)
		if (is_of(d, i, b))
			map_add(&of_b.rows,
				hash_bytes(key_of(d, i)->label, strlen(key_of(d, i)->label)), i);
	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++) {
		const char *label = key_of(d, i)->label;

		if (!is_of(d, i, a))
			continue;
		all += weight_of(d, i, a->side);
		if (map_find(&of_b.rows, hash_bytes(label, strlen(label)), same_label, &of_b,
			     label) != MAP_NONE)
			shared += weight_of(d, i, a->side);
	}
	map_done(&of_b.rows);
	return all > 0 ? shared / all : 0;
}

/* Is there another pair with one of these modules that is as good? */
static bool has_rival(const struct pair *pairs, size_t n, const struct pair *p)
{
	for (size_t i = 0; i < n; i++)
		if (&pairs[i] != p &&
		    (pairs[i].before == p->before || pairs[i].after == p->after) &&
		    pairs[i].shared >= p->shared)
			return true;
	return false;
}

static struct pair judge(const struct diff *d, const struct lone *before, const struct lone *after)
{
	struct pair p = { before, after, 0 };
	double other;

	for (size_t i = 0; i < N_GENERATED; i++)
		if (is_generated(before->name, i) || is_generated(after->name, i))
			return p;
	if (!module_pairs_alike(before->name, after->name) &&
	    !(is_run(d->analysis, before->name) && is_run(d->analysis, after->name)))
		return p;
	p.shared = share_in(d, before, after);
	other = share_in(d, after, before);
	p.shared = other < p.shared ? other : p.shared;
	return p;
}

size_t module_pairs_find(const struct diff *d, struct name_rules *rules)
{
	VEC(struct pair) pairs = { 0 };
	size_t n_lone, n = 0;
	struct lone *lone = find_lone(d, &n_lone);

	for (size_t i = 0; i < N_GENERATED; i++)
		n += pair_generated(lone, n_lone, i, rules);
	for (size_t i = 0; i < n_lone; i++)
		for (size_t k = 0; k < n_lone && lone[i].side == SIDE_BEFORE; k++) {
			struct pair p = { 0 };

			if (lone[k].side == SIDE_AFTER)
				p = judge(d, &lone[i], &lone[k]);
			if (p.shared >= LEAST_SHARED)
				vec_push(&pairs, p);
		}
	for (size_t i = 0; i < pairs.n; i++) {
		const struct pair *p = &pairs.at[i];

		if (has_rival(pairs.at, pairs.n, p))
			continue;
		name_rules_pair(rules, p->before->name, p->after->name);
		n++;
	}
	vec_done(&pairs);
	free(lone);
	return n;
}
