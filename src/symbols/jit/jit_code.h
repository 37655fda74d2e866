/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code that processes generated, where it was when, by the jitdumps that they wrote. It lies over what
 * the mappings say: programs map memory without a name first, and change its protection as they go.
 */
#ifndef PROFTOP_SYMBOLS_JIT_JIT_CODE_H
#define PROFTOP_SYMBOLS_JIT_JIT_CODE_H

#include "profile/profile.h"
#include "symbols/space/address_space.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>

struct cfi;
struct dso;
struct dso_table;
struct debug_file_search;
struct jit_code;
struct resolver_clock;

/* Borrows f. */
struct jit_code *jit_code_new(const struct debug_file_search *f);
void jit_code_free(struct jit_code *g);

/* How the times of dumps become those of the recording; before the first of them. */
void jit_code_clock(struct jit_code *g, const struct resolver_clock *c);

/*
 * A process mapped its dump then, which is how it says that it has one: reads it. number is the dso's.
 * True when it tells of code.
 */
bool jit_code_dump(struct jit_code *g, int32_t pid, int64_t time_ns, const struct dso *d,
		   uint32_t number);
/* Programs may still write their dumps: reads what came since. True when there is more code. */
bool jit_code_follow(struct jit_code *g, const struct dso_table *dsos);
void jit_code_fork(struct jit_code *g, int32_t pid, int32_t parent_pid, int64_t time_ns);
void jit_code_exec(struct jit_code *g, int32_t pid, int64_t time_ns);

/* Looks an address up over what a mapping gave: *s, which is changed when generated code was there. */
void jit_code_look(const struct jit_code *g, int32_t pid, int64_t time_ns, uint64_t address,
		   struct sighting *s);

/*
 * The unwind rules of generated code at an address of a dso, and at which of their addresses that is;
 * NULL: its dump has none. Borrowed. For the thread that tells of dumps.
 */
struct cfi *jit_code_rules(const struct jit_code *g, uint32_t dso, enum unwind_arch arch,
			   uint64_t offset, uint64_t *address);

/* Equal numbers of a process: no code came or went between two moments. 0: it has none at all. */
uint32_t jit_code_age(const struct jit_code *g, int32_t pid, int64_t time_ns);

/* States in facts what was read and what not. Wants the pen. */
void jit_code_facts(const struct jit_code *g, struct profile *p, capture_id c);

#endif
