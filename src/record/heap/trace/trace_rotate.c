/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace is written anew without its oldest blocks of events, beside it, and takes its place when it is
 * whole: whoever is killed meanwhile leaves the one or the other.
 */
#include "config.h"

#include "record/heap/trace/trace_rotate.h"

#include <errno.h>
#include <string.h>

/* What is known of a trace after a walk over its headers. */
struct survey {
	uint64_t n_event_bytes; /* of blocks of events */
	uint64_t n_other_bytes; /* of everything else that stays */
	uint64_t low, high;     /* the last times of blocks of events are from and to */
};

/* How finely a time is looked for at once, and how often: to a part in 2^24 of what the trace lasts. */
#define PARTS  256u
#define ROUNDS 3u

/* The events that are not there. */
struct dropped {
	uint64_t n, n_allocs, n_frees, n_bytes;
	uint64_t first_time, last_time;
	bool any; /* were dropped, now or before */
};

static int take_header(struct tracer_blocks *b, uint64_t at, struct heap_block *block)
{
	uint8_t head[HEAP_BLOCK_HEADER_SIZE + HEAP_MAX_COLUMNS * HEAP_COLUMN_ENTRY_SIZE];
	uint64_t left = b->file.n_bytes - at;
	size_t n = left < sizeof(head) ? (size_t)left : sizeof(head), need;
	int ret = tracer_file_read(&b->file, head, n, at);

	if (ret)
		return ret;
	if (heap_take_block(head, n, false, block, &need) != HEAP_OK || block->size > left)
		return -EBADMSG;
	return 0;
}

static int survey(struct tracer_blocks *b, struct survey *s)
{
	struct heap_block block;

	*s = (struct survey){ .n_other_bytes = HEAP_FILE_HEADER_SIZE, .low = UINT64_MAX };
	for (uint64_t at = HEAP_FILE_HEADER_SIZE; at < b->file.n_bytes; at += block.size) {
		int ret = take_header(b, at, &block);

		if (ret)
			return ret;
		if (block.type == HEAP_BLOCK_EVENTS) {
			s->n_event_bytes += block.size;
			s->low = block.last_time < s->low ? block.last_time : s->low;
			s->high = block.last_time > s->high ? block.last_time : s->high;
		} else if (block.type != HEAP_BLOCK_SKIPPED) {
			s->n_other_bytes += block.size;
		}
	}
	return 0;
}

/* Bytes of blocks of events by the part of low … high in which their last event is; *before of earlier ones. */
static int weigh_parts(struct tracer_blocks *b, const struct survey *s, uint64_t width,
		       uint64_t part[PARTS], uint64_t *before)
{
	struct heap_block block;

	memset(part, 0, PARTS * sizeof(*part));
	*before = 0;
	for (uint64_t at = HEAP_FILE_HEADER_SIZE; at < b->file.n_bytes; at += block.size) {
		int ret = take_header(b, at, &block);

		if (ret)
			return ret;
		if (block.type != HEAP_BLOCK_EVENTS || block.last_time > s->high)
			continue;
		if (block.last_time < s->low)
			*before += block.size;
		else
			part[(block.last_time - s->low) / width] += block.size;
	}
	return 0;
}

/*
 * A time, as early as can be: blocks of events that end by then have so many bytes. Threads are not written in
 * the order of time, and what is left of a time of which a part is dropped is of no use.
 */
static int find_time(struct tracer_blocks *b, struct survey *s, uint64_t excess)
{
	uint64_t part[PARTS], sum;

	for (unsigned i = 0; i < ROUNDS && s->low < s->high; i++) {
		uint64_t width = (s->high - s->low) / PARTS + 1;
		int ret = weigh_parts(b, s, width, part, &sum);
		unsigned k = 0;

		if (ret)
			return ret;
		while (k + 1 < PARTS && sum + part[k] < excess)
			sum += part[k++];
		s->low += k * width;
		if (s->low + width - 1 < s->high)
			s->high = s->low + width - 1;
	}
	return 0;
}

