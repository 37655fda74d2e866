/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the hooks tell the recorder: an allocation was made, a block is about to be freed. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_RECORD_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_RECORD_H

#include "record/heap/stack/live_walk.h"
#include "unwind/arch.h"

#include <stddef.h>
#include <stdint.h>

/* What a free or a realloc is about to end; of the latter between tracer_record_give_up() and tracer_record_realloc(). */
struct tracer_old {
	uint64_t address;
	uint64_t slot;  /* content of the table, or 0: not known there */
	uint64_t ticks; /* >> tick_shift: when */
};

/* size bytes at p were handed out. family is an enum heap_family. */
void tracer_record_alloc(const struct walk_start *from, void *p, size_t size, unsigned family);

/*
 * So many bytes are about to be asked for, of which the allocator may touch all: whoever is killed for that leaves them noted. The
 * next note of the thread takes its place, or tracer_record_none(), where nothing was handed out.
 */
#define TRACER_LARGE ((size_t)128 << 10)
void tracer_record_intent(const struct walk_start *from, size_t size, unsigned family);
void tracer_record_none(void);

/* p is about to be given back. */
void tracer_record_free(const struct walk_start *from, void *p);

/* p is about to be given to realloc: it is forgotten until one of the next two. */
struct tracer_old tracer_record_give_up(void *p);
/* The realloc gave size bytes at p. */
void tracer_record_realloc(const struct walk_start *from, const struct tracer_old *old, void *p,
			   size_t size);
/* The realloc freed it and gave nothing. */
void tracer_record_given_up(const struct walk_start *from, const struct tracer_old *old);
/* The realloc failed: the block is still there. */
void tracer_record_take_back(const struct walk_start *from, const struct tracer_old *old);

/* Memory mapped or unmapped: as heap_event has it. */
struct tracer_range {
	uint64_t address, size;
	uint64_t old_address, old_size; /* what it was before: REMAP, BREAK */
	unsigned kind;                  /* enum heap_range */
};

void tracer_record_range(const struct walk_start *from, const struct tracer_range *range);

/*
 * The frame that called the hook in which this stands. Hooks are compiled with frame pointers. On AArch64 those lead to the
 * lower end of the hook's frame, and only the compiler knows where the caller's begins.
 */
#if defined(__aarch64__)
#define TRACER_CALLER() tracer_caller(__builtin_frame_address(0), __builtin_dwarf_cfa())
#else
#define TRACER_CALLER() \
	tracer_caller(__builtin_frame_address(0), (uint64_t *)__builtin_frame_address(0) + 2)
#endif
static inline struct walk_start tracer_caller(const uint64_t *frame, const void *sp)
{
	return (struct walk_start){ .pc = unwind_strip(UNWIND_HERE, frame[1]),
				    .sp = (uint64_t)sp,
				    .fp = frame[0],
				    .at = frame + 1 };
}

/*
 * The same in a function that the hook ends with: pc is where the hook returns to. A compiler makes a jump of that, or a call:
 * then the hook's own frame is the next one outward.
 */
#if defined(__x86_64__)
#define TRACER_CALLER_AT(pc) tracer_caller_at(__builtin_frame_address(0), pc)
static inline struct walk_start tracer_caller_at(const uint64_t *frame, const void *pc)
{
	if (__builtin_expect(frame[1] != (uint64_t)pc, 0))
		frame = (const uint64_t *)frame[0];
	return tracer_caller(frame, frame + 2);
}
#else
/* There it is a part of the hook. */
#define TRACER_CALLER_AT(pc) ((void)(pc), TRACER_CALLER())
#endif

#endif
