/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A chain is cut at its marks into parts of one cpu mode each; its user part gives way to what says
 * more: the cpu's own calls, or the copied stack where the chain has none.
 */
#include "config.h"

#include "perf/callchain/callchain.h"

#include "base/mem.h"
#include "perf/callchain/frame_marks.h"
#include "perf/callchain/missing_caller.h"
#include "perf/callchain/perf_branches.h"
#include "perf/callchain/perf_deferred.h"
#include "perf/callchain/user_stacks.h"
#include "unwind/walk.h"

#include <stdlib.h>

struct callchain {
	struct user_stacks *stacks;
	struct missing_caller *leaves;
	struct perf_deferred *deferred;
	struct frame_marks marks;
	VEC(struct perf_chain_part) parts; /* of the sample at hand */
	VEC(uint64_t) ips;                 /* of its user part, where that is made here */
	struct callchain_stats *stats;
	bool has_chain;        /* there are frames in that sample's recorded chain */
	bool has_leaf;         /* its user part, which is the last one, has a leaf of interest */
	size_t user;           /* which part that is, valid when has_leaf */
	uint32_t branch_depth; /* calls that the cpu keeps; 0: not recorded */
};

static enum cpu_mode mode_of_cpumode(uint32_t cpumode, uint64_t ip)
{
	switch (cpumode & PERF_MISC_CPUMODE) {
	case PERF_CPU_KERNEL:
		return MODE_KERNEL;
	case PERF_CPU_USER:
		return MODE_USER;
	case PERF_CPU_HYPERVISOR:
		return MODE_HYPERVISOR;
	case PERF_CPU_GUEST_KERNEL:
		return MODE_GUEST_KERNEL;
	case PERF_CPU_GUEST_USER:
		return MODE_GUEST_USER;
	default:
		/* 64-bit kernels live in the upper half. */
		return ip >> 63 ? MODE_KERNEL : MODE_USER;
	}
}

static enum cpu_mode mode_of_mark(uint64_t mark, enum cpu_mode before)
{
	switch (mark) {
	case PERF_CTX_HV:
		return MODE_HYPERVISOR;
	case PERF_CTX_KERNEL:
		return MODE_KERNEL;
	case PERF_CTX_USER:
	case PERF_CTX_USER_DEFERRED:
		return MODE_USER;
	case PERF_CTX_GUEST_KERNEL:
		return MODE_GUEST_KERNEL;
	case PERF_CTX_GUEST:
	case PERF_CTX_GUEST_USER:
		return MODE_GUEST_USER;
	default:
		return before;
	}
}

static void add_part(struct callchain *x, enum cpu_mode mode, const struct perf_words *ips,
		     uint32_t from, uint32_t to)
{
	struct perf_chain_part p = { .mode = mode, .ips = *ips };

	if (from >= to)
		return;
	p.ips.at += (size_t)from * sizeof(uint64_t);
	p.ips.n = to - from;
	vec_push(&x->parts, p);
}

/* The first mark from word i on, or the chain's length. There are few, so four words are looked at at once. */
static uint32_t next_mark(const struct perf_words *chain, uint32_t i)
{
	for (; i + 4 <= chain->n; i += 4) {
		bool any = perf_word(chain, i) >= PERF_CTX_MAX;

		any |= perf_word(chain, i + 1) >= PERF_CTX_MAX;
		any |= perf_word(chain, i + 2) >= PERF_CTX_MAX;
		any |= perf_word(chain, i + 3) >= PERF_CTX_MAX;
		if (any)
			break;
	}
	while (i < chain->n && perf_word(chain, i) < PERF_CTX_MAX)
		i++;
	return i;
}

/* Splits a recorded chain at its marks. */
static void split_chain(struct callchain *x, const struct perf_words *chain, enum cpu_mode mode)
{
	uint32_t from = 0;

	for (uint32_t i = next_mark(chain, 0); i < chain->n; i = next_mark(chain, i + 1)) {
		uint64_t ip = perf_word(chain, i);

		add_part(x, mode, chain, from, i);
		mode = mode_of_mark(ip, mode);
		from = i + 1;
	}
	add_part(x, mode, chain, from, chain->n);
}

/* The user part that was taken later, by the cookie at the chain's end. */
static void add_deferred(struct callchain *x, int32_t tid, uint64_t cookie)
{
	struct perf_words user;

	x->stats->n_deferred++;
	if (perf_deferred_find(x->deferred, tid, cookie, &user)) {
		split_chain(x, &user, MODE_USER);
		return;
	}
	x->stats->n_deferred_lost++;
	vec_push(&x->parts, frame_marks_part(&x->marks, PERF_MARK_DEFERRED));
}

