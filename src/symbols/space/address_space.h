/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What processes had mapped where, over time.
 *
 * A new mapping hides older ones where it overlaps them. A process starts anew at exec and fork; a
 * forked one sees, where it has mapped nothing itself, what its parent had at that moment. Nothing is
 * copied for that, so that short-lived processes cost a few dozen bytes each. Events may be told in
 * any order: they are placed by their time, and only those of the same time by the order of telling.
 */
#ifndef PROFTOP_SYMBOLS_SPACE_ADDRESS_SPACE_H
#define PROFTOP_SYMBOLS_SPACE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spaces;

#define SPACE_NONE   UINT32_MAX
#define SPACE_KERNEL 0u /* there from the beginning */

/* What an address was found in. */
struct sighting {
	uint32_t dso;  /* the mapping's; SPACE_NONE: nothing is mapped there */
	uint64_t bias; /* the mapping's */
	int64_t from;  /* the answer is the same for times >= from … */
	int64_t to;    /* … and < to, as far as was told */
};

struct spaces *spaces_new(void);
void spaces_free(struct spaces *s);

/* The number of a process's space; made when not known yet. Pids <= 0 are the kernel. */
uint32_t spaces_of(struct spaces *s, int32_t pid);
/* The same, or SPACE_NONE. */
uint32_t spaces_find(const struct spaces *s, int32_t pid);

/*
 * Maps [start, end) from time on; start < end. dso and bias are the caller's. Does nothing beyond
 * some millions of mappings; spaces_dropped() counts them.
 */
void spaces_map(struct spaces *s, uint32_t space, int64_t time, uint64_t start, uint64_t end,
		uint32_t dso, uint64_t bias);
void spaces_fork(struct spaces *s, uint32_t space, uint32_t parent, int64_t time);
void spaces_exec(struct spaces *s, uint32_t space, int64_t time);

/*
 * Of these processes nothing is asked or told any more, at any time: their spaces go, as soon as none that was forked from
 * them looks there. Numbers of spaces that go may be given to others; a pid that comes again gets a new one.
 */
void spaces_end(struct spaces *s, const int32_t *pids, size_t n);

/* How many there are, with the kernel's. */
size_t spaces_n(const struct spaces *s);
/* How many mappings of them are known. */
size_t spaces_n_mappings(const struct spaces *s);

/* Says that answers of this and of what lies over it have changed: nothing cached holds any more. */
void spaces_changed(struct spaces *s);

/* What lay at address at time; out->dso is SPACE_NONE when nothing did. */
void spaces_look(const struct spaces *s, uint32_t space, int64_t time, uint64_t address,
		 struct sighting *out);

/* The last moment of the program that ran there before the one of time did; time when there was none. */
int64_t spaces_before_exec(const struct spaces *s, uint32_t space, int64_t time);

/* Is anything mapped in it, by itself or by those it was forked from? */
bool spaces_any(const struct spaces *s, uint32_t space);

/*
 * What cached answers of a space depend on: they hold as long as their stamp is the space's. Changes
 * that only fill holes spare answers that found something.
 */
struct address_space_stamps {
	uint32_t found; /* of answers that found a mapping */
	uint32_t empty; /* of answers that found none */
};
struct address_space_stamps spaces_stamps(const struct spaces *s, uint32_t space);

/* Mappings and turns of life that were not kept because there were too many. */
uint64_t spaces_dropped(const struct spaces *s);

#endif
