/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which names mean the same function although they differ: what compilers add, and what people renamed.
 */
#ifndef PROFTOP_QUERY_CORE_NAME_RULES_H
#define PROFTOP_QUERY_CORE_NAME_RULES_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct renaming {
	char *from, *to; /* owned */
};

/* A function before that is taken for one of another name, or for none of its own. */
struct moved_function {
	uint32_t function; /* function_id */
	uint32_t moved;    /* which of the moved ones it is; else which of the gone: */
	bool gone;
};

struct name_rules {
	bool loose;                   /* see name_rules_loose() */
	VEC(struct renaming) renamed; /* whole names, of functions or modules */
	VEC(struct renaming) paired;  /* of modules only, and of the threads that run them */
	VEC(struct renaming) moved;   /* of functions only, see renumbered.h */
	VEC(struct moved_function) functions; /* in order: which those before are */
	/* What functions are called whose names others have after; owned */
	VEC(char *) gone;
	/* Names without numbers of functions that cannot be told apart; owned */
	VEC(char *) unclear;
	bool apart; /* functions with numbers in their names are not put together by these names */
};

/* Adds "old=new"; -EINVAL with a sentence when it is no such thing. */
int name_rules_add(struct name_rules *r, const char *renaming, struct err *e);
/* A module before is taken for one after, see module_pairs.h. */
void name_rules_pair(struct name_rules *r, const char *before, const char *after);
/* Functions before are taken for one after: by name, then each of these. */
void name_rules_move(struct name_rules *r, const char *before, const char *after);
void name_rules_move_function(struct name_rules *r, uint32_t function);
/* Functions before whose name another one has after are no other's. */
void name_rules_part(struct name_rules *r, const char *before);
void name_rules_part_function(struct name_rules *r, uint32_t function);
/* What a function is taken for by these, or NULL. */
const char *name_rules_now(const struct name_rules *r, uint32_t function);
/* Which functions of that name without numbers are the same cannot be told. */
void name_rules_doubt(struct name_rules *r, const char *unnumbered);
bool name_rules_is_doubted(const struct name_rules *r, const char *name);
/* What the function of that name after is before, by name_rules_move(); NULL: it is no such. */
const char *name_rules_was(const struct name_rules *r, const char *after);
void name_rules_done(struct name_rules *r);

/* The same rules, the caller's to free. */
struct name_rules *name_rules_copy(const struct name_rules *r);
void name_rules_free(struct name_rules *r);

/* Does any name count as another? */
bool name_rules_say(const struct name_rules *r);

/*
 * The name without what one build has and another not: clones (.cold, .isra.0, .constprop.1, .part.2, .lto_priv.3,
 * .llvm.123, "[clone .x]"), Rust's hashes (::h0123456789abcdef), numbers of lambdas ({lambda(int)#2}, $_3), template
 * arguments (<…> stays) and addresses (0x…). The caller frees.
 */
char *name_rules_loose(const char *name);

/*
 * The name without what a change some lines above changes: numbers of lambdas, of clones and of Go's functions without names,
 * lines and columns ("(lambda at x.cc:12:3)"), Rust's hashes. The caller frees.
 */
char *name_rules_unnumbered(const char *name);
/* Is there anything to leave out? */
bool name_rules_numbered(const char *name);

/* What the name counts as by the rules; renamed as given or as it is when loose. The caller
 * frees. Functions that were moved are asked for by name_rules_now(). */
char *name_rules_apply(const struct name_rules *r, const char *name);
/* The same for names of modules, and of threads: programs' names, cut to what those hold. */
char *name_rules_apply_module(const struct name_rules *r, const char *name);
char *name_rules_apply_thread(const struct name_rules *r, const char *name);

#endif
