/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of a heap trace, in the order of time, become allocations of the profile. All calls but those that
 * begin and end want the pen.
 */
#ifndef PROFTOP_HEAPTRACE_READ_APPLY_EVENTS_H
#define PROFTOP_HEAPTRACE_READ_APPLY_EVENTS_H

#include "base/mem.h"
#include "heaptrace/read/apply_records.h"
#include "heaptrace/read/origin_cache.h"
#include "profile/heap/heap_builder.h"

#include <stddef.h>
#include <stdint.h>

struct heap_parcel;
struct heap_rows;
struct heap_stacks;

/* A thread while its events are read. */
struct heap_worker {
	struct heap_name name;
	uint32_t epoch;              /* of the mappings when at_hand was filled */
	int64_t until_ns;            /* from here on name or epoch may be others */
	struct origin_cache at_hand; /* origins of its name and of that epoch */
	uint64_t fresh_id;           /* what its last event allocated; 0: it was another one */
};

/* Filled in by the caller as far as it is borrowed; zeroed else. */
struct heap_taker {
	struct profile *profile;    /* borrowed */
	struct apply_records *tell; /* borrowed */
	struct heap_stacks *stacks; /* borrowed */
	struct heap_rows *rows;     /* owned */
	track_id track;
	event_id heap_event, map_event;
	uint64_t n_skipped;     /* events that were dropped while recording */
	uint64_t skipped_until; /* the time up to which they were; what is left of it is left out */
	uint64_t n_events;      /* that were read, those that are left out too */
	uint64_t n_left_out;    /* of them */
	size_t n_culled;        /* of tell->culled, that were added */
	size_t n_samplings;     /* rates of sampling that the events have come to */
	VEC(struct heap_worker) workers; /* by index of the thread */
};

void apply_events_parcel(struct heap_taker *t, const struct heap_parcel *p);

/* The profile is told who keeps numbers of its rows and stacks, which may be others from now on. t is filled in. */
void heap_taker_begin(struct heap_taker *t);

/* Has the profile fold what was freed long ago, see build_heap_fold(), right after builder_begin(). */
void apply_events_fold(struct heap_taker *t);

/* What was only counted is put where it was said, as far as that was not done. */
void apply_events_culled(struct heap_taker *t);

/* Names of threads may have changed. */
void apply_events_anew(struct heap_taker *t);

void heap_taker_done(struct heap_taker *t);

#endif
