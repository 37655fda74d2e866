/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ids are dense but for gaps between chunks: they index pages of a two-level table. A page is dropped
 * once all its ids were taken and ended, so that memory grows with what lives.
 */
#include "config.h"

#include "heap_rows.h"

#include "hash.h"
#include "map.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 8u
#define PAGE_IDS  (1u << PAGE_BITS)
#define LEAF_BITS 12u
#define MOST_ID   UINT32_MAX

/* Values of an id that is no row (yet). */
#define ROW_NONE  UINT32_MAX       /* not taken */
#define ROW_EARLY (UINT32_MAX - 1) /* not taken, but freed */
#define ROW_ENDED (UINT32_MAX - 2)

/* As many ranges as a process may have mapped. */
#define MOST_RANGES 65536

struct page {
	uint32_t n_ended;       /* taken and ended */
	uint32_t row[PAGE_IDS]; /* allocation_id, or ROW_… */
};

struct leaf {
	struct page *page[1u << LEAF_BITS]; /* NULL: none of its ids was seen, or all are gone */
};

/* An allocation whose id the recorder had forgotten. */
struct evicted {
	uint64_t address;
	uint64_t id; /* 0: ended */
};

struct range {
	uint64_t start, end;
	uint32_t row;
};

struct heap_rows {
	struct profile *profile; /* borrowed */
	track_id track;
	struct leaf *leaf[1u << (32 - PAGE_BITS - LEAF_BITS)];
	struct page **taking; /* where the page of the id that was taken last stands */
	uint64_t taking_page; /* its number; UINT64_MAX: none yet */
	VEC(struct evicted) evicted;
	struct map evicted_at;    /* indexes by address */
	VEC(struct range) ranges; /* by address; they do not overlap */
	struct heap_rows_stats stats;
};

static struct page *const gone = (struct page *)(uintptr_t)1;

struct heap_rows *heap_rows_new(struct profile *p, track_id t)
{
	struct heap_rows *r = xcalloc(1, sizeof(*r));

	r->profile = p;
	r->track = t;
	r->taking_page = UINT64_MAX;
	return r;
}

void heap_rows_free(struct heap_rows *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < sizeof(r->leaf) / sizeof(*r->leaf); i++) {
		for (size_t j = 0; r->leaf[i] && j < 1u << LEAF_BITS; j++)
			if (r->leaf[i]->page[j] != gone)
				free(r->leaf[i]->page[j]);
		free(r->leaf[i]);
	}
	vec_done(&r->evicted);
	map_done(&r->evicted_at);
	vec_done(&r->ranges);
	free(r);
}

/* Where the row of an id stands; NULL when the page is gone, or the id cannot be. */
static uint32_t *row_of(struct heap_rows *r, uint64_t id, struct page ***page)
{
	struct leaf **leaf;

	if (id == 0 || id > MOST_ID)
		return NULL;
	leaf = &r->leaf[id >> (PAGE_BITS + LEAF_BITS)];
	if (!*leaf)
		*leaf = xcalloc(1, sizeof(**leaf));
	*page = &(*leaf)->page[id >> PAGE_BITS & ((1u << LEAF_BITS) - 1)];
	if (**page == gone)
		return NULL;
	if (!**page) {
		**page = xmalloc(sizeof(***page));
		(**page)->n_ended = 0;
		memset((**page)->row, 0xff, sizeof((**page)->row));
	}
	return &(**page)->row[id & (PAGE_IDS - 1)];
}

/* The same of what is there; NULL: nothing. */
static const uint32_t *known_row_of(const struct heap_rows *r, uint64_t id)
{
	const struct leaf *leaf = id <= MOST_ID ? r->leaf[id >> (PAGE_BITS + LEAF_BITS)] : NULL;
	const struct page *page = leaf ? leaf->page[id >> PAGE_BITS & ((1u << LEAF_BITS) - 1)]
				       : NULL;

	return page && page != gone ? &page->row[id & (PAGE_IDS - 1)] : NULL;
}

void heap_rows_fetch(const struct heap_rows *r, uint64_t id)
{
	const uint32_t *row = known_row_of(r, id);

	if (row)
		__builtin_prefetch(row, 1);
}

allocation_id heap_rows_now(const struct heap_rows *r, uint64_t id)
{
	const uint32_t *row = known_row_of(r, id);

	return (allocation_id){ row && *row < ROW_ENDED ? *row : ID_NONE };
}

/* The last id of a page ended: nobody will ask for it again. Page 0 has one id less. */
static void note_ended(struct page **page, uint64_t id)
{
	if (++(*page)->n_ended < (id < PAGE_IDS ? PAGE_IDS - 1 : PAGE_IDS))
		return;
	free(*page);
	*page = gone;
}

/* row_of() of an id that is taken: these come one after the other. */
static uint32_t *row_to_take(struct heap_rows *r, uint64_t id, struct page ***page)
{
	uint32_t *row;

	if (id >> PAGE_BITS == r->taking_page && *r->taking != gone) {
		*page = r->taking;
		return &(*r->taking)->row[id & (PAGE_IDS - 1)];
	}
	row = row_of(r, id, page);
	if (row) {
		r->taking = *page;
		r->taking_page = id >> PAGE_BITS;
	}
	return row;
}

