/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks of folded text as nodes of the profile's trie, a batch of lines at a time.
 *
 * Lines that follow each other mostly share their outer frames, as such files are sorted: what the
 * previous line was is kept with the byte where each of its frames ends, and only frames that differ are
 * looked up. What is found often is found in small caches. The rest is gathered, so that look-ups in
 * tables larger than any cache wait for memory together and not one after the other.
 */
#ifndef PROFTOP_FORMATS_FOLDED_FOLDED_STACKS_H
#define PROFTOP_FORMATS_FOLDED_FOLDED_STACKS_H

#include "base/mem.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When so many frames have been gathered it is time for folded_stacks_settle(). */
#define FOLDED_BATCH 512

/* A stack that may still have to be settled: of a frame that was gathered, or known. */
struct folded_stack {
	uint32_t gathered; /* index of frames + 1; 0: known */
	stack_id known;
};

/* What was last found at a place of the cache of names. */
struct folded_name {
	const char *s; /* the profile's; NULL: nothing was */
	uint32_t len;  /* bytes of it */
	location_id location;
};

/* What was last found at a place of the cache of stacks. */
struct folded_child {
	stack_id parent;
	location_id location;
	stack_id stack; /* {0}: nothing was */
};

/* Places of each cache, a power of two: they fit into the second level of a processor's. */
#define FOLDED_CACHE 8192

/* A frame that was gathered. */
struct folded_frame {
	struct build_text text; /* in the block of lines */
	struct folded_stack parent;
	uint32_t level;       /* gathered frames above it */
	uint32_t next;        /* index + 1 of the next one on its level */
	bool named;           /* the location is known */
	location_id location; /* once it has a name */
	stack_id stack;       /* once settled */
};

/* A frame of the previous line. */
struct folded_last {
	size_t end; /* byte of its line where it ends */
	struct folded_stack stack;
};

/* Gathered frames with as many gathered ones above them, in order. */
struct folded_level {
	uint32_t first, last; /* indices + 1 */
};

struct folded_stacks {
	struct profile *p;                       /* borrowed */
	module_id kernel, jit;                   /* {0} until first needed */
	struct folded_name name[FOLDED_CACHE];   /* by hash of text */
	struct folded_child child[FOLDED_CACHE]; /* by hash of parent and location */
	VEC(uint32_t)
	location_of; /* by string_id: location_id + 1 of the frame of that text, or 0 */
	VEC(struct folded_frame) frames; /* gathered */
	VEC(struct folded_level) levels; /* of frames */
	VEC(struct folded_last) last;    /* of the previous line */
	VEC(char) kept;                  /* the previous line's text, when its block goes */
	const char *last_at;             /* the previous line's text */
	size_t last_n;                   /* bytes of it */
};

/* Large: not for the stack. Zeroed but for the profile. */
void folded_stacks_init(struct folded_stacks *f, struct profile *p);
void folded_stacks_done(struct folded_stacks *f);

/* The stack of a line's text, which is borrowed until settled; false when it is too deep. */
bool folded_stacks_add(struct folded_stacks *f, const char *s, size_t n, struct folded_stack *out);

/* Looks up what was gathered: folded_stacks_of() is good then. */
void folded_stacks_settle(struct folded_stacks *f);
/* Forgets the frames of settled stacks, to begin a new batch. */
void folded_stacks_clear(struct folded_stacks *f);

/* Keeps what is needed of the block of lines, which goes. Everything is settled. */
void folded_stacks_keep(struct folded_stacks *f);

/* Has the profile shorten stacks that are too many, see build_shorten(). Everything is settled. */
void folded_stacks_shorten(struct folded_stacks *f);

/* A settled stack. */
static inline stack_id folded_stacks_of(const struct folded_stacks *f, struct folded_stack s)
{
	return s.gathered ? f->frames.at[s.gathered - 1].stack : s.known;
}

#endif
