/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All rows are copied to new columns; of the old ones those that are alike in all but their times become one, as long as
 * these lie in one slot. Slots are as wide as the number of rows wants it, each width twice the one before: slots of
 * an earlier fold lie within those of a later one, and what was folded is folded again like any other row. A row has the
 * earliest time of its samples, so it is never taken to be of before a fence that they came after.
 */
#include "config.h"

#include "profile/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/merge_exited.h"

#define FIRST_SLOT_NS INT64_C(1000000000)
#define LAST_SLOT_NS  (INT64_C(1) << 62)
#define NO_SLOT       UINT64_MAX /* of rows without a time */

/* What rows that become one have in common. */
struct likeness {
	uint32_t stack, thread;
	uint16_t event, cpu;
	uint8_t since; /* a bit for each fence that is not after it, and one for the sign */
	uint64_t slot;
};

struct folded compact_row_at(const struct store_rows *r, uint64_t i)
{
	struct folded f = {
		.stack = STORE_AT(uint32_t, r->row_stack, i),
		.thread = r->row_thread.base ? STORE_AT(uint32_t, r->row_thread, i) : ID_NONE,
		.event = r->row_event.base ? STORE_AT(uint16_t, r->row_event, i) : 0,
		.cpu = r->row_cpu.base ? STORE_AT(uint16_t, r->row_cpu, i) : CPU_NONE,
		.time_ns = r->row_time.base ? STORE_AT(int64_t, r->row_time, i) : TIME_NONE,
		.count = i < r->n_folded ? STORE_AT(int64_t, r->row_count, i) : 1,
	};
	int64_t scale = STORE_AT(int64_t, r->versions->scale, f.event);

	f.last_ns = i < r->n_folded ? STORE_AT(int64_t, r->row_last, i) : f.time_ns;
	f.weight = r->versions->weight.base ? STORE_AT(int64_t, r->versions->weight, i) : scale;
	f.square = i < r->n_folded ? STORE_AT(double, r->row_square, i)
				   : compact_square(f.weight, scale);
	return f;
}

static struct likeness likeness_of(const struct compact *f, const struct folded *row)
{
	struct likeness l = {
		.stack = row->stack, .thread = row->thread, .event = row->event, .cpu = row->cpu
	};

	l.since = row->weight < 0;
	l.slot = NO_SLOT;
	if (row->time_ns == TIME_NONE)
		return l;
	for (size_t i = 0; i < BUILD_FENCES; i++)
		if (f->fence_ns[i] != TIME_NONE && row->time_ns >= f->fence_ns[i])
			l.since |= (uint8_t)(2u << i);
	l.slot = ((uint64_t)row->time_ns - (uint64_t)f->begin_ns) / (uint64_t)f->slot_ns;
	return l;
}

static uint64_t hash_likeness(const struct likeness *l)
{
	uint64_t hash = hash_u64(hash_pair(l->stack, l->thread) ^ l->slot);

	return hash_u64(hash ^ ((uint64_t)l->event << 32 | (uint64_t)l->cpu << 8 | l->since));
}

static bool same_likeness(const void *things, uint32_t value, const void *key)
{
	const struct compact *f = things;
	const struct likeness *k = key;
	const struct folded row = compact_row_at(f->to, value);
	struct likeness l = likeness_of(f, &row);

	return l.stack == k->stack && l.thread == k->thread && l.event == k->event &&
	       l.cpu == k->cpu && l.since == k->since && l.slot == k->slot;
}

/* For one more row: in those columns that there were, and those that folded rows need. */
static bool make_room(const struct compact *f, bool folded)
{
	const struct store_rows *from = &f->p->samples;
	struct store_rows *to = f->to;
	uint64_t n = to->n + 1;

	return column_extend(&to->row_stack, n) == 0 &&
	       (!from->row_thread.base || column_extend(&to->row_thread, n) == 0) &&
	       (!from->row_event.base || column_extend(&to->row_event, n) == 0) &&
	       (!from->row_cpu.base || column_extend(&to->row_cpu, n) == 0) &&
	       (!from->row_time.base || column_extend(&to->row_time, n) == 0) &&
	       (!folded ||
		(column_extend(&to->row_count, n) == 0 && column_extend(&to->row_last, n) == 0 &&
		 column_extend(&to->row_square, n) == 0)) &&
	       column_extend(&to->versions->weight, n) == 0;
}