bool heap_rows_take(struct heap_rows *r, uint64_t id, allocation_id a)
{
	struct page **page;
	uint32_t *row = row_to_take(r, id, &page), was;

	if (!row || (*row != ROW_NONE && *row != ROW_EARLY)) {
		r->stats.n_odd_ids++;
		return false;
	}
	was = *row;
	*row = a.v;
	if (was == ROW_NONE)
		return false;
	r->stats.n_open_frees--;
	*row = ROW_ENDED;
	note_ended(page, id);
	return true;
}

/* No id of a page that has not been seen is anybody's. */
static bool skip_page(struct heap_rows *r, uint64_t id)
{
	struct leaf **leaf = &r->leaf[id >> (PAGE_BITS + LEAF_BITS)];
	struct page **page;

	if (!*leaf)
		*leaf = xcalloc(1, sizeof(**leaf));
	page = &(*leaf)->page[id >> PAGE_BITS & ((1u << LEAF_BITS) - 1)];
	if (*page && *page != gone)
		return false;
	*page = gone;
	return true;
}

void heap_rows_skip(struct heap_rows *r, uint64_t id, uint64_t n)
{
	while (n > 0 && id <= MOST_ID) {
		struct page **page;
		uint32_t *row;

		if (id % PAGE_IDS == 0 && n >= PAGE_IDS && skip_page(r, id)) {
			id += PAGE_IDS;
			n -= PAGE_IDS;
			continue;
		}
		row = row_of(r, id, &page);
		if (row && (*row == ROW_NONE || *row == ROW_EARLY)) {
			r->stats.n_open_frees -= *row == ROW_EARLY;
			*row = ROW_ENDED;
			note_ended(page, id);
		}
		id++;
		n--;
	}
}

allocation_id heap_rows_end(struct heap_rows *r, uint64_t id)
{
	struct page **page;
	uint32_t *row = row_of(r, id, &page), was;

	/* What was freed already was freed twice, or both by id and by address. */
	if (!row || *row == ROW_ENDED || *row == ROW_EARLY) {
		r->stats.n_unknown_frees++;
		return (allocation_id){ ID_NONE };
	}
	was = *row;
	if (was == ROW_NONE) {
		*row = ROW_EARLY;
		r->stats.n_open_frees++;
		return (allocation_id){ ID_NONE };
	}
	*row = ROW_ENDED;
	note_ended(page, id);
	return (allocation_id){ was };
}

static bool same_address(const void *things, uint32_t value, const void *key)
{
	return ((const struct evicted *)things)[value].address == *(const uint64_t *)key;
}

void heap_rows_evict(struct heap_rows *r, uint64_t id, uint64_t address)
{
	uint64_t hash = hash_u64(address);
	uint32_t i = map_find(&r->evicted_at, hash, same_address, r->evicted.at, &address);

	if (i == MAP_NONE) {
		i = (uint32_t)r->evicted.n;
		vec_push(&r->evicted, (struct evicted){ .address = address });
		map_add(&r->evicted_at, hash, i);
	}
	/* What was there before has gone without a trace: the newest is meant from now on. */
	r->evicted.at[i].id = id;
}

allocation_id heap_rows_end_address(struct heap_rows *r, uint64_t address)
{
	uint32_t i = map_find(&r->evicted_at, hash_u64(address), same_address, r->evicted.at,
			      &address);
	uint64_t id = i == MAP_NONE ? 0 : r->evicted.at[i].id;

	if (id == 0) {
		r->stats.n_unknown_frees++;
		return (allocation_id){ ID_NONE };
	}
	r->evicted.at[i].id = 0;
	return heap_rows_end(r, id);
}

/* The first range that ends behind an address. */
static size_t range_behind(const struct heap_rows *r, uint64_t address)
{
	size_t from = 0, to = r->ranges.n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (r->ranges.at[middle].end <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void insert_range(struct heap_rows *r, uint64_t start, uint64_t end, origin_id who)
{
	size_t at = range_behind(r, start);
	struct range new = { start, end, 0 };

	if (start >= end || r->ranges.n >= MOST_RANGES)
		return;
	new.row = build_allocation(r->profile, r->track, end - start, who).v;
	vec_push(&r->ranges, new);
	memmove(&r->ranges.at[at + 1], &r->ranges.at[at],
		(r->ranges.n - 1 - at) * sizeof(*r->ranges.at));
	r->ranges.at[at] = new;
}

void heap_rows_unmap(struct heap_rows *r, uint64_t address, uint64_t bytes, origin_id who)
{
	uint64_t end = bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;

	for (;;) {
		size_t at = range_behind(r, address);
		struct range old;
		origin_id from;

		if (at == r->ranges.n || r->ranges.at[at].start >= end || address >= end)
			return;
		old = r->ranges.at[at];
		memmove(&r->ranges.at[at], &r->ranges.at[at + 1],
			(--r->ranges.n - at) * sizeof(*r->ranges.at));
		build_release(r->profile, (allocation_id){ old.row }, r->track, false, who);
		if (old.row == ID_NONE)
			continue;
		from = built_origin(r->profile, (allocation_id){ old.row });
		/* What is left of it lives on, as blocks of their own. */
		insert_range(r, old.start, address > old.start ? address : old.start, from);
		insert_range(r, end < old.end ? end : old.end, old.end, from);
	}
}

void heap_rows_map(struct heap_rows *r, uint64_t address, uint64_t bytes, origin_id who)
{
	uint64_t end = bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;

	/* A mapping at a fixed place takes the place of what was there. */
	heap_rows_unmap(r, address, bytes, who);
	insert_range(r, address, end, who);
}

struct heap_rows_stats heap_rows_stats(const struct heap_rows *r)
{
	return r->stats;
}
