/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A binary heap of streams by the time of their next event. A stream's place may be known before its
 * block is unpacked: the header says when the block begins.
 */
#include "config.h"

#include "heaptrace/read/heap_merge.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Events of a stream that are decoded at once. */
#define BATCH 512

/* Places of blocks that were read are kept up to so many, or half of all. */
#define DROP_FROM 256

/* Where a block lies; its header is read again when its time has come. */
struct place {
	uint64_t offset;
	uint64_t first_time;
	uint32_t size;
};

struct stream {
	uint32_t thread;
	VEC(struct place) places;
	size_t next; /* of places */
	bool open;   /* a block is unpacked and has events left, in batch or reader */
	struct heap_unpacked unpacked;
	struct heap_event_reader reader;
	struct heap_event *batch; /* [BATCH]; owned */
	size_t at, n;             /* of batch */
	uint64_t time;            /* of the next event, or not after it */
	bool waits;               /* it is in the heap */
};

struct heap_merge {
	struct heap_blocks *blocks; /* borrowed */
	VEC(struct stream) streams;
	struct map by_thread;
	VEC(uint32_t) heap; /* streams by time; the earliest first */
	uint64_t until;
	size_t taken; /* of the first stream's batch, given out by the last call */
	uint64_t n_bytes;
	uint64_t n_lost;
};

struct heap_merge *heap_merge_new(struct heap_blocks *b)
{
	struct heap_merge *m = xcalloc(1, sizeof(*m));

	m->blocks = b;
	m->until = UINT64_MAX;
	return m;
}

static void close_stream(struct stream *s)
{
	heap_unpacked_done(&s->unpacked);
	free(s->batch);
	s->batch = NULL;
	vec_done(&s->places);
	s->next = 0;
	s->open = s->waits = false;
}

void heap_merge_free(struct heap_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->streams.n; i++)
		close_stream(&m->streams.at[i]);
	vec_done(&m->streams);
	vec_done(&m->heap);
	map_done(&m->by_thread);
	free(m);
}

static bool same_thread(const void *things, uint32_t value, const void *key)
{
	return ((const struct stream *)things)[value].thread == *(const uint32_t *)key;
}

static bool earlier(const struct heap_merge *m, size_t i, size_t j)
{
	const struct stream *a = &m->streams.at[m->heap.at[i]], *b = &m->streams.at[m->heap.at[j]];

	return a->time != b->time ? a->time < b->time : a->thread < b->thread;
}

static void swap(struct heap_merge *m, size_t i, size_t j)
{
	uint32_t x = m->heap.at[i];

	m->heap.at[i] = m->heap.at[j];
	m->heap.at[j] = x;
}

