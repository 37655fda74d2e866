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

#define N_MEMORIES   64u        /* threads whose last chain is kept; a power of two */
#define N_FOLLOWED   (1u << 22) /* stacks of which the child climbed last is kept */
/* Addresses of which the location is kept. */
#define N_PLACES_LOG 13
#define N_PLACES     (1u << N_PLACES_LOG)

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

/* The location of an address. */
struct place {
	uint64_t ip;
	uint32_t space;    /* mappings, cpu mode and kind, see space_of(); 0: empty */
	uint32_t location; /* location_id */
};

struct perf_chains {
	struct profile *profile;
	struct resolver *resolver;
	struct perf_tasks *tasks;
	struct memory memories[N_MEMORIES];
	struct stack_columns stacks;   /* of the profile, whose writer we are */
	struct place places[N_PLACES]; /* by address */
	VEC(uint32_t)
	followed; /* by stack_id: the child climbed last, or 0; n is what is filled in */
};

/* Where the chain is being built. */
struct climb {
	const struct perf_chain_owner *owner;
	struct memory *memory;
	uint32_t stack; /* stack_id so far */
	uint32_t depth; /* frames so far */
	bool same;      /* everything so far was in memory */
	uint64_t space
		[2]; /* of the part's addresses, see space_of(): exact ones, return addresses */
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

/* A place for an address: the high bits of a product depend on all bits below. */
static struct place *place_of(struct perf_chains *c, uint64_t ip)
{
	return &c->places[(ip * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - N_PLACES_LOG)];
}

static location_id locate(struct perf_chains *c, const struct climb *at,
			  const struct perf_chain_part *part, uint64_t ip, bool return_address)
{
	uint64_t space = at->space[return_address];
	struct place *p = place_of(c, ip);
	location_id l;

	if (p->ip == ip && p->space == space)
		return (location_id){ p->location };
	l = resolver_locate(c->resolver, at->owner->pid, at->owner->time_ns, ip, part->mode,
			    return_address);
	if (space <= UINT32_MAX)
		*p = (struct place){ .ip = ip, .space = (uint32_t)space, .location = l.v };
	return l;
}

/* Where the last chain went from a stack; NULL for stacks that are not followed. */
static uint32_t *followed_from(struct perf_chains *c, uint32_t stack)
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

/*
 * The child of a stack at a location. What was followed lies side by side for a chain whose stacks came into being
 * together: climbing it once more touches few lines of memory.
 */
static uint32_t step(struct perf_chains *c, uint32_t stack, location_id l)
{
	uint32_t *f = followed_from(c, stack), child;

	if (f && *f != 0 && c->stacks.location[*f] == l.v)
		return *f;
	child = build_stack(c->profile, (stack_id){ stack }, l).v;
	if (f)
		*f = child;
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

/*
 * Climbs callers from frame i of the part on, for as long as they were climbed before: nearly all of them. Returns
 * the first frame that takes more.
 */
static uint32_t follow(struct perf_chains *c, struct climb *at, const struct perf_chain_part *p,
		       uint32_t i)
{
	const uint32_t *location = c->stacks.location, *followed = c->followed.at;
	uint64_t *ips = &at->memory->ips.at[at->depth], space = at->space[true];
	uint32_t *stacks = &at->memory->stacks.at[at->depth];
	const struct perf_words words = p->ips; /* a copy, which what is written below cannot be */
	uint32_t n_callers = words.n > 0 ? words.n - 1 : 0, stack = at->stack;
	size_t n_followed = c->followed.n;

	for (; i < n_callers && stack < n_followed; i++) {
		uint64_t ip = perf_word(&words, n_callers - i);
		const struct place *place = place_of(c, ip);
		uint32_t child = followed[stack];

		if (place->ip != ip || place->space != space || child == 0 ||
		    location[child] != place->location)
			break;
		ips[i] = ip;
		stacks[i] = stack = child;
	}
	at->stack = stack;
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
	at->space[0] = space_of(at, p->mode, false);
	at->space[1] = space_of(at, p->mode, true);
	for (uint32_t i = n_same; i < n; i++) {
		location_id l;
		uint64_t ip;

		i = follow(c, at, p, i);
		ip = part_ip(p, i);
		l = p->is_mark ? (location_id){ (uint32_t)ip } : locate(c, at, p, ip, i + 1 < n);
		at->stack = step(c, at->stack, l);
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
	profile_stacks(p, &c->stacks);
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
