/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the recorder knows and the trace does not have yet, in memory that outlives the process (shared_memory.h): whoever finds it after
 * the process was killed writes what is missing (heap_salvage.h).
 *
 * A process may be killed between any two instructions. So what is more than a word is written beside what counts, and then one word
 * says that it counts. Pointers are those of the process.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_PENDING_STATE_H
#define PROFTOP_RECORD_HEAP_TRACE_PENDING_STATE_H

#include "record/heap/stack/stack_trie.h"
#include "record/heap/trace/tracer_clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BOX_THREADS      65536u
#define BOX_RECORD_BYTES (256u << 10)
#define BOX_RECORD_QUEUE 8u
#define BOX_SWITCHES     1024u

struct tracer_thread;

/* Of a thread: what was taken of its ring, and what the next note is told relative to. */
struct tracer_taken {
	uint64_t tail;        /* words taken so far */
	uint64_t write_id;    /* the next allocation's */
	uint64_t n_culled;    /* ids from there on that are nobody's, as culling left them out */
	uint64_t write_ticks; /* >> tick_shift: of the last note taken */
	uint64_t write_us;    /* of the last event written */
	bool left_free; /* something was left out since the last event, not just an allocation */
};

/* What is in the file. */
struct box_file {
	uint64_t n_bytes, n_blocks;
	uint64_t inode;
	uint64_t n_events, n_allocs, n_frees, n_allocated; /* the last: bytes */
	uint64_t n_nodes;                                  /* of the trie */
};

/* What was left out at one stack of one thread. */
struct cull_sum {
	uint32_t stack, thread;
	uint64_t calls; /* 0: empty */
	uint64_t bytes;
	uint64_t ticks;     /* that they lived, >> tick_shift */
	uint64_t temporary; /* freed before their thread did anything else to the heap */
};

/* An allocation and its free that are being left out: undone where the process is killed meanwhile. */
struct cull_pair {
	_Atomic uint32_t sum; /* one of sums + 1, which counts them; 0: no pair is being left out */
	struct cull_sum was;  /* that sum without them */
	struct tracer_thread *thread; /* whose notes they are */
	uint64_t alloc_at, free_at;   /* words of its ring where these are */
};

struct pending_state {
	/* What this struct looks like: box_layout(). */
	uint64_t layout;
	uint64_t run;       /* as the head of the trace has it */
	uint64_t max_bytes; /* the trace becomes no larger; 0: it may */
	uint32_t tick_shift;
	bool addresses;              /* of allocations are recorded */
	_Atomic uint64_t next_chunk; /* of ids */
	/* bytes of the trace before the process was dead, while it is completed; else 0 */
	uint64_t salvaged_from;

	_Atomic uint32_t n_threads; /* in thread; more than BOX_THREADS: the others are not there */
	struct tracer_thread *_Atomic thread[BOX_THREADS];

	struct trie_node *_Atomic chunk[TRIE_MAX_CHUNKS];
	_Atomic uint32_t n_nodes; /* of the trie */

	uint8_t *record_memory;                          /* [BOX_RECORD_QUEUE][BOX_RECORD_BYTES] */
	_Atomic uint32_t record_bytes[BOX_RECORD_QUEUE]; /* of whole records */
	/* number of the buffer that records go into, modulo BOX_RECORD_QUEUE */
	_Atomic uint32_t filling;
	/* the one to be written next; those from it to `filling` are not empty */
	_Atomic uint32_t oldest;

	struct box_file file[2];
	_Atomic uint32_t file_at; /* which of the two counts */
	struct tracer_clock clock[2];
	_Atomic uint32_t clock_at;

	/* The block that is being written: once it is in the file, this counts. */
	struct {
		_Atomic uint64_t checksum; /* of the block; 0: none is being written that matters */
		struct tracer_thread *thread; /* whose `kept` is then number kept_at */
		uint32_t kept_at;
		uint32_t oldest; /* thread NULL: what `oldest` is then */
	} pending;

	/* The process is about to become another program; 0 again where it could not. */
	_Atomic bool becomes;
	char program[1024]; /* which; ends in NUL */

	_Atomic uint64_t n_lost; /* events lost and told, in this recording */
	/* events lost of threads that have no state, or no way to tell of them, and not told yet */
	_Atomic uint64_t n_unsaid;

	/* When recording was switched off and on: at_us since the beginning + 1; 0: not known. */
	_Atomic uint64_t switch_us[BOX_SWITCHES];
	_Atomic uint64_t n_switches, n_switches_told;

	/* What culling left out and was not told; see short_lived.c. */
	struct cull_sum *sums;
	uint32_t n_sums;        /* room in sums */
	uint64_t cull_since_ns; /* nothing that was counted is older */
	/* one of them + 1 whose record is being put, or was just now; 0: none */
	_Atomic uint32_t cull_telling;
	struct cull_pair cull_pair;
};

#endif
