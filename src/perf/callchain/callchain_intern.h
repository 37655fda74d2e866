/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw chains of addresses → stacks of the profile, quickly.
 *
 * Two chains of one thread nearly always begin alike. The last chain of some threads is kept as it was
 * recorded, with the location of each of its frames; a new one is compared from the root and only what
 * differs is located. Some are gathered before their stacks are looked up side by side.
 */
#ifndef PROFTOP_PERF_CALLCHAIN_CALLCHAIN_INTERN_H
#define PROFTOP_PERF_CALLCHAIN_CALLCHAIN_INTERN_H

#include "perf/abi/perf_abi.h"
#include "profile/builder.h"
#include "symbols/resolver.h"

#include <stddef.h>
#include <stdint.h>

struct callchain_intern;
struct perf_tasks;

/*
 * Addresses that were taken in one cpu mode, leaf first. The leaf of a part is where the cpu was, or
 * where it left this mode; the others are return addresses.
 */
struct perf_chain_part {
	enum cpu_mode mode;
	struct perf_words ips; /* n 0: only the one below */
	uint64_t ip;           /* valid when ips.n is 0 */
	bool is_mark;          /* ip is a location_id: a remark in place of a frame */
};

/* Whose chain, and when. */
struct perf_chain_owner {
	int32_t pid, tid;
	int64_t time_ns;
	stack_id root; /* the node of the thread's name */
};

/* Borrows all. */
struct callchain_intern *callchain_intern_new(struct profile *p, struct resolver *r,
					      struct perf_tasks *t);
void callchain_intern_free(struct callchain_intern *c);

/* How many may be added before they are built. */
#define PERF_CHAINS_MOST BUILD_BATCH

/* Adds one of n parts, leaf part first, which are not kept; n may be 0. Its number among those added. Wants the pen. */
uint32_t callchain_intern_add(struct callchain_intern *c, const struct perf_chain_owner *o,
			      const struct perf_chain_part *parts, size_t n);

/* The location of a frame of number i of them, depth frames from the root's side, until they are built. */
location_id callchain_intern_location(const struct callchain_intern *c, uint32_t i, uint32_t depth);

/* Makes stacks of those that were added, and says how many they were; then others may be. Wants the pen. */
uint32_t callchain_intern_build(struct callchain_intern *c);

/* The stack of number i of them, until the next is added. */
stack_id callchain_intern_stack(const struct callchain_intern *c, uint32_t i);

#endif
