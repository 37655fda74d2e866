/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A column of a lens made ready for a pass over the allocations. What filters say of threads, events
 * and stacks is said once per origin; what they say of time becomes ranges of moments. time: is about
 * when a block was handed out.
 */
#ifndef PROFTOP_QUERY_CORE_HEAP_PASS_H
#define PROFTOP_QUERY_CORE_HEAP_PASS_H

#include "profile/heap/heap.h"
#include "profile/profile.h"
#include "query/core/lens.h"
#include "query/core/sample_scan.h"

#include <stdbool.h>
#include <stdint.h>

/* One state of all heaps. */
struct heap_state {
	struct heap_columns columns;
	struct heap_track *track; /* [n_tracks]; owned */
	int64_t *begin_ns;        /* [n_tracks] when the capture of each began; owned */
	int64_t *
		gone_ns; /* [n_tracks] since then: what the process held went with it; INT64_MAX: not before the capture's end; owned */
	bool exact;      /* no track is sampled */
	double most; /* that a sampled block may stand for: sums of all are what 63 bits hold then */
};

/* As of a publication at or after the one that counts are of. The caller ends with heap_state_done(). */
void heap_state_init(struct heap_state *s, const struct profile *p,
		     const struct profile_counts *counts);
void heap_state_done(struct heap_state *s);

/* The first moment of a track at or after a time since its capture's start. */
uint32_t heap_state_moment(const struct heap_state *s, uint32_t track, int64_t since_ns);

/* Of how many of its moments what is there at such a time is known, and is there still: 0 where the process is gone. */
uint32_t heap_state_level(const struct heap_state *s, uint32_t track, int64_t since_ns);

/* A stretch of moments, from inclusive, to exclusive. */
struct heap_span {
	uint32_t from;
	uint32_t to;
};

/* A time: term, by track. */
struct heap_times {
	struct heap_span *span; /* [n_tracks]; owned */
	bool negated;
};

struct heap_filter {
	unsigned users; /* columns and answers that share it, on any thread */
	/* the state that it is of */
	uint32_t n_origins, n_allocations;
	const struct heap_group *group; /* not looked at */
	bool *origin; /* [n_origins] passes by all but time and terms about blocks; owned */
	struct heap_times *times; /* [n_times]; owned */
	uint32_t n_times;
	/* which rows pass by terms about blocks, see block_filter(); NULL: there are none; owned */
	uint64_t *block;
};

/* Is what passes said by origin alone? */
static inline bool heap_filter_by_origin(const struct heap_filter *h)
{
	return h->n_times == 0 && !h->block;
}

/* Does a row of the table pass by terms about blocks? What is known as sums alone, row ID_NONE, does not pass any. */
static inline bool heap_filter_block(const struct heap_filter *h, uint32_t row)
{
	return !h->block || (row != ID_NONE && h->block[row / HEAP_GROUP] >> row % HEAP_GROUP & 1);
}

/* s is made ready of the same counts. The caller ends with heap_filter_free(). */
struct heap_filter *heap_filter_new(const struct heap_state *state,
				    const struct profile_counts *counts,
				    const struct compiled_filter *s);
/* One user more; returns h. */
struct heap_filter *heap_filter_share(struct heap_filter *h);
/* One user less; the last one frees. NULL is fine. */
void heap_filter_free(struct heap_filter *h);

/* Rows [from, to), of one group, that pass by terms about blocks: bits, by place in the group. */
static inline uint64_t heap_filter_blocks(const struct heap_filter *h, uint32_t from, uint32_t to)
{
	uint64_t rows = UINT64_MAX >> (HEAP_GROUP - (to - from)) << from % HEAP_GROUP;

	return h->block ? rows & h->block[from / HEAP_GROUP] : rows;
}

/* The same by terms about blocks and times. */
uint64_t heap_filter_rows(const struct heap_filter *h, const struct heap_columns *c, uint32_t from,
			  uint32_t to);

/* Does an allocation of a passing origin pass by its time too? */
static inline bool heap_filter_time(const struct heap_filter *h, uint32_t track, uint32_t begin)
{
	for (uint32_t i = 0; i < h->n_times; i++) {
		const struct heap_span *s = &h->times[i].span[track];

		if ((begin >= s->from && begin < s->to) == h->times[i].negated)
			return false;
	}
	return true;
}

