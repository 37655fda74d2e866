/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks of a thread of a Firefox profile as stacks of the model. */
#ifndef PROFTOP_FORMATS_FIREFOX_FIREFOX_STACKS_H
#define PROFTOP_FORMATS_FIREFOX_FIREFOX_STACKS_H

#include "formats/firefox/firefox_text.h"
#include "profile/builder.h"

struct firefox_stacks {
	struct profile *p;
	const struct firefox_text *text;
	const struct firefox_thread *thread;
	const struct firefox_tables *tables; /* the thread's own, or the shared ones */
	uint32_t *location;   /* [frames] location_id, ID_NONE: not asked for yet; owned */
	uint32_t *stack;      /* [stacks] stack_id, likewise; owned */
	firefox_indexes path; /* of stacks up to one that is known */
	stack_id root;        /* what all of them begin with */
	uint64_t n_odd;       /* indexes of nothing */
};

/* Borrows all of it. */
void firefox_stacks_init(struct firefox_stacks *s, struct profile *p,
			 const struct firefox_text *text, const struct firefox_thread *thread,
			 stack_id root);
void firefox_stacks_done(struct firefox_stacks *s);

/* Of an index of the stack table; the root where it is none. Wants the pen. */
stack_id firefox_stack(struct firefox_stacks *s, uint32_t index);

#endif
