/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heaptrace/read/heap_blocks.h"

#include "base/err.h"
#include "base/mem.h"
#include "input/input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>

#define MOST_HEAD (HEAP_BLOCK_HEADER_SIZE + HEAP_MAX_COLUMNS * HEAP_COLUMN_ENTRY_SIZE)

int heap_blocks_open(struct heap_blocks *b, struct input *in, const char *name, struct err *e)
{
	uint8_t head[HEAP_FILE_HEADER_SIZE];
	ssize_t n = input_pread(in, head, sizeof(head), 0, e);

	*b = (struct heap_blocks){ .in = in, .at = HEAP_FILE_HEADER_SIZE };
	if (n < 0)
		return (int)n;
	switch (heap_take_file_header(head, (size_t)n, &b->head)) {
	case HEAP_OK:
		if (b->head.spent && input_has_hole(in))
			return err_set(
				e, -EBADMSG,
				"%s: is what a live view records for itself, which has taken out of it what it has read: end that one, "
				"and record with: proftop record --heap",
				name);
		return 0;
	case HEAP_CUT:
		return err_set(e, -EBADMSG, "%s: ends at offset %zd, within its head", name, n);
	case HEAP_TOO_NEW:
		return err_set(e, -EBADMSG,
			       "%s: was written by a newer proftop, in a version of the heap trace "
			       "that this one cannot read",
			       name);
	case HEAP_CHECKSUM:
		return err_set(e, -EBADMSG, "%s: its head (offset 0) is damaged", name);
	case HEAP_NOT_OURS:
	case HEAP_MALFORMED:
		break;
	}
	return err_set(e, -EBADMSG, "%s: its head (offset 0) makes no sense", name);
}

void heap_blocks_done(struct heap_blocks *b)
{
	ZSTD_freeDCtx(b->zstd);
	b->zstd = NULL;
}

void heap_blocks_look_again(struct heap_blocks *b)
{
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];
	struct heap_file_header head;
	struct err ignored = ERR_INIT;
	ssize_t n = input_pread(b->in, bytes, sizeof(bytes), 0, &ignored);

	/* It is written last: what came behind the blocks that were read is to be read first. */
	if (n == (ssize_t)sizeof(bytes) && b->at == UINT64_MAX &&
	    heap_take_file_header(bytes, sizeof(bytes), &head) == HEAP_OK &&
	    input_file_bytes(b->in) <= b->end_at + b->n_cut_bytes) {
		b->head.stop = head.stop;
		b->head.signal = head.signal;
	}
	err_clear(&ignored);
}

static void note_bad(struct heap_blocks *b, uint64_t offset)
{
	if (b->n_bad++ == 0)
		b->first_bad_at = offset;
}

/* What follows the last whole block; a block that is being written is no damage. */
static int end_of_blocks(struct heap_blocks *b, bool damaged)
{
	uint64_t size = input_file_bytes(b->in);

	b->n_cut_bytes = size > b->at ? size - b->at : 0;
	if (damaged)
		note_bad(b, b->at);
	b->end_at = damaged ? UINT64_MAX : b->at;
	b->at = UINT64_MAX;
	return 0;
}

bool heap_blocks_resume(struct heap_blocks *b)
{
	if (b->at == UINT64_MAX)
		b->at = b->end_at;
	return b->at != UINT64_MAX;
}

int heap_blocks_next(struct heap_blocks *b, struct heap_place *out, struct err *e)
{
	uint8_t head[MOST_HEAD];
	enum heap_fault fault;
	size_t need = 0;
	ssize_t n;

	if (b->at == UINT64_MAX)
		return 0;
	n = input_pread(b->in, head, sizeof(head), b->at, e);
	if (n < 0)
		return (int)n;
	if (n == 0)
		return end_of_blocks(b, false);
	fault = heap_take_block(head, (size_t)n, false, &out->block, &need);
	if (fault != HEAP_OK)
		return end_of_blocks(b, fault != HEAP_CUT);
	if (b->at + out->block.size > input_file_bytes(b->in))
		return end_of_blocks(b, false);
	out->offset = b->at;
	b->at += out->block.size;
	if (out->block.number > b->number)
		b->n_missing += out->block.number - b->number;
	b->number = out->block.number + 1;
	return 1;
}

/* Is it a column that this program knows, and that the caller wants? */
static bool is_wanted(const struct heap_column *c, const struct heap_unpacked *u)
{
	return c->id <= HEAP_COL_RECORDS && !(u->unwanted >> c->id & 1);
}

/* Bytes that the wanted columns take unpacked. */
static size_t unpacked_bytes(const struct heap_block *block, const struct heap_unpacked *u)
{
	size_t n = 0;

	for (unsigned i = 0; i < block->n_columns; i++)
		if (is_wanted(&block->column[i], u))
			n += block->column[i].n_raw;
	return n;
}

static bool unpack_column(struct heap_blocks *b, const struct heap_column *c, uint8_t *to)
{
	size_t n;

	if (!b->zstd)
		b->zstd = ZSTD_createDCtx();
	if (c->codec != HEAP_ZSTD || !b->zstd)
		return false;
	n = ZSTD_decompressDCtx(b->zstd, to, c->n_raw, c->bytes, c->n_stored);
	return !ZSTD_isError(n) && n == c->n_raw;
}

static bool unpack(struct heap_blocks *b, const struct heap_block *block, struct heap_unpacked *to)
{
	size_t want = unpacked_bytes(block, to);
	uint8_t *at;

	if (to->n_max < want) {
		free(to->bytes);
		to->bytes = xmalloc(want);
		to->n_max = want;
	}
	at = to->bytes;
	for (unsigned i = 0; i <= HEAP_COL_RECORDS; i++)
		to->column[i] = heap_in_over("", 0);
	for (unsigned i = 0; i < block->n_columns; i++) {
		const struct heap_column *c = &block->column[i];

		if (!is_wanted(c, to) || c->n_raw == 0)
			continue;
		if (c->codec == HEAP_STORED) {
			to->column[c->id] = heap_in_over(c->bytes, c->n_raw);
			continue;
		}
		if (!unpack_column(b, c, at))
			return false;
		to->column[c->id] = heap_in_over(at, c->n_raw);
		at += c->n_raw;
	}
	return true;
}

bool heap_blocks_unpack(struct heap_blocks *b, const struct heap_place *place,
			struct heap_unpacked *to)
{
	size_t size = place->block.size, need;
	struct heap_block block;

	if (to->n_stored_max < size) {
		free(to->stored);
		to->stored = xmalloc(size);
		to->n_stored_max = size;
	}
	if (input_pread(b->in, to->stored, size, place->offset, NULL) == (ssize_t)size &&
	    heap_take_block(to->stored, size, true, &block, &need) == HEAP_OK &&
	    unpack(b, &block, to))
		return true;
	note_bad(b, place->offset);
	return false;
}

void heap_unpacked_done(struct heap_unpacked *u)
{
	free(u->bytes);
	free(u->stored);
	*u = (struct heap_unpacked){ 0 };
}
