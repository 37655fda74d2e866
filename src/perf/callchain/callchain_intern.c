/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chains with reuse of what the chain before had in common.
 *
 * A frame's location may be reused when it has the same address, cpu mode and kind (return address or
 * not), and nothing was remapped in between: the epochs of the process and of the kernel say so.
 */
#include "config.h"

#include "perf/callchain/callchain_intern.h"

#include "base/hash.h"
#include "base/mem.h"
#include "perf/records/perf_tasks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define N_MEMORIES   64u /* threads whose last chain is kept; a power of two */
/* Addresses of which the location is kept. */
#define N_PLACES_LOG 15
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
	uint32_t user_epoch, kernel_epoch; /* mappings that it was located in */
	uint32_t age;                      /* of the code that the process generated */
	VEC(struct memory_part) parts;
	VEC(uint64_t) ips;       /* of all parts */
	VEC(uint32_t) locations; /* [ips.n] location_id of each */
};

/* The location of an address. */
struct place {
	uint64_t ip;
	uint32_t space;    /* mappings, cpu mode and kind, see space_of(); 0: empty */
	uint32_t location; /* location_id */
};

struct callchain_intern {
	struct profile *profile;
	struct resolver *resolver;
	struct perf_tasks *tasks;
	struct memory memories[N_MEMORIES];
	struct place places[N_PLACES];         /* by address */
	struct build_chain chain[BUILD_BATCH]; /* those that were added */
	uint32_t begin[BUILD_BATCH];           /* of each among locations */
	uint32_t n;                            /* of them */
	VEC(uint32_t) locations;               /* of all, root first */
};

