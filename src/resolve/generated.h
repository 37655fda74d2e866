/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that processes generated, where it was when, by the jitdumps that they wrote. It lies over what
 * the mappings say: programs map memory without a name first, and change its protection as they go.
 */
#ifndef PROFTOP_RESOLVE_GENERATED_H
#define PROFTOP_RESOLVE_GENERATED_H

#include "arch.h"
#include "profile.h"
#include "space.h"

#include <stdbool.h>
#include <stdint.h>

struct cfi;
struct dso;
struct finder;
struct generated;
struct resolver_clock;

/* Borrows f. */
struct generated *generated_new(const struct finder *f);
void generated_free(struct generated *g);

/* How the times of dumps become those of the recording; before the first of them. */
void generated_clock(struct generated *g, const struct resolver_clock *c);

/*
 * A process mapped its dump then, which is how it says that it has one: reads it. number is the dso's.
 * True when it tells of code.
 */
bool generated_dump(struct generated *g, int32_t pid, int64_t time_ns, const struct dso *d,
		    uint32_t number);
void generated_fork(struct generated *g, int32_t pid, int32_t parent_pid, int64_t time_ns);
void generated_exec(struct generated *g, int32_t pid, int64_t time_ns);

/* Looks an address up over what a mapping gave: *s, which is changed when generated code was there. */
void generated_look(const struct generated *g, int32_t pid, int64_t time_ns, uint64_t address,
		    struct sighting *s);

/*
 * The unwind rules of generated code at an address of a dso, and at which of their addresses that is;
 * NULL: its dump has none. Borrowed. For the thread that tells of dumps.
 */
struct cfi *generated_rules(const struct generated *g, uint32_t dso, enum unwind_arch arch,
			    uint64_t offset, uint64_t *address);

/* Equal numbers of a process: no code came or went between two moments. 0: it has none at all. */
uint32_t generated_age(const struct generated *g, int32_t pid, int64_t time_ns);

/* States in facts what was read and what not. Wants the pen. */
void generated_facts(const struct generated *g, struct profile *p, capture_id c);

#endif