static void drop(struct dropped *d, const struct heap_block *block)
{
	if (!d->any || block->first_time < d->first_time)
		d->first_time = block->first_time;
	if (!d->any || block->last_time > d->last_time)
		d->last_time = block->last_time;
	d->any = true;
	d->n += block->n;
	d->n_allocs += block->n_allocs;
	d->n_frees += block->n_frees;
	d->n_bytes += block->bytes;
}

/* Takes what 32 bits hold of *n. */
static uint32_t take_some(uint64_t *n)
{
	uint32_t some = *n < UINT32_MAX ? (uint32_t)*n : UINT32_MAX;

	*n -= some;
	return some;
}

/* Says what was dropped, in as many blocks as it takes. */
static int tell_dropped(struct tracer_blocks *b, struct dropped *d)
{
	while (d->any) {
		struct heap_block block = { .type = HEAP_BLOCK_SKIPPED,
					    .first_time = d->first_time,
					    .last_time = d->last_time,
					    .bytes = d->n_bytes };
		int ret;

		block.n = take_some(&d->n);
		block.n_allocs = take_some(&d->n_allocs);
		block.n_frees = take_some(&d->n_frees);
		ret = tracer_blocks_write(b, &block, NULL, NULL, 0, 0, NULL);
		if (ret)
			return ret;
		d->n_bytes = 0;
		d->any = d->n || d->n_allocs || d->n_frees;
	}
	return 0;
}

static int copy_head(struct tracer_blocks *to, struct tracer_blocks *from)
{
	int ret = tracer_file_read(&from->file, to->out, HEAP_FILE_HEADER_SIZE, 0);

	return ret ? ret : tracer_file_write(&to->file, to->out, HEAP_FILE_HEADER_SIZE);
}

static int copy_block(struct tracer_blocks *to, struct tracer_blocks *from, uint64_t at, size_t n)
{
	int ret = tracer_file_read(&from->file, to->out, n, at);

	if (ret)
		return ret;
	heap_number_block(to->out, to->n_blocks);
	ret = tracer_file_write(&to->file, to->out, n);
	to->n_blocks += !ret;
	return ret;
}

/* All but the blocks of events that end by `until`. */
static int copy_newest(struct tracer_blocks *to, struct tracer_blocks *from, uint64_t until)
{
	struct dropped d = { 0 };
	struct heap_block block;
	int ret = copy_head(to, from);

	for (uint64_t at = HEAP_FILE_HEADER_SIZE; !ret && at < from->file.n_bytes;
	     at += block.size) {
		ret = take_header(from, at, &block);
		if (ret)
			break;
		if (block.type == HEAP_BLOCK_SKIPPED ||
		    (block.type == HEAP_BLOCK_EVENTS && block.last_time <= until))
			drop(&d, &block);
		else
			ret = copy_block(to, from, at, block.size);
	}
	return ret ? ret : tell_dropped(to, &d);
}

int trace_rotate_keep(struct tracer_blocks *b, uint64_t most)
{
	struct tracer_blocks to = { .out = b->out, .packer = b->packer };
	struct survey s;
	int ret = survey(b, &s);

	if (ret)
		return ret;
	if (s.n_other_bytes >= most)
		return -EFBIG;
	if (s.n_event_bytes <= most - s.n_other_bytes)
		return 0;
	ret = find_time(b, &s, s.n_event_bytes - (most - s.n_other_bytes));
	if (!ret)
		ret = tracer_file_begin_again(&b->file, &to.file);
	if (ret)
		return ret;
	ret = copy_newest(&to, b, s.high);
	if (ret)
		tracer_file_give_up(&to.file);
	else
		ret = tracer_file_replace(&b->file, &to.file);
	if (!ret)
		b->n_blocks = to.n_blocks;
	return ret;
}