/* How far the chain at hand is located. */
struct locating {
	const struct perf_chain_owner *owner;
	struct memory *memory;
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
static uint64_t space_of(const struct locating *at, enum cpu_mode mode, bool return_address)
{
	uint32_t epoch = is_user(mode) ? at->memory->user_epoch : at->memory->kernel_epoch;

	/* Generated code changes too often for it to pay to follow chains in it. */
	if (is_user(mode) && at->memory->age > 0)
		return UINT64_MAX;
	return ((uint64_t)epoch << 4 | (uint64_t)mode << 1 | return_address) + 1;
}

/* A place for an address: the high bits of a product depend on all bits below. */
static uint32_t place_of(uint64_t ip)
{
	return (uint32_t)((ip * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - N_PLACES_LOG));
}

static location_id locate(struct callchain_intern *c, const struct locating *at,
			  const struct perf_chain_part *part, uint64_t ip, bool return_address)
{
	uint64_t space = at->space[return_address];
	struct place *p = &c->places[place_of(ip)];
	location_id l;

	if (p->ip == ip && p->space == space)
		return (location_id){ p->location };
	l = resolver_locate(c->resolver, at->owner->pid, at->owner->time_ns, ip, part->mode,
			    return_address);
	if (space <= UINT32_MAX)
		*p = (struct place){ .ip = ip, .space = (uint32_t)space, .location = l.v };
	return l;
}

/* Frames of the part, from the root, that memory holds at this depth. */
static uint32_t count_same(const struct locating *at, const struct perf_chain_part *p,
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

/* Callers from frame i of the part on whose locations are kept: nearly all of them. Returns the first that is not. */
static uint32_t place_callers(const struct callchain_intern *c, struct locating *at,
			      const struct perf_chain_part *p, uint32_t i)
{
	uint64_t *ips = &at->memory->ips.at[at->depth], space = at->space[true];
	uint32_t *locations = &at->memory->locations.at[at->depth];
	const struct perf_words words = p->ips; /* a copy, which what is written below cannot be */
	uint32_t n_callers = words.n > 0 ? words.n - 1 : 0;

	for (; i < n_callers; i++) {
		uint64_t ip = perf_word(&words, n_callers - i);
		const struct place *place = &c->places[place_of(ip)];

		if (place->ip != ip || place->space != space)
			break;
		ips[i] = ip;
		locations[i] = place->location;
	}
	return i;
}

/* Locates the part's frames after the first n_same, which memory holds. */
static void locate_part(struct callchain_intern *c, struct locating *at,
			const struct perf_chain_part *p, uint32_t n_same)
{
	struct memory *m = at->memory;
	uint32_t n = part_length(p), end = at->depth + n;

	vec_reserve(&m->ips, end);
	vec_reserve(&m->locations, end);
	at->space[0] = space_of(at, p->mode, false);
	at->space[1] = space_of(at, p->mode, true);
	for (uint32_t i = place_callers(c, at, p, n_same); i < n;
	     i = place_callers(c, at, p, i + 1)) {
		uint64_t ip = part_ip(p, i);
		location_id l = p->is_mark ? (location_id){ (uint32_t)ip }
					   : locate(c, at, p, ip, i + 1 < n);

		m->ips.at[at->depth + i] = ip;
		m->locations.at[at->depth + i] = l.v;
	}
	at->depth = end;
}

static void forget(struct memory *m)
{
	vec_clear(&m->parts);
	vec_clear(&m->ips);
	vec_clear(&m->locations);
}

/* The thread's memory; empty when it is of another thread or mapping. */
static struct memory *recall(struct callchain_intern *c, const struct perf_chain_owner *o)
{
	struct memory *m = &c->memories[hash_u64((uint32_t)o->tid) & (N_MEMORIES - 1)];
	uint32_t user = perf_tasks_epoch(c->tasks, o->pid, o->time_ns);
	uint32_t kernel = perf_tasks_epoch(c->tasks, -1, o->time_ns);
	uint32_t age = resolver_age(c->resolver, o->pid, o->time_ns);

	if (m->tid != o->tid || m->user_epoch != user || m->kernel_epoch != kernel || m->age != age)
		forget(m);
	m->tid = o->tid;
	m->user_epoch = user;
	m->kernel_epoch = kernel;
	m->age = age;
	return m;
}

struct callchain_intern *callchain_intern_new(struct profile *p, struct resolver *r,
					      struct perf_tasks *t)
{
	struct callchain_intern *c = xcalloc(1, sizeof(*c));

	c->profile = p;
	c->resolver = r;
	c->tasks = t;
	return c;
}

void callchain_intern_free(struct callchain_intern *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < N_MEMORIES; i++) {
		vec_done(&c->memories[i].parts);
		vec_done(&c->memories[i].ips);
		vec_done(&c->memories[i].locations);
	}
	vec_done(&c->locations);
	free(c);
}

uint32_t callchain_intern_add(struct callchain_intern *c, const struct perf_chain_owner *o,
			      const struct perf_chain_part *parts, size_t n)
{
	struct memory *m = recall(c, o);
	struct locating at = { .owner = o, .memory = m, .same = true };
	size_t n_old = m->parts.n;

	assert(c->n < PERF_CHAINS_MOST);
	vec_reserve(&m->parts, n);
	for (size_t i = 0; i < n; i++) {
		const struct perf_chain_part *p = &parts[n - 1 - i];
		struct memory_part *old = &m->parts.at[i];
		uint32_t length = part_length(p);
		uint32_t n_same = at.same && i < n_old ? count_same(&at, p, old) : 0;

		at.same = at.same && i < n_old && n_same == length && n_same == old->n;
		locate_part(c, &at, p, n_same);
		*old = (struct memory_part){ .mode = p->mode, .is_mark = p->is_mark, .n = length };
	}
	m->parts.n = n;
	m->ips.n = m->locations.n = at.depth;
	vec_reserve(&c->locations, c->locations.n + at.depth);
	if (at.depth > 0)
		memcpy(c->locations.at + c->locations.n, m->locations.at,
		       at.depth * sizeof(*m->locations.at));
	c->begin[c->n] = (uint32_t)c->locations.n;
	c->chain[c->n] = (struct build_chain){ .stack = o->root, .n = at.depth };
	c->locations.n += at.depth;
	return c->n++;
}

location_id callchain_intern_location(const struct callchain_intern *c, uint32_t i, uint32_t depth)
{
	assert(i < c->n && depth < c->chain[i].n);
	return (location_id){ c->locations.at[c->begin[i] + depth] };
}

uint32_t callchain_intern_build(struct callchain_intern *c)
{
	uint32_t n = c->n;

	for (uint32_t i = 0; i < n; i++)
		c->chain[i].location = c->chain[i].n > 0 ? c->locations.at + c->begin[i] : NULL;
	build_chains(c->profile, c->chain, n);
	vec_clear(&c->locations);
	c->n = 0;
	return n;
}

stack_id callchain_intern_stack(const struct callchain_intern *c, uint32_t i)
{
	return c->chain[i].stack;
}
