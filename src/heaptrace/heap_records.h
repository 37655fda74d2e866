/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Our heap trace, everything that is not an event: stack nodes, and records of process, modules, maps,
 * threads, usage, markers, sampling, culling and loss.
 *
 * A record is a type, a length, then numbers and texts in the order of the table below. Later
 * versions add records and append fields; a reader skips the records that it does not know and what
 * follows the fields that it does. As heap_wire.h: no allocation, no locks, no I/O.
 */
#ifndef PROFTOP_HEAPTRACE_HEAP_RECORDS_H
#define PROFTOP_HEAPTRACE_HEAP_RECORDS_H

#include "heaptrace/heap_wire.h"

/*
 * X(name, type, number of numbers, number of texts). The numbers are named by the enums below; every
 * record's number 0 is its time.
 */
/* clang-format off */
#define HEAP_RECORDS(X) \
	X(PROCESS, 1, 6, 4) \
	X(ENVIRONMENT, 2, 1, 1) \
	X(OPTIONS, 3, 4, 0) \
	X(THREAD, 4, 3, 1) \
	X(THREAD_END, 5, 2, 0) \
	X(MODULE, 6, 2, 2) \
	X(MAP, 7, 6, 0) \
	X(UNMAP, 8, 3, 0) \
	X(USAGE, 9, 7, 0) \
	X(MARK, 10, 2, 1) \
	X(SAMPLING, 11, 3, 0) \
	X(CULLING, 12, 2, 0) \
	X(CULLED, 13, 8, 0) \
	X(LOST, 14, 3, 0) \
	X(SWITCH, 15, 2, 0) \
	X(NOTE, 16, 1, 1) \
	X(EXEC, 17, 1, 1) \
	X(END, 18, 6, 0) \
	X(OVERHEAD, 19, 2, 0) \
	X(COST, 20, 5, 0)
/* clang-format on */

enum heap_record_type {
#define X(name, type, n_numbers, n_texts) HEAP_REC_##name = type,
	HEAP_RECORDS(X)
#undef X
};

/* Indexes of numbers and texts, by record. */
enum { HEAP_TIME = 0 };
enum {
	HEAP_PROCESS_PID = 1,
	HEAP_PROCESS_PARENT,
	HEAP_PROCESS_UID,
	HEAP_PROCESS_PAGE_BYTES,
	HEAP_PROCESS_CPUS
};
enum { HEAP_PROCESS_EXE, HEAP_PROCESS_COMMAND, HEAP_PROCESS_DIRECTORY, HEAP_PROCESS_HOST };
enum { HEAP_OPTIONS_ATTACHED = 1, HEAP_OPTIONS_FREE_STACKS, HEAP_OPTIONS_RANGES };
enum { HEAP_THREAD_INDEX = 1, HEAP_THREAD_TID };
enum { HEAP_MODULE_INDEX = 1 };
enum { HEAP_MODULE_PATH, HEAP_MODULE_BUILD_ID };
enum { HEAP_MAP_START = 1, HEAP_MAP_BYTES, HEAP_MAP_OFFSET, HEAP_MAP_MODULE, HEAP_MAP_PROT };
enum {
	HEAP_USAGE_RSS = 1,
	HEAP_USAGE_PSS,
	HEAP_USAGE_ANON,
	HEAP_USAGE_SWAP,
	HEAP_USAGE_MINOR,
	HEAP_USAGE_MAJOR
};
enum { HEAP_MARK_THREAD = 1 };
enum { HEAP_SAMPLING_MEAN_BYTES = 1, HEAP_SAMPLING_EXACT_FROM };
enum { HEAP_CULLING_THRESHOLD = 1 };
enum { HEAP_OVERHEAD_MOST = 1 };
enum { HEAP_COST_PROGRAM = 1, HEAP_COST_RECORDING, HEAP_COST_PASSING, HEAP_COST_PASSED };
enum {
	HEAP_CULLED_SINCE = 1,
	HEAP_CULLED_STACK,
	HEAP_CULLED_COUNT,
	HEAP_CULLED_BYTES,
	HEAP_CULLED_LIFETIME,
	HEAP_CULLED_THREAD,
	HEAP_CULLED_TEMPORARY
};
enum { HEAP_LOST_THREAD = 1, HEAP_LOST_EVENTS };
enum { HEAP_SWITCH_ON = 1 };
enum { HEAP_END_EVENTS = 1, HEAP_END_ALLOCS, HEAP_END_FREES, HEAP_END_BYTES, HEAP_END_LOST };

#define HEAP_RECORD_NUMBERS 8u
#define HEAP_RECORD_TEXTS   4u

struct heap_text {
	const uint8_t *at; /* borrowed; not terminated; hostile */
	size_t n;
};

struct heap_record {
	uint64_t type; /* an enum heap_record_type, or what came later */
	uint64_t number[HEAP_RECORD_NUMBERS];
	struct heap_text text[HEAP_RECORD_TEXTS];
	bool known; /* the type is in the table; else numbers and texts are empty */
};

/* Adds r, with the fields that the table says. False: it does not fit, nothing was added. */
bool heap_put_record(struct heap_out *o, const struct heap_record *r);

/* The next record; false at the end or when in->bad was set: then the rest cannot be read. */
bool heap_take_record(struct heap_in *in, struct heap_record *out);

/* Return addresses that are none: frames that stand for what is not known. */
#define HEAP_IP_UNKNOWN 0u /* outermost: who called this was not to be found */
#define HEAP_IP_ELIDED  1u /* frames were left out here, the stack being too deep */

struct heap_node {
	uint64_t ip; /* a return address; the next instruction when exact */
	/* the caller's node, always a smaller number; 0 is the root, which has no frame */
	uint32_t parent;
	bool exact; /* the frame was interrupted here (by a signal); else ip - 1 is in the call */
};

/* What nodes are told relative to. */
struct heap_node_state {
	uint64_t ip; /* of the last node, with its flag */
	uint64_t id; /* of the next node */
};

/* Adds the next node of a block to its two columns. False: it does not fit. */
bool heap_put_node(struct heap_out *parents, struct heap_out *ips, struct heap_node_state *s,
		   const struct heap_node *n);

/* The next node; false when either column was cut or the parent is not before it. */
bool heap_take_node(struct heap_in *parents, struct heap_in *ips, struct heap_node_state *s,
		    struct heap_node *out);

#endif
