/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process that allocates and frees by lot, told to a profile and kept for a replay. */
#ifndef PROFTOP_TESTS_SUPPORT_MADE_STORY_H
#define PROFTOP_TESTS_SUPPORT_MADE_STORY_H

#include "profile/heap/heap_builder.h"

#include <stdbool.h>
#include <stdint.h>

#define STORY_STACKS 7
#define STORY_DEEDS  6000

/* What happened, as a replay needs it. */
struct deed {
	int64_t time_ns;
	uint32_t block;
	bool frees;
};

struct block {
	uint64_t size;
	uint32_t stack; /* which of the stacks */
	uint32_t thread;
	uint32_t born;     /* number of the deed */
	uint32_t died;     /* likewise, or UINT32_MAX */
	bool who_knows;    /* it is not known who freed it, */
	uint32_t by_stack; /* or it is by these */
	uint32_t by_thread;
	bool mapped; /* of the event mmap, not malloc */
	bool temporary;
};

struct story {
	struct profile *p;
	struct deed deed[STORY_DEEDS];
	struct block block[STORY_DEEDS];
	uint32_t n_blocks;
	stack_id stack[STORY_STACKS];
	thread_id thread[2];
	event_id event[2];
	track_id track;
};

/* The same for the same seed: stacks f0, f0 f1, f0 f1 f2, f3, f3 f4, …. The caller frees. */
struct story *story_new(unsigned seed);
void story_free(struct story *s);

#endif
