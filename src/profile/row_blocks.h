/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packed rows as bytes and back, without unpacking one: a file of them is read as fast as memory is filled.
 *
 *   block     a byte each: bits of the six columns, are there weights; then the least value of each column, as numbers of
 *             variable length; then the values, column after column
 *
 * Ids are those of the profile that they were taken from: they mean something only where its tables were built again in
 * the same order.
 */
#ifndef PROFTOP_PROFILE_ROW_BLOCKS_H
#define PROFTOP_PROFILE_ROW_BLOCKS_H

#include "base/bytes.h"
#include "base/pack_numbers.h"
#include "profile/builder.h"

#include <stdint.h>

/* Blocks of SAMPLE_ROWS_BATCH rows, from the first row on, that can be put as they stand; 0 where weights have been scaled since. */
uint64_t row_blocks_n(const struct sample_columns *c);
/* The columns that there are, as bits ROWS_…. */
unsigned row_blocks_columns(const struct sample_columns *c);
/* Adds blocks [first, first + n) to the bytes. */
void row_blocks_put(const struct sample_columns *c, uint64_t first, uint64_t n, pack_bytes *to);

/*
 * Appends all blocks of b to rows of which all so far came this way; each of their ids is checked. b->bad when one is
 * damaged, or names what is not in the tables: rows before stay. 0, or -EFBIG when there is no room. The pen is held.
 */
int build_row_blocks(struct profile *p, unsigned columns, struct bytes *b);

/*
 * Moves all rows of another profile, which nobody else reads, to one that has none. Tables of both were built alike.
 * False, and nothing is done, where they were not. The pens of both are held.
 */
bool build_take_rows(struct profile *p, struct profile *from);

#endif
