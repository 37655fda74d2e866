/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block of LZ4, as its format description has it: no frame, no sizes, no checksum. A library for this one function of one format
 * would be one more package on every system.
 */
#ifndef PROFTOP_FORMATS_BYTEHOUND_LZ4_BLOCK_H
#define PROFTOP_FORMATS_BYTEHOUND_LZ4_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Unpacks n bytes into out, which has room for *n_out; *n_out is how many came. False: the block is damaged, or does not fit, and what
 * came before that is in out. A block that was cut gives what is before the cut.
 */
bool lz4_block_unpack(const uint8_t *in, size_t n, uint8_t *out, size_t *n_out);

#endif