static void wait_in_heap(struct heap_merge *m, uint32_t stream)
{
	struct stream *s = &m->streams.at[stream];
	uint64_t first = s->places.at[0].first_time;
	size_t at = m->heap.n;

	s->time = first > s->time ? first : s->time;
	s->waits = true;
	vec_push(&m->heap, stream);
	while (at > 0 && earlier(m, at, (at - 1) / 2)) {
		swap(m, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

void heap_merge_add(struct heap_merge *m, const struct heap_place *p)
{
	struct place place = { p->offset, p->block.first_time, p->block.size };
	uint32_t thread = p->block.thread, i;
	uint64_t hash = hash_u64(thread);

	i = map_find(&m->by_thread, hash, same_thread, m->streams.at, &thread);
	if (i == MAP_NONE) {
		i = (uint32_t)m->streams.n;
		vec_push(&m->streams, (struct stream){ .thread = thread });
		map_add(&m->by_thread, hash, i);
	}
	vec_push(&m->streams.at[i].places, place);
	if (!m->streams.at[i].waits)
		wait_in_heap(m, i);
}

void heap_merge_until(struct heap_merge *m, uint64_t time)
{
	m->until = time;
}

/* Places of blocks that were read go: of a thread that never rests there is always one that was not. */
static void drop_read(struct stream *s)
{
	if (s->next < DROP_FROM || s->next < s->places.n / 2)
		return;
	s->places.n -= s->next;
	memmove(s->places.at, s->places.at + s->next, s->places.n * sizeof(*s->places.at));
	s->next = 0;
}

/* Unpacks the block whose time has come. */
static bool open_block(struct heap_merge *m, struct stream *s)
{
	struct place at = s->places.at[s->next++];
	struct heap_place whole = { .offset = at.offset, .block.size = at.size };
	struct heap_in column[HEAP_N_EVENT_COLUMNS];
	struct heap_block block;
	size_t need;

	drop_read(s);
	m->n_bytes += at.size;
	/* Whose block is freed is told by ids; where blocks are is of no use here. */
	s->unpacked.unwanted = 1u << HEAP_COL_ADDRESS;
	if (!heap_blocks_unpack(m->blocks, &whole, &s->unpacked) ||
	    heap_take_block(s->unpacked.stored, at.size, false, &block, &need) != HEAP_OK)
		return false;
	for (unsigned i = 0; i < HEAP_N_EVENT_COLUMNS; i++)
		column[i] = s->unpacked.column[i];
	heap_event_reader_init(&s->reader, &block, column);
	s->reader.has_addresses = false;
	if (!s->batch)
		s->batch = xcalloc(BATCH, sizeof(*s->batch));
	return true;
}

/* The next events into the batch; false at the end of the block. */
static bool read_batch(struct heap_merge *m, struct stream *s)
{
	uint32_t left = s->reader.n_left;

	s->at = 0;
	s->n = heap_read_events(&s->reader, s->batch, BATCH);
	if (s->n > 0)
		s->time = s->batch[0].time;
	else if (left > 0)
		m->n_lost += left;
	return s->n > 0;
}

/* Makes sure that the stream's next event is in its batch; false at the end of the stream. */
static bool fill(struct heap_merge *m, struct stream *s)
{
	while (s->at == s->n) {
		if (s->open && read_batch(m, s))
			return true;
		s->open = false;
		if (s->next == s->places.n) {
			close_stream(s);
			return false;
		}
		s->open = open_block(m, s);
	}
	return true;
}

/* Lets the stream at i sink to where it belongs. */
static void sink(struct heap_merge *m, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < m->heap.n && earlier(m, child + 1, child))
			child++;
		if (child >= m->heap.n || !earlier(m, child, i))
			return;
		swap(m, i, child);
		i = child;
	}
}

/* The first stream goes on behind what was given out. */
static void advance(struct heap_merge *m)
{
	struct stream *s = &m->streams.at[m->heap.at[0]];

	s->at += m->taken;
	m->taken = 0;
	if (s->at < s->n) {
		s->time = s->batch[s->at].time;
	} else if (s->open && s->reader.n_left > 0) {
		; /* not before what it was */
	} else if (s->next < s->places.n) {
		uint64_t next = s->places.at[s->next].first_time;

		s->time = next > s->time ? next : s->time;
	}
	sink(m, 0);
}

/* How many events of the batch come before the second stream's. */
static size_t run_length(const struct heap_merge *m, const struct stream *s)
{
	size_t second = 1, n = 0;
	uint64_t until = m->until;

	if (m->heap.n < 2 && until == UINT64_MAX)
		return s->n - s->at;
	if (m->heap.n > 2 && earlier(m, 2, 1))
		second = 2;
	if (m->heap.n > 1 && m->streams.at[m->heap.at[second]].time < until)
		until = m->streams.at[m->heap.at[second]].time;
	while (s->at + n < s->n && s->batch[s->at + n].time <= until)
		n++;
	return n;
}

const struct heap_event *heap_merge_next(struct heap_merge *m, uint32_t *thread, size_t *n)
{
	if (m->heap.n > 0)
		advance(m);
	while (m->heap.n > 0) {
		struct stream *s = &m->streams.at[m->heap.at[0]];
		uint64_t guess = s->time;

		if (guess > m->until)
			return NULL;
		if (!fill(m, s)) {
			m->heap.at[0] = m->heap.at[--m->heap.n];
			sink(m, 0);
			continue;
		}
		if (s->batch[s->at].time > guess) {
			/* It comes later than was thought: another may be first now. */
			s->time = s->batch[s->at].time;
			sink(m, 0);
			continue;
		}
		m->taken = run_length(m, s);
		if (m->taken == 0)
			m->taken = 1;
		*thread = s->thread;
		*n = m->taken;
		return &s->batch[s->at];
	}
	return NULL;
}

uint64_t heap_merge_unread(const struct heap_merge *m)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < m->streams.n; i++) {
		const struct stream *s = &m->streams.at[i];

		if (s->next < s->places.n && s->places.at[s->next].offset < first)
			first = s->places.at[s->next].offset;
	}
	return first;
}

uint64_t heap_merge_done(const struct heap_merge *m)
{
	return m->n_bytes;
}

uint64_t heap_merge_lost(const struct heap_merge *m)
{
	return m->n_lost;
}
