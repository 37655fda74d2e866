/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The blocks of a heap trace (doc/trace-format.md): stepping from header to header, and unpacking one.
 * Files only: blocks are read more than once.
 */
#ifndef PROFTOP_HEAPTRACE_READ_HEAP_BLOCKS_H
#define PROFTOP_HEAPTRACE_READ_HEAP_BLOCKS_H

#include "heaptrace/heap_wire.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct input;

struct heap_blocks {
	struct input *in;         /* borrowed */
	struct ZSTD_DCtx_s *zstd; /* what unpacks; owned */
	struct heap_file_header head;
	uint64_t at;          /* offset of the next block */
	uint64_t number;      /* the number that it should have */
	uint64_t end_at;      /* where the last whole block ended, once that was reached */
	uint64_t n_missing;   /* blocks that gaps in the numbers tell of */
	uint64_t n_cut_bytes; /* after the last whole block, once the end was reached */
	uint64_t n_bad; /* blocks whose bytes are not those that were written, or make no sense */
	uint64_t first_bad_at; /* offset of the first of these */
};

/* Where a block lies, and what its header says. Columns' bytes are not there. */
struct heap_place {
	struct heap_block block;
	uint64_t offset;
};

/* One block's columns, unpacked; kept by the caller for reuse. Zeroed means empty. */
struct heap_unpacked {
	uint8_t *bytes; /* owned */
	size_t n_max;
	uint8_t *stored; /* the block as it is in the file; owned */
	size_t n_stored_max;
	uint32_t unwanted; /* bits by id: columns that stay packed, and are empty here */
	struct heap_in column[HEAP_COL_RECORDS + 1]; /* by id; empty where there is none */
};

/* Reads the head. -EBADMSG with a sentence about name when it is none that can be read. */
int heap_blocks_open(struct heap_blocks *b, struct input *in, const char *name, struct err *e);
/* Also of blocks that are zeroed, or could not be opened. */
void heap_blocks_done(struct heap_blocks *b);

/* At the end of what can be read: why the recording stopped, and by which signal, may have been written since. */
void heap_blocks_look_again(struct heap_blocks *b);

/* Steps to the next block: 1; 0 at the end of what can be read; -errno with a sentence. */
int heap_blocks_next(struct heap_blocks *b, struct heap_place *out, struct err *e);

/* Goes on behind the end, where more may have been written since; false: what is there is damaged. */
bool heap_blocks_resume(struct heap_blocks *b);

/* Reads a block whole and unpacks it. False, and counted, when its bytes are not good. */
bool heap_blocks_unpack(struct heap_blocks *b, const struct heap_place *place,
			struct heap_unpacked *to);
void heap_unpacked_done(struct heap_unpacked *u);

#endif
