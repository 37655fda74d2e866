/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unwind rules by address, one thread's copy: a look-up is one probe of 16 bytes. */
#ifndef PROFTOP_RECORD_HEAP_STACK_LIVE_RULES_H
#define PROFTOP_RECORD_HEAP_STACK_LIVE_RULES_H

#include "unwind/cfi_rule.h"

#include <stdint.h>

#define N_LIVE_RULES 16384u

/* How to step outward from an address. */
enum live_kind {
	LIVE_SP,     /* CFA is sp + cfa, the return address is a few words below it: most frames */
	LIVE_RULE,   /* by the full rule */
	LIVE_FP,     /* no CFI: by frame pointers */
	LIVE_GO,     /* the same in Go's code, which all has them: 0 is the outermost; live_go.h */
	LIVE_END,    /* the outermost frame */
	LIVE_GIVEN,  /* so it is, where the address is a return address; else by frame pointers */
	LIVE_COMPLEX /* takes all registers */
};

struct live_rule {
	uint64_t pc;  /* that was looked up; 0: empty */
	int32_t cfa;  /* LIVE_SP: bytes from sp */
	int16_t fp;   /* LIVE_SP: where the caller's frame pointer is, from the CFA; 0: not saved */
	uint8_t kind; /* enum live_kind */
	uint8_t ra;   /* LIVE_SP: the return address is so many words below the CFA; x86_64: 1 */
};

/* Of LIVE_SP: how far below the CFA the return address is, in bytes. */
static inline uint64_t live_rule_ra_bytes(const struct live_rule *r)
{
	return UNWIND_HERE == UNWIND_X86_64 ? 8 : r->ra * UINT64_C(8);
}

/* What is found for an address. */
struct live_found {
	struct live_rule quick;
	struct cfi_rule full; /* LIVE_SP, LIVE_RULE */
};

struct live_rules {
	struct live_rule quick[N_LIVE_RULES]; /* by a hash of pc */
	struct cfi_rule full[N_LIVE_RULES];   /* likewise; of LIVE_SP and LIVE_RULE only */
	/* Finds the rule for pc; never fails. */
	struct live_found (*find)(uint64_t pc);
};

static inline uint32_t live_rules_slot(uint64_t pc)
{
	return (uint32_t)(pc ^ pc >> 14) & (N_LIVE_RULES - 1);
}

/* Puts the rule for pc into its place, over what was there. */
void live_rules_fill(struct live_rules *r, uint64_t pc);

/* The rule for pc; its full form is in the same place of `full`. */
static inline const struct live_rule *live_rules_at(struct live_rules *r, uint64_t pc)
{
	uint32_t slot = live_rules_slot(pc);

	if (__builtin_expect(r->quick[slot].pc != pc, 0))
		live_rules_fill(r, pc);
	return &r->quick[slot];
}

#endif
