/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ids are dense but for gaps between chunks: they index pages, in stretches. Of a page whose rows are not one behind the other
 * there is a table, which is used for others once all its ids were taken and ended, so that memory grows with
 * what lives. Whether a row has ended is known to the profile; tables keep it, too, as it says when they can go.
 */
#include "config.h"

#include "heaptrace/read/heap_rows.h"

#include "base/bisect.h"
#include "base/column.h"
#include "base/mem.h"
#include "heaptrace/read/block_addresses.h"

#include <stdlib.h>
#include <string.h>

/* A million allocations a second take twelve days to come to the last id. */
#define MOST_ID        (((uint64_t)1 << 40) - 1)
#define STRETCH_IDS    ((uint64_t)HEAP_ROWS_STRETCH * PAGE_IDS)
#define MOST_STRETCHES ((MOST_ID + 1) / STRETCH_IDS)
#define MOST_TABLES    ((uint64_t)1 << 24) /* of more ids than there are rows */
#define PAGE_IDS       HEAP_ROWS_PAGE_IDS

/* Values of an id in a table that is no row (yet). */
#define ROW_NONE  UINT32_MAX       /* not taken */
#define ROW_EARLY (UINT32_MAX - 1) /* not taken, but freed */
#define ROW_ENDED HEAP_ROWS_NONE

/* As many ranges as a process may have mapped. */
#define MOST_RANGES 65536

struct range {
	uint64_t start, end;
	uint32_t row;
};

struct heap_rows {
	struct profile *profile; /* borrowed */
	track_id track;
	struct heap_rows_pages pages;
	struct column stretch;      /* struct heap_row_page * [n_stretches]; owned, but for: */
	struct heap_row_page *gone; /* [HEAP_ROWS_STRETCH] all of them HEAP_ROWS_GONE; owned */
	struct column table;        /* uint32_t [PAGE_IDS] each */
	struct column ended;        /* uint16_t by table: ids taken and ended */
	uint32_t n_tables;
	VEC(uint32_t) free;             /* tables that are for other pages */
	struct block_addresses evicted; /* allocations whose ids the recorder had forgotten */
	VEC(struct range) ranges;       /* by address; they do not overlap */
	struct heap_rows_stats stats;
};

struct heap_rows *heap_rows_new(struct profile *p, track_id t)
{
	struct heap_rows *r = xcalloc(1, sizeof(*r));

	r->profile = p;
	r->track = t;
	column_init(&r->stretch, sizeof(struct heap_row_page *), MOST_STRETCHES);
	column_init(&r->table, PAGE_IDS * sizeof(uint32_t), MOST_TABLES);
	column_init(&r->ended, sizeof(uint16_t), MOST_TABLES);
	r->gone = xmalloc(HEAP_ROWS_STRETCH * sizeof(*r->gone));
	for (uint32_t i = 0; i < HEAP_ROWS_STRETCH; i++)
		r->gone[i] = (struct heap_row_page){ 0, HEAP_ROWS_GONE, HEAP_ROWS_GONE };
	return r;
}

void heap_rows_free(struct heap_rows *r)
{
	if (!r)
		return;
	for (uint64_t i = 0; i < r->pages.n_stretches; i++)
		if (r->pages.stretch[i] != r->gone)
			free(r->pages.stretch[i]);
	free(r->gone);
	column_done(&r->stretch);
	column_done(&r->table);
	column_done(&r->ended);
	vec_done(&r->free);
	block_addresses_done(&r->evicted);
	vec_done(&r->ranges);
	free(r);
}

const struct heap_rows_pages *heap_rows_pages(const struct heap_rows *r)
{
	return &r->pages;
}

/* Where the stretch of an id stands, which may be none yet; NULL when the id cannot be, or there is no memory for it. */
static struct heap_row_page **stretch_of(struct heap_rows *r, uint64_t id)
{
	uint64_t n = id / STRETCH_IDS;

