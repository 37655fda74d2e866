/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The beginning of a function, moved elsewhere so that a jump can be put in its place: whether that can be done
 * without changing what the function does, and the moved copy. Changes no code itself.
 *
 * A function is refused as soon as anything in it is not understood: it has to be read to its end, as no jump of
 * its own may lead into what was moved.
 */
#ifndef PROFTOP_RECORD_HEAP_PATCH_TRAMPOLINE_H
#define PROFTOP_RECORD_HEAP_PATCH_TRAMPOLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_JUMP_BYTES  5u  /* e9 and where to */
#define CODE_MOVED_BYTES 96u /* no moved beginning takes more */

/* Machine code in memory. Borrowed. */
struct code {
	const uint8_t *bytes;
	size_t n;
	uint64_t address; /* where it runs */
};

/* What of a function is to be moved. */
struct code_plan {
	uint8_t at;  /* the jump's place: behind an endbr64, which stays */
	uint8_t end; /* [at, end) is moved: whole instructions, no fewer bytes than the jump has */
	bool calls;  /* the last one is a call, which is made to return to its own place */
};

/* NULL: *plan says what to move. Else why it cannot be: a few words for people. */
const char *code_plan(const struct code *function, struct code_plan *plan);

/* A function and what of it is to be moved. */
struct trampoline {
	struct code code;
	struct code_plan plan;
};

/*
 * Does nothing in `other` lead into the moved bytes, behind the first one of the jump? False, too, when it cannot be
 * read.
 */
bool code_stays_out(const struct code *other, const struct trampoline *m);

/*
 * Looks for what leads into one of n functions, in any bytes from offset *at on, without knowing where instructions
 * begin: as if one that leads somewhere by four bytes began at each of them. NULL: nothing does; else which function
 * it seems to lead into, and *at is where it was found.
 */
const struct trampoline *code_hit(const struct code *text, size_t *at,
				  const struct trampoline *const *m, size_t n);

/*
 * The next call, or jump out of the function, at *at or behind it; *at is then behind that. *to: where it leads; 0: to
 * where a register or a word says. False: there is none, or there are bytes that are no known instruction.
 */
bool code_next_call(const struct code *function, size_t *at, uint64_t *to);

/* Is the function nothing but a jump? *to: where to. */
bool code_is_jump(const struct code *function, uint64_t *to);

/*
 * Writes what runs at `address` in place of the function: the moved instructions, and a jump to the rest. Returns how
 * many bytes; 0: something is too far away.
 */
size_t code_write_moved(const struct trampoline *m, uint64_t address,
			uint8_t out[CODE_MOVED_BYTES]);

/* Writes a jump from `from` to `to`. False: too far. */
bool code_write_jump(uint8_t out[CODE_JUMP_BYTES], uint64_t from, uint64_t to);

#endif