/* What passes a column: of its event, by its own filter, and by the lens' too. */
struct heap_pass {
	struct heap_filter *own;  /* its origins are of the column's event; owned */
	struct heap_filter *lens; /* of the lens' filter alone; shared */
};

/* like: a pass of another column of r, whose filter of the lens is shared; NULL: there is none. */
void heap_pass_init(struct heap_pass *h, const struct heap_state *state,
		    const struct sample_scan *r, uint32_t column, const struct heap_pass *like);
/* The same of column 0, where `lens` is that of an answer before, by the same lens: it is shared if it is of this state. NULL: there is none. */
void heap_pass_init_again(struct heap_pass *h, const struct heap_state *state,
			  const struct sample_scan *r, struct heap_filter *lens);
void heap_pass_done(struct heap_pass *h);

/* Does allocation `row`, or a bulk entry (ID_NONE), of this origin and moment pass by the column's own filter? */
static inline bool heap_pass_own(const struct heap_pass *h, const struct heap_columns *c,
				 uint32_t row, uint32_t origin, uint32_t begin)
{
	return h->own->origin[origin] && heap_filter_block(h->own, row) &&
	       (h->own->n_times == 0 || heap_filter_time(h->own, c->origins[origin].track, begin));
}

/* And by the lens'? */
static inline bool heap_pass_lens(const struct heap_pass *h, const struct heap_columns *c,
				  uint32_t row, uint32_t origin, uint32_t begin)
{
	return h->lens->origin[origin] && heap_filter_block(h->lens, row) &&
	       (h->lens->n_times == 0 ||
		heap_filter_time(h->lens, c->origins[origin].track, begin));
}

/* Were there times at which not all allocations of the track were recorded? */
bool heap_is_sampled(const struct heap_track *t);

/* What is not known of the heaps, by the way in which they were recorded. */
struct heap_manner {
	bool sampled;      /* see heap_is_sampled(): numbers are estimates */
	uint32_t n_gone;   /* of several heaps, those whose processes ended before the others */
	uint32_t lacks;    /* HEAP_LACKS_… of any of the heaps */
	bool attached;     /* what there was before the recording is not known */
	bool lives_on;     /* a process was alive at its recording's end: what it held is no leak */
	int64_t culled_ns; /* what lived less than this is only counted; 0: nothing is */
	/* Of the one heap that there is; texts of the profile, NULL: none. */
	const char *became; /* the program that the process ended as, whose trace is another */
	const char *
		stopped; /* why its end is not recorded; what is behind a ':' is for who has room for it */
	const char *goes_on; /* that it is being written */
	const char *clock;  /* what times are, where they are none; what is behind a ':' as above */
	const char *paused; /* for how long no allocations were recorded */
};

struct heap_manner heap_manner_of(const struct profile *p, const struct profile_counts *counts);

/* How many blocks a recorded one of this moment and size stands for (Poisson sampling by bytes): 1 or more. */
double heap_stands_for(const struct heap_track *t, uint32_t begin, uint64_t size);
/* How many bytes allocation i of a track stands for. */
int64_t heap_bytes_for(const struct heap_state *s, uint32_t track, uint32_t i);

/* Peaks that were found for another column; what is the same for a track is not looked for again. */
struct heap_peaks {
	const struct heap_peaks *earlier; /* NULL: none */
	const struct heap_pass *pass;     /* what they are of */
	const uint32_t *at;               /* [n_tracks] */
	const int64_t *top;               /* [n_tracks] */
};

/* Does the same of a track pass both? False where filters speak of times or of blocks: that is not asked. */
bool heap_pass_alike(const struct heap_columns *c, const struct heap_pass *a,
		     const struct heap_pass *b, uint32_t track);

/*
 * The moment of each track after which most bytes of what passes both filters are there: at, [n_tracks],
 * is the number of moments that have then happened, 0 where there never are any; top, [n_tracks], how many bytes that
 * is. earlier may be NULL. Returns 0 or -ECANCELED.
 */
int heap_peaks(const struct heap_state *s, const struct heap_pass *h,
	       const struct heap_peaks *earlier, struct progress *progress, uint32_t *at,
	       int64_t *top);

#endif
