/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks of threads of a Firefox profile as stacks of the model. */
#ifndef PROFTOP_FORMATS_FIREFOX_FIREFOX_STACKS_H
#define PROFTOP_FORMATS_FIREFOX_FIREFOX_STACKS_H

#include "formats/firefox/firefox_text.h"
#include "profile/builder.h"

struct firefox_stacks {
	struct profile *p;
	const struct firefox_text *text;
	const struct firefox_tables *tables; /* a thread's own, or the shared ones */
	struct firefox_native *native;       /* names addresses in libraries */
	const firefox_indexes *libs; /* index of the text's, where a thread has its own; or NULL */
	uint32_t process;   /* of the text's starts, whose libraries Gecko's addresses are in */
	size_t n_locations; /* frames of the table */
	bool *calls; /* [n_locations] of Gecko's: it has called another; NULL: not asked for yet; owned */
	uint32_t *location;   /* [n_locations] location_id, ID_NONE: not asked for yet; owned */
	uint32_t *stack;      /* [stacks] stack_id, likewise; owned */
	firefox_indexes path; /* of stacks up to one that is known */
	firefox_indexes
		known;  /* of stacks that the thread has used, where they are few; else see many */
	bool many;      /* stacks that it has used: known has none of them */
	stack_id root;  /* what all of the thread begin with */
	uint64_t n_odd; /* indexes of nothing */
};

/* Borrows all of it. */
void firefox_stacks_init(struct firefox_stacks *s, struct profile *p,
			 const struct firefox_text *text, const struct firefox_tables *tables,
			 const firefox_indexes *libs, struct firefox_native *native);
void firefox_stacks_done(struct firefox_stacks *s);

/* From now on it is about a thread whose stacks begin with root. What frames are is kept. */
void firefox_stacks_begin(struct firefox_stacks *s, stack_id root);

/*
 * Makes the stacks of samples in the order of the table, where they are many: in the order of samples, memory is read here and there.
 * Wants the pen.
 */
void firefox_stacks_of(struct firefox_stacks *s, const struct firefox_series *samples);

/* Prefetches what firefox_stack() of that index reads. */
void firefox_stack_fetch(const struct firefox_stacks *s, uint32_t index);

/* Which of the text's categories a stack is of: the innermost that one of its frames says; FIREFOX_NONE. */
uint32_t firefox_stack_category(const struct firefox_stacks *s, uint32_t index);

/* Of an index of the stack table; the root where it is none. Wants the pen. */
stack_id firefox_stack(struct firefox_stacks *s, uint32_t index);

#endif
