/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unwind rules by address, one thread's copy: a look-up is one probe. */
#ifndef PROFTOP_RECORD_HEAP_LIVE_RULES_H
#define PROFTOP_RECORD_HEAP_LIVE_RULES_H

#include "cfi_rule.h"

#include <stdint.h>

#define N_LIVE_RULES 16384u

/* How to step outward from an address. */
enum live_kind {
	LIVE_SP,     /* CFA is sp + cfa, the return address below it: most frames */
	LIVE_RULE,   /* by `rule` in full */
	LIVE_FP,     /* no CFI: by frame pointers */
	LIVE_END,    /* the outermost frame */
	LIVE_COMPLEX /* takes all registers */
};

struct live_rule {
	uint64_t pc; /* that was looked up; 0: empty */
	struct cfi_rule rule;
	uint8_t kind; /* enum live_kind */
};

struct live_rules {
	struct live_rule slot[N_LIVE_RULES]; /* by a hash of pc */
	/* Finds the rule for pc; never fails. */
	struct live_rule (*find)(uint64_t pc);
};

static inline const struct live_rule *live_rules_at(struct live_rules *r, uint64_t pc)
{
	struct live_rule *s = &r->slot[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 50];

	if (__builtin_expect(s->pc != pc, 0))
		*s = r->find(pc);
	return s;
}

#endif
