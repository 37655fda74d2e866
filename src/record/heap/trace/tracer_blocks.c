/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zstd works in memory that is given to it once, so that it never allocates. */
#include "config.h"

#include "record/heap/trace/tracer_blocks.h"

#include "record/heap/trace/tracer_memory.h"

#include <errno.h>
#include <string.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#define LEVEL    1
#define WORTH_IT 48u /* bytes below which packing is not tried */

int tracer_blocks_init(struct tracer_blocks *b)
{
	size_t n = ZSTD_estimateCCtxSize(LEVEL);
	void *memory = tracer_map(n);

	b->out = tracer_map(HEAP_MAX_BLOCK);
	if (!b->out || !memory)
		return -ENOMEM;
	b->packer = ZSTD_initStaticCCtx(memory, n);
	return b->packer ? 0 : -ENOMEM;
}

/* Puts the column's bytes at `to`, packed if that makes them fewer. False: no room. */
static bool add_column(struct tracer_blocks *b, struct heap_column *c, const struct heap_out *from,
		       uint8_t *to)
{
	size_t room = (size_t)(b->out + HEAP_MAX_BLOCK - to), n = heap_out_n(from), packed;

	*c = (struct heap_column){ .n_raw = (uint32_t)n, .n_stored = (uint32_t)n };
	if (n > room || n > HEAP_MAX_COLUMN)
		return false;
	if (n >= WORTH_IT) {
		packed = ZSTD_compressCCtx(b->packer, to, room, from->begin, n, LEVEL);
		if (!ZSTD_isError(packed) && packed < n) {
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
		if (!add_column(b, c, &column[i], to))
			return -EFBIG;
		c->id = id[i];
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
