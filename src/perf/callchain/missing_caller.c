/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A count by module of the leaf; the stacks themselves stay as they were recorded. */
#include "config.h"

#include "perf/callchain/missing_caller.h"

#include "base/compare.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "perf/callchain/perf_regs.h"
#include "symbols/resolver.h"
#include "unwind/cfi_rule.h"

#include <stdlib.h>
#include <string.h>

#define FACT_MODULES 8 /* at most so many modules are named */

/* What is said of a leaf. */
enum {
	LEAF_NO_RULE, /* nothing */
	LEAF_32,      /* it is in a 32-bit program, whose rules are not read */
	LEAF_GOOD,    /* its caller is in the chain */
	LEAF_SKIPS,   /* it is not; from here on, the index of its module is added */
};

struct leaf_module {
	uint32_t module; /* module_id */
	uint64_t n;      /* chains without the caller of a function in it */
};

struct missing_caller {
	struct profile *profile;
	struct resolver *resolver;
	enum unwind_arch arch;
	bool supported;     /* rules of the machine are known */
	uint64_t n_looked;  /* chains with a rule for their leaf */
	uint64_t n_skipped; /* of these, the ones without the leaf's caller */
	uint64_t n_32;      /* chains of 32-bit programs */
	VEC(struct leaf_module) modules;
	VEC(uint32_t)
	by_location; /* what was said of leaves in files that have a rule, LEAF_…; 0: nothing */
};

struct missing_caller *missing_caller_new(struct profile *p, struct resolver *r,
					  const char *machine)
{
	struct missing_caller *l = xcalloc(1, sizeof(*l));

	l->profile = p;
	l->resolver = r;
	l->supported = perf_regs_arch(machine, &l->arch);
	return l;
}

void missing_caller_free(struct missing_caller *l)
{
	if (!l)
		return;
	vec_done(&l->modules);
	vec_done(&l->by_location);
	free(l);
}

/*
 * On x86 a frame is in the chain once its CFA is found by rbp; by rsp, rbp is still the caller's. AArch64
 * keeps the return address in a register until the frame is made.
 */
static bool skips_caller(const struct missing_caller *l, const struct cfi_rule *rule)
{
	if (rule->ra_kind == SLOT_UNDEFINED || rule->signal)
		return false;
	if (l->arch == UNWIND_AARCH64)
		return rule->ra_kind == SLOT_SAME;
	return rule->cfa_kind == CFA_SP || rule->cfa_kind == CFA_PLT;
}

/* The index of a module among those of leaves. */
static uint32_t find_module(struct missing_caller *l, uint32_t module)
{
	uint32_t i = 0;

	while (i < l->modules.n && l->modules.at[i].module != module)
		i++;
	if (i == l->modules.n)
		vec_push(&l->modules, ((struct leaf_module){ module, 0 }));
	return i;
}

/*
 * Is a chain of a 32-bit program? Its leaf is in a file of one, or in the vdso, by which it enters the kernel; then its
 * caller is.
 */
static bool is_32(struct missing_caller *l, int32_t pid, int64_t time_ns,
		  const struct perf_words *ips)
{
	for (uint32_t i = 0; i < ips->n && i < 2; i++) {
		uint64_t ip = perf_word(ips, i);

		if (ip > UINT32_MAX)
			return false;
		if (resolver_is_32(l->resolver, pid, time_ns, l->arch, ip))
			return true;
	}
	return false;
}

/* What is said of a leaf by the tables of its file. */
static uint32_t look_up(struct missing_caller *l, int32_t pid, int64_t time_ns,
			const struct perf_words *ips, location_id at)
{
	uint64_t ip = perf_word(ips, 0);
	struct location_columns locations;
	struct cfi_rule rule;

	if (!resolver_rule(l->resolver, pid, time_ns, l->arch, ip, &rule))
		return is_32(l, pid, time_ns, ips) ? LEAF_32 : LEAF_NO_RULE;
	if (!skips_caller(l, &rule))
		return LEAF_GOOD;
	if (at.v == ID_NONE)
		at = resolver_locate(l->resolver, pid, time_ns, ip, MODE_USER, false);
	profile_locations(l->profile, &locations);
	return LEAF_SKIPS + find_module(l, locations.module[at.v]);
}

