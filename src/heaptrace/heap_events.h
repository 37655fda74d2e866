/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our heap trace, the events of one thread as the columns of one block.
 *
 * Every event has a byte in the op column, which says what it is and which of the other columns go
 * on. An allocation takes the next id of its block; a free names the id that it ends, so that a
 * reader needs no table of addresses but for the few frees that the recorder could not match.
 * doc/trace-format.md is the reference. As heap_wire.h: no allocation, no locks, no I/O.
 */
#ifndef PROFTOP_HEAPTRACE_HEAP_EVENTS_H
#define PROFTOP_HEAPTRACE_HEAP_EVENTS_H

#include "heaptrace/heap_wire.h"

enum heap_op {
	HEAP_ALLOC = 0,           /* takes an id */
	HEAP_FREE = 1,            /* ends id */
	HEAP_FREE_ADDRESS = 2,    /* ends what is at old_address, if that was recorded */
	HEAP_REALLOC = 3,         /* ends old_id and takes an id: one step of a chain */
	HEAP_REALLOC_ADDRESS = 4, /* ends what is at old_address and takes an id */
	HEAP_EVICT = 5,           /* the free of id, which is at address, will come by address */
	HEAP_RANGE = 6,           /* memory mapped or unmapped: enum heap_range */
	HEAP_GAP = 7              /* `size` ids, from `id` on, are nobody's */
};

/* Which function gave the memory of an allocation. */
enum heap_family { HEAP_MALLOC = 0, HEAP_CALLOC = 1, HEAP_ALIGNED = 2, HEAP_CUSTOM = 3 };

enum heap_range {
	HEAP_MAP = 0,   /* mmap: size bytes at address */
	HEAP_UNMAP = 1, /* munmap: size bytes at address */
	HEAP_REMAP = 2, /* mremap: old_size bytes at old_address became size bytes at address */
	HEAP_BREAK = 3  /* brk, sbrk: the heap's end moved from old_address to address */
};

/* Parts of a byte of the op column. */
#define HEAP_OP_MASK      0x07u
#define HEAP_OP_HAS_TIME  0x08u /* time passed since the event before */
#define HEAP_OP_HAS_STACK 0x10u /* else as of the event before that is of the same sort */
#define HEAP_OP_HAS_SIZE  0x20u /* else as of the allocation before */
#define HEAP_OP_FAMILY    6u    /* shift: bits 6 and 7 are an enum heap_family */

struct heap_event {
	uint64_t time;        /* in the file's units */
	uint64_t id;          /* that was taken; of FREE and EVICT: that is meant */
	uint64_t address;     /* of the new memory; 0 when the block does not say; see the ops */
	uint64_t size;        /* bytes asked for; of ranges: their length; of gaps: ids */
	uint64_t old_id;      /* REALLOC */
	uint64_t old_address; /* FREE_ADDRESS, REALLOC_ADDRESS, RANGE */
	union {
		uint64_t old_size; /* RANGE */
		uint64_t early;    /* reallocs: so long before `time` what they ended was over */
	};
	uint32_t stack; /* node of the stack trie; 0: not recorded */
	uint8_t op;     /* enum heap_op */
	uint8_t kind;   /* enum heap_family, or enum heap_range of RANGE */
};

#define HEAP_MAX_GAP (UINT64_C(1) << 20) /* ids that one gap leaves out, at most */

#define HEAP_N_EVENT_COLUMNS 10u /* arrays of columns are indexed by enum heap_column_id */

/* The id of each, as a block's index has it; the first has none. */
extern const uint8_t heap_event_columns[HEAP_N_EVENT_COLUMNS];

/* What an event's numbers are told relative to; both sides keep one. */
struct heap_event_state {
	uint64_t time;
	uint64_t next_id;
	uint64_t ref;      /* the last id named that was far off */
	uint64_t size;     /* of the last allocation */
	uint64_t address;  /* of the last allocation, turned right by 3 bits */
	uint64_t loose;    /* the last address in that column, turned so too */
	uint32_t stack[2]; /* of the last allocation or range, and of the last free */
};

struct heap_event_writer {
	struct heap_out column[HEAP_N_EVENT_COLUMNS];
	struct heap_event_state state;
	uint32_t n, max;         /* events so far; room for how many */
	struct heap_block block; /* counts and times, kept up to date; columns are not */
	bool addresses;          /* write the address column */
};

/* Bytes of memory that a writer of max events needs. */
static inline size_t heap_event_memory(uint32_t max)
{
	return (size_t)max * 76 + HEAP_N_EVENT_COLUMNS * (size_t)16;
}

/*
 * Begins a block of thread's events, the first of them not before `time`; the first allocation takes
 * first_id. memory is heap_event_memory(max) bytes, borrowed; max is at most HEAP_MAX_EVENTS.
 */
void heap_event_writer_init(struct heap_event_writer *w, void *memory, uint32_t max,
			    uint32_t thread, uint64_t first_id, uint64_t time);

/*
 * Adds e, whose time must not be before the last one's; an earlier one is taken as equal to it. The
 * id that an allocation takes is the next in order, whatever e->id says. False: the block is full,
 * nothing was added.
 */
bool heap_write_event(struct heap_event_writer *w, const struct heap_event *e);

/* Is there room for n events, whatever they are? */
bool heap_event_writer_has_room(const struct heap_event_writer *w, uint32_t n);

struct heap_event_reader {
	struct heap_in column[HEAP_N_EVENT_COLUMNS];
	struct heap_event_state state;
	uint32_t n_left;    /* events not read yet */
	bool has_addresses; /* false, also set so by the caller: addresses of allocations are 0 */
	bool has_early;
	bool bad; /* an event could not be; those before it were read */
};

/*
 * Begins reading the events of b. column[] are the unpacked columns by id; those that the block does
 * not have are empty. They are borrowed.
 */
void heap_event_reader_init(struct heap_event_reader *r, const struct heap_block *b,
			    const struct heap_in column[HEAP_N_EVENT_COLUMNS]);

/* The next events, at most max; fewer at the end of the block or before one that is malformed. */
size_t heap_read_events(struct heap_event_reader *r, struct heap_event *out, size_t max);

#endif
