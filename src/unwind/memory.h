/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The piece of a stack that was copied when a sample was taken. */
#ifndef PROFTOP_UNWIND_MEMORY_H
#define PROFTOP_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct unwind_memory {
	uint64_t address;     /* of the first byte */
	const uint8_t *bytes; /* borrowed */
	size_t n;
	size_t n_missing; /* bytes behind these that were copied too, but are not in memory */
	bool *missed;     /* set when one of those was wanted; may be NULL without them */
	/* What a signal's frame may lead to, when its handler ran on a stack of its own; or NULL. Borrowed. */
	const struct unwind_memory *also;
	/*
	 * The stack that a frame pointer of code that keeps them all leads to, where it leads out of this one; or NULL. Sp is
	 * that of the frame. It has such a function as well, and lives until it is asked again.
	 */
	const struct unwind_memory *(*next)(const struct unwind_memory *from, uint64_t sp,
					    uint64_t fp);
	void *next_arg; /* the function's own */
};

/* Is the byte at address part of what was copied and is here? */
static inline bool unwind_has(const struct unwind_memory *m, uint64_t address)
{
	uint64_t offset = address - m->address;

	if (offset < m->n)
		return true;
	if (offset - m->n < m->n_missing)
		*m->missed = true;
	return false;
}

static inline bool unwind_load_within(const struct unwind_memory *m, uint64_t address,
				      uint64_t *out)
{
	uint64_t offset = address - m->address;

	if (m->n < sizeof(*out) || offset > m->n - sizeof(*out)) {
		unwind_has(m, address + (sizeof(*out) - 1));
		return false;
	}
	memcpy(out, m->bytes + offset, sizeof(*out));
	return true;
}

/* The little-endian 64-bit word at address; false when it is not all there. */
static inline bool unwind_load(const struct unwind_memory *m, uint64_t address, uint64_t *out)
{
	return unwind_load_within(m, address, out) ||
	       (m->also && unwind_load_within(m->also, address, out));
}

#endif