	if (id == 0 || id > MOST_ID)
		return NULL;
	if (n >= r->pages.n_stretches) {
		if (column_extend(&r->stretch, n + 1) < 0)
			return NULL;
		r->pages.n_stretches = n + 1;
		r->pages.stretch = r->stretch.base;
	}
	return &r->pages.stretch[n];
}

/* The page of an id; NULL as above. Those of a stretch that is gone are not written to. */
static struct heap_row_page *page_of(struct heap_rows *r, uint64_t id)
{
	struct heap_row_page **stretch = stretch_of(r, id);

	if (!stretch)
		return NULL;
	if (!*stretch)
		*stretch = xcalloc(HEAP_ROWS_STRETCH, sizeof(**stretch));
	return heap_rows_page(&r->pages, id);
}

/* A table of ids that nobody has taken: its place; false when there is no memory for it. */
static bool new_table(struct heap_rows *r, uint32_t *place)
{
	uint32_t n = r->n_tables;

	if (r->free.n > 0) {
		n = r->free.at[--r->free.n];
	} else {
		if (column_extend(&r->table, (uint64_t)n + 1) < 0 ||
		    column_extend(&r->ended, (uint64_t)n + 1) < 0)
			return false;
		r->n_tables++;
		r->pages.table = r->table.base;
	}
	((uint16_t *)r->ended.base)[n] = 0;
	memset(&r->pages.table[(size_t)n * PAGE_IDS], 0xff, PAGE_IDS * sizeof(*r->pages.table));
	*place = n;
	return true;
}

/* One more id of a page with a table ended. Of the last nobody will ask again. Page 0 has one id less. */
static void note_ended(struct heap_rows *r, uint64_t id)
{
	struct heap_row_page *page = heap_rows_page(&r->pages, id);
	uint16_t *n = &((uint16_t *)r->ended.base)[page->row];

	if (++*n < (id < PAGE_IDS ? PAGE_IDS - 1 : PAGE_IDS))
		return;
	vec_push(&r->free, page->row);
	*page = (struct heap_row_page){ 0, HEAP_ROWS_GONE, HEAP_ROWS_GONE };
}

/* Gives a page a table, with what is known of its ids. */
static bool make_table(struct heap_rows *r, struct heap_row_page *page, uint64_t id)
{
	struct heap_row_page was = *page;
	uint64_t first = id - id % PAGE_IDS;
	uint32_t place;

	if (!new_table(r, &place))
		return false;
	*page = (struct heap_row_page){ place, HEAP_ROWS_TABLE, HEAP_ROWS_TABLE };
	for (uint32_t i = was.from; i < was.to; i++) {
		allocation_id a = { was.row + i };
		bool ended = built_release(r->profile, a);

		r->pages.table[(size_t)place * PAGE_IDS + i] = ended ? ROW_ENDED : a.v;
		if (ended)
			note_ended(r, first + i);
	}
	return true;
}

/* Where the row of an id stands in a table; NULL when the page is gone, or the id cannot be. */
static uint32_t *row_of(struct heap_rows *r, uint64_t id)
{
	struct heap_row_page *page = page_of(r, id);

	if (!page || (page->from < PAGE_IDS && !make_table(r, page, id)))
		return NULL;
	return heap_rows_in_table(&r->pages, id);
}

allocation_id heap_rows_allocate(struct heap_rows *r, uint64_t size, origin_id who)
{
	if (size > SIZE_MOST || (size >= SIZE_LARGE && !build_heap_claim(r->profile, size))) {
		r->stats.n_odd_sizes++;
		return (allocation_id){ ID_NONE };
	}
	return build_allocation(r->profile, r->track, size, who);
}

enum heap_rows_taken heap_rows_take(struct heap_rows *r, uint64_t id, allocation_id a)
{
	struct heap_row_page *page = page_of(r, id);
	uint32_t *row, was, i = (uint32_t)(id % PAGE_IDS);