static void use_chain(struct callchain *x, const struct perf_sample *s, enum cpu_mode mode)
{
	struct perf_words chain = s->chain;
	uint32_t n = chain.n;

	if (callchain_is_deferred(&chain)) {
		chain.n = n - 2;
		split_chain(x, &chain, mode);
		add_deferred(x, s->tid, perf_word(&s->chain, n - 1));
	} else {
		split_chain(x, &chain, mode);
	}
}

static void add_address(struct callchain *x, enum cpu_mode mode, uint64_t ip)
{
	struct perf_chain_part p = { .mode = mode, .ip = ip };

	vec_push(&x->parts, p);
}

static bool ends_in_user_mode(const struct callchain *x)
{
	const struct perf_chain_part *last = x->parts.n ? &x->parts.at[x->parts.n - 1] : NULL;

	return last && last->mode == MODE_USER && !last->is_mark;
}

/*
 * The calls that the cpu kept in place of the chain's user part, which mostly is no more than the leaf.
 * Without one there are none: the sample is of a kernel thread.
 */
static void use_branches(struct callchain *x, const struct perf_sample *s, enum cpu_mode mode)
{
	struct perf_words chain = { .n = 0 };
	struct branch_stack made;
	uint64_t leaf = s->ip;

	if (ends_in_user_mode(x)) {
		chain = x->parts.at[--x->parts.n].ips;
		leaf = perf_word(&chain, 0);
	} else if (mode != MODE_USER || x->parts.n > 0) {
		return;
	}
	vec_reserve(&x->ips, 1 + (size_t)s->branches.n + chain.n);
	made = perf_branches_stack(&s->branches, &chain, x->branch_depth, leaf, x->ips.at);
	vec_push(&x->parts,
		 ((struct perf_chain_part){
			 .mode = MODE_USER,
			 .ips = { .at = (const uint8_t *)x->ips.at, .n = (uint32_t)made.n },
		 }));
	if (made.is_cut)
		vec_push(&x->parts, frame_marks_part(&x->marks, PERF_MARK_TRUNCATED));
	x->stats->n_branches++;
	x->stats->n_branches_cut += made.is_cut;
}

static bool has_calls(const struct perf_attr *a, const struct perf_sample *s)
{
	return s->branches.n > 0 && a->branch_sample_type & PERF_BR_CALL_STACK;
}

/*
 * Was the stack copied? Of one that could not be read nothing was, and it ends with its leaf. In the kernel the leaf may be
 * that of a program which is no more, as while another takes its place.
 */
static bool has_copy(const struct perf_attr *a, const struct perf_sample *s, enum cpu_mode mode)
{
	if (s->stack_filled > 0)
		return true;
	return mode == MODE_USER && a->sample_type & PERF_S_STACK_USER && s->regs_user.abi != 0;
}

/* What the copied stack gives, behind the kernel's part. */
static void use_copy(struct callchain *x, const struct perf_attr *a, const struct perf_sample *s,
		     enum cpu_mode mode, int64_t time_ns)
{
	const struct perf_chain_part *user;
	size_t n_user;

	x->stats->n_user_stacks++;
	user = user_stacks_unwind(x->stacks, s, time_ns, &n_user);
	/* In user mode the walk begins with the leaf itself. */
	if (x->parts.n == 0 && a->sample_type & PERF_S_IP && (mode != MODE_USER || n_user == 0))
		add_address(x, mode, s->ip);
	for (size_t i = 0; i < n_user; i++)
		vec_push(&x->parts, user[i]);
}

/* Were the samples' chains made of copied stacks when they were recorded? */
static bool are_made(const struct perf_attr *a)
{
	return a->sample_stack_user > 0 && !(a->sample_type & PERF_S_STACK_USER);
}

/* How a chain that was made so ended; what stands for that in its user part, of an older recorder, is taken off. */
static uint64_t take_end(uint32_t misc, struct perf_words *ips)
{
	uint64_t end;

	if (misc & PERF_MISC_CHAIN_MADE)
		return (misc & PERF_MISC_CHAIN_END) >> PERF_MISC_CHAIN_END_AT;
	end = perf_word(ips, ips->n - 1);
	if (end >= PERF_CHAIN_END_MAX || end == WALK_COMPLETE)
		return WALK_COMPLETE;
	ips->n--;
	return end;
}