static void put_row(struct store_rows *r, uint64_t i, const struct folded *row)
{
	STORE_AT(uint32_t, r->row_stack, i) = row->stack;
	if (r->row_thread.base)
		STORE_AT(uint32_t, r->row_thread, i) = row->thread;
	if (r->row_event.base)
		STORE_AT(uint16_t, r->row_event, i) = row->event;
	if (r->row_cpu.base)
		STORE_AT(uint16_t, r->row_cpu, i) = row->cpu;
	if (r->row_time.base)
		STORE_AT(int64_t, r->row_time, i) = row->time_ns;
	STORE_AT(int64_t, r->versions->weight, i) = row->weight;
	if (i >= r->n_folded)
		return;
	STORE_AT(int64_t, r->row_count, i) = row->count;
	STORE_AT(int64_t, r->row_last, i) = row->last_ns;
	STORE_AT(double, r->row_square, i) = row->square;
}

/* Folded rows are put before all others. */
static bool put_new_row(const struct compact *f, const struct folded *row, bool folded)
{
	if (!make_room(f, folded))
		return false;
	f->to->n_folded += folded;
	put_row(f->to, f->to->n++, row);
	return true;
}

static void merge(struct store_rows *r, uint64_t i, const struct folded *row)
{
	STORE_AT(int64_t, r->row_count, i) += row->count;
	STORE_AT(int64_t, r->versions->weight, i) += row->weight;
	STORE_AT(double, r->row_square, i) += row->square;
	if (r->row_time.base && row->time_ns < STORE_AT(int64_t, r->row_time, i))
		STORE_AT(int64_t, r->row_time, i) = row->time_ns;
	if (row->last_ns > STORE_AT(int64_t, r->row_last, i))
		STORE_AT(int64_t, r->row_last, i) = row->last_ns;
}

static uint32_t find_alike(const struct compact *f, const struct folded *row, uint64_t *hash)
{
	struct likeness l = likeness_of(f, row);

	*hash = hash_likeness(&l);
	return map_find(&f->alike, *hash, same_likeness, f, &l);
}

/* Is all that is old one slot? Wider ones would make no more rows alike, and the times of what becomes old later coarse for good. */
static bool is_widest(const struct compact *f)
{
	return f->old_ns <= f->begin_ns || f->slot_ns >= LAST_SLOT_NS ||
	       (uint64_t)f->slot_ns >= (uint64_t)f->old_ns - (uint64_t)f->begin_ns;
}

/* Slots become twice as wide: rows that are alike then become one where they stand. */
static void widen(struct compact *f)
{
	uint64_t n = f->to->n, hash;

	f->slot_ns *= 2;
	map_done(&f->alike);
	/* What is left is folded all the same, and n_folded still those that there were. */
	f->to->n = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct folded row = compact_row_at(f->to, i);
		uint32_t at = find_alike(f, &row, &hash);

		if (at != MAP_NONE) {
			merge(f->to, at, &row);
			continue;
		}
		put_row(f->to, f->to->n, &row);
		map_add(&f->alike, hash, (uint32_t)f->to->n++);
	}
	f->to->n_folded = f->to->n;
}

bool compact_add(struct compact *f, const struct folded *row)
{
	uint64_t hash;
	uint32_t at = find_alike(f, row, &hash);

	while (at == MAP_NONE && f->to->n >= f->most && f->most > 0) {
		/* What cannot be less is more. */
		if (is_widest(f)) {
			f->most = UINT32_MAX - 1;
			break;
		}
		widen(f);
		at = find_alike(f, row, &hash);
	}
	if (at != MAP_NONE) {
		merge(f->to, at, row);
		return true;
	}
	if (f->to->n >= f->most || !put_new_row(f, row, true))
		return false;
	map_add(&f->alike, hash, (uint32_t)(f->to->n - 1));
	return true;
}

static bool copy_scales(const struct compact *f)
{
	const struct column *from = &f->p->samples.versions->scale;
	struct column *to = &f->to->versions->scale;

	if (column_extend(to, f->p->now.n_events) != 0)
		return false;
	if (f->p->now.n_events > 0)
		memcpy(to->base, from->base, f->p->now.n_events * sizeof(int64_t));
	return true;
}

int64_t compact_old_ns(const struct profile *p)
{
	const struct capture *c = &STORE_AT(struct capture, p->captures, 0);
	int64_t old_ns;

	if (c->end_ns == TIME_NONE ||
	    __builtin_sub_overflow(c->end_ns, p->folding.keep_ns, &old_ns))
		return INT64_MIN;
	return old_ns;
}