/* Is a location, which has a rule, good for that rule? Not where code is generated, and another one later. */
static bool keeps_its_rule(const struct missing_caller *l, int32_t pid, int64_t time_ns,
			   location_id at)
{
	struct location_columns locations;

	profile_locations(l->profile, &locations);
	return resolver_age(l->resolver, pid, time_ns) == 0 &&
	       profile_module(l->profile, (module_id){ locations.module[at.v] })->family !=
		       FAMILY_JIT;
}

static uint32_t say(struct missing_caller *l, int32_t pid, int64_t time_ns,
		    const struct perf_words *ips, location_id at)
{
	uint32_t leaf;

	if (at.v < l->by_location.n && l->by_location.at[at.v] != LEAF_NO_RULE)
		return l->by_location.at[at.v];
	leaf = look_up(l, pid, time_ns, ips, at);
	if (at.v == ID_NONE || leaf < LEAF_GOOD || !keeps_its_rule(l, pid, time_ns, at))
		return leaf;
	while (l->by_location.n <= at.v)
		vec_push(&l->by_location, LEAF_NO_RULE);
	l->by_location.at[at.v] = leaf;
	return leaf;
}

uint32_t missing_caller_note(struct missing_caller *l, int32_t pid, int64_t time_ns,
			     const struct perf_chain_part *user, location_id at)
{
	uint32_t leaf = LEAF_NO_RULE;

	if (l->supported && user->ips.n > 0)
		leaf = say(l, pid, time_ns, &user->ips, at);
	missing_caller_again(l, leaf);
	return leaf;
}

void missing_caller_again(struct missing_caller *l, uint32_t leaf)
{
	l->n_32 += leaf == LEAF_32;
	l->n_looked += leaf >= LEAF_GOOD;
	if (leaf < LEAF_SKIPS)
		return;
	l->n_skipped++;
	l->modules.at[leaf - LEAF_SKIPS].n++;
}

static int by_n(const void *a, const void *b)
{
	const struct leaf_module *x = a, *y = b;

	return COMPARE(y->n, x->n) ?: COMPARE(x->module, y->module);
}

void missing_caller_facts(const struct missing_caller *l, capture_id c)
{
	VEC(struct leaf_module) modules = { 0 };
	char percent[FMT_SIZE], count[FMT_COUNTED_SIZE];

	if (l->n_32 > 0)
		build_fact(l->profile, c, "stacks", "32-bit", FACT_PLAIN, "%s of 32-bit programs",
			   fmt_counted(count, (int64_t)l->n_32, "callchain"));
	if (l->n_skipped == 0)
		return;
	build_fact(
		l->profile, c, "stacks", "caller left out", FACT_MISSING,
		"%s %% of user callchains lack the caller of their innermost function, which had "
		"no frame pointer of its own there: build with -fno-omit-frame-pointer "
		"-mno-omit-leaf-frame-pointer, or record stacks by unwind tables "
		"(perf record --call-graph dwarf, proftop record)",
		fmt_percent(percent, (int64_t)l->n_skipped, (int64_t)l->n_looked));
	for (size_t i = 0; i < l->modules.n; i++)
		vec_push(&modules, l->modules.at[i]);
	if (modules.n > 0)
		qsort(modules.at, modules.n, sizeof(*modules.at), by_n);
	for (size_t i = 0; i < modules.n && i < FACT_MODULES; i++) {
		const struct module *m = profile_module(l->profile,
							(module_id){ modules.at[i].module });
		char n[FMT_SIZE];

		build_fact(l->profile, c, "stacks", profile_string(l->profile, m->name, NULL),
			   FACT_MISSING, "%s callchains lack the caller of a function in it",
			   fmt_count(n, (int64_t)modules.at[i].n));
	}
	vec_done(&modules);
}