	if (page && page->to == 0 && a.v < HEAP_ROWS_NONE)
		*page = (struct heap_row_page){ a.v - i, (uint16_t)i, (uint16_t)i };
	if (page && heap_rows_take_next(&r->pages, id, a))
		return HEAP_ROWS_TAKEN;
	row = row_of(r, id);
	if (!row || (*row != ROW_NONE && *row != ROW_EARLY)) {
		r->stats.n_odd_ids++;
		return HEAP_ROWS_ODD;
	}
	was = *row;
	*row = a.v;
	if (was == ROW_NONE)
		return HEAP_ROWS_TAKEN;
	r->stats.n_open_frees--;
	*row = ROW_ENDED;
	note_ended(r, id);
	return HEAP_ROWS_FREED;
}

/* No id of a stretch that has not been seen is anybody's. */
static bool skip_stretch(struct heap_rows *r, uint64_t id)
{
	struct heap_row_page **stretch = stretch_of(r, id);

	if (!stretch || *stretch)
		return false;
	*stretch = r->gone;
	return true;
}

/* The same of a page. */
static bool skip_page(struct heap_rows *r, uint64_t id)
{
	struct heap_row_page *page = page_of(r, id);

	if (!page || page->to != 0)
		return false;
	*page = (struct heap_row_page){ 0, HEAP_ROWS_GONE, HEAP_ROWS_GONE };
	return true;
}

void heap_rows_skip(struct heap_rows *r, uint64_t id, uint64_t n)
{
	while (n > 0 && id <= MOST_ID) {
		uint32_t *row;

		if (id % STRETCH_IDS == 0 && n >= STRETCH_IDS && skip_stretch(r, id)) {
			id += STRETCH_IDS;
			n -= STRETCH_IDS;
			continue;
		}
		if (id % PAGE_IDS == 0 && n >= PAGE_IDS && skip_page(r, id)) {
			id += PAGE_IDS;
			n -= PAGE_IDS;
			continue;
		}
		row = row_of(r, id);
		if (row && (*row == ROW_NONE || *row == ROW_EARLY)) {
			r->stats.n_open_frees -= *row == ROW_EARLY;
			*row = ROW_ENDED;
			note_ended(r, id);
		}
		id++;
		n--;
	}
}

/* The same of an id that has a row, and no table. */
static allocation_id end_in_row(struct heap_rows *r, allocation_id a)
{
	if (!built_release(r->profile, a))
		return a;
	r->stats.n_unknown_frees++;
	return (allocation_id){ ID_NONE };
}

allocation_id heap_rows_end(struct heap_rows *r, uint64_t id)
{
	allocation_id a = heap_rows_in_row(&r->pages, id);
	uint32_t *row, was;

	if (a.v != ID_NONE)
		return end_in_row(r, a);
	row = row_of(r, id);
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
	note_ended(r, id);
	return (allocation_id){ was };
}

/* What was there before has gone without a trace: the newest is meant from now on. */
void heap_rows_evict(struct heap_rows *r, uint64_t id, uint64_t address)
{
	if (id > 0 && id <= MOST_ID)
		block_addresses_put(&r->evicted, address, id);
}

allocation_id heap_rows_end_address(struct heap_rows *r, uint64_t address)
{
	uint64_t id = block_addresses_take(&r->evicted, address);

	if (id != 0)
		return heap_rows_end(r, id);
	r->stats.n_unknown_frees++;
	return (allocation_id){ ID_NONE };
}

/* The first range that ends behind an address. */
static size_t range_behind(const struct heap_rows *r, uint64_t address)
{
	size_t from = 0;

	BISECT(from, r->ranges.n, i, r->ranges.at[i].end <= address);
	return from;
}

