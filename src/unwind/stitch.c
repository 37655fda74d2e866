/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Links from frames to their callers, of all threads in one table of fixed size. Where it is full the link
 * that was seen least goes; it is only missed, and what it said of two callers is forgotten with it.
 */
#include "config.h"

#include "unwind/stitch.h"

#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>

#define N_SETS    ((size_t)1 << 16)
#define N_WAYS    4 /* links of a set, 32 bytes each */
#define N_THREADS ((size_t)1 << 12)
#define OFTEN     3 /* times that a call must have been seen, to be believed */
#define OVERLAP   3 /* frames at the end of a copy that earlier stacks must have had */

/* A frame of a thread and its caller. */
struct link {
	uint64_t frame;  /* hash of thread, stack pointer and pc; 0: empty */
	uint64_t sp, pc; /* of the caller; pc 0: there is none, the frame is the outermost */
	uint32_t last;   /* number of the thread's stack that had it last */
	uint16_t n;      /* times that it came to be: stacks in a row count once */
	bool exact;      /* of the caller, as in struct walk_frame */
	bool torn;       /* has had different callers */
};

struct stitcher {
	struct link link[N_SETS][N_WAYS]; /* by hash; touched as they come */
	uint32_t n_stacks[N_THREADS];     /* taken of each thread; some may share a number */
};

struct stitcher *stitcher_new(void)
{
	return xcalloc(1, sizeof(struct stitcher));
}

void stitcher_free(struct stitcher *s)
{
	free(s);
}

static uint64_t key_of(uint64_t thread, const struct walk_frame *f)
{
	return hash_u64(hash_u64(thread ^ f->sp) ^ f->pc) | 1;
}

/* The link of a frame, or what makes room for it. */
static struct link *slot_of(struct stitcher *s, uint64_t key)
{
	struct link *set = s->link[key >> 1 & (N_SETS - 1)], *least = set;

	for (size_t i = 0; i < N_WAYS; i++) {
		if (set[i].frame == key)
			return &set[i];
		if (set[i].n < least->n)
			least = &set[i];
	}
	return least;
}

/* The link of a frame that always had the same caller, or NULL. */
static const struct link *find(struct stitcher *s, uint64_t thread, const struct walk_frame *f)
{
	uint64_t key = key_of(thread, f);
	const struct link *l = slot_of(s, key);

	return l->frame == key && !l->torn ? l : NULL;
}

static void learn(struct stitcher *s, uint64_t thread, const struct walk_frame *f,
		  const struct walk_frame *caller)
{
	uint32_t now = s->n_stacks[thread % N_THREADS];
	uint64_t key = key_of(thread, f);
	struct link *l = slot_of(s, key);

	if (l->frame != key)
		*l = (struct link){
			.frame = key, .sp = caller->sp, .pc = caller->pc, .exact = caller->exact
		};
	else if (l->sp != caller->sp || l->pc != caller->pc)
		l->torn = true;
	if ((l->n == 0 || now - l->last > 1) && l->n < UINT16_MAX)
		l->n++;
	l->last = now;
}

/* Had earlier stacks the last frames, one called by the other as here? */
static bool overlaps(struct stitcher *s, uint64_t thread, const struct walk_frame *f, size_t n)
{
	/* The innermost frame is where the cpu was, not where a call returns to. */
	if (n < OVERLAP + 1)
		return false;
	for (size_t i = n - OVERLAP; i < n - 1; i++) {
		const struct link *l = find(s, thread, &f[i]);

		if (!l || l->sp != f[i + 1].sp || l->pc != f[i + 1].pc)
			return false;
	}
	return true;
}

/* Frames from the n-th on, by links, to the outermost; n when they do not lead there. */
static size_t follow(struct stitcher *s, uint64_t thread, struct walk_frame *f, size_t n,
		     size_t max)
{
	for (size_t i = n; i <= max; i++) {
		const struct link *l = find(s, thread, &f[i - 1]);

		if (!l || l->n < OFTEN)
			return n;
		if (l->pc == 0)
			return i;
		if (i < max)
			f[i] = (struct walk_frame){ .pc = l->pc, .sp = l->sp, .exact = l->exact };
	}
	return n;
}

size_t stitcher_take(struct stitcher *s, int32_t pid, int32_t tid, enum walk_end end,
		     struct walk_frame *frames, size_t n, size_t max)
{
	static const struct walk_frame none;
	uint64_t thread = hash_pair((uint32_t)pid, (uint32_t)tid);
	bool join;

	s->n_stacks[thread % N_THREADS]++;
	if (n < 2 || (end != WALK_COMPLETE && end != WALK_TRUNCATED && end != WALK_OTHER_STACK))
		return n;
	join = end != WALK_COMPLETE && overlaps(s, thread, frames, n);
	for (size_t i = 1; i + 1 < n; i++)
		learn(s, thread, &frames[i], &frames[i + 1]);
	if (end == WALK_COMPLETE)
		learn(s, thread, &frames[n - 1], &none);
	return join ? follow(s, thread, frames, n, max) : n;
}
