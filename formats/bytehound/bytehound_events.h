/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of a bytehound .dat as tables. The file is chunks of {kind, length, bytes}, whose contents are one stream of events
 * without lengths: what has an unknown number ends the reading.
 */
#ifndef PROFTOP_FORMATS_BYTEHOUND_BYTEHOUND_EVENTS_H
#define PROFTOP_FORMATS_BYTEHOUND_BYTEHOUND_EVENTS_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;
struct profile;
struct progress;

enum bytehound_deed { BYTEHOUND_ALLOC, BYTEHOUND_REALLOC, BYTEHOUND_FREE };

/* An id of a block; both 0: it has none, and its address tells which one it is. */
struct bytehound_id {
	uint64_t thread, number;
};

struct bytehound_event {
	uint64_t time_us; /* CLOCK_MONOTONIC */
	struct bytehound_id id;
	uint64_t pointer, old_pointer;
	uint64_t size;      /* bytes */
	uint64_t backtrace; /* its id; 0 of frees: none */
	uint32_t thread;    /* tid */
	uint8_t deed;       /* enum bytehound_deed */
};

/* Addresses, innermost first; or frames, likewise, of files whose names were looked up. */
struct bytehound_backtrace {
	uint64_t id;
	size_t first; /* in .links, the innermost; or in .frame_ids */
	uint32_t n;
	bool decoded;
};

struct bytehound_frame {
	uint32_t library, function, source; /* ids of strings, UINT32_MAX: none */
	uint32_t line;                      /* UINT32_MAX: none */
	bool inlined;
};

struct bytehound_region {
	uint64_t time_us, start, bytes, offset;
	uint32_t path; /* string_id */
	bool executable;
};

/* Blocks that are known as sums only, of files that were stripped. */
struct bytehound_group {
	uint64_t backtrace, first_us, calls, bytes;
};

struct bytehound_string {
	uint32_t id;
	uint32_t text; /* string_id */
};

#define BYTEHOUND_NO_LINK SIZE_MAX

/* An address of a stack, and the link of the one that called it. Stacks that share their outer part share its links. */
struct bytehound_link {
	uint64_t address;
	size_t outer; /* BYTEHOUND_NO_LINK: it is outermost */
};

/* The last stack of a thread, which the next one may share its outer part with. */
struct bytehound_thread {
	uint32_t tid;
	uint32_t n;
	size_t first; /* in .links */
};

struct bytehound_events {
	struct profile *p; /* borrowed; wants the pen where strings are built */
	bool has_header;
	uint32_t pid;
	uint64_t start_us;
	uint32_t command, executable; /* string_id */
	VEC(struct bytehound_event) all;
	VEC(struct bytehound_backtrace) backtraces;
	struct map by_id; /* of backtraces */
	VEC(struct bytehound_link) links;
	VEC(uint32_t) frame_ids;
	VEC(struct bytehound_frame) frames;
	VEC(struct bytehound_string) strings;
	VEC(struct bytehound_region) regions;
	VEC(struct bytehound_group) groups;
	VEC(struct bytehound_thread) threads;
	struct map by_tid;  /* of threads */
	uint64_t n_decoded; /* backtraces: their number is their id */
	uint64_t n_markers, n_maps;
	uint64_t n_odd;    /* stacks that share with one that is shorter */
	struct err damage; /* why the rest could not be read; code 0: all was */
};

/* Is this the beginning of such a file? */
bool bytehound_events_begin(const uint8_t *bytes, size_t n);

/* Reads all of it. 0, also where it breaks off (e->damage); -ECANCELED, or -errno with nothing read. Takes the pen for moments. */
int bytehound_events_read(struct bytehound_events *e, struct input *in, struct progress *progress);
void bytehound_events_done(struct bytehound_events *e);

/* By its id, or NULL. */
const struct bytehound_backtrace *bytehound_backtrace_of(const struct bytehound_events *e,
							 uint64_t id);

#endif
