/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zstd works in memory that is given to it once, so that it never allocates.
 *
 * A search for repetitions takes more than half of its time. Columns of programs that do the same again and again become very
 * small by it; of others it saves a few bytes in a hundred, or none. So now and then a column is packed with and without, and
 * the next ones as was better.
 */
#include "config.h"

#include "record/heap/trace/tracer_blocks.h"

#include "record/heap/trace/tracer_memory.h"

#include <errno.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#define WORTH_IT 48u /* bytes below which packing is not tried */
#define TRIED_OF 32u /* columns */
#define LITTLE   20u /* a part of all bytes: what a search has to save, at least */

enum how { MATCHES, NO_MATCHES };

/* Short repetitions take more time than they save bytes. A step that is larger than any column finds none. */
static const ZSTD_compressionParameters parameters[] = {
	[MATCHES] = { 17, 12, 13, 1, 7, 0, ZSTD_fast },
	[NO_MATCHES] = { 17, 12, 12, 1, 7, ZSTD_TARGETLENGTH_MAX, ZSTD_fast },
};

/* n bytes at `from` to `to`. Returns the size, or 0 when there is no room. */
static size_t pack(struct tracer_blocks *b, enum how how, uint8_t *to, size_t room,
		   const uint8_t *from, size_t n)
{
	const ZSTD_compressionParameters *p = &parameters[how];
	size_t packed;

	ZSTD_CCtx_reset(b->packer, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_windowLog, (int)p->windowLog);
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_chainLog, (int)p->chainLog);
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_hashLog, (int)p->hashLog);
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_searchLog, (int)p->searchLog);
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_minMatch, (int)p->minMatch);
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_targetLength, (int)p->targetLength);
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_strategy, (int)p->strategy);
	/* Without matches zstd would leave single bytes as they are. */
	ZSTD_CCtx_setParameter(b->packer, ZSTD_c_literalCompressionMode, ZSTD_lcm_huffman);
	packed = ZSTD_compress2(b->packer, to, room, from, n);
	return ZSTD_isError(packed) ? 0 : packed;
}

/* As is better for columns like this one. */
static size_t pack_column(struct tracer_blocks *b, uint8_t id, uint8_t *to, size_t room,
			  const struct heap_out *from)
{
	struct column_habit *h = &b->habit[id % HABITS];
	size_t n = heap_out_n(from), with, without;

	if (h->n++ % TRIED_OF != 0)
		return pack(b, h->no_matches ? NO_MATCHES : MATCHES, to, room, from->begin, n);
	without = pack(b, NO_MATCHES, to, room, from->begin, n);
	with = pack(b, MATCHES, to, room, from->begin, n);
	h->no_matches = without && without <= with + n / LITTLE;
	return with;
}

int tracer_blocks_init(struct tracer_blocks *b)
{
	/* With what older versions want besides; what is not written to takes no memory. */
	size_t n = ZSTD_estimateCStreamSize_usingCParams(parameters[MATCHES]);
	void *memory;

	memory = tracer_map(n);
	b->out = tracer_map(HEAP_MAX_BLOCK);
	if (!b->out || !memory)
		return -ENOMEM;
	b->packer = ZSTD_initStaticCCtx(memory, n);
	return b->packer ? 0 : -ENOMEM;
}

/* Puts the column's bytes at `to`, packed if that makes them fewer. False: no room. */
static bool add_column(struct tracer_blocks *b, struct heap_column *c, const struct heap_out *from,
		       uint8_t id, uint8_t *to)
{
	size_t room = (size_t)(b->out + HEAP_MAX_BLOCK - to), n = heap_out_n(from), packed;

	*c = (struct heap_column){ .n_raw = (uint32_t)n, .n_stored = (uint32_t)n, .id = id };
	if (n > room || n > HEAP_MAX_COLUMN)
		return false;
	if (n >= WORTH_IT) {
		packed = pack_column(b, id, to, room, from);
		if (packed && packed < n) {
			c->n_stored = (uint32_t)packed;
			c->codec = HEAP_ZSTD;
			return true;
		}
	}
	if (n)
		memcpy(to, from->begin, n);
	return true;
}

int tracer_blocks_write(struct tracer_blocks *b, struct heap_block *block,
			const struct heap_out *column, const uint8_t *id, unsigned n,
			uint32_t always, _Atomic uint64_t *checksum)
{
	unsigned n_columns = 0;
	uint8_t *to;
	int ret;

	for (unsigned i = 0; i < n; i++)
		n_columns += heap_out_n(&column[i]) || always >> i & 1;
	to = b->out + heap_block_head(n_columns);
	block->n_columns = 0;
	for (unsigned i = 0; i < n; i++) {
		struct heap_column *c = &block->column[block->n_columns];

		if (!heap_out_n(&column[i]) && !(always >> i & 1))
			continue;
		if (!add_column(b, c, &column[i], id[i], to))
			return -EFBIG;
		to += c->n_stored;
		block->n_columns++;
	}
	block->number = b->n_blocks;
	if (heap_seal_block(b->out, block) == 0)
		return -EFBIG;
	if (checksum)
		atomic_store(checksum, heap_block_checksum(b->out));
	ret = tracer_file_write(&b->file, b->out, block->size);
	b->n_blocks += !ret;
	return ret;
}
