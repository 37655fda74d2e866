/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of known allocators, by the names that symbol tables have for them: which of their arguments is what.
 *
 * Sources: jemalloc(3), mimalloc.h, gperftools/tcmalloc.h, and the mangled names of operator new and delete.
 */
#ifndef PROFTOP_RECORD_HEAP_PATCH_ALLOCATORS_H
#define PROFTOP_RECORD_HEAP_PATCH_ALLOCATORS_H

#include <stdbool.h>
#include <stdint.h>

#define ALLOCATOR_ARGUMENTS 5u /* no function that is known has more, and all are integers */

/* What a function does. */
enum allocator_act {
	ACT_ALLOC,           /* returns a block, or NULL */
	ACT_ALLOC_AT,        /* puts it where `block` says, and returns 0 */
	ACT_FREE,            /* of `block` */
	ACT_REALLOC,         /* of `block`; NULL: it is still there, unless the size is 0 */
	ACT_REALLOC_OR_FREE, /* of `block`; NULL: it is gone */
	ACT_RESIZE           /* of `block` where it is; returns how many bytes it has */
};

#define ALLOCATOR_NONE UINT8_MAX /* no argument is that */

struct allocator_function {
	const char *name;
	uint8_t act;   /* enum allocator_act */
	uint8_t kind;  /* enum heap_family, of what it allocates */
	uint8_t block; /* which argument is the block */
	uint8_t size;  /* which is the size */
	uint8_t count; /* which is multiplied with it */
};

/* How functions are named. */
enum allocator_naming {
	NAMED_AS_LIBC,     /* malloc */
	NAMED_AS_JEMALLOC, /* mallocx */
	NAMED_AS_OPERATOR, /* operator new */
	NAMED_JE,          /* je_malloc */
	NAMED_RJEM,        /* _rjem_malloc */
	NAMED_MI,          /* mi_malloc */
	NAMED_TC,          /* tc_malloc */
	N_ALLOCATOR_NAMINGS
};

struct allocator_match {
	const struct allocator_function *function;
	enum allocator_naming naming;
	uint8_t shift; /* so many arguments stand before those that the function is described with */
};

/* The function of that name. False: none that is known. */
bool allocator_find(const char *name, struct allocator_match *m);

/* Which allocator names its functions so. For people. */
const char *allocator_name(enum allocator_naming naming);

#endif
