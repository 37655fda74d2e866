/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chains with reuse of what the chain before had in common.
 *
 * A frame may be reused when the frames below it are the same, it has the same address, cpu mode and
 * kind (return address or not), and nothing was remapped in between: the epochs of the process and
 * of the kernel say so. Where chains differ, each stack remembers where the last one went from there.
 */
#include "config.h"

#include "perf_chains.h"

#include "hash.h"
#include "mem.h"
#include "perf_tasks.h"

#include <stdlib.h>
#include <string.h>

#define N_MEMORIES 64u        /* threads whose last chain is kept; a power of two */
#define N_FOLLOWED (1u << 20) /* stacks of which the child climbed last is kept */

/* A part of a remembered chain. */
struct memory_part {
	enum cpu_mode mode;
	bool is_mark;
	uint32_t n; /* frames */
};

/* The last chain of a thread, root first. */
struct memory {
	int32_t tid;
	uint32_t root;                     /* stack_id under which it stands */
	uint32_t user_epoch, kernel_epoch; /* mappings that it was located in */
	uint32_t age;                      /* of the code that the process generated */
	VEC(struct memory_part) parts;
	VEC(uint64_t) ips;    /* of all parts */
	VEC(uint32_t) stacks; /* [ips.n] stack_id after each frame */
};

/* Which way the last chain went from a stack: the next one mostly goes the same. */
struct followed {
	uint64_t ip;
	uint32_t space; /* mappings, cpu mode and kind, see space_of(); 0: empty */
	uint32_t child; /* stack_id */
};

struct perf_chains {
	struct profile *profile;
	struct resolver *resolver;
	struct perf_tasks *tasks;
	struct memory memories[N_MEMORIES];
	VEC(struct followed) followed; /* by stack_id of the parent; n is what is filled in */
};

/* Where the chain is being built. */
struct climb {
	const struct perf_chain_owner *owner;
	struct memory *memory;
	uint32_t stack; /* stack_id so far */
	uint32_t depth; /* frames so far */
	bool same;      /* everything so far was in memory */
};

static uint32_t part_length(const struct perf_chain_part *p)
{
	return p->ips.n > 0 ? p->ips.n : 1;
}

/* i from the root side. */
static uint64_t part_ip(const struct perf_chain_part *p, uint32_t i)
{
	return p->ips.n > 0 ? perf_word(&p->ips, p->ips.n - 1 - i) : p->ip;
}

static bool is_user(enum cpu_mode mode)
{
	return mode == MODE_USER || mode == MODE_GUEST_USER;
}

/* Tells apart what one address may mean: mappings, cpu mode, return address or not. Never 0. */
static uint64_t space_of(const struct climb *at, enum cpu_mode mode, bool return_address)
{
	uint32_t epoch = is_user(mode) ? at->memory->user_epoch : at->memory->kernel_epoch;

	/* Generated code changes too often for it to pay to follow chains in it. */
	if (is_user(mode) && at->memory->age > 0)
		return UINT64_MAX;
	return ((uint64_t)epoch << 4 | (uint64_t)mode << 1 | return_address) + 1;
}

/* Where the last chain went from a stack; NULL for stacks that are not followed. */
static struct followed *followed_from(struct perf_chains *c, uint32_t stack)
{
	if (stack >= N_FOLLOWED)
		return NULL;
	if (stack >= c->followed.n) {
		size_t n = c->followed.n;

		vec_reserve(&c->followed, stack + 1);
		memset(&c->followed.at[n], 0, (c->followed.cap - n) * sizeof(*c->followed.at));
		c->followed.n = c->followed.cap;
	}
	return &c->followed.at[stack];
}

/* The child of a stack at an address. */
static uint32_t step(struct perf_chains *c, const struct climb *at, enum cpu_mode mode, uint64_t ip,
		     bool return_address)
{
	uint64_t space = space_of(at, mode, return_address);
	struct followed *f = space <= UINT32_MAX ? followed_from(c, at->stack) : NULL;
	uint32_t child;

	if (f && f->ip == ip && f->space == space)
		return f->child;
	child = build_stack(c->profile, (stack_id){ at->stack },
			    resolver_locate(c->resolver, at->owner->pid, at->owner->time_ns, ip,
					    mode, return_address))
			.v;
	if (f)
		*f = (struct followed){ .ip = ip, .space = (uint32_t)space, .child = child };
	return child;
}

