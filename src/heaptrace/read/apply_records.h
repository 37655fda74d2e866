/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of a heap trace: who ran, what was mapped, names of threads, readings, marks, what was
 * left out. They are read before the events, each with its time.
 */
#ifndef PROFTOP_HEAPTRACE_READ_APPLY_RECORDS_H
#define PROFTOP_HEAPTRACE_READ_APPLY_RECORDS_H

#include "base/mem.h"
#include "heaptrace/heap_records.h"
#include "heaptrace/read/heap_blocks.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "symbols/resolver.h"

#include <stdbool.h>
#include <stdint.h>

struct heap_stacks;

/* A thread under one name, from a time on. */
struct heap_name {
	uint32_t index; /* of the thread */
	int64_t from_ns;
	int64_t to_ns; /* from here on it has another one; INT64_MAX: never */
	thread_id thread;
	stack_id root;
};

/* A file that was mapped. */
struct heap_module {
	uint64_t index;
	char *path; /* owned */
	struct build_id build_id;
};

/* Allocations that were only counted. */
struct heap_culled {
	uint32_t thread; /* index */
	uint32_t stack;  /* node */
	int64_t time_ns;
	uint64_t calls;
	uint64_t bytes;
	uint64_t temporary;
};

/* A rate of sampling, from a time on. */
struct heap_sampling {
	int64_t time_ns;     /* INT64_MIN: from the beginning */
	double sample_bytes; /* as in struct heap_rate */
	uint64_t exact_from; /* likewise */
};

struct apply_records {
	struct profile *profile; /* borrowed, as what follows */
	struct resolver *resolver;
	struct heap_stacks *stacks;
	struct heap_file_header head;
	capture_id capture;
	process_id process;
	enum root_names root_names;
	VEC(struct heap_name) names; /* by thread and time once they were sorted */
	bool names_sorted;
	VEC(struct heap_culled) culled;
	VEC(struct heap_module) modules;
	VEC(struct heap_sampling) samplings; /* in the order of the file */
	bool events_begun; /* kept by who reads blocks: one of events came before these records */
	uint64_t newest;   /* time of the newest reading */
	uint64_t last;     /* time of the newest record of any kind */
	/* events of so much time may not be in the file yet: culling waits for frees */
	uint64_t held;
	uint64_t n_lost; /* events that were not recorded */
	bool ended;      /* there is an END */
	bool execed; /* the last thing that it says is that the process became another program */
	uint64_t n_events_said; /* by it */
	bool free_stacks;       /* who frees was recorded */
	uint64_t overhead; /* of the program's time recording was to take, in millionths; 0: any */
	/* CPU time, in units of the file: the program's, what is recorded took, and calls that are not; 0: not told */
	uint64_t program_time, recording_time, passing_time;
	uint64_t n_passed; /* these calls */
	bool attached;     /* the program had run before */
	int64_t paused_ns; /* for so long, in pauses that are over, no allocations were recorded */
	int64_t paused_from; /* when the one began that goes on; TIME_NONE: none does */
	uint64_t n_pauses;
	uint64_t n_bad;   /* records that made no sense */
	uint64_t n_notes; /* texts of the recorder */
};

/* For how long no allocations were recorded, until end_ns. */
int64_t apply_records_paused(const struct apply_records *t, int64_t end_ns);

/* The time of the file as the profile has it: CLOCK_MONOTONIC, ns. */
static inline int64_t apply_records_time(const struct apply_records *t, uint64_t time)
{
	uint64_t ns;

	if (__builtin_mul_overflow(time, (uint64_t)t->head.unit_ns, &ns) ||
	    __builtin_add_overflow(ns, t->head.start_mono, &ns) || ns > INT64_MAX / 2)
		return INT64_MAX / 2;
	return (int64_t)ns;
}

/* Takes the records of a block, which was unpacked. Wants the pen. */
void apply_records_block(struct apply_records *t, const struct heap_unpacked *u);

/* The newest name of a thread at a time; made up where there is none. Wants the pen. */
struct heap_name apply_records_thread(struct apply_records *t, uint32_t index, int64_t time_ns);

/* Stacks have other numbers from now on: roots of names are looked up anew. Wants the pen. */
void apply_records_roots(struct apply_records *t);

void apply_records_done(struct apply_records *t);

#endif
