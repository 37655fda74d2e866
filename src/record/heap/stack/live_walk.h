/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stack of the running thread, walked anew only as far as it changed.
 *
 * A walk goes by rules that are kept by address (live_rules.h). What the last walk of a thread found is
 * remembered: of each frame where it was (pc, sp), where its return address was found, and every other
 * word of the stack that a step outward depended on. As soon as a walk comes to a frame that it
 * remembers, with the same sp and pc (and fp, where what lies outward makes use of it), and all words
 * outward of it still are what they were, the rest is what it was: the same sp, pc and words give the
 * same next frame, and so on. No return address is changed, nothing is left behind on the stack.
 *
 * What is remembered of a return address is the word as it stands on the stack. AArch64 may have signed it: addresses are
 * taken from it by unwind_strip().
 */
#ifndef PROFTOP_RECORD_HEAP_STACK_LIVE_WALK_H
#define PROFTOP_RECORD_HEAP_STACK_LIVE_WALK_H

#include "record/heap/stack/live_rules.h"

#include <stdbool.h>
#include <stdint.h>

#define WALK_MAX_FRAMES 4096u
#define WALK_MAX_WORDS  2u /* of one step besides the return address: frame pointer, CFA */

/* Where a walk begins: in the program's function that called us. */
struct walk_start {
	uint64_t pc, sp, fp;
	const uint64_t *at; /* where pc was found */
};

/* A word of the stack that a step read. */
struct walk_word {
	const uint64_t *at;
	uint64_t value;
};

/* What is stored at once of a frame. */
struct walk_about {
	uint32_t node;    /* of the trie, or 0 when not known */
	uint16_t n_words; /* remembered for the steps of this frame and all outward */
	bool exact;       /* was interrupted at pc, or handlers of signals return to it */
	bool needs_fp;    /* what lies outward depends on fp */
};

/* What is remembered of a frame, besides its pc. */
struct walk_frame_memo {
	uint64_t sp, fp;
	uint64_t hash; /* of this frame and all outward of it */
	struct walk_about about;
};

/* A frame of the walk under way. */
struct walk_fresh {
	uint64_t pc, sp, fp;       /* pc as it stands on the stack */
	const uint64_t *at;        /* where pc was found */
	struct walk_word fp_word;  /* where the step found the caller's fp; at NULL: fp stayed */
	struct walk_word cfa_word; /* what gave the CFA; at NULL: no word did */
	bool uses_fp;              /* the step made use of fp */
	bool exact;
};

struct live_walk {
	/* Outermost first. A return address is where the step of the frame after it found it. */
	struct walk_word return_address[WALK_MAX_FRAMES + 1];
	struct walk_frame_memo frame[WALK_MAX_FRAMES + 1];
	struct walk_word word[WALK_MAX_FRAMES * WALK_MAX_WORDS];
	struct walk_fresh fresh[WALK_MAX_FRAMES]; /* innermost first */
	uint32_t n;                               /* remembered frames */
	uint32_t n_firm;                          /* those from here on are plain: see remember() */
	uint64_t stack_low; /* the thread's own stack, as far as it is known; both 0: not at all */
	uint64_t stack_high;
	uint64_t stack_gap; /* nothing at or below this is on it; 0: not known */
	struct live_rules rules;
};

/* What a walk gave. */
enum walk_result {
	WALK_DONE,   /* frames [0, n) are the stack */
	WALK_COMPLEX /* it takes all registers, or is on another stack */
};

/*
 * Walks from s. An incomplete stack has a frame with pc 0 outermost. Rules that are not known are
 * found by w->rules' function, which takes locks.
 */
enum walk_result live_walk(struct live_walk *w, const struct walk_start *s);

/* The hash of the remembered stack, which is not empty, without its innermost frame. */
static inline uint64_t live_walk_callers(const struct live_walk *w)
{
	return w->n > 1 ? w->frame[w->n - 2].hash : 0;
}

/* The address of remembered frame i. */
static inline uint64_t live_walk_pc(const struct live_walk *w, uint32_t i)
{
	return unwind_strip(UNWIND_HERE, w->return_address[i].value);
}

/* Replaces what is remembered by n frames, innermost first; nothing of it will be reused. */
void live_walk_replace(struct live_walk *w, const uint64_t *pc, const bool *exact, uint32_t n,
		       bool complete);

/* Forgets the last walk and all rules: code was unloaded. */
void live_walk_flush(struct live_walk *w);

#endif
