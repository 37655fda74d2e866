/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns in memory → blocks in the file: packing, sealing, numbering, appending. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_BLOCKS_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_BLOCKS_H

#include "heaptrace/heap_wire.h"
#include "record/heap/trace/tracer_file.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define HABITS 32u

/* How columns of one kind are packed; see tracer_blocks.c. */
struct column_habit {
	uint32_t n; /* columns so far */
	bool no_matches;
};

struct tracer_blocks {
	struct tracer_file file;
	uint64_t n_blocks;                 /* written */
	uint8_t *out;                      /* [HEAP_MAX_BLOCK] the block that is being made */
	void *packer;                      /* zstd's context, in memory of ours */
	struct column_habit habit[HABITS]; /* by id */
};

/* 0 or -errno. */
int tracer_blocks_init(struct tracer_blocks *b);

/*
 * Writes a block of the columns that are not empty; id[i] is that of column[i]. A column listed in
 * `always` (a bit for each i) is there even when empty. checksum, unless NULL, is that of the block before the file has any of
 * it. 0 or -errno.
 */
int tracer_blocks_write(struct tracer_blocks *b, struct heap_block *block,
			const struct heap_out *column, const uint8_t *id, unsigned n,
			uint32_t always, _Atomic uint64_t *checksum);

#endif