static void insert_range(struct heap_rows *r, uint64_t start, uint64_t end, origin_id who)
{
	size_t at = range_behind(r, start);
	struct range new = { start, end, 0 };

	if (start >= end || r->ranges.n >= MOST_RANGES)
		return;
	new.row = heap_rows_allocate(r, end - start, who).v;
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

/* What became of a row: it has another number, or has ended. */
static uint32_t moved(const struct heap_rows *r, const uint32_t *to, uint32_t n, uint32_t row)
{
	uint32_t now = row < n ? to[row] : row;

	return now == ID_NONE || built_release(r->profile, (allocation_id){ now }) ? ROW_ENDED
										   : now;
}

static void move_table(struct heap_rows *r, const uint32_t *to, uint32_t n, uint64_t first)
{
	struct heap_row_page *page = heap_rows_page(&r->pages, first);
	uint32_t *row = &r->pages.table[(size_t)page->row * PAGE_IDS];

	for (uint32_t i = 0; i < PAGE_IDS && page->from == HEAP_ROWS_TABLE; i++) {
		if (row[i] >= HEAP_ROWS_NONE)
			continue;
		row[i] = moved(r, to, n, row[i]);
		if (row[i] == ROW_ENDED)
			note_ended(r, first + i);
	}
}

/* Of a page all of whose ids were taken: rows that live, if they still are one behind the other. */
static bool move_run(struct heap_rows *r, const uint32_t *to, uint32_t n,
		     struct heap_row_page *page)
{
	struct heap_row_page now = { 0, HEAP_ROWS_GONE, HEAP_ROWS_GONE };

	for (uint32_t i = page->from; i < page->to; i++) {
		uint32_t row = moved(r, to, n, page->row + i);

		if (row == ROW_ENDED)
			continue;
		if (now.to == HEAP_ROWS_GONE)
			now = (struct heap_row_page){ row - i, (uint16_t)i, (uint16_t)i };
		if (now.to != i || now.row + i != row)
			return false;
		now.to++;
	}
	*page = now;
	return true;
}

static void move_page(struct heap_rows *r, const uint32_t *to, uint32_t n, uint64_t first)
{
	struct heap_row_page *page = heap_rows_page(&r->pages, first), was = *page;
	uint32_t place;

	if (was.from == HEAP_ROWS_GONE || was.from == was.to)
		return;
	if (was.from <= (first == 0) && was.to == PAGE_IDS && move_run(r, to, n, page))
		return;
	/* Without memory for a table its blocks are never freed. */
	if (!new_table(r, &place)) {
		*page = (struct heap_row_page){ 0, HEAP_ROWS_GONE, HEAP_ROWS_GONE };
		return;
	}
	*page = (struct heap_row_page){ place, HEAP_ROWS_TABLE, HEAP_ROWS_TABLE };
	for (uint32_t i = was.from; i < was.to; i++) {
		uint32_t row = moved(r, to, n, was.row + i);

		r->pages.table[(size_t)place * PAGE_IDS + i] = row;
		if (row == ROW_ENDED)
			note_ended(r, first + i);
	}
}

/* Pages of a stretch; false: all of them are gone now. */
static bool move_stretch(struct heap_rows *r, const uint32_t *to, uint32_t n, uint64_t first)
{
	const struct heap_row_page *page = heap_rows_page(&r->pages, first);
	bool any = false;

	for (uint32_t i = 0; i < HEAP_ROWS_STRETCH; i++) {
		if (page[i].from == HEAP_ROWS_TABLE)
			move_table(r, to, n, first + (uint64_t)i * PAGE_IDS);
		else
			move_page(r, to, n, first + (uint64_t)i * PAGE_IDS);
		any |= page[i].from != HEAP_ROWS_GONE;
	}
	return any;
}

void heap_rows_move(struct heap_rows *r, const uint32_t *to, uint32_t n)
{
	for (uint64_t i = 0; i < r->pages.n_stretches; i++) {
		struct heap_row_page **stretch = &r->pages.stretch[i];

		if (!*stretch || *stretch == r->gone || move_stretch(r, to, n, i * STRETCH_IDS))
			continue;
		free(*stretch);
		*stretch = r->gone;
	}
	for (size_t i = 0; i < r->ranges.n; i++)
		if (r->ranges.at[i].row < n)
			r->ranges.at[i].row = to[r->ranges.at[i].row];
}

struct heap_rows_stats heap_rows_stats(const struct heap_rows *r)
{
	return r->stats;
}
