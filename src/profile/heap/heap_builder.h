/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocations as their writer sees them: called with the pen held (builder.h), where errors stick.
 *
 * What happens on a heap is told in order, track by track:
 *
 *     moment = build_moment(p, track, time);     what happens next happens now
 *     a = build_allocation(p, track, size, origin);
 *     …
 *     build_moment(p, track, later);
 *     build_release(p, a, track, false, by);
 *
 * A realloc is a release and an allocation at one moment. The reader of a format knows which block an
 * address is; the model knows blocks by number only.
 */
#ifndef PROFTOP_PROFILE_HEAP_HEAP_BUILDER_H
#define PROFTOP_PROFILE_HEAP_HEAP_BUILDER_H

#include "profile/heap/heap.h"

struct err;

/*
 * Has the table of allocations in temporary files from now on, for more than memory should hold; what is
 * the input, for the sentence. 0, also when it is already; -errno with a sentence, and memory has it still.
 */
int build_heap_in_files(struct profile *p, const char *what, struct err *e);

/* A new one each time; how it was sampled at first is as in struct heap_rate. */
track_id build_heap_track(struct profile *p, process_id process, double sample_bytes,
			  uint64_t exact_from);

/* Begun in the middle of the process's life, or with what lived less than culled_ns only counted: once, at first. */
void build_heap_manner(struct profile *p, track_id t, bool attached, int64_t culled_ns);

/* HEAP_LACKS_… of the track's input. */
void build_heap_lacks(struct profile *p, track_id t, uint32_t lacks);

/* The process has ended, or became another program: what it held is there no more. What leaked is what it held then. */
void build_heap_gone(struct profile *p, track_id t, int64_t time_ns);
/* The recording ended before the process did. */
void build_heap_lives_on(struct profile *p, track_id t);
/* See known_ns of struct heap_track. */
void build_heap_known(struct profile *p, track_id t, int64_t time_ns);

/* How what comes after the current moment was sampled. */
void build_heap_rate(struct profile *p, track_id t, double sample_bytes, uint64_t exact_from);

/* An event whose weights are blocks: malloc, mmap. Interned by name, as other events. */
event_id build_heap_event(struct profile *p, const char *name);

/* Interned by all its fields. */
origin_id build_heap_origin(struct profile *p, const struct heap_origin *o);

/*
 * Begins the next moment of the track. Clocks that go back are held. Times are kept to two millionths
 * of what the track has lasted, or a microsecond, whichever is more.
 */
uint32_t build_moment(struct profile *p, track_id t, int64_t time_ns);

/*
 * May so many bytes more be told of, as a block of SIZE_LARGE bytes or more, or as bulk? False: all such of all tracks would be
 * more than SIZE_SUM_MOST, and nothing was granted. For readers of what may claim anything.
 */
bool build_heap_claim(struct profile *p, uint64_t bytes);

/* A block of at most SIZE_MOST bytes handed out at the track's moment. The origin is of the track. */
allocation_id build_allocation(struct profile *p, track_id t, uint64_t size, origin_id origin);
/*
 * The block is given back at the track's moment, which is its own track's; a second time is ignored.
 * by: who did it, {ID_NONE} where that is not recorded. temporary: see END_TEMPORARY.
 */
void build_release(struct profile *p, allocation_id a, track_id t, bool temporary, origin_id by);
/* Was it given back? Also while a pen is out. */
bool built_release(const struct profile *p, allocation_id a);
/* The origin that an allocation was made with. */
origin_id built_origin(const struct profile *p, allocation_id a);
void build_bulk(struct profile *p, const struct heap_bulk *bulk);

/*
 * For recordings that go on and on, see build_folding(): blocks that were freed long ago become bulk, where there are too many
 * of them; what is live, peaks and all sums stay what they were, exactly. For one who adds allocations, right after
 * builder_begin(), as their numbers are others then, those of all tracks. False: nothing was done. Else it has published, and *to says by
 * the number before [*n] which one each has, ID_NONE where it has none; the caller frees it. to may be NULL, for one who watches.
 */
bool build_heap_fold(struct profile *p, uint32_t **to, uint32_t *n);

/* Interned by capture and name. */
series_id build_heap_series(struct profile *p, capture_id c, const char *name, enum unit unit);
void build_heap_reading(struct profile *p, series_id s, int64_t time_ns, int64_t value);
void build_heap_mark(struct profile *p, const struct heap_mark *m);

#endif
