/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hooks for functions whose first bytes lead here. Each is reached with the function's arguments and one more, which
 * says which function it is; the stack is as its caller left it.
 */
#ifndef PROFTOP_RECORD_HEAP_PATCH_PATCHED_HOOKS_H
#define PROFTOP_RECORD_HEAP_PATCH_PATCHED_HOOKS_H

#include "record/heap/patch/allocators.h"

#include <stdint.h>

struct hooked {
	const struct allocator_function *function;
	const void *original; /* does what the function did */
	uint8_t shift;        /* of its arguments; see struct allocator_match */
};

/*
 * The hook for what the function does: of type uint64_t (uint64_t [5 arguments], const struct hooked *). Any number
 * of the arguments may have no meaning.
 */
const void *patched_hooks_for(const struct allocator_function *f);

#endif