/* Frames of the part, from the root, that memory holds at this depth. */
static uint32_t count_same(const struct climb *at, const struct perf_chain_part *p,
			   const struct memory_part *old)
{
	const uint64_t *ips = &at->memory->ips.at[at->depth];
	uint32_t n = part_length(p), n_both = n < old->n ? n : old->n, i = 0;

	if (p->mode != old->mode || p->is_mark != old->is_mark)
		return 0;
	while (i < n_both && part_ip(p, i) == ips[i])
		i++;
	/* The leaf of one and a caller in the other: not the same kind of address. */
	if (i == n_both && i > 0 && n != old->n)
		i--;
	return i;
}

/* Adds the part's frames after the first n_same, which memory holds. */
static void climb_part(struct perf_chains *c, struct climb *at, const struct perf_chain_part *p,
		       uint32_t n_same)
{
	struct memory *m = at->memory;
	uint32_t n = part_length(p), end = at->depth + n;

	if (n_same > 0)
		at->stack = m->stacks.at[at->depth + n_same - 1];
	vec_reserve(&m->ips, end);
	vec_reserve(&m->stacks, end);
	for (uint32_t i = n_same; i < n; i++) {
		uint64_t ip = part_ip(p, i);

		at->stack = p->is_mark ? build_stack(c->profile, (stack_id){ at->stack },
						     (location_id){ (uint32_t)ip })
						 .v
				       : step(c, at, p->mode, ip, i + 1 < n);
		m->ips.at[at->depth + i] = ip;
		m->stacks.at[at->depth + i] = at->stack;
	}
	at->depth = end;
}

static void forget(struct memory *m)
{
	vec_clear(&m->parts);
	vec_clear(&m->ips);
	vec_clear(&m->stacks);
}

/* The thread's memory; empty when it is of another thread, name or mapping. */
static struct memory *recall(struct perf_chains *c, const struct perf_chain_owner *o)
{
	struct memory *m = &c->memories[hash_u64((uint32_t)o->tid) & (N_MEMORIES - 1)];
	uint32_t user = perf_tasks_epoch(c->tasks, o->pid, o->time_ns);
	uint32_t kernel = perf_tasks_epoch(c->tasks, -1, o->time_ns);
	uint32_t age = resolver_age(c->resolver, o->pid, o->time_ns);

	if (m->tid != o->tid || m->root != o->root.v || m->user_epoch != user ||
	    m->kernel_epoch != kernel || m->age != age)
		forget(m);
	m->tid = o->tid;
	m->root = o->root.v;
	m->user_epoch = user;
	m->kernel_epoch = kernel;
	m->age = age;
	return m;
}

struct perf_chains *perf_chains_new(struct profile *p, struct resolver *r, struct perf_tasks *t)
{
	struct perf_chains *c = xcalloc(1, sizeof(*c));

	c->profile = p;
	c->resolver = r;
	c->tasks = t;
	return c;
}

void perf_chains_free(struct perf_chains *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < N_MEMORIES; i++) {
		vec_done(&c->memories[i].parts);
		vec_done(&c->memories[i].ips);
		vec_done(&c->memories[i].stacks);
	}
	vec_done(&c->followed);
	free(c);
}

stack_id perf_chains_stack(struct perf_chains *c, const struct perf_chain_owner *o,
			   const struct perf_chain_part *parts, size_t n)
{
	struct memory *m = recall(c, o);
	struct climb at = { .owner = o, .memory = m, .stack = o->root.v, .same = true };
	size_t n_old = m->parts.n;

	vec_reserve(&m->parts, n);
	for (size_t i = 0; i < n; i++) {
		const struct perf_chain_part *p = &parts[n - 1 - i];
		struct memory_part *old = &m->parts.at[i];
		uint32_t length = part_length(p);
		uint32_t n_same = at.same && i < n_old ? count_same(&at, p, old) : 0;

		at.same = at.same && i < n_old && n_same == length && n_same == old->n;
		climb_part(c, &at, p, n_same);
		*old = (struct memory_part){ .mode = p->mode, .is_mark = p->is_mark, .n = length };
	}
	m->parts.n = n;
	m->ips.n = m->stacks.n = at.depth;
	return (stack_id){ at.stack };
}
