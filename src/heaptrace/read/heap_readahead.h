/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of all threads of a heap trace in the order of time, unpacked, decoded and merged on a
 * thread of its own, a little ahead of whoever takes them.
 */
#ifndef PROFTOP_HEAPTRACE_READ_HEAP_READAHEAD_H
#define PROFTOP_HEAPTRACE_READ_HEAP_READAHEAD_H

#include "heaptrace/heap_events.h"

#include <stddef.h>
#include <stdint.h>

struct heap_readahead;
struct heap_merge;

/* The op of an event that is told in full. */
#define HEAP_TOLD_IN_FULL 0xffu

/*
 * An event in brief, as it goes from one processor to the other: what allocations and frees by id have, which
 * nearly all are.
 */
struct heap_brief {
	uint64_t time; /* as in struct heap_event, as what follows */
	uint32_t id;   /* HEAP_TOLD_IN_FULL: the event's index in the parcel's `full` */
	uint32_t size; /* of HEAP_ALLOC */
	uint32_t stack;
	uint8_t op; /* HEAP_ALLOC, HEAP_FREE or HEAP_TOLD_IN_FULL */
	uint8_t kind;
};

/* Events of one thread, one after the other. */
struct heap_run {
	uint32_t thread;                /* its index */
	uint32_t n;                     /* events, at least 1 */
	const struct heap_brief *event; /* [n] */
};

/* Some runs in order; good until the next is asked for. */
struct heap_parcel {
	const struct heap_run *run;    /* [n_runs]; their events stand one behind the other */
	size_t n_runs;                 /* 0: that was all */
	const struct heap_event *full; /* events whose brief form does not say all */
	uint64_t n_events;
	uint64_t n_bytes; /* of blocks that were begun so far, for progress */
	uint64_t unread;  /* no block before this offset is read any more */
};

/* Borrows m, which nobody else may use until heap_readahead_free(). */
struct heap_readahead *heap_readahead_new(struct heap_merge *m);
/* Stops, also before the end. */
void heap_readahead_free(struct heap_readahead *f);

struct heap_parcel heap_readahead_next(struct heap_readahead *f);

#endif
