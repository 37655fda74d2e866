/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lines of a heap profile as tables.
 *
 *   gperftools, Go   heap profile: 13: 1595680 [47: 25845] @ heap/1048576
 *                    1: 524288 [3: 1572864] @ 0x420cef 0x422151
 *   jemalloc         heap_v2/524288
 *                      t*: 1026: 1249324 [0: 0]
 *                    @ 0x420cef 0x422151
 *                      t*: 46: 2207 [0: 0]
 *
 * Behind them come "#	0x420cef	main.f+0x5f	/x/main.go:12" of Go, below each stack, and MAPPED_LIBRARIES: with the lines of
 * /proc/PID/maps. `jeprof --raw` puts names before all.
 */
#ifndef PROFTOP_FORMATS_HEAP_PROFILE_HEAP_PROFILE_TEXT_H
#define PROFTOP_FORMATS_HEAP_PROFILE_HEAP_PROFILE_TEXT_H

#include "base/mem.h"
#include "profile/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

enum heap_profile_number {
	HEAP_PROFILE_OBJECTS,
	HEAP_PROFILE_BYTES,
	HEAP_PROFILE_ALL_OBJECTS,
	HEAP_PROFILE_ALL_BYTES
};
#define N_HEAP_PROFILE_NUMBERS 4

struct heap_profile_sample {
	uint64_t number[N_HEAP_PROFILE_NUMBERS];
	size_t first, n; /* in addresses, innermost first */
};

/* A name of an address; several in a row are inlined, innermost first. */
struct heap_profile_name {
	uint64_t address; /* as in stacks: where the call returns to */
	uint32_t name;    /* string_id */
	uint32_t file;    /* string_id; 0: unknown */
	uint32_t line;    /* 0: unknown */
	size_t n_samples; /* that came before it: it is below the last of them */
};

struct heap_profile_map {
	uint64_t start, end, offset;
	uint32_t path; /* string_id */
	bool executable;
};

enum heap_profile_kind {
	HEAP_PROFILE_UNKNOWN,
	HEAP_PROFILE_EXACT, /* every allocation */
	HEAP_PROFILE_SAMPLED,
	HEAP_PROFILE_GROWTH /* how the heap grew, not what is on it */
};

struct heap_profile_text {
	struct profile *p; /* borrowed */
	enum heap_profile_kind kind;
	bool jemalloc;
	uint64_t rate; /* mean distance of sampled bytes */
	VEC(struct heap_profile_sample) samples;
	VEC(uint64_t) addresses;
	VEC(struct heap_profile_name) names;
	VEC(struct heap_profile_map) maps;
	uint64_t n_threads; /* lines of single threads */
	bool in_maps, in_symbols;
	bool open; /* the last sample of jemalloc has its stack, and no numbers yet */
};

/* Wants the pen. What is wrong with the line, a constant, or NULL. */
const char *heap_profile_text_line(struct heap_profile_text *t, const char *s, size_t n);
/* When there are no more lines. */
void heap_profile_text_end(struct heap_profile_text *t);
void heap_profile_text_done(struct heap_profile_text *t);

/* Is it the first line of such a profile? */
bool heap_profile_text_is_head(const char *s, size_t n);

#endif
