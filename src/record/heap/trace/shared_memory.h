/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that outlives the process: rings, stacks and records in it are read by others after the process was killed.
 *
 * It is System V shared memory: the kernel holds it until somebody removes it, with neither a process nor a file system behind it
 * that could fill up, and knows whether anybody is attached to it. Pages are made when they are touched, as any others.
 * Where it cannot be had the memory is private, and goes with the process.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_SHARED_MEMORY_H
#define PROFTOP_RECORD_HEAP_TRACE_SHARED_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEPT_MAGIC    UINT64_C(0x317470656b707470) /* "ptpkept1" */
#define KEPT_SEGMENTS 16u
#define KEPT_HEAD     4096u /* bytes of a segment that its head has */
#define KEPT_PATH     3072u

#define KEPT_MOST_LEFT \
	16u /* sets of dead processes that nobody took: with so many there is no other one */

enum kept_state {
	KEPT_NEW,      /* nothing in it is of use yet */
	KEPT_IN_USE,   /* what it holds is not in the trace, or not all of it */
	KEPT_FINISHED, /* all of it is */
};

/* A segment, and where the process has it. */
struct kept_segment {
	uint64_t address, bytes;
	int32_t id; /* as shmat(2) takes it */
	uint32_t pad;
};

/* At the beginning of each segment. */
struct kept_head {
	uint64_t magic;
	uint64_t set;           /* random: the same in all segments of one process */
	int32_t first;          /* id of the first segment, whose head has what follows */
	_Atomic uint32_t state; /* enum kept_state */
	_Atomic uint32_t n_segments;
	uint32_t pad;
	struct kept_segment segment[KEPT_SEGMENTS];
	char path[KEPT_PATH]; /* of what this belongs to; empty: not known */
};

/* Takes memory that outlives us from now on, if it can be had; removes what dead processes of this user left behind finished. */
void shared_memory_begin(void);

/* Zeroed memory, aligned to pages, never given back; private memory where there is no other. NULL: there is none at all. */
void *shared_memory_map(size_t bytes);

/* Gives the memory of whole pages back, not their addresses: they are zeroed. */
void shared_memory_empty(void *p, size_t bytes);

/* Was there none to be had because so much is left of processes that were killed? */
bool shared_memory_is_crowded(void);

/* Number of the first segment, or -1. */
int shared_memory_id(void);

/* The file that the memory belongs to: without it the memory is of no use to anybody. */
void shared_memory_name(const char *path);

/* What the memory holds is of use, or is not any more. */
void shared_memory_state(enum kept_state state);

/* The process may soon be forbidden calls of the kernel: no more memory is asked for or removed. */
void shared_memory_freeze(void);

/* It is finished, and the process is about to end: removes it. */
void shared_memory_remove(void);

/*
 * In the child of a fork the memory is the parent's: this process has a copy from now on, at the same addresses. is_spare: of a
 * page that may become zeroes. The copy that its parent had of its own parent's goes.
 */
void shared_memory_copy(bool (*is_spare)(const void *page));

#endif