static void end_made(struct callchain *x, const struct perf_attr *a, uint32_t misc)
{
	struct perf_words *ips = &x->parts.at[x->parts.n - 1].ips;
	uint64_t end = take_end(misc, ips);
	struct perf_chain_part mark;

	if (user_stacks_made(x->stacks, end, ips->n, a->sample_stack_user, &mark)) {
		if (ips->n == 0)
			x->parts.n--;
		vec_push(&x->parts, mark);
	}
}

struct callchain *callchain_new(struct profile *p, struct resolver *r, const char *machine,
				struct callchain_stats *stats)
{
	struct callchain *x = xcalloc(1, sizeof(*x));

	x->stats = stats;
	frame_marks_init(&x->marks, p);
	x->stacks = user_stacks_new(p, r, &x->marks, machine);
	x->leaves = missing_caller_new(p, r, machine);
	x->deferred = perf_deferred_new();
	return x;
}

void callchain_assume(struct callchain *x)
{
	user_stacks_assume(x->stacks);
}

void callchain_free(struct callchain *x)
{
	if (!x)
		return;
	user_stacks_free(x->stacks);
	missing_caller_free(x->leaves);
	perf_deferred_free(x->deferred);
	vec_done(&x->parts);
	vec_done(&x->ips);
	free(x);
}

void callchain_stitch(struct callchain *x)
{
	user_stacks_stitch(x->stacks);
}

void callchain_branch_depth(struct callchain *x, uint32_t depth)
{
	x->branch_depth = depth;
}

void callchain_turn(struct callchain *x)
{
	perf_deferred_turn(x->deferred);
}

void callchain_defer(struct callchain *x, int32_t tid, const struct perf_deferred_chain *c)
{
	perf_deferred_add(x->deferred, tid, c);
}

const struct perf_chain_part *callchain_find(struct callchain *x, const struct perf_attr *a,
					     const struct perf_record *r,
					     const struct perf_sample *s, int64_t time_ns,
					     size_t *n)
{
	enum cpu_mode mode = mode_of_cpumode(r->misc, s->ip);

	vec_clear(&x->parts);
	x->has_leaf = false;
	if (s->chain.n > 0)
		use_chain(x, s, mode);
	x->has_chain = x->parts.n > 0;
	x->stats->n_chains += x->has_chain;
	if (has_calls(a, s))
		use_branches(x, s, mode);
	else if (ends_in_user_mode(x) && are_made(a))
		end_made(x, a, r->misc);
	else if (ends_in_user_mode(x))
		x->has_leaf = true;
	x->user = x->parts.n - x->has_leaf;
	if (has_copy(a, s, mode) && !ends_in_user_mode(x))
		use_copy(x, a, s, mode, time_ns);
	if (x->parts.n == 0 && a->sample_type & PERF_S_IP)
		add_address(x, mode, s->ip);
	if (s->is_head)
		vec_push(&x->parts, frame_marks_part(&x->marks, PERF_MARK_BROKEN));
	*n = x->parts.n;
	return x->parts.at;
}

bool callchain_is_deferred(const struct perf_words *chain)
{
	return chain->n >= 2 && perf_word(chain, chain->n - 2) == PERF_CTX_USER_DEFERRED;
}

bool callchain_has_leaf(const struct callchain *x, uint32_t *depth)
{
	const struct perf_words *ips;

	if (!x->has_leaf)
		return false;
	ips = &x->parts.at[x->user].ips;
	/* Behind that part there may be a mark, of one frame each. */
	*depth = (uint32_t)(x->parts.n - x->user) - 1 + (ips->n > 0 ? ips->n - 1 : 0);
	return true;
}

bool callchain_note_leaf(struct callchain *x, int32_t pid, int64_t time_ns, location_id at,
			 uint32_t *leaf)
{
	*leaf = 0;
	if (x->has_leaf)
		*leaf = missing_caller_note(x->leaves, pid, time_ns, &x->parts.at[x->user], at);
	return x->has_chain;
}

void callchain_again(struct callchain *x, uint32_t leaf)
{
	x->stats->n_chains++;
	missing_caller_again(x->leaves, leaf);
}

void callchain_facts(const struct callchain *x, capture_id c)
{
	missing_caller_facts(x->leaves, c);
	user_stacks_facts(x->stacks, c);
}