void compact_begin(struct compact *f, struct profile *p, struct store_rows *to, uint64_t most,
		   int64_t slot_ns)
{
	const struct capture *c = &STORE_AT(struct capture, p->captures, 0);

	*f = (struct compact){ .p = p, .to = to, .most = most };
	f->slot_ns = slot_ns > 0 ? slot_ns : FIRST_SLOT_NS;
	f->begin_ns = c->begin_ns == TIME_NONE ? 0 : c->begin_ns;
	f->old_ns = compact_old_ns(p);
	pthread_mutex_lock(&p->publication);
	memcpy(f->fence_ns, p->fence_ns, sizeof(f->fence_ns));
	pthread_mutex_unlock(&p->publication);
	store_rows_init(to);
	if (!copy_scales(f))
		f->most = 0;
}

void compact_end(struct compact *f)
{
	map_done(&f->alike);
	f->to->slot_ns = f->slot_ns;
}

/* Those that are old, or those that are not, as they come. */
static bool add_rows(struct compact *f, const uint32_t *to, const uint32_t *threads, bool old)
{
	for (uint64_t i = 0; i < f->p->now.n_samples; i++) {
		struct folded row = compact_row_at(&f->p->samples, i);

		if (compact_is_old(f, &row) != old)
			continue;
		if (to)
			row.stack = to[row.stack];
		if (threads && row.thread != ID_NONE)
			row.thread = threads[row.thread];
		if (old ? !compact_add(f, &row) : !put_new_row(f, &row, false))
			return false;
	}
	return true;
}

/* What is old is to be no more than what is young, so that memory is full when the first samples are old. */
static uint64_t most_folded(const struct compact *f)
{
	uint64_t n_young = 0, least = f->p->folding.n_folded;

	for (uint64_t i = 0; i < f->p->now.n_samples; i++) {
		struct folded row = compact_row_at(&f->p->samples, i);

		n_young += !compact_is_old(f, &row);
	}
	return n_young < least ? least : n_young / 4 < least ? n_young : 4 * least;
}

bool compact_all(struct profile *p, const uint32_t *to, const uint32_t *threads,
		 struct store_rows *out)
{
	struct compact f;
	bool done;

	compact_begin(&f, p, out, p->folding.n_folded,
		      p->samples.n_folded > 0 ? p->samples.slot_ns : 0);
	if (f.most > 0)
		f.most = most_folded(&f);
	done = add_rows(&f, to, threads, true);
	compact_end(&f);
	done = done && add_rows(&f, to, threads, false);
	/* Folding costs a pass over all rows: it waits until there are an eighth more. */
	p->fold_at = done ? out->n : p->now.n_samples;
	p->fold_at += p->fold_at / 8 + 1;
	if (p->fold_at < p->folding.n_rows)
		p->fold_at = p->folding.n_rows;
	if (!done)
		store_rows_done(out);
	return done;
}

bool compact_finds_old(const struct profile *p)
{
	const struct capture *c = &STORE_AT(struct capture, p->captures, 0);
	int64_t span_ns;

	return c->begin_ns == TIME_NONE || c->end_ns == TIME_NONE ||
	       __builtin_sub_overflow(c->end_ns, c->begin_ns, &span_ns) ||
	       span_ns > p->folding.keep_ns;
}

bool compact_rows(struct profile *p, struct store_rows *out)
{
	uint32_t *threads = NULL;
	bool done;

	if (p->folding.keep_ns == 0 || p->now.n_captures != 1 ||
	    (p->now.n_samples < p->fold_at && !merge_exited_due(p)) || !compact_finds_old(p))
		return false;
	/* What is said beyond stacks is of threads, too, and changes only when stacks do. */
	if (p->trie.beyond.n == 0)
		threads = merge_exited_threads(p, compact_old_ns(p));
	done = compact_all(p, NULL, threads, out);
	free(threads);
	return done;
}

const struct build_folding *build_folding_live(void)
{
	static const struct build_folding live = {
		.keep_ns = INT64_C(68000000000),
		.n_rows = UINT64_C(1) << 14,
		.n_folded = UINT64_C(1) << 14,
		.n_stacks = UINT32_C(1) << 13,
		.n_blocks = UINT64_C(1) << 18,
		.n_ended = UINT32_C(1) << 14,
		.n_sums = UINT64_C(1) << 16,
	};

	return &live;
}

void build_folding(struct profile *p, const struct build_folding *f)
{
	p->folding = *f;
	p->fold_at = f->n_rows;
	p->shorten_at = f->n_stacks;
	p->ended_at = f->n_ended;
}
